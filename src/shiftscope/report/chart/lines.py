"""Line charts: shares over ordered bins, and accuracies over ranked places."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...result import Score
from ..markup import Html, tag
from ..number_format import describe_score, format_count, format_percent
from .frame import CHAR, Axis, draw_frame, draw_line, draw_mark, draw_text, hue_class, round_up, shorten_label

LEFT, RIGHT, TOP, BOTTOM = 34.0, 10.0, 10.0, 40.0
CROWD = 0.5  # the share of a bin's width over which the series stand apart


@dataclass(frozen=True, slots=True)
class LineSeries:
    """One series: its number gives colour and mark; a point without a value is not drawn."""

    name: str
    series: int
    points: tuple[Score | None, ...]


def draw_lines(
    label: str,
    bins: Sequence[str],
    series: Sequence[LineSeries],
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
    grid = _draw_grid(y, (0.0, 0.25, 0.5, 0.75, 1.0), width - RIGHT)
    step = (width - LEFT - RIGHT) / max(len(bins), 1)
    middles = [LEFT + step * (k + 0.5) for k in range(len(bins))]
    room, most = 0.22 * (y.start - y.end), max(sizes, default=0)
    bars = [
        tag(
            "rect",
            tag("title", f"{format_count(n)} examples"),
            x=x - 0.36 * step,
            y=y.start - room * n / most,
            width=0.72 * step,
            height=room * n / most,
            class_="amount",
        )
        for n, x in zip(sizes, middles, strict=True)
        if n
    ]
    return draw_frame(
        width,
        height,
        label,
        *grid,
        *bars,
        *_draw_bin_names(bins, middles, step, height - BOTTOM),
        tag("path", d=_format_path([(x, y(g)) for x, g in zip(middles, guide, strict=True)]), class_="guide")
        if guide
        else None,
        *(part for one in series for part in _draw_series(one, bins, middles, step, len(series), y, joined)),
    )


def _draw_grid(y: Axis, ticks: Sequence[float], end: float) -> list[Html]:
    parts = []
    for tick in ticks:
        parts.append(draw_line(LEFT, y(tick), end, y(tick), "grid" if tick else "base"))
        parts.append(draw_text(LEFT - 6, y(tick) + 3.5, format_percent(tick, 0), at="end", class_="tick"))
    return parts


def _draw_bin_names(bins: Sequence[str], middles: Sequence[float], step: float, base: float) -> list[Html]:
    longest = max((len(b) for b in bins), default=0)
    if longest * CHAR <= step - 7:
        return [
            draw_text(x, base + 15, name, at="middle", class_="tick") for x, name in zip(middles, bins, strict=True)
        ]
    end = middles[-1] + step / 2 + RIGHT if middles else 0.0
    for rows in (2, 3):  # taken in turn
        if longest * CHAR <= rows * step - 6:
            labels = []
            for k, (x, name) in enumerate(zip(middles, bins, strict=True)):
                y, half = base + (14 if rows == 2 else 12) + 12 * (k % rows), len(name) * CHAR / 2
                # Moved where it would run out of the chart.
                place, at = (end, "end") if x + half > end else (0, "start") if x < half else (x, "middle")
                labels.append(draw_text(place, y, name, at=at, class_="tick"))
            return labels
    return [
        tag(
            "text",
            shorten_label(name, 62),
            transform=f"translate({x + 3:.1f} {base + 10:.1f}) rotate(-32)",
            text_anchor="end",
            class_="tick",
        )
        for x, name in zip(middles, bins, strict=True)
    ]


def _draw_series(
    line: LineSeries, bins: Sequence[str], middles: Sequence[float], step: float, of: int, y: Axis, joined: bool
) -> list[Html]:
    width = min(CROWD * step, 7.0 * of)
    shift = (line.series - (of - 1) / 2) * (width / of)
    points = zip(middles, line.points, bins, strict=True)
    placed = [(x + shift, p, name) for x, p, name in points if p is not None and p.value is not None]
    parts = []
    if joined and len(placed) > 1:
        path = _format_path([(x, y(p.value or 0.0)) for x, p, _ in placed])
        parts.append(tag("path", d=path, class_=f"line {hue_class(line.series)}"))
    parts += [whisker for x, p, _ in placed if (whisker := _draw_whisker(p, line.series, x, y))]
    return parts + [
        draw_mark(line.series, x, y(p.value or 0.0), describe_score(f"{line.name}, {name}", p)) for x, p, name in placed
    ]


def _draw_whisker(score: Score, series: int, x: float, y: Axis) -> Html | None:
    if score.low is None or score.high is None:
        return None
    return draw_line(x, y(score.low), x, y(score.high), f"range {hue_class(series)}")


def _format_path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


RANKED_RIGHT, RANKED_TOP = 8.0, 8.0
RANKED_APART = 11.0  # pixels between series at one place


@dataclass(frozen=True, slots=True)
class RankedPlace:
    """One place on the axis; `value` is the height of its bar, `below` is written under its name."""

    name: str
    value: float
    below: str
    scores: tuple[tuple[str, int, Score], ...]  # name, series and accuracy


def draw_ranked(label: str, places: Sequence[RankedPlace], *, height: float = 260) -> Html:
    """Accuracies over places in the order of a value, whose bars stand behind; as wide as names and marks need."""
    needs = (max(CHAR * max(len(p.name), len(p.below)), RANKED_APART * len(p.scores)) + 14 for p in places)
    step = max(88.0, *needs)
    width = LEFT + RANKED_RIGHT + step * len(places)
    ends = [e for p in places for _, _, s in p.scores for e in (s.value, s.high) if e is not None]
    y = Axis(0, min(round_up(max([*ends, *(p.value for p in places)])), 1.0), height - BOTTOM, RANKED_TOP)
    parts = _draw_grid(y, y.ticks(), width - RANKED_RIGHT)
    for place_number, place in enumerate(places):
        x, wide, top = LEFT + step * (place_number + 0.5), 0.72 * step, y(place.value)
        parts += [
            tag("rect", x=x - wide / 2, y=top, width=wide, height=y.start - top, class_="amount"),
            draw_text(x, y.start + 16, place.name, at="middle", class_="heading"),
            draw_text(x, y.start + 30, place.below, at="middle", class_="tick"),
        ]
        for k, (name, series, score) in enumerate(place.scores):
            if score.value is None:
                continue
            at = x + RANKED_APART * (k - (len(place.scores) - 1) / 2)
            if whisker := _draw_whisker(score, series, at, y):
                parts.append(whisker)
            parts.append(draw_mark(series, at, y(score.value), describe_score(f"{name}, {place.name}", score)))
    return draw_frame(width, height, label, *parts)
