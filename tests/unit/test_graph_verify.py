"""Incomplete graphs: what is dropped, at which score, and which model is asked; with a literal scorer."""

from dataclasses import replace

import numpy as np
import pytest

from graphs import graph
from shiftscope.errors import UserError
from shiftscope.graph.ask.context import Case, Look
from shiftscope.graph.index import build
from shiftscope.graph.overlap import overlap_for
from shiftscope.graph.pack import pack
from shiftscope.graph.related import Change, Containing, Distractor, Related
from shiftscope.graph.subgraph import Link, Modifier, Thing
from shiftscope.graph.verify import (
    Folds,
    Verifier,
    folds,
    masked,
    needs_verification,
    simple_parts,
    threshold,
)
from shiftscope.schemas.gqa import SCHEMA
from toy import THREE_AND_ONE

HOLDING = Thing("man", "tall", (Link("holding", Thing("ball", "red")),))
SCENES = (graph("a", "tall man, red ball", "0 holding 1"), graph("b", "woman, red ball", "0 holding 1"))
RELATED = Related(build(pack(SCENES)), overlap_for(SCHEMA))
BLANK = np.ones((2, 4, 3), np.uint8)
BOXES = {"a": ((0, 0, 2, 2), (2, 0, 2, 2)), "b": ((0, 0, 2, 2), None)}


class Literal:
    """Says what it was told to; remembers what it was shown."""

    def __init__(self, **scores: float) -> None:
        self.scores, self.shown = scores, []

    def probability(self, texts, images):
        self.shown += zip(texts, [int(image.sum()) for image in images], strict=True)
        return [self.scores.get(text.replace(" ", "_"), 0.0) for text in texts]


def verifier(seer) -> Verifier:
    return Verifier(RELATED, seer, lambda image: BLANK, lambda image: BOXES[image])


def distractor(*kinds: str) -> Distractor:
    return Distractor(1, HOLDING, tuple(Change(k, kind, "x", "y") for k, kind in enumerate(kinds)), 0)


def test_simple_parts_have_one_relation_and_one_attribute():
    assert [str(p) for p in simple_parts(HOLDING)] == ["tall man holding ball", "man holding red ball"]
    assert simple_parts(Thing("dog", "black")) == (Thing("dog", "black"),)
    opening = Link("opening", Thing("bottle"), (Modifier("with", Thing("knife")),))
    chain = Thing("man", "", (opening, Link("near", Thing("dog", "", (Link("on", Thing("bed")),)))))
    assert [str(p) for p in simple_parts(chain)] == [
        "man near dog",
        "man opening bottle",
        "knife",
        "dog on bed",
    ]


def test_the_threshold_is_the_largest_of_what_differs():
    assert threshold(["object"]) == 0.05
    assert threshold(["object", "relation"]) == 0.1
    assert threshold(["attribute", "object"]) == 0.5


@pytest.mark.parametrize(
    ("kinds", "scores", "kept"),
    [
        (["object"], (0.06, 0.9), False),  # both seem to be there
        (["object"], (0.05, 0.9), True),  # one is not above
        (["relation"], (0.06, 0.9), True),
        (["relation"], (0.11, 0.9), False),
        (["attribute"], (0.5, 0.9), True),
        (["attribute"], (0.51, 0.9), False),
        (["object", "attribute"], (0.4, 0.9), True),
    ],
)
def test_a_distractor_goes_when_all_simple_parts_are_seen(kinds, scores, kept):
    seer = Literal(tall_man_holding_ball=scores[0], man_holding_red_ball=scores[1])
    one = distractor(*kinds)
    assert verifier(seer).distractors(HOLDING, [one]) == ((one,) if kept else ())


def test_instances_are_painted_over_before_another_is_looked_for():
    found = Containing(0, (0,))
    seer = Literal(tall_man_holding_ball=0.9, man_holding_red_ball=0.5)
    assert verifier(seer).containing(HOLDING, [found]) == (found,)
    assert seer.shown == [("tall man holding ball", 12), ("man holding red ball", 12)]  # half of 24 is black
    seer = Literal(tall_man_holding_ball=0.9, man_holding_red_ball=0.51)
    assert verifier(seer).containing(HOLDING, [found]) == ()


