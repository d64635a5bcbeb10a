"""Bar charts: grouped bars, one stacked bar, head and tail dumbbells, and a single interval."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...result import Score
from ..markup import Html, tag
from ..number_format import describe_score, format_percent, format_spread
from .frame import CHAR, Axis, draw_frame, draw_line, draw_mark, draw_text, hue_class, round_up, shorten_label

ROW = 17.0
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


def draw_bars(label: str, bars: Sequence[Bar], *, width: float = 560) -> Html:
    """The chart; the axis begins at 0, or below it where a bar does."""
    ends = [e for b in bars for e in (b.value, b.low, b.high) if e is not None]
    low = -round_up(-min(ends)) if ends and min(ends) < 0 else 0.0
    x = Axis(low, round_up(max([*ends, 0.0])), LABEL, width - FIGURE)
    bottom = 8.0 + ROW * len(bars)
    grid = [draw_line(x(t), 2, x(t), bottom, "grid" if t else "base") for t in x.ticks()]
    parts = []
    for k, bar in enumerate(bars):
        y, (left, right) = 4.0 + ROW * k, sorted((x(0), x(bar.value)))
        title, look = tag("title", f"{bar.label}: {bar.figure}"), "hollow" if bar.hollow else "bar"
        look += f" {hue_class(bar.series)}"
        name = shorten_label(bar.label, LABEL - 14)
        parts.append(draw_text(LABEL - 8, y + 12, name, at="end", class_="tick"))
        wide = max(right - left, 0.75)
        parts.append(tag("rect", title, x=left, y=y + 3, width=wide, height=ROW - 6, rx=1.5, class_=look))
        reach = right
        if bar.low is not None and bar.high is not None:
            middle = y + ROW / 2
            reach = max(right, x(bar.high))
            parts.append(draw_line(x(bar.low), middle, x(bar.high), middle, "whisker"))
            parts += [draw_line(x(e), middle - 3, x(e), middle + 3, "whisker") for e in (bar.low, bar.high)]
        parts.append(draw_text(min(reach + 6, width - FIGURE + 6), y + 12, bar.figure, class_="figure"))
    names = [draw_text(x(t), bottom + 13, f"{t:g}", at="middle", class_="tick") for t in x.ticks()]
    return draw_frame(width, bottom + 18, label, *grid, *parts, *names)


@dataclass(frozen=True, slots=True)
class StackedShare:
    """A part of the whole; `look` is the class of its colour and pattern."""

    name: str
    value: float  # of 1
    figure: str
    look: str


def draw_stacked_bar(label: str, shares: Sequence[StackedShare], *, width: float = 360, height: float = 20) -> Html:
    """One bar divided into shares; a figure is written inside where it fits, and in the tooltip anyway."""
    parts: list[Html] = []
    x = 0.0
    for share in shares:
        if share.value <= 0:
            continue
        wide = width * share.value
        title, size = tag("title", f"{share.name}: {share.figure}"), max(wide - 1, 0.6)
        parts.append(tag("rect", title, x=x, y=1, width=size, height=height - 2, class_=f"share {share.look}"))
        if len(share.figure) * CHAR + 8 <= wide:
            parts.append(draw_text(x + wide / 2, height / 2 + 4, share.figure, at="middle", class_=f"on {share.look}"))
        x += wide
    return draw_frame(width, height, label, *parts, class_="small")


DUMBBELL_ROW = 24.0
DUMBBELL_LEFT, DUMBBELL_RIGHT, DUMBBELL_TOP = 76.0, 44.0, 24.0


@dataclass(frozen=True, slots=True)
class Dumbbell:
    """A row: two accuracies, such as those on head and tail; `figure` is written at its end."""

    label: str
    first: Score | None
    second: Score | None
    figure: str = ""


def draw_dumbbells(
    label: str,
    rows: Sequence[Dumbbell],
    whole: Score | None = None,
    *,
    ends: tuple[str, str] = ("head", "tail"),
    gap: str = "gap",
    most: float = 1.0,
    width: float = 400,
    left: float = DUMBBELL_LEFT,
    right: float = DUMBBELL_RIGHT,
) -> Html:
    """The chart on a scale of 0 to `most`; `whole`, of the IID test, is the dashed line with its band.

    The places of `ends` are their series; `gap` heads the figures.
    """
    x = Axis(0, most, left, width - right)
    bottom = DUMBBELL_TOP + DUMBBELL_ROW * len(rows)
    parts: list[Html] = []
    for tick in x.ticks():
        parts.append(draw_line(x(tick), DUMBBELL_TOP - 4, x(tick), bottom, "grid" if tick else "base"))
        parts.append(draw_text(x(tick), bottom + 14, format_percent(tick, 0), at="middle", class_="tick"))
    if whole is not None and whole.value is not None:
        at, top = x(whole.value), DUMBBELL_TOP - 4
        if whole.low is not None and whole.high is not None:
            band = max(x(whole.high) - x(whole.low), 0.5)
            parts.append(tag("rect", x=x(whole.low), y=top, width=band, height=bottom - top, class_="amount"))
        parts.append(draw_line(at, top, at, bottom, "guide"))
        name = f"IID {format_percent(whole.value)}"
        parts.append(draw_text(at, DUMBBELL_TOP - 9, name, at="middle", class_="figure"))
    parts.append(draw_text(width - 2, DUMBBELL_TOP - 11, gap, at="end", class_="tick"))
    for k, row in enumerate(rows):
        middle, name = DUMBBELL_TOP + DUMBBELL_ROW * (k + 0.5), shorten_label(row.label, left - 12)
        parts.append(draw_text(left - 10, middle + 4, name, at="end", class_="tick"))
        known = [(s, series) for series, s in enumerate((row.first, row.second)) if s and s.value is not None]
        if len(known) == 2:
            one, two = (x(s.value or 0.0) for s, _ in known)
            parts.append(draw_line(one, middle, two, middle, "base"))
        for score, series in known:
            if score.low is not None and score.high is not None:
                parts.append(draw_line(x(score.low), middle, x(score.high), middle, f"range wide {hue_class(series)}"))
        for score, series in known:
            about = describe_score(f"{row.label}, {ends[series]}", score)
            parts.append(draw_mark(series, x(score.value or 0.0), middle, about))
        parts.append(draw_text(width - 2, middle + 4, row.figure, at="end", class_="figure"))
    return draw_frame(width, bottom + 20, label, *parts)


def draw_interval(
    value: float, low: float | None, high: float | None, series: int, *, width: float = 120, height: float = 18
) -> Html:
    """A point with its interval on a scale of 0 to 1, small enough to stand in a table."""
    x = Axis(0, 1, 6, width - 6)
    middle = height / 2
    return draw_frame(
        width,
        height,
        f"{format_percent(value)} {format_spread(value, low, high)} on a scale of 0 to 100".replace("  ", " "),
        draw_line(x(0), middle, x(1), middle),
        *(draw_line(x(t), middle - 3, x(t), middle + 3) for t in (0, 0.5, 1)),
        draw_line(x(low), middle, x(high), middle, f"range wide {hue_class(series)}")
        if low is not None and high is not None
        else tag("g"),
        draw_mark(series, x(value), middle),
        class_="small",
    )
