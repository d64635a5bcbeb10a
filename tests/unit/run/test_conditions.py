"""What a model is shown under each condition, in which words."""

from dataclasses import replace

import pytest

from asked import dataset
from shiftscope.prompt import PROMPT_VERSION, build_prompt_spec, describe_scene, format_prompt
from shiftscope.question import GroundedPhrase, Question
from shiftscope.result import CONDITIONS
from shiftscope.run.conditions import DatasetPrompts, ImageSwap, read_conditions
from shiftscope.store.build_dataset import build_dataset
from store_toys import JOBS, SPEC, make
from toy import THREE_AND_ONE, TRAFFIC

SHORT = "Answer with one word or one number and nothing else."
QUESTION = Question("q", "How many cubes are there?", ("s",))


@pytest.fixture(scope="module")
def feed(tmp_path_factory):
    return DatasetPrompts(dataset(tmp_path_factory.mktemp("conditions") / "data"), "test", "short")


def test_the_words_of_version_1():
    assert PROMPT_VERSION == 1
    assert format_prompt(QUESTION) == f"How many cubes are there?\n{SHORT}"
    assert format_prompt(QUESTION, "free").splitlines()[1] == (
        'Reason step by step. End with a line "Answer: X", where X is one word or one number.'
    )
    hypothetical = Question("q", "How many?", ("s",), action="Paint the cube red.")
    assert format_prompt(hypothetical) == (
        f"Suppose the following is done first: Paint the cube red.\nHow many?\n{SHORT}"
    )
    assert build_prompt_spec("short") == {"mode": "short", "version": 1, "instruction": SHORT}


def test_an_unknown_mode(refuses):
    with refuses("no mode 'shrt'; did you mean 'short'?"):
        build_prompt_spec("shrt")


def test_conditions_are_read_in_their_order(refuses):
    assert read_conditions(["blind,as_is"]) == ("as_is", "blind")
    assert read_conditions(["all"]) == CONDITIONS[:-1]
    assert read_conditions(["true_outcome", "as_is"]) == ("as_is", "true_outcome")
    with refuses("no condition 'blnd'; did you mean 'blind'?"):
        read_conditions(["blnd"])


@pytest.mark.parametrize(
    ("condition", "images", "scenes", "in_text"),
    [
        ("as_is", 1, 1, ""),
        ("blind", 0, 0, "The image is not shown."),
        ("other_image", 1, 1, ""),
        ("scene_text", 0, 1, "1: small gray metal cube."),
        ("program_text", 1, 1, "count(filter(scene(), shape=cube))"),
    ],
)
def test_what_is_shown(feed, condition, images, scenes, in_text):
    items = list(feed.iter_examples(condition))
    assert len(items) == 36
    prompt = items[0].prompt
    assert (len(prompt.images), len(prompt.scenes)) == (images, scenes)
    assert in_text in prompt.text
    assert prompt.text.splitlines()[-1] == SHORT
    assert prompt.condition == condition
    assert all(i.prompt.question.answer is None for i in items)
    assert all(i.question.answer is not None for i in items)


def test_another_image_is_another(feed):
    for item in feed.iter_examples("other_image"):
        assert item.prompt.scenes[0].id not in item.question.scenes
        assert item.scenes[0].id in item.question.scenes


def test_limits_and_what_is_done(feed):
    assert [i.question.id for i in feed.iter_examples("as_is", 3)] == [f"toy_test_000000-{k}" for k in range(3)]
    assert [i.question.id for i in feed.iter_examples("as_is", 3, frozenset({"toy_test_000000-1"}))] == [
        "toy_test_000000-0",
        "toy_test_000000-2",
    ]


def test_others_stand_half_the_split_away():
    others = ImageSwap("abcdef")
    assert [others.pick_images([name]) for name in "abf"] == [["d"], ["e"], ["c"]]
    assert others.pick_images(["a", "d"]) == ["e", "b"]
    assert others.pick_images(["a", "b", "c"]) == ["d", "e", "f"]
    assert others.pick_images(["a", "b", "c", "d"]) is None


def test_a_scene_in_words():
    lines = describe_scene(THREE_AND_ONE).splitlines()
    assert lines[:3] == [
        "The scene holds 4 objects, numbered from 1.",
        "1: small red rubber cube.",
        "2: large blue metal sphere.",
    ]
    assert "Left of 1: nothing." in lines
    assert "Left of 3: 1, 2, 4." in lines
    assert "Behind 2: 4." in lines
    assert "1: large red metal sedan; parts: large blue rubber roof, large cyan metal front left wheel." in (
        describe_scene(TRAFFIC).splitlines()
    )


@pytest.mark.parametrize("words", [[""], [","], []])
def test_no_condition_is_refused(words, refuses):
    with refuses("no condition is named; known: as_is"):
        read_conditions(words)


def test_a_model_never_sees_the_grounding(tmp_path):
    """The members of a counted set would tell how many there are."""

    def make_grounded(spec, split, k):
        images, questions = make(spec, split, k)
        return images, [replace(q, grounding=(GroundedPhrase(0, 3, (0,)),)) for q in questions]

    data = build_dataset(tmp_path / "grounded", SPEC, JOBS, make_grounded)
    items = list(DatasetPrompts(data, "test", "short").iter_examples("as_is"))
    assert items and all(item.question.grounding and not item.prompt.question.grounding for item in items)
