"""Redundancy: the same questions with ever fewer of their redundant operations, worded again from what is
left.

After Li et al. (2023), section 5.3, Table 3. An operation is a filter, or a relation together with all that only led
to it. It is redundant if without it every set of objects that the rest of the program goes on with is the same, found
by running both programs. Never taken out: what is being asked, a name, the last word of a description. All removals of
all questions stand in one seeded order; at level p the first p% of them are done, each on what the earlier ones left;
at 100 nothing redundant is left. A question of level p names that of level 0 in its note `twin`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ... import rng
from ...lang.exec.exact import execute
from ...lang.execution_world import ExecutionWorld
from ...lang.notations.gqa.steps import VERIFY_REL
from ...lang.program import Node, Program, node
from ...question import Question
from .wording import question_text

WORDS = ("filter", "exclude")
RELATIONS = ("related", "relate", "same")
PAIRING = ("and", "or", "alike", "differ", "common", "choose_more")  # of two things that must not become one


class ProgramCut(NamedTuple):
    """A shorter program, and which node of the longer one each of its nodes was."""

    program: Program
    origin: tuple[int, ...]


def list_removable(program: Program) -> tuple[int, ...]:
    """The nodes that may be taken out, redundant or not."""
    asked_about = _find_asked_relations(program)
    return tuple(
        i
        for i in sorted(program.find_reachable())
        if (program.nodes[i].op in WORDS and program.nodes[i].params[0] != "name")
        or (program.nodes[i].op in RELATIONS and i not in asked_about)
    )


def remove_if_redundant(program: Program, at: int, world: ExecutionWorld) -> ProgramCut | None:
    """The program without the operation, if that refers to the same things and has the same answer."""
    cut = remove_operation(program, at)
    described = _count_undescribed(cut.program) <= _count_undescribed(program)
    distinct = _count_doubled(cut.program) <= _count_doubled(program)
    return cut if described and distinct and has_same_referents(program, cut, world) else None


def has_same_referents(program: Program, cut: ProgramCut, world: ExecutionWorld) -> bool:
    """Whether every set that a surviving node reads is as it was, and so the answer."""
    longer, shorter = execute(program, world), execute(cut.program, world)
    if not longer.is_defined or not shorter.is_defined or _is_different(longer.answer, shorter.answer):
        return False
    for n, was in zip(cut.program.nodes, cut.origin, strict=True):
        if n.op not in WORDS:
            before = program.nodes[was].inputs
            pairs = zip(n.inputs, before, strict=False)
            if any(_is_different(shorter.values[i], longer.values[j]) for i, j in pairs):
                return False
    return True


def remove_operation(program: Program, at: int) -> ProgramCut:
    """The program less one operation; what nothing reads any more goes with it.

    A relation leaves the name of what it found, sought in the whole image: `find(cat)`.
    """
    nodes = list(program.nodes)
    moved: dict[int, int] = {}  # what a node's readers read instead
    n = nodes[at]
    if n.op in WORDS:
        moved[at] = n.inputs[0]
    else:
        name = _find_name_filter(program, at)
        if name is None:
            nodes[at] = node("scene", (), (), n.notes)
        else:
            nodes[name] = node("find", (), nodes[name].params[1:], nodes[name].notes)
    return _rebuild_program(nodes, moved)


def _rebuild_program(nodes: list[Node], moved: dict[int, int]) -> ProgramCut:
    """The nodes that the last one needs, numbered anew."""
    place: dict[int, int] = {}
    made: list[Node] = []
    origin: list[int] = []

    def place_node(i: int) -> int:
        i = moved.get(i, i)
        if i not in place:
            n = nodes[i]
            inputs = tuple(map(place_node, n.inputs))
            place[i] = len(made)
            made.append(node(n.op, inputs, n.params, n.notes))
            origin.append(i)
        return place[i]

    place_node(len(nodes) - 1)
    return ProgramCut(Program(tuple(made)), tuple(origin))


def _find_asked_relations(program: Program) -> set[int]:
    """The relations that are asked about: whether the one thing stands in it to such another."""
    found = set()
    for n in program.nodes:
        if n.op == "exist" and n.note("said") == VERIFY_REL:
            at = n.inputs[0]
            while program.nodes[at].op in WORDS:
                at = program.nodes[at].inputs[0]
            found.add(at)
    return found


def _find_name_filter(program: Program, at: int) -> int | None:
    """The filter that names what a relation finds, where that comes first and nothing else reads it."""
    readers = [i for i, n in enumerate(program.nodes) if at in n.inputs]
    if len(readers) != 1:
        return None
    n = program.nodes[readers[0]]
    return readers[0] if n.op == "filter" and n.params[0] == "name" else None


def _count_undescribed(program: Program) -> int:
    """How often the program goes on with everything that is there."""
    bare = [i for i, n in enumerate(program.nodes) if n.op == "scene"]
    return sum(i in n.inputs for n in program.nodes if n.op not in WORDS for i in bare)


def _count_doubled(program: Program) -> int:
    """How many nodes read the same description twice, said once or said again."""
    kept: list[int] = []
    known: dict[tuple[object, ...], int] = {}
    for n in program.nodes:
        key = (n.op, n.params, tuple(kept[i] for i in n.inputs))
        kept.append(known.setdefault(key, len(known)))
    return sum(n.op in PAIRING and kept[n.inputs[0]] == kept[n.inputs[1]] for n in program.nodes)


def _is_different(one: object, other: object) -> bool:
    return type(one) is not type(other) or one != other


# Levels of a whole set of questions.

FACTOR = "gqa_redundancy"
LEVELS = (0, 14, 32, 70, 91, 100)  # percent, as in the paper


class Removal(NamedTuple):
    """One operation less."""

    place: tuple[int, int]  # in the order of all removals: the round, then a seeded number
    program: Program  # what is left


@dataclass(frozen=True, slots=True)
class TrimmedQuestion:
    """A question with all that can be taken out of it, in order."""

    question: Question
    removals: tuple[Removal, ...]

    def get_program_after(self, count: int) -> Program:
        """The program after so many removals."""
        assert self.question.program is not None
        return self.removals[count - 1].program if count else self.question.program


def trim_question(question: Question, world: ExecutionWorld, seed: int) -> TrimmedQuestion:
    """Take out what is redundant until nothing is, the operations in a seeded order."""
    program = question.program
    assert program is not None
    keys = {i: rng.seed_of("redundancy", seed, question.id, i) for i in list_removable(program)}
    order = sorted(keys, key=keys.__getitem__)
    here = {i: i for i in range(len(program))}  # a node as it came → where it is now
    removals: list[Removal] = []
    turn = 0
    while True:
        before = len(removals)
        for i in order:
            cut = remove_if_redundant(program, here[i], world) if i in here else None
            if cut is None:
                continue
            program = cut.program
            now = {was: at for at, was in enumerate(cut.origin)}
            here = {first: now[at] for first, at in here.items() if at in now}
            if i in here:  # a relation became `scene` or `find` there
                del here[i]
            removals.append(Removal((turn, keys[i]), program))
        if len(removals) == before:
            return TrimmedQuestion(question, tuple(removals))
        turn += 1


def build_level(found: Sequence[TrimmedQuestion], share: int) -> list[Question]:
    """All questions at one level, in order."""
    places = sorted((r.place, k) for k, one in enumerate(found) for r in one.removals)
    done = Counter(k for _, k in places[: round(len(places) * share / 100)])  # removals of each question
    return [_apply_level(one, done[k], share) for k, one in enumerate(found)]


def _apply_level(one: TrimmedQuestion, count: int, share: int) -> Question:
    base = one.question
    program = one.get_program_after(count)
    text = question_text(program)
    notes = tuple(n for n in base.notes if n[0] not in ("twin", "factor", "level"))
    named = (("factor", FACTOR), ("level", share), ("removed", count))
    if not share:
        return replace(base, text=text, notes=(*notes, *named))
    return replace(base, id=f"{base.id}_{share}", text=text, program=program, notes=(*notes, ("twin", base.id), *named))


def count_removals(found: Iterable[TrimmedQuestion]) -> int:
    """How many operations of all questions are redundant."""
    return sum(len(one.removals) for one in found)
