"""Shortcut overlap: which shortcuts share their samples (Figure 5)."""

from ...shortcuts.audit_statistics import ShortcutMatrix, jaccard_overlap, ood_overlap
from ..audit_page import AuditEvidence
from ..markup import Html, render_charts
from ..number_format import format_percent
from ..page import Section
from ..table import HeatTile, render_heat_map

PLACES = {"audit": 50}


def section(evidence: AuditEvidence) -> Section | None:
    names = tuple(line.shortcut for line in evidence.lines if line.tail)
    if len(names) < 2:
        return None
    heads, tails = jaccard_overlap(evidence.audit), ood_overlap(evidence.audit)
    maps = [
        _render_map(
            heads, names, "Heads of train: shared part", "{0} and {1}: {2}% of their head samples together are in both"
        ),
        _render_map(
            tails,
            names,
            "OOD test sets: how much of the column’s is in the row’s",
            "{2}% of the OOD set of {1} are also in that of {0}",
        ),
    ]
    lead = (
        "Per cent. Shortcuts that share most of their samples are nearly one shortcut; OOD sets that share "
        "few test different things."
    )
    return Section("Shortcut overlap", [render_charts(maps, "heats tight")], lead)


def _render_map(matrix: ShortcutMatrix, names: tuple[str, ...], caption: str, template: str) -> Html:
    at = {name: k for k, name in enumerate(matrix.names)}

    def build_tile(row: str, column: str) -> HeatTile:
        value = float(matrix.values[at[row], at[column]])
        shown = format_percent(value, 0)
        return HeatTile(shown, value, title=template.format(row, column, shown))

    rows = [("", name) for name in names]
    return render_heat_map(caption, rows, names, lambda row, column: build_tile(row[1], column), corner="Shortcut")
