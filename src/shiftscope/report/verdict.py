"""The verdict on a model: which factor costs it most and how surely, in which stage, and where it is weakest.

Pure data, from which the page, the terminal and JSON are made. Points are shares of 1: a drop of 0.12 is 12 points.
"""

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, replace
from math import isfinite
from statistics import NormalDist
from typing import Any

from ..errors import unknown
from ..metrics.intervals import FEW_SCENES
from ..metrics.significance import POWER, PairedTest
from ..metrics.slices import has_response
from .drops import RunShift, find_runs_without_base, find_shifts, match_twins, name_factor
from .measure import SIGNIFICANCE, correct_p_values, drop_variants, keep_questions, list_own_questions, pool_runs
from .number_format import count_noun, format_p, format_percent, format_points
from .runs import ReportRun, ReportRuns
from .sections.reproduce import run_command
from .sections.worst_slices import SliceSearch, WorstSlice, describe_slice, search_slices
from .stage_loss import StageLoss, attribute_loss, list_questions

MOST_SLICES = 3
TEST_FACTS = ("test", "factor", "level", "variant")  # a slice by these alone is a factor by another name
FEW_QUESTIONS, FEW_WRONG = 30, 10  # under several conditions: fewer name a stage with a caveat
EXPLAINED = 0.5  # of a drop: where less is left outside of a slice, the slice explains it


@dataclass(frozen=True, slots=True)
class ControlledDrop:
    """A drop over the pairs that are in the worst slice on both sides or on neither; of unpaired questions, outside."""

    drop: float
    low: float | None
    high: float | None
    n: int


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
    detectable: float | None  # the smallest drop that would be sure in 4 of 5 such tests; None where none would
    n: int  # pairs; questions at the level where unpaired
    scenes: int
    paired: bool
    base_accuracy: float | None
    accuracy: float | None
    seeds: int = 1
    unanswered: int = 0  # questions of the two runs that have no response, and count as wrong
    controlled: ControlledDrop | None = None  # for the worst slice, where it is sure and there is one

    @property
    def is_explained(self) -> bool:
        """Whether the drop is there because the shift has more of the worst slice: else little of it is left."""
        left = self.controlled
        return left is not None and left.drop < EXPLAINED * self.drop and (left.low is None or left.low <= 0)

    @property
    def is_sure(self) -> bool:
        """Whether the accuracy drops more than by chance."""
        return self.drop > 0 and self.p_holm is not None and self.p_holm < SIGNIFICANCE


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
    runs = _list_runs(report, contender)
    search = search_slices(runs) if runs else SliceSearch((), 0)
    pairs = zip(search.slices, search.rows, strict=True)
    found = [pair for pair in pairs if not {name for name, _ in pair[0].facts} <= set(TEST_FACTS)]
    inside = list_questions(pool_runs(runs).records.take(found[0][1])) if found else frozenset()
    shifts = _find_own_shifts(report, contender)
    drops = _measure_drops(shifts)
    drops |= {k: replace(one, controlled=_control_drop(shifts[k], inside)) for k, one in drops.items() if one.is_sure}
    ranked = sorted(drops, key=lambda k: (not drops[k].is_sure, -drops[k].drop, k))
    worst = shifts[ranked[0]] if ranked and drops[ranked[0]].drop > 0 else None
    alone = worst if ranked and drops[ranked[0]].is_sure and not drops[ranked[0]].is_explained else None
    stages = attribute_loss(alone, found[0][0] if found else None, inside, runs)
    return Verdict(
        contender,
        tuple(drops[k] for k in ranked),
        stages,
        () if stages and not stages.lacking else tuple(_list_commands(worst, runs)),
        tuple(one for one, _ in found[:MOST_SLICES]),
        search.searched,
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
    return {k: _build_drop(shifts[k], test, corrected.get(k), len(tests)) for k, test in tests.items()}


def _build_drop(shift: RunShift, test: PairedTest, p: float | None, tests: int) -> FactorDrop:
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
        detectable=find_detectable_drop(test, tests),
        n=test.n,
        scenes=test.scenes,
        paired=shift.twins is not None,
        base_accuracy=test.first,
        accuracy=None if test.first is None else test.first - test.drop,
        seeds=test.seeds,
        unanswered=sum(int(rows.sum()) for rows in unanswered),
    )


