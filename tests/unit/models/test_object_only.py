"""The model that knows only which kinds of objects an image shows."""

import pytest

from shiftscope.model import ModelSetting, Prompt, build_model, predict_checked
from shiftscope.question import Question
from shiftscope.scene import Object, Scene


def shows(*kinds, by="name"):
    return Scene(tuple(Object(((by, kind),)) for kind in kinds))


SEEN = {"dogs": shows("dog", "ball"), "cats": shows("cat"), "both": shows("cat", "dog"), "none": shows()}
TRAIN = [
    *(Question(f"d{k}", "What is it?", ("dogs",), answer="woof") for k in range(20)),
    *(Question(f"c{k}", "What is it?", ("cats",), answer="meow") for k in range(20)),
]


def setting(train=TRAIN, seen=SEEN, choosing=()):
    return ModelSetting(
        train=lambda: train, choosing=lambda: choosing, scenes=lambda question: [seen[name] for name in question.scenes]
    )


def said(made, *scenes, text="What is it?"):
    prompts = [Prompt(Question(f"q{k}", text, ()), scenes=(scene,)) for k, scene in enumerate(scenes)]
    return predict_checked(made, prompts)


def test_it_learns_what_goes_with_which_kinds():
    made = build_model("object_only", setting())
    assert [r.answer for r in said(made, shows("dog"), shows("cat"), shows("ball", "bird"))] == ["woof", "meow", "woof"]


def test_it_does_not_read_the_question():
    made = build_model("object_only", setting())
    one, other = said(made, shows("cat")), said(made, shows("cat"), text="How many dogs are there?")
    assert one == other
    assert 0.5 < one[0].confidence <= 1


def test_it_tells_how_many_there_are_of_a_kind():
    seen = {"one": shows("dog"), "two": shows("dog", "dog")}
    train = [Question(f"{k}", "?", (name,), answer=name) for k in range(20) for name in seen]
    made = build_model("object_only", setting(train, seen))
    assert [r.answer for r in said(made, shows("dog"), shows("dog", "dog"))] == ["one", "two"]


def test_kinds_may_be_shapes():
    seen = {"a": shows("cube", by="shape"), "b": shows("sphere", by="shape")}
    train = [Question(f"{k}{name}", "?", (name,), answer=name) for k in range(20) for name in seen]
    made = build_model("object_only", setting(train, seen))
    assert [r.answer for r in said(made, shows("sphere", by="shape"))] == ["b"]


def test_an_image_that_shows_nothing_gets_an_answer_too():
    assert said(build_model("object_only", setting()), shows())[0].answer in ("woof", "meow")


@pytest.mark.parametrize(
    "train", [[Question("1", "?", ("none",), answer="yes")], [Question("1", "?", (), answer="yes")]]
)
def test_data_without_objects_are_refused(refuses, train):
    with refuses("model 'object_only' learns from the objects of images, and none is known of the training images"):
        build_model("object_only", setting(train))


def test_nothing_to_learn_from_is_refused(refuses):
    with refuses("model 'object_only' learns from answered questions and there are none"):
        build_model("object_only", setting([]))
