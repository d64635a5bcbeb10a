"""What metal mirrors, for the points that a program shades: render/reflect.py."""

import triton
import triton.language as tl

from .. import lighting as l
from .. import reflect as r
from .visibility import invert, load_four

# mypy: ignore-errors

ALBEDO = tl.constexpr(l.GROUND)
BLUR, EDGE_BLUR = tl.constexpr(r.BLUR), tl.constexpr(r.EDGE_BLUR)
OUTSIDE, BULGE, MIST = tl.constexpr(r.OUTSIDE), tl.constexpr(r.BULGE), tl.constexpr(r.MIST)
PANELS, FIRST_X, FIRST_Y = tl.constexpr(r.PANELS), tl.constexpr(r.FIRST[0]), tl.constexpr(r.FIRST[1])
CLEAR, HAZE, GRAZING = tl.constexpr(r.CLEAR), tl.constexpr(r.HAZE), tl.constexpr(r.GRAZING)
STRIP_AT, STRIP, STRIP_LIGHT = (tl.constexpr(x) for x in (r.STRIP_AT, r.STRIP, r.STRIP_LIGHT))
BOX_AT, BOX, BOX_RIM = (tl.constexpr(x) for x in (r.BOX_AT, r.BOX, r.BOX_RIM))
BOX_SIDE, BOX_WIDE, BOX_LIGHT = (tl.constexpr(x) for x in (r.BOX_SIDE, r.BOX_WIDE, r.BOX_LIGHT))
HORIZON_R, HORIZON_G, HORIZON_B = (tl.constexpr(x) for x in r.HORIZON)
OVERHEAD_R, OVERHEAD_G, OVERHEAD_B = (tl.constexpr(x) for x in r.OVERHEAD)


@triton.jit
def reflect_surroundings(
    px, py, pz, nx, ny, nz, weight, body, metal, polished,
    view, lamps, stand_ins, blocks, block_first, first, last, ground, rim, columns, rows,
    LAMPS: tl.constexpr,
):  # fmt: skip
    """Red, green and blue that metal mirrors at each point, and how much of it the grazing light adds."""
    own = stand_ins + body * 13
    lean = BULGE * tl.rsqrt(tl.load(own + 12, metal, 1.0))
    nx += lean * (px - tl.load(own + 1, metal, 0.0))
    ny += lean * (py - tl.load(own + 2, metal, 0.0))
    nz += lean * (pz - tl.load(own + 3, metal, 0.0))
    inverse = tl.rsqrt(nx * nx + ny * ny + nz * nz)
    nx, ny, nz = nx * inverse, ny * inverse, nz * inverse
    ex, ey, ez = px - tl.load(view), py - tl.load(view + 1), pz - tl.load(view + 2)
    inverse = tl.rsqrt(ex * ex + ey * ey + ez * ez)
    ex, ey, ez = ex * inverse, ey * inverse, ez * inverse
    cosine = ex * nx + ey * ny + ez * nz
    rx, ry, rz = ex - 2.0 * cosine * nx, ey - 2.0 * cosine * ny, ez - 2.0 * cosine * nz
    red, green, blue = _trace_surroundings(px, py, pz, rx, ry, rz, view, ground, rim, columns, rows, metal, polished)
    nearest = tl.full(px.shape, 1e9, tl.float32)
    shade, solid = nearest * 0.0, nearest * 0.0
    hit_r, hit_g, hit_b = nearest * 0.0, nearest * 0.0, nearest * 0.0
    for j in range(first, last):
        other = stand_ins + j * 13
        dx, dy, dz = px - tl.load(other + 1), py - tl.load(other + 2), pz - tl.load(other + 3)
        back, beyond = dx * rx + dy * ry + dz * rz, dx * dx + dy * dy + dz * dz - tl.load(other + 12)
        # else it lies behind, or the ray passes the ball around it
        near = metal & (body != j) & ((beyond <= 0) | ((back < 0) & (back * back >= beyond)))
        if tl.max(near.to(tl.int32), 0) > 0:
            for m in range(tl.load(block_first + j), tl.load(block_first + j + 1)):
                block = blocks + m * 14
                dx, dy, dz = px - tl.load(block + 1), py - tl.load(block + 2), pz - tl.load(block + 3)
                back, beyond = dx * rx + dy * ry + dz * rz, dx * dx + dy * dy + dz * dz - tl.load(block + 12)
                ahead = near & (back < 0) & (back * back >= beyond)
                if tl.max(ahead.to(tl.int32), 0) > 0:
                    t, mx, my, mz = _intersect_proxy(block, dx, dy, dz, rx, ry, rz)
                    closer = ahead & (t < nearest)
                    nearest = tl.where(closer, t, nearest)
                    lit = mx * 0.75 - my * 0.35 + mz * 0.55  # mostly by the key
                    shade = tl.where(closer, 0.22 + 0.5 * tl.maximum(lit, 0.0), shade)
                    hit_r = tl.where(closer, tl.load(block + 9), hit_r)
                    hit_g = tl.where(closer, tl.load(block + 10), hit_g)
                    hit_b = tl.where(closer, tl.load(block + 11), hit_b)
                    solid = tl.where(closer, tl.load(block + 13), solid)
    clear = tl.where(nearest < 1e9, solid * CLEAR * invert(1.0 + HAZE * nearest * nearest), 0.0)
    red += clear * (hit_r * shade - red)
    green += clear * (hit_g * shade - green)
    blue += clear * (hit_b * shade - blue)
    blur = tl.where(weight == 1.0, BLUR, EDGE_BLUR)
    for k in tl.static_range(LAMPS):
        glow = _reflect_lamp(lamps + k * 16, px, py, pz, rx, ry, rz, nearest, blur)
        red += glow * tl.load(lamps + k * 16 + 3)
        green += glow * tl.load(lamps + k * 16 + 4)
        blue += glow * tl.load(lamps + k * 16 + 5)
    flat = 1.0 + tl.minimum(cosine, 0.0)  # 1 where the ray grazes
    return red, green, blue, GRAZING * flat * flat * flat * flat