def _control_drop(shift: RunShift, inside: Collection[str]) -> ControlledDrop | None:
    """The drop that does not come from having more of these questions; None where too few pairs are left to tell."""
    base, shifted = shift.base, shift.shifted
    if not inside or base is shifted:
        return None
    of_base, of_shifted = (list_own_questions(run, inside) for run in (base, shifted))
    twins = None
    if shift.twins:
        rows = shifted.each[0].records
        pairs = zip(rows.question.to_list(), rows.twin.to_list(), strict=True)
        shifted = keep_questions(shifted, {q for q, twin in pairs if (q in of_shifted) == (twin in of_base)})
        twins = match_twins(base, shifted)
        if twins is None:
            return None
    else:
        base = keep_questions(base, {*base.records.question.values} - of_base)
        shifted = keep_questions(shifted, {*shifted.records.question.values} - of_shifted)
    test = RunShift(shift.factor, base, shifted, twins).measure_drop()
    if test is None or test.drop is None or test.n < FEW_QUESTIONS:
        return None
    return ControlledDrop(test.drop, _keep_finite(test.low), _keep_finite(test.high), test.n)


def _keep_finite(figure: float | None) -> float | None:
    return figure if figure is not None and isfinite(figure) else None


def find_detectable_drop(test: PairedTest, tests: int = 1, power: float = POWER) -> float | None:
    """The smallest drop that such a test shows with this power, at 5% two-sided over all tests: Holm's first step."""
    if test.drop is None or test.low is None or test.high is None or test.scenes < 2:
        return None
    normal = NormalDist()
    error = max(test.drop - test.low, test.high - test.drop) / normal.inv_cdf(0.975)
    least = error * (normal.inv_cdf(1 - SIGNIFICANCE / 2 / tests) + normal.inv_cdf(power))
    return least if 0 < least < 1 else None


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
    for one in verdict.factors:
        if one.is_explained and one.controlled:
            left = spell_interval(one.controlled.drop, one.controlled.low, one.controlled.high)
            of = "The drop"
            of += (
                "" if one is worst else f" of {one.factor} ({one.base} → {one.to}), {format_percent(one.drop)} points,"
            )
            beside = f"{one.controlled.n:,} {'pairs that are alike in this' if one.paired else 'others'}"
            said += f" {of} comes from {describe_slice(verdict.slices[0])}: over the {beside}, it is {left}."
    larger = [f for f in verdict.factors[1:] if f.drop > worst.drop]
    if larger:
        listed = ", ".join(f"{f.factor} ({f.base} → {f.to}, {spell_drop(f)})" for f in larger)
        said += f" The drop is larger, but not sure, for {listed}."
    return said


def spell_interval(points: float, low: float | None, high: float | None) -> str:
    """0.5 points (−1.0 to 2.1)."""
    ends = "" if low is None or high is None else f" ({format_percent(low)} to {format_percent(high)})"
    return f"{format_percent(points)} points{ends}"


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
    over = f"{count_noun(loss.n, 'question')} under all conditions"
    said = f"{what}, {arises} in {loss.main.stage}: {points} ({listed}; {over})."
    if loss.prior and loss.prior > 0 and not loss.lacking:
        said += f" {format_percent(loss.prior)} points are answers that stay the same without the right image."
    few = "questions" if loss.n < FEW_QUESTIONS else "wrong answers" if loss.n * loss.points < FEW_WRONG else ""
    return f"{said} From so few {few} this is a hint, no more." if few else said


def spell_slices(verdict: Verdict) -> str:
    if not verdict.slices:
        further = "further " if verdict.worst and verdict.worst.is_sure else ""  # a factor is a slice by another name
        return f"No {further}slice of {verdict.searched:,} stands out more than by chance." if verdict.searched else ""
    listed = "; ".join(
        f"{describe_slice(one)} ({format_percent(one.inside)}%, elsewhere {format_percent(one.outside)}%)"
        for one in verdict.slices
    )
    return f"It is weakest on {listed}."


def list_judged(report: ReportRuns) -> list[str]:
    """The contenders that get a verdict: models, or reference points where there are no models."""
    home = report.select_in_domain()
    return [c for c in home.contenders if c not in home.references] or list(home.contenders)
