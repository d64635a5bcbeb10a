"""Shortcuts: accuracy on an audit's IID test and on the out-of-distribution set of each shortcut (VQA-VS)."""

from ...errors import UserError
from ...metrics.shortcut_gap import measure
from ...result import Score
from ...run.question_source import VqaFiles
from ...shortcuts.audit_folder import add_marks, identify_audit, is_audit
from ...shortcuts.concepts import SHORTCUTS
from ...url_path import parse_path
from ..page import Section
from ..runs import ReportRun, ReportRuns
from ..score_table import build_run_table, score_cell
from ..table import numeric

PLACES = {"report": 17}
COLUMNS = {"iid": "IID test", **{s: s for s in SHORTCUTS}, "mean_ood": "Mean OOD", "mean_gap": "Gap"}


def section(report: ReportRuns) -> Section | None:
    measured = {run: scores for run in report.select_in_domain().runs if (scores := _measure_sets(run))}
    if not measured:
        return None
    shown = [key for key in COLUMNS if any(key in scores for scores in measured.values())]
    forms = ", ".join(dict.fromkeys(scores["iid"].form for scores in measured.values()))
    table = build_run_table(
        report,
        f"{forms} on the IID test and the OOD sets",
        measured,
        [numeric(COLUMNS[key]) for key in shown],
        lambda run: [score_cell(measured[run].get(key)) for key in shown],
    )
    lead = (
        f"{forms}, in per cent, with 95% intervals. Each out-of-distribution set holds the questions of the "
        "IID test whose answer is rare for the shortcut it is named after; the gap is the IID test less the "
        "mean over the sets. VQA-VS scores by thirds, which is not the form of the results above."
    )
    if len({identify_audit(parse_path(str(run.spec["data"]))).reading for run in measured}) > 1:
        lead += " These runs are of audits that read keywords in different ways: compare no set with KW between them."
    return Section("Shortcuts", [table], lead)


def _measure_sets(run: ReportRun) -> dict[str, Score]:
    """By set; nothing where the run is not about an audit, or that is no longer as it was."""
    folder = parse_path(str(run.spec.get("data") or ""))
    if not is_audit(folder) or VqaFiles(folder).data_id() != run.spec.get("data_id"):
        return {}
    try:
        scores = measure(add_marks(run.records, folder))
    except UserError:  # it was made anew, of other questions
        return {}
    whole = [s for s in scores if "split" not in dict(s.slice)]
    sets = {str(dict(s.slice)["shortcut"]): s for s in whole if s.metric == "ood"}
    return sets | {s.metric: s for s in whole if s.metric in ("iid", "mean_ood", "mean_gap")}
