"""Numbers as a reader wants them: 84.2 ± 1.3, 1,200, p = 0.003."""

from __future__ import annotations

MINUS = "\N{MINUS SIGN}"
NONE = "\N{EN DASH}"
LOPSIDED = 1.6  # how much longer one side of an interval may be than the other and still be written as ±


def percent(share: float | None, digits: int = 1) -> str:
    """A share of 1 as a percentage, without the sign: 84.2."""
    return NONE if share is None else _signless(f"{100 * share:.{digits}f}")


def points(change: float | None, digits: int = 1) -> str:
    """A difference of shares in percentage points, with its sign: −3.4, +1.0."""
    if change is None:
        return NONE
    shown = f"{100 * change:+.{digits}f}"
    return f"{0:.{digits}f}" if not float(shown) else shown.replace("-", MINUS)


def spread(value: float, low: float | None, high: float | None) -> str:
    """An interval beside its value: ± the longer side; both ends where one is much longer."""
    if low is None or high is None:
        return ""
    short, long = sorted((100 * (value - low), 100 * (high - value)))
    if long <= LOPSIDED * short or long < 0.05:
        return f"± {long:.1f}"
    return f"{percent(low)}{NONE}{percent(high)}"


def count(n: int) -> str:
    return f"{n:,}"


def several(n: int, noun: str, plural: str = "") -> str:
    """1 model, 1,200 questions."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def chance(p: float) -> str:
    """A p-value as one writes it: p = 0.03, p < 0.001."""
    if p < 0.001:
        return "p < 0.001"
    return f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def seconds(value: float) -> str:
    """A duration in the unit that suits it."""
    if value < 1:
        return f"{1000 * value:.3g} ms"
    if value < 120:
        return f"{value:.3g} s"
    return f"{value / 60:.1f} min" if value < 7200 else f"{value / 3600:.1f} h"


def _signless(shown: str) -> str:
    """-0.0 is 0.0; a real minus sign otherwise."""
    return shown.replace("-", "" if not float(shown) else MINUS)
