"""Tables of scores: 84.2 ± 1.3 in a cell, a row per run, and models compared slice by slice."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from ..metrics.intervals import FEW_SCENES
from ..result import Score
from .chart.frame import draw_legend_mark
from .markup import NOTHING, Html, join_markup, render_legend, tag
from .measure import SIGNIFICANCE, compute_p_value, correct_p_values, cut_levels, measure_accuracy, pool_seeds
from .number_format import DASH, format_count, format_p, format_percent, format_points, format_spread
from .runs import ReportRun, ReportRuns, select_ranked
from .table import Row, Table, TableCell, TableHead, count_cell, numeric


def score_cell(
    score: Score | None, *, best: bool = False, p: float | None = None, behind: float | None = None
) -> TableCell:
    """A score as a cell; `p` and `behind` compare it with the best of its row."""
    if score is None or score.value is None:
        return TableCell(DASH, -1.0)
    value, low, high = (format_percent(v) for v in (score.value, score.low, score.high))
    about = f"{value} ({low} to {high}), n = {format_count(score.n)}" if score.n else value  # n = 0: reported elsewhere
    spread = tag("small", format_spread(score.value, score.low, score.high))
    caveats = [] if score.complete else [f"{format_percent(score.response_rate, 0)}% answered"]
    if has_few_scenes(score):
        caveats.append(f"too few scenes ({score.scenes})")
    small_print = [tag("small", caveat, class_="caveat") for caveat in caveats]
    return TableCell(
        join_markup([value, significance_mark(p, behind), spread, *small_print]),
        score.value,
        class_="best" if best else "",
        title=about + (f", {format_p(p)} against the best" if p is not None else ""),
    )


def change_cell(
    value: float | None, low: float | None, high: float | None, p: float | None, about: str = ""
) -> TableCell:
    """A difference in points as a cell, marked where it is significant."""
    if value is None:
        return TableCell(DASH, 0.0)
    spread = format_spread(value, low, high)
    if low is not None and high is not None and low * high > 0 and max(value - low, high - value) > abs(value):
        spread = f"{format_points(low)} to {format_points(high)}"  # ± would hide on which side of 0 it lies
    mark = significance_mark(p, value if p is not None else None)
    return TableCell(
        join_markup([format_points(value), mark, tag("small", spread)]),
        value,
        title="; ".join(filter(None, (about, format_p(p) if p is not None else ""))),
    )


def p_cell(p: float | None) -> TableCell:
    """A p-value under a heading that says so; one that is not known sorts last."""
    return TableCell(DASH, 2.0) if p is None else TableCell(format_p(p).removeprefix("p ").removeprefix("= "), p)


def significance_mark(p: float | None, behind: float | None) -> Html:
    """▼ for significantly lower, ▲ for higher; room for one is kept wherever something is compared."""
    if behind is None:
        return NOTHING
    if p is None or not behind or p >= SIGNIFICANCE:
        return tag("span", class_="mark-none")
    look, sign, word = ("worse", "▼", "lower") if behind < 0 else ("better", "▲", "higher")
    return tag("span", sign, class_=f"mark-{look}", title=f"significantly {word}", aria_label=f"significantly {word}")


WORSE = tag("span", "▼", class_="mark-worse")  # in keys


def has_few_scenes(score: Score) -> bool:
    """Whether an interval rests on so few scenes that it says little."""
    return score.low is not None and score.scenes is not None and score.scenes < FEW_SCENES


LONG_NAME = 30  # letters that a column of names has room for


def render_model_name(report: ReportRuns, contender: str) -> Html:
    """A contender's name after its mark; another name stands alone."""
    sign = draw_legend_mark(report.series_of(contender)) if contender in report.contenders else None
    return tag("span", sign, contender, class_="name", title=contender if len(contender) > LONG_NAME else None)


def render_model_legend(report: ReportRuns, shown: Iterable[str]) -> Html:
    return render_legend(render_model_name(report, name) for name in shown)


def model_cell(report: ReportRuns, contender: str) -> TableCell:
    return TableCell(render_model_name(report, contender), contender)


def build_run_table(
    report: ReportRuns,
    title: str,
    runs: Iterable[ReportRun],
    columns: Sequence[TableHead],
    cells: Callable[[ReportRun], Sequence[TableCell]],
) -> Table:
    """One row per run: its model, its test where there are several, and the cells of these columns."""
    several = len(report.tests) > 1
    heads = [TableHead("Model"), *([TableHead("Test")] if several else []), *columns]
    rows: list[Row] = [[model_cell(report, r.contender), *([r.test] if several else []), *cells(r)] for r in runs]
    return Table(title, heads, rows)


