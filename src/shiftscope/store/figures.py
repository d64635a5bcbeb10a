"""Figures: bar charts as small SVG files that a dataset card can show."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

ROW = 20  # pixels a bar takes
LEFT = 150  # room for labels
WIDTH = 560
MOST = 24  # bars in a chart

_STYLE = "text{font:12px sans-serif;fill:#555}.t{font-weight:bold}rect{fill:#4878a8}"


def bars(title: str, counts: Sequence[tuple[str, int]]) -> str:
    """A horizontal bar for each count, with its share; what does not fit is said in the title."""
    shown = counts[:MOST]
    total = sum(n for _, n in counts) or 1
    longest = max((n for _, n in shown), default=1) or 1
    cut = f" ({MOST} commonest of {len(counts)})" if len(counts) > MOST else ""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{ROW * (len(shown) + 2)}">',
        f"<style>{_STYLE}</style>",
        f'<text class="t" x="8" y="{ROW - 4}">{escape(title + cut)}</text>',
    ]
    for k, (label, n) in enumerate(shown):
        y = ROW * (k + 1) + 6
        length = round((WIDTH - LEFT - 60) * n / longest, 1)
        text = label if len(label) <= 20 else f"{label[:19]}…"
        lines += [
            f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{escape(text)}</text>',
            f'<rect x="{LEFT}" y="{y}" width="{length}" height="{ROW - 5}"/>',
            f'<text x="{LEFT + length + 6}" y="{y + 12}">{100 * n / total:.1f}%</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])
