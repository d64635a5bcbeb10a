"""Compiled: an action's outcome, also with free places taken elsewhere, whether it is sound, and its sets.

A scene is `n` objects in arrays: `body` [object, footprint(7) z fresh reach] (x, y, half sides, round,
cosine, sine as `geometry.footprint` has them; `reach` is that of the ball around it), `codes` [object,
attribute] and `under` [object], what it rests on or −1; its sets are a row as `ask.layout` has it.
An edit is a row of numbers: op, object, anchor, direction, set, and the codes of a new object or of what changes
(−1: stays as it is).
`marks` tells the codes of large, cube and sphere, and where a row of sets holds all objects and relations.
"""

from math import sqrt
from typing import Any

import numpy as np

from ...edit import AREA, CLEARANCE, RADIUS
from ...geometry.footprint import measure_gap
from ...geometry.shapes.clevr import BEVEL
from ...kernels import count_bits, exact, exact_inline, find_free_place
from ...scene import RELATION_MARGIN
from ...scene_table import WORD
from ..clevr.packed_scenes import EXTRA
from ..clevr.search import draw_below
from .scene_arrays import FRESH, REACH, Z

ADD, REMOVE, CHANGE, MOVE, PUT_ON, SWAP = range(6)
OP, OBJECT, ANCHOR, DIRECTION, SET, NEW = range(6)
FIELDS = NEW + 4
L_CODE, CUBE_CODE, BALL_CODE, ALL, FIRST = range(5)  # of `marks`
ROUND = 4  # column of a body; with half a side it makes its radius
ON, BELOW = 4, 5  # relations after the four of the plane
SIZE, SHAPE = 0, 3  # columns of codes
SMALL, LARGE = RADIUS["small"], RADIUS["large"]
MARGIN = 2 * RELATION_MARGIN
BEYOND = 2.0  # what stands beyond all others is half of this from the last
FAR = 1e6  # no bound
CUBE = 1.7320508075688772  # from the middle of a cube to its corner, in half sides
CAN = 1.4142135623730951  # from the middle of a cylinder to its rim, in radii
SILHOUETTE = 1.2  # half of what a cube covers in the image, in half sides
HIDDEN = 0.4  # of a radius beyond its middle: what is covered up to there counts as hidden
TOUCH = 1e-6  # two bodies that touch do not overlap

ZERO, ONE = np.uint64(0), np.uint64(1)


@exact_inline
def outline_radius(body: Any, i: Any) -> Any:
    return body[i, 2] + body[i, ROUND]


@exact_inline
def radius_by_size(codes: Any, i: Any, marks: Any) -> Any:
    """The radius that its size tells; the same as `radius`, but for the last bit."""
    return LARGE if codes[i, SIZE] == marks[L_CODE] else SMALL


@exact_inline
def update_outline(body: Any, codes: Any, i: Any, marks: Any) -> None:
    """Give an object the outline of its size and shape, where it stands."""
    before = outline_radius(body, i)
    r = radius_by_size(codes, i, marks)
    half = r * (1.0 - BEVEL) if codes[i, SHAPE] == marks[CUBE_CODE] else 0.0
    body[i, 2], body[i, 3], body[i, ROUND] = half, half, r - half
    ball = codes[i, SHAPE] == marks[BALL_CODE]
    body[i, REACH] = CUBE * half + r - half if half > 0.0 else r if ball else CAN * r
    body[i, Z] += r - before
    body[i, FRESH] = 1.0


@exact_inline
def project_center(body: Any, i: Any, camera: Any) -> Any:
    """Where in the image the middle of an object is, x and y, how many pixels a unit is there, the depth."""
    dx, dy, dz = body[i, 0] - camera[0], body[i, 1] - camera[1], body[i, Z] - camera[2]
    depth = -(dx * camera[9] + dy * camera[10] + dz * camera[11])
    scale = camera[12] / max(depth, 0.01)
    px = camera[13] + scale * (dx * camera[3] + dy * camera[4] + dz * camera[5])
    py = camera[14] - scale * (dx * camera[6] + dy * camera[7] + dz * camera[8])
    return px, py, scale, depth


@exact_inline
def is_in_frame(body: Any, i: Any, camera: Any, frame: Any) -> Any:
    """Whether the object is seen whole, were it alone: the ball around it, as a camera sees balls."""
    dx, dy, dz = body[i, 0] - camera[0], body[i, 1] - camera[1], body[i, Z] - camera[2]
    depth = -(dx * camera[9] + dy * camera[10] + dz * camera[11])
    r = body[i, REACH]
    if depth <= r:
        return False
    scale = camera[12] / (depth * depth - r * r)
    for axis in range(2):  # off the middle of the image a ball is seen as an ellipse
        at = 3 + 3 * axis
        off = dx * camera[at] + dy * camera[at + 1] + dz * camera[at + 2]
        middle, reach = scale * off * depth, scale * r * sqrt(off * off + depth * depth - r * r)
        if axis == 1:
            middle = -middle
        if camera[13 + axis] + middle < reach or camera[13 + axis] + middle + reach > frame[axis]:
            return False
    return True


