"""Super-CLEVR programs: CLEVR's functions and those on parts (`partfilter_color`, `object2part`, …)."""

from __future__ import annotations

from ..check import Plan
from ..program import Program, ProgramError
from .clevr import VALUES, Listed, Meaning, functions, official_name

PART_ATTRIBUTES = {"size": "size", "color": "color", "material": "material", "partname": "name"}
_SPELLED = {ours: theirs for theirs, ours in PART_ATTRIBUTES.items()}


def part_functions() -> dict[str, Meaning]:
    table: dict[str, Meaning] = {
        "object2part": ("parts", ()),
        "part2object": ("owners", ()),
        "uniquepart": ("unique", ()),
    }
    for theirs, ours in PART_ATTRIBUTES.items():
        table[f"partfilter_{theirs}"] = ("filter", (ours,))
        table[f"partquery_{theirs}"] = ("query", (ours,))
    table["equal_partname"] = ("equal", ())
    return table


class SuperClevr(Listed):
    def function(self, i: int, program: Program, plan: Plan) -> str:
        n, on_parts = program.nodes[i], plan.steps[i].on_parts
        name = official_name(i, program, plan)
        if on_parts and n.op in ("filter", "query"):
            name = f"part{n.op}_{_SPELLED.get(n.params[0], n.params[0])}"
        elif on_parts and n.op == "unique":
            name = "uniquepart"
        elif n.op in ("parts", "owners"):
            name = {"parts": "object2part", "owners": "part2object"}[n.op]
        elif name == "equal_name":
            name = "equal_partname"
        if name not in self.table or (on_parts and n.op == "same"):
            raise ProgramError(f"node {i} ({n.op}) has no {self.name} function")
        return name


DIALECT = SuperClevr(
    "Super-CLEVR",
    functions() | part_functions(),
    VALUES | {f"partfilter_{a}": 1 for a in PART_ATTRIBUTES},
)
read, write = DIALECT.read, DIALECT.write
