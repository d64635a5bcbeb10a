"""Footprints: whether two bodies standing on the ground keep clear of each other.

A footprint is a turned rectangle grown by `round` on all sides; half sides of 0 make a circle. As a row of
numbers: x, y, the two half sides, round, cosine, sine.
"""

from math import sqrt

import numpy as np
import numpy.typing as npt

from ..kernels import Doubles, Longs, exact, exact_inline
from ..rng import Stream, draw_double, skip_draws

Rows = Doubles  # [footprint, number]
AXES = 5


@exact_inline
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


# Bodies in a picture. Most places are decided by a few sums: how far a body's middle is within the four sides of the
# picture, and how far its ball is from another's. Within SLIVER of a decision the corners and sides themselves decide.

SLIVER = 1e-6  # far above what rounding does to sums of such numbers
SIDES = 4  # of a picture


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
    ahead, planes, needs = np.empty_like(stream), np.empty((SIDES, 4)), np.empty(SIDES)
    _find_planes(camera, frame, planes)
    for n in range(len(order)):
        refused[:] = 0
        for i in range(len(stream)):  # to copy a whole array takes Numba seconds to compile
            ahead[i] = stream[i]
        skip_draws(stream, skip)
        _bound_bodies(outlines, heights, order[n], planes, needs)
        found = False
        for _ in range(tries):
            x = reach * (2.0 * draw_double(ahead) - 1.0)
            y = reach * (2.0 * draw_double(ahead) - 1.0)
            rule = _find_rule_against(
                outlines, heights, standing, order[n], x, y, axes, margin, clearance, camera, frame, planes, needs
            )
            if rule < 0:
                found = True
                break
            refused[rule] += 1
        if not found:
            return n
        standing[order[n]] = True
    return len(order)


@exact
def place_at(
    outlines: Doubles, heights: Doubles, standing: npt.NDArray[np.bool_], placed: int, x: float, y: float,
    axes: Doubles, margin: float, clearance: float, camera: Doubles, frame: Doubles,
) -> bool:  # fmt: skip
    """Put a footprint there; whether it may stay."""
    planes, needs = np.empty((SIDES, 4)), np.empty(SIDES)
    _find_planes(camera, frame, planes)
    _bound_bodies(outlines, heights, placed, planes, needs)
    standing[placed] = (
        _find_rule_against(
            outlines, heights, standing, placed, x, y, axes, margin, clearance, camera, frame, planes, needs
        )
        < 0
    )
    return bool(standing[placed])


@exact_inline
def _find_rule_against(
    outlines: Doubles, heights: Doubles, standing: npt.NDArray[np.bool_], placed: int, x: float, y: float,
    axes: Doubles, margin: float, clearance: float, camera: Doubles, frame: Doubles, planes: Doubles, needs: Doubles,
) -> int:  # fmt: skip
    """Which rule the place breaks, of margin, frame and overlap in this order; −1 for none.

    Variants are several sets of bodies for the same places: a place is free when it is for each of them.
    """
    for j in range(len(standing)):
        if standing[j] and j != placed:
            dx, dy = x - outlines[0, j, 0], y - outlines[0, j, 1]
            if abs(dx * axes[0, 0] + dy * axes[0, 1]) < margin or abs(dx * axes[1, 0] + dy * axes[1, 1]) < margin:
                return 0
    spare = np.inf
    for k in range(SIDES):
        spare = min(spare, planes[k, 0] * x + planes[k, 1] * y + planes[k, 3] - needs[k])
    if spare < -SLIVER:
        return 1
    for v in range(len(outlines)):
        outlines[v, placed, 0], outlines[v, placed, 1] = x, y
        if spare <= SLIVER and not is_in_frame(outlines[v, placed], heights[v, placed], camera, frame):
            return 1
    for j in range(len(standing)):
        if standing[j] and j != placed:
            for v in range(len(outlines)):
                if not _keeps_clear(outlines, v, placed, j, clearance):
                    return 2
    return -1


@exact_inline
def _keeps_clear(outlines: Doubles, v: int, a: int, b: int, clearance: float) -> bool:
    """Whether their gap is at least that."""
    dx, dy = outlines[v, b, 0] - outlines[v, a, 0], outlines[v, b, 1] - outlines[v, a, 1]
    within = clearance + SLIVER
    for row in (a, b):
        long, wide = outlines[v, row, 2], outlines[v, row, 3]
        within += sqrt(long * long + wide * wide) + outlines[v, row, 4]
    return dx * dx + dy * dy > within * within or measure_gap(outlines[v], a, b) >= clearance


@exact_inline
def _find_planes(camera: Doubles, frame: Doubles, planes: Doubles) -> None:
    """[side, xyz and 1]: how far, times its depth, a point is seen within each side of the frame."""
    for k in range(SIDES):
        axis, sign = (3, 1.0) if k % 2 == 0 else (6, -1.0)  # to the right, and downward
        middle = camera[13] if k % 2 == 0 else camera[14]
        sign, room = (sign, middle - frame[k]) if k < 2 else (-sign, frame[k] - middle)
        planes[k, 3] = 0.0
        for i in range(3):
            planes[k, i] = sign * camera[12] * camera[axis + i] - room * camera[9 + i]
            planes[k, 3] -= planes[k, i] * camera[i]


@exact_inline
def _bound_bodies(outlines: Doubles, heights: Doubles, placed: int, planes: Doubles, needs: Doubles) -> None:
    """[side]: how far within it the middle of a footprint must be, so that all bodies that stand on it are."""
    for k in range(SIDES):
        needs[k] = -np.inf
        for v in range(len(outlines)):
            cosine, sine = outlines[v, placed, 5], outlines[v, placed, 6]
            along = outlines[v, placed, 2] * abs(planes[k, 0] * cosine + planes[k, 1] * sine)
            across = outlines[v, placed, 3] * abs(planes[k, 1] * cosine - planes[k, 0] * sine)
            needs[k] = max(needs[k], along + across - min(0.0, heights[v, placed] * planes[k, 2]))


@exact_inline
def is_in_frame(outline: Doubles, height: float, camera: Doubles, frame: Doubles) -> bool:
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
