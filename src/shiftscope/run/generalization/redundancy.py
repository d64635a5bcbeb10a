"""Redundancy: GQA questions with ever fewer of the operations that they could do without.

After Li et al. (2023), section 5.3 and Table 3. An operation is redundant if without it the question refers
to the same things and has the same answer. Of all redundant operations of all questions a growing share is
removed, in one seeded order, and every question is worded again from what is left of its program, also at 0%,
so that the words of all levels come from one hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import UserError
from ...graph.gqa.levels import SHARES, Trimmed, at_level, removed, trimmed
from ...graph.gqa.words import sayable
from ...lang.dialects import gqa
from ...lang.program import ProgramError
from ...question import Question
from ._frame import Exam, Findings, Line, Material, Plan, Taken, listed, told
from ._paired import original, paired

APPLIES = "it needs questions about one image with programs in GQA's manner, and scene graphs to run them on"
EXAM = "redundancy"
UNPROGRAMMED = "no program, or several images"
NOT_ITS_ANSWER = "the program does not give the stored answer"
NOT_GQA = "the program is none of GQA's"
CLOSED = "scenes of a closed vocabulary, whose levels of redundancy are rd-, rd and rd+"
UNSAYABLE = "we have no words for the program"
FIGURES = {"contrast_accuracy": "accuracy", "contrast_drop": "drop"}


@dataclass(frozen=True, slots=True)
class Options:
    """Percents of the redundant operations that are removed, 0 first; `seed` draws their order."""

    shares: tuple[int, ...] = SHARES
    seed: int = 0

    def __post_init__(self) -> None:
        if not set(self.shares) <= set(range(101)):
            raise UserError("shares are whole percents from 0 to 100")
        object.__setattr__(self, "shares", tuple(sorted({0, *self.shares})))

    def words(self) -> dict[str, Any]:
        """As options of the command line."""
        return {"shares": ",".join(map(str, self.shares)), "draw": self.seed}


def plan(data: Material, options: Options) -> Plan:
    """The questions at each level, those of one level after those of the one before."""
    if not data.is_dataset:
        return Plan(why_not=f"redundancy does not apply to {data.folder}, an audit: {APPLIES}")
    found: list[Trimmed] = []
    why: Counter[str] = Counter()
    considered = 0
    for question in data.questions():
        if data.limit is not None and len(found) >= data.limit:
            break
        considered += 1
        reason = _unfit(question, data)
        if reason:
            why[reason] += 1
        else:
            found.append(trimmed(question, data.world(question.scenes), options.seed))
    left_out = listed(why)
    if not removed(found):
        reasons = told(left_out) or "nothing is redundant in them"
        sentence = f"redundancy does not apply to {data.folder}: {APPLIES} ({reasons})"
        return Plan((), considered, left_out, sentence)
    asked = tuple(q for share in options.shares for q in at_level(found, share))
    return Plan((Exam(EXAM, data.folder, asked),), considered, left_out)


def _unfit(question: Question, data: Material) -> str:
    """Why a question is left out; empty where it is not."""
    program = question.program
    if program is None or question.answer is None or len(question.scenes) != 1:
        return UNPROGRAMMED
    if data.world(question.scenes).scenes[0].schema.closed:
        return CLOSED
    try:
        gqa.write(program)
    except ProgramError:
        return NOT_GQA
    if not data.holds(question):
        return NOT_ITS_ANSWER
    return "" if sayable(program) else UNSAYABLE


def findings(plan: Plan, taken: Mapping[str, Taken], options: Options) -> Findings:
    """Accuracy at each level and its drop from level 0, paired; how long the questions are."""
    run = taken[EXAM]
    questions = run.exam.questions or ()
    lines = []
    for share in options.shares:
        level = [q for q in questions if q.note("level") == share]
        twins = {q.id: str(q.note("twin")) for q in level}
        if share:
            scores = paired(run.log.records, twins, FIGURES)
        else:
            scores = (original(run.log.records, set(twins)),)
        lines.append(Line((("removed", f"{share}%"), *_size(level)), scores))
    return Findings(tuple(lines))


def _size(level: list[Question]) -> tuple[tuple[str, str], ...]:
    """How long the questions of a level are, and how many operations are gone from all of them."""
    words = sum(len(q.text.split()) for q in level) / len(level)
    steps = sum(len(gqa.write(q.program)) for q in level if q.program) / len(level)
    gone = sum(q.note("removed") for q in level)
    return ("operations removed", f"{gone:,}"), ("words", f"{words:.2f}"), ("steps", f"{steps:.2f}")
