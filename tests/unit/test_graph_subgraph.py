"""Subgraphs: one form per tree, numbered nodes, and all of them found in a graph."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphs import graph, random_graph
from shiftscope.graph.extract import subgraphs
from shiftscope.graph.index import build
from shiftscope.graph.overlap import Overlap
from shiftscope.graph.pack import pack
from shiftscope.graph.related import Related
from shiftscope.graph.subgraph import Link, Modifier, Node, Shape, Thing, root_relations, well_formed

UNCORKING = Thing(
    "man",
    "standing",
    (
        Link("uncorking", Thing("bottle"), (Modifier("with", Thing("corkscrew")),)),
        Link("near", Thing("dog", "black")),
    ),
)


def test_equal_trees_are_equal_in_whatever_order_they_are_given():
    turned = Thing("man", "standing", UNCORKING.relations[::-1])
    assert turned == UNCORKING
    assert hash(turned) == hash(UNCORKING)
    assert [link.relation for link in turned.relations] == ["near", "uncorking"]


def test_nodes_are_numbered_from_the_root_down():
    assert UNCORKING.nodes() == (
        Node("object", "man"),
        Node("attribute", "standing"),
        Node("relation", "near"),
        Node("object", "dog"),
        Node("attribute", "black"),
        Node("relation", "uncorking"),
        Node("object", "bottle"),
        Node("modifier", "with"),
        Node("object", "corkscrew"),
    )
    assert root_relations(UNCORKING) == (2, 5)
    assert (UNCORKING.size, UNCORKING.depth, UNCORKING.shape) == (9, 1, Shape(True, False, True))


def test_nodes_are_replaced_by_number():
    other = UNCORKING.replaced({0: "woman", 4: "white", 7: "by", 8: "knife"})
    assert str(other) == "standing woman near white dog and uncorking bottle by knife"
    with pytest.raises(ValueError, match="no node 9"):
        UNCORKING.replaced({9: "cat"})


def test_parts_can_be_left_out():
    assert str(UNCORKING.without_attribute().without_relation(0)) == "man uncorking bottle with corkscrew"


def test_all_subgraphs_of_a_small_graph():
    packed = pack([graph("a", "tall man, dog, red ball", "0 holding 1", "1 near 2")])
    assert [str(s) for s in subgraphs(packed, 0)] == [
        *("ball", "dog", "man"),
        *("red ball", "tall man"),
        *("dog near ball", "man holding dog"),
        *("dog near red ball", "tall man holding dog"),
        "man holding (dog near ball)",
        "man holding (dog near red ball)",
        "tall man holding (dog near ball)",
        "tall man holding (dog near red ball)",
    ]


def test_two_relations_and_modifiers():
    triples = "0 opening 1", "0 opening with 2", "0 wearing 3"
    modifiers = {"opening with": ["opening", "with"]}
    packed = pack([graph("a", "man, bottle, corkscrew, hat", *triples, modifiers=modifiers)])
    found = {str(s) for s in subgraphs(packed, 0)}
    assert "man opening bottle with corkscrew and wearing hat" in found
    assert "man opening bottle" in found
    assert not any("opening with" in s for s in found)


def test_numbers_are_no_attributes():
    packed = pack([graph("a", "2 dogs, several red cats")])
    assert [str(s) for s in subgraphs(packed, 0)] == ["cats", "dogs", "red cats"]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 300))
def test_every_subgraph_keeps_the_rules_and_is_in_its_graph(k):
    packed = pack([random_graph(1, k)])
    related = Related(build(packed), Overlap([]))
    found = subgraphs(packed, 0, most=100)
    assert len(set(found)) == len(found) <= 100
    for one in found:
        assert well_formed(one)
        assert related.roots(one, 0)


def test_a_crowded_graph_gives_a_draw_of_every_form():
    triples = [f"{i} near {j}" for i in range(12) for j in range(12) if i != j]
    packed = pack([graph("a", ", ".join(f"red thing{i}" for i in range(12)), *triples)])
    found = subgraphs(packed, 0, "seed", most=500)
    assert found == subgraphs(packed, 0, "seed", most=500)
    assert found != subgraphs(packed, 0, "other", most=500)
    assert 400 < len(found) <= 500
    assert {(s.depth, len(s.relations)) for s in found} == {(0, 0), (1, 1), (1, 2), (2, 1), (2, 2)}
