"""Super-CLEVR programs: CLEVR's functions and those on parts (`partfilter_color`, `object2part`, …).

The official engine looks for a part's name inside others: `headlight` finds headlight_left and not head_light_left.
So a term of ours is written as the fewest official names that find the same parts, joined by `union`, and such a
union is read as the term again.
"""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any

from ...schemas.superclevr import OFFICIAL_TERMS, OFFICIAL_WORDS, PART_NAME
from ..check import ProgramPlan, plan_program
from ..program import Node, Notes, Program, ProgramError, node
from .clevr import FUNCTIONS, VALUES, ClevrEntry, ClevrNotation, Meaning, get_official_name

PART_ATTRIBUTES = {"size": "size", "color": "color", "material": "material", "partname": "name"}
_SPELLED = {ours: theirs for theirs, ours in PART_ATTRIBUTES.items()}
PART_FUNCTIONS: dict[str, Meaning] = {
    "object2part": ("parts", ()),
    "part2object": ("owners", ()),
    "uniquepart": ("unique", ()),  # in the official metadata; the engine's `unique` takes parts too
    "query_partname": ("query", ("name",)),  # before the engine had partquery_partname
    "equal_partname": ("equal", ()),
    **{f"part{op}_{theirs}": (op, (ours,)) for op in ("filter", "query") for theirs, ours in PART_ATTRIBUTES.items()},
}
OWN_NAMES = {"unique", *(f"partquery_{theirs}" for theirs in PART_ATTRIBUTES)}  # that we write of parts
AS = "as"  # note: the function's name in the file, where we would write another


class SuperClevrNotation(ClevrNotation):
    def read(self, listed: Iterable[Any]) -> Program:
        kept = listed if isinstance(listed, list) else list(listed)
        program, on_parts = self._read_marked(kept)
        if not on_parts:
            return program
        functions = [raw.get("function") or raw["type"] for raw in kept]
        if not NOTED.isdisjoint(functions):
            program = _note_functions(program, functions)
        return fold_part_names(program) if "union" in functions else program

    def write(self, program: Program) -> list[dict[str, Any]]:
        return super().write(expand_part_names(program))

    def name_function(self, i: int, program: Program, plan: ProgramPlan) -> str:
        n, on_parts = program.nodes[i], plan.steps[i].on_parts
        name = get_official_name(i, program, plan)
        if n.note(AS):
            name = n.note(AS)
        elif on_parts and n.op in ("filter", "query"):
            name = f"part{n.op}_{_SPELLED.get(n.params[0], n.params[0])}"
        elif n.op in ("parts", "owners"):
            name = {"parts": "object2part", "owners": "part2object"}[n.op]
        elif name == "equal_name":
            name = "equal_partname"
        if name not in self.table or (on_parts and n.op == "same"):
            raise ProgramError(f"node {i} ({n.op}) has no {self.name} function")
        return name

    def _build_node(self, at: int, entry: ClevrEntry) -> Node:
        made = super()._build_node(at, entry)
        if entry.function == "partfilter_partname":
            term = OFFICIAL_TERMS.get(entry.values[0], entry.values[0])
            made = node(made.op, made.inputs, ("name", term), made.notes)
        return made


def _note_functions(program: Program, functions: list[str]) -> Program:
    """Notes `uniquepart`, and functions for objects that query a part, as the engine lets them."""
    try:
        plan = plan_program(program)
    except ProgramError:  # the check of its types says what is wrong
        return program
    nodes = list(program.nodes)
    for i, (n, step) in enumerate(zip(nodes, plan.steps, strict=True)):
        function = functions[int(n.note("at", str(i)))] if step.on_parts else ""
        if function in NOTED:
            nodes[i] = node(n.op, n.inputs, n.params, (*n.notes, (AS, function)))
    return Program(tuple(nodes))


