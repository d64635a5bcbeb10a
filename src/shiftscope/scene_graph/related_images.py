"""Related images of a subgraph: those that contain it, and distractors that contain one much like it instead.

A distractor's subgraph has one or two nodes replaced by others of their own kind that exclude them, and its
image does not contain the subgraph itself. Candidates come from the index, what is decided is decided on the
graph. Which images are chosen, and in which order, is a function of the random path alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from .. import rng
from .exclusivity import THRESHOLD, MutualExclusivity
from .index import GraphIndex, build_columns, compile_pattern
from .pack import Codes, PackedGraphs
from .relation_exclusivity import classify_target
from .search import (
    ExclusivityTable,
    ExclusivityTables,
    PatternBits,
    collect_candidates,
    find_atoms,
    find_roots,
    search_containing,
    search_distractors,
)
from .subgraph import NODE_KINDS, NodeKind, Subgraph, SubgraphNode

FEW_WORDS = 512  # of one kind, all of which are decided on at once
LARGEST = 1 << 28  # bytes of verdicts about words of one kind; then all are forgotten
PATTERNS = 4096  # subgraphs of which what was worked out is kept


RowKey = tuple[str, str]  # a word; of a relation, also what the thing is like that it leads to


class ExclusivityCache:
    """A table for each kind of node; a word has one row in it, a relation one for each class of targets."""

    def __init__(self, overlap: MutualExclusivity, graphs: PackedGraphs) -> None:
        self._overlap = overlap
        words = graphs.names, graphs.attributes, graphs.relations, graphs.modifiers
        self.words: dict[NodeKind, tuple[str, ...]] = dict(zip(NODE_KINDS, words, strict=True))
        self._rows: dict[NodeKind, dict[RowKey, int]] = {kind: {} for kind in NODE_KINDS}
        self._tables = {kind: np.full((1, len(self.words[kind])), -1, np.int8) for kind in NODE_KINDS}
        self.tables = ExclusivityTables(*self._tables.values())
        self._judge_nouns = overlap.judge_nouns(graphs.names)
        self._known: dict[tuple[SubgraphNode, ...], Codes] = {}

    def get_rows(self, nodes: tuple[SubgraphNode, ...]) -> Codes:
        """The row of each node's word; a new one where there is none yet."""
        if nodes not in self._known:
            if len(self._known) == PATTERNS:
                self._known.clear()
            self._known[nodes] = self._find_rows(nodes)
        return self._known[nodes]

    def _find_rows(self, nodes: tuple[SubgraphNode, ...]) -> Codes:
        targets = [_find_target(nodes, k) for k in range(len(nodes))]
        keys = [(node.name, classify_target(target)) for node, target in zip(nodes, targets, strict=True)]
        new: dict[NodeKind, dict[RowKey, str]] = {}
        for node, key, target in zip(nodes, keys, targets, strict=True):
            if key not in self._rows[node.kind]:
                new.setdefault(node.kind, {})[key] = target
        for kind, added in new.items():
            rows, table, width = self._rows[kind], self._tables[kind], len(self.words[kind])
            if rows and (len(rows) + len(added)) * width > LARGEST:
                rows.clear()
                self._known.clear()
                table.fill(-1)
                again = zip(nodes, keys, targets, strict=True)
                added = {key: target for node, key, target in again if node.kind == kind}
            for key in added:
                rows.setdefault(key, len(rows))
            if len(rows) > len(table):
                table = self._tables[kind] = np.concatenate([table, np.full((len(rows), width), -1, np.int8)])
                self.tables = ExclusivityTables(*self._tables.values())
            for key, target in added.items():
                self._judge_all(kind, key[0], target, table[rows[key]])
        return np.array([self._rows[node.kind][key] for node, key in zip(nodes, keys, strict=True)], np.int32)

    def _judge_all(self, kind: NodeKind, word: str, target: str, row: ExclusivityTable) -> None:
        """Decide on all words at once, where that takes less than to search again for each that turns up."""
        if kind == "object" and self._judge_nouns is not None:
            row[:] = self._judge_nouns(word)
        elif self._overlap.is_cheap and len(row) <= FEW_WORDS:
            row[:] = np.array(self._overlap.score_exclusivity(kind, word, self.words[kind], target)) > THRESHOLD

    def decide(self, nodes: Sequence[SubgraphNode], rows: Codes, numbers: Codes, codes: Codes) -> None:
        """Decide on these words, each for the node of a number."""
        open_: dict[int, dict[int, None]] = {}
        for number, code in zip(numbers.tolist(), codes.tolist(), strict=True):
            open_.setdefault(number, {})[code] = None
        for number, found in open_.items():
            kind, word = nodes[number]
            mine, words = list(found), self.words[kind]
            target = _find_target(nodes, number)
            scores = self._overlap.score_exclusivity(kind, word, [words[code] for code in mine], target)
            self._tables[kind][rows[number], mine] = np.array(scores) > THRESHOLD


def _find_target(nodes: Sequence[SubgraphNode], number: int) -> str:
    """Of a relation, the name of the thing that it leads to, which is the next node; of others nothing."""
    return nodes[number + 1].name if nodes[number].kind == "relation" else ""


Edit = tuple[int, ...]  # the numbers of the nodes to replace, ascending
EACH = 4  # distractors wanted are shared among at least so many edits, if there are


