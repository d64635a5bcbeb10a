"""Checks that a question says no more than it must, or all that it may. Brute force, one change at a time.

Nothing here is shared with what makes the questions: every single deletion or addition is made on the program
and run. A change does not count if it makes no question: one that says nothing of a set but that it is there,
or one whose words alone give the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ....lang.exec.exact import Execution, execute
from ....lang.execution_world import ExecutionWorld
from ....lang.program import Node, Program, node
from ....question import Question
from ....scene import Scene
from ....schema import Schema

WORD_OPS = ("filter", "exclude")
RELATION_OPS = ("relate", "related")
CONVERSE = (("left", "right"), ("right", "left"), ("front", "behind"), ("behind", "front"))
SET_OPS = ("scene", "relate", "related", "same", "intersect", "union", *WORD_OPS)

Allowed = dict[str, frozenset[str]]  # attribute → the values that what is said leaves open


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """A program on a world, run."""

    program: Program
    world: ExecutionWorld
    run: Execution

    @classmethod
    def from_program(cls, program: Program, world: ExecutionWorld) -> ProgramRun:
        return cls(program, world, execute(program, world))

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self.program.nodes

    def list_readers(self, at: int) -> list[int]:
        return [i for i, n in enumerate(self.nodes) if at in n.inputs]

    def list_described_nodes(self) -> list[int]:
        """The nodes where a description ends: no filter and no crossing follows."""
        return [
            i
            for i, n in enumerate(self.nodes)
            if n.op in SET_OPS and not any(self.nodes[r].op in (*WORD_OPS, "intersect") for r in self.list_readers(i))
        ]

    def is_subject(self, at: int) -> bool:
        """Whether the set is counted, or asked for whether there is any."""
        joined = (*WORD_OPS, "union", "intersect")
        return any(
            self.nodes[r].op in ("count", "exist") or (self.nodes[r].op in joined and self.is_subject(r))
            for r in self.list_readers(at)
        )

    def compute_queried_objects(self) -> int:
        """The things of which an attribute is asked or compared, or that words alone make counted or sought.

        Not those that only serve for others to stand in a relation to, nor those of a set by relation alone.
        """
        found = 0
        for i in self.list_described_nodes():
            tied = self.nodes[self.find_origin(i)].op in (*RELATION_OPS, "same") and self.is_subject(i)
            if tied or self.nodes[i].op == "union" or self.nodes[self.find_origin(i)].op == "union":
                continue
            readers = self.list_readers(i)
            if readers and all(self.nodes[r].op == "unique" for r in readers):
                readers = [k for r in readers for k in self.list_readers(r)]
            if not readers or any(self.nodes[r].op not in RELATION_OPS for r in readers):
                found |= self.run.values[i]
        return found

    def find_origin(self, at: int) -> int:
        """The node that the filters of a description start from."""
        while self.nodes[at].op in WORD_OPS:
            at = self.nodes[at].inputs[0]
        return at

    def list_words(self, at: int) -> dict[str, str]:
        """The filters of the description that ends here."""
        found: dict[str, str] = {}
        while self.nodes[at].op in WORD_OPS:
            found[self.nodes[at].params[0]] = self.nodes[at].params[1]
            at = self.nodes[at].inputs[0]
        return found


def remove_node(program: Program, gone: int) -> tuple[Program, dict[int, int]]:
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


def insert_chain(program: Program, at: int, new: list[tuple[str, tuple[str, ...]]]) -> Program:
    """The program with a chain of nodes after node `at`, read by all that read it."""
    out = list(program.nodes[: at + 1])
    for op, params in new:
        out.append(node(op, (len(out) - 1,), params))
    for n in program.nodes[at + 1 :]:
        inputs = tuple(i + len(new) if i >= at else i for i in n.inputs)
        out.append(node(n.op, inputs, n.params))
    return Program(tuple(out))


def is_a_question(case: ProgramRun) -> bool:
    """Whether it says something of every set, and its words alone do not tell the answer."""
    last = len(case.nodes) - 1
    for i, n in enumerate(case.nodes):
        if n.op == "scene":
            for r in case.list_readers(i):
                if case.nodes[r].op not in WORD_OPS and not (case.nodes[r].op == "count" and r == last):
                    return False
        if n.op == "union" or (n.op in ("less", "greater", "equal") and case.nodes[n.inputs[0]].op == "count"):
            one, two = (case.nodes[j].inputs[0] if case.nodes[j].op == "count" else j for j in n.inputs)
            if _is_inside(case, one, two) or _is_inside(case, two, one):
                return False
        if n.op == "exist" and words_imply_member(case, n.inputs[0]):
            return False
    return not any(case.run.values[i] == 0 and _words_imply_empty(case, i) for i in case.list_described_nodes())


def words_imply_member(case: ProgramRun, at: int) -> bool:
    """Whether one of the set is mentioned on the way to it: A, if B is right of A, for what is left of B."""
    mine, n = _list_allowed_values(case, at), case.nodes[case.find_origin(at)]
    back = dict(CONVERSE).get(n.params[0]) if n.op == "relate" else None
    while n.op == "relate":
        described = case.nodes[n.inputs[0]].inputs[0]
        n = case.nodes[case.find_origin(described)]
        if n.op != "relate" or n.params[0] != back:
            break
        if _is_narrower(_list_allowed_values(case, case.nodes[n.inputs[0]].inputs[0]), mine):
            return True
    return False


def _is_inside(case: ProgramRun, inner: int, outer: int) -> bool:
    if not _is_narrower(_list_allowed_values(case, inner), _list_allowed_values(case, outer)):
        return False
    a, b = (case.nodes[case.find_origin(i)] for i in (inner, outer))
    if b.op == "scene":
        return True
    values = case.run.values
    return b.op in RELATION_OPS and (a.op, a.params) == (b.op, b.params) and values[a.inputs[0]] == values[b.inputs[0]]


def _words_imply_empty(case: ProgramRun, at: int) -> bool:
    """Whether the only thing that fits the words is one that the set leaves out."""
    todo, mine = [case.find_origin(at)], _list_allowed_values(case, at)
    while todo:
        n = case.nodes[todo.pop()]
        if n.op == "intersect":
            todo += [case.find_origin(i) for i in n.inputs]
        elif n.op in ("relate", "same") and case.nodes[n.inputs[0]].op == "unique":
            described = case.nodes[n.inputs[0]].inputs[0]
            alone = case.nodes[case.find_origin(described)].op == "scene"
            if alone and _is_narrower(mine, _list_allowed_values(case, described)):
                return True
    return False


def _list_allowed_values(case: ProgramRun, at: int) -> Allowed:
    n = case.nodes[at]
    if n.op == "filter":
        found = dict(_list_allowed_values(case, n.inputs[0]))
        attribute = case.world.scenes[0].schema.attribute(n.params[0])
        values = frozenset(dict(attribute.kinds).get(n.params[1], (n.params[1],)))
        found[n.params[0]] = found.get(n.params[0], values) & values
        return found
    if n.op in ("unique", "exclude"):
        return _list_allowed_values(case, n.inputs[0])
    if n.op == "same":
        return {a: v for a, v in _list_allowed_values(case, n.inputs[0]).items() if a == n.params[0]}
    if n.op == "intersect":
        left, right = (_list_allowed_values(case, i) for i in n.inputs)
        return left | {a: left.get(a, values) & values for a, values in right.items()}
    return {}


def _is_narrower(inner: Allowed, outer: Allowed) -> bool:
    return all(a in inner and inner[a] <= values for a, values in outer.items())


# The checks.

MOST_HOPS = 3


class RelationScope(NamedTuple):
    """What an added relation may lead to."""

    schema: Schema
    asked: int  # not to these things
    sought: tuple[int, ...]  # nor to one of these sets, by relation, if the words tell that it is one

    def words_tell(self, case: ProgramRun, thing: int, start: int = 0, by: int = 0) -> bool:
        """Whether they do; nodes from `start` on have moved by so many."""
        places = [at + by if at >= start else at for at in self.sought]
        return any(case.run.values[at] >> thing & 1 and words_imply_member(case, at) for at in places)


def check_minimal(scene: Scene, question: Question) -> tuple[str, ...]:
    """What could be dropped with every set referred to, and the answer, staying as they are; best nothing."""
    case = _run_question(scene, question)
    found = []
    for i, n in enumerate(case.nodes):
        if n.op not in (*WORD_OPS, *RELATION_OPS) and (n.op != "same" or case.is_subject(i)):
            continue
        shorter, place = remove_node(case.program, i)
        other = ProgramRun.from_program(shorter, case.world)
        same = other.run.is_defined and other.run.answer == case.run.answer
        for at in case.list_described_nodes():
            if same and at in place:
                same = other.run.values[place[at]] == case.run.values[at]
        if same and is_a_question(other):
            found.append(f"node {i} ({n.op} {' '.join(n.params)}) could be dropped")
    return tuple(found)


def check_saturated(scene: Scene, question: Question, base: Question) -> tuple[str, ...]:
    """What could still be said, or should not have been; `base` is the question as it came (level rd)."""
    case, plain = _run_question(scene, question), _run_question(scene, base)
    pairs, anchors, trouble = _align_descriptions(case, plain)
    sought = tuple(  # the sets that are counted or looked for among what stands in a relation
        at
        for at, beside in pairs
        if plain.nodes[plain.find_origin(beside)].op in RELATION_OPS and plain.is_subject(beside)
    )
    reach = RelationScope(scene.schema, plain.compute_queried_objects(), sought)
    for at, beside in pairs:
        silent = _list_silent_attributes(case, at)
        new = [a for a in case.list_words(at) if a not in plain.list_words(beside)]
        trouble += [f"{a} is asked or compared" for a in new if a in silent]
        origin = case.nodes[case.find_origin(at)].op
        if origin == "same" and not plain.list_words(beside) and case.is_subject(at):
            trouble += [f"node {at}: {a} is said where nothing was" for a in new]
        elif not case.run.values[at] and origin != "union":
            trouble += list(_check_empty_description(case, at, plain, beside, silent, reach))
        else:
            trouble += list(_list_unsaid_words(case, at, silent, scene.schema))
            trouble += list(_list_unsaid_relations(case, at, case.run.values[at], reach))
    for at in anchors:
        trouble += [f"node {at}: {what}" for what in _check_anchor(case, at, reach)]
    return tuple(trouble)


def check_twin(scene: Scene, question: Question, base: Question) -> tuple[str, ...]:
    """Where the twin is not the same question about the same scene with the same answer."""
    case, plain = _run_question(scene, question), _run_question(scene, base)
    trouble = []
    if question.scenes != base.scenes or question.kind != base.kind:
        trouble.append("it is about another scene, or of another kind")
    if not question.answer == base.answer == case.run.answer == plain.run.answer:
        trouble.append(f"answers {question.answer!r}, {case.run.answer!r} for {base.answer!r}")
    if not is_a_question(case) and is_a_question(plain):
        trouble.append("it gives its answer away")
    longer, shorter = (case, plain) if len(case.nodes) >= len(plain.nodes) else (plain, case)
    pairs, _, unlike = _align_descriptions(longer, shorter)
    for i, j in pairs:
        if longer.run.values[i] != shorter.run.values[j]:
            unlike.append(f"node {i} refers to other things")
    return (*trouble, *unlike)


def _run_question(scene: Scene, question: Question) -> ProgramRun:
    if question.program is None:
        raise ValueError(f"question {question.id} has no program")
    return ProgramRun.from_program(question.program, ExecutionWorld((scene,)))


def _align_descriptions(longer: ProgramRun, shorter: ProgramRun) -> tuple[list[tuple[int, int]], list[int], list[str]]:
    """The descriptions of one program beside those of another that says less of the same.

    Also what the longer one's added relations lead to, and how it is more than a longer version.
    """
    pairs: list[tuple[int, int]] = []
    anchors: list[int] = []
    trouble: list[str] = []
    todo = [(len(longer.nodes) - 1, len(shorter.nodes) - 1)]
    while todo:
        i, j = todo.pop()
        if longer.nodes[i].op in SET_OPS:
            if i in longer.list_described_nodes():
                pairs.append((i, j))
            more, less = longer.list_words(i), shorter.list_words(j)
            if not less.items() <= more.items():
                trouble.append(f"node {i} does not say all of {less}")
            i, j = longer.find_origin(i), shorter.find_origin(j)
        a, b = longer.nodes[i], shorter.nodes[j]
        if (a.op, a.params) == (b.op, b.params):
            todo += list(zip(a.inputs, b.inputs, strict=True))
        elif a.op in (*RELATION_OPS, "same") and b.op == "scene":
            anchors.append(longer.nodes[a.inputs[0]].inputs[0])
        elif a.op == "intersect" and b.op in RELATION_OPS:
            half = next((k for k in a.inputs if longer.nodes[k].params == b.params), a.inputs[0])
            todo.append((half, j))
        else:
            trouble.append(f"node {i} ({a.op}) stands where {b.op} did")
    return pairs, anchors, trouble


def _list_silent_attributes(case: ProgramRun, at: int) -> set[str]:
    """The attributes that the question asks or compares of what is described here, or says of it later."""
    found: set[str] = set()
    origin = case.nodes[case.find_origin(at)]
    if origin.op == "same":
        found.add(origin.params[0])
    todo = case.list_readers(at)
    while todo:
        i = todo.pop()
        if case.nodes[i].op == "unique":
            asking = [n for n in case.nodes if n.op in ("query", "verify", "choose", "same")]
            thing = case.run.values[i]
            found |= {n.params[0] for n in asking if case.run.values[n.inputs[0]] == thing}
        elif case.nodes[i].op in ("union", *WORD_OPS):
            found |= {case.nodes[i].params[0]} if case.nodes[i].op in WORD_OPS else set()
            todo += case.list_readers(i)
    return found


def _list_unsaid_words(case: ProgramRun, at: int, silent: set[str], schema: Schema) -> Iterator[str]:
    if case.nodes[case.find_origin(at)].op == "union":  # said by what is joined
        return
    things, value = case.world.objects, case.run.values[at]
    for attribute in schema.attributes:
        if attribute.name in silent or attribute.name in case.list_words(at):
            continue
        for term in attribute.terms:
            if not value & ~things.mask(attribute.name, term):
                longer = insert_chain(case.program, at, [("filter", (attribute.name, term))])
                if is_a_question(ProgramRun.from_program(longer, case.world)):
                    yield f"node {at}: {attribute.name} {term} could be said"


def _check_empty_description(
    case: ProgramRun, at: int, plain: ProgramRun, beside: int, silent: set[str], reach: RelationScope
) -> Iterator[str]:
    """Whether a set of nothing is described otherwise than a set of something that is described as far.

    Such a set is what a thing that the base's description starts from is like in the attributes it names.
    """
    words, origin = plain.list_words(beside), plain.find_origin(beside)
    related = (
        case.nodes[case.find_origin(at)] if case.nodes[case.find_origin(at)].op != plain.nodes[origin].op else None
    )
    could_be_said = False
    for like in _list_stand_ins(plain, words, plain.run.values[origin], reach.schema):
        new = _find_narrowest_words(case, like, silent | set(words), reach.schema)
        if case.list_words(at) == words | new:
            if related is None and not any(_list_unsaid_relations(case, at, like, reach)):
                return
            rows = related and case.world.rows(related.params[0])
            if related and rows and not like & ~rows[case.run.values[related.inputs[0]].bit_length() - 1]:
                return
        longer = insert_chain(case.program, at, [("filter", pair) for pair in new.items()])
        could_be_said = could_be_said or is_a_question(ProgramRun.from_program(longer, case.world))
    if could_be_said or related or case.list_words(at) != words:
        yield f"node {at}: nothing is described like no set of the scene"


def _list_stand_ins(plain: ProgramRun, words: dict[str, str], start: int, schema: Schema) -> Iterator[int]:
    things = plain.world.objects
    pool = start or things.everything
    for i in range(pool.bit_length()):
        like = pool if pool >> i & 1 else 0
        for name, word in words.items():
            attribute = schema.attribute(name)
            value = things.value(i, name)
            if word not in attribute.values:
                value = next((kind for kind, inside in attribute.kinds if value in inside), None)
            like &= things.mask(name, value) if value else 0
        if like:
            yield like


def _find_narrowest_words(case: ProgramRun, these: int, besides: set[str], schema: Schema) -> dict[str, str]:
    """For each attribute the word of the fewest things, if any, that all of these fit."""
    found: dict[str, str] = {}
    for attribute in schema.attributes:
        sizes = dict(attribute.kinds)
        fits = [t for t in attribute.terms if not these & ~case.world.objects.mask(attribute.name, t)]
        if fits and attribute.name not in besides:
            found[attribute.name] = min(fits, key=lambda t: (len(sizes.get(t, (t,))), t))
    return found


def _list_unsaid_relations(case: ProgramRun, at: int, these: int, reach: RelationScope) -> Iterator[str]:
    """The relations that all of these stand in and that could be said of the set."""
    origin = case.find_origin(at)
    if case.nodes[origin].op != "scene" or _count_hops(case, at) >= MOST_HOPS:
        return
    for relation in reach.schema.relations:
        rows = case.world.rows(relation) or ()
        for i, row in enumerate(rows):
            full = _describe_fully(case.world, i, reach.schema)
            if reach.asked >> i & 1 or these & ~row or not full:
                continue
            chain = [("filter", pair) for pair in full] + [("unique", ()), ("relate", (relation,))]
            longer = ProgramRun.from_program(insert_chain(case.program, origin, chain), case.world)
            if longer.run.is_defined and is_a_question(longer) and not reach.words_tell(longer, i, origin, len(chain)):
                yield f"node {at}: {relation} of object {i} could be said"


def _check_anchor(case: ProgramRun, at: int, reach: RelationScope) -> Iterator[str]:
    """What is wrong with the thing that an added relation leads to."""
    thing = case.run.values[at].bit_length() - 1
    if reach.asked >> thing & 1 or reach.words_tell(case, thing):
        yield "a relation to something that the question asks about"
    if dict(_describe_fully(case.world, thing, reach.schema)) != case.list_words(at):
        yield "not described in full"
    if case.nodes[case.find_origin(at)].op != "scene" or _count_hops(case, at) > MOST_HOPS:
        yield f"a relation of its own, or one of more than {MOST_HOPS}"
    if any(case.nodes[k].op == "same" for r in case.list_readers(at) for k in case.list_readers(r)):
        yield "being the same in something is not added"


def _count_hops(case: ProgramRun, at: int) -> int:
    """The most relations on the way to the answer."""
    return max((_count_hops(case, r) + (case.nodes[r].op in RELATION_OPS) for r in case.list_readers(at)), default=0)


def _describe_fully(world: ExecutionWorld, thing: int, schema: Schema) -> tuple[tuple[str, str], ...]:
    pairs = [(a.name, world.objects.value(thing, a.name)) for a in schema.attributes]
    return tuple((name, value) for name, value in pairs if value is not None)
