"""Footprints: whether two bodies standing on the ground keep clear of each other.

A footprint is a turned square grown by `round` on all sides; a half side of 0 makes a circle. As a row of
numbers: x, y, half side, round, cosine, sine.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from ..compiled import exact

Rows = npt.NDArray[np.float64]  # [footprint, number]
AXES = 5


@exact
def gap(rows: Rows, a: int, b: int) -> float:
    """The widest strip found between two: positive means apart, and never more than the true distance."""
    dx, dy = rows[b, 0] - rows[a, 0], rows[b, 1] - rows[a, 1]
    distance = sqrt(dx * dx + dy * dy)
    widest = -1e9
    for k in range(AXES):
        if k == 4:  # from centre to centre
            if distance == 0.0:
                continue
            ax, ay = dx / distance, dy / distance
        else:  # across the sides of the one and of the other
            row = a if k < 2 else b
            cosine, sine = rows[row, 4], rows[row, 5]
            ax, ay = (cosine, sine) if k % 2 == 0 else (-sine, cosine)
        strip = abs(dx * ax + dy * ay)
        for row in (a, b):
            along = abs(ax * rows[row, 4] + ay * rows[row, 5])
            across = abs(ay * rows[row, 4] - ax * rows[row, 5])
            strip -= rows[row, 2] * (along + across) + rows[row, 3]
        widest = max(widest, strip)
    return widest


@exact
def first_clear(
    rows: Rows,
    radii: npt.NDArray[np.float64],
    placed: int,
    candidates: npt.NDArray[np.float64],  # [try, xy]
    axes: npt.NDArray[np.float64],  # [2, xy], unit vectors
    distance: float,
    margin: float,
    clearance: float,
    refused: npt.NDArray[np.int64],  # counts: distance, margin, overlap
) -> bool:
    """Put footprint number `placed` at the first candidate clear of those before it; False if none is."""
    for t in range(len(candidates)):
        x, y = candidates[t, 0], candidates[t, 1]
        rows[placed, 0], rows[placed, 1] = x, y
        rule = -1
        for j in range(placed):
            dx, dy = x - rows[j, 0], y - rows[j, 1]
            apart = radii[placed] + radii[j] + distance
            if dx * dx + dy * dy < apart * apart:
                rule = 0
            elif (
                abs(dx * axes[0, 0] + dy * axes[0, 1]) < margin
                or abs(dx * axes[1, 0] + dy * axes[1, 1]) < margin
            ):
                rule = 1
            elif gap(rows, placed, j) < clearance:
                rule = 2
            if rule >= 0:
                refused[rule] += 1
                break
        if rule < 0:
            return True
    return False
