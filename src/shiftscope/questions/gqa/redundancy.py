"""Redundancy: the same questions with ever fewer of their redundant operations, worded again from what is
left.

After Li et al. (2023), section 5.3, Table 3. An operation is a filter, or a relation together with all that only led
to it. It is redundant if without it every set of objects that the rest of the program goes on with is the same, found
by running both programs. Never taken out: what is being asked, a name, the last word of a description, and all that is
said of whom or what one asks for ("who is in the picture?" is no question about the one who is riding). A region of a
picture does not tell what is absent, so there the last relation of what may exist stays, too. Nor is taken out what
would leave a question that answers itself, or one that was asked of the picture before. All removals of all
questions stand in one seeded order; at level p the first p% of them are done, each on what the earlier ones left; at
100 nothing redundant is left. A question of level p names that of level 0 in its note `twin`.
"""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ... import rng
from ...lang.exec.exact import execute
from ...lang.execution_world import ExecutionWorld
from ...lang.notations.gqa.steps import VERIFY_REL
from ...lang.program import Node, Program, node
from ...question import Question
from .soundness import is_sound
from .wording import question_text, read_description

WORDS = ("filter", "exclude")
RELATIONS = ("related", "relate", "same")
PAIRING = ("and", "or", "alike", "differ", "common", "choose_more")  # of two things that must not become one


class ProgramCut(NamedTuple):
    """A shorter program, and which node of the longer one each of its nodes was."""

    program: Program
    origin: tuple[int, ...]


def list_removable(program: Program) -> tuple[int, ...]:
    """The nodes that may be taken out, redundant or not."""
    nodes = program.nodes
    kept = set()  # the relations that are queried: whether the one object stands in it to such another
    for n in nodes:
        if n.op == "exist" and n.note("said") == VERIFY_REL:
            at = n.inputs[0]
            while nodes[at].op in WORDS:
                at = nodes[at].inputs[0]
            kept.add(at)
    return tuple(
        i
        for i in sorted(program.find_reachable())
        if (nodes[i].op in WORDS and nodes[i].params[0] != "name") or (nodes[i].op in RELATIONS and i not in kept)
    )


def remove_if_redundant(
    program: Program, at: int, world: ExecutionWorld, taken: Container[str] = ()
) -> ProgramCut | None:
    """The program without the operation, if that refers to the same things and has the same answer.

    What is left must still be worth asking, and not in words that are `taken`.
    """
    cut = remove_operation(program, at)
    described = _count_undescribed(cut.program) <= _count_undescribed(program)
    distinct = _count_doubled(cut.program) <= _count_doubled(program)
    if (
        not described
        or not distinct
        or (world.scenes[0].note("caption") and _count_bare(cut.program) > _count_bare(program))
    ):
        return None
    if not has_same_referents(program, cut, world):
        return None
    text = question_text(cut.program)
    return cut if text not in taken and is_sound(cut.program, text, execute(program, world).answer) else None


def has_same_referents(program: Program, cut: ProgramCut, world: ExecutionWorld) -> bool:
    """Whether every set that a surviving node reads is as it was, and so the answer."""
    longer, shorter = execute(program, world), execute(cut.program, world)
    if not longer.is_defined or not shorter.is_defined:
        return False
    pairs = [(longer.answer, shorter.answer)]
    for n, was in zip(cut.program.nodes, cut.origin, strict=True):
        if n.op not in WORDS:
            read = zip(program.nodes[was].inputs, n.inputs, strict=False)
            pairs += [(longer.values[i], shorter.values[j]) for i, j in read]
    return all(type(one) is type(other) and one == other for one, other in pairs)


def remove_operation(program: Program, at: int) -> ProgramCut:
    """The program less one operation; what nothing reads any more goes with it, and the rest is numbered anew.

    A relation leaves the name of what it found, sought in the whole image: `find(cat)`.
    """
    nodes = list(program.nodes)
    moved: dict[int, int] = {}  # what a node's readers read instead
    if nodes[at].op in WORDS:
        moved[at] = nodes[at].inputs[0]
    else:
        readers = [i for i, n in enumerate(nodes) if at in n.inputs]
        first = nodes[readers[0]] if len(readers) == 1 else None
        if first is not None and first.op == "filter" and first.params[0] == "name":
            nodes[readers[0]] = node("find", (), first.params[1:], first.notes)
        else:
            nodes[at] = node("scene", (), (), nodes[at].notes)
    place: dict[int, int] = {}
    kept: list[Node] = []
    origin: list[int] = []

    def place_node(i: int) -> int:
        i = moved.get(i, i)
        if i not in place:
            n = nodes[i]
            inputs = tuple(map(place_node, n.inputs))
            place[i] = len(kept)
            kept.append(node(n.op, inputs, n.params, n.notes))
            origin.append(i)
        return place[i]

    place_node(len(nodes) - 1)
    return ProgramCut(Program(tuple(kept)), tuple(origin))


