"""Vertices placed, triangles drawn into visibility buffers, masks measured: geometry/visibility.py.

A sample lies in a triangle when none of three edges turns its back on it: the very spans that the CPU walks.
Small triangles are drawn each by its own lane, in 32 bits; a large one by all lanes of its program together.
"""

import triton
import triton.language as tl

from ...geometry import visibility as v

# mypy: ignore-errors

SNAP, NEAR, NEARNESS, GUARD = (tl.constexpr(x) for x in (v.SNAP, v.NEAR, v.NEARNESS, v.GUARD))
NONE = tl.constexpr(1 << 20)  # more labels than an image has
SMALL = tl.constexpr(1 << 13)  # steps: products of two such lengths fit 32 bits


@triton.jit
def tile(width, height, ACROSS: tl.constexpr, DOWN: tl.constexpr):
    """Where the tile of this program begins, its columns and rows, and which of them the image has."""
    tiles = tl.cdiv(width, ACROSS)
    left, top = tl.program_id(1) % tiles * ACROSS, tl.program_id(1) // tiles * DOWN
    lane = tl.arange(0, ACROSS * DOWN)
    x, y = left + lane % ACROSS, top + lane // ACROSS
    return left, top, x, y, (x < width) & (y < height)


# Vertices: in doubles, each operation as written (no fusing), so that the integers are the CPU's.


