"""The steps that say a program in COVR; what COVR has no word for is refused by name."""

from __future__ import annotations

from ..program import Node, Notes, Program, ProgramError
from ._covr_steps import COMPARISONS, OPS, QUANTIFIERS, Step

_KIND_OF = {op: kind for kind, op in OPS.items()}
_COMPARISON_OF = {op: kind for kind, op in COMPARISONS.items()}
_FLIPPED = {"eq": "eq", "gt": "lt", "lt": "gt", "geq": "leq", "leq": "geq"}

Onward = tuple[int | None, str, bool]  # a step, a relation to it, and whether that is turned round


def steps_of(program: Program, notation: str, *, mend: bool = False) -> list[Step]:
    """The steps that say the program; what COVR has no word for is refused by name.

    With `mend`, what reading puts in is left out.
    """
    teller = _Teller(program, notation, mend)
    read = {j for n in program.nodes for j in n.inputs}
    for i in range(len(program)):
        if i not in read:
            teller.tell(i)
    return teller.steps()


class _Teller:
    """Nodes become steps, in the order of the nodes."""

    def __init__(self, program: Program, notation: str, mend: bool) -> None:
        self.program, self.nodes, self.notation, self.mend = program, program.nodes, notation, mend
        self.made: list[Step] = []  # their inputs are places in this list
        self.keys: list[int] = []  # the last node that a step says something of
        self.told: dict[tuple[int, str], int] = {}
        self.start: int | None = None  # in a sub-program: the step that stands for `it()`, if not the scene
        self.bound = _bound(program)

    def steps(self) -> list[Step]:
        order = sorted(range(len(self.made)), key=lambda k: (self.keys[k], k))
        place = {k: at for at, k in enumerate(order)}
        return [self.made[k]._replace(inputs=tuple(place[i] for i in self.made[k].inputs)) for k in order]

    def put(
        self,
        at: int,
        kind: str,
        inputs: tuple[int, ...] = (),
        words: tuple[str, ...] = (),
        notes: Notes = (),
        sub: tuple[Step, ...] = (),
    ) -> int:
        self.made.append(Step(kind, inputs, words, sub, notes))
        self.keys.append(max([at, *(self.keys[i] for i in inputs)]))
        return len(self.made) - 1

    def tell(self, i: int, unique: str = "unique") -> int:
        """The step for a node; a `unique` that was never in a file is said as its place wants it."""
        n = self.nodes[i]
        kind = n.note("said", unique) if n.op == "unique" else ""
        if (i, kind) not in self.told:
            self.told[i, kind] = self.tell_unique(i, kind) if kind else self.tell_new(i)
        return self.told[i, kind]

    def tell_unique(self, i: int, kind: str) -> int:
        n = self.nodes[i]
        if self.mend:
            return self.among(n.inputs[0])
        return self.put(i, kind, (self.among(n.inputs[0]),), (), n.notes)

    def among(self, i: int) -> int:
        return self.tell(i, "assert_unique")

    def one(self, i: int) -> int:
        if self.nodes[i].op != "unique":
            raise self.refusal(i)
        return self.tell(i, "unique")

    def tell_new(self, i: int) -> int:
        n = self.nodes[i]
        match n.op:
            case "scene":
                return self.put(i, "scene", (), (), n.notes)
            case "find" | "filter" | "union" if pairs := self.listed(i):
                base, words = pairs
                if base < 0:
                    return self.put(i, "find", (), words, n.notes)
                return self.put(i, "filter", (self.among(base),), words, n.notes)
            case "filter" if n.params[0] == "name":
                return self.named(i)
            case "intersect" | "related":
                return self.relating(i)
            case "images" | "group" | "count" | "exist" | "keys" | "and" | "or" | "not":
                return self.put(i, _KIND_OF[n.op], self.spoken(n), (), n.notes)
            case "keep":
                words = (_COMPARISON_OF[n.params[0]], n.params[1])
                return self.put(i, "keep", (self.tell(n.inputs[0]),), words, n.notes)
            case "query" | "verify" | "choose" | "common":
                if n.op == "verify" and n.params[0] == "name":
                    raise self.refusal(i)
                return self.put(i, _KIND_OF[n.op], tuple(map(self.one, n.inputs)), n.params, n.notes)
            case "choose_relation" if n.params[2] == "object":
                inputs = (self.one(n.inputs[0]), self.among(n.inputs[1]))
                return self.put(i, "choose_relation", inputs, n.params[:2], n.notes)
            case "alike" if self.same(*n.inputs):
                return self.put(i, "all_same", (self.among(n.inputs[0]),), n.params, n.notes)
            case "all" | "some" | "none":
                return self.quantified(i)
            case _ if n.op in _COMPARISON_OF:
                return self.compared(i)
        raise self.refusal(i)

    def spoken(self, n: Node) -> tuple[int, ...]:
        """The inputs that are said."""
        return tuple(self.among(j) for j in n.inputs if not (self.mend and self.false(j)))

    def false(self, i: int) -> bool:
        """Whether the node is the False that stands for a truth left out."""
        return self.nodes[i].op == "less" and bool(self.nodes[i].note("implicit"))

    def listed(self, i: int) -> tuple[int, tuple[str, ...]] | None:
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
        left, right = map(self.listed, n.inputs)
        if left is None or right is None:
            return None
        if not (left[0] == right[0] == -1 or (min(left[0], right[0]) >= 0 and self.same(left[0], right[0]))):
            return None
        return left[0], left[1] + right[1]

    def same(self, i: int, j: int) -> bool:
        """Whether two nodes are one, or leaves that say the same."""
        return i == j or (not self.nodes[i].inputs and self.nodes[i] == self.nodes[j])

    def named(self, i: int) -> int:
        """A filter by name: COVR names things only where it first finds them."""
        n = self.nodes[i]
        if self.nodes[n.inputs[0]].op != "related":
            raise self.refusal(i)
        found = self.put(i, "find", (), n.params[1:])
        return self.put_relation(i, found, n.inputs[0], n.notes)

    def relating(self, i: int) -> int:
        n = self.nodes[i]
        if n.op == "related":
            return self.put_relation(i, self.put(i, "scene"), i, n.notes)
        among, relation = n.inputs
        if self.nodes[relation].op != "related":
            among, relation = relation, among
        if self.nodes[relation].op != "related":
            raise self.refusal(i)
        if self.unsaid(among):  # `with_relation_object` of one set
            return self.put_relation(i, None, relation, n.notes)
        return self.put_relation(i, self.among(among), relation, n.notes)

    def put_relation(self, i: int, among: int | None, relation: int, notes: Notes) -> int:
        """The step for those among a set that the `related` node gives."""
        r = self.nodes[relation]
        word, role = r.params
        to = None if self.unsaid(r.inputs[0]) else self.among(r.inputs[0])
        return self.put_pair(i, among, to, word, role == "object", notes)

    def unsaid(self, i: int) -> bool:
        """Whether the node is the scene that a notation leaves out."""
        return self.nodes[i].op == "scene" and bool(self.nodes[i].note("implicit"))

    def put_pair(
        self, i: int, among: int | None, to: int | None, word: str, turned: bool, notes: Notes = ()
    ) -> int:
        if turned:
            first = self.put(i, "scene") if to is None else to
            inputs = (first,) if among is None else (first, among)
            return self.put(i, "with_relation_object", inputs, (word,), notes)
        first = self.put(i, "scene") if among is None else among
        return self.put(i, "with_relation", (first,) if to is None else (first, to), (word,), notes)

    def compared(self, i: int) -> int:
        n = self.nodes[i]
        kind = _COMPARISON_OF[n.op]
        numbers = [self.nodes[j].op == "number" for j in n.inputs]
        words = tuple(self.nodes[j].params[0] for j in n.inputs if self.nodes[j].op == "number")
        if numbers == [True, False]:
            kind = _FLIPPED[kind]
        if self.mend and any(self.nodes[j].op == "unique" for j in n.inputs):
            raise self.refusal(i)
        inputs = tuple(self.tell(j) for j in n.inputs if self.nodes[j].op != "number")
        return self.put(i, kind, inputs, words, n.notes)

    def quantified(self, i: int) -> int:
        n = self.nodes[i]
        among = self.among(n.inputs[0])
        inner = _Teller(self.program, self.notation, self.mend)
        inner.body(n.inputs[1])
        return self.put(i, n.op, (among,), (), n.notes, tuple(inner.steps()))

    def body(self, i: int) -> int:
        """The set of those for which a truth about `it()` holds."""
        n = self.nodes[i]
        match n.op:
            case "verify" if n.params[0] == "name" and self.nodes[n.inputs[0]].op == "it":
                return self.only_named(i, n.params[1])
            case "verify":
                return self.put(i, "filter", (self.left(n.inputs[0]),), n.params, n.notes)
            case "exist" if self.bound[n.inputs[0]]:
                return self.left(n.inputs[0])
            case "and":
                self.start = self.body(n.inputs[0])
                return self.body(n.inputs[1])
        raise self.refusal(i)

    def only_named(self, i: int, name: str) -> int:
        if self.start is not None:
            raise self.refusal(i)
        return self.put(i, "find", (), (name,))

    def left(self, i: int) -> int:
        """The set of those for which a set about `it()` is not empty."""
        return self.left_by_relation(i, i) if self.passes_relation(i) else self.held(i)

    def held(self, i: int) -> int:
        """The same for a set that holds `it()` or nothing."""
        n = self.nodes[i]
        if n.op == "it":
            return self.begin(i)
        pairs = self.listed(i) if n.op in ("filter", "union") else None
        if pairs is not None and pairs[0] >= 0:
            return self.put(i, "filter", (self.held(pairs[0]),), pairs[1], n.notes)
        if n.op == "filter" and self.nodes[n.inputs[0]].op == "it":
            return self.only_named(i, n.params[1])
        if n.op != "intersect" or self.bound[n.inputs[0]] == self.bound[n.inputs[1]]:
            raise self.refusal(i)
        held, other = n.inputs if self.bound[n.inputs[0]] else n.inputs[::-1]
        if self.nodes[other].op == "related":
            return self.put_relation(i, self.held(held), other, n.notes)
        if self.nodes[held].op != "it" or self.start is not None:
            raise self.refusal(i)
        return self.among(other)

    def begin(self, i: int) -> int:
        """The set that `it()` stands for."""
        if self.start is not None:
            return self.start
        if (i, "") not in self.told:
            self.told[i, ""] = self.put(i, "scene", (), (), self.nodes[i].notes)
        return self.told[i, ""]

    def passes_relation(self, i: int) -> bool:
        """Whether a set about `it()` holds not it but what it is related to."""
        n = self.nodes[i]
        while n.op in ("filter", "intersect"):
            bound = [j for j in n.inputs if self.bound[j]]
            if len(bound) != 1:
                return False
            n = self.nodes[bound[0]]
        return n.op == "related" and self.bound[n.inputs[0]]

    def left_by_relation(self, i: int, last: int, onward: Onward | None = None) -> int:
        """`exist(filter(related(it(), wearing, object), name=hat))`: the set of those wearing a hat."""
        path = [i]
        while self.nodes[path[-1]].op != "related":
            path.append(next(j for j in self.nodes[path[-1]].inputs if self.bound[j]))
        *conditions, relation = path
        target: int | None = None
        for j in reversed(conditions):
            target = self.narrowed(j, target)
        if onward is not None:
            target = self.put_pair(last, target, *onward)
        r = self.nodes[relation]
        word, role = r.params
        if self.passes_relation(r.inputs[0]):
            return self.left_by_relation(r.inputs[0], last, (target, word, role == "subject"))
        held = self.held(r.inputs[0])
        return self.put_pair(last, held, target, word, role == "subject", self.nodes[last].notes)

    def narrowed(self, i: int, target: int | None) -> int:
        """A set told so far, None for all objects, and one more condition on it."""
        n = self.nodes[i]
        if n.op == "filter" and n.params[0] != "name":
            whole = self.put(i, "scene") if target is None else target
            return self.put(i, "filter", (whole,), n.params)
        if n.op == "filter" and target is None:
            return self.put(i, "find", (), n.params[1:])
        other = next((j for j in n.inputs if not self.bound[j]), i)
        if target is None:
            return self.among(other)
        if self.nodes[other].op != "related":
            raise self.refusal(i)
        return self.put_relation(i, target, other, n.notes)

    def refusal(self, i: int) -> ProgramError:
        n = self.nodes[i]
        words = f": {', '.join(n.params)}" if n.params else ""
        return ProgramError(f"node {i} ({n.op}{words}) can not be said in {self.notation}")


def _bound(program: Program) -> list[bool]:
    """Which nodes depend on an `it()`, one that a quantifier has bound included."""
    bound: list[bool] = []
    for n in program.nodes:
        free = n.inputs[:1] if n.op in QUANTIFIERS else n.inputs
        bound.append(n.op == "it" or any(bound[j] for j in free))
    return bound
