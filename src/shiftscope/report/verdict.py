"""The verdict on a model: which factor costs it most and how surely, in which stage, and where it is weakest.

Pure data, from which the page, the terminal and JSON are made. Points are shares of 1: a drop of 0.12 is 12 points.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from math import isfinite
from statistics import NormalDist
from typing import Any

import numpy as np

from ..errors import UserError, unknown
from ..metrics.attribution import TOTAL, measure, measure_drop
from ..metrics.intervals import FEW_SCENES
from ..metrics.significance import POWER, PairedTest
from ..metrics.slices import has_response
from ..result import AS_IS, CONDITIONS, RunRecords, Score
from .drops import RunShift, find_runs_without_base, find_shifts, name_factor
from .measure import SIGNIFICANCE, correct_p_values, drop_variants, pool_runs, read_conditions
from .number_format import count_noun, format_p, format_percent, format_points
from .runs import ReportRun, ReportRuns
from .sections.reproduce import run_command
from .sections.worst_slices import WorstSlice, describe_slice, search_slices

MOST_SLICES = 3
TEST_FACTS = ("test", "factor", "level", "variant")  # a slice by these alone is a factor by another name
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


FEW_QUESTIONS = 30  # under several conditions: fewer name a stage with a caveat


@dataclass(frozen=True, slots=True)
class FactorDrop:
    """What one level of a factor costs, from its base."""

    factor: str  # in words
    base: str  # the test at the base
    to: str  # the test at the level
    drop: float  # accuracy at the base less that at the level
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None  # corrected for all drops of this model
    detectable: float | None  # the smallest drop that such a test shows in 4 of 5 cases; None where none would
    n: int  # pairs; questions at the level where unpaired
    scenes: int
    paired: bool
    base_accuracy: float | None
    accuracy: float | None
    seeds: int = 1
    unanswered: int = 0  # questions of the two runs that have no response, and count as wrong

    @property
    def is_sure(self) -> bool:
        """Whether the accuracy drops more than by chance."""
        return self.drop > 0 and self.p_holm is not None and self.p_holm < SIGNIFICANCE


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


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reader wants to know of a model first."""

    contender: str
    factors: tuple[FactorDrop, ...]  # those that are sure first, each group by drop
    stages: StageLoss | None
    commands: tuple[str, ...]  # that would tell the stages; none where they are told
    slices: tuple[WorstSlice, ...]  # at most three, worst first
    searched: int  # slices
    baseless: tuple[str, ...] = ()  # levels of factors that no run on their base stands beside

    @property
    def worst(self) -> FactorDrop | None:
        """The factor that costs most; None where none costs anything."""
        return self.factors[0] if self.factors and self.factors[0].drop > 0 else None

    def to_json(self) -> dict[str, Any]:
        data = asdict(self)
        for one, record in zip(self.slices, data["slices"], strict=True):
            record["words"] = describe_slice(one)
        return data | {"text": list(spell_verdict(self))}


def find_verdict(report: ReportRuns, contender: str) -> Verdict:
    """The verdict on a contender of the report; what its runs do not tell is empty."""
    if contender not in report.contenders:
        raise unknown("model", contender, report.contenders, "the report")
    shifts = _find_own_shifts(report, contender)
    drops = _measure_drops(shifts)
    ranked = sorted(drops, key=lambda k: (not drops[k].is_sure, -drops[k].drop, k))
    worst = shifts[ranked[0]] if ranked and drops[ranked[0]].drop > 0 else None
    runs = _list_runs(report, contender)
    stages = _attribute_loss(worst, bool(ranked) and drops[ranked[0]].is_sure, runs)
    search = search_slices(runs) if runs else None
    found = [one for one in search.slices if not {name for name, _ in one.facts} <= set(TEST_FACTS)] if search else []
    return Verdict(
        contender,
        tuple(drops[k] for k in ranked),
        stages,
        () if stages and not stages.lacking else tuple(_list_commands(worst, runs)),
        tuple(found[:MOST_SLICES]),
        search.searched if search else 0,
        tuple(
            f"{name_factor(run.factor, run)} ({run.test})"
            for run in find_runs_without_base(report)
            if run.contender == contender
        ),
    )