@triton.jit
def place_vertices(
    vertices, normals,  # [mesh vertex, xyz], double
    bodies, poses, cameras, lamps,  # see pack.py
    points,  # out: [vertex, position normal - -], float
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
        tl.store(out, wx.to(tl.float32), inside)
        tl.store(out + 1, wy.to(tl.float32), inside)
        tl.store(out + 2, z.to(tl.float32), inside)
        tl.store(out + 3, (nx * c - ny * s).to(tl.float32), inside)
        tl.store(out + 4, (nx * s + ny * c).to(tl.float32), inside)
        tl.store(out + 5, nz.to(tl.float32), inside)
        image = tl.load(row + 5)
        camera = cameras + image * 15
        focal, cx, cy = tl.load(camera + 12), tl.load(camera + 13), tl.load(camera + 14)
        dx, dy, dz = wx - tl.load(camera), wy - tl.load(camera + 1), z - tl.load(camera + 2)
        whole = tl.full(dx.shape, 1.0, tl.float64)
        out = snapped + target.to(tl.int64) * 4
        _snap(camera, focal, cx, cy, dx, dy, dz, whole, inside, inside, 0.5, out)
        for k in tl.static_range(LAMPS):
            lamp = lamps + (image * LAMPS + k) * 16
            lx, ly = tl.load(lamp).to(tl.float64), tl.load(lamp + 1).to(tl.float64)
            left = 1.0 - z / tl.load(lamp + 2).to(tl.float64)  # of the lamp's height, at the vertex
            lit = inside & (left >= 0.05)
            left = tl.where(lit, left, 1.0)
            dx = lx + (wx - lx) / left - tl.load(camera)
            dy = ly + (wy - ly) / left - tl.load(camera + 1)
            dz = -tl.load(camera + 2) + tl.zeros_like(dx)
            out = snapped + ((k + 1) * total + target.to(tl.int64)) * 4
            half, mx, my = focal / 2, cx / 2 + margin, cy / 2 + margin
            _snap(camera, half, mx, my, dx, dy, dz, left, inside, lit, 0.0, out)


@triton.jit
def _snap(camera, focal, cx, cy, dx, dy, dz, left, inside, lit, ROUND: tl.constexpr, out):
    """To whole steps; nearness 0 marks a vertex that is not to be drawn."""
    depth = -(dx * tl.load(camera + 9) + dy * tl.load(camera + 10) + dz * tl.load(camera + 11))
    kept = lit & (depth * left >= NEAR)
    depth = tl.where(kept, depth, 1.0)
    scale = focal / depth
    px = cx + scale * (dx * tl.load(camera + 3) + dy * tl.load(camera + 4) + dz * tl.load(camera + 5))
    py = cy - scale * (dx * tl.load(camera + 6) + dy * tl.load(camera + 7) + dz * tl.load(camera + 8))
    kept = kept & (tl.abs(px) * SNAP < GUARD) & (tl.abs(py) * SNAP < GUARD)
    near = tl.floor(NEARNESS * NEAR / (depth * tl.where(kept, left, 1.0)) + ROUND)
    tl.store(out, tl.floor(tl.where(kept, px, 0.0) * SNAP + 0.5).to(tl.int32), inside)
    tl.store(out + 1, tl.floor(tl.where(kept, py, 0.0) * SNAP + 0.5).to(tl.int32), inside)
    tl.store(out + 2, tl.where(kept, near, 0.0).to(tl.int32), inside)


@triton.jit
def draw_triangles(
    triangles, bodies,  # see pack.py
    snapped, total, width, height,  # as place_vertices fills it
    fine,  # out: [image, pixel, sample of FOUR], `nearness << 32 | body << 24 | triangle`
    centre,  # out: [image, pixel], the same at pixel centres
    maps,  # out: [image, lamp, cell], nearness alone
    LIT: tl.constexpr,  # draw shadow maps, not the camera's view
    EVERY: tl.constexpr,  # draw the four samples of a pixel too, not its centre alone
    MOST: tl.constexpr,  # pixels of a small triangle's box
    LAMPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """One program: some triangles of one body, for the camera or for one lamp."""
    row = bodies + tl.program_id(0) * 8
    faces = tl.load(row + 3)
    start = tl.program_id(1) * BLOCK
    if start < faces:
        lane = tl.arange(0, BLOCK)
        face = start + lane
        there = face < faces
        corner = triangles + (tl.load(row + 2) + face) * 3
        view = tl.program_id(2) + 1 if LIT else 0
        base = snapped + (view * total + tl.load(row + 4)).to(tl.int64) * 4
        a = base + tl.load(corner, there, 0) * 4
        b = base + tl.load(corner + 2, there, 0) * 4  # y points down: turn the other way
        c = base + tl.load(corner + 1, there, 0) * 4
        xa, ya, na = tl.load(a, there, 0), tl.load(a + 1, there, 0), tl.load(a + 2, there, 0)
        xb, yb, nb = tl.load(b, there, 0), tl.load(b + 1, there, 0), tl.load(b + 2, there, 0)
        xc, yc, nc = tl.load(c, there, 0), tl.load(c + 1, there, 0), tl.load(c + 2, there, 0)
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
            step_x = _quotient(((nb - na).to(tl.int64) * (yc - ya) - (nc - na).to(tl.int64) * (yb - ya)) * 256, area)
            step_y = _quotient(((nc - na).to(tl.int64) * (xb - xa) - (nb - na).to(tl.int64) * (xc - xa)) * 256, area)
            least, most = tl.minimum(tl.minimum(na, nb), nc), tl.maximum(tl.maximum(na, nb), nc)
            image, slot = tl.load(row + 5), tl.load(row + 6)
            name = (slot.to(tl.int64) << 24) | face
            small = seen & (high - low <= SMALL) & (bottom - top <= SMALL)
            small = small & (across * (last - first + 1) <= MOST)
            if LIT:
                target = maps + (image * LAMPS + tl.program_id(2)).to(tl.int64) * width * height
            else:
                target = fine + image.to(tl.int64) * width * height * 4
            middle = centre + image.to(tl.int64) * width * height
            # small ones: every lane its own
            count = tl.where(small, across * (last - first + 1), 0)
            px, py = left, first
            for i in range(tl.max(count, 0)):
                _draw_sample(
                    px, py, i < count, xa, ya, xb - xa, yb - ya, xc - xa, yc - ya,
                    na, step_x, step_y, least, most, name, target, middle, width, LIT, EVERY, False,
                )  # fmt: skip
                over = px == right
                px, py = tl.where(over, left, px + 1), tl.where(over, py + 1, py)
            # large ones, one after another
            waiting = tl.max(tl.where(seen & (count == 0), BLOCK - lane, 0), 0)
            while waiting > 0:
                one = lane == BLOCK - waiting
                wide, begin = _pick(across, one), _pick(left, one)
                rows = _pick(first, one)
                cells = wide * (_pick(last, one) - rows + 1)
                ax, ay, an = _pick(xa, one), _pick(ya, one), _pick(na, one)
                bx, by = _pick(xb, one) - ax, _pick(yb, one) - ay
                cx, cy = _pick(xc, one) - ax, _pick(yc, one) - ay
                sx, sy, nm = _pick(step_x, one), _pick(step_y, one), _pick(name, one)
                lo, hi = _pick(least, one), _pick(most, one)
                for i in range(0, cells, BLOCK):
                    k = i + lane
                    _draw_sample(
                        begin + k % wide, rows + k // wide, k < cells, ax, ay, bx, by, cx, cy,
                        an, sx, sy, lo, hi, nm, target, middle, width, LIT, EVERY, True,
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
def _draw_sample(
    px, py, wanted, xa, ya, bx, by, cx, cy, na, step_x, step_y, least, most, name, target, middle, width,
    LIT: tl.constexpr, EVERY: tl.constexpr, LONG: tl.constexpr,
):  # fmt: skip
    """Draw what a triangle shows at the samples of one pixel; b and c are offsets from a."""
    for k in tl.static_range(0 if EVERY else 4, 5):
        # FOUR, and then the centre
        sx = 96 if k == 0 else 224 if k == 1 else 32 if k == 2 else 160 if k == 3 else 128
        sy = 32 if k == 0 else 96 if k == 1 else 160 if k == 2 else 224 if k == 3 else 128
        x, y = px * 256 + sx - xa, py * 256 + sy - ya
        u, v = x, y
        if LONG:
            u, v = x.to(tl.int64), y.to(tl.int64)
        hit = wanted & (bx * v - by * u >= 0) & (cy * u - cx * v >= 0)
        hit = hit & ((cx - bx) * (v - by) - (cy - by) * (u - bx) >= 0)
        near = na + ((step_x * x + step_y * y) >> 8)
        near = tl.minimum(tl.maximum(near, least), most)
        if LIT:
            place, value = target + py * width + px, near.to(tl.int32)
        else:
            pixel, value = py * width + px, (near << 32) | name
            place = middle + pixel if k == 4 else target + pixel * 4 + k
        tl.atomic_max(place, value, hit, sem="relaxed")


@triton.jit
def measure_masks(
    centre,  # [image, pixel], as draw_triangles fills it
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
    image = tl.program_id(0)
    _, _, x, y, inside = tile(width, height, ACROSS, DOWN)
    place = image.to(tl.int64) * width * height + y * width + x
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
