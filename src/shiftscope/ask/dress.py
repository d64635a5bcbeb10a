"""Programs from filled templates."""

from __future__ import annotations

from ..lang.program import Node, Program, node
from .template import Piece, Template, pieces_of
from .vocabulary import Vocabulary

Key = tuple[int, int, int, int]  # piece, its inputs, and the code in its slot


class ProgramMaker:
    """The programs of one template; a node made once is used again."""

    def __init__(self, template: Template, vocabulary: Vocabulary) -> None:
        self.terms = vocabulary.names
        self.relations = vocabulary.schema.relations
        self._pieces: list[Piece] = []
        self._plan: list[tuple[tuple[int, ...], list[tuple[int, int]]]] = []  # inputs, (piece, slot)
        for n, pieces in zip(template.nodes, pieces_of(template), strict=True):
            first = len(self._pieces)
            self._pieces += pieces
            self._plan.append((n.inputs, [(first + i, p.slot) for i, p in enumerate(pieces)]))
        self._nodes: dict[Key, Node] = {}

    def __call__(self, values: list[int]) -> Program:
        """The program for these codes, one a slot; a negative one leaves the slot empty."""
        nodes: list[Node] = []
        last: list[int] = []
        known = self._nodes
        for inputs, pieces in self._plan:
            left = last[inputs[0]] if inputs else -1
            right = last[inputs[1]] if len(inputs) == 2 else -1
            for piece, slot in pieces:
                code = -1
                if slot >= 0:
                    code = values[slot]
                    if code < 0:
                        continue
                key = (piece, left, right, code)
                made = known.get(key)
                if made is None:
                    made = known[key] = self._node(key)
                left = len(nodes)
                nodes.append(made)
            last.append(left)
        return Program(tuple(nodes))

    def _node(self, key: Key) -> Node:
        number, left, right, code = key
        piece = self._pieces[number]
        word = () if code < 0 else ((self.relations if piece.op == "relate" else self.terms)[code],)
        return node(piece.op, tuple(i for i in (left, right) if i >= 0), piece.fixed + word)
