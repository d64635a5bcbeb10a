"""Which nouns fit a place in a question: attested there, of the class of what is, or of what they replace."""

import pytest

from graphs import graph
from shiftscope.lang.program import Program, node
from shiftscope.run.generalization._attested_places import (
    AttestedPlaces,
    CompanionDemand,
    RelationDemand,
    WordDemand,
    list_demands,
)
from shiftscope.scene_graph.wordnet import WordNet
from shiftscope.schemas.gqa import SCHEMA

ONCE = (
    graph("0", "passenger train, hill", "0 on 1"),
    graph("1", "man, horse", "0 riding 1"),
    graph("2", "cheese, pizza", "0 on 1"),
    graph("3", "wheel, skateboard", "0 on 1"),
    graph("4", "standing man"),
    graph("5", "passenger bus"),
    graph("6", "cup, table", "0 on 1"),
    graph("7", "cow, field", "0 in 1"),
    graph("8", "cow, zoo", "0 in 1"),
)
GRAPHS = (*ONCE, *ONCE, graph("9", "cup, shelf", "0 on 1"))
PLACES = AttestedPlaces(GRAPHS, SCHEMA, WordNet(), "name")


@pytest.mark.parametrize(
    ("name", "instead_of", "demand", "fits"),
    [
        ("train", "bus", WordDemand("passenger"), True),
        ("bus", "hill", WordDemand("passenger"), False),  # of another kind
        ("car", "train", WordDemand("passenger"), False),  # not attested
        ("man", "woman", WordDemand("standing"), True),
        ("horse", "bike", RelationDemand("riding", False, "boy"), True),  # as the man does
        ("horse", "bike", RelationDemand("riding", False, "cheese"), False),
        ("cheese", "cup", RelationDemand("on", True, "pizza"), True),  # whatever is on it
        ("pizza", "skateboard", RelationDemand("on", False, "wheel"), False),  # what is on a pizza is no wheel
        ("table", "shelf", RelationDemand("on", False, "cup"), True),
        ("shelf", "table", RelationDemand("on", False, "cup"), False),  # once only
        ("zoo", "field", RelationDemand("in", False, "cow"), False),  # one may be in both
        ("cup", "pizza", CompanionDemand("table"), False),
        ("pizza", "cheese", CompanionDemand("cheese"), False),  # what it is on
        ("man", "woman", CompanionDemand("horse"), True),
        ("man", "woman", CompanionDemand("pizza"), False),
    ],
)
def test_a_name_fits_a_place(name, instead_of, demand, fits):
    assert PLACES.fits(name, instead_of, [demand]) == fits


def test_all_demands_of_a_place_count():
    both = [WordDemand("passenger"), RelationDemand("riding", False, "man")]
    assert not PLACES.fits("train", "bus", both)
    assert PLACES.fits("train", "bus", both[:1])
    assert PLACES.fits("cat", "dog", [])
    assert not PLACES.fits("gizmo", "hill", [])


def test_what_a_question_says_of_a_thing():
    """Is there a red car parked on the street that the man is crossing?"""
    program = Program(
        (
            node("find", (), ("man",)),
            node("related", (0,), ("crossing", "object")),
            node("filter", (1,), ("name", "street")),
            node("related", (2,), ("parked on", "subject")),
            node("filter", (3,), ("name", "car")),
            node("filter", (4,), ("color", "red")),
            node("exist", (5,)),
        )
    )
    assert list_demands(program, 4, "name") == [RelationDemand("parked on", True, "street"), WordDemand("red")]
    assert list_demands(program, 2, "name") == [
        RelationDemand("crossing", False, "man"),
        RelationDemand("parked on", False, "car"),
    ]
    assert list_demands(program, 0, "name") == [RelationDemand("crossing", True, "street")]