def test_a_box_is_painted_over_within_the_picture():
    picture = np.full((3, 3, 3), 9, np.uint8)
    assert masked(picture, [(1.2, -5, 50, 6.5)])[:, :, 0].tolist() == [[9, 0, 0], [9, 0, 0], [9, 9, 9]]
    assert picture.min() == 9


def test_what_has_no_box_is_kept_unchecked_and_counted():
    looked = verifier(Literal(ball=0.9))
    found = [Containing(0, (1,)), Containing(1, (1,))]
    assert looked.containing(Thing("ball"), found) == (found[1],)  # only b's ball has no box
    assert looked.tally == {"counted": 1, "counted_dropped": 1, "unboxed": 1}


class Failing:
    def probability(self, texts, images):
        raise ValueError("no room")


class Silent:
    def probability(self, texts, images):
        return None


def test_a_model_that_stops_is_told_with_the_image_it_stopped_at():
    with pytest.raises(UserError, match="--verify: the model stopped at image b with ValueError: no room"):
        verifier(Failing()).distractors(Thing("cat"), [distractor("object")])
    with pytest.raises(UserError, match="stopped at image b with TypeError: 'NoneType'"):
        verifier(Silent()).distractors(Thing("cat"), [distractor("object")])


def test_scores_must_be_probabilities():
    with pytest.raises(UserError, match="must give 1 probabilities for image b"):
        verifier(Literal(cat=1.5)).distractors(Thing("cat"), [distractor("object")])


def test_each_image_is_judged_by_the_model_that_did_not_see_it():
    dealt = folds([f"image {k}" for k in range(23)], "seed")
    assert dealt == folds([f"image {k}" for k in reversed(range(23))], "seed")
    sizes = [len(asked) for _, asked in dealt.parts()]
    assert sorted(sizes) == [4, 4, 5, 5, 5]
    for learned, asked in dealt.parts():
        assert not set(learned) & set(asked)
        assert len(learned) + len(asked) == 23
    seers = [Literal(man=0.9), Literal(man=0.01)]
    one = distractor("object")
    for fold, kept in ((0, ()), (1, (one,))):
        assert verifier(Folds({"b": fold}, seers)).distractors(Thing("man"), [one]) == kept
    with pytest.raises(UserError, match="image 'b' is in no fold"):
        verifier(Folds({}, seers)).distractors(Thing("man"), [one])


def test_random_images_and_those_counted_for_something_else_are_checked_too():
    red, parts = Thing("ball", "red"), {"tall_man_holding_ball": 0.9, "man_holding_red_ball": 0.9}
    for scores, strangers, holding in (
        ({}, (1,), {0, 1}),
        (parts, (), set()),
        ({"red_ball": 0.6}, (1,), set()),
    ):
        looked = Verifier(RELATED, Literal(**scores), lambda image: BLANK, lambda image: BOXES["a"])
        case = Case(Look(RELATED, 0, True, looked), HOLDING, 0)
        assert case.strangers == strangers
        assert set(case.holding(red, 1)) == holding


def test_a_model_is_asked_the_same_once_and_images_together():
    calls = []

    class Counting(Literal):
        def probability(self, texts, images):
            calls.append(len(texts))
            return super().probability(texts, images)

    looked = verifier(Counting(tall_man_holding_ball=0.9, man_holding_red_ball=0.9))
    two = [distractor("object"), replace(distractor("object"), graph=0)]
    assert looked.distractors(HOLDING, two) == looked.distractors(HOLDING, two[:1]) == ()
    assert calls == [4]
    assert looked.tally == {"distractors": 3, "distractors_dropped": 3}
    looked.begin()
    assert looked.distractors(HOLDING, two[:1]) == ()
    assert calls == [4, 2]
    assert looked.tally == {"distractors": 1, "distractors_dropped": 1}


def test_complete_scenes_need_none_of_it():
    assert needs_verification(RELATED.graphs)
    assert not needs_verification(pack([THREE_AND_ONE]))
