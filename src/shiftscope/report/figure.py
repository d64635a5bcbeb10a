"""Figures in tables: 84.2 ± 1.3, with a mark where a difference is significant."""

from __future__ import annotations

from ..metrics._interval import FEW_SCENES
from ..result import Score
from .markup import NOTHING, Html, tag, text
from .measure import LEVEL
from .number import NONE, chance, count, percent, points, spread
from .table import Cell


def figure(
    score: Score | None, *, best: bool = False, p: float | None = None, behind: float | None = None
) -> Cell:
    """A score as a cell; `p` and `behind` compare it with the best of its row."""
    if score is None or score.value is None:
        return Cell(NONE, -1.0)
    said = f"{percent(score.value)} ({percent(score.low)} to {percent(score.high)}), n = {count(score.n)}"
    if not score.n:  # as reported elsewhere
        said = percent(score.value)
    shown = [percent(score.value), mark(p, behind), _interval(score.value, score.low, score.high)]
    return Cell(
        text([*shown, *caveats(score)]),
        score.value,
        class_="best" if best else "",
        title=said + (f", {chance(p)} against the best" if p is not None else ""),
    )


def change(
    value: float | None, low: float | None, high: float | None, p: float | None, said: str = ""
) -> Cell:
    """A difference in points as a cell, marked where it is significant."""
    if value is None:
        return Cell(NONE, 0.0)
    return Cell(
        text([points(value), mark(p, value if p is not None else None), _ends(value, low, high)]),
        value,
        title="; ".join(filter(None, (said, chance(p) if p is not None else ""))),
    )


def mark(p: float | None, behind: float | None) -> Html:
    """▼ for significantly lower, ▲ for higher; room for one is kept wherever something is compared."""
    if behind is None:
        return NOTHING
    if p is None or not behind or p >= LEVEL:
        return tag("span", class_="mark-none")
    look, sign, said = ("worse", "▼", "lower") if behind < 0 else ("better", "▲", "higher")
    return tag(
        "span", sign, class_=f"mark-{look}", title=f"significantly {said}", aria_label=f"significantly {said}"
    )


def caveats(score: Score) -> list[Html]:
    """What a reader must know of a figure: that replies are missing, or that it rests on few scenes."""
    made = []
    if not score.complete:
        made.append(f"{percent(score.answered, 0)}% answered")
    if few_scenes(score):
        made.append(f"too few scenes ({score.scenes})")
    return [tag("small", said, class_="caveat") for said in made]


def few_scenes(score: Score) -> bool:
    """Whether an interval rests on so few scenes that it says little."""
    return score.low is not None and score.scenes is not None and score.scenes < FEW_SCENES


def _ends(value: float, low: float | None, high: float | None) -> Html:
    """Both ends of a difference where ± the longer side would hide on which side of 0 it lies."""
    if (
        low is not None
        and high is not None
        and low * high > 0
        and max(value - low, high - value) > abs(value)
    ):
        return tag("small", f"{points(low)} to {points(high)}")
    return _interval(value, low, high)


def _interval(value: float, low: float | None, high: float | None) -> Html:
    return tag("small", spread(value, low, high))