def _list_runs(report: ReportRuns, contender: str) -> tuple[ReportRun, ...]:
    own = drop_variants(report.select_in_domain()).select_contender(contender)
    return own or drop_variants(report).select_contender(contender)


def _find_own_shifts(report: ReportRuns, contender: str) -> list[RunShift]:
    """Where the model was trained on the base, or it is not known on what; variants within one run in any case."""
    own = [s for s in find_shifts(report) if s.base.contender == contender]
    return [s for s in own if s.base is s.shifted or (s.base.home and s.base.trained in ("", s.base.test))] or own


def _measure_drops(shifts: list[RunShift]) -> dict[int, FactorDrop]:
    measured = {k: shift.measure_drop() for k, shift in enumerate(shifts)}
    tests = {k: test for k, test in measured.items() if test and _keep_finite(test.drop) is not None}
    corrected = correct_p_values({k: test.p for k, test in tests.items()})
    return {k: _build_drop(shifts[k], test, corrected.get(k)) for k, test in tests.items()}


def _build_drop(shift: RunShift, test: PairedTest, p: float | None) -> FactorDrop:
    assert test.drop is not None
    unanswered = (~has_response(one.records) for run in {shift.base, shift.shifted} for one in run.each)
    return FactorDrop(
        factor=shift.title,
        base=shift.base.test,
        to=shift.to,
        drop=test.drop,
        low=_keep_finite(test.low),
        high=_keep_finite(test.high),
        p=_keep_finite(test.p),
        p_holm=_keep_finite(p),
        detectable=find_detectable_drop(test),
        n=test.n,
        scenes=test.scenes,
        paired=shift.twins is not None,
        base_accuracy=test.first,
        accuracy=None if test.first is None else test.first - test.drop,
        seeds=test.seeds,
        unanswered=sum(int(rows.sum()) for rows in unanswered),
    )


def _keep_finite(figure: float | None) -> float | None:
    return figure if figure is not None and isfinite(figure) else None


def find_detectable_drop(test: PairedTest, power: float = POWER) -> float | None:
    """The smallest drop that a test as precise as this one shows with this power, at 5% two-sided."""
    if test.drop is None or test.low is None or test.high is None or test.scenes < 2:
        return None
    normal = NormalDist()
    error = max(test.drop - test.low, test.high - test.drop) / normal.inv_cdf(0.975)
    least = error * (normal.inv_cdf(0.975) + normal.inv_cdf(power))
    return least if 0 < least < 1 else None


def _attribute_loss(worst: RunShift | None, sure: bool, runs: Iterable[ReportRun]) -> StageLoss | None:
    """The drop of the factor that surely costs most by stage; else all wrong answers under several conditions."""
    if worst is not None and sure and worst.base is not worst.shifted:
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
    tests = list(dict.fromkeys(run.test for run in several))
    whole = pool_runs([replace(run, records=read_conditions(run), seeds=()) for run in several])
    with suppress(UserError):
        named = ", ".join(tests) if len(tests) < 4 else count_noun(len(tests), "test")
        return _build_loss(lambda only: measure(_drop_contrasts(whole.records, only)), "", named, several)
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


def _list_commands(worst: RunShift | None, runs: Iterable[ReportRun]) -> Iterable[str]:
    """Runs of the same questions under all conditions, and the report of them."""
    pair = dict.fromkeys([worst.base, worst.shifted]) if worst is not None else dict.fromkeys(list(runs)[:1])
    places = []
    for run in pair:
        one = run.each[0]
        if not one.spec.get("data") or one.folder is None:
            return
        place = one.folder.with_name(f"{one.folder.name}-conditions")
        places.append(place)
        spec = dict(one.log.spec) | {"conditions": ["all"]}
        yield run_command(replace(one, log=replace(one.log, spec=tuple(spec.items())), folder=place))
    if places:
        yield f"shiftscope report {' '.join(map(str, places))} --out report.html"


def spell_verdict(verdict: Verdict) -> tuple[str, ...]:
    """The verdict in sentences, without the commands: on the factors, the stage and the slices."""
    return tuple(filter(None, (spell_factors(verdict), spell_stage(verdict), spell_slices(verdict))))