def _count_undescribed(program: Program) -> int:
    """How often the program goes on with everything that is there, or asks which of a kind is there."""
    bare = [i for i, n in enumerate(program.nodes) if n.op == "scene"]
    root = program.root
    asked = program.nodes[root.inputs[0]] if root.op in ("query", "choose") and root.params[0] == "name" else root
    of_kind = asked.op == "unique" and program.nodes[asked.inputs[0]].op == "find"
    return sum(i in n.inputs for n in program.nodes if n.op not in WORDS for i in bare) + of_kind


def _count_bare(program: Program) -> int:
    """How often it is asked whether there is a thing of which no relation is told: a region does not tell."""
    asked = [read_description(program, n.inputs[0]) for n in program.nodes if n.op == "exist"]
    return sum(thing is not None and thing.link is None for thing in asked)


def _count_doubled(program: Program) -> int:
    """How many nodes read the same description twice, shared or repeated."""
    kept: list[int] = []
    known: dict[tuple[object, ...], int] = {}
    for n in program.nodes:
        key = (n.op, n.params, tuple(kept[i] for i in n.inputs))
        kept.append(known.setdefault(key, len(known)))
    return sum(n.op in PAIRING and kept[n.inputs[0]] == kept[n.inputs[1]] for n in program.nodes)


# Levels of a whole set of questions.

FACTOR = "gqa_redundancy"
LEVELS = (0, 14, 32, 70, 91, 100)  # percent, as in the paper
Removal = tuple[tuple[int, int], Program]  # its place among all (the round, then a seeded number), and what is left


@dataclass(frozen=True, slots=True)
class TrimmedQuestion:
    """A question with all that can be taken out of it, in order."""

    question: Question
    removals: tuple[Removal, ...]

    def get_program_after(self, count: int) -> Program:
        assert self.question.program is not None
        return self.removals[count - 1][1] if count else self.question.program


def trim_question(
    question: Question, world: ExecutionWorld, seed: int, taken: set[str] | None = None
) -> TrimmedQuestion:
    """Take out what is redundant until nothing is, the operations in a seeded order.

    No step has the words that others about the picture have `taken`; its own are added to them.
    """
    program = question.program
    assert program is not None
    keys = {i: rng.seed_of("redundancy", seed, question.id, i) for i in list_removable(program)}
    order = sorted(keys, key=keys.__getitem__)
    here = {i: i for i in range(len(program))}  # a node as it came → where it is now
    removals: list[Removal] = []
    taken = set() if taken is None else taken
    turn = 0
    while True:
        before = len(removals)
        for i in order:
            cut = remove_if_redundant(program, here[i], world, taken) if i in here else None
            if cut is None:
                continue
            program = cut.program
            now = {was: at for at, was in enumerate(cut.origin)}
            here = {first: now[at] for first, at in here.items() if at in now}
            here.pop(i, None)  # a relation became `scene` or `find` there
            removals.append(((turn, keys[i]), program))
            taken.add(question_text(program))
        if len(removals) == before:
            return TrimmedQuestion(question, tuple(removals))
        turn += 1


def build_level(found: Sequence[TrimmedQuestion], share: int) -> list[Question]:
    """All questions at one level, in order."""
    places = sorted((place, k) for k, one in enumerate(found) for place, _ in one.removals)
    done = Counter(k for _, k in places[: round(len(places) * share / 100)])  # removals of each question
    made = []
    for k, one in enumerate(found):
        base, program = one.question, one.get_program_after(done[k])
        notes = [n for n in base.notes if n[0] not in ("twin", "factor", "level")]
        notes += [("twin", base.id)] if share else []
        notes += [("factor", FACTOR), ("level", share), ("removed", done[k])]
        twin = replace(base, text=question_text(program), notes=tuple(notes))
        made.append(replace(twin, id=f"{base.id}_{share}", program=program) if share else twin)
    return made


def count_removals(found: Iterable[TrimmedQuestion]) -> int:
    return sum(len(one.removals) for one in found)
