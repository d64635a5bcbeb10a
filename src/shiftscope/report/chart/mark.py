"""Marks: one shape and one hue a series, so that colour is never the only difference."""

from __future__ import annotations

from ..color import HUES
from ..markup import Html, tag

SHAPES = ("circle", "square", "triangle", "diamond", "cross", "pentagon")
SIZE = 3.6  # pixels from the middle to the edge


def mark(series: int, x: float, y: float, title: str = "") -> Html:
    """The sign of a series at a point."""
    return tag(
        "path",
        tag("title", title) if title else None,
        d=_outline(SHAPES[series % len(SHAPES)], x, y),
        class_=f"mark {hue(series)}",
    )


def hue(series: int) -> str:
    """The class that gives a series its colour."""
    return f"hue-{series % HUES}"


def legend_mark(series: int) -> Html:
    """The sign alone, to stand before a name."""
    return tag(
        "svg", mark(series, 6, 6), class_="sign", viewBox="0 0 12 12", width=12, height=12, aria_hidden="true"
    )


def _outline(shape: str, x: float, y: float) -> str:
    r = SIZE
    corners = {
        "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
        "triangle": ((0, -1.15), (1.1, 0.85), (-1.1, 0.85)),
        "diamond": ((0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)),
        "pentagon": ((0, -1.15), (1.1, -0.35), (0.7, 0.95), (-0.7, 0.95), (-1.1, -0.35)),
        "cross": (
            (-1.1, -0.45), (-0.45, -0.45), (-0.45, -1.1), (0.45, -1.1), (0.45, -0.45), (1.1, -0.45),
            (1.1, 0.45), (0.45, 0.45), (0.45, 1.1), (-0.45, 1.1), (-0.45, 0.45), (-1.1, 0.45),
        ),
    }  # fmt: skip
    if shape == "circle":
        return f"M{x - r:.1f} {y:.1f}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0z"
    return "M" + "L".join(f"{x + a * r:.1f} {y + b * r:.1f}" for a, b in corners[shape]) + "z"
