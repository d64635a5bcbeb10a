"""ProgramBuilder: a program put together node by node."""

from __future__ import annotations

from ..lang.program import Node, Notes, Program, node


class ProgramBuilder:
    """Every method that adds nodes returns the number of the last one."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []

    def put(self, op: str, *inputs: int, words: tuple[str, ...] = (), notes: Notes = ()) -> int:
        self.nodes.append(node(op, inputs, words, notes))
        return len(self.nodes) - 1

    def build(self) -> Program:
        return Program(tuple(self.nodes))
