"""Vertices placed, triangles drawn into visibility buffers, masks measured: geometry/visibility.py.

A sample lies in a triangle when none of three edges turns its back on it: the very spans that the CPU walks.
The pixels of small triangles are shared out evenly among the lanes of a program, in 32 bits; a large one is drawn
by all lanes together.
"""

import triton
import triton.language as tl

from ...geometry import visibility as v

# mypy: ignore-errors

SNAP, NEAR, NEARNESS, GUARD = (tl.constexpr(x) for x in (v.SNAP, v.NEAR, v.NEARNESS, v.GUARD))
LONG = tl.constexpr(v.LONG)  # doubles hold all whole numbers below
NONE = tl.constexpr(1 << 20)  # more labels than an image has
SMALL = tl.constexpr(1 << 14)  # steps: a length fits 16 bits, the products of two fit 32


@triton.jit
def split_program():
    """Which image this program is for, and which piece of it.

    Programs start in the order of their first number. Here those of one image follow each other, and find in the
    cache what the others have read.
    """
    i = tl.program_id(1) * tl.num_programs(0) + tl.program_id(0)
    return i // tl.num_programs(1), i % tl.num_programs(1)


@triton.jit
def tile(piece, width, height, ACROSS: tl.constexpr, DOWN: tl.constexpr):
    """Where a tile begins, its columns and rows, and which of them the image has."""
    tiles = tl.cdiv(width, ACROSS)
    left, top = piece % tiles * ACROSS, piece // tiles * DOWN
    lane = tl.arange(0, ACROSS * DOWN)
    x, y = left + lane % ACROSS, top + lane // ACROSS
    return left, top, x, y, (x < width) & (y < height)


@triton.jit
def invert(value):
    """1 / value of positive numbers, to seven digits: sooner than a division, which minds the smallest and largest."""
    root = tl.rsqrt(value)
    return root * root


@triton.jit
def load_four(start, wanted, other):
    """Four numbers that follow each other, for every lane in one access; `start` is a multiple of four."""
    rows = tl.load(start[:, None] + tl.arange(0, 4)[None, :], wanted[:, None], other)
    even, odd = tl.split(tl.reshape(rows, (start.shape[0], 2, 2)))
    a, c = tl.split(even)
    b, d = tl.split(odd)
    return a, b, c, d


@triton.jit
def join_four(a, b, c, d):
    """[lane, 4]"""
    return tl.reshape(tl.join(tl.join(a, c), tl.join(b, d)), (a.shape[0], 4))


@triton.jit
def store_four(start, a, b, c, d, wanted):
    """What load_four reads."""
    tl.store(start[:, None] + tl.arange(0, 4)[None, :], join_four(a, b, c, d), wanted[:, None])


