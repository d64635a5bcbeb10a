"""What every chart is made of: the SVG frame, axes, marks and colours.

The hues live in style.css (`--hue-0` …), one set for light pages and one for dark ones. Colour is never the
only sign: models have marks of different shapes, cells of a heat map carry their number.
"""

from dataclasses import dataclass
from math import floor, isclose, log10

from ..markup import Child, Html, tag

HUES = 8

RGB = tuple[float, float, float]

# One hue from light to dark, so that it survives grey printing; text flips from dark to light on the way.
_GAIN: tuple[RGB, ...] = ((240, 245, 250), (158, 196, 226), (66, 132, 186), (15, 70, 125))


def sequential_color(share: float) -> str:
    """A colour for a share of 0 to 1, darker for more."""
    at = min(max(share, 0.0), 1.0) * (len(_GAIN) - 1)
    k = min(int(at), len(_GAIN) - 2)
    mixed = (a + (b - a) * (at - k) for a, b in zip(_GAIN[k], _GAIN[k + 1], strict=True))
    return "#" + "".join(f"{round(v):02x}" for v in mixed)


def text_color_on(background: str) -> str:
    """Black or white, whichever is read better on this background."""
    return max("#000000", "#ffffff", key=lambda ink: contrast_ratio(background, ink))


def contrast_ratio(one: str, other: str) -> float:
    """The WCAG contrast ratio of two colours: 4.5 or more is readable text."""
    light, dark = sorted((_compute_luminance(one), _compute_luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _compute_luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


TEXT = 11.0  # pixels, the size of labels
CHAR = 6.1  # pixels a character of that size takes, about


def draw_frame(width: float, height: float, label: str, *marks: Child, class_: str = "") -> Html:
    """A chart of this size; `label` is what a screen reader says of it."""
    return tag(
        "svg",
        *marks,
        class_=f"chart {class_}".strip(),
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        role="img",
        aria_label=label,
    )


def draw_text(x: float, y: float, content: str, *, at: str = "start", class_: str | None = None) -> Html:
    """A label; `at` is where x lies in it: start, middle or end."""
    return tag("text", content, x=x, y=y, text_anchor=None if at == "start" else at, class_=class_)


def draw_line(x1: float, y1: float, x2: float, y2: float, class_: str = "grid") -> Html:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def shorten_label(label: str, width: float) -> str:
    """The label, cut with an ellipsis where it would be wider than this many pixels."""
    fits = max(int(width / CHAR), 2)
    return label if len(label) <= fits else f"{label[: fits - 1].rstrip()}…"


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
        step = choose_step((self.high - self.low) / max(about - 1, 1))
        first = round(self.low / step)
        values = [k * step for k in range(first - 1, first + 4 * about + 2)]
        slack = step * 1e-9
        return tuple(round(v, 10) for v in values if self.low - slack <= v <= self.high + slack)


def choose_step(rough: float) -> float:
    """1, 2, 2.5 or 5 times a power of ten, at least as long as asked for."""
    if rough <= 0:
        return 1.0
    power = 10.0 ** floor(log10(rough))
    return next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough or isclose(m * power, rough))


def round_up(value: float) -> float:
    """The next round number, for an axis that begins at 0."""
    step = choose_step(value / 4)
    return step * max(1, -(-value // step)) if value > 0 else 1.0


SHAPES: tuple[tuple[tuple[float, float], ...], ...] = (  # their corners
    (),  # a circle
    ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    ((0, -1.15), (1.1, 0.85), (-1.1, 0.85)),
    ((0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)),
    (
        (-1.1, -0.45), (-0.45, -0.45), (-0.45, -1.1), (0.45, -1.1), (0.45, -0.45), (1.1, -0.45),
        (1.1, 0.45), (0.45, 0.45), (0.45, 1.1), (-0.45, 1.1), (-0.45, 0.45), (-1.1, 0.45),
    ),
    ((0, -1.15), (1.1, -0.35), (0.7, 0.95), (-0.7, 0.95), (-1.1, -0.35)),
)  # fmt: skip
SIZE = 3.6  # pixels from the middle to the edge


def draw_mark(series: int, x: float, y: float, title: str = "") -> Html:
    """The sign of a series at a point."""
    r, corners = SIZE, SHAPES[series % len(SHAPES)]
    if corners:
        outline = "M" + "L".join(f"{x + a * r:.1f} {y + b * r:.1f}" for a, b in corners) + "z"
    else:
        outline = f"M{x - r:.1f} {y:.1f}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0z"
    return tag("path", tag("title", title) if title else None, d=outline, class_=f"mark {hue_class(series)}")


def hue_class(series: int) -> str:
    """The class that gives a series its colour."""
    return f"hue-{series % HUES}"


def draw_legend_mark(series: int) -> Html:
    """The sign alone, to stand before a name."""
    return tag(
        "svg", draw_mark(series, 6, 6), class_="sign", viewBox="0 0 12 12", width=12, height=12, aria_hidden="true"
    )
