"""Case: a program on a scene, run; the surgery on programs that the checks need, and what is no question.

For the checks alone, and nothing of theirs is shared with what makes the questions.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...lang.exec.exact import Execution, execute
from ...lang.program import Node, Program, node
from ...lang.world import World
from ...schema import Schema

WORD_OPS = ("filter", "exclude")
RELATION_OPS = ("relate", "related")
CONVERSE = (("left", "right"), ("right", "left"), ("front", "behind"), ("behind", "front"))
SET_OPS = ("scene", "relate", "related", "same", "intersect", "union", *WORD_OPS)

Allowed = dict[str, frozenset[str]]  # attribute → the values that what is said leaves open


@dataclass(frozen=True, slots=True)
class Case:
    """A program on a world, run."""

    program: Program
    world: World
    run: Execution

    @classmethod
    def of(cls, program: Program, world: World) -> Case:
        return cls(program, world, execute(program, world))

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self.program.nodes

    def readers(self, at: int) -> list[int]:
        return [i for i, n in enumerate(self.nodes) if at in n.inputs]

    def referred(self) -> list[int]:
        """The nodes where a description ends: no filter and no crossing follows."""
        return [
            i
            for i, n in enumerate(self.nodes)
            if n.op in SET_OPS
            and not any(self.nodes[r].op in (*WORD_OPS, "intersect") for r in self.readers(i))
        ]

    def is_subject(self, at: int) -> bool:
        """Whether the set is counted, or asked for whether there is any."""
        joined = (*WORD_OPS, "union", "intersect")
        return any(
            self.nodes[r].op in ("count", "exist") or (self.nodes[r].op in joined and self.is_subject(r))
            for r in self.readers(at)
        )

    def asked(self) -> int:
        """The things of which an attribute is asked or compared, or that words alone make counted or sought.

        Not those that only serve for others to stand in a relation to, nor those of a set by relation alone.
        """
        found = 0
        for i in self.referred():
            tied = self.nodes[self.origin(i)].op in (*RELATION_OPS, "same") and self.is_subject(i)
            if tied or self.nodes[i].op == "union" or self.nodes[self.origin(i)].op == "union":
                continue
            readers = self.readers(i)
            if readers and all(self.nodes[r].op == "unique" for r in readers):
                readers = [k for r in readers for k in self.readers(r)]
            if not readers or any(self.nodes[r].op not in RELATION_OPS for r in readers):
                found |= self.run.values[i]
        return found

    def origin(self, at: int) -> int:
        """The node that the filters of a description start from."""
        while self.nodes[at].op in WORD_OPS:
            at = self.nodes[at].inputs[0]
        return at

    def words(self, at: int) -> dict[str, str]:
        """The filters of the description that ends here."""
        found: dict[str, str] = {}
        while self.nodes[at].op in WORD_OPS:
            found[self.nodes[at].params[0]] = self.nodes[at].params[1]
            at = self.nodes[at].inputs[0]
        return found


def without(program: Program, gone: int) -> tuple[Program, dict[int, int]]:
    """The program without one node, and where the others have gone."""
    out: list[Node] = []
    place: dict[int, int] = {}

    def put(i: int) -> int:
        if i in place:
            return place[i]
        n = program.nodes[i]
        if i == gone and n.op in WORD_OPS:
            place[i] = put(n.inputs[0])
            return place[i]
        if i == gone:
            out.append(node("scene"))
        elif n.op == "intersect" and gone in n.inputs and program.nodes[gone].op not in WORD_OPS:
            place[i] = put(next(j for j in n.inputs if j != gone))
            return place[i]
        else:
            inputs = tuple(put(j) for j in n.inputs)
            out.append(node(n.op, inputs, n.params))
        place[i] = len(out) - 1
        return place[i]

    put(len(program.nodes) - 1)
    return Program(tuple(out)), place


def with_chain(program: Program, at: int, new: list[tuple[str, tuple[str, ...]]]) -> Program:
    """The program with a chain of nodes after node `at`, read by all that read it."""
    out = list(program.nodes[: at + 1])
    for op, params in new:
        out.append(node(op, (len(out) - 1,), params))
    for n in program.nodes[at + 1 :]:
        inputs = tuple(i + len(new) if i >= at else i for i in n.inputs)
        out.append(node(n.op, inputs, n.params))
    return Program(tuple(out))


def is_a_question(case: Case) -> bool:
    """Whether it says something of every set, and its words alone do not tell the answer."""
    last = len(case.nodes) - 1
    for i, n in enumerate(case.nodes):
        if n.op == "scene":
            for r in case.readers(i):
                if case.nodes[r].op not in WORD_OPS and not (case.nodes[r].op == "count" and r == last):
                    return False
        if n.op == "union" or (
            n.op in ("less", "greater", "equal") and case.nodes[n.inputs[0]].op == "count"
        ):
            one, two = (case.nodes[j].inputs[0] if case.nodes[j].op == "count" else j for j in n.inputs)
            if _inside(case, one, two) or _inside(case, two, one):
                return False
        if n.op == "exist" and told_there(case, n.inputs[0]):
            return False
    return not any(case.run.values[i] == 0 and _told_empty(case, i) for i in case.referred())


def told_there(case: Case, at: int) -> bool:
    """Whether one of the set is mentioned on the way to it: A, if B is right of A, for what is left of B."""
    mine, n = _allowed(case, at), case.nodes[case.origin(at)]
    back = dict(CONVERSE).get(n.params[0]) if n.op == "relate" else None
    while n.op == "relate":
        described = case.nodes[n.inputs[0]].inputs[0]
        n = case.nodes[case.origin(described)]
        if n.op != "relate" or n.params[0] != back:
            break
        if _narrower(_allowed(case, case.nodes[n.inputs[0]].inputs[0]), mine):
            return True
    return False


def _inside(case: Case, inner: int, outer: int) -> bool:
    if not _narrower(_allowed(case, inner), _allowed(case, outer)):
        return False
    a, b = (case.nodes[case.origin(i)] for i in (inner, outer))
    if b.op == "scene":
        return True
    values = case.run.values
    return (
        b.op in RELATION_OPS
        and (a.op, a.params) == (b.op, b.params)
        and values[a.inputs[0]] == values[b.inputs[0]]
    )


def _told_empty(case: Case, at: int) -> bool:
    """Whether the only thing that fits the words is one that the set leaves out."""
    todo, mine = [case.origin(at)], _allowed(case, at)
    while todo:
        n = case.nodes[todo.pop()]
        if n.op == "intersect":
            todo += [case.origin(i) for i in n.inputs]
        elif n.op in ("relate", "same") and case.nodes[n.inputs[0]].op == "unique":
            described = case.nodes[n.inputs[0]].inputs[0]
            alone = case.nodes[case.origin(described)].op == "scene"
            if alone and _narrower(mine, _allowed(case, described)):
                return True
    return False


def _allowed(case: Case, at: int) -> Allowed:
    n = case.nodes[at]
    if n.op == "filter":
        found = dict(_allowed(case, n.inputs[0]))
        values = _values(case.world.scenes[0].schema, *n.params)
        found[n.params[0]] = found.get(n.params[0], values) & values
        return found
    if n.op in ("unique", "exclude"):
        return _allowed(case, n.inputs[0])
    if n.op == "same":
        return {a: v for a, v in _allowed(case, n.inputs[0]).items() if a == n.params[0]}
    if n.op == "intersect":
        left, right = (_allowed(case, i) for i in n.inputs)
        return left | {a: left.get(a, values) & values for a, values in right.items()}
    return {}


def _values(schema: Schema, attribute: str, word: str) -> frozenset[str]:
    return frozenset(dict(schema.attribute(attribute).kinds).get(word, (word,)))


def _narrower(inner: Allowed, outer: Allowed) -> bool:
    return all(a in inner and inner[a] <= values for a, values in outer.items())
