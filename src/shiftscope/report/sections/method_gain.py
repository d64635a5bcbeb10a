"""What a debiasing method gains over its backbone, set by set (Figure 1a of VQA-VS)."""

from ...metrics.model_selection import IID, SelectionResults, tail_of
from ...result import Score
from ...shortcuts.concepts import SHORTCUTS
from ..number_format import DASH, format_points
from ..page import Section
from ..table import Table

PLACES = {"selection_study": 30}


def section(results: SelectionResults) -> Section | None:
    methods = [m for m in results.study.methods if m.backbone]
    sets = {**{s: tail_of(s) for s in SHORTCUTS}, "iid": IID}
    rows = [
        (f"{m.label} − {m.backbone}", *(_format_gain(results.find_gain(m.label, m.backbone, s)) for s in sets.values()))
        for m in methods
    ]
    table = Table("Gain over the backbone (Figure 1a)", ("", *sets), rows, results.study.notes["gain"])
    return Section("Debiasing methods against their backbones", [table]) if rows else None


def _format_gain(gain: Score | None) -> str:
    if gain is None or gain.value is None:
        return DASH
    ends = (
        ""
        if gain.low is None or gain.high is None
        else f" ({format_points(gain.low, 1)}, {format_points(gain.high, 1)})"
    )
    return f"{format_points(gain.value, 2)}{ends}"
