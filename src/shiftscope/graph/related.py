"""Related images of a subgraph: those that contain it, and distractors that contain one much like it instead.

A distractor's subgraph has one or two nodes replaced by others of their own kind that exclude them, and its
image does not contain the subgraph itself. Candidates come from the index, what is decided is decided on the
graph. Which images are chosen, and in which order, is a function of the random path alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from .. import rng
from ._search import candidates, holding, replacing, roots_in
from .index import Index, intersect
from .overlap import Overlap
from .pack import Codes
from .pattern import Pattern, columns_of, compile_pattern
from .subgraph import Kind, Subgraph
from .verdicts import Asked

Edit = tuple[int, ...]  # the numbers of the nodes to replace, ascending
EACH = 4  # distractors wanted are shared among at least so many edits, if there are
PATTERNS = 4096


@dataclass(frozen=True, slots=True)
class Change:
    """One node of the subgraph, by its number, and what stands there instead."""

    node: int
    kind: Kind
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Distractor:
    """An image without the subgraph, and the one much like it that is there."""

    graph: int
    instead_of: Subgraph
    changes: tuple[Change, ...]  # by node
    root: int  # the object at the root of what is there, as its scene numbers it

    @property
    def subgraph(self) -> Subgraph:
        """What is there."""
        return self.instead_of.replaced({change.node: change.after for change in self.changes})

    @property
    def distance(self) -> int:
        return len(self.changes)

    @property
    def changed(self) -> tuple[int, ...]:
        return tuple([change.node for change in self.changes])


@dataclass(frozen=True, slots=True)
class Containing:
    """An image with the subgraph, and the objects at the root of each instance, as its scene numbers them."""

    graph: int
    roots: tuple[int, ...]

    @property
    def count(self) -> int:
        return len(self.roots)


def edits(
    subgraph: Subgraph, *, including: int | None = None, distances: Iterable[int] = (1, 2)
) -> list[Edit]:
    """Which nodes to replace: every one and every two of them, or those that include a given one."""
    numbers = range(subgraph.size)
    return [
        edit
        for distance in distances
        for edit in combinations(numbers, distance)
        if including is None or including in edit
    ]


class Related:
    """Look-ups over an index."""

    def __init__(self, index: Index, overlap: Overlap) -> None:
        self.index, self.graphs, self.overlap = index, index.graphs, overlap
        self._columns = columns_of(index)
        self._asked = Asked(overlap, self.graphs)
        self._pattern = lru_cache(PATTERNS)(lambda subgraph: compile_pattern(subgraph, self.graphs))

    def roots(self, subgraph: Subgraph, graph: int) -> tuple[int, ...]:
        """The objects of a graph at which the subgraph occurs, as its scene numbers them."""
        _, found = self._roots_in(self._pattern(subgraph), np.array([graph], np.int32))
        return tuple((found - self.graphs.object_starts[graph]).tolist())

    def instances(self, subgraph: Subgraph, graphs: Sequence[int]) -> tuple[Codes, Codes]:
        """How many instances each of these graphs has, and all their roots, numbered through all graphs."""
        return self._roots_in(self._pattern(subgraph), np.array(graphs, np.int32))

    def counts(self, subgraph: Subgraph) -> tuple[Codes, Codes]:
        """All graphs that contain the subgraph, ascending, and how many instances each has."""
        numbers = intersect(self.index.atoms(subgraph))
        counts, _ = self._roots_in(self._pattern(subgraph), numbers)
        return numbers[counts > 0], counts[counts > 0]

    def containing(
        self, subgraph: Subgraph, count: int, *path: str | int, without: Iterable[int] = ()
    ) -> tuple[Containing, ...]:
        """Up to so many graphs that contain the subgraph, drawn by the path; `without` these."""
        pattern = self._pattern(subgraph)
        if pattern.absent or count < 1:
            return ()
        seed, left_out = _seed("containing", *path), _sorted(without)
        graphs, counts, roots = holding(
            count, seed, left_out, pattern.tree, self._asked.tables, self._columns
        )
        found, at = [], 0
        for graph, number in zip(graphs.tolist(), counts.tolist(), strict=True):
            mine = roots[at : at + number] - self.graphs.object_starts[graph]
            found.append(Containing(graph, tuple(mine.tolist())))
            at += number
        return tuple(found)

    def distractors(
        self,
        subgraph: Subgraph,
        count: int,
        *path: str | int,
        among: Sequence[Edit] | None = None,
        without: Iterable[int] = (),
    ) -> tuple[Distractor, ...]:
        """Up to so many distractors of as many edits as there are, drawn by the path.

        `among` says which nodes may be replaced (every one, every two by default); no graph comes twice, none
        of `without` at all. A distractor found by replacing two nodes may hold a nearer subgraph elsewhere.
        """
        if count < 1:
            return ()
        pattern = self._pattern(subgraph)
        first, second = (
            _every(len(pattern.nodes)) if among is None else _ends(tuple(among), len(pattern.nodes))
        )
        if not len(first):
            return ()
        tree, columns, asked = pattern.tree, self._columns, self._asked
        rows = asked.rows(pattern.nodes)
        share, left_out = max(1, count // EACH), _sorted(without)
        tried = candidates(first, second, _seed("distractors", *path), tree, columns)
        while True:
            found, open_nodes, codes = replacing(
                tried, count, share, left_out, rows, tree, asked.tables, columns
            )
            if not len(codes):
                break
            asked.decide(pattern.nodes, rows, open_nodes, codes)
        columns_found = (part.tolist() for part in found)
        return tuple(self._distractor(subgraph, pattern, *one) for one in zip(*columns_found, strict=True))

    def _distractor(
        self,
        subgraph: Subgraph,
        pattern: Pattern,
        graph: int,
        numbers: list[int],
        words: list[int],
        root: int,
    ) -> Distractor:
        changes = []
        for node, code in zip(numbers, words, strict=True):
            if node >= 0:
                kind, word = pattern.nodes[node]
                changes.append(Change(node, kind, word, self._asked.words[kind][code]))
        return Distractor(
            graph,
            subgraph,
            tuple(changes),
            root - int(self.graphs.object_starts[graph]),
        )

    def _roots_in(self, pattern: Pattern, numbers: Codes) -> tuple[Codes, Codes]:
        if pattern.absent or not len(numbers):
            return np.zeros(len(numbers), np.int32), np.zeros(0, np.int32)
        return roots_in(numbers, pattern.tree, self._asked.tables, self._columns)


def _seed(*path: str | int) -> np.uint64:
    return np.uint64(rng.seed_of(*path) & (1 << 64) - 1)


def _sorted(graphs: Iterable[int]) -> Codes:
    return np.array(sorted(graphs), np.int32)


@lru_cache
def _every(size: int) -> tuple[Codes, Codes]:
    """Every one and every two of so many nodes."""
    numbers = range(size)
    return _ends((*combinations(numbers, 1), *combinations(numbers, 2)), size)


@lru_cache(maxsize=512)
def _ends(among: tuple[Edit, ...], size: int) -> tuple[Codes, Codes]:
    """The first and the second node of each edit, −1 where it has none."""
    for edit in among:
        if not 1 <= len(edit) <= 2 or len(set(edit)) < len(edit) or min(edit) < 0 or max(edit) >= size:
            raise ValueError(f"an edit replaces one node or two of {size}, not {edit}")
    both = np.array([(*edit, -1)[:2] for edit in among], np.int32).reshape(-1, 2)
    return np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1])
