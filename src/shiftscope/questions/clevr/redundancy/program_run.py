"""Program run: a program on a scene, changed by one node at a time, and what its words alone tell.

For the checks (`check.py`), which share nothing with what makes the questions.
"""

from typing import Self

from ....lang.exec.exact import execute
from ....lang.execution_world import ExecutionWorld
from ....lang.program import Node, Program, node
from ....question import Question
from ....scene import Scene

WORD_OPS = ("filter", "exclude")
RELATION_OPS = ("relate", "related")
CONVERSE = {"left": "right", "right": "left", "front": "behind", "behind": "front"}
SET_OPS = ("scene", "relate", "related", "same", "intersect", "union", *WORD_OPS)

AllowedValues = dict[str, frozenset[str]]  # attribute → the values that the words leave open


class ProgramRun:
    def __init__(self, program: Program, world: ExecutionWorld) -> None:
        self.program, self.world, self.nodes = program, world, program.nodes
        self.schema = world.scenes[0].schema
        self.ops = [n.op for n in program.nodes]
        self.run = execute(program, world)
        self.values = self.run.values
        self.readers: list[list[int]] = [[] for _ in program.nodes]  # of each node, the nodes that read it
        for i, n in enumerate(program.nodes):
            for at in dict.fromkeys(n.inputs):
                self.readers[at].append(i)

    @classmethod
    def from_question(cls, scene: Scene, question: Question) -> Self:
        if question.program is None:
            raise ValueError(f"question {question.id} has no program")
        return cls(question.program, ExecutionWorld((scene,)))

    def list_described_nodes(self) -> list[int]:
        """The nodes where a description ends: no filter and no crossing follows."""
        goes_on = (*WORD_OPS, "intersect")
        ends = [not any(self.ops[r] in goes_on for r in readers) for readers in self.readers]
        return [i for i, op in enumerate(self.ops) if op in SET_OPS and ends[i]]

    def is_subject(self, at: int) -> bool:
        """Whether the set is counted, or tested for existence."""
        joined = (*WORD_OPS, "union", "intersect")
        return any(
            self.ops[r] in ("count", "exist") or (self.ops[r] in joined and self.is_subject(r))
            for r in self.readers[at]
        )

    def compute_queried_objects(self) -> int:
        """The objects of which an attribute is queried or compared, or that are counted or sought by words alone.

        Not those that only serve for others to stand in a relation to, nor those of a set by relation alone.
        """
        found = 0
        for i in self.list_described_nodes():
            origin = self.ops[self.find_origin(i)]
            if (origin in (*RELATION_OPS, "same") and self.is_subject(i)) or "union" in (self.ops[i], origin):
                continue
            readers = self.readers[i]
            if readers and all(self.ops[r] == "unique" for r in readers):
                readers = [k for r in readers for k in self.readers[r]]
            if not readers or any(self.ops[r] not in RELATION_OPS for r in readers):
                found |= self.values[i]
        return found

    def find_origin(self, at: int) -> int:
        """The node that the filters of a description start from."""
        while self.ops[at] in WORD_OPS:
            at = self.nodes[at].inputs[0]
        return at

    def list_words(self, at: int) -> dict[str, str]:
        """The filters of the description that ends here."""
        found: dict[str, str] = {}
        while self.ops[at] in WORD_OPS:
            found[self.nodes[at].params[0]] = self.nodes[at].params[1]
            at = self.nodes[at].inputs[0]
        return found

    def count_hops(self, at: int) -> int:
        """The most relations on the way to the answer."""
        return max((self.count_hops(r) + (self.ops[r] in RELATION_OPS) for r in self.readers[at]), default=0)

    def is_a_question(self) -> bool:
        """Whether it says something of every set, and its words alone do not tell the answer."""
        last = len(self.nodes) - 1
        for i, n in enumerate(self.nodes):
            if n.op == "scene":
                for r in self.readers[i]:
                    if self.ops[r] not in WORD_OPS and not (self.ops[r] == "count" and r == last):
                        return False
            if n.op == "union" or (n.op in ("less", "greater", "equal") and self.ops[n.inputs[0]] == "count"):
                one, two = (self.nodes[j].inputs[0] if self.ops[j] == "count" else j for j in n.inputs)
                if self._is_inside(one, two) or self._is_inside(two, one):
                    return False
            if n.op == "exist" and self.words_imply_member(n.inputs[0]):
                return False
        return not any(self.values[i] == 0 and self._words_imply_empty(i) for i in self.list_described_nodes())

    def words_imply_member(self, at: int) -> bool:
        """Whether one of the set is mentioned on the way to it: A, if B is right of A, for what is left of B."""
        mine, n = self._list_allowed_values(at), self.nodes[self.find_origin(at)]
        back = CONVERSE.get(n.params[0]) if n.op == "relate" else None
        while n.op == "relate":
            described = self.nodes[n.inputs[0]].inputs[0]
            n = self.nodes[self.find_origin(described)]
            if n.op != "relate" or n.params[0] != back:
                break
            if _is_narrower(self._list_allowed_values(self.nodes[n.inputs[0]].inputs[0]), mine):
                return True
        return False

    def _is_inside(self, inner: int, outer: int) -> bool:
        if not _is_narrower(self._list_allowed_values(inner), self._list_allowed_values(outer)):
            return False
        a, b = (self.nodes[self.find_origin(i)] for i in (inner, outer))
        if b.op == "scene":
            return True
        alike = b.op in RELATION_OPS and (a.op, a.params) == (b.op, b.params)
        return alike and bool(self.values[a.inputs[0]] == self.values[b.inputs[0]])

    def _words_imply_empty(self, at: int) -> bool:
        """Whether the only thing that fits the words is one that the set leaves out."""
        todo, mine = [self.find_origin(at)], self._list_allowed_values(at)
        while todo:
            n = self.nodes[todo.pop()]
            if n.op == "intersect":
                todo += [self.find_origin(i) for i in n.inputs]
            elif n.op in ("relate", "same") and self.ops[n.inputs[0]] == "unique":
                described = self.nodes[n.inputs[0]].inputs[0]
                alone = self.ops[self.find_origin(described)] == "scene"
                if alone and _is_narrower(mine, self._list_allowed_values(described)):
                    return True
        return False

    def _list_allowed_values(self, at: int) -> AllowedValues:
        n = self.nodes[at]
        if n.op == "filter":
            found = self._list_allowed_values(n.inputs[0])
            attribute = self.schema.attribute(n.params[0])
            values = frozenset(dict(attribute.kinds).get(n.params[1], (n.params[1],)))
            return found | {n.params[0]: found.get(n.params[0], values) & values}
        if n.op in ("unique", "exclude"):
            return self._list_allowed_values(n.inputs[0])
        if n.op == "same":
            return {a: v for a, v in self._list_allowed_values(n.inputs[0]).items() if a == n.params[0]}
        if n.op == "intersect":
            left, right = (self._list_allowed_values(i) for i in n.inputs)
            return left | {a: left.get(a, values) & values for a, values in right.items()}
        return {}


