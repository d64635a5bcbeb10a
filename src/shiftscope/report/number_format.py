"""Numbers as text: 84.2 ± 1.3, 1,200, p = 0.003."""

from ..metrics.significance import PairedTest
from ..result import Score

MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"
LOPSIDED = 1.6  # how much longer one side of an interval may be than the other and still be written as ±


def format_percent(share: float | None, digits: int = 1) -> str:
    """A share of 1 as a percentage, without the sign: 84.2."""
    if share is None:
        return DASH
    shown = f"{100 * share:.{digits}f}"
    return shown.replace("-", MINUS if float(shown) else "")  # -0.0 is 0.0


def format_points(change: float | None, digits: int = 1) -> str:
    """A difference of shares in percentage points, with its sign: −3.4, +1.0."""
    if change is None:
        return DASH
    shown = f"{100 * change:+.{digits}f}"
    return f"{0:.{digits}f}" if not float(shown) else shown.replace("-", MINUS)


def format_spread(
    value: float, low: float | None, high: float | None, digits: int = 1, most: float | None = LOPSIDED
) -> str:
    """An interval beside its value: ± the longer side; both ends where it is more than `most` times the other."""
    if low is None or high is None:
        return ""
    short, long = sorted((100 * (value - low), 100 * (high - value)))
    if most is None or long <= most * short or long < 0.05:
        return f"± {long:.{digits}f}"
    between = " to " if low < 0 else DASH  # a dash beside a minus is hard to read
    return f"{format_percent(low, digits)}{between}{format_percent(high, digits)}"


def format_score(score: Score | None, digits: int = 1, most: float | None = LOPSIDED) -> str:
    """84.2 ± 1.3."""
    if score is None or score.value is None:
        return DASH
    spread = format_spread(score.value, score.low, score.high, digits, most)
    return f"{format_percent(score.value, digits)} {spread}".rstrip()


def spell_accuracy(score: Score) -> str:
    """84.2% right (95% interval 82.9 to 85.5)."""
    interval = f" (95% interval {format_percent(score.low)} to {format_percent(score.high)})"
    return f"{format_percent(score.value)}% right{interval if score.low is not None else ''}"


def describe_score(name: str, score: Score, more: str = "") -> str:
    """A score for the pointer: film, count: 75.0 ± 6.1 (n = 200)."""
    value = score.value or 0.0
    spread = format_spread(value, score.low, score.high)
    return f"{name}: {format_percent(value)} {spread} (n = {format_count(score.n)}{more})"


def format_paired(test: PairedTest | None, digits: int = 2) -> str:
    """+1.20 (+0.90 to +1.52), p < 0.001."""
    if test is None or test.drop is None:
        return DASH
    ends = ""
    if test.low is not None and test.high is not None:
        ends = f" ({format_points(test.low, digits)} to {format_points(test.high, digits)})"
    return f"{format_points(test.drop, digits)}{ends}" + ("" if test.p is None else f", {format_p(test.p)}")


def format_count(n: int) -> str:
    return f"{n:,}"


def count_noun(n: int, noun: str, plural: str = "") -> str:
    """1 model, 1,200 questions."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def format_p(p: float) -> str:
    """A p-value as one writes it: p = 0.03, p < 0.001."""
    if p < 0.001:
        return "p < 0.001"
    return f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def format_seconds(value: float) -> str:
    """A duration in the unit that suits it."""
    if value < 1:
        return f"{1000 * value:.3g} ms"
    if value < 120:
        return f"{value:.3g} s"
    return f"{value / 60:.1f} min" if value < 7200 else f"{value / 3600:.1f} h"
