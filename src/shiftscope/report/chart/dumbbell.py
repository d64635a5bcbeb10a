"""Dumbbells: the accuracy on head and tail of each row with intervals, against a line for the IID test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...result import Score
from ..markup import Html, tag
from ..number import count, percent, spread
from .axis import Axis
from .frame import frame, rule, shortened, words
from .mark import hue, mark

ROW = 24.0
LEFT, RIGHT, TOP = 76.0, 44.0, 24.0
ENDS = ("head", "tail")  # their places are their series


@dataclass(frozen=True, slots=True)
class Dumbbell:
    """A row; `figure` is written at its end."""

    label: str
    head: Score | None
    tail: Score | None
    figure: str = ""


def dumbbells(
    label: str, rows: Sequence[Dumbbell], whole: Score, *, most: float = 1.0, width: float = 400
) -> Html:
    """The chart on a scale of 0 to `most`; `whole`, of the IID test, is the dashed line with its band."""
    x = Axis(0, most, LEFT, width - RIGHT)
    bottom = TOP + ROW * len(rows)
    parts: list[Html] = []
    for tick in x.ticks():
        parts.append(rule(x(tick), TOP - 4, x(tick), bottom, "grid" if tick else "base"))
        parts.append(words(x(tick), bottom + 14, percent(tick, 0), at="middle", class_="tick"))
    parts += _whole(whole, x, bottom)
    parts.append(words(width - 2, TOP - 11, "gap", at="end", class_="tick"))
    for k, row in enumerate(rows):
        parts += _row(row, x, TOP + ROW * (k + 0.5), width)
    return frame(width, bottom + 20, label, *parts)


def _whole(score: Score, x: Axis, bottom: float) -> list[Html]:
    if score.value is None:
        return []
    made = []
    if score.low is not None and score.high is not None:
        made.append(
            tag(
                "rect",
                x=x(score.low),
                y=TOP - 4,
                width=max(x(score.high) - x(score.low), 0.5),
                height=bottom - TOP + 4,
                class_="amount",
            )
        )
    made.append(rule(x(score.value), TOP - 4, x(score.value), bottom, "guide"))
    made.append(words(x(score.value), TOP - 9, f"IID {percent(score.value)}", at="middle", class_="figure"))
    return made


def _row(row: Dumbbell, x: Axis, middle: float, width: float) -> list[Html]:
    made = [words(LEFT - 10, middle + 4, shortened(row.label, LEFT - 12), at="end", class_="tick")]
    ends = [(s, series) for series, s in enumerate((row.head, row.tail)) if s and s.value is not None]
    if len(ends) == 2:
        left, right = (x(s.value or 0.0) for s, _ in ends)
        made.append(rule(left, middle, right, middle, "base"))
    for score, series in ends:
        if score.low is not None and score.high is not None:
            made.append(rule(x(score.low), middle, x(score.high), middle, f"range wide {hue(series)}"))
    for score, series in ends:
        value = score.value or 0.0
        shown = f"{row.label}, {ENDS[series]}: {percent(value)} {spread(value, score.low, score.high)}"
        made.append(mark(series, x(value), middle, f"{shown} (n = {count(score.n)})"))
    made.append(words(width - 2, middle + 4, row.figure, at="end", class_="figure"))
    return made
