"""Compiled: the first of many places that lies in an area, along a direction, and clear of round solids."""

from __future__ import annotations

from math import sqrt

import numpy as np
import numpy.typing as npt

from .compiled import exact

Floats = npt.NDArray[np.float64]


@exact
def first_free(
    offsets: Floats,  # [place, xy], from the base, in the order they are tried
    base: Floats,  # x, y
    along: Floats,  # x, y of a unit vector; both 0 for any direction
    solids: Floats,  # [solid, x y radius]
    radius: float,  # of what is to be placed
    area: float,  # places lie within ± this
    margin: float,  # least offset from the base along the direction
    clearance: float,  # least distance between two surfaces
) -> int:
    """The number of the place; −1 where none is free."""
    directed = along[0] != 0.0 or along[1] != 0.0
    for k in range(len(offsets)):
        dx, dy = offsets[k, 0], offsets[k, 1]
        x, y = base[0] + dx, base[1] + dy
        if abs(x) > area or abs(y) > area:
            continue
        if directed and dx * along[0] + dy * along[1] <= margin:
            continue
        clear = True
        for j in range(len(solids)):
            ox, oy = x - solids[j, 0], y - solids[j, 1]
            if sqrt(ox * ox + oy * oy) - radius - solids[j, 2] < clearance:
                clear = False
                break
        if clear:
            return k
    return -1
