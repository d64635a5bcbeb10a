"""Related images of a subgraph: those that contain it, and distractors that contain one much like it instead.

A distractor's subgraph has one or two nodes replaced by others of their own kind that exclude them, and its
image does not contain the subgraph itself. Candidates come from the index, what is decided is decided on the
graph. Which images are chosen, and in which order, is a function of the random path alone.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, zip_longest
from math import gcd
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import rng
from .index import Index, intersect, kept
from .overlap import THRESHOLD, Overlap
from .pack import Codes
from .pattern import Found, Pattern, Row, columns_of, compile_pattern, first_matches, roots_in, undecided
from .subgraph import Kind, Node, Subgraph, Thing

Edit = tuple[int, ...]  # the numbers of the nodes to replace, ascending
Seeds = tuple[str | int, ...]
BATCHES = (32, 128)  # candidates looked at for an edit; what has not shown up by then is rare
EACH = 4  # distractors wanted are shared among at least so many edits, if there are
AT_ONCE = 8  # matches taken from one batch
ROWS = 8192  # verdicts about so many words are kept
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
    subgraph: Subgraph
    changes: tuple[Change, ...]  # by node
    root: int  # the object at the root of it, as its scene numbers it

    @property
    def distance(self) -> int:
        return len(self.changes)

    @property
    def changed(self) -> tuple[int, ...]:
        return tuple(change.node for change in self.changes)


@dataclass(frozen=True, slots=True)
class Containing:
    """An image with the subgraph, and the objects at the root of each instance, as its scene numbers them."""

    graph: int
    roots: tuple[int, ...]

    @property
    def count(self) -> int:
        return len(self.roots)


class Atom(NamedTuple):
    """A part of the subgraph that the index knows: its nodes as a bit mask, and the graphs that have it."""

    nodes: int
    postings: Codes


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
        self._rows: OrderedDict[tuple[Kind, str], Row] = OrderedDict()
        self._columns = columns_of(self.graphs)
        self._everything = np.arange(len(self.graphs), dtype=np.int32)
        self._atoms = lru_cache(PATTERNS)(self._find_atoms)
        self._pattern = lru_cache(PATTERNS)(lambda subgraph: compile_pattern(subgraph, self.graphs))

    def roots(self, subgraph: Subgraph, graph: int) -> tuple[int, ...]:
        """The objects of a graph at which the subgraph occurs, as its scene numbers them."""
        _, found = roots_in(self._pattern(subgraph), self._columns, np.array([graph], np.int32))
        return tuple((found - self.graphs.object_starts[graph]).tolist())

    def counts(self, subgraph: Subgraph) -> tuple[Codes, Codes]:
        """All graphs that contain the subgraph, ascending, and how many instances each has."""
        numbers = intersect([postings for _, postings in self._atoms(subgraph)])
        counts, _ = roots_in(self._pattern(subgraph), self._columns, numbers)
        return numbers[counts > 0], counts[counts > 0]

    def containing(
        self, subgraph: Subgraph, count: int, *path: str | int, without: Iterable[int] = ()
    ) -> tuple[Containing, ...]:
        """Up to so many graphs that contain the subgraph, drawn by the path; `without` these."""
        left_out = set(without)
        pattern = self._pattern(subgraph)
        found: list[Containing] = []
        if pattern.absent or count < 1:
            return ()
        for batch in self._drawn(self._atoms(subgraph), (), ("containing", *path), whole=True):
            counts, roots = roots_in(pattern, self._columns, batch)
            ends = np.cumsum(counts)
            for k in np.flatnonzero(counts).tolist():
                graph = int(batch[k])
                if graph in left_out:
                    continue
                local = roots[ends[k] - counts[k] : ends[k]] - self.graphs.object_starts[graph]
                found.append(Containing(graph, tuple(local.tolist())))
                if len(found) == count:
                    return tuple(found)
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
        nodes, pattern, atoms = subgraph.nodes(), self._pattern(subgraph), self._atoms(subgraph)
        order = _mixed(edits(subgraph) if among is None else among, rng.derive("edits", *path))
        used = set(without)
        held = self._held(subgraph, used)
        found: list[Distractor] = []
        # An edit must reach every word that no graph uses, and every atom that only graphs held out have.
        must = [1 << node for node in pattern.absent]
        rare = (atom for atom in atoms if len(atom.postings) <= BATCHES[0])
        must += [atom.nodes for atom in rare if held.issuperset(atom.postings.tolist())]
        streams = [
            (edit, self._stream(atoms, nodes, pattern, edit, held, path))
            for edit in order
            if _reaches(edit, must)
        ]
        share = max(1, count // EACH)
        while streams and len(found) < count:
            left = []
            for edit, stream in streams:
                taken = 0
                for match in stream:
                    if match.graph in used:
                        continue
                    used.add(match.graph)
                    found.append(self._distractor(subgraph, nodes, edit, match))
                    taken += 1
                    if taken == share or len(found) == count:
                        left.append((edit, stream))
                        break
                if len(found) == count:
                    break
            streams = left
        return tuple(found)

    def _stream(
        self,
        atoms: Sequence[Atom],
        nodes: Sequence[Node],
        pattern: Pattern,
        edit: Edit,
        held: frozenset[int],
        path: Seeds,
    ) -> Iterator[Found]:
        """Matches of the subgraph with these nodes replaced, in graphs that do not contain it."""
        rows: dict[int, Row] = {}
        for batch in self._drawn(atoms, edit, ("distractors", *edit, *path), held):
            for node in edit:
                rows[node] = self._decided(*nodes[node], batch)
            matches = first_matches(pattern, self._columns, batch, rows, min(len(batch), AT_ONCE))
            if not matches:
                continue
            counts, _ = roots_in(pattern, self._columns, np.array([m.graph for m in matches], np.int32))
            yield from (match for match, held in zip(matches, counts, strict=True) if not held)

    def _distractor(self, subgraph: Subgraph, nodes: Sequence[Node], edit: Edit, match: Found) -> Distractor:
        words = {
            node: self._words(nodes[node].kind)[code] for node, code in zip(edit, match.words, strict=True)
        }
        return Distractor(
            match.graph,
            subgraph.replaced(words),
            tuple(Change(node, *nodes[node], word) for node, word in words.items()),
            match.root - int(self.graphs.object_starts[match.graph]),
        )

    def _drawn(
        self,
        atoms: Sequence[Atom],
        edit: Edit,
        path: Seeds,
        held: frozenset[int] = frozenset(),
        *,
        whole: bool = False,
    ) -> Iterator[Codes]:
        """Batches of candidates in an order of the path; `whole` goes on to the last.

        Few candidates come without those that are known to be `held` out.
        """
        gone = _mask(edit)
        postings = [atom.postings for atom in atoms if not atom.nodes & gone]
        base = postings[0] if postings else self._everything
        if held and len(base) <= BATCHES[0]:
            base = np.array([graph for graph in base.tolist() if graph not in held], np.int32)
        if len(base) <= BATCHES[0]:
            few = _kept_by_all(base, postings[1:])
            if len(few):
                yield few[_order(len(few), path, 0, len(few))]
            return
        at = 0
        while at < len(base):
            later = [length for length in BATCHES if length > at] or ([4 * at] if whole else [])
            if not later:
                return
            batch = _kept_by_all(base[_order(len(base), path, at, later[0])], postings[1:])
            at = later[0]
            if len(batch):
                yield batch

    def _held(self, subgraph: Subgraph, without: Iterable[int]) -> frozenset[int]:
        """What can be no distractor: these graphs, and those that contain the subgraph if they are few."""
        few = len(self._atoms(subgraph)[0].postings) <= BATCHES[0]
        return frozenset(without).union(self.counts(subgraph)[0].tolist() if few else ())

    def _find_atoms(self, subgraph: Subgraph) -> list[Atom]:
        """All atoms of a subgraph, the rare ones first."""
        found: list[Atom] = []
        self._gather(subgraph, 0, found)
        return sorted(found, key=lambda atom: len(atom.postings))

    def _gather(self, thing: Thing, at: int, found: list[Atom]) -> int:
        """Add the atoms of a thing whose first node has this number; the number after its last node."""
        me = 1 << at
        found.append(Atom(me, self.index.thing(thing.name)))
        at += 1
        if thing.attribute:
            found.append(Atom(me | 1 << at, self.index.thing(thing.name, thing.attribute)))
            at += 1
        for link in thing.relations:
            nodes = me, 1 << at, 1 << at + 1
            words = thing.name, link.relation, link.thing.name
            for without in (None, 0, 1, 2):
                slots = [None if k == without else word for k, word in enumerate(words)]
                postings = self.index.triple(*slots)
                if postings is not None:
                    found.append(Atom(sum(n for k, n in enumerate(nodes) if k != without), postings))
            at = self._gather(link.thing, at + 1, found)
            for modifier in link.modifiers:
                at = self._gather(modifier.thing, at + 1, found)
        return at

    def _decided(self, kind: Kind, word: str, batch: Codes) -> Row:
        """Which words exclude this one; asked about are those of these graphs that never were before."""
        key = kind, word
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = np.full(len(self._words(kind)), -1, np.int8)
            if len(self._rows) > ROWS:
                self._rows.popitem(last=False)
        codes = undecided(row, batch, *self._where(kind))
        if len(codes):
            words = self._words(kind)
            judged = self.overlap.judge(kind, word, [words[code] for code in codes])
            row[codes] = np.array(judged) > THRESHOLD
        return row

    def _words(self, kind: Kind) -> tuple[str, ...]:
        graphs = self.graphs
        return {
            "object": graphs.names,
            "attribute": graphs.attributes,
            "relation": graphs.relations,
            "modifier": graphs.modifiers,
        }[kind]

    def _where(self, kind: Kind) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The starts of objects, of what objects own, and the codes there."""
        graphs = self.graphs
        own, codes = {
            "object": (graphs.object_starts[:0], graphs.object_names),
            "attribute": (graphs.attribute_starts, graphs.object_attributes),
            "relation": (graphs.triple_starts, graphs.triple_relations),
            "modifier": (graphs.triple_starts, graphs.triple_modifiers),
        }[kind]
        return graphs.object_starts, own, codes


