"""Ambiguity: whether a person would count the objects of a graph as the graph does.

Annotators call four cows "cows", or "several" cow; and where one writes "animal", another writes "kitty". The
first is one object of the graph and several things, the second may be one of those the question is about.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from ...english.adjectives import count_colors
from ...english.inflection import plural
from ...english.nouns import grammatical_number, is_many, is_quantity
from ...scene_graph.exclusivity import MutualExclusivity
from ...scene_graph.pack import PackedGraphs
from ...scene_graph.subgraph import Subgraph, SubgraphLink
from .program import GraphTable, read_graph

SUBGRAPHS = 8192  # whose colors are kept at hand


class CountAmbiguity:
    """What each object of the graphs is besides, worked out once for a word."""

    def __init__(self, graphs: PackedGraphs, overlap: MutualExclusivity) -> None:
        self._graphs, self._overlap, self._closed = graphs, overlap, graphs.schema.closed
        self._alike: dict[str, tuple[set[int], set[int]]] = {}  # names that may be this one, and that are not
        self._colors = lru_cache(SUBGRAPHS)(self._list_color_codes)
        self._narrower = lru_cache(SUBGRAPHS)(self._list_narrower)
        if self._closed:
            return
        names = np.array([is_many(name) for name in graphs.names], bool)
        quantities = np.array([is_quantity(word) for word in graphs.attributes], bool)
        colors = np.array([count_colors(word) for word in graphs.attributes], np.int64)
        several = _sum_per_object(graphs, quantities.astype(np.int64)) > 0
        self._many = (names[graphs.object_names] | several).tobytes()  # [object]
        self._colorful = (_sum_per_object(graphs, colors) > 1).tobytes()

    def has_plural_objects(self, subgraph: Subgraph, things: Iterable[int]) -> bool:
        """Whether one of the objects is several things where its name in the subgraph is one thing's.

        Or the other way round: the apples are not one apple.
        """
        called = grammatical_number(subgraph.name)
        if self._closed or called == "mass":
            return False
        return any(self._many[thing] != (called == "several") for thing in things)

    def has_mixed_colors(self, subgraph: Subgraph, graph: int) -> bool:
        """Whether something there has a color that the subgraph tells of it or of a thing it is related to,
        and another one: to some a white and red shirt is a white one."""
        if self._closed or not (colors := self._colors(subgraph)):
            return False
        there, start = read_graph(self._graphs, graph), self._graphs.object_starts[graph]
        pairs = zip(there.words, there.owners, strict=True)
        return any(code in colors and self._colorful[start + k] for code, k in pairs)

    def _list_color_codes(self, subgraph: Subgraph) -> frozenset[int]:
        codes = self._graphs.attribute_codes
        words = (node.name for node in subgraph.nodes() if node.kind == "attribute")
        return frozenset(codes[word] for word in words if word in codes and count_colors(word))

    def is_multicolored(self, things: Iterable[int]) -> bool:
        return not self._closed and any(self._colorful[thing] for thing in things)

    def has_lookalikes(self, subgraph: Subgraph, graph: int) -> bool:
        """Whether the graph has something that may be one of those described, but is called otherwise.

        It has the attribute and the relations of the subgraph, though perhaps not to the same things. Or what it is
        related to may be what the subgraph names, and is called otherwise: a man in a suit wears a jacket.
        """
        if self._closed:
            return False
        there = read_graph(self._graphs, graph)
        if not subgraph.attribute and not subgraph.relations:
            return self._is_any_alike(subgraph.name, there.names)
        codes = self._graphs.relation_codes
        found = [
            _find_owners(there.relations, there.subjects, codes.get(link.relation, -1)) for link in subgraph.relations
        ]
        if subgraph.attribute:
            code = self._graphs.attribute_codes.get(subgraph.attribute, -1)
            found.append(_find_owners(there.words, there.owners, code))
        things = set.intersection(*found)
        if self._is_any_alike(subgraph.name, [there.names[thing] for thing in things]):
            return True
        called = {thing for thing in things if there.names[thing] in self._narrower(subgraph.name)}
        return any(self._leads_to_lookalike(link, there, called) for link in subgraph.relations if called)

    def _leads_to_lookalike(self, link: SubgraphLink, there: GraphTable, subjects: set[int]) -> bool:
        code = self._graphs.relation_codes[link.relation]
        triples = zip(there.relations, there.subjects, there.targets, strict=True)
        targets = [there.names[target] for kind, one, target in triples if kind == code and one in subjects]
        return self._is_any_alike(link.thing.name, targets)

    def _list_narrower(self, name: str) -> frozenset[int]:
        """The names of what a name finds."""
        own = self._graphs.name_codes.get(name, -1)
        return frozenset(self._graphs.narrower[own].tolist() if own >= 0 else ())

    def _is_any_alike(self, name: str, codes: Sequence[int]) -> bool:
        """Whether something of these names may be called this as well, but is not found by it as it is."""
        known = self._alike.get(name)
        if known is None:
            known = self._alike[name] = set(), set(self._narrower(name))
        alike, others = known
        if not alike.isdisjoint(codes):
            return True
        if new := sorted(set(codes).difference(others)):
            words = [self._graphs.names[code] for code in new]
            judged = self._overlap.find_overlaps("object", name, words)
            for code, word, may_be in zip(new, words, judged, strict=True):
                same = may_be or word == plural(name) or plural(word) == name
                (alike if same else others).add(code)
        return not alike.isdisjoint(new)


def _find_owners(codes: list[int], owners: list[int], wanted: int) -> set[int]:
    if wanted not in codes:
        return set()
    return {owner for code, owner in zip(codes, owners, strict=True) if code == wanted}


def _sum_per_object(graphs: PackedGraphs, weights: np.ndarray) -> np.ndarray:
    """[object] the sum over its attributes."""
    sums = np.concatenate([[0], np.cumsum(weights[graphs.object_attributes])])
    return np.asarray(sums[graphs.attribute_starts[1:]] - sums[graphs.attribute_starts[:-1]])
