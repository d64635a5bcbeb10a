"""Colour: scales for heat maps and one hue a model, told apart by colour-blind readers and in print.

The hues live in style.css (`--hue-0` …), one set for light pages and one for dark ones. Colour is never the
only sign: models have marks of different shapes, cells of a heat map carry their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

HUES = 8

RGB = tuple[float, float, float]

# One hue from light to dark, so that it survives grey printing; text flips from dark to light on the way.
_GAIN: tuple[RGB, ...] = ((240, 245, 250), (158, 196, 226), (66, 132, 186), (15, 70, 125))
# Blue for gains, orange for losses, pale for none: told apart by all common kinds of colour blindness.
_CHANGE: tuple[RGB, ...] = ((150, 60, 10), (240, 160, 100), (246, 246, 244), (140, 190, 225), (15, 80, 140))


def sequential(share: float) -> str:
    """A colour for a share of 0 to 1, darker for more."""
    return _css(_between(_GAIN, share))


def diverging(change: float) -> str:
    """A colour for a change of -1 to 1: orange for losses, blue for gains."""
    return _css(_between(_CHANGE, (change + 1) / 2))


def ink_on(background: str) -> str:
    """Black or white, whichever is read better on this background."""
    return max("#000000", "#ffffff", key=lambda ink: contrast(background, ink))


def contrast(one: str, other: str) -> float:
    """The WCAG contrast ratio of two colours: 4.5 or more is readable text."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _between(stops: Sequence[RGB], share: float) -> RGB:
    at = min(max(share, 0.0), 1.0) * (len(stops) - 1)
    low, high = list(pairwise(stops))[min(int(at), len(stops) - 2)]
    part = at - min(int(at), len(stops) - 2)
    r, g, b = (a + (c - a) * part for a, c in zip(low, high, strict=True))
    return r, g, b


def _css(rgb: RGB) -> str:
    return "#" + "".join(f"{round(v):02x}" for v in rgb)


def _luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
