"""What is often said in the graphs, and what is said once by a slip."""

import pytest

from graphs import graph
from shiftscope.questions.covr.attested import MANY, has_attribute, is_usual
from shiftscope.scene_graph.pack import pack_graphs
from shiftscope.scene_graph.subgraph import ObjectNode, SubgraphLink

SAID = (
    *3 * (("bus", "driving on", "road"),),
    ("airplane", "driving on", "road"),
    *20 * (("sign", "on", "road"),),
    *3 * (("sign", "in", "road"),),
    *3 * (("boat", "on", "box"),),
    *20 * (("cat", "in", "box"),),
    ("airplane", "on", "box"),
    *3 * (("ship", "standing on", "box"),),
)


def link(subject, relation, target):
    return ObjectNode(subject, "", (SubgraphLink(relation, ObjectNode(target)),))


@pytest.fixture(scope="module")
def graphs():
    empty = MANY - len(SAID)
    return pack_graphs(
        [
            graph(str(k), f"{said[0]}, {said[2]}", f"0 {said[1]} 1")
            for k, said in enumerate((*SAID, *empty * (("dog", "near", "tree"),)))
        ]
    )


@pytest.mark.parametrize(
    ("said", "usual"),
    [
        (("bus", "driving on", "road"), True),
        (("airplane", "driving on", "road"), False),  # once
        (("airplane", "on", "box"), False),  # once
        (("ship", "standing on", "box"), True),  # a boat of a kind, which is on one
        (("sign", "on", "road"), True),
        (("sign", "in", "road"), False),  # most are on one
        (("boat", "on", "box"), True),  # no ground
    ],
)
def test_what_is_usual(graphs, said, usual):
    assert is_usual(graphs, link(*said)) is usual


def test_few_graphs_attest_nothing():
    few = pack_graphs([graph(str(k), f"{said[0]}, {said[2]}", f"0 {said[1]} 1") for k, said in enumerate(SAID)])
    assert is_usual(few, link("airplane", "driving on", "road"))


@pytest.mark.parametrize(("blue", "said"), [(1, False), (2, False), (30, True)])
def test_an_attribute_that_such_things_seldom_have_is_not_said_of_them(blue, said):
    bears = pack_graphs([graph(str(k), "blue bear" if k < blue else "black bear") for k in range(MANY)])
    assert has_attribute(bears, "bear", "blue") is said
    assert has_attribute(bears, "bear", "black")


def test_of_few_graphs_one_is_enough_for_an_attribute():
    assert has_attribute(pack_graphs([graph("0", "blue bear")]), "bear", "blue")