@triton.jit
def _trace_surroundings(px, py, pz, rx, ry, rz, view, ground, rim, columns, rows, metal, polished):
    along = rx * FIRST_X + ry * FIRST_Y
    thrice = along * (4.0 * along * along - 3.0 * (rx * rx + ry * ry))
    panel = 1.0 + PANELS * thrice
    down = rz < 0
    mist = tl.maximum(1.0 + rz * (1 / MIST), 0.0)
    mist *= mist
    far = pz * invert(tl.maximum(-rz, 1e-3))
    eye_z, focal = tl.load(view + 2), tl.load(view + 12) * 0.5
    dx = px + far * rx - tl.load(view)
    dy = py + far * ry - tl.load(view + 1)
    depth = eye_z * tl.load(view + 11)
    depth -= dx * tl.load(view + 9) + dy * tl.load(view + 10)
    scale = focal * invert(tl.maximum(depth, 0.5))
    right = dx * tl.load(view + 3) + dy * tl.load(view + 4)
    up = dx * tl.load(view + 6) + dy * tl.load(view + 7)
    up -= eye_z * tl.load(view + 8)
    gx = tl.load(view + 13) * 0.5 + scale * right - 0.5
    gy = tl.load(view + 14) * 0.5 - scale * up - 0.5
    kx = tl.minimum(tl.maximum(gx, 0.0), columns - 1.01)
    ky = tl.minimum(tl.maximum(gy, 0.0), rows - 1.01)
    ix, iy = kx.to(tl.int32), ky.to(tl.int32)
    fx, fy = kx - ix.to(tl.float32), ky - iy.to(tl.float32)
    beyond = tl.minimum((tl.abs(gx - kx) + tl.abs(gy - ky)) * OUTSIDE, 1.0)
    level = (1.0 - rz) * (1.0 - rz)
    beside = tl.maximum(1.0 - tl.abs(rz - STRIP_AT) * (1 / STRIP), 0.0)
    level = tl.where(polished, level * level + STRIP_LIGHT * beside * beside, level)
    side = tl.minimum(tl.maximum((thrice - BOX_WIDE) * BOX_SIDE, 0.0), 1.0)
    edge = tl.minimum(tl.maximum((BOX - tl.abs(rz - BOX_AT)) * BOX_RIM, 0.0), 1.0)
    level += BOX_LIGHT * side * side * edge * edge
    cell = ground + (iy * columns + ix) * 4
    wanted = metal & down
    below = cell + columns * 4
    ar, ag, ab, _ = load_four(cell, wanted, 0.0)
    br, bg, bb, _ = load_four(cell + 4, wanted, 0.0)
    cr, cg, cb, _ = load_four(below, wanted, 0.0)
    dr, dg, db, _ = load_four(below + 4, wanted, 0.0)
    red = _blend_ground(ar, br, cr, dr, fx, fy, beyond, tl.load(rim), mist, HORIZON_R)
    green = _blend_ground(ag, bg, cg, dg, fx, fy, beyond, tl.load(rim + 1), mist, HORIZON_G)
    blue = _blend_ground(ab, bb, cb, db, fx, fy, beyond, tl.load(rim + 2), mist, HORIZON_B)
    red = tl.where(down, red, OVERHEAD_R + level * (HORIZON_R - OVERHEAD_R)) * panel
    green = tl.where(down, green, OVERHEAD_G + level * (HORIZON_G - OVERHEAD_G)) * panel
    blue = tl.where(down, blue, OVERHEAD_B + level * (HORIZON_B - OVERHEAD_B)) * panel
    return red, green, blue


