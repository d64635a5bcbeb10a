# mypy: ignore-errors
"""Vertices placed in the world and snapped as the camera and each lamp see them.

What stage.py, visibility.snap and shadow._throw do, in doubles, each operation as written (no fusing), so
that the integers are the CPU's.
"""

from __future__ import annotations

import triton
import triton.language as tl

from ...geometry import visibility as v

SNAP = tl.constexpr(v.SNAP)
NEAR = tl.constexpr(v.NEAR)
NEARNESS = tl.constexpr(v.NEARNESS)
GUARD = tl.constexpr(v.GUARD)


@triton.jit
def place(
    vertices,  # [mesh vertex, xyz], double
    normals,  # [mesh vertex, xyz], double
    bodies,  # [body, 8], see shelf.py
    poses,  # [body, 6]
    cameras,  # [image, 15]
    lamps,  # [image, lamp, 16]
    points,  # out: [vertex, position normal - -], float
    snapped,  # out: [view, vertex, x y nearness -]; the camera's view, then the lamps'
    total,  # vertices of the batch
    margin,  # of the shadow maps
    LAMPS: tl.constexpr,
    BLOCK: tl.constexpr,
):
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
