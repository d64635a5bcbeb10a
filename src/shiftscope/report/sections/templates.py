"""Templates: accuracy on the questions of each template, with reference points beside the models."""

from collections.abc import Sequence

from ...result import Score
from ...suites import find_reported
from ..markup import Html, render_charts, render_details, render_note
from ..measure import spell_fact
from ..page import Section
from ..runs import ReportRuns
from ..score_table import MOST_PARTS, compare_by_fact, render_model_legend, score_cell
from ..table import Row, Table, TableHead, numeric
from .curves import cut_runs, draw_curve, pool_contenders

PLACES = {"report": 22}
FACT = "template"
TABLE = "template_accuracy"


def section(report: ReportRuns) -> Section | None:
    compared = pool_contenders(report)
    if compared is None:
        return None
    report, runs, note = compared
    cut = cut_runs(runs, FACT)
    if cut is None or not 2 <= len(cut[0].names) <= MOST_PARTS:
        return None
    lead = (
        "The questions that one template made, with 95% intervals; a template that is no better than what "
        f"the question alone gives away was not answered by looking.{note}"
    )
    parts = [
        render_model_legend(report, report.contenders),
        render_charts([draw_curve(report, runs, FACT, "Template", "", cut)], "charts"),
        compare_by_fact(report, FACT, "Accuracy by template", "Template", counted=True),
        _build_reported_table(cut[0].names),
    ]
    return Section("Accuracy by template", parts, lead)


def _build_reported_table(names: Sequence[str]) -> Html | None:
    """What a paper reports of these templates; nothing where they are not its own."""
    reported = find_reported(TABLE)
    figures = reported.tables.get(TABLE, {})
    known = {spell_fact(template): template for _, template, _ in figures}
    if not set(names) <= known.keys():
        return None
    columns = dict.fromkeys((model, wording) for model, _, wording in figures)
    heads = [TableHead("Template")]
    heads += [numeric(", ".join(filter(None, column))) for column in columns]
    rows: list[Row] = [
        [name, *(score_cell(Score("", figures[model, known[name], wording], 0)) for model, wording in columns)]
        for name in names
    ]
    table = Table("Reported accuracy by template", heads, rows)
    note = render_note(f"R{reported.source[1:]}, {reported.notes.get(TABLE, '')}")
    return render_details("What the paper reports", note, table)
