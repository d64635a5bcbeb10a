"""Verdicts: which words may replace which, asked of the overlap when a search meets them, and kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ._search import Table, Verdicts
from .overlap import THRESHOLD, Overlap
from .pack import Codes, PackedGraphs
from .subgraph import KINDS, Kind, Node

LARGEST = 1 << 28  # bytes of verdicts about words of one kind; then all are forgotten


class Asked:
    """A table for each kind of node; a word has one row in it, wherever it occurs."""

    def __init__(self, overlap: Overlap, graphs: PackedGraphs) -> None:
        self._overlap = overlap
        words = graphs.names, graphs.attributes, graphs.relations, graphs.modifiers
        self.words: dict[Kind, tuple[str, ...]] = dict(zip(KINDS, words, strict=True))
        self._rows: dict[Kind, dict[str, int]] = {kind: {} for kind in KINDS}
        self._tables = {kind: _undecided(1, len(self.words[kind])) for kind in KINDS}
        self.tables = Verdicts(*self._tables.values())

    def rows(self, nodes: Sequence[Node]) -> Codes:
        """The row of each node's word; a new one where there is none yet."""
        new: dict[Kind, dict[str, None]] = {}
        for kind, word in nodes:
            if word not in self._rows[kind]:
                new.setdefault(kind, {})[word] = None
        for kind, words in new.items():
            self._add(kind, words, [node.name for node in nodes if node.kind == kind])
        return np.array([self._rows[kind][word] for kind, word in nodes], np.int32)

    def _add(self, kind: Kind, new: Iterable[str], needed: Iterable[str]) -> None:
        rows, table = self._rows[kind], self._tables[kind]
        size, width = len(rows) + len(set(new)), len(self.words[kind])
        if size * width > LARGEST and rows:
            rows.clear()
            table.fill(-1)
            new = needed
        for word in new:
            rows.setdefault(word, len(rows))
        if len(rows) > len(table):
            more = _undecided(len(rows), width)
            self._tables[kind] = np.concatenate([table, more])
            self.tables = Verdicts(*self._tables.values())

    def decide(self, nodes: Sequence[Node], rows: Codes, asked: Codes, codes: Codes) -> None:
        """Ask about these words, each for a node by its number."""
        open_: dict[int, dict[int, None]] = {}
        for number, code in zip(asked.tolist(), codes.tolist(), strict=True):
            open_.setdefault(number, {})[code] = None
        for number, found in open_.items():
            kind, word = nodes[number]
            mine, words = list(found), self.words[kind]
            judged = self._overlap.judge(kind, word, [words[code] for code in mine])
            self._tables[kind][rows[number], mine] = np.array(judged) > THRESHOLD


def _undecided(rows: int, words: int) -> Table:
    return np.full((rows, words), -1, np.int8)
