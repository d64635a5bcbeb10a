"""Interval: a point with its interval on a scale of 0 to 1, small enough to stand in a table."""

from __future__ import annotations

from ..markup import Html, tag
from ..number import percent, spread
from .axis import Axis
from .frame import frame, rule
from .mark import hue, mark


def interval(
    value: float,
    low: float | None,
    high: float | None,
    series: int,
    *,
    width: float = 120,
    height: float = 18,
) -> Html:
    x = Axis(0, 1, 6, width - 6)
    middle = height / 2
    return frame(
        width,
        height,
        f"{percent(value)} {spread(value, low, high)} on a scale of 0 to 100".replace("  ", " "),
        rule(x(0), middle, x(1), middle),
        *(rule(x(t), middle - 3, x(t), middle + 3) for t in (0, 0.5, 1)),
        rule(x(low), middle, x(high), middle, f"range wide {hue(series)}")
        if low is not None and high is not None
        else tag("g"),
        mark(series, x(value), middle),
        class_="small",
    )
