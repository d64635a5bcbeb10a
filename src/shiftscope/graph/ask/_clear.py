"""Clear: whether a person would count the things of a graph as the graph does.

Annotators call four cows "cows", or "several" cow; and where one writes "animal", another writes "kitty". The
first is one object of the graph and several things, the second may be one of those asked about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...ask.english import plural
from ..overlap import Overlap
from ..pack import PackedGraphs
from ..subgraph import Subgraph
from ._colors import colors_in
from ._listed import listed
from ._nouns import number

GRAPHS = 8192  # are kept at hand
COLLECTIVES = listed(  # one name for several
    """group, groups, pair, pairs, bunch, row, rows, herd, flock, crowd, team, set, stack, pile, line, couple,
    family, collection, cluster, dozen, lot, number, array, series, pack, fleet, school, audience, band,
    cattle, livestock, poultry, staff, crew, traffic"""
)
QUANTITIES = listed(
    """two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, dozen, dozens, hundreds, several,
    many, multiple, numerous, few, various, assorted, both, some, pair, couple, group, bunch, row, rows, lots,
    stacked, plural, different, matching, lined up, side by side, grouped, gathered, scattered, in a row,
    in a line, in rows, all, most, other, double, triple, twin"""
)


@lru_cache(maxsize=16384)
def is_many(name: str) -> bool:
    """Whether one object of this name may be several things, or some of a mass."""
    words = name.lower().replace("-", " ").split()
    head = name.lower().partition(" of ")[0].rpartition(" ")[2]
    told = not QUANTITIES.isdisjoint(words[:1]) or any(word.isdigit() for word in words)
    return told or head in COLLECTIVES or number(name) != "one"


@lru_cache(maxsize=16384)
def is_quantity(attribute: str) -> bool:
    """Whether an attribute says that there are several: 4, two, group of."""
    said = attribute.lower().strip()
    words = said.replace("-", " ").split()
    if said in QUANTITIES:
        return True
    numeral = any(word.isdigit() and word != "1" for word in words)
    return numeral or (bool(words) and (words[0] in QUANTITIES or words[-1] == "of"))


class Clear:
    """What each object of the graphs is besides, worked out once for a word."""

    def __init__(self, graphs: PackedGraphs, overlap: Overlap) -> None:
        self._graphs, self._overlap, self._closed = graphs, overlap, graphs.schema.closed
        self._alike: dict[str, tuple[set[int], set[int]]] = {}  # names that may be this one, and that are not
        self._there = lru_cache(GRAPHS)(self._find)
        self._colors = lru_cache(GRAPHS)(self._told_colors)
        if self._closed:
            return
        names = np.array([is_many(name) for name in graphs.names], bool)
        quantities = np.array([is_quantity(word) for word in graphs.attributes], bool)
        colors = np.array([colors_in(word) for word in graphs.attributes], np.int64)
        several = _per_object(graphs, quantities.astype(np.int64)) > 0
        self._many = (names[graphs.object_names] | several).tobytes()  # [object]
        self._colorful = (_per_object(graphs, colors) > 1).tobytes()

    def many(self, subgraph: Subgraph, things: Iterable[int]) -> bool:
        """Whether one of the objects is several things where its name in the subgraph is one thing's.

        Or the other way round: the apples are not one apple.
        """
        called = number(subgraph.name)
        if self._closed or called == "mass":
            return False
        return any(self._many[thing] != (called == "several") for thing in things)

    def blurred(self, subgraph: Subgraph, graph: int) -> bool:
        """Whether something there has a color that the subgraph tells of it or of a thing it is related to,
        and another one: to some a white and red shirt is a white one."""
        if self._closed or not (colors := self._colors(subgraph)):
            return False
        there, start = self._there(graph), self._graphs.object_starts[graph]
        return any(self._colorful[start + k] for code in colors for k in there.attributes.of(code))

    def _told_colors(self, subgraph: Subgraph) -> tuple[int, ...]:
        codes = self._graphs.attribute_codes
        words = (node.name for node in subgraph.nodes() if node.kind == "attribute")
        return tuple(codes[word] for word in words if word in codes and colors_in(word))

    def colorful(self, things: Iterable[int]) -> bool:
        """Whether one of the objects has more than one color."""
        return not self._closed and any(self._colorful[thing] for thing in things)

    def others(self, subgraph: Subgraph, graph: int) -> bool:
        """Whether the graph has something that may be one of those described, but is called otherwise.

        It has the attribute and the relations that are asked for, though perhaps not to the same things.
        """
        if self._closed:
            return False
        there = self._there(graph)
        if not subgraph.attribute and not subgraph.relations:
            return self._any_alike(subgraph.name, there.names)
        codes = self._graphs.relation_codes
        found = [there.relations.of(codes.get(link.relation, -1)) for link in subgraph.relations]
        if subgraph.attribute:
            code = self._graphs.attribute_codes.get(subgraph.attribute, -1)
            found.append(there.attributes.of(code))
        things = set(found[0]).intersection(*found[1:])
        return bool(things) and self._any_alike(subgraph.name, [there.names[thing] for thing in things])

    def _any_alike(self, name: str, codes: Sequence[int]) -> bool:
        """Whether something of these names may be called this as well, but is not found by it as it is."""
        known = self._alike.get(name)
        if known is None:
            own = self._graphs.name_codes.get(name, -1)
            found = set(self._graphs.narrower[own].tolist() if own >= 0 else ())
            known = self._alike[name] = set(), found
        alike, others = known
        if not alike.isdisjoint(codes):
            return True
        if new := sorted(set(codes).difference(others)):
            words = [self._graphs.names[code] for code in new]
            judged = self._overlap.overlapping("object", name, words)
            for code, word, may_be in zip(new, words, judged, strict=True):
                same = may_be or word == plural(name) or plural(word) == name
                (alike if same else others).add(code)
        return not alike.isdisjoint(new)

    def _find(self, graph: int) -> There:
        graphs = self._graphs
        start, end = graphs.object_starts[graph : graph + 2].tolist()
        said = slice(*graphs.attribute_starts[[start, end]].tolist())
        related = slice(*graphs.triple_starts[[start, end]].tolist())
        return There(
            graphs.object_names[start:end].tolist(),
            Told(graphs.object_attributes[said].tolist(), (graphs.attribute_owners[said] - start).tolist()),
            Told(
                graphs.triple_relations[related].tolist(), (graphs.triple_subjects[related] - start).tolist()
            ),
        )


class Told(NamedTuple):
    """Words, and the thing that each is said of."""

    codes: list[int]
    things: list[int]

    def of(self, wanted: int) -> list[int]:
        """The things that this is said of."""
        if wanted not in self.codes:
            return []
        return [thing for code, thing in zip(self.codes, self.things, strict=True) if code == wanted]


class There(NamedTuple):
    """The things of a graph: their names, their attributes and their relations."""

    names: list[int]
    attributes: Told
    relations: Told


def _per_object(graphs: PackedGraphs, weights: np.ndarray) -> np.ndarray:
    """[object] the sum over its attributes."""
    sums = np.concatenate([[0], np.cumsum(weights[graphs.object_attributes])])
    return np.asarray(sums[graphs.attribute_starts[1:]] - sums[graphs.attribute_starts[:-1]])
