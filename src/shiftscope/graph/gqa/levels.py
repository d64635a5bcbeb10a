"""Levels: the same questions with ever fewer of their redundant operations, worded again from what is left.

After Li et al. (2023), section 5.3, Table 3. All removals of all questions stand in one seeded order; at
level p the first p% of them are done. They are found one after the other, each on what the earlier ones left,
because one can make another necessary; at 100 nothing redundant is left. A question of level p names that of
level 0 in its note `twin`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ... import rng
from ...lang.program import Program
from ...lang.world import World
from ...question import Question
from .trim import operations, redundant
from .words import question_text

FACTOR = "gqa_redundancy"
SHARES = (0, 14, 32, 70, 91, 100)  # percent, as in the paper


class Removal(NamedTuple):
    """One operation less."""

    place: tuple[int, int]  # in the order of all removals: the round, then a seeded number
    program: Program  # what is left


@dataclass(frozen=True, slots=True)
class Trimmed:
    """A question with all that can be taken out of it, in order."""

    question: Question
    removals: tuple[Removal, ...]

    def after(self, count: int) -> Program:
        """The program after so many removals."""
        assert self.question.program is not None
        return self.removals[count - 1].program if count else self.question.program


def trimmed(question: Question, world: World, seed: int) -> Trimmed:
    """Take out what is redundant until nothing is, the operations in a seeded order."""
    program = question.program
    assert program is not None
    keys = {i: rng.seed_of("redundancy", seed, question.id, i) for i in operations(program)}
    order = sorted(keys, key=keys.__getitem__)
    here = {i: i for i in range(len(program))}  # a node as it came → where it is now
    removals: list[Removal] = []
    turn = 0
    while True:
        before = len(removals)
        for i in order:
            cut = redundant(program, here[i], world) if i in here else None
            if cut is None:
                continue
            program = cut.program
            now = {was: at for at, was in enumerate(cut.origin)}
            here = {first: now[at] for first, at in here.items() if at in now}
            if i in here:  # a relation became `scene` or `find` there
                del here[i]
            removals.append(Removal((turn, keys[i]), program))
        if len(removals) == before:
            return Trimmed(question, tuple(removals))
        turn += 1


def at_level(found: Sequence[Trimmed], share: int) -> list[Question]:
    """All questions at one level, in order."""
    done = _done(found, share)
    return [_at(one, done.get(k, 0), share) for k, one in enumerate(found)]


def _done(found: Sequence[Trimmed], share: int) -> Mapping[int, int]:
    """How many of its removals each question has behind it at the level."""
    places = sorted((r.place, k) for k, one in enumerate(found) for r in one.removals)
    done: dict[int, int] = {}
    for _, k in places[: round(len(places) * share / 100)]:
        done[k] = done.get(k, 0) + 1
    return done


def _at(one: Trimmed, count: int, share: int) -> Question:
    base = one.question
    program = one.after(count)
    text = question_text(program)
    notes = tuple(n for n in base.notes if n[0] not in ("twin", "factor", "level"))
    named = (("factor", FACTOR), ("level", share), ("removed", count))
    if not share:
        return replace(base, text=text, notes=(*notes, *named))
    return replace(
        base, id=f"{base.id}_{share}", text=text, program=program, notes=(*notes, ("twin", base.id), *named)
    )


def removed(found: Iterable[Trimmed]) -> int:
    """How many operations of all questions are redundant."""
    return sum(len(one.removals) for one in found)
