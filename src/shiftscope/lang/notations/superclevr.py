"""Super-CLEVR programs: CLEVR's functions and those on parts (`partfilter_color`, `object2part`, …)."""

from ..check import ProgramPlan
from ..program import Program, ProgramError
from .clevr import FUNCTIONS, VALUES, ClevrNotation, Meaning, get_official_name

PART_ATTRIBUTES = {"size": "size", "color": "color", "material": "material", "partname": "name"}
_SPELLED = {ours: theirs for theirs, ours in PART_ATTRIBUTES.items()}
PART_FUNCTIONS: dict[str, Meaning] = {
    "object2part": ("parts", ()),
    "part2object": ("owners", ()),
    "uniquepart": ("unique", ()),
    "equal_partname": ("equal", ()),
    **{f"part{op}_{theirs}": (op, (ours,)) for op in ("filter", "query") for theirs, ours in PART_ATTRIBUTES.items()},
}


class SuperClevrNotation(ClevrNotation):
    def name_function(self, i: int, program: Program, plan: ProgramPlan) -> str:
        n, on_parts = program.nodes[i], plan.steps[i].on_parts
        name = get_official_name(i, program, plan)
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


TABLE = FUNCTIONS | PART_FUNCTIONS
NOTATION = SuperClevrNotation("Super-CLEVR", TABLE, VALUES | {f"partfilter_{a}": 1 for a in PART_ATTRIBUTES})
read, write = NOTATION.read, NOTATION.write