@exact_inline
def hides(body: Any, i: Any, j: Any, camera: Any) -> Any:
    """Whether one of two objects covers most of the other."""
    ix, iy, i_scale, i_depth = project_center(body, i, camera)
    jx, jy, j_scale, j_depth = project_center(body, j, camera)
    i_reach = i_scale * (SILHOUETTE * body[i, 2] + body[i, ROUND])
    j_reach = j_scale * (SILHOUETTE * body[j, 2] + body[j, ROUND])
    near, far = (i_reach, j_reach) if i_depth < j_depth else (j_reach, i_reach)
    room = near - HIDDEN * far
    dx, dy = ix - jx, iy - jy
    return room > 0.0 and dx * dx + dy * dy < room * room


@exact_inline
def is_valid_arrangement(n: Any, body: Any, under: Any, camera: Any, frame: Any) -> Any:
    """Whether no two bodies overlap, what is new or moved is in view, and it hides and is hidden by none."""
    for i in range(n):
        if body[i, FRESH] != 0.0 and not is_in_frame(body, i, camera, frame):
            return False
        for j in range(i):
            if body[i, FRESH] == 0.0 and body[j, FRESH] == 0.0:
                continue
            if hides(body, i, j, camera):
                return False
            if under[i] == j or under[j] == i:
                continue
            level = abs(body[i, Z] - body[j, Z]) < outline_radius(body, i) + outline_radius(body, j) - TOUCH
            if level and measure_gap(body, i, j) < 0.0:
                return False
    return True


@exact_inline
def choose_along(n: Any, body: Any, i: Any, way: Any, low: Any, high: Any, turn: Any, line: Any, state: Any) -> Any:
    """How far along a way object i may stand: in the middle of a gap between two others, or beyond them all.

    A gap at random, or for a turn from 0 on that one, counted from the outside. What stands nearly level with another
    counts once.
    """
    size = 0  # of `line`, the others in order
    for j in range(n):
        at = body[j, 0] * way[0] + body[j, 1] * way[1]
        apart = j != i and low < at < high
        for k in range(size):
            apart = apart and abs(line[1 + k] - at) >= MARGIN
        if not apart:
            continue
        size += 1
        k = size
        while k > 1 and line[k - 1] > at:
            line[k] = line[k - 1]
            k -= 1
        line[k] = at
    line[0] = max(low, (line[1] if size > 0 else min(high, 0.0)) - BEYOND)
    line[size + 1] = min(high, (line[size] if size > 0 else max(low, 0.0)) + BEYOND)
    gap = draw_below(state, size + 1)
    if turn >= 0:
        turn %= size + 1
        gap = turn // 2 if turn % 2 == 0 else size - turn // 2
    return (line[gap] + line[gap + 1]) / 2.0


@exact_inline
def place_elsewhere(n: Any, body: Any, i: Any, anchor: Any, relation: Any, ways: Any, row: Any, line: Any,
                    state: Any) -> None:  # fmt: skip
    """Put object i anywhere where the relation holds, if there is one to an anchor, whoever stands there.

    The first rows have it beyond all others, in the four corners; in the next it takes turns with the gaps from side
    to side and from front to back.
    """
    x, y = 0.0, 0.0
    for axis in range(2):
        way = ways[1 + 2 * axis]
        low, high = -FAR, FAR
        if anchor >= 0 and relation >> 1 == axis:
            at = body[anchor, 0] * way[0] + body[anchor, 1] * way[1]
            low, high = (at + MARGIN, FAR) if relation & 1 else (-FAR, at - MARGIN)
        turn = row >> axis & 1 if row < 4 else row >> 1 if row & 1 == axis else -1
        along = choose_along(n, body, i, way, low, high, turn, line, state)
        x += along * way[0]
        y += along * way[1]
    body[i, 0], body[i, 1], body[i, Z], body[i, FRESH] = x, y, outline_radius(body, i), 1.0


@exact_inline
def remove_objects(n: Any, gone: Any, body: Any, codes: Any, under: Any) -> Any:
    """Close the gaps that removed objects leave; how many are left. What stays rests on nothing that goes."""
    kept = 0
    for i in range(n):
        if not gone >> np.uint64(i) & ONE:
            for c in range(body.shape[1]):
                body[kept, c] = body[i, c]
            for c in range(codes.shape[1]):
                codes[kept, c] = codes[i, c]
            load = under[i]
            if load >= 0:
                load -= np.int64(count_bits(gone & ((ONE << np.uint64(load)) - ONE)))
            under[kept] = load
            kept += 1
    return kept


