"""Figures of the tables as text."""

from __future__ import annotations

from ...metrics._statistics import Paired
from ...result import Score
from ..number import NONE, chance, percent, points

DIGITS = 2  # of a percentage, as in the paper
TINY = 0.001  # a p below it goes without saying in a table of many
MEASURES = {  # of the parsers, where the name alone does not say what is counted
    "place": "place, within 0.2 along both directions",
    "exact": "images with all objects right",
    "part exact": "images with all objects and parts right",
    "program": "program, all of it",
}


def measure_name(name: str) -> str:
    """What a parser was measured by, in words."""
    plain = name.replace("_", " ")
    return MEASURES.get(plain, plain)


def figure(score: Score | None) -> str:
    """84.21 ± 0.33."""
    if score is None or score.value is None:
        return NONE
    return between(score.value, score.low, score.high)


def between(value: float, low: float | None, high: float | None) -> str:
    """± the longer side."""
    if low is None or high is None:
        return percent(value, DIGITS)
    return f"{percent(value, DIGITS)} ± {100 * max(value - low, high - value):.{DIGITS}f}"


def paired_text(found: Paired | None) -> str:
    """+1.20 (+0.90 to +1.52), p < 0.001."""
    if found is None or found.drop is None:
        return NONE
    ends = (
        ""
        if found.low is None or found.high is None
        else f" ({points(found.low, 2)} to {points(found.high, 2)})"
    )
    return f"{points(found.drop, 2)}{ends}{_chance(found.p)}"


def gain_text(found: Paired | None) -> str:
    """+1.20 ± 0.32, the longer side; p only where it is 0.001 or more."""
    if found is None or found.drop is None:
        return NONE
    sides = [abs(end - found.drop) for end in (found.low, found.high) if end is not None]
    half = f" ± {100 * max(sides):.{DIGITS}f}" if sides else ""
    return (
        f"{points(found.drop, 2)}{half}{'' if found.p is not None and found.p < TINY else _chance(found.p)}"
    )


def _chance(p: float | None) -> str:
    return "" if p is None else f", {chance(p)}"


def share_text(pair: tuple[int, int] | None) -> str:
    """So many right of so many, in percent."""
    return NONE if pair is None or not pair[1] else percent(pair[0] / pair[1], DIGITS)
