"""Program run: a program on a scene, changed by one node at a time, and what its words alone tell.

For the checks (`check.py`), which share nothing with what makes the questions.
"""

from collections.abc import Mapping, Sequence
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
    def __init__(self, program: Program, world: ExecutionWorld, spoken: int = -1) -> None:
        """`spoken` are the objects that the question was about before relations were added; by default, all may be."""
        self.program, self.world, self.nodes, self.spoken = program, world, program.nodes, spoken
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

    def compute_spoken_objects(self) -> int:
        """The objects that are in any set that the question describes."""
        found = 0
        for at in self.list_described_nodes():
            found |= self.values[at]
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

    def list_leaves(self, at: int) -> list[int]:
        """The nodes whose sets the description that ends here crosses; none where it starts from the whole scene."""
        origin = self.find_origin(at)
        if self.ops[origin] == "intersect":
            return [leaf for i in self.nodes[origin].inputs for leaf in self.list_leaves(i)]
        return [] if self.ops[origin] == "scene" else [origin]

    def list_mentions(self, at: int) -> list[int]:
        """The descriptions of the one thing that is singled out here, this one first; of a set, this one alone."""
        singled = [self.nodes[r].inputs[0] for r, op in enumerate(self.ops) if op == "unique"]
        again = [i for i in singled if i != at and self.values[i] == self.values[at]] if at in singled else []
        return [at, *again]

    def names_referent(self, at: int, words: Mapping[str, str]) -> bool:
        """Whether what is counted or looked for here would, with these words, be something singled out already.

        Where it is what is the same as a thing, it is another.
        """
        if not self.is_subject(at) or any(self.ops[leaf] == "same" for leaf in self.list_leaves(at)):
            return False
        mine = {name: self._list_values(name, word) for name, word in words.items()}
        spoken = [i for i, op in enumerate(self.ops) if op == "unique" and self.values[i] & self.spoken]
        return any(said and _is_narrower(mine, said) for said in map(self._list_allowed_values, spoken))

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
        mine = self._list_allowed_values(at)
        for leaf in self.list_leaves(at):
            n = self.nodes[leaf]
            todo = self._list_things_over(n.inputs[0], CONVERSE.get(n.params[0])) if n.op == "relate" else []
            while todo:
                thing = todo.pop()
                if _is_narrower(self._list_allowed_values(thing), mine):
                    return True
                todo += self._list_things_over(thing, CONVERSE.get(n.params[0]))
        return False

    def _list_things_over(self, thing: int, relation: str | None) -> list[int]:
        """The things, as `unique` gives them, that this one is described by means of over the relation."""
        leaves = self.list_leaves(self.nodes[thing].inputs[0]) if self.ops[thing] == "unique" else []
        nodes = [self.nodes[leaf] for leaf in leaves]
        return [n.inputs[0] for n in nodes if n.op == "relate" and n.params[0] == relation]

    def _is_inside(self, inner: int, outer: int) -> bool:
        if not _is_narrower(self._list_allowed_values(inner), self._list_allowed_values(outer)):
            return False

        def list_conditions(at: int) -> set[tuple[str, tuple[str, ...], int]]:
            nodes = [self.nodes[leaf] for leaf in self.list_leaves(at)]
            return {(n.op, n.params, self.values[n.inputs[0]]) for n in nodes}

        wanted = list_conditions(outer)
        return wanted <= list_conditions(inner) and all(op in RELATION_OPS for op, _, _ in wanted)

    def _words_imply_empty(self, at: int) -> bool:
        """Whether the only thing that fits the words is one that the set leaves out."""
        todo, mine = [self.find_origin(at)], self._list_allowed_values(at)
        while todo:
            n = self.nodes[todo.pop()]
            if n.op == "intersect":
                todo += [self.find_origin(i) for i in n.inputs]
            elif n.op in ("relate", "same") and self.ops[n.inputs[0]] == "unique":
                described = self.nodes[n.inputs[0]].inputs[0]
                fits = _is_narrower(mine, self._list_allowed_values(described))
                if fits and self._is_found_by_words(described):
                    return True
        return False

    def _is_found_by_words(self, at: int) -> bool:
        """Whether all relations of a description were added: they lead to nothing spoken of, and single nothing out."""
        leaves = [self.nodes[leaf] for leaf in self.list_leaves(at)]
        return all(n.op == "relate" and not self.values[n.inputs[0]] & self.spoken for n in leaves)

    def _list_values(self, attribute: str, word: str) -> frozenset[str]:
        return frozenset(dict(self.schema.attribute(attribute).kinds).get(word, (word,)))

    def _list_allowed_values(self, at: int) -> AllowedValues:
        n = self.nodes[at]
        if n.op == "filter":
            found = self._list_allowed_values(n.inputs[0])
            values = self._list_values(*n.params)
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


def insert_relation(program: Program, at: int, words: Sequence[tuple[str, str]], relation: str) -> Program:
    """The program with only those of set `at` that stand in the relation to the thing of these words."""
    start = [] if program.nodes[at].op == "scene" else [node("scene")]
    new = [
        *start,
        *(node("filter", (0,), pair) for pair in words),
        node("unique", (0,)),
        node("relate", (0,), (relation,)),
    ]
    return insert_chain(program, at, [(n.op, n.params) for n in new], cross=bool(start))


def insert_chain(program: Program, at: int, new: list[tuple[str, tuple[str, ...]]], cross: bool = False) -> Program:
    """The program with a chain of nodes after node `at`, read by all that read it; `cross` it with the set that was."""
    out = list(program.nodes[: at + 1])
    for op, params in new:
        out.append(node(op, () if op == "scene" else (len(out) - 1,), params))
    if cross:
        out.append(node("intersect", (at, len(out) - 1)))
        new = [*new, ("intersect", ())]
    for n in program.nodes[at + 1 :]:
        inputs = tuple(i + len(new) if i >= at else i for i in n.inputs)
        out.append(node(n.op, inputs, n.params))
    return Program(tuple(out))