@exact_inline
def init_new_object(body: Any, codes: Any, under: Any, i: Any, edit: Any, marks: Any) -> None:
    """The new object of an edit, not yet anywhere."""
    for c in range(codes.shape[1]):
        codes[i, c] = edit[NEW + c]
    for c in range(body.shape[1]):
        body[i, c] = 0.0
    body[i, 5] = 1.0
    under[i] = -1
    update_outline(body, codes, i, marks)


@exact_inline
def set_codes(codes: Any, i: Any, edit: Any) -> None:
    """Give an object the values that an edit changes."""
    for c in range(codes.shape[1]):
        if edit[NEW + c] >= 0:
            codes[i, c] = edit[NEW + c]


@exact_inline
def swap_places(body: Any, i: Any, j: Any) -> None:
    """Two objects in each other's place, each at its own height."""
    for c in range(2):
        kept = body[i, c]
        body[i, c] = body[j, c]
        body[j, c] = kept
    body[i, FRESH] = body[j, FRESH] = 1.0


@exact_inline
def apply_edits(n: Any, body: Any, codes: Any, under: Any, edits: Any, ways: Any, marks: Any, row: Any,
          line: Any, state: Any) -> Any:  # fmt: skip
    """Do the edits in place, with free places of that row; how many objects there are then."""
    for e in range(len(edits)):
        op, i, anchor = edits[e, OP], edits[e, OBJECT], edits[e, ANCHOR]
        if op == ADD:
            i = n
            n += 1
            init_new_object(body, codes, under, i, edits[e], marks)
        if op in (ADD, MOVE):
            under[i] = -1
            turn = (row + 2 * e) % 4 if row < 4 else row + e  # of two free places, each takes turns of its own
            place_elsewhere(n, body, i, anchor, edits[e, DIRECTION], ways, turn, line, state)
        elif op == REMOVE:
            n = remove_objects(n, np.uint64(edits[e, SET]), body, codes, under)
        elif op == CHANGE:
            for k in range(n):
                if edits[e, SET] >> k & 1:
                    set_codes(codes, k, edits[e])
                    update_outline(body, codes, k, marks)
        elif op == PUT_ON:
            body[i, 0], body[i, 1] = body[anchor, 0], body[anchor, 1]
            body[i, Z] = body[anchor, Z] + outline_radius(body, anchor) + outline_radius(body, i)
            body[i, FRESH] = 1.0
            under[i] = anchor
        elif op == SWAP:
            swap_places(body, i, anchor)
    return n


@exact_inline
def fill_scene_sets(n: Any, body: Any, codes: Any, under: Any, directions: Any, marks: Any,
        sets: Any, out_codes: Any, knows: Any) -> None:  # fmt: skip
    """The sets, codes and known relations of one scene, whatever stood there before."""
    first = marks[FIRST]
    for word in range(marks[ALL] + EXTRA):
        sets[word] = ZERO
    for i in range(n):
        for r in range(len(knows)):
            sets[first + WORD * r + i] = ZERO
    for r in range(len(knows)):
        knows[r] = r < len(directions)
    for i in range(n):
        bit = ONE << np.uint64(i)
        sets[marks[ALL]] |= bit
        for c in range(codes.shape[1]):
            sets[codes[i, c]] |= bit
            out_codes[i, c] = codes[i, c]
        for j in range(i):  # the offset from j to i is that from i to j turned round, to the last bit
            dx, dy, dz = body[j, 0] - body[i, 0], body[j, 1] - body[i, 1], body[j, Z] - body[i, Z]
            for r in range(len(directions)):
                offset = dx * directions[r, 0] + dy * directions[r, 1] + dz * directions[r, 2]
                if offset > RELATION_MARGIN:
                    sets[first + WORD * r + i] |= ONE << np.uint64(j)
                elif -offset > RELATION_MARGIN:
                    sets[first + WORD * r + j] |= bit
    for i in range(n):
        if under[i] >= 0:
            knows[ON] = knows[BELOW] = True
            sets[first + WORD * ON + under[i]] |= ONE << np.uint64(i)
            sets[first + WORD * BELOW + i] |= ONE << np.uint64(under[i])


@exact
def sample_outcomes(n: Any, body: Any, codes: Any, under: Any, edits: Any, directions: Any, marks: Any, state: Any,
             sets: Any, out_codes: Any, knows: Any) -> None:  # fmt: skip
    """Lay out as many outcomes as `sets` has rows, each with its free places taken elsewhere."""
    a_body, a_codes, a_under = np.empty_like(body), np.empty_like(codes), np.empty_like(under)
    line = np.empty(len(body) + 2)
    for k in range(len(sets)):
        a_body[:], a_codes[:], a_under[:] = body, codes, under
        m = apply_edits(n, a_body, a_codes, a_under, edits, directions, marks, k, line, state)
        fill_scene_sets(m, a_body, a_codes, a_under, directions, marks, sets[k], out_codes[k], knows[k])