def sort_runs(report: ReportRuns, runs: Iterable[ReportRun]) -> list[ReportRun]:
    """By contender, then by test, each in the order of the report."""
    return sorted(runs, key=lambda r: (report.contenders.index(r.contender), report.tests.index(r.test)))


MOST_ACROSS = 8  # contenders side by side; more of them stand below each other
MOST_PARTS = 30

ComparisonKey = tuple[str, str]  # contender, and test, kind or template


def find_best(report: ReportRuns, scores: Mapping[str, Score]) -> str | None:
    """The contender to beat among those that are ranked, which lack no response; of equals, the first."""
    pool = dict.fromkeys(r.contender for r in select_ranked(report.runs))
    known = [
        (v, -report.series_of(c), c)
        for c in pool
        if c in scores and (v := scores[c].value) is not None and scores[c].complete
    ]
    return max(known)[2] if known else None


def compare_by_fact(whole: ReportRuns, fact: str, caption: str, noun: str, counted: bool = False) -> Table | None:
    """Accuracy by the values of a fact, over the tests that all contenders ran; None where it is not known.

    Over tests that only some ran, contenders would be compared on different questions.
    """
    report = select_common_tests(whole)
    if report is None:
        return None
    scores: dict[ComparisonKey, Score] = {}
    parts: dict[ComparisonKey, ReportRun] = {}
    for contender in report.contenders:
        run = pool_seeds(report.select_contender(contender))
        sliced: dict[str, list[ReportRun]] = {}  # one per seed
        for one in run.each:
            column = dict(one.records.facts).get(fact)
            if column is None:
                return None
            cut = cut_levels(column)
            for k, name in enumerate(cut.names):
                part = replace(one, records=one.records.take(cut.codes == k), seeds=())
                sliced.setdefault(name, []).append(part)
        for name, each in sliced.items():
            parts[contender, name] = replace(each[0], seeds=tuple(each) if len(each) > 1 else ())
            scores[contender, name] = measure_accuracy(parts[contender, name])
    names = sorted({name for _, name in scores})
    if not 2 <= len(names) <= MOST_PARTS:
        return None
    return build_comparison(report, caption, noun, names, scores, parts, counted)


def select_common_tests(report: ReportRuns) -> ReportRuns | None:
    """The runs on tests that all contenders ran; None where there are none."""
    tests = [{r.test for r in report.select_contender(c)} for c in report.contenders]
    shared = set.intersection(*tests) if tests else set()
    return ReportRuns(tuple(r for r in report.runs if r.test in shared)) if shared else None


def build_comparison(
    report: ReportRuns,
    title: str,
    noun: str,
    slices: Sequence[str],
    scores: Mapping[ComparisonKey, Score],
    runs: Mapping[ComparisonKey, ReportRun],
    counted: bool = False,
) -> Table:
    """Contenders against slices, each compared with the best of its slice; Holm over the whole table.

    `counted` adds how many questions a slice has, where slices are rows.
    """
    tops = {s: find_best(report, {c: scores[c, s] for c in report.contenders if (c, s) in scores}) for s in slices}
    ranked = {r.contender for r in select_ranked(report.runs)}
    chances = correct_p_values(
        {
            (c, s): compute_p_value(run, runs[top, s])
            for (c, s), run in runs.items()
            if (top := tops[s]) is not None and c != top and c in ranked and scores[c, s].complete
        }
    )

    def build_cell(contender: str, one: str) -> TableCell:
        score, top = scores.get((contender, one)), scores.get((tops[one] or "", one))
        behind = None
        if score and top and score.value is not None and top.value is not None:
            behind = score.value - top.value
        return score_cell(score, best=contender == tops[one], p=chances.get((contender, one)), behind=behind)

    if len(report.contenders) > MOST_ACROSS:
        wide = [[model_cell(report, c), *(build_cell(c, s) for s in slices)] for c in report.contenders]
        return Table(title, [TableHead("Model"), *map(numeric, slices)], wide)
    heads = [TableHead(noun), *(numeric(render_model_name(report, c)) for c in report.contenders)]
    rows: list[list[TableCell | str]] = [[s, *(build_cell(c, s) for c in report.contenders)] for s in slices]
    if counted:
        heads.append(numeric("Questions"))
        for row, name in zip(rows, slices, strict=True):
            row.append(count_cell(max(score.n for (_, s), score in scores.items() if s == name)))
    return Table(title, heads, rows)
