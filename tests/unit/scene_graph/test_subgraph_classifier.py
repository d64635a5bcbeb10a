"""Incomplete graphs: what is dropped, at which score, and which model is asked; with a literal scorer."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from graphs import graph
from shiftscope.errors import UserError
from shiftscope.questions.covr.context_images import CaseSettings, SubgraphCase
from shiftscope.scene_graph.exclusivity import build_exclusivity
from shiftscope.scene_graph.index import build_index
from shiftscope.scene_graph.pack import pack_graphs
from shiftscope.scene_graph.related_images import ContainingImage, Distractor, NodeReplacement, RelatedImages
from shiftscope.scene_graph.subgraph import ObjectNode, RelationModifier, SubgraphLink
from shiftscope.scene_graph.subgraph_classifier import (
    ClassifierFolds,
    RelatedImageChecker,
    assign_folds,
    get_threshold,
    list_simple_parts,
    mask_boxes,
)
from shiftscope.schemas.gqa import SCHEMA

HOLDING = ObjectNode("man", "tall", (SubgraphLink("holding", ObjectNode("ball", "red")),))
SCENES = (graph("a", "tall man, red ball", "0 holding 1"), graph("b", "woman, red ball", "0 holding 1"))
RELATED = RelatedImages(build_index(pack_graphs(SCENES)), build_exclusivity(SCHEMA))
BLANK = np.ones((2, 4, 3), np.uint8)
BOXES = {"a": ((0, 0, 2, 2), (2, 0, 2, 2)), "b": ((0, 0, 2, 2), None)}


class Literal:
    """Says what it was told to; remembers what it was shown."""

    def __init__(self, **scores: float) -> None:
        self.scores, self.shown = scores, []

    def probability(self, texts, images):
        self.shown += zip(texts, [int(image.sum()) for image in images], strict=True)
        return [self.scores.get(text.replace(" ", "_"), 0.0) for text in texts]


def verifier(seer) -> RelatedImageChecker:
    return RelatedImageChecker(RELATED, seer, lambda image: BLANK, lambda image: BOXES[image])


def distractor(*kinds: str) -> Distractor:
    return Distractor(1, HOLDING, tuple(NodeReplacement(k, kind, "x", "y") for k, kind in enumerate(kinds)), 0)


def test_simple_parts_have_one_relation_and_one_attribute():
    assert [str(p) for p in list_simple_parts(HOLDING)] == ["tall man holding ball", "man holding red ball"]
    assert list_simple_parts(ObjectNode("dog", "black")) == (ObjectNode("dog", "black"),)
    opening = SubgraphLink("opening", ObjectNode("bottle"), (RelationModifier("with", ObjectNode("knife")),))
    chain = ObjectNode(
        "man", "", (opening, SubgraphLink("near", ObjectNode("dog", "", (SubgraphLink("on", ObjectNode("bed")),))))
    )
    assert [str(p) for p in list_simple_parts(chain)] == ["man near dog", "man opening bottle", "knife", "dog on bed"]


def test_the_threshold_is_the_largest_of_what_differs():
    assert get_threshold(["object"]) == 0.05
    assert get_threshold(["object", "relation"]) == 0.1
    assert get_threshold(["attribute", "object"]) == 0.5


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
    assert verifier(seer).filter_distractors(HOLDING, [one]) == ((one,) if kept else ())


def test_instances_are_painted_over_before_another_is_looked_for():
    found = ContainingImage(0, (0,))
    seer = Literal(tall_man_holding_ball=0.9, man_holding_red_ball=0.5)
    assert verifier(seer).filter_containing(HOLDING, [found]) == (found,)
    assert seer.shown == [("tall man holding ball", 12), ("man holding red ball", 12)]  # half of 24 is black
    seer = Literal(tall_man_holding_ball=0.9, man_holding_red_ball=0.51)
    assert verifier(seer).filter_containing(HOLDING, [found]) == ()


def test_a_box_is_painted_over_within_the_picture():
    picture = np.full((3, 3, 3), 9, np.uint8)
    assert mask_boxes(picture, [(1.2, -5, 50, 6.5)])[:, :, 0].tolist() == [[9, 0, 0], [9, 0, 0], [9, 9, 9]]
    assert picture.min() == 9


def test_what_has_no_box_is_kept_unchecked_and_counted():
    looked = verifier(Literal(ball=0.9))
    found = [ContainingImage(0, (1,)), ContainingImage(1, (1,))]
    assert looked.filter_containing(ObjectNode("ball"), found) == (found[1],)  # only b's ball has no box
    assert looked.counts == {"counted": 1, "counted_dropped": 1, "unboxed": 1}


class Failing:
    def probability(self, texts, images):
        raise ValueError("no room")


class Silent:
    def probability(self, texts, images):
        return None


def test_a_model_that_stops_is_told_with_the_image_it_stopped_at():
    with pytest.raises(UserError, match="--verify: the model stopped at image b with ValueError: no room"):
        verifier(Failing()).filter_distractors(ObjectNode("cat"), [distractor("object")])
    with pytest.raises(UserError, match="stopped at image b with TypeError: 'NoneType'"):
        verifier(Silent()).filter_distractors(ObjectNode("cat"), [distractor("object")])


def test_scores_must_be_probabilities():
    with pytest.raises(UserError, match="must give 1 probabilities for image b"):
        verifier(Literal(cat=1.5)).filter_distractors(ObjectNode("cat"), [distractor("object")])


def test_each_image_is_judged_by_the_model_that_did_not_see_it():
    dealt = assign_folds([f"image {k}" for k in range(23)], "seed")
    assert dealt == assign_folds([f"image {k}" for k in reversed(range(23))], "seed")
    assert sorted(Counter(dealt.fold.values()).values()) == [4, 4, 5, 5, 5]
    seers = [Literal(man=0.9), Literal(man=0.01)]
    one = distractor("object")
    for fold, kept in ((0, ()), (1, (one,))):
        assert verifier(ClassifierFolds({"b": fold}, seers)).filter_distractors(ObjectNode("man"), [one]) == kept
    with pytest.raises(UserError, match="image 'b' is in no fold"):
        verifier(ClassifierFolds({}, seers)).filter_distractors(ObjectNode("man"), [one])


def test_random_images_and_those_counted_for_something_else_are_checked_too():
    red, parts = ObjectNode("ball", "red"), {"tall_man_holding_ball": 0.9, "man_holding_red_ball": 0.9}
    for scores, strangers, holding in (({}, (1,), {0, 1}), (parts, (), set()), ({"red_ball": 0.6}, (1,), set())):
        looked = RelatedImageChecker(RELATED, Literal(**scores), lambda image: BLANK, lambda image: BOXES["a"])
        case = SubgraphCase(CaseSettings(RELATED, 0, True, looked), HOLDING, 0)
        assert case.random_images == strangers
        assert set(case.find_holding(red, 1)) == holding


def test_a_model_is_asked_the_same_once_and_images_together():
    calls = []

    class Counting(Literal):
        def probability(self, texts, images):
            calls.append(len(texts))
            return super().probability(texts, images)

    looked = verifier(Counting(tall_man_holding_ball=0.9, man_holding_red_ball=0.9))
    two = [distractor("object"), replace(distractor("object"), graph=0)]
    assert looked.filter_distractors(HOLDING, two) == looked.filter_distractors(HOLDING, two[:1]) == ()
    assert calls == [4]
    assert looked.counts == {"distractors": 3, "distractors_dropped": 3}
    looked.reset()
    assert looked.filter_distractors(HOLDING, two[:1]) == ()
    assert calls == [4, 2]
    assert looked.counts == {"distractors": 1, "distractors_dropped": 1}