@triton.jit
def mark_tiles(
    bounds, poses, first,  # see pack.py
    views,  # the cameras as floats
    busy,  # out: [image, tile], whether a body may be seen in it
    width, height,
    ACROSS: tl.constexpr, DOWN: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """One program: some tiles of one image, against the corners of the box around each body, to within a pixel."""
    image = tl.program_id(0)
    wide = tl.cdiv(width, ACROSS)
    count = wide * tl.cdiv(height, DOWN)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    left, top = (i % wide * ACROSS).to(tl.float32), (i // wide * DOWN).to(tl.float32)
    view, corner = views + image * 15, tl.arange(0, 8)
    focal, found = tl.load(view + 12), tl.zeros([BLOCK], tl.int32)
    for body in range(tl.load(first + image), tl.load(first + image + 1)):
        pose, low, high = poses + body * 6, bounds + body * 6, bounds + body * 6 + 3
        scale, c, s = tl.load(pose + 3), tl.load(pose + 4), tl.load(pose + 5)
        x = tl.where(corner % 2 == 0, tl.load(low), tl.load(high)) * scale
        y = tl.where(corner // 2 % 2 == 0, tl.load(low + 1), tl.load(high + 1)) * scale
        z = tl.where(corner // 4 == 0, tl.load(low + 2), tl.load(high + 2)) * scale
        dx = (tl.load(pose) + (x * c - y * s)).to(tl.float32) - tl.load(view)
        dy = (tl.load(pose + 1) + (x * s + y * c)).to(tl.float32) - tl.load(view + 1)
        dz = (tl.load(pose + 2) + z).to(tl.float32) - tl.load(view + 2)
        depth = -(dx * tl.load(view + 9) + dy * tl.load(view + 10) + dz * tl.load(view + 11))
        scale = focal / tl.maximum(depth, NEAR)
        px = tl.load(view + 13) + scale * (dx * tl.load(view + 3) + dy * tl.load(view + 4) + dz * tl.load(view + 5))
        py = tl.load(view + 14) - scale * (dx * tl.load(view + 6) + dy * tl.load(view + 7) + dz * tl.load(view + 8))
        slack = tl.where(tl.min(depth, 0) >= NEAR, 1.0, 1e9)  # what reaches behind the camera may be seen anywhere
        beside = (tl.min(px, 0) - slack > left + ACROSS) | (tl.max(px, 0) + slack < left)
        beside = beside | (tl.min(py, 0) - slack > top + DOWN) | (tl.max(py, 0) + slack < top)
        found = tl.where(beside, found, 1)
    tl.store(busy + image * count + i, found, i < count)


@triton.jit
def clear_tiles(
    fine, centre,  # out, see draw_triangles
    busy, width, height,
    EVERY: tl.constexpr,  # not centres alone
    ACROSS: tl.constexpr, DOWN: tl.constexpr,
):  # fmt: skip
    """One program: the samples of one tile, if a body may be seen in it; nobody looks at the others."""
    image, piece = split_program()
    if tl.load(busy + image * tl.num_programs(1) + piece) > 0:
        _, _, x, y, inside = tile(piece, width, height, ACROSS, DOWN)
        nothing = tl.zeros([ACROSS * DOWN], tl.int64)
        place = image.to(tl.int64) * width * height + y * width + x
        tl.store(centre + place, nothing, inside)
        if EVERY:
            store_four(fine + place * 4, nothing, nothing, nothing, nothing, inside)


# Vertices: in doubles, each operation as written (no fusing), so that the integers are the CPU's.


@triton.jit
def place_vertices(
    vertices, normals,  # [mesh vertex, xyz], double
    bodies, poses, cameras, lamps,  # see pack.py
    points,  # out: [vertex, position - normal -], float
    snapped,  # out: [view, vertex, x y nearness -]; the camera's view, then the lamps'
    total,  # vertices of the batch
    margin,  # of the shadow maps
    LAMPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """One program: some vertices of one body."""
    body = tl.program_id(0)
    row = bodies + body * 8
    count = tl.load(row + 1)
    if tl.program_id(1) * BLOCK < count:
        i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
        inside = i < count
        source = (tl.load(row) + i) * 3
        target = tl.load(row + 4) + i
        pose = poses + body * 6
        px, py, pz = tl.load(pose), tl.load(pose + 1), tl.load(pose + 2)
        scale, c, s = tl.load(pose + 3), tl.load(pose + 4), tl.load(pose + 5)
        x = tl.load(vertices + source, inside, 0.0) * scale
        y = tl.load(vertices + source + 1, inside, 0.0) * scale
        z = pz + tl.load(vertices + source + 2, inside, 0.0) * scale
        wx, wy = px + (x * c - y * s), py + (x * s + y * c)
        nx = tl.load(normals + source, inside, 0.0)
        ny = tl.load(normals + source + 1, inside, 0.0)
        nz = tl.load(normals + source + 2, inside, 0.0)
        out = points + target.to(tl.int64) * 8
        none = tl.zeros([BLOCK], tl.float32)
        store_four(out, wx.to(tl.float32), wy.to(tl.float32), z.to(tl.float32), none, inside)
        mx, my = nx * c - ny * s, nx * s + ny * c
        store_four(out + 4, mx.to(tl.float32), my.to(tl.float32), nz.to(tl.float32), none, inside)
        image = tl.load(row + 5)
        camera = cameras + image * 15
        focal, cx, cy = tl.load(camera + 12), tl.load(camera + 13), tl.load(camera + 14)
        dx, dy, dz = wx - tl.load(camera), wy - tl.load(camera + 1), z - tl.load(camera + 2)
        out = snapped + target.to(tl.int64) * 4
        _snap(camera, focal, cx, cy, dx, dy, dz, inside, inside, False, out)
        for k in tl.static_range(LAMPS):
            lamp = lamps + (image * LAMPS + k) * 16
            lx, ly = tl.load(lamp).to(tl.float64), tl.load(lamp + 1).to(tl.float64)
            lower = 1.0 / tl.load(lamp + 2).to(tl.float64)
            left = 1.0 - z * lower  # of the lamp's height, at the vertex: all below is as many times too small
            dx = (lx - tl.load(camera)) * left + (wx - lx)
            dy = (ly - tl.load(camera + 1)) * left + (wy - ly)
            dz = -tl.load(camera + 2) * left
            out = snapped + ((k + 1) * total + target.to(tl.int64)) * 4
            half, mx, my = focal / 2, cx / 2 + margin, cy / 2 + margin
            _snap(camera, half, mx, my, dx, dy, dz, inside, inside & (left >= 0.05), True, out)


@triton.jit
def _snap(camera, focal, cx, cy, dx, dy, dz, inside, lit, LIT: tl.constexpr, out):
    """To whole steps, for the camera or a lamp; nearness 0 marks a vertex that is not to be drawn."""
    depth = -(dx * tl.load(camera + 9) + dy * tl.load(camera + 10) + dz * tl.load(camera + 11))
    kept = lit & (depth >= NEAR)
    depth = tl.where(kept, depth, 1.0)
    if LIT:
        inverse = 1.0 / depth
        scale, near = focal * inverse, tl.floor(NEARNESS * NEAR * inverse)
    else:
        scale, near = focal / depth, tl.floor(NEARNESS * NEAR / depth + 0.5)
    px = cx + scale * (dx * tl.load(camera + 3) + dy * tl.load(camera + 4) + dz * tl.load(camera + 5))
    py = cy - scale * (dx * tl.load(camera + 6) + dy * tl.load(camera + 7) + dz * tl.load(camera + 8))
    kept = kept & (tl.abs(px) * SNAP < GUARD) & (tl.abs(py) * SNAP < GUARD)
    x = tl.floor(tl.where(kept, px, 0.0) * SNAP + 0.5).to(tl.int32)
    y = tl.floor(tl.where(kept, py, 0.0) * SNAP + 0.5).to(tl.int32)
    store_four(out, x, y, tl.where(kept, near, 0.0).to(tl.int32), tl.zeros_like(x), inside)


@triton.jit
def draw_triangles(
    triangles, bodies,  # see pack.py
    snapped, total, width, height,  # as place_vertices fills it
    fine,  # out: [image, pixel, sample of FOUR], `nearness << 32 | body << 24 | triangle`
    centre,  # out: [image, pixel], the same at pixel centres
    maps,  # out: [image, lamp, cell], nearness alone
    LIT: tl.constexpr,  # draw shadow maps, not the camera's view
    EVERY: tl.constexpr,  # draw the four samples of a pixel too, not its centre alone
    LAMPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """One program: some triangles of one body, for the camera or for one lamp."""
    pieces, views = tl.num_programs(1), tl.num_programs(2)
    i = (tl.program_id(2) * pieces + tl.program_id(1)) * tl.num_programs(0) + tl.program_id(0)
    body, piece, view = i // (pieces * views), i % pieces, i // pieces % views  # those of one body follow each other
    row = bodies + body * 8
    faces = tl.load(row + 3)
    for start in range(piece * BLOCK, faces, pieces * BLOCK):
        _draw_block(
            triangles, row, view + 1 if LIT else 0, start, faces, snapped, total, width, height, fine, centre, maps,
            LIT, EVERY, LAMPS, BLOCK,
        )  # fmt: skip


@triton.jit
def _draw_block(
    triangles, row, view, start, faces, snapped, total, width, height, fine, centre, maps,
    LIT: tl.constexpr, EVERY: tl.constexpr, LAMPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Triangles of one body, one per lane."""
    lane = tl.arange(0, BLOCK)
    face = start + lane
    there = face < faces
    corner = triangles + (tl.load(row + 2) + face) * 3
    base = snapped + (view * total + tl.load(row + 4)).to(tl.int64) * 4
    a = base + tl.load(corner, there, 0) * 4
    b = base + tl.load(corner + 2, there, 0) * 4  # y points down: turn the other way
    c = base + tl.load(corner + 1, there, 0) * 4
    xa, ya, na, _ = load_four(a, there, 0)
    xb, yb, nb, _ = load_four(b, there, 0)
    xc, yc, nc, _ = load_four(c, there, 0)
    area = (xb - xa).to(tl.int64) * (yc - ya) - (xc - xa).to(tl.int64) * (yb - ya)
    low, high = tl.minimum(tl.minimum(xa, xb), xc), tl.maximum(tl.maximum(xa, xb), xc)
    top, bottom = tl.minimum(tl.minimum(ya, yb), yc), tl.maximum(tl.maximum(ya, yb), yc)
    RIM: tl.constexpr = 32 if EVERY else 128  # no sample is closer to its pixel's rim
    # pixels, or cells, that hold a sample between the corners
    left, right = tl.maximum((low + RIM - 1) >> 8, 0), tl.minimum((high - RIM) >> 8, width - 1)
    first, last = tl.maximum((top + RIM - 1) >> 8, 0), tl.minimum((bottom - RIM) >> 8, height - 1)
    seen = there & (area > 0) & (na > 0) & (nb > 0) & (nc > 0) & (left <= right) & (first <= last)
    if tl.max(seen.to(tl.int32), 0) > 0:
        across, area = right - left + 1, tl.where(seen, area, 1)
        rise_x = ((nb - na).to(tl.int64) * (yc - ya) - (nc - na).to(tl.int64) * (yb - ya)) * 256
        rise_y = ((nc - na).to(tl.int64) * (xb - xa) - (nb - na).to(tl.int64) * (xc - xa)) * 256
        step_x, step_y = _double_quotient(rise_x, area), _double_quotient(rise_y, area)
        long = (tl.abs(rise_x) >= LONG) | (tl.abs(rise_y) >= LONG) | (area >= LONG)
        if tl.max((seen & long).to(tl.int32), 0) > 0:
            step_x, step_y = _quotient(rise_x, area), _quotient(rise_y, area)
        least, most = tl.minimum(tl.minimum(na, nb), nc), tl.maximum(tl.maximum(na, nb), nc)
        image, slot = tl.load(row + 5), tl.load(row + 6)
        if LIT:
            target = maps + (image * LAMPS + view - 1).to(tl.int64) * width * height
        else:
            target = fine + image.to(tl.int64) * width * height * 4
        middle = centre + image.to(tl.int64) * width * height
        small = seen & (high - low <= SMALL) & (bottom - top <= SMALL)
        wide, begin, slope = _find_span(xa, ya, xb, yb, xc, yc, top, bottom, left, first, across, RIM)
        room = (across - wide).to(tl.float32)
        count = tl.where(small, wide * (last - first + 1), 0)
        x, y, pixel = left * 256 - xa, first * 256 - ya, first * width + left
        ends = tl.cumsum(count, 0)
        begins = ends - count
        corner_a, corner_b, corner_c = _pack_pair(x, y), _pack_pair(xb - xa, yb - ya), _pack_pair(xc - xa, yc - ya)
        for i in range(0, tl.max(ends, 0), BLOCK):
            k = i + lane
            owner = _find_owner(ends, k, BLOCK)
            own = tl.gather(wide, owner, 0)
            k -= tl.gather(begins, owner, 0)
            down = ((k.to(tl.float32) + 0.5) * invert(own.to(tl.float32))).to(tl.int32)
            aside = k - down * own
            skipped = tl.gather(begin, owner, 0) + tl.gather(slope, owner, 0) * down.to(tl.float32)
            aside += tl.minimum(tl.maximum(skipped, 0.0), tl.gather(room, owner, 0)).to(tl.int32)
            ax, ay = _unpack_pair(tl.gather(corner_a, owner, 0))
            bx, by = _unpack_pair(tl.gather(corner_b, owner, 0))
            cx, cy = _unpack_pair(tl.gather(corner_c, owner, 0))
            _draw_samples(
                ax + aside * 256, ay + down * 256, tl.gather(pixel, owner, 0) + down * width + aside,
                i + lane < tl.max(ends, 0), bx, by, cx, cy,
                tl.gather(na, owner, 0), tl.gather(step_x, owner, 0), tl.gather(step_y, owner, 0),
                tl.gather(least, owner, 0), tl.gather(most, owner, 0), slot, start + owner,
                target, middle, LIT, EVERY,
            )  # fmt: skip
        # large ones, one after another
        waiting = tl.max(tl.where(seen & (count == 0), BLOCK - lane, 0), 0)
        while waiting > 0:
            one = lane == BLOCK - waiting
            own, column, rows = _pick(across, one), _pick(left, one), _pick(first, one)
            cells = own * (_pick(last, one) - rows + 1)
            ax, ay, an = _pick(xa, one), _pick(ya, one), _pick(na, one)
            bx, by = (_pick(xb, one) - ax).to(tl.int64), (_pick(yb, one) - ay).to(tl.int64)
            cx, cy = (_pick(xc, one) - ax).to(tl.int64), (_pick(yc, one) - ay).to(tl.int64)
            sx, sy, lo, hi = _pick(step_x, one), _pick(step_y, one), _pick(least, one), _pick(most, one)
            for i in range(0, cells, BLOCK):
                k = i + lane
                px, py = column + k % own, rows + k // own
                _draw_samples(
                    (px * 256 - ax).to(tl.int64), (py * 256 - ay).to(tl.int64), py * width + px, k < cells,
                    bx, by, cx, cy, an, sx, sy, lo, hi, slot, start + BLOCK - waiting, target, middle, LIT, EVERY,
                )  # fmt: skip
            waiting = tl.max(tl.where(seen & (count == 0) & (lane > BLOCK - waiting), BLOCK - lane, 0), 0)


@triton.jit
def _pick(values, one):
    """The value of one lane, for all."""
    return tl.sum(tl.where(one, values, 0), 0)


@triton.jit
def _quotient(a, b):
    """Rounded down, whatever the division of signed numbers does; b > 0."""
    q = a // b
    return tl.where(a - q * b < 0, q - 1, q)


@triton.jit
def _double_quotient(a, b):
    """The same for numbers below LONG, sooner."""
    return tl.floor(a.to(tl.float64) / b.to(tl.float64)).to(tl.int64)


@triton.jit
def _find_span(xa, ya, xb, yb, xc, yc, top, bottom, left, first, across, RIM: tl.constexpr):
    """How many pixels of a row a triangle may touch, and where they begin: in the first row and per row, from `left`.

    All of it lies between its side from top to bottom and the parallel through its third corner.
    """
    x_top = tl.where(ya == top, xa, tl.where(yb == top, xb, xc))
    x_bottom = tl.where(ya == bottom, xa, tl.where(yb == bottom, xb, xc))
    slope = (x_bottom - x_top).to(tl.float32) * invert(tl.maximum(bottom - top, 1).to(tl.float32))
    x_third, down = xa + xb + xc - x_bottom - 2 * x_top, ya + yb + yc - bottom - 2 * top
    aside = x_third.to(tl.float32) - slope * down.to(tl.float32)
    reach = (128 - RIM) * tl.abs(slope) + 2.0  # samples lie above and below the middle of a row; and rounding
    wide = ((tl.abs(aside) + 2.0 * reach + (256 - 2 * RIM)) * (1 / 256)).to(tl.int32) + 1
    begin = (x_top - left * 256).to(tl.float32) + slope * (first * 256 + 128 - top).to(tl.float32)
    begin = (begin + tl.minimum(aside, 0.0) - reach + (RIM - 1)) * (1 / 256)
    return tl.minimum(wide, across), begin, slope


@triton.jit
def _pack_pair(a, b):
    """Two whole numbers of 16 bits in one."""
    return (a << 16) | (b & 0xFFFF)


@triton.jit
def _unpack_pair(both):
    return both >> 16, (both << 16) >> 16


@triton.jit
def _find_owner(ends, k, BLOCK: tl.constexpr):
    """Whose the k-th thing is, where lane i has those from ends[i − 1] to ends[i]: by bisection."""
    owner = tl.zeros([BLOCK], tl.int32)
    for i in tl.static_range(1, 32):
        if BLOCK >> i > 0:
            owner += tl.where(tl.gather(ends, owner + ((BLOCK >> i) - 1), 0) <= k, BLOCK >> i, 0)
    return owner


@triton.jit
def _draw_samples(
    x, y, pixel, wanted, bx, by, cx, cy, na, step_x, step_y, least, most, slot, face, target, middle,
    LIT: tl.constexpr, EVERY: tl.constexpr,
):  # fmt: skip
    """Draw what a triangle shows at the samples of one pixel, whose corner is (x, y); all are offsets from a."""
    dx, dy = cx - bx, cy - by
    side_c, side_b, side_a = bx * y - by * x, cy * x - cx * y, dx * (y - by) - dy * (x - bx)
    rise = step_x * x + step_y * y
    name = (slot.to(tl.int64) << 24) | face
    for k in tl.static_range(0 if EVERY else 4, 5):
        # FOUR, and then the centre
        sx = 96 if k == 0 else 224 if k == 1 else 32 if k == 2 else 160 if k == 3 else 128
        sy = 32 if k == 0 else 96 if k == 1 else 160 if k == 2 else 224 if k == 3 else 128
        sides = (side_c + (bx * sy - by * sx)) | (side_b + (cy * sx - cx * sy)) | (side_a + (dx * sy - dy * sx))
        near = na + ((rise + step_x * sx + step_y * sy) >> 8)
        near = tl.minimum(tl.maximum(near, least), most)
        if LIT:
            place, value = target + pixel, near.to(tl.int32)
        else:
            value = (near << 32) | name
            place = middle + pixel if k == 4 else target + pixel * 4 + k
        tl.atomic_max(place, value, wanted & (sides >= 0), sem="relaxed")


@triton.jit
def measure_masks(
    centre,  # [image, pixel], as draw_triangles fills it
    busy,  # [image, tile], whether anything may be seen in it
    part_of, bodies, first, labels, number_first,  # see pack.py
    mask, parts,  # out: [image, pixel]
    seen,  # out: [image, label, pixels left top right bottom]; parts follow the objects
    width, height,
    OBJECTS: tl.constexpr,
    LABELS: tl.constexpr,  # of objects and parts together
    NUMBERED: tl.constexpr,  # whether each object counts its parts from 1
    ACROSS: tl.constexpr, DOWN: tl.constexpr,
):  # fmt: skip
    """One program: one tile of one image."""
    image, piece = tl.program_id(0), tl.program_id(1)  # so that few at a time count in one image
    _, _, x, y, inside = tile(piece, width, height, ACROSS, DOWN)
    place = image.to(tl.int64) * width * height + y * width + x
    if tl.load(busy + image * tl.num_programs(1) + piece) > 0:
        cell = tl.load(centre + place, inside, 0)
        there = cell > 0
        slot = ((cell >> 24) & 255).to(tl.int32)
        body = tl.load(first + image) + slot
        row = bodies + body * 8
        face = tl.load(row + 2, there, 0) + (cell & 0xFFFFFF).to(tl.int32)
        surface = tl.load(row + 7, there, 0) + tl.load(part_of + face, there, 0)
        part = tl.load(labels + surface, there, 0).to(tl.int32)
        counted = part
        if NUMBERED:
            counted = tl.where(part > 0, part + tl.load(number_first + body, there, 0), 0)
        thing = tl.where(there, slot + 1, 0)
        tl.store(mask + place, thing.to(tl.uint8), inside)
        tl.store(parts + place, part.to(tl.uint8), inside)
        out = seen + image * LABELS * 5
        _count_labels(thing, x, y, out)
        if LABELS > OBJECTS:
            _count_labels(counted, x, y, out + OBJECTS * 5)
    else:
        tl.store(mask + place, tl.zeros([ACROSS * DOWN], tl.uint8), inside)
        tl.store(parts + place, tl.zeros([ACROSS * DOWN], tl.uint8), inside)


@triton.jit
def _count_labels(label, x, y, out):
    """Add the tile's share of every label in it, from the lowest on."""
    current = tl.min(tl.where(label > 0, label, NONE), 0)
    while current < NONE:
        own = label == current
        row = out + (current - 1) * 5
        tl.atomic_add(row, tl.sum(own.to(tl.int32), 0), sem="relaxed")
        tl.atomic_min(row + 1, tl.min(tl.where(own, x, 1 << 20), 0), sem="relaxed")
        tl.atomic_min(row + 2, tl.min(tl.where(own, y, 1 << 20), 0), sem="relaxed")
        tl.atomic_max(row + 3, tl.max(tl.where(own, x, -1), 0), sem="relaxed")
        tl.atomic_max(row + 4, tl.max(tl.where(own, y, -1), 0), sem="relaxed")
        current = tl.min(tl.where(label > current, label, NONE), 0)
