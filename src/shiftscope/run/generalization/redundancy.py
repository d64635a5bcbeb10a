"""Redundancy: GQA questions with ever fewer of the operations that they could do without.

After Li et al. (2023), section 5.3 and Table 3. An operation is redundant if without it the question refers
to the same things and has the same answer. Of all redundant operations of all questions a growing share is
removed, in one seeded order, and every question is worded again from what is left of its program, also at 0%,
so that the words of all levels come from one hand.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from ...errors import UserError
from ...lang.notations import gqa
from ...lang.program import ProgramError
from ...question import Question
from ...questions.gqa.redundancy import LEVELS, TrimmedQuestion, build_level, count_removals, trim_question
from ...questions.gqa.wording import is_sayable
from ...suites import find_reported
from .. import generalization as frame

APPLIES = "it needs questions about one image with programs in GQA's manner, and scene graphs to run them on"
NAME = "redundancy"
NO_PROGRAM = "no program, or several images"
NOT_GQA = "the program is none of GQA's"
CLOSED = "scenes of a closed vocabulary, whose levels of redundancy are rd-, rd and rd+"
UNSAYABLE = "we have no words for the program"
FIGURES = {"contrast_accuracy": "accuracy", "contrast_drop": "drop"}


@dataclass(frozen=True, slots=True)
class RedundancyOptions(frame.GeneralizationOptions):
    """Percents of the redundant operations that are removed, 0 first; `seed` draws their order."""

    shares: tuple[int, ...] = frame.option(LEVELS, "Percents of the redundant operations that are removed.")
    seed: int = frame.draw_option()

    def __post_init__(self) -> None:
        if not set(self.shares) <= set(range(101)):
            raise UserError("shares are whole percents from 0 to 100")
        object.__setattr__(self, "shares", tuple(sorted({0, *self.shares})))


def plan(data: frame.SourceSplit, options: RedundancyOptions) -> frame.GeneralizationPlan:
    """The questions at each level, those of one level after those of the one before."""

    taken: dict[Any, set[str]] = {}  # by picture, of which a scene may be a region

    def build(question: Question, why: Counter[str]) -> list[TrimmedQuestion]:
        if reason := _explain_exclusion(question, data):
            why[reason] += 1
            return []
        world = data.world(question.scenes)
        picture = world.scenes[0].note("image_id") or world.scenes[0].id
        return [trim_question(question, world, options.seed, taken.setdefault(picture, set()))]

    trimmed, plan = frame.collect_questions(NAME, APPLIES, data, build)
    if not count_removals(trimmed):
        reasons = frame.format_reasons(plan.left_out) or "nothing is redundant in them"
        return replace(plan, why_not=plan.why_not or f"{NAME} does not apply to {data.folder}: {APPLIES} ({reasons})")
    questions = tuple(q for share in options.shares for q in build_level(trimmed, share))
    return replace(plan, test_sets=(frame.GeneralizationTestSet(NAME, data.folder, questions),))


def _explain_exclusion(question: Question, data: frame.SourceSplit) -> str:
    """Why a question is left out; empty where it is not."""
    program = question.program
    if program is None or question.answer is None or len(question.scenes) != 1:
        return NO_PROGRAM
    if data.world(question.scenes).scenes[0].schema.closed:
        return CLOSED
    try:
        gqa.write(program)
    except ProgramError:
        return NOT_GQA
    if not data.is_answer_right(question):
        return frame.WRONG_ANSWER
    return "" if is_sayable(program) else UNSAYABLE


def findings(plan: frame.GeneralizationPlan, runs: frame.TestRuns, options: RedundancyOptions) -> frame.Findings:
    """Accuracy at each level and its drop from level 0, paired; how long the questions are."""
    run = runs[NAME]
    questions = run.test_set.questions or ()
    lines = []
    for share in options.shares:
        level = [q for q in questions if q.note("level") == share]
        twins = {q.id: str(q.note("twin")) for q in level}
        of = (
            ("removed", f"{share}%"),
            ("operations removed", f"{sum(q.note('removed') for q in level):,}"),
            ("words", f"{sum(len(q.text.split()) for q in level) / len(level):.2f}"),
            ("steps", f"{sum(len(gqa.write(q.program)) for q in level if q.program) / len(level):.2f}"),
        )
        if share:
            scores = frame.measure_pairs(run.log.records, twins, FIGURES)
        else:
            scores = (frame.measure_originals(run.log.records, set(twins)),)
        lines.append(frame.FindingsRow(of, scores))
    return frame.Findings(tuple(lines))


def list_reported() -> tuple[list[str], list[tuple[Any, ...]], str]:
    """The figures of the paper, as a table: column names, rows, title."""
    figures = find_reported(NAME)
    changes, base = figures.tables[NAME], figures.tables[f"{NAME}, base"]
    shares = sorted({share for _, share in changes if share})
    rows = [
        (model, round(100 * base[model,], 2), *(f"{100 * changes[model, share]:+.2f}" for share in shares))
        for model in figures.models
    ]
    heads = ["model", "accuracy %", *(f"{share}%" for share in shares)]
    return heads, rows, f"change of accuracy in points on GQA testdev, {figures.source}"


OPTIONS = RedundancyOptions