def spell_factors(verdict: Verdict) -> str:
    worst = verdict.worst
    if not verdict.factors:
        if verdict.baseless:
            return f"No factor was tested: there is no run on the base of {', '.join(verdict.baseless)}."
        return "No factor was tested: these runs hold no twins and no level of a factor beside its base."
    if worst is None:
        best = min((f.detectable for f in verdict.factors if f.detectable is not None), default=None)
        limit = f" Drops from {format_percent(best)} points up would have shown." if best is not None else ""
        shifts = "The one shift" if len(verdict.factors) == 1 else f"None of the {len(verdict.factors)} shifts"
        costs = "costs nothing" if len(verdict.factors) == 1 else "costs anything"
        return f"{shifts} that {verdict.contender} was tested on {costs}.{limit}"
    name = f"{worst.factor} ({worst.base} → {worst.to})"
    said = f"{name} costs {verdict.contender} most: {spell_drop(worst)}."
    if not worst.is_sure:
        said = f"No factor surely costs {verdict.contender} accuracy. The largest drop is {name}: {spell_drop(worst)}."
    if worst.unanswered:
        said += f" {count_noun(worst.unanswered, 'question')} of the two runs have no response, and count as wrong."
    if worst.scenes < FEW_SCENES:
        said += f" It rests on {count_noun(worst.scenes, 'scene')}, too few to tell much."
    larger = [f for f in verdict.factors[1:] if f.drop > worst.drop]
    if larger:
        listed = ", ".join(f"{f.factor} ({f.base} → {f.to}, {spell_drop(f)})" for f in larger)
        said += f" The drop is larger, but not sure, for {listed}."
    return said


def spell_drop(one: FactorDrop) -> str:
    """12.3 points (8.1 to 16.5; Holm-corrected p < 0.001; drops from 6.0 up would have shown)."""
    about = []
    if one.low is not None and one.high is not None:
        about.append(f"{format_percent(one.low)} to {format_percent(one.high)}")
    about.append("p not known" if one.p_holm is None else f"Holm-corrected {format_p(one.p_holm)}")
    if one.detectable is not None:
        about.append(f"drops from {format_percent(one.detectable)} up would have shown")
    paired = "pair" if one.paired else "unpaired question"
    about.append(count_noun(one.n, paired) + (f", {one.seeds} seeds" if one.seeds > 1 else ""))
    return f"{format_percent(one.drop)} points ({'; '.join(about)})"


def spell_stage(verdict: Verdict) -> str:
    loss = verdict.stages
    if loss is None:
        return "In which stage the loss arises is not known: the questions were run under one condition only."
    what = f"Of the drop from {loss.base} to {loss.test}" if loss.base else f"Of its wrong answers on {loss.test}"
    listed = ", ".join(f"{s.stage} {format_points(s.points)}" for s in loss.stages if abs(s.points) >= 0.0005)
    if loss.main is None:
        told = f" ({listed})" if listed else ""
        return f"{what}, {format_percent(loss.points)} points, no stage can be named{told}."
    arises = "most arises" if loss.base else "most arise"
    points = f"{format_percent(loss.main.points)} of {format_percent(loss.points)} points"
    said = f"{what}, {arises} in {loss.main.stage}: {points} ({listed}; {count_noun(loss.n, 'question')})."
    if loss.prior and loss.prior > 0 and not loss.lacking:
        said += f" {format_percent(loss.prior)} points are answers that stay the same without the right image."
    return f"{said} From so few questions this is a hint, no more." if loss.n < FEW_QUESTIONS else said


def spell_slices(verdict: Verdict) -> str:
    if not verdict.slices:
        return f"No slice of {verdict.searched:,} stands out more than by chance." if verdict.searched else ""
    listed = "; ".join(
        f"{describe_slice(one)} ({format_percent(one.inside)}%, elsewhere {format_percent(one.outside)}%)"
        for one in verdict.slices
    )
    return f"It is weakest on {listed}."


def list_judged(report: ReportRuns) -> list[str]:
    """The contenders that get a verdict: models, or reference points where there are no models."""
    home = report.select_in_domain()
    return [c for c in home.contenders if c not in home.references] or list(home.contenders)
