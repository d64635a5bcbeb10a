"""Axis: from values to pixels, with ticks at round numbers."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, isclose, log10


@dataclass(frozen=True, slots=True)
class Axis:
    """A straight scale: `low` lies at pixel `start`, `high` at pixel `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The pixel of a value; values outside stop at the edge."""
        span = self.high - self.low
        share = (value - self.low) / span if span else 0.0
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def ticks(self, about: int = 5) -> tuple[float, ...]:
        """Round values inside the axis, both ends included where they are round."""
        step = nice_step((self.high - self.low) / max(about - 1, 1))
        first = round(self.low / step)
        values = [k * step for k in range(first - 1, first + 4 * about + 2)]
        slack = step * 1e-9
        return tuple(round(v, 10) for v in values if self.low - slack <= v <= self.high + slack)


def nice_step(rough: float) -> float:
    """1, 2, 2.5 or 5 times a power of ten, at least as long as asked for."""
    if rough <= 0:
        return 1.0
    power = 10.0 ** floor(log10(rough))
    return next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough or isclose(m * power, rough))


def rounded_up(value: float) -> float:
    """The next round number, for an axis that begins at 0."""
    step = nice_step(value / 4)
    return step * max(1, -(-value // step)) if value > 0 else 1.0