def expand_part_names(program: Program) -> Program:
    """The program with official names of parts: a filter for each that a term needs, and their union."""
    names = {i: find_official_names(program.nodes[i].params[1]) for i in _find_name_filters(program)}
    if all(program.nodes[i].params[1:] == found for i, found in names.items()):
        return program
    nodes: list[Node] = []
    place: list[int] = []  # of each node, where it now stands
    for i, n in enumerate(program.nodes):
        inputs = tuple(place[j] for j in n.inputs)
        notes = n.notes if all(len(found) == 1 for found in names.values()) else drop_places(n.notes)
        if i not in names:
            nodes.append(node(n.op, inputs, n.params, notes))
        for number, name in enumerate(names.get(i, ())):
            before = len(nodes) - 1
            nodes.append(node("filter", inputs, ("name", name), notes if len(names[i]) == 1 else ()))
            if number:
                nodes.append(node("union", (before, len(nodes) - 1)))
        place.append(len(nodes) - 1)
    return Program(tuple(nodes))


def fold_part_names(program: Program) -> Program:
    """The program with one filter for each union of names that is a term of ours."""
    filters = _find_name_filters(program)
    if len(filters) < 2:
        return program
    uses = Counter(j for n in program.nodes for j in n.inputs)
    members = _list_members()
    found = {i: (program.nodes[i].inputs, members.get(program.nodes[i].params[1], frozenset())) for i in filters}
    for i, n in enumerate(program.nodes):
        if n.op == "union" and all(j in found and uses[j] == 1 for j in n.inputs):
            (source, left), (other, right) = (found[j] for j in n.inputs)
            if source == other and left and right:
                found[i] = (source, left | right)
    terms = {parts: term for term, parts in members.items()}
    folded: dict[int, Node] = {}
    gone: set[int] = set()
    for i in sorted(found.keys() - filters, reverse=True):  # the widest unions first
        source, parts = found[i]
        if i not in gone and parts in terms:
            folded[i] = node("filter", source, ("name", terms[parts]), program.nodes[i].notes)
        if i in gone or i in folded:
            gone.update(program.nodes[i].inputs)
    if not folded:
        return program
    nodes: list[Node] = []
    place: list[int] = []
    for i, given in enumerate(program.nodes):
        n = folded.get(i, given)
        if i not in gone:
            nodes.append(node(n.op, tuple(place[j] for j in n.inputs), n.params, drop_places(n.notes)))
        place.append(len(nodes) - 1)
    return Program(tuple(nodes))


def drop_places(notes: Notes) -> Notes:
    """Notes without the node's place in its file, where the program no longer has as many nodes."""
    return tuple(note for note in notes if note[0] != "at")


def _find_name_filters(program: Program) -> set[int]:
    """The nodes that filter parts by name; no object has one."""
    return {i for i, n in enumerate(program.nodes) if n.op == "filter" and n.params[0] == "name"}


@cache
def _list_members() -> dict[str, frozenset[str]]:
    """The parts that each term takes in."""
    return {name: frozenset((name,)) for name in PART_NAME.values} | {k: frozenset(v) for k, v in PART_NAME.kinds}


@cache
def find_official_names(term: str) -> tuple[str, ...]:
    """The fewest official names that together find the parts of a term: `headlight` is headlight and head_light."""
    members = _list_members().get(term)
    if members is None:
        return (term,)
    words = dict(OFFICIAL_WORDS) | {kind: names for kind, names in PART_NAME.kinds if finds(kind) == set(names)}
    fitting = {word: set(names) for word, names in words.items() if members.issuperset(names)}
    missing, found = set(members), []
    while missing:
        best = min(fitting, key=lambda word: (-len(fitting[word] & missing), word), default="")
        if not best or not fitting[best] & missing:
            raise ProgramError(f"no Super-CLEVR name of a part finds {term!r} alone: the engine looks inside names")
        found.append(best)
        missing -= fitting[best]
    return tuple(found)


def finds(word: str) -> set[str]:
    """The parts whose names contain the word."""
    return {name for name in PART_NAME.values if word in name}


TABLE = FUNCTIONS | PART_FUNCTIONS
NOTED = frozenset({name for name, (op, _) in TABLE.items() if op in ("unique", "query")} - OWN_NAMES)
TAKEN = VALUES | {f"partfilter_{a}": 1 for a in PART_ATTRIBUTES}
NOTATION = SuperClevrNotation("Super-CLEVR", TABLE, TAKEN, frozenset({"object2part"}))  # nothing else leads to parts
read, write = NOTATION.read, NOTATION.write
