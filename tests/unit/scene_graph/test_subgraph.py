"""Subgraphs: one form per tree, numbered nodes, and all of them found in a graph."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphs import graph, random_graph
from shiftscope.scene_graph.exclusivity import MutualExclusivity
from shiftscope.scene_graph.extract import extract_subgraphs
from shiftscope.scene_graph.index import build_index
from shiftscope.scene_graph.pack import pack_graphs
from shiftscope.scene_graph.related_images import RelatedImages
from shiftscope.scene_graph.subgraph import (
    DEEPEST,
    MOST_RELATIONS,
    ObjectNode,
    RelationModifier,
    SubgraphLink,
    SubgraphNode,
    SubgraphShape,
    root_relations,
)

UNCORKING = ObjectNode(
    "man",
    "standing",
    (
        SubgraphLink("uncorking", ObjectNode("bottle"), (RelationModifier("with", ObjectNode("corkscrew")),)),
        SubgraphLink("near", ObjectNode("dog", "black")),
    ),
)


def test_equal_trees_are_equal_in_whatever_order_they_are_given():
    turned = ObjectNode("man", "standing", UNCORKING.relations[::-1])
    assert turned == UNCORKING
    assert hash(turned) == hash(UNCORKING)
    assert [link.relation for link in turned.relations] == ["near", "uncorking"]


def test_nodes_are_numbered_from_the_root_down():
    assert UNCORKING.nodes() == (
        SubgraphNode("object", "man"),
        SubgraphNode("attribute", "standing"),
        SubgraphNode("relation", "near"),
        SubgraphNode("object", "dog"),
        SubgraphNode("attribute", "black"),
        SubgraphNode("relation", "uncorking"),
        SubgraphNode("object", "bottle"),
        SubgraphNode("modifier", "with"),
        SubgraphNode("object", "corkscrew"),
    )
    assert root_relations(UNCORKING) == (2, 5)
    assert (UNCORKING.size, UNCORKING.depth, UNCORKING.shape) == (9, 1, SubgraphShape(True, False, True))


def test_nodes_are_replaced_by_number():
    other = UNCORKING.replace_nodes({0: "woman", 4: "white", 7: "by", 8: "knife"})
    assert str(other) == "standing woman near white dog and uncorking bottle by knife"
    with pytest.raises(ValueError, match="no node 9"):
        UNCORKING.replace_nodes({9: "cat"})


def test_parts_can_be_left_out():
    assert str(UNCORKING.drop_attribute().drop_relation(0)) == "man uncorking bottle with corkscrew"


def test_all_subgraphs_of_a_small_graph():
    packed = pack_graphs([graph("a", "tall man, dog, red ball", "0 holding 1", "1 near 2")])
    assert [str(s) for s in extract_subgraphs(packed, 0)] == [
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
    packed = pack_graphs([graph("a", "man, bottle, corkscrew, hat", *triples, modifiers=modifiers)])
    found = {str(s) for s in extract_subgraphs(packed, 0)}
    assert "man opening bottle with corkscrew and wearing hat" in found
    assert "man opening bottle" in found
    assert not any("opening with" in s for s in found)


def test_numbers_are_no_attributes():
    packed = pack_graphs([graph("a", "2 dogs, several red cats")])
    assert [str(s) for s in extract_subgraphs(packed, 0)] == ["cats", "dogs", "red cats"]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 300))
def test_every_subgraph_keeps_the_rules_and_is_in_its_graph(k):
    packed = pack_graphs([random_graph(1, k)])
    related = RelatedImages(build_index(packed), MutualExclusivity([]))
    found = extract_subgraphs(packed, 0, most=100)
    assert len(set(found)) == len(found) <= 100
    for one in found:
        assert one.depth <= DEEPEST and all(len(t.relations) <= MOST_RELATIONS for t in one.things())
        assert all(node.name for node in one.nodes())
        assert related.find_roots(one, 0)


def test_a_crowded_graph_gives_a_draw_of_every_form():
    triples = [f"{i} near {j}" for i in range(12) for j in range(12) if i != j]
    packed = pack_graphs([graph("a", ", ".join(f"red thing{i}" for i in range(12)), *triples)])
    found = extract_subgraphs(packed, 0, "seed", most=500)
    assert found == extract_subgraphs(packed, 0, "seed", most=500)
    assert found != extract_subgraphs(packed, 0, "other", most=500)
    assert 400 < len(found) <= 500
    assert {(s.depth, len(s.relations)) for s in found} == {(0, 0), (1, 1), (1, 2), (2, 1), (2, 2)}
