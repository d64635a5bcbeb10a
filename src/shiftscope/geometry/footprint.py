"""Footprints: whether two bodies standing on the ground keep clear of each other.

A footprint is a turned rectangle grown by `round` on all sides; half sides of 0 make a circle. As a row of
numbers: x, y, the two half sides, round, cosine, sine.
"""

from math import sqrt

import numpy as np
import numpy.typing as npt

from ..kernels import Doubles, Longs, exact

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
def place_all(
    outlines: Doubles,  # [variant, footprint, number]
    heights: Doubles,  # [variant, footprint]
    standing: npt.NDArray[np.bool_],  # [footprint], those to keep clear of
    order: Longs,  # footprints to be placed
    candidates: Doubles,  # [footprint of the order, try, xy]
    axes: Doubles, margin: float, clearance: float,  # as above
    camera: Doubles,  # as `Camera.pack` gives it
    frame: Doubles,  # left, top, right, bottom: where a body must be seen, in pixels
    refused: Longs,  # counts: margin, frame, overlap
) -> int:  # fmt: skip
    """Put footprints at the first of their candidates that are free; how many found one before one did not.

    Variants are several sets of bodies for the same places: a place is free when it is for each of them.
    `refused` tells what turned down the candidates of the last one.
    """
    for n in range(len(order)):
        refused[:] = 0
        if not _place_first_free(
            outlines, heights, standing, order[n], candidates[n], axes, margin, clearance, camera, frame, refused
        ):
            return n
        standing[order[n]] = True
    return len(order)


@exact
def _place_first_free(
    outlines: Doubles, heights: Doubles, standing: npt.NDArray[np.bool_], placed: int, candidates: Doubles,
    axes: Doubles, margin: float, clearance: float, camera: Doubles, frame: Doubles, refused: Longs,
) -> bool:  # fmt: skip
    for t in range(len(candidates)):
        x, y = candidates[t, 0], candidates[t, 1]
        rule = -1
        for j in range(len(standing)):
            if standing[j] and j != placed:
                dx, dy = x - outlines[0, j, 0], y - outlines[0, j, 1]
                if abs(dx * axes[0, 0] + dy * axes[0, 1]) < margin or abs(dx * axes[1, 0] + dy * axes[1, 1]) < margin:
                    rule = 0
                    break
        if rule < 0:
            for v in range(len(outlines)):
                outlines[v, placed, 0], outlines[v, placed, 1] = x, y
                if not _is_in_frame(outlines[v, placed], heights[v, placed], camera, frame):
                    rule = 1
                    break
        if rule < 0:
            for v in range(len(outlines)):
                for j in range(len(standing)):
                    if standing[j] and j != placed and measure_gap(outlines[v], placed, j) < clearance:
                        rule = 2
                        break
                if rule == 2:
                    break
        if rule < 0:
            return True
        refused[rule] += 1
    return False


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
