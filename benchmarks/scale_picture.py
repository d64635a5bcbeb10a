"""The picture of `benchmarks.scale`: small multiples, time against size, both logarithmic, as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

Panel = tuple[str, str, Sequence[tuple[int, float]]]  # title, unit, (size, seconds)
COLUMNS = 3
WIDTH, HEIGHT = 250, 170  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 26, 34  # margins inside it
SIZES = (2, 7)  # powers of ten
SECONDS = (-5, 3)
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def draw_panels(panels: Sequence[Panel]) -> str:
    rows = -(-len(panels) // COLUMNS)
    width, height = COLUMNS * WIDTH, rows * HEIGHT + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="system-ui, sans-serif" font-size="10" fill="#444">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for k, panel in enumerate(panels):
        parts.append(
            f'<g transform="translate({k % COLUMNS * WIDTH} {k // COLUMNS * HEIGHT})">{_draw_panel(*panel)}</g>'
        )
    parts.append(f'<text x="{LEFT}" y="{height - 6}">CPU seconds against size; dashed: linear growth</text></svg>\n')
    return "\n".join(parts)


def _x(size: float) -> float:
    share = (math.log10(size) - SIZES[0]) / (SIZES[1] - SIZES[0])
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _y(seconds: float) -> float:
    share = (math.log10(seconds) - SECONDS[0]) / (SECONDS[1] - SECONDS[0])
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def _draw_panel(title: str, unit: str, points: Sequence[tuple[int, float]]) -> str:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = [f'<text x="{LEFT}" y="16" font-size="11" font-weight="600" fill="#222">{escape(title)}</text>']
    for power in range(SIZES[0], SIZES[1] + 1):
        x = _x(10**power)
        parts.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}" stroke="#eee"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 12}" text-anchor="middle">{_write_power(power)}</text>')
    for power in range(SECONDS[0], SECONDS[1] + 1):
        y = _y(10.0**power)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#eee"/>')
        if power % 2 == 0:
            parts.append(f'<text x="{LEFT - 5}" y="{y + 3:.1f}" text-anchor="end">{_write_power(power)}</text>')
    parts.append(f'<text x="{(LEFT + right) / 2}" y="{bottom + 25}" text-anchor="middle">{escape(unit)}</text>')
    if points:
        parts += _draw_points(points)
    return "".join(parts)


def _draw_points(points: Sequence[tuple[int, float]]) -> list[str]:
    """The line through the points, and linear growth up to the largest of them."""
    size, seconds = points[-1]
    first = max(points[0][0], size * 10.0 ** SECONDS[0] / seconds)
    guide = f'x1="{_x(first):.1f}" y1="{_y(seconds * first / size):.1f}" x2="{_x(size):.1f}" y2="{_y(seconds):.1f}"'
    places = [(_x(one), _y(max(spent, 10.0 ** SECONDS[0]))) for one, spent in points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="#1f5fa8"/>' for x, y in places)
    line = f'<polyline points="{path}" fill="none" stroke="#1f5fa8" stroke-width="1.5"/>'
    return [f'<line {guide} stroke="#c77" stroke-dasharray="3 3"/>', line, dots]


def _write_power(power: int) -> str:
    return "1" if power == 0 else f"10{str(power).translate(SUPERSCRIPTS)}"
