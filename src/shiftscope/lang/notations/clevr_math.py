"""CLEVR-Math programs: CLEVR's functions, `addition` and `subtraction`, and numbers that its generator drew.

`choose` and `replicate` draw a number at random while questions are made. The text says which ("Add 3 cubes"), and
the program only where the generator left its `_output`; such a node is read as that number.
"""

from typing import Any

from ..check import ProgramPlan
from ..program import Node, Program, ProgramError, node
from .clevr import FUNCTIONS, VALUES, ClevrEntry, ClevrNotation

DRAWN = ("choose", "replicate")
TABLE = FUNCTIONS | {"addition": ("plus", ()), "subtraction": ("minus", ())} | dict.fromkeys(DRAWN, ("number", ()))
_NAMES = {"plus": "addition", "minus": "subtraction"}


class ClevrMathNotation(ClevrNotation):
    def name_function(self, i: int, program: Program, plan: ProgramPlan) -> str:
        n = program.nodes[i]
        return n.note("as") or _NAMES.get(n.op) or super().name_function(i, program, plan)

    def write(self, program: Program) -> list[dict[str, Any]]:
        listed = super().write(program)
        for i, n in enumerate(program.nodes):
            if n.note("as"):
                entry = listed[int(n.note("at", str(i)))]
                entry["inputs"] = [int(j) for j in n.note("from").split()]
                entry |= {key: [] for key in ("value_inputs", "side_inputs") if key in entry}
        return listed

    def _build_node(self, at: int, entry: ClevrEntry) -> Node:
        if entry.function not in DRAWN:
            return super()._build_node(at, entry)
        drawn = dict(entry.notes).get("output", "")
        if not drawn.isdecimal():
            raise ProgramError(
                f"node {at} ({entry.function}) draws a number at random, and the file does not say which: "
                "it has no _output"
            )
        notes = (*entry.notes, ("as", entry.function), ("from", " ".join(map(str, entry.inputs))))
        return node("number", (), (drawn,), notes)


NOTATION = ClevrMathNotation("CLEVR-Math", TABLE, VALUES)
read, write = NOTATION.read, NOTATION.write
