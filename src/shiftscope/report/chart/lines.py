"""Lines: shares over ordered bins, one line a series, with intervals and how many examples each bin holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..markup import Html, tag
from ..number import count, percent, spread
from .axis import Axis
from .frame import CHAR, frame, rule, shortened, words
from .mark import hue, mark

LEFT, RIGHT, TOP, BOTTOM = 34.0, 10.0, 10.0, 40.0
CROWD = 0.5  # the share of a bin's width over which the series stand apart


@dataclass(frozen=True, slots=True)
class Point:
    """A share of 0 to 1 with its interval."""

    value: float
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Line:
    """One series: its number decides colour and sign; None where a bin has nothing to show."""

    name: str
    series: int
    points: tuple[Point | None, ...]


def lines(
    label: str,
    bins: Sequence[str],
    series: Sequence[Line],
    sizes: Sequence[int],
    *,
    joined: bool = True,
    width: float = 320,
    height: float = 220,
    guide: Sequence[float] = (),
) -> Html:
    """The chart; `sizes` are drawn as pale bars behind. `joined` is for bins in an order, not for kinds.

    `guide` is a dashed line to compare with, one share a bin.
    """
    y = Axis(0, 1, height - BOTTOM, TOP)
    step = (width - LEFT - RIGHT) / max(len(bins), 1)
    middles = [LEFT + step * (k + 0.5) for k in range(len(bins))]
    return frame(
        width,
        height,
        label,
        *_grid(y, width),
        *_sizes(sizes, middles, step, y),
        *_names(bins, middles, step, height - BOTTOM),
        tag("path", d=_path([(x, y(g)) for x, g in zip(middles, guide, strict=True)]), class_="guide")
        if guide
        else None,
        *(part for one in series for part in _line(one, bins, middles, step, len(series), y, joined)),
    )


def _grid(y: Axis, width: float) -> list[Html]:
    made = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        made.append(rule(LEFT, y(tick), width - RIGHT, y(tick), "grid" if tick else "base"))
        made.append(words(LEFT - 6, y(tick) + 3.5, percent(tick, 0), at="end", class_="tick"))
    return made


def _sizes(sizes: Sequence[int], middles: Sequence[float], step: float, y: Axis) -> list[Html]:
    most = max(sizes, default=0)
    if not most:
        return []
    room = 0.22 * (y.start - y.end)
    return [
        tag(
            "rect",
            tag("title", f"{count(n)} examples"),
            x=x - 0.36 * step,
            y=y.start - room * n / most,
            width=0.72 * step,
            height=room * n / most,
            class_="amount",
        )
        for n, x in zip(sizes, middles, strict=True)
        if n
    ]


def _names(bins: Sequence[str], middles: Sequence[float], step: float, base: float) -> list[Html]:
    longest = max((len(b) for b in bins), default=0)
    if longest * CHAR <= step - 7:
        return [
            words(x, base + 15, name, at="middle", class_="tick")
            for x, name in zip(middles, bins, strict=True)
        ]
    for rows in (2, 3):  # taken in turn
        if longest * CHAR <= rows * step - 6:
            return [
                _inside(x, base + (14 if rows == 2 else 12) + 12 * (k % rows), name, middles[-1] + step / 2)
                for k, (x, name) in enumerate(zip(middles, bins, strict=True))
            ]
    return [
        tag(
            "text",
            shortened(name, 62),
            transform=f"translate({x + 3:.1f} {base + 10:.1f}) rotate(-32)",
            text_anchor="end",
            class_="tick",
        )
        for x, name in zip(middles, bins, strict=True)
    ]


def _inside(x: float, y: float, name: str, end: float) -> Html:
    """A label below its place, moved where it would run out of the chart, which ends a little after `end`."""
    half = len(name) * CHAR / 2
    if x + half > end + RIGHT:
        return words(end + RIGHT, y, name, at="end", class_="tick")
    if x < half:
        return words(0, y, name, class_="tick")
    return words(x, y, name, at="middle", class_="tick")


def _line(
    line: Line, bins: Sequence[str], middles: Sequence[float], step: float, of: int, y: Axis, joined: bool
) -> list[Html]:
    width = min(CROWD * step, 7.0 * of)
    shift = (line.series - (of - 1) / 2) * (width / of)
    placed = [(x + shift, p, b) for x, p, b in zip(middles, line.points, bins, strict=True) if p is not None]
    made = []
    if joined and len(placed) > 1:
        made.append(
            tag("path", d=_path([(x, y(p.value)) for x, p, _ in placed]), class_=f"line {hue(line.series)}")
        )
    for x, p, _ in placed:
        if p.low is not None and p.high is not None:
            made.append(rule(x, y(p.low), x, y(p.high), f"range {hue(line.series)}"))
    for x, p, name in placed:
        said = f"{line.name}, {name}: {percent(p.value)} {spread(p.value, p.low, p.high)} (n = {count(p.n)})"
        made.append(mark(line.series, x, y(p.value), said))
    return made


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