def _reaches(edit: Edit, must: Sequence[int]) -> bool:
    nodes = _mask(edit)
    return all(nodes & one for one in must)


def _mask(edit: Edit) -> int:
    return sum(1 << node for node in edit)


def _kept_by_all(graphs: Codes, postings: Iterable[Codes]) -> Codes:
    for other in postings:
        if not len(graphs):
            break
        graphs = kept(graphs, other)
    return graphs


def _order(size: int, path: Seeds, first: int, last: int) -> NDArray[np.int64]:
    """The places from first to last of an order of so many, in which each place comes once."""
    if size < 2:
        return np.zeros(size, np.int64)
    seed = rng.seed_of(*path)
    start, step = seed % size, 1 + (seed >> 64) % (size - 1)
    while gcd(step, size) != 1:
        step = step % size + 1
    return (start + np.arange(first, min(last, size), dtype=np.int64) * step) % size


def _mixed(found: Sequence[Edit], draw: np.random.Generator) -> list[Edit]:
    """The edits in a drawn order, single ones and double ones in turn."""
    groups = [[e for e in found if len(e) == size] for size in sorted({len(e) for e in found})]
    shuffled = [[group[k] for k in draw.permutation(len(group))] for group in groups]
    return [edit for row in zip_longest(*shuffled) for edit in row if edit is not None]
