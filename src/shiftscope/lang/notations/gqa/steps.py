"""The steps that both GQA notations are made of, and how they stand to the nodes of our language.

GQA says in one step what is several nodes here: `relate: person,in,s` relates and keeps the persons, and
`query: color` means the color of the only one. Notes on a step's last node keep what no meaning depends on:
the ids of the objects meant (`id`), odd blanks, a second way to say the same.
"""

from typing import NamedTuple

from ...check import plan_program
from ...program import Notes, Program, ProgramBuilder, refuse_node

ANY = "_"  # a thing of whatever name
EVERYTHING = "this"  # what `select` takes for all objects
IMPLICIT: Notes = (("implicit", "1"),)  # of the `unique` that GQA leaves unsaid
VERIFY_REL = "verify rel"  # the note of an `exist` that GQA says in one step with its relation


class GqaStep(NamedTuple):
    """One step of either notation."""

    kind: str  # one of INPUTS
    inputs: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    notes: Notes = ()


INPUTS = {  # how many earlier steps a kind of step reads
    **dict.fromkeys(("select", "query_image", "verify_image", "choose_image"), 0),
    **dict.fromkeys(("filter", "exclude", "relate", "alike_to", "query", "verify", "deny", "choose"), 1),
    **dict.fromkeys(("verify_rel", "choose_rel", "exist"), 1),
    **dict.fromkeys(("and", "or", "choose_more", "alike", "differ", "common"), 2),
}

# Ops that are a step of the same name, input for input.
_AS_IS = (
    *("filter", "exclude", "exist", "and", "or", "alike", "differ", "common"),
    *("query_image", "verify_image", "choose_image"),
)
_BY_RELATION = ("related", "same")  # whose outcome GQA can name in the same step


def build_program(steps: list[GqaStep]) -> Program:
    """The program that the steps say."""
    builder = ProgramBuilder()
    put = builder.put
    value: list[int] = []  # the node that holds a step's outcome
    single: dict[int, int] = {}  # a set's node → the node of its only member

    def put_unique(i: int) -> int:
        if i not in single:
            single[i] = put("unique", i, notes=IMPLICIT)
        return single[i]

    def put_find(name: str, notes: Notes = ()) -> int:
        return put("scene", notes=notes) if name in (ANY, EVERYTHING) else put("find", words=(name,), notes=notes)

    def put_named(op: str, i: int, name: str, words: tuple[str, ...], notes: Notes = ()) -> int:
        if name == ANY:
            return put(op, i, words=words, notes=notes)
        return put("filter", put(op, i, words=words), words=("name", name), notes=notes)

    for kind, inputs, words, notes in steps:
        given = [value[i] for i in inputs]
        match kind:
            case "select":
                made = put_find(words[0], notes)
            case "relate":
                made = put_named("related", given[0], words[0], words[1:], notes)
            case "alike_to":
                made = put_named("same", put_unique(given[0]), words[0], words[1:], notes)
            case "verify_rel":
                among = put_named("related", given[0], words[0], words[1:])
                made = put("exist", among, notes=(*notes, ("said", VERIFY_REL)))
            case "choose_rel":
                one = put_unique(given[0])
                made = put("choose_relation", one, put_find(words[0]), words=words[1:], notes=notes)
            case "deny":
                made = put("not", put("verify", put_unique(given[0]), words=words), notes=notes)
            case "query" | "verify" | "choose" | "choose_more":
                made = put(kind, *map(put_unique, given), words=words, notes=notes)
            case _:
                made = put(kind, *given, words=words, notes=notes)
        value.append(made)
    return builder.build()


def build_steps(program: Program) -> list[GqaStep]:
    """The steps that say the program, in its order; what GQA has no word for is refused by name."""
    plan_program(program)
    reading = _GqaStepWriter(program)
    read = {j for n in program.nodes for j in n.inputs}
    needed = {i for i in range(len(program)) if i not in read}
    found: dict[int, GqaStep] = {}
    for i in reversed(range(len(program))):
        if i in needed:
            found[i] = reading.build_step(i)
            needed.update(found[i].inputs)
    order = {i: at for at, i in enumerate(sorted(found))}
    return [found[i]._replace(inputs=tuple(order[j] for j in found[i].inputs)) for i in order]


class _GqaStepWriter:
    """What each node of a program is called in GQA, the nodes that it takes along included."""

    def __init__(self, program: Program) -> None:
        self.program, self.nodes = program, program.nodes

    def build_step(self, i: int) -> GqaStep:
        """The step a node ends; its inputs are still numbers of nodes."""
        n = self.nodes[i]
        match n.op:
            case "find" | "scene":
                return GqaStep("select", (), (self.find_name(i, EVERYTHING),), n.notes)
            case "filter" | "exclude" if n.params[0] == "name":  # GQA names things only where it first finds them
                source = n.inputs[0]
                if n.op == "filter" and n.params[1] != ANY and self.nodes[source].op in _BY_RELATION:
                    return self.build_relation_step(source, n.params[1], n.notes)
                return GqaStep("select", (), (self.find_name(i, EVERYTHING),), n.notes)
            case _ if n.op in _BY_RELATION:
                return self.build_relation_step(i, ANY, n.notes)
            case "query" | "verify" | "choose" | "choose_more":
                return GqaStep(n.op, tuple(self.get_set(j) for j in n.inputs), n.params, n.notes)
            case "not" if self.nodes[n.inputs[0]].op == "verify":
                return self.build_step(n.inputs[0])._replace(kind="deny", notes=n.notes)
            case "exist" if n.note("said") == VERIFY_REL:
                step = self.build_step(n.inputs[0])
                if step.kind == "relate":
                    return step._replace(kind="verify_rel", notes=n.notes)
                return GqaStep(n.op, n.inputs, n.params, n.notes)
            case "choose_relation":
                first, others = n.inputs
                words = (self.find_name(others, ANY), *n.params)
                return GqaStep("choose_rel", (self.get_set(first),), words, n.notes)
            case _ if n.op in _AS_IS:
                return GqaStep(n.op, n.inputs, n.params, n.notes)
        raise refuse_node(self.program, i, "GQA")

    def find_name(self, i: int, everything: str) -> str:
        n = self.nodes[i]
        if n.op == "scene":
            return everything
        if n.op == "find" and n.params[0] not in (ANY, EVERYTHING):
            return n.params[0]
        if n.op == "filter" and n.params[0] == "name" and self.nodes[n.inputs[0]].op == "scene":
            return n.params[1]
        raise refuse_node(self.program, i, "GQA")

    def build_relation_step(self, i: int, name: str, notes: Notes) -> GqaStep:
        n = self.nodes[i]
        if n.op == "same":
            return GqaStep("alike_to", (self.get_set(n.inputs[0]),), (name, *n.params), notes)
        return GqaStep("relate", n.inputs, (name, *n.params), notes)

    def get_set(self, i: int) -> int:
        """The set whose only member is meant."""
        if self.nodes[i].op != "unique":
            raise refuse_node(self.program, i, "GQA")
        return self.nodes[i].inputs[0]
