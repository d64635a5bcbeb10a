"""Shifts: what each factor costs, from its base to its other levels; paired where twins exist."""

from ...metrics.intervals import FEW_SCENES
from ...metrics.significance import PairedTest
from ..drops import RunShift, find_runs_without_base, find_shifts, load_factors, name_factor
from ..markup import Child, render_note
from ..measure import SIGNIFICANCE, correct_p_values
from ..number_format import DASH, format_count
from ..page import Section
from ..runs import ReportRuns
from ..score_table import WORSE, change_cell, render_model_name
from ..table import Row, Table, TableCell, TableHead, numeric

PLACES = {"report": 15}


def section(report: ReportRuns) -> Section | None:
    # Where the model was trained on the base, or it is not known on what.
    shifts = [s for s in find_shifts(report) if s.base.home and s.base.trained in ("", s.base.test)]
    drops = {(s.base.contender, *_row_key(s)): made for s in shifts if (made := s.measure_drop()) is not None}
    alone = find_runs_without_base(report)
    lost = dict.fromkeys((run.factor, "", run.test) for run in alone)
    home = report.select_in_domain()
    if not drops and not lost:
        return None
    estimates = {_row_key(s): "paired" if s.twins else "unpaired" for s in shifts}
    chances = correct_p_values({key: one.p for key, one in drops.items()})
    rows = [*dict.fromkeys(key[1:] for key in drops), *lost]
    names = [c for c in home.contenders if any(key[0] == c for key in drops)]
    heads = [
        TableHead("Factor"),
        TableHead("From → to"),
        TableHead("Estimate", title="paired: twin questions; unpaired: two accuracies"),
        *(numeric(render_model_name(report, c)) for c in names),
    ]
    factors = load_factors()
    titles = {s.factor: s.title for s in shifts} | {r.factor: name_factor(r.factor, r) for r in alone}
    listed: list[Row] = [
        [
            titles[row[0]],
            f"{row[1]} → {row[2]}" if row[1] else row[2],
            estimates[row] if row[1] else "no run on its base",
            *(_build_cell(drops.get((c, *row)), chances.get((c, *row))) for c in names),
        ]
        for row in rows
    ]
    lead = (
        "Change of accuracy in points, with 95% intervals. Twins (matched pairs) share everything but the one "
        "factor that was changed, so their drop is estimated pair by pair. Levels with questions of their own are "
        "compared unpaired, over the question types that both have, weighted as in the base."
    )
    note: list[Child] = [
        WORSE,
        f" significant at {SIGNIFICANCE:g}, Holm-corrected over the table: exchanging the answers to twins scene by "
        "scene; Student's t over scenes where unpaired.",
    ]
    absent = [f.title.lower() for name, f in factors.items() if name not in {row[0] for row in rows}]
    if absent and len(absent) < len(factors):
        note.append(f" Not among these runs: {', '.join(absent)}.")
    table = Table("Change from the base of a factor to its levels", heads, listed)
    return Section("Accuracy under shift", [table, render_note(note)], lead)


def _row_key(shift: RunShift) -> tuple[str, str, str]:
    return shift.factor, shift.base.test, shift.to


def _build_cell(one: PairedTest | None, p: float | None) -> TableCell:
    if one is None or one.drop is None:
        return TableCell(DASH, 0.0)
    about = f"{format_count(one.n)} questions of {format_count(one.scenes)} scenes"
    if one.only_first or one.only_second:
        about += f"; better in the base {format_count(one.only_first)}, in the twin {format_count(one.only_second)}"
    if one.scenes < FEW_SCENES:
        about += "; too few scenes to tell much"
    low, high = (None if end is None else -end for end in (one.high, one.low))
    return change_cell(-one.drop, low, high, p, about)
