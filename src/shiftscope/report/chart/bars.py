"""Bars: grouped horizontal bars with intervals; a reported figure is hollow, a measured one is filled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..markup import Html, tag
from .axis import Axis, rounded_up
from .frame import frame, rule, shortened, words
from .mark import hue

ROW = 17.0
GAP = 12.0
LABEL = 150.0  # room for the names on the left
FIGURE = 92.0  # room for the figures on the right


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar, in percent or points; `figure` is written after it."""

    label: str
    value: float
    figure: str
    series: int = 0
    low: float | None = None
    high: float | None = None
    hollow: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Bars that belong together, under a heading."""

    heading: str
    bars: tuple[Bar, ...]


def bars(label: str, groups: Sequence[Group], *, width: float = 560, unit: str = "") -> Html:
    """The chart; the axis begins at 0, or below it where a bar does."""
    ends = [e for g in groups for b in g.bars for e in (b.value, b.low, b.high) if e is not None]
    low = -rounded_up(-min(ends)) if ends and min(ends) < 0 else 0.0
    x = Axis(low, rounded_up(max([*ends, 0.0])), LABEL, width - FIGURE)
    parts: list[Html] = []
    y = 4.0
    for group in groups:
        if group.heading:
            parts.append(words(0, y + 12, group.heading, class_="heading"))
            y += ROW + 2
        for bar in group.bars:
            parts += _bar(bar, x, y, width)
            y += ROW
        y += GAP
    bottom = y - GAP + 4
    grid = [rule(x(t), 2, x(t), bottom, "grid" if t else "base") for t in x.ticks()]
    names = [words(x(t), bottom + 13, f"{t:g}{unit}", at="middle", class_="tick") for t in x.ticks()]
    return frame(width, bottom + 18, label, *grid, *parts, *names)


def _bar(bar: Bar, x: Axis, y: float, width: float) -> list[Html]:
    left, right = sorted((x(0), x(bar.value)))
    made = [
        words(LABEL - 8, y + 12, shortened(bar.label, LABEL - 14), at="end", class_="tick"),
        tag(
            "rect",
            tag("title", f"{bar.label}: {bar.figure}"),
            x=left,
            y=y + 3,
            width=max(right - left, 0.75),
            height=ROW - 6,
            rx=1.5,
            class_=f"{'hollow' if bar.hollow else 'bar'} {hue(bar.series)}",
        ),
    ]
    reach = right
    if bar.low is not None and bar.high is not None:
        middle = y + ROW / 2
        reach = max(right, x(bar.high))
        made.append(rule(x(bar.low), middle, x(bar.high), middle, "whisker"))
        made += [rule(x(e), middle - 3, x(e), middle + 3, "whisker") for e in (bar.low, bar.high)]
    made.append(words(min(reach + 6, width - FIGURE + 6), y + 12, bar.figure, class_="figure"))
    return made
