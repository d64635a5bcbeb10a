"""Verdict: for each model the factor that costs it most, how surely, in which stage, and its worst slices."""

from collections.abc import Iterator

from ...result import Score
from ..chart.bars import Dumbbell, draw_dumbbells
from ..chart.frame import draw_legend_mark
from ..markup import Child, Html, render_details, render_figure, render_legend, render_note, tag
from ..measure import SIGNIFICANCE
from ..number_format import DASH, count_noun, format_percent, format_points, format_spread
from ..page import Section
from ..runs import ReportRuns
from ..score_table import WORSE, p_cell, render_model_name
from ..table import Table, TableCell, TableHead, count_cell, numeric
from ..verdict import FactorDrop, Verdict, find_verdict, list_judged, spell_verdict

PLACES = {"report": 1}
ENDS = ("at the base", "shifted")
FIGURES = 130.0  # pixels for the drops at the right of the chart
LABELS = 350.0


def section(report: ReportRuns) -> Section | None:
    verdicts = [find_verdict(report, contender) for contender in list_judged(report)]
    told = [one for one in verdicts if one.factors or one.stages or one.searched]
    if not told:
        return None
    lead = (
        "What each factor costs the model, from the base of the factor to its other levels, largest sure drop first; "
        "then the stage in which the loss arises and the slices where it is weakest. Intervals are 95%, over scenes."
    )
    return Section("Verdict", [part for one in told for part in _build_block(report, one)], lead)


def _build_block(report: ReportRuns, verdict: Verdict) -> Iterator[Child]:
    yield tag("h3", render_model_name(report, verdict.contender))
    for sentence in spell_verdict(verdict):
        first, points, rest = sentence.partition(" points (")
        told = [tag("b", f"{first} points"), f" ({rest}"] if points and verdict.worst else sentence
        yield tag("p", told, class_="verdict")
    if verdict.commands:
        commands = tag("pre", "\n".join(verdict.commands), class_="commands", tabindex="0")
        yield render_details("The commands that would tell the stages apart", commands)
    if verdict.factors:
        yield _draw_factors(verdict)
        yield _build_table(verdict)


def name_shift(one: FactorDrop) -> str:
    return f"{one.factor}: {one.base} → {one.to}"


def _draw_factors(verdict: Verdict) -> Html:
    rows = [
        Dumbbell(
            name_shift(one),
            Score("accuracy", one.base_accuracy, one.n),
            _build_end(one),
            f"{format_points(-one.drop)} {_format_spread(one)}".rstrip(),
        )
        for one in verdict.factors
    ]
    label = f"Accuracy of {verdict.contender} at the base and under each shift"
    chart = draw_dumbbells(label, rows, ends=ENDS, gap="points", width=840, left=LABELS, right=FIGURES)
    legend = render_legend([draw_legend_mark(k), name] for k, name in enumerate(ENDS))
    return render_figure(
        f"What shifts cost {verdict.contender}", ", accuracy in per cent", legend, chart, look="factors"
    )


def _build_end(one: FactorDrop) -> Score:
    """The accuracy under the shift, with the interval of the drop."""
    base, ends = one.base_accuracy, (one.high, one.low)
    low, high = (None if base is None or end is None else min(max(base - end, 0.0), 1.0) for end in ends)
    return Score("accuracy", one.accuracy, one.n, low, high)


def _format_spread(one: FactorDrop) -> str:
    low, high = (None if end is None else -end for end in (one.high, one.low))
    return format_spread(-one.drop, low, high)


def _build_table(verdict: Verdict) -> Table:
    heads = [
        TableHead("Factor"),
        TableHead("From → to"),
        numeric("Points", "change of accuracy"),
        numeric("95% interval"),
        numeric("p (Holm)", f"corrected for {count_noun(len(verdict.factors), 'shift')}"),
        numeric("Detectable", "the smallest drop that would be sure, after correction, in four of five such tests"),
        numeric("Pairs", "of questions; questions where levels have their own"),
        numeric("Scenes"),
    ]
    rows = [
        [
            TableCell(one.factor),
            TableCell(f"{one.base} → {one.to}"),
            TableCell([format_points(-one.drop), WORSE if one.is_sure else tag("span", class_="mark-none")], -one.drop),
            TableCell(_format_ends(one), -one.drop),
            p_cell(one.p_holm),
            TableCell(format_percent(one.detectable), one.detectable),
            count_cell(one.n),
            count_cell(one.scenes),
        ]
        for one in verdict.factors
    ]
    note = render_note(WORSE, f" significant at {SIGNIFICANCE:g} after Holm's correction.")
    return Table(f"What shifts cost {verdict.contender}", heads, rows, note)


def _format_ends(one: FactorDrop) -> str:
    if one.low is None or one.high is None:
        return DASH
    return f"{format_points(-one.high)} to {format_points(-one.low)}"
