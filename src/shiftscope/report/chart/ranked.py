"""Ranked: accuracies with intervals over places in the order of a value, which stands behind as pale bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...result import Score
from ..markup import Html, tag
from ..number import count, percent, spread
from .axis import Axis, rounded_up
from .frame import CHAR, frame, rule, words
from .mark import hue, mark

LEFT, RIGHT, TOP, BOTTOM = 34.0, 8.0, 8.0, 40.0
APART = 11.0  # pixels between series at one place


@dataclass(frozen=True, slots=True)
class Place:
    """One place on the axis; `value` is the height of its bar, `below` is written under its name."""

    name: str
    value: float
    below: str
    scores: tuple[tuple[str, int, Score], ...]  # name, series and accuracy


def ranked(label: str, places: Sequence[Place], *, height: float = 260) -> Html:
    """The chart, as wide as its names need."""
    step = max(88.0, *(CHAR * max(len(p.name), len(p.below)) + 14 for p in places))
    width = LEFT + RIGHT + step * len(places)
    ends = [e for p in places for _, _, s in p.scores for e in (s.value, s.high) if e is not None]
    y = Axis(0, min(rounded_up(max([*ends, *(p.value for p in places)])), 1.0), height - BOTTOM, TOP)
    parts: list[Html] = []
    for tick in y.ticks():
        parts.append(rule(LEFT, y(tick), width - RIGHT, y(tick), "grid" if tick else "base"))
        parts.append(words(LEFT - 6, y(tick) + 3.5, percent(tick, 0), at="end", class_="tick"))
    for k, place in enumerate(places):
        parts += _place(place, LEFT + step * (k + 0.5), 0.72 * step, y)
    return frame(width, height, label, *parts)


def _place(place: Place, x: float, wide: float, y: Axis) -> list[Html]:
    made = [
        tag(
            "rect",
            x=x - wide / 2,
            y=y(place.value),
            width=wide,
            height=y.start - y(place.value),
            class_="amount",
        ),
        words(x, y.start + 16, place.name, at="middle", class_="heading"),
        words(x, y.start + 30, place.below, at="middle", class_="tick"),
    ]
    for k, (name, series, score) in enumerate(place.scores):
        if score.value is None:
            continue
        at = x + APART * (k - (len(place.scores) - 1) / 2)
        if score.low is not None and score.high is not None:
            made.append(rule(at, y(score.low), at, y(score.high), f"range {hue(series)}"))
        said = f"{name}, {place.name}: {percent(score.value)} {spread(score.value, score.low, score.high)}"
        made.append(mark(series, at, y(score.value), f"{said} (n = {count(score.n)})"))
    return made
