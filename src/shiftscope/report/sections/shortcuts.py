"""Shortcuts: accuracy on an audit's IID test and on the out-of-distribution set of each shortcut (VQA-VS)."""

from __future__ import annotations

from pathlib import Path

from ...audit.folder import is_audit
from ...audit.labels import SHORTCUTS
from ...audit.marks import marked
from ...errors import UserError
from ...metrics.shortcut_gap import measure
from ...result import Score
from ...run.vqa_files import VqaFiles
from ..figure import figure
from ..legend import signed
from ..markup import text
from ..section import Section
from ..study import Run, Study
from ..table import Cell, Head, table

PLACE = 17
COLUMNS = (("iid", "IID test"), *((s, s) for s in SHORTCUTS), ("mean_ood", "Mean OOD"), ("mean_gap", "Gap"))


def section(study: Study) -> Section | None:
    found = {run: scores for run in study.home().runs if (scores := _scores(run))}
    if not found:
        return None
    several = len({run.test for run in found}) > 1
    shown = [(key, title) for key, title in COLUMNS if any(key in scores for scores in found.values())]
    heads = [
        Head("Model"),
        *([Head("Test")] if several else []),
        *(Head(title, numeric=True) for _, title in shown),
    ]
    rows = [
        [
            Cell(signed(study, run.contender), run.contender),
            *([Cell(run.test)] if several else []),
            *(figure(scores.get(key)) for key, _ in shown),
        ]
        for run, scores in found.items()
    ]
    forms = ", ".join(dict.fromkeys(scores["iid"].form for scores in found.values()))
    lead = (
        f"{forms}, in per cent, with 95% intervals. Each out-of-distribution set holds the questions of the "
        "IID test whose answer is rare for the shortcut it is named after; the gap is the IID test less the "
        "mean over the sets. VQA-VS scores by thirds, which is not the form of the results above."
    )
    body = text([table(heads, [rows], caption=f"{forms} on the IID test and the OOD sets")])
    return Section("Shortcuts", body, lead)


def _scores(run: Run) -> dict[str, Score]:
    """By set; nothing where the run is not about an audit, or that is no longer as it was."""
    folder = Path(str(run.spec.get("data") or ""))
    if not is_audit(folder) or VqaFiles(folder).data_id() != run.spec.get("data_id"):
        return {}
    try:
        made = measure(marked(run.records, folder))
    except UserError:  # it was made anew, of other questions
        return {}
    keys = {"iid": "iid", "mean_ood": "mean_ood", "mean_gap": "mean_gap"}
    found = {}
    for score in made:
        where = dict(score.slice)
        if "split" in where:
            continue
        if score.metric == "ood":
            found[str(where["shortcut"])] = score
        elif score.metric in keys:
            found[score.metric] = score
    return found
