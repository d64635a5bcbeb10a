"""Questions with answers as numbers: pieces join without a change, and what training did not show is never right."""

from itertools import pairwise

import numpy as np
import pytest

from shiftscope.models.end_to_end.questions import (
    END,
    FIRST_WORD,
    UNKNOWN,
    UNSEEN,
    AnsweredQuestions,
    AnswererConfig,
    list_answers,
    type_answer,
)
from shiftscope.question import Question
from shiftscope.scene import Scene, load_schema
from shiftscope.shortcuts.tokens import tokenize_texts
from shiftscope.suites.superclevr import study
from shiftscope.suites.superclevr.suite import SuperclevrSpec
from shiftscope.train.data import SuiteTrainingData

SCENES = [Scene(id=name, schema=load_schema("clevr"), objects=()) for name in "ab"]


def ask(text, scene, answer):
    return Question(id=f"{scene} {text}", text=text, scenes=(scene,), answer=answer)


def collect(*asked):
    return AnsweredQuestions.collect(SCENES, [ask(*one) for one in asked])


def read(found):
    """Text, answer and image of each question, in words."""
    at, vocabulary = found.texts.at, found.texts.vocabulary
    texts = [" ".join(vocabulary[k] for k in found.texts.codes[a:b]) for a, b in pairwise(at)]
    return list(zip(texts, [found.answer_words[k] for k in found.answers], found.images.tolist(), strict=True))


def test_pieces_join_in_order():
    first = collect(("What color?", "a", "red"), ("How many cubes?", "b", 2))
    second = collect(("Is it big?", "b", True), ("What is nobody told?", "b", None))
    assert read(AnsweredQuestions.join([first, second])) == [
        ("what color", "red", 0),
        ("how many cubes", "2", 1),
        ("is it big", "yes", 3),
    ]
    assert AnsweredQuestions.join([first, second]).image_count == 4


def test_words_and_answers_that_training_never_showed():
    config = AnswererConfig(("big", "is", "it"), ("yes", "no"), (0, 0), {}, {})
    asked = collect(("Is it red?", "a", True), ("It?", "a", "red"))
    table, lengths = config.encode_words(asked.texts)
    is_, it = FIRST_WORD + 1, FIRST_WORD + 2
    assert table.tolist() == [[is_, it, UNKNOWN, END], [it, END, 0, 0]]
    assert lengths.tolist() == [4, 2]
    assert config.encode_answers(asked).tolist() == [0, UNSEEN]
    assert AnswererConfig.from_json(config.to_json()) == config


def test_an_empty_question_still_ends():
    config = AnswererConfig((), ("yes",), (0, 0), {}, {})
    table, lengths = config.encode_words(tokenize_texts(["?", "Why?"]))
    assert (table.tolist(), lengths.tolist()) == ([[END, 0], [UNKNOWN, END]], [1, 2])


def test_answers_are_those_of_the_schema_and_of_training():
    answers = list_answers(load_schema("superclevr"), {"maybe", "yes", "12"})
    assert answers[:4] == ("yes", "no", "0", "1")
    assert {"jet", "rubber", "10", "wheel_front"} <= set(answers)
    assert answers[-2:] == ("12", "maybe")
    assert len(set(answers)) == len(answers)
    assert [type_answer(word) for word in ("yes", "no", "7", "jet")] == [True, False, 7, "jet"]


def test_questions_about_parts_are_those_of_the_part_templates():
    spec = SuperclevrSpec(images=8, size=(96, 64), questions=6, part_questions=6, shard=8)
    rows = SuiteTrainingData("superclevr", spec).source("train", True).block(0)
    questions = [q for _, some in rows for q in some]
    found = AnsweredQuestions.collect([scene for scene, _ in rows], questions)
    assert found.about_parts.tolist() == [study.STUDY.find_group(q) == study.PART for q in questions]
    assert 0 < found.about_parts.sum() < len(found)
    assert np.array_equal(np.bincount(found.images), [12] * len(rows))


@pytest.mark.parametrize(
    ("question", "why"),
    [
        (Question(id="q", text="Same?", scenes=("a", "b"), answer=True), "question q is about 2 images"),
        (Question(id="q", text="Left?", scenes=("a",), answer=True, action="Turn it."), "question q is told an action"),
    ],
)
def test_what_such_a_model_cannot_learn_is_refused(question, why, refuses):
    with refuses(why):
        AnsweredQuestions.collect(SCENES, [question])
