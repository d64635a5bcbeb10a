"""Overlap: which shortcuts go together (Figure 5)."""

from __future__ import annotations

from ...audit.tables import Matrix, coincidence, jaccard
from ..heat import Tile, heat_map
from ..markup import Html, tag, text
from ..number import percent
from ..section import Section
from .evidence import Evidence


def section(shown: Evidence) -> Section | None:
    names = tuple(line.shortcut for line in shown.lines if line.tail)
    if len(names) < 2:
        return None
    heads, tails = jaccard(shown.audit), coincidence(shown.audit)
    maps = [
        _map(
            heads,
            names,
            "Heads of train: shared part",
            "{0} and {1}: {2}% of their head samples together are in both",
        ),
        _map(
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
    return Section("How the shortcuts overlap", text(tag("div", maps, class_="heats tight")), lead)


def _map(matrix: Matrix, names: tuple[str, ...], caption: str, said: str) -> Html:
    at = {name: k for k, name in enumerate(matrix.names)}

    def tile(row: str, column: str) -> Tile:
        value = float(matrix.values[at[row], at[column]])
        shown = percent(value, 0)
        return Tile(shown, value, title=said.format(row, column, shown), marked=False)

    return heat_map(caption, names, names, tile, corner="Shortcut")
