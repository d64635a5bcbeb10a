"""Learning curves of trainings as SVG: a panel per training, validation accuracy and training loss by epoch.

`python -m benchmarks.learning_curves "film=build/end_to_end/film/training.jsonl" --out docs/results/curves.svg`.
Instead of a training's log it also takes the record that a study keeps of it (`.json`), which has no losses.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

WIDTH, HEIGHT, COLUMNS = 250, 190, 3  # of a panel, and how many stand side by side
LEFT, RIGHT, TOP, BOTTOM = 34, 30, 26, 34  # margins inside it
FIRST, SECOND = "object_questions", "part_questions"
LINES = ((FIRST, "#1f5fa8", ""), (SECOND, "#1f5fa8", "4 3"))  # of validation, in percent
LOSS = "#b5532a"
Rows = Sequence[dict[str, Any]]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("logs", nargs="+", metavar="TITLE=FILE")
    options.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    panels = []
    for text in given.logs:
        title, _, name = text.rpartition("=")
        panels.append((title, read_epochs(Path(name))))
    given.out.write_text(draw_curves(panels), "utf-8")


def read_epochs(path: Path) -> Rows:
    """Of the part that was trained last, the one that answers."""
    if path.suffix == ".json":
        *_, figures = json.loads(path.read_text("utf-8"))["curves"].values()
        return [{"epoch": k, "val": {FIRST: figure}, "losses": {}} for k, figure in enumerate(figures, 1)]
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [row for row in rows if row["part"] == rows[-1]["part"]]


def draw_curves(panels: Sequence[tuple[str, Rows]]) -> str:
    """All panels have the same axes."""
    epochs = max(len(rows) for _, rows in panels)
    shares = [
        100 * row["val"][name] for _, rows in panels for row in rows for name, _, _ in LINES if name in row["val"]
    ]
    low, high = 5 * int(min(shares) // 5), 5 * int(-(-max(shares) // 5))
    loss = max((row["losses"]["loss"] for _, rows in panels for row in rows if row["losses"]), default=0.0)
    width, height = COLUMNS * WIDTH, -(-len(panels) // COLUMNS) * HEIGHT + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="system-ui, sans-serif" font-size="10" fill="#444">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for k, (title, rows) in enumerate(panels):
        inside = _draw_panel(title, rows, epochs, (low, high), loss)
        parts.append(f'<g transform="translate({k % COLUMNS * WIDTH} {k // COLUMNS * HEIGHT})">{inside}</g>')
    parted = any(SECOND in row["val"] for _, rows in panels for row in rows)
    told = "% right on validation" + (", object (solid) and part questions (dashed)" if parted else "")
    told = f"left, blue: {told}; right, red: training loss" if loss else told
    return "\n".join([*parts, f'<text x="{LEFT}" y="{height - 6}">by epoch; {told}</text></svg>\n'])


def _draw_panel(title: str, rows: Rows, epochs: int, shares: tuple[int, int], loss: float) -> str:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def place(epoch: float, part: float) -> str:
        x = LEFT + (epoch - 1) / max(1, epochs - 1) * (right - LEFT)
        return f"{x:.1f},{bottom - part * (bottom - TOP):.1f}"

    low, high = shares
    parts = [f'<text x="{LEFT}" y="16" font-size="11" font-weight="600" fill="#222">{escape(title)}</text>']
    for share in range(low, high + 1, 5 if high - low <= 40 else 10):
        y = bottom - (share - low) / (high - low) * (bottom - TOP)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#eee"/>')
        parts.append(f'<text x="{LEFT - 5}" y="{y + 3:.1f}" text-anchor="end">{share}</text>')
    for part in (0.0, 0.5, 1.0) if loss else ():
        y = bottom - part * (bottom - TOP)
        parts.append(f'<text x="{right + 5}" y="{y + 3:.1f}" fill="{LOSS}">{part * loss:.1f}</text>')
    for epoch in (1, epochs):
        x = place(epoch, 0).partition(",")[0]
        parts.append(f'<text x="{x}" y="{bottom + 14}" text-anchor="middle">{epoch}</text>')
    falling = " ".join(place(row["epoch"], row["losses"]["loss"] / loss) for row in rows if row["losses"])
    parts.append(f'<polyline points="{falling}" fill="none" stroke="{LOSS}" stroke-width="1.2"/>')
    for name, colour, dashes in LINES:
        points = " ".join(
            place(row["epoch"], (100 * row["val"][name] - low) / (high - low)) for row in rows if name in row["val"]
        )
        style = f'stroke="{colour}" stroke-width="1.6" stroke-dasharray="{dashes}"'
        parts.append(f'<polyline points="{points}" fill="none" {style}/>')
    return "".join(parts)


if __name__ == "__main__":
    main()
