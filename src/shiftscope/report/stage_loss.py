"""The stages in which a model's loss arises: of a drop, of a slice, or of all its wrong answers."""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from ..errors import UserError
from ..metrics.attribution import TOTAL, measure, measure_drop
from ..result import AS_IS, CONDITIONS, RunRecords, Score
from .drops import RunShift
from .measure import include_conditions, pool_runs, read_conditions
from .number_format import count_noun
from .runs import ReportRun
from .sections.worst_slices import WorstSlice, describe_slice

PRIOR = "language_prior"
STAGES = {  # as the attribution calls them → as a reader does
    "parsing": "reading the question",
    "perception": "seeing",
    "reasoning": "reasoning",
    "format": "answer format",
    PRIOR: "guessing without the image",
    "no_reply": "no response",
    "unexplained": "not told apart",
}
SENSELESS = ("blind", "other_image")  # conditions under which an answer can only be a guess
TELLING = ("scene_text", "program_text")  # conditions without which seeing, reading and reasoning are one
FEWEST_IN_SLICE = 10  # under several conditions, from which on a slice's own stage is told


@dataclass(frozen=True, slots=True)
class StageShare:
    """How many points of a loss arise in a stage."""

    stage: str  # in words
    points: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class StageLoss:
    """A loss divided by stages, the largest first."""

    base: str  # the test that the drop is from; nothing where the loss is all wrong answers
    test: str
    points: float
    n: int  # questions that were run under several conditions
    stages: tuple[StageShare, ...]
    lacking: tuple[str, ...] = ()  # conditions that would tell more
    prior: float | None = None  # points of answers that stay the same without the right image

    @property
    def main(self) -> StageShare | None:
        """The stage in which most of the loss arises; None where there is no loss, or it is not told apart."""
        first = self.stages[0] if self.stages and self.points > 0 else None
        return first if first and first.points > 0 and first.stage != STAGES["unexplained"] else None


def attribute_loss(
    worst: RunShift | None, found: WorstSlice | None, inside: Collection[str], runs: Sequence[ReportRun]
) -> StageLoss | None:
    """By stage: the drop of the factor that surely costs most; else the wrong answers of the worst slice; else all.

    `inside` names the questions of the slice.
    """
    if worst is not None and worst.base is not worst.shifted:
        pair = (worst.base, worst.shifted)
        if len(set.intersection(*map(_list_conditions, pair))) > 1:
            with suppress(UserError):  # no question was run as is
                base, shifted = map(read_conditions, pair)
                loss = _build_loss(
                    lambda only: measure_drop(_drop_contrasts(shifted, only), _drop_contrasts(base, only)),
                    *(worst.base.test, worst.shifted.test, pair),
                )
                if loss.main is not None:
                    return loss
    several = [run for run in runs if len(_list_conditions(run)) > 1]
    if not several:
        return None
    records = pool_runs([include_conditions(run) for run in several]).records
    tests = list(dict.fromkeys(run.test for run in several))
    where = ", ".join(tests) if len(tests) < 4 else count_noun(len(tests), "test")
    if found:
        there = np.array([*(name in inside for name in records.question.values), False], np.bool_)
        of_slice = records.take(there[records.question.codes])
        under = ~of_slice.condition.equals(AS_IS)
        if len(list_questions(of_slice.take(under))) >= FEWEST_IN_SLICE:
            records, where = of_slice, describe_slice(found)
    with suppress(UserError):
        return _build_loss(lambda only: measure(_drop_contrasts(records, only)), "", where, several)
    return None


def _drop_contrasts(records: RunRecords, only: Collection[str]) -> RunRecords:
    """The rows under these conditions."""
    return records.take(np.logical_or.reduce([records.condition.equals(c) for c in only]))


def _list_conditions(run: ReportRun) -> set[str]:
    return set(run.conditions) & set(CONDITIONS)


def _build_loss(
    measure_under: Callable[[Collection[str]], Iterable[Score]], base: str, test: str, runs: Sequence[ReportRun]
) -> StageLoss:
    """The loss by stages as measured under some of the conditions.

    That an answer stays the same without the right image often is chance, and does not say which stage went wrong: it
    is told beside the stages where these are known.
    """
    lacking = tuple(c for c in TELLING if any(c not in run.conditions for run in runs))
    by_stage = {str(dict(s.slice)["stage"]): s for s in measure_under(CONDITIONS)}
    prior = by_stage[PRIOR].value if any(c in run.conditions for c in SENSELESS for run in runs) else None
    if not lacking:
        by_stage = {str(dict(s.slice)["stage"]): s for s in measure_under((AS_IS, *TELLING))}
    total = by_stage.pop(TOTAL)
    shares = [StageShare(STAGES[name], s.value or 0.0, s.low, s.high) for name, s in by_stage.items() if s.value]
    ranked = sorted(shares, key=lambda s: -s.points)
    return StageLoss(base, test, total.value or 0.0, total.n, tuple(ranked), lacking, prior)


def list_questions(records: RunRecords) -> frozenset[str]:
    codes = np.unique(records.question.codes).tolist()
    return frozenset(records.question.values[code] for code in codes if code >= 0)
