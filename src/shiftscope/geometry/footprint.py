"""Footprints: whether two bodies standing on the ground keep clear of each other.

A footprint is a turned rectangle grown by `round` on all sides; half sides of 0 make a circle. As a row of
numbers: x, y, the two half sides, round, cosine, sine.
"""

from math import sqrt

import numpy as np
import numpy.typing as npt

from ..kernels import Doubles, Longs, exact
from ..rng import Stream, draw_double, skip_draws

Rows = Doubles  # [footprint, number]
AXES = 5


@exact
def measure_gap(rows: Rows, a: int, b: int) -> float:
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
            cosine, sine = rows[row, 5], rows[row, 6]
            ax, ay = (cosine, sine) if k % 2 == 0 else (-sine, cosine)
        strip = abs(dx * ax + dy * ay)
        for row in (a, b):
            along = abs(ax * rows[row, 5] + ay * rows[row, 6])
            across = abs(ay * rows[row, 5] - ax * rows[row, 6])
            strip -= rows[row, 2] * along + rows[row, 3] * across + rows[row, 4]
        widest = max(widest, strip)
    return widest


@exact
def place_in_turn(
    rows: Rows, radii: Doubles,
    candidates: Doubles,  # [footprint, try, xy]
    axes: Doubles,  # [2, xy], unit vectors
    distance: float, margin: float, clearance: float,
    refused: Longs,  # counts: distance, margin, overlap
) -> int:  # fmt: skip
    """Put footprints at the first candidates clear of those before them; how many find one before one does not."""
    for placed in range(len(rows)):
        if not _place_first_clear(rows, radii, placed, candidates[placed], axes, distance, margin, clearance, refused):
            return placed
    return len(rows)


@exact
def _place_first_clear(
    rows: Rows, radii: Doubles, placed: int, candidates: Doubles, axes: Doubles,
    distance: float, margin: float, clearance: float, refused: Longs,
) -> bool:  # fmt: skip
    for t in range(len(candidates)):
        x, y = candidates[t, 0], candidates[t, 1]
        rows[placed, 0], rows[placed, 1] = x, y
        rule = -1
        for j in range(placed):
            dx, dy = x - rows[j, 0], y - rows[j, 1]
            apart = radii[placed] + radii[j] + distance
            if dx * dx + dy * dy < apart * apart:
                rule = 0
            elif abs(dx * axes[0, 0] + dy * axes[0, 1]) < margin or abs(dx * axes[1, 0] + dy * axes[1, 1]) < margin:
                rule = 1
            elif measure_gap(rows, placed, j) < clearance:
                rule = 2
            if rule >= 0:
                refused[rule] += 1
                break
        if rule < 0:
            return True
    return False


@exact
def place_drawn(
    outlines: Doubles,  # [variant, footprint, number]
    heights: Doubles,  # [variant, footprint]
    standing: npt.NDArray[np.bool_],  # [footprint], those to keep clear of
    order: Longs,  # footprints to be placed
    stream: Stream, tries: int, skip: Stream,  # random numbers, places tried for each, and how to skip that many
    reach: float,  # places lie within ± this
    axes: Doubles, margin: float, clearance: float,  # as above
    camera: Doubles,  # as `Camera.pack` gives it
    frame: Doubles,  # left, top, right, bottom: where a body must be seen, in pixels
    refused: Longs,  # counts: margin, frame, overlap
) -> int:  # fmt: skip
    """Put footprints at the first free places drawn for them; how many found one before one did not.

    All of a footprint's places count as drawn. `refused` tells what turned down those of the last one.
    """
    ahead = np.empty_like(stream)
    for n in range(len(order)):
        refused[:] = 0
        ahead[:] = stream
        skip_draws(stream, skip)
        found = False
        for _ in range(tries):
            x = reach * (2.0 * draw_double(ahead) - 1.0)
            y = reach * (2.0 * draw_double(ahead) - 1.0)
            rule = place_at(outlines, heights, standing, order[n], x, y, axes, margin, clearance, camera, frame)
            if rule < 0:
                found = True
                break
            refused[rule] += 1
        if not found:
            return n
    return len(order)


@exact
def place_at(
    outlines: Doubles, heights: Doubles, standing: npt.NDArray[np.bool_], placed: int, x: float, y: float,
    axes: Doubles, margin: float, clearance: float, camera: Doubles, frame: Doubles,
) -> int:  # fmt: skip
    """Put a footprint there if the place is free; returns −1, or the rule against it: margin, frame, overlap.

    Variants are several sets of bodies for the same places: a place is free when it is for each of them.
    """
    for j in range(len(standing)):
        if standing[j] and j != placed:
            dx, dy = x - outlines[0, j, 0], y - outlines[0, j, 1]
            if abs(dx * axes[0, 0] + dy * axes[0, 1]) < margin or abs(dx * axes[1, 0] + dy * axes[1, 1]) < margin:
                return 0
    for v in range(len(outlines)):
        outlines[v, placed, 0], outlines[v, placed, 1] = x, y
        if not _is_in_frame(outlines[v, placed], heights[v, placed], camera, frame):
            return 1
    for v in range(len(outlines)):
        for j in range(len(standing)):
            if standing[j] and j != placed and measure_gap(outlines[v], placed, j) < clearance:
                return 2
    standing[placed] = True
    return -1


@exact
def _is_in_frame(outline: Doubles, height: float, camera: Doubles, frame: Doubles) -> bool:
    """Whether the box that stands on a footprint is seen whole."""
    for corner in range(8):
        along = outline[2] if corner & 1 else -outline[2]
        across = outline[3] if corner & 2 else -outline[3]
        dx = outline[0] + along * outline[5] - across * outline[6] - camera[0]
        dy = outline[1] + along * outline[6] + across * outline[5] - camera[1]
        dz = (height if corner & 4 else 0.0) - camera[2]
        depth = -(dx * camera[9] + dy * camera[10] + dz * camera[11])
        if depth <= 0.0:
            return False
        scale = camera[12] / depth
        px = camera[13] + scale * (dx * camera[3] + dy * camera[4] + dz * camera[5])
        py = camera[14] - scale * (dx * camera[6] + dy * camera[7] + dz * camera[8])
        if px < frame[0] or py < frame[1] or px > frame[2] or py > frame[3]:
            return False
    return True
