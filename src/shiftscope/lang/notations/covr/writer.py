"""A program as COVR's steps; what COVR cannot say is refused by name."""

from collections.abc import Sequence

from ...program import Notes, Program, refuse_node
from .reader import COMPARISONS, OPS, QUANTIFIERS, CovrStep

_KIND_OF = {op: kind for kind, op in OPS.items()}
_COMPARISON_OF = {op: kind for kind, op in COMPARISONS.items()}
_FLIPPED = {"eq": "eq", "gt": "lt", "lt": "gt", "geq": "leq", "leq": "geq"}

Onward = tuple[int | None, str, bool]  # a step, a relation to it, and whether that is turned round


def build_steps(program: Program, notation: str, *, mend: bool = False) -> list[CovrStep]:
    """The steps that say the program; what COVR has no word for is refused by name.

    With `mend`, what reading puts in is left out.
    """
    writer = _CovrStepWriter(program, notation, mend)
    read = {j for n in program.nodes for j in n.inputs}
    for i in range(len(program)):
        if i not in read:
            writer.write_node(i)
    return writer.sort_steps()


class _CovrStepWriter:
    """Nodes become steps, in the order of the nodes."""

    def __init__(self, program: Program, notation: str, mend: bool) -> None:
        self.program, self.nodes, self.notation, self.mend = program, program.nodes, notation, mend
        self.made: list[CovrStep] = []  # their inputs are places in this list
        self.keys: list[int] = []  # the last node that a step says something of
        self.steps: dict[tuple[int, str], int] = {}
        self.start: int | None = None  # in a sub-program: the step that stands for `it()`, if not the scene
        self.bound: list[bool] = []  # whether a node depends on an `it()`, one that a quantifier has bound included
        for n in program.nodes:
            free = n.inputs[:1] if n.op in QUANTIFIERS else n.inputs
            self.bound.append(n.op == "it" or any(self.bound[j] for j in free))

    def sort_steps(self) -> list[CovrStep]:
        order = sorted(range(len(self.made)), key=lambda k: (self.keys[k], k))
        place = {k: at for at, k in enumerate(order)}
        return [self.made[k]._replace(inputs=tuple(place[i] for i in self.made[k].inputs)) for k in order]

    def append_step(
        self, at: int, kind: str, inputs: Sequence[int] = (), words: tuple[str, ...] = (), notes: Notes = ()
    ) -> int:
        self.made.append(CovrStep(kind, tuple(inputs), words, (), notes))
        self.keys.append(max([at, *(self.keys[i] for i in inputs)]))
        return len(self.made) - 1

    def write_node(self, i: int, unique: str = "unique") -> int:
        """The step for a node; a `unique` that was never in a file is written as its place requires."""
        n = self.nodes[i]
        kind = n.note("said", unique) if n.op == "unique" else ""
        if (i, kind) not in self.steps:
            if kind:
                among = self.write_set(n.inputs[0])
                self.steps[i, kind] = among if self.mend else self.append_step(i, kind, (among,), (), n.notes)
            else:
                self.steps[i, kind] = self.write_new_node(i)
        return self.steps[i, kind]

    def write_set(self, i: int) -> int:
        return self.write_node(i, "assert_unique")

    def write_one(self, i: int) -> int:
        if self.nodes[i].op != "unique":
            raise refuse_node(self.program, i, self.notation)
        return self.write_node(i, "unique")

    def write_new_node(self, i: int) -> int:
        n = self.nodes[i]
        match n.op:
            case "scene":
                return self.append_step(i, "scene", (), (), n.notes)
            case "find" | "filter" | "union" if pairs := self.find_alternatives(i):
                base, words = pairs
                if base < 0:
                    return self.append_step(i, "find", (), words, n.notes)
                return self.append_step(i, "filter", (self.write_set(base),), words, n.notes)
            case "filter" if self.nodes[n.inputs[0]].op == "related":  # a name: only where things are first found
                return self.append_relation(i, self.append_step(i, "find", (), n.params[1:]), n.inputs[0], n.notes)
            case "related":
                return self.append_relation(i, self.append_step(i, "scene"), i, n.notes)
            case "intersect":
                return self.write_intersection(i)
            case "images" | "group" | "count" | "exist" | "keys" | "and" | "or" | "not":
                said = [j for j in n.inputs if not (self.mend and self.is_implicit(j, "less"))]  # that is False
                return self.append_step(i, _KIND_OF[n.op], [self.write_set(j) for j in said], (), n.notes)
            case "keep":
                words = (_COMPARISON_OF[n.params[0]], n.params[1])
                return self.append_step(i, "keep", (self.write_node(n.inputs[0]),), words, n.notes)
            case "query" | "verify" | "choose" | "common" if (n.op, *n.params[:1]) != ("verify", "name"):
                return self.append_step(i, _KIND_OF[n.op], [self.write_one(j) for j in n.inputs], n.params, n.notes)
            case "choose_relation" if n.params[2] == "object":
                inputs = (self.write_one(n.inputs[0]), self.write_set(n.inputs[1]))
                return self.append_step(i, "choose_relation", inputs, n.params[:2], n.notes)
            case "alike" if self.is_same(*n.inputs):
                return self.append_step(i, "all_same", (self.write_set(n.inputs[0]),), n.params, n.notes)
            case "all" | "some" | "none":
                inner = _CovrStepWriter(self.program, self.notation, self.mend)
                at = self.append_step(i, n.op, (self.write_set(n.inputs[0]),), (), n.notes)
                inner.write_body(n.inputs[1])
                self.made[at] = self.made[at]._replace(sub=tuple(inner.sort_steps()))
                return at
            case _ if n.op in _COMPARISON_OF:
                return self.write_comparison(i)
        raise refuse_node(self.program, i, self.notation)

    def find_alternatives(self, i: int) -> tuple[int, tuple[str, ...]] | None:
        """The names a find takes any of (then −1 comes first), or the set and the pairs of a filter."""
        n = self.nodes[i]
        if n.op == "find":
            return -1, n.params
        if n.op == "filter":
            if n.params[0] != "name":
                return n.inputs[0], n.params
            whole = self.nodes[n.inputs[0]].op == "scene"
            return (-1, n.params[1:]) if whole else None
        if n.op != "union":
            return None
        left, right = map(self.find_alternatives, n.inputs)
        if left is None or right is None:
            return None
        if not (left[0] == right[0] == -1 or (min(left[0], right[0]) >= 0 and self.is_same(left[0], right[0]))):
            return None
        return left[0], left[1] + right[1]

    def is_same(self, i: int, j: int) -> bool:
        """Whether two nodes are one, or leaves that say the same."""
        return i == j or (not self.nodes[i].inputs and self.nodes[i] == self.nodes[j])

    def write_intersection(self, i: int) -> int:
        n = self.nodes[i]
        among, relation = n.inputs
        if self.nodes[relation].op != "related":
            among, relation = relation, among
        if self.nodes[relation].op != "related":
            raise refuse_node(self.program, i, self.notation)
        left_out = self.is_implicit(among, "scene")  # `with_relation_object` of one set
        return self.append_relation(i, None if left_out else self.write_set(among), relation, n.notes)

    def append_relation(self, i: int, among: int | None, relation: int, notes: Notes) -> int:
        """The step for those among a set that the `related` node gives."""
        r = self.nodes[relation]
        word, role = r.params
        to = None if self.is_implicit(r.inputs[0], "scene") else self.write_set(r.inputs[0])
        return self.append_pair(i, among, to, word, role == "object", notes)

    def is_implicit(self, i: int, op: str) -> bool:
        """Whether the node is one of that op which the notation leaves out."""
        return self.nodes[i].op == op and bool(self.nodes[i].note("implicit"))

    def append_pair(self, i: int, among: int | None, to: int | None, word: str, turned: bool, notes: Notes = ()) -> int:
        if turned:
            first = self.append_step(i, "scene") if to is None else to
            inputs = (first,) if among is None else (first, among)
            return self.append_step(i, "with_relation_object", inputs, (word,), notes)
        first = self.append_step(i, "scene") if among is None else among
        return self.append_step(i, "with_relation", (first,) if to is None else (first, to), (word,), notes)

    def write_comparison(self, i: int) -> int:
        n = self.nodes[i]
        kind = _COMPARISON_OF[n.op]
        numbers = [self.nodes[j].op == "number" for j in n.inputs]
        words = tuple(self.nodes[j].params[0] for j in n.inputs if self.nodes[j].op == "number")
        if numbers == [True, False]:
            kind = _FLIPPED[kind]
        if self.mend and any(self.nodes[j].op == "unique" for j in n.inputs):
            raise refuse_node(self.program, i, self.notation)
        inputs = tuple(self.write_node(j) for j in n.inputs if self.nodes[j].op != "number")
        return self.append_step(i, kind, inputs, words, n.notes)

    def write_body(self, i: int) -> int:
        """The set of those for which a truth about `it()` holds."""
        n = self.nodes[i]
        match n.op:
            case "verify" if n.params[0] == "name" and self.nodes[n.inputs[0]].op == "it":
                return self.write_name_only(i, n.params[1])
            case "verify":
                return self.append_step(i, "filter", (self.write_nonempty(n.inputs[0]),), n.params, n.notes)
            case "exist" if self.bound[n.inputs[0]]:
                return self.write_nonempty(n.inputs[0])
            case "and":
                self.start = self.write_body(n.inputs[0])
                return self.write_body(n.inputs[1])
        raise refuse_node(self.program, i, self.notation)

    def write_name_only(self, i: int, name: str) -> int:
        if self.start is not None:
            raise refuse_node(self.program, i, self.notation)
        return self.append_step(i, "find", (), (name,))

    def write_nonempty(self, i: int) -> int:
        """The set of those for which a set about `it()` is not empty."""
        return self.write_by_relation(i, i) if self.passes_relation(i) else self.write_containing(i)

    def write_containing(self, i: int) -> int:
        """The same for a set that holds `it()` or nothing."""
        n = self.nodes[i]
        if n.op == "it":
            if self.start is None and (i, "") not in self.steps:
                self.steps[i, ""] = self.append_step(i, "scene", (), (), n.notes)
            return self.steps[i, ""] if self.start is None else self.start
        pairs = self.find_alternatives(i) if n.op in ("filter", "union") else None
        if pairs is not None and pairs[0] >= 0:
            return self.append_step(i, "filter", (self.write_containing(pairs[0]),), pairs[1], n.notes)
        if n.op == "filter" and self.nodes[n.inputs[0]].op == "it":
            return self.write_name_only(i, n.params[1])
        if n.op != "intersect" or self.bound[n.inputs[0]] == self.bound[n.inputs[1]]:
            raise refuse_node(self.program, i, self.notation)
        held, other = n.inputs if self.bound[n.inputs[0]] else n.inputs[::-1]
        if self.nodes[other].op == "related":
            return self.append_relation(i, self.write_containing(held), other, n.notes)
        if self.nodes[held].op != "it" or self.start is not None:
            raise refuse_node(self.program, i, self.notation)
        return self.write_set(other)

    def passes_relation(self, i: int) -> bool:
        """Whether a set about `it()` holds not it but what it is related to."""
        n = self.nodes[i]
        while n.op in ("filter", "intersect"):
            bound = [j for j in n.inputs if self.bound[j]]
            if len(bound) != 1:
                return False
            n = self.nodes[bound[0]]
        return n.op == "related" and self.bound[n.inputs[0]]

    def write_by_relation(self, i: int, last: int, onward: Onward | None = None) -> int:
        """`exist(filter(related(it(), wearing, object), name=hat))`: the set of those wearing a hat."""
        path = [i]
        while self.nodes[path[-1]].op != "related":
            path.append(next(j for j in self.nodes[path[-1]].inputs if self.bound[j]))
        *conditions, relation = path
        target: int | None = None
        for j in reversed(conditions):
            target = self.write_condition(j, target)
        if onward is not None:
            target = self.append_pair(last, target, *onward)
        r = self.nodes[relation]
        word, role = r.params
        if self.passes_relation(r.inputs[0]):
            return self.write_by_relation(r.inputs[0], last, (target, word, role == "subject"))
        held = self.write_containing(r.inputs[0])
        return self.append_pair(last, held, target, word, role == "subject", self.nodes[last].notes)

    def write_condition(self, i: int, target: int | None) -> int:
        """A set written so far, None for all objects, with one more condition."""
        n = self.nodes[i]
        if n.op == "filter" and n.params[0] != "name":
            whole = self.append_step(i, "scene") if target is None else target
            return self.append_step(i, "filter", (whole,), n.params)
        if n.op == "filter" and target is None:
            return self.append_step(i, "find", (), n.params[1:])
        other = next((j for j in n.inputs if not self.bound[j]), i)
        if target is None:
            return self.write_set(other)
        if self.nodes[other].op != "related":
            raise refuse_node(self.program, i, self.notation)
        return self.append_relation(i, target, other, n.notes)