@exact_inline
def carries(n: Any, under: Any, i: Any) -> Any:
    found = False
    for j in range(n):
        found = found or under[j] == i
    return found


@exact
def place_nearest(n: Any, body: Any, codes: Any, i: Any, anchor: Any, along: Any, spiral: Any,
                  marks: Any) -> Any:  # fmt: skip
    """Put object i where `edit.apply` would, clear of the others; whether there is such a place."""
    base, towards = np.zeros(2), np.zeros(2)
    if anchor >= 0:
        base[:] = body[anchor, :2]
        towards[:] = along[:2]
    solids = np.empty((n - 1, 3))
    m = 0
    for j in range(n):
        if j != i:
            solids[m, 0], solids[m, 1], solids[m, 2] = body[j, 0], body[j, 1], radius_by_size(codes, j, marks)
            m += 1
    r = radius_by_size(codes, i, marks)
    k = find_free_place(spiral, base, towards, solids, r, AREA, MARGIN, CLEARANCE)
    if k < 0:
        return False
    body[i, 0], body[i, 1], body[i, Z] = base[0] + spiral[k, 0], base[1] + spiral[k, 1], r
    body[i, FRESH] = 1.0
    return True


@exact
def apply_edit(n: Any, body: Any, codes: Any, under: Any, sets: Any, knows: Any, edit: Any, directions: Any,
         camera: Any, frame: Any, spiral: Any, marks: Any, strict: Any) -> Any:  # fmt: skip
    """Do one edit in place as `edit.apply` does it, bit by bit; how many objects there are then.

    −1 where it cannot be done, and with `strict` also where what comes of it is not sound.
    """
    op, i, anchor = edit[OP], edit[OBJECT], edit[ANCHOR]
    anew = True
    if op == ADD:
        i = n
        n += 1
        init_new_object(body, codes, under, i, edit, marks)
        if not place_nearest(n, body, codes, i, anchor, directions[edit[DIRECTION]], spiral, marks):
            return -1
    elif op == MOVE:
        if i == anchor or carries(n, under, i):
            return -1
        under[i] = -1
        if not place_nearest(n, body, codes, i, anchor, directions[edit[DIRECTION]], spiral, marks):
            return -1
    elif op == PUT_ON:
        if i == anchor or carries(n, under, i) or carries(n, under, anchor):
            return -1
        body[i, 0], body[i, 1] = body[anchor, 0], body[anchor, 1]
        body[i, Z] = body[anchor, Z] + radius_by_size(codes, anchor, marks) + radius_by_size(codes, i, marks)
        body[i, FRESH] = 1.0
        under[i] = anchor
    elif op == SWAP:
        if i == anchor or carries(n, under, i) or carries(n, under, anchor):
            return -1
        if under[i] >= 0 or under[anchor] >= 0:
            return -1
        swap_places(body, i, anchor)
    elif op == REMOVE:
        for k in range(n):
            load = under[k]
            if load >= 0 and edit[SET] >> load & 1 and not edit[SET] >> k & 1:
                return -1
        n = remove_objects(n, np.uint64(edit[SET]), body, codes, under)
    else:
        anew = edit[NEW + SIZE] >= 0
        for k in range(n):
            if edit[SET] >> k & 1:
                if anew and carries(n, under, k):
                    return -1
                z, before = body[k, Z], radius_by_size(codes, k, marks)
                set_codes(codes, k, edit)
                update_outline(body, codes, k, marks)
                body[k, Z] = z - before + radius_by_size(codes, k, marks) if anew else z
    if strict and not is_valid_arrangement(n, body, under, camera, frame):
        return -1
    if anew:
        fill_scene_sets(n, body, codes, under, directions, marks, sets, codes, knows)
    else:  # all stand where they stood: what the scene told about that stays
        update_value_sets(n, codes, marks, sets)
    if strict and op in (ADD, MOVE) and anchor >= 0:
        stated = sets[marks[FIRST] + WORD * edit[DIRECTION] + anchor]
        if not stated >> np.uint64(i) & ONE:
            return -1
    return n


@exact_inline
def update_value_sets(n: Any, codes: Any, marks: Any, sets: Any) -> None:
    """The sets of a scene whose objects are of other values than they were."""
    for word in range(marks[ALL]):
        sets[word] = ZERO
    for i in range(n):
        for c in range(codes.shape[1]):
            sets[codes[i, c]] |= ONE << np.uint64(i)
