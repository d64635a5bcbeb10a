"""text_reader: the passage that a scene makes, and what is read."""

from shiftscope.lang.text import parse_program
from shiftscope.models.end_to_end.questions import tell_action
from shiftscope.models.text_reader.passage import write_passage, write_reading
from shiftscope.models.text_reader.training import TextReaderTraining
from shiftscope.question import Question
from toy import THREE_AND_ONE, scene, thing

QUESTION = Question("q", "How many cubes?", ("toy",), program=parse_program("count(scene())"), action="Paint it red.")


def test_objects_are_told_and_each_with_the_next_in_order():
    two = scene(thing("small red rubber cube", 1, 1), thing("large blue metal sphere", -1, 0))
    assert write_passage(two) == (
        "There is a small red rubber cube. There is a large blue metal sphere. "
        "The large blue metal sphere is to the left of the small red rubber cube. "
        "The large blue metal sphere is in front of the small red rubber cube."
    )


def test_what_stands_level_is_not_told_to_be_ahead():
    assert write_passage(THREE_AND_ONE).count("to the left of") == 3
    assert write_passage(THREE_AND_ONE).count("in front of") == 1  # three stand in one row


def test_the_action_stands_between_passage_and_question():
    assert write_reading("There is a cube.", QUESTION).text == "There is a cube. Paint it red. question How many cubes?"
    assert tell_action(QUESTION).text == "Paint it red. How many cubes?"
    assert not tell_action(QUESTION).action


def test_a_pretrained_folder_that_is_none_is_refused(refuses, tmp_path):
    with refuses("no RoBERTa can be loaded there"):
        TextReaderTraining().configure({"pretrained": str(tmp_path)})
    with refuses("no setting 'depth'"):
        TextReaderTraining().configure({"depth": "2"})