def _is_narrower(inner: AllowedValues, outer: AllowedValues) -> bool:
    return all(a in inner and inner[a] <= values for a, values in outer.items())


def remove_node(program: Program, gone: int) -> tuple[Program, dict[int, int]]:
    """The program without one node, and where the others have gone."""
    out: list[Node] = []
    place: dict[int, int] = {}

    def put(i: int) -> int:
        if i not in place:
            n = program.nodes[i]
            if i == gone and n.op in WORD_OPS:
                place[i] = put(n.inputs[0])
            elif n.op == "intersect" and gone in n.inputs and program.nodes[gone].op not in WORD_OPS:
                place[i] = put(next(j for j in n.inputs if j != gone))
            else:
                out.append(node("scene") if i == gone else node(n.op, tuple(put(j) for j in n.inputs), n.params))
                place[i] = len(out) - 1
        return place[i]

    put(len(program.nodes) - 1)
    return Program(tuple(out)), place


def insert_chain(program: Program, at: int, new: list[tuple[str, tuple[str, ...]]]) -> Program:
    """The program with a chain of nodes after node `at`, read by all that read it."""
    out = list(program.nodes[: at + 1])
    for op, params in new:
        out.append(node(op, (len(out) - 1,), params))
    for n in program.nodes[at + 1 :]:
        inputs = tuple(i + len(new) if i >= at else i for i in n.inputs)
        out.append(node(n.op, inputs, n.params))
    return Program(tuple(out))