@dataclass(frozen=True, slots=True)
class NodeReplacement:
    """One node of the subgraph, by its number, and what stands there instead."""

    node: int
    kind: NodeKind
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Distractor:
    """An image without the subgraph, and the one much like it that is there."""

    graph: int
    instead_of: Subgraph
    changes: tuple[NodeReplacement, ...]  # by node
    root: int  # the object at the root of what is there, as its scene numbers it

    @property
    def subgraph(self) -> Subgraph:
        return self.instead_of.replace_nodes({change.node: change.after for change in self.changes})

    @property
    def distance(self) -> int:
        return len(self.changes)

    @property
    def replaced_nodes(self) -> tuple[int, ...]:
        return tuple([change.node for change in self.changes])


@dataclass(frozen=True, slots=True)
class ContainingImage:
    """An image with the subgraph, and the objects at the root of each instance, as its scene numbers them."""

    graph: int
    roots: tuple[int, ...]


@lru_cache(maxsize=64)
def list_edits(size: int, keep: int = 0) -> tuple[Edit, ...]:
    """Every node and every two of so many, as long as these leave so many that are kept."""
    return tuple(edit for many in (1, 2) if many + keep <= size for edit in combinations(range(size), many))


class RelatedImages:
    def __init__(self, index: GraphIndex, overlap: MutualExclusivity) -> None:
        self.index, self.graphs, self.overlap = index, index.graphs, overlap
        self._columns = build_columns(index)
        self._exclusivity = ExclusivityCache(overlap, self.graphs)
        self._pattern = lru_cache(PATTERNS)(lambda subgraph: compile_pattern(subgraph, self.graphs))
        self._atoms = lru_cache(PATTERNS)(lambda subgraph: find_atoms(self._pattern(subgraph).tree, self._columns))
        sizes = (len(words) for words in (self.graphs.names, self.graphs.attributes, self.graphs.relations))
        self._bits = PatternBits(*(np.zeros(size, np.uint64) for size in sizes))

    def find_roots(self, subgraph: Subgraph, graph: int) -> tuple[int, ...]:
        """The objects of a graph at which the subgraph occurs, as its scene numbers them."""
        _, found = self.find_instances(subgraph, [graph])
        return tuple((found - self.graphs.object_starts[graph]).tolist())

    def find_instances(self, subgraph: Subgraph, graphs: Sequence[int]) -> tuple[Codes, Codes]:
        """How many instances each of these graphs has, and all their roots, numbered through all graphs."""
        pattern = self._pattern(subgraph)
        if pattern.absent or not len(graphs):
            return np.zeros(len(graphs), np.int32), np.zeros(0, np.int32)
        return find_roots(np.array(graphs, np.int32), pattern.tree, self._exclusivity.tables, self._columns, self._bits)

    def find_containing(
        self, subgraph: Subgraph, count: int, *path: str | int, without: Iterable[int] = ()
    ) -> tuple[ContainingImage, ...]:
        """Up to so many graphs that contain the subgraph, drawn by the path; `without` these."""
        pattern = self._pattern(subgraph)
        if pattern.absent or count < 1:
            return ()
        seed, left_out = _derive_seed("containing", *path), np.array(sorted(without), np.int32)
        tables = self._exclusivity.tables
        atoms, columns = self._atoms(subgraph), self._columns
        graphs, counts, roots = search_containing(
            count, seed, left_out, atoms, pattern.tree, tables, columns, self._bits
        )
        things, found, at = roots.tolist(), [], 0
        for graph, number in zip(graphs.tolist(), counts.tolist(), strict=True):
            found.append(ContainingImage(graph, tuple(things[at : at + number])))
            at += number
        return tuple(found)

    def find_distractors(
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
        size = len(pattern.nodes)
        first, second = _split_edits(list_edits(size) if among is None else tuple(among), size)
        if not len(first):
            return ()
        tree, columns, exclusivity = pattern.tree, self._columns, self._exclusivity
        rows = exclusivity.get_rows(pattern.nodes)
        share, left_out = max(1, count // EACH), np.array(sorted(without), np.int32)
        atoms = self._atoms(subgraph)
        tried = collect_candidates(first, second, _derive_seed("distractors", *path), tree, atoms, columns)
        while True:
            tables = exclusivity.tables
            found, nodes, codes = search_distractors(
                tried, count, share, left_out, rows, atoms, tree, tables, columns, self._bits
            )
            if not len(codes):
                break
            exclusivity.decide(pattern.nodes, rows, nodes, codes)
        distractors = []
        for graph, numbers, words, root in zip(*(part.tolist() for part in found), strict=True):
            changes = []
            for node, code in zip(numbers, words, strict=True):
                if node >= 0:
                    kind, word = pattern.nodes[node]
                    changes.append(NodeReplacement(node, kind, word, exclusivity.words[kind][code]))
            distractors.append(Distractor(graph, subgraph, tuple(changes), root))
        return tuple(distractors)


def _derive_seed(*path: str | int) -> np.uint64:
    return np.uint64(rng.seed_of(*path) & (1 << 64) - 1)


@lru_cache(maxsize=512)
def _split_edits(among: tuple[Edit, ...], size: int) -> tuple[Codes, Codes]:
    """The first and the second node of each edit, −1 where it has none."""
    for edit in among:
        if not 1 <= len(edit) <= 2 or len(set(edit)) < len(edit) or min(edit) < 0 or max(edit) >= size:
            raise ValueError(f"an edit replaces one node or two of {size}, not {edit}")
    both = np.array([(*edit, -1)[:2] for edit in among], np.int32).reshape(-1, 2)
    return np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1])
