"""Compiled: an action's outcome with its free places taken elsewhere, whether a scene is sound, and its sets.

A scene is `n` objects in arrays: `body` [object, footprint(7) z fresh reach] (x, y, half sides, round,
cosine, sine as `geometry.footprint` has them; `reach` is that of the ball around it), `codes` [object,
attribute] and `under` [object], what it rests on or −1.
An edit is a row of numbers: op, object, anchor, direction, set, column, code, and the codes of a new object.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ask._search import roll
from ..compiled import exact
from ..edit import AREA, CLEARANCE, RADIUS
from ..geometry.footprint import gap
from ..geometry.solids import BEVEL
from ..scene import RELATION_MARGIN
from ..scenetable import WORD

ADD, REMOVE, CHANGE, MOVE, PUT_ON, SWAP = range(6)
OP, OBJECT, ANCHOR, DIRECTION, SET, COLUMN, CODE, NEW = range(8)
FIELDS = NEW + 4
ROUND, Z, FRESH, REACH = 4, 7, 8, 9  # columns of a body; `round` and half a side make its radius
NUMBERS = 10
MOST = 16  # objects
ON, BELOW = 4, 5  # relations after the four of the plane
SIZE, SHAPE = 0, 3  # columns of codes
SMALL, LARGE = RADIUS["small"], RADIUS["large"]
MARGIN = 2 * RELATION_MARGIN
PLACES = 600  # tried for one free place
OUTCOMES = 50  # tried for one that is sound
CUBE = 1.7320508075688772  # from the middle of a cube to its corner, in half sides
CAN = 1.4142135623730951  # from the middle of a cylinder to its rim, in radii
WIDER = 1.05  # perspective widens what is off the middle of the image
SILHOUETTE = 1.2  # half of what a cube covers in the image, in half sides
HIDDEN = 0.4  # of a radius beyond its middle: what is covered up to there counts as hidden
TOUCH = 1e-6  # two bodies that touch do not overlap

ONE = np.uint64(1)


@exact
def radius(body: Any, i: Any) -> Any:
    return body[i, 2] + body[i, ROUND]


@exact
def shape_up(body: Any, codes: Any, i: Any, large: Any, cube: Any, sphere: Any) -> None:
    """Give an object the outline of its size and shape, where it stands."""
    before = radius(body, i)
    r = LARGE if codes[i, SIZE] == large else SMALL
    half = r * (1.0 - BEVEL) if codes[i, SHAPE] == cube else 0.0
    body[i, 2], body[i, 3], body[i, ROUND] = half, half, r - half
    body[i, REACH] = CUBE * half + r - half if half > 0.0 else r if codes[i, SHAPE] == sphere else CAN * r
    body[i, Z] += r - before
    body[i, FRESH] = 1.0


@exact
def seen_at(body: Any, i: Any, camera: Any) -> Any:
    """Where in the image the middle of an object is, x and y, how many pixels a unit is there, the depth."""
    dx, dy, dz = body[i, 0] - camera[0], body[i, 1] - camera[1], body[i, Z] - camera[2]
    depth = -(dx * camera[9] + dy * camera[10] + dz * camera[11])
    scale = camera[12] / max(depth, 0.01)
    px = camera[13] + scale * (dx * camera[3] + dy * camera[4] + dz * camera[5])
    py = camera[14] - scale * (dx * camera[6] + dy * camera[7] + dz * camera[8])
    return px, py, scale, depth


@exact
def framed(body: Any, i: Any, camera: Any, frame: Any) -> Any:
    """Whether the object is seen whole, were it alone."""
    px, py, scale, depth = seen_at(body, i, camera)
    reach = WIDER * scale * body[i, REACH]
    inside = px >= reach and py >= reach and px <= frame[0] - reach and py <= frame[1] - reach
    return inside and depth > 0.0


@exact
def hides(body: Any, i: Any, j: Any, camera: Any) -> Any:
    """Whether one of two objects covers most of the other."""
    ix, iy, i_scale, i_depth = seen_at(body, i, camera)
    jx, jy, j_scale, j_depth = seen_at(body, j, camera)
    i_reach = i_scale * (SILHOUETTE * body[i, 2] + body[i, ROUND])
    j_reach = j_scale * (SILHOUETTE * body[j, 2] + body[j, ROUND])
    near, far = (i_reach, j_reach) if i_depth < j_depth else (j_reach, i_reach)
    room = near - HIDDEN * far
    dx, dy = ix - jx, iy - jy
    return room > 0.0 and dx * dx + dy * dy < room * room


@exact
def sound(n: Any, body: Any, under: Any, camera: Any, frame: Any) -> Any:
    """Whether no two bodies overlap, what is new or moved is in view, and it hides and is hidden by none."""
    for i in range(n):
        if body[i, FRESH] != 0.0 and not framed(body, i, camera, frame):
            return False
        for j in range(i):
            if body[i, FRESH] == 0.0 and body[j, FRESH] == 0.0:
                continue
            if hides(body, i, j, camera):
                return False
            if under[i] == j or under[j] == i:
                continue
            level = abs(body[i, Z] - body[j, Z]) < radius(body, i) + radius(body, j) - TOUCH
            if level and gap(body, i, j) < 0.0:
                return False
    return True


@exact
def take_place(
    n: Any, body: Any, i: Any, anchor: Any, along: Any, camera: Any, frame: Any, state: Any
) -> Any:
    """Put object i at random where the relation holds, clear of the others and in view; whether that went."""
    unit = 1.0 / 9007199254740992.0
    for _ in range(PLACES):
        x = AREA * (2.0 * np.float64(roll(state) >> np.uint64(11)) * unit - 1.0)
        y = AREA * (2.0 * np.float64(roll(state) >> np.uint64(11)) * unit - 1.0)
        if anchor >= 0:
            dx, dy = x - body[anchor, 0], y - body[anchor, 1]
            if dx * along[0] + dy * along[1] <= MARGIN:
                continue
        clear = True
        for j in range(n):
            dx, dy = x - body[j, 0], y - body[j, 1]
            apart = radius(body, i) + radius(body, j) + CLEARANCE
            if j != i and dx * dx + dy * dy < apart * apart:
                clear = False
                break
        if not clear:
            continue
        body[i, 0], body[i, 1], body[i, Z], body[i, FRESH] = x, y, radius(body, i), 1.0
        if framed(body, i, camera, frame):
            return True
    return False


@exact
def drop(n: Any, gone: Any, body: Any, codes: Any, under: Any) -> Any:
    """Close the gaps that removed objects leave; how many are left."""
    kept = 0
    number = np.full(n, -1, np.int64)
    for i in range(n):
        if not gone >> np.uint64(i) & ONE:
            number[i] = kept
            body[kept] = body[i]
            codes[kept] = codes[i]
            under[kept] = under[i]
            kept += 1
    for i in range(kept):
        under[i] = number[under[i]] if under[i] >= 0 else -1
    return kept


@exact
def enact(n: Any, body: Any, codes: Any, under: Any, edits: Any, along: Any, camera: Any, frame: Any,
          large: Any, cube: Any, sphere: Any, state: Any) -> Any:  # fmt: skip
    """Do the edits in place, free places at random; how many objects there are then, 0 where it fails."""
    for e in range(len(edits)):
        op, i, anchor = edits[e, OP], edits[e, OBJECT], edits[e, ANCHOR]
        if op == ADD:
            i = n
            n += 1
            codes[i] = edits[e, NEW:]
            body[i] = 0.0
            body[i, 5] = 1.0
            under[i] = -1
            shape_up(body, codes, i, large, cube, sphere)
        if op in (ADD, MOVE):
            under[i] = -1
            if not take_place(n, body, i, anchor, along[edits[e, DIRECTION]], camera, frame, state):
                return 0
        elif op == REMOVE:
            n = drop(n, np.uint64(edits[e, SET]), body, codes, under)
        elif op == CHANGE:
            for k in range(n):
                if edits[e, SET] >> k & 1:
                    codes[k, edits[e, COLUMN]] = edits[e, CODE]
                    shape_up(body, codes, k, large, cube, sphere)
        elif op == PUT_ON:
            body[i, 0], body[i, 1] = body[anchor, 0], body[anchor, 1]
            body[i, Z] = body[anchor, Z] + radius(body, anchor) + radius(body, i)
            body[i, FRESH] = 1.0
            under[i] = anchor
        elif op == SWAP:
            for c in range(2):
                kept = body[i, c]
                body[i, c] = body[anchor, c]
                body[anchor, c] = kept
            body[i, FRESH] = body[anchor, FRESH] = 1.0
    return n


@exact
def lay(n: Any, body: Any, codes: Any, under: Any, directions: Any, at: Any, first: Any,
        sets: Any, out_codes: Any, knows: Any) -> None:  # fmt: skip
    """The sets, codes and known relations of one scene: all objects at `at`, relations from `first` on."""
    for i in range(n):
        bit = ONE << np.uint64(i)
        sets[at] |= bit
        for c in range(codes.shape[1]):
            sets[codes[i, c]] |= bit
            out_codes[i, c] = codes[i, c]
        for r in range(len(directions)):
            row = np.uint64(0)
            for j in range(n):
                dx, dy, dz = body[j, 0] - body[i, 0], body[j, 1] - body[i, 1], body[j, Z] - body[i, Z]
                offset = dx * directions[r, 0] + dy * directions[r, 1] + dz * directions[r, 2]
                if j != i and offset > RELATION_MARGIN:
                    row |= ONE << np.uint64(j)
            sets[first + WORD * r + i] = row
        if under[i] >= 0:
            knows[ON] = knows[BELOW] = True
            sets[first + WORD * ON + under[i]] |= bit
            sets[first + WORD * BELOW + i] |= ONE << np.uint64(under[i])
    for r in range(len(directions)):
        knows[r] = True


@exact
def outcomes(n: Any, body: Any, codes: Any, under: Any, edits: Any, directions: Any, camera: Any, frame: Any,
             large: Any, cube: Any, sphere: Any, at: Any, first: Any, state: Any,
             sets: Any, out_codes: Any, knows: Any) -> Any:  # fmt: skip
    """Lay out as many outcomes as `sets` has rows, places taken at random; False where one is not found."""
    a_body, a_codes, a_under = np.empty_like(body), np.empty_like(codes), np.empty_like(under)
    for k in range(len(sets)):
        found = False
        for _ in range(OUTCOMES):
            a_body[:], a_codes[:], a_under[:] = body, codes, under
            m = enact(
                n, a_body, a_codes, a_under, edits, directions, camera, frame, large, cube, sphere, state
            )
            if m == 0:
                return False
            if sound(m, a_body, a_under, camera, frame):
                lay(m, a_body, a_codes, a_under, directions, at, first, sets[k], out_codes[k], knows[k])
                found = True
                break
        if not found:
            return False
    return True