@triton.jit
def _blend_ground(a, b, c, d, fx, fy, beyond, rim, mist, HORIZON: tl.constexpr):
    """One colour of the mirrored ground, from the four cells around a place: two side by side, two below."""
    a, c = a + fx * (b - a), c + fx * (d - c)
    light = a + fy * (c - a)
    light = ALBEDO * (light + beyond * (rim - light))
    return light + mist * (HORIZON - light)


@triton.jit
def _reflect_lamp(lamp, px, py, pz, rx, ry, rz, nearest, blur):
    ax, ay, az = tl.load(lamp + 7), tl.load(lamp + 8), tl.load(lamp + 9)
    toward = rx * ax + ry * ay + rz * az
    dx, dy, dz = tl.load(lamp) - px, tl.load(lamp + 1) - py, tl.load(lamp + 2) - pz
    t = (dx * ax + dy * ay + dz * az) * invert(tl.maximum(toward, 0.05))
    met = (toward >= 0.05) & (t >= 0) & (t <= nearest)
    dx, dy, dz = t * rx - dx, t * ry - dy, t * rz - dz
    half, soft = tl.load(lamp + 6), tl.where(met, blur * t, 1.0)
    u = dx * tl.load(lamp + 10) + dy * tl.load(lamp + 11) + dz * tl.load(lamp + 12)
    v = dx * tl.load(lamp + 13) + dy * tl.load(lamp + 14) + dz * tl.load(lamp + 15)
    u, v = half + soft * 0.5 - tl.abs(u), half + soft * 0.5 - tl.abs(v)
    sharp = invert(soft)
    a, b = tl.minimum(u * sharp, 1.0), tl.minimum(v * sharp, 1.0)
    wide = half + 0.25 * soft  # what is smeared out is dimmer
    glow = a * a * (3 - 2 * a) * b * b * (3 - 2 * b) * invert(4 * wide * wide)
    return tl.where(met & (u > 0) & (v > 0), glow, 0.0)


@triton.jit
def _opposite_sign(value):
    """−1 for what points up, 1 for what points down."""
    return tl.where(value > 0, -1.0, tl.where(value < 0, 1.0, 0.0))


@triton.jit
def _inverse(value):
    value = tl.where(tl.abs(value) < 1e-6, 1e-6, value)
    return value * invert(value * value)


@triton.jit
def _intersect_proxy(other, dx, dy, dz, rx, ry, rz):
    kind, cosine, sine = tl.load(other), tl.load(other + 7), tl.load(other + 8)
    wide, deep, high = tl.load(other + 4), tl.load(other + 5), tl.load(other + 6)
    if kind == 0.0:  # ball
        b = dx * rx + dy * ry + dz * rz
        t = -b - tl.sqrt(tl.maximum(b * b - (dx * dx + dy * dy + dz * dz) + high * high, 0.0))
        mx, my, mz = (dx + t * rx) / high, (dy + t * ry) / high, (dz + t * rz) / high
        met = t >= 0
    else:
        ox, oy = dx * cosine + dy * sine, dy * cosine - dx * sine
        qx, qy = rx * cosine + ry * sine, ry * cosine - rx * sine
        iz = _inverse(rz)
        near_z, far_z = -high * tl.abs(iz) - dz * iz, high * tl.abs(iz) - dz * iz
        if kind == 1.0:  # upright can
            a = tl.maximum(qx * qx + qy * qy, 1e-9)
            b, flat = ox * qx + oy * qy, invert(a)
            square = b * b - a * (ox * ox + oy * oy - wide * wide)
            root = tl.sqrt(tl.maximum(square, 0.0))
            near_side = (-b - root) * flat
            t = tl.maximum(near_side, near_z)
            met = (square >= 0) & (t >= 0) & (t <= tl.minimum((-b + root) * flat, far_z))
            lid = near_z > near_side
            ux, uy = (ox + t * qx) / wide, (oy + t * qy) / wide
            mx = tl.where(lid, 0.0, ux * cosine - uy * sine)
            my = tl.where(lid, 0.0, ux * sine + uy * cosine)
            mz = tl.where(lid, _opposite_sign(rz), 0.0)
        else:  # turned box
            ix, iy = _inverse(qx), _inverse(qy)
            near_x, far_x = -wide * tl.abs(ix) - ox * ix, wide * tl.abs(ix) - ox * ix
            near_y, far_y = -deep * tl.abs(iy) - oy * iy, deep * tl.abs(iy) - oy * iy
            t = tl.maximum(tl.maximum(near_x, near_y), near_z)
            met = (t >= 0) & (t <= tl.minimum(tl.minimum(far_x, far_y), far_z))
            lid, side = t == near_z, t == near_x
            s = tl.where(side, _opposite_sign(qx), _opposite_sign(qy))
            mx = tl.where(lid, 0.0, tl.where(side, s * cosine, -s * sine))
            my = tl.where(lid, 0.0, tl.where(side, s * sine, s * cosine))
            mz = tl.where(lid, _opposite_sign(rz), 0.0)
    return tl.where(met, t, 1e9), mx, my, mz
