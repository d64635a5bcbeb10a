"""What metal mirrors: the lamps, the ground as it is lit, a studio's walls, stand-ins for the other objects.

The walls are not in the scene: bright at the horizon and dark overhead, they are there for metal to show. A
flat face would mirror one spot of them, so faces bulge a little, in the mirror only: each shows a gradient.
"""

import numpy as np

from ..kernels import Doubles, Floats, Ints, Longs, Real, fast
from ..scene import Vector
from .proxies import MANY

BLUR = 0.06  # how far metal smears what it mirrors, per unit of distance
EDGE_BLUR = 0.5  # the same where a pixel's samples see an edge and a lamp could fall between them
OUTSIDE = 0.06  # per cell beyond the image, how fast the mirrored ground fades to the rim's mean
BULGE = 0.4  # how far a normal leans away from the body's middle
SHINE = 1.45  # how strongly metal mirrors, in its own colour
GLARE = 0.35  # how much of what is brighter than DAZZLE it throws back uncoloured
DAZZLE = 0.6  # where white is 1
GRAZING = 0.6  # how much it mirrors uncoloured along its surface
HORIZON: Vector = (1.1, 1.13, 1.2)  # light from the walls, on the level
OVERHEAD: Vector = (0.07, 0.072, 0.078)  # and from straight above
MIST = 0.4  # how steeply down a ray must look to see none of the horizon
PANELS = 0.75  # how much brighter than their mean the three brightest parts of the walls are
FIRST = (0.956, -0.292)  # the level direction of one of them
STRIP_AT, STRIP = 0.78, 0.16  # a ring of light above that polished metal shows: how high, half its width
STRIP_LIGHT = 1.1  # how bright it is, against the horizon
DARK = 12.0  # panes and tyres, which are darker than this part of white, mirror less uncoloured light
POLISH = 0.35  # how much a vehicle's metal scatters, against that of a solid, which is brushed
CLEAR = 0.9  # how distinctly metal shows a body that touches it
HAZE = 0.06  # and how fast that fades with the square of the distance


@fast
def add_reflections(
    count: int, points: Floats,
    weight: Floats,  # below 1 at edges
    tint: Floats,  # [rgb, point]
    dull: Floats,  # 0 for metal
    body: Ints, lamps: Floats,
    stand_ins: Floats, blocks: Floats, first: Longs,  # see proxies.py
    camera: Doubles,
    ground: Floats,  # [rgb, height, width], the light on it as this camera sees it, also behind bodies
    albedo: float,
    light: Floats,  # [rgb, point], what polished metal scatters less of
    gloss: Floats,
) -> None:  # fmt: skip
    """Add what is mirrored at the metal points, and give all of it the metal's colour."""
    c = camera.astype(np.float32)
    zero, one, two = np.float32(0.0), np.float32(1.0), np.float32(2.0)
    share, bulge = np.float32(albedo), np.float32(BULGE)
    rim, seen = np.empty(3, np.float32), np.empty(3, np.float32)
    for k in range(3):
        rim[k] = ground[k, -1].mean()
    for i in range(count):
        if dull[i] != zero:
            continue
        px, py, pz = points[0, i], points[1, i], points[2, i]
        own = body[i]
        lean = bulge / np.sqrt(stand_ins[own, 12])
        nx = points[3, i] + lean * (px - stand_ins[own, 1])
        ny = points[4, i] + lean * (py - stand_ins[own, 2])
        nz = points[5, i] + lean * (pz - stand_ins[own, 3])
        inverse = one / np.sqrt(nx * nx + ny * ny + nz * nz)
        nx, ny, nz = nx * inverse, ny * inverse, nz * inverse
        ex, ey, ez = px - c[0], py - c[1], pz - c[2]
        inverse = one / np.sqrt(ex * ex + ey * ey + ez * ez)
        ex, ey, ez = ex * inverse, ey * inverse, ez * inverse
        cosine = ex * nx + ey * ny + ez * nz
        rx, ry, rz = ex - two * cosine * nx, ey - two * cosine * ny, ez - two * cosine * nz
        polished = stand_ins[own, 0] == np.float32(MANY)
        _trace_surroundings(px, py, pz, rx, ry, rz, c, ground, share, rim, polished, seen)
        blur = np.float32(BLUR) if weight[i] == one else np.float32(EDGE_BLUR)
        nearest, hit, shade = np.float32(1e9), -1, zero
        for j in range(len(stand_ins)):
            if j == body[i]:
                continue
            dx, dy, dz = px - stand_ins[j, 1], py - stand_ins[j, 2], pz - stand_ins[j, 3]
            back, beyond = dx * rx + dy * ry + dz * rz, dx * dx + dy * dy + dz * dz - stand_ins[j, 12]
            if beyond > zero and (back >= zero or back * back < beyond):
                continue  # it lies behind, or the ray passes the ball around it
            for m in range(first[j], first[j + 1]):
                dx, dy, dz = px - blocks[m, 1], py - blocks[m, 2], pz - blocks[m, 3]
                back = dx * rx + dy * ry + dz * rz
                if back >= zero or back * back < dx * dx + dy * dy + dz * dz - blocks[m, 12]:
                    continue
                t, mx, my, mz = _intersect_proxy(blocks, m, px, py, pz, rx, ry, rz)
                if t < nearest:
                    nearest = t
                    # lit mostly by the key
                    lit = mx * np.float32(0.75) - my * np.float32(0.35) + mz * np.float32(0.55)
                    shade = np.float32(0.22) + np.float32(0.5) * max(lit, zero)
                    hit = m
        if hit >= 0:
            clear = blocks[hit, 13] * np.float32(CLEAR) / (one + np.float32(HAZE) * nearest * nearest)
            for k in range(3):
                seen[k] += clear * (blocks[hit, 9 + k] * shade - seen[k])
        for k in range(len(lamps)):
            glow = _reflect_lamp(lamps, k, px, py, pz, rx, ry, rz, nearest, blur)
            for m in range(3):
                seen[m] += glow * lamps[k, 3 + m]
        flat = one + min(cosine, zero)  # 1 where the ray grazes
        grazing = np.float32(GRAZING) * flat * flat * flat * flat
        dazzling = np.float32(GLARE)
        if polished:
            dark = min(np.float32(DARK) * max(tint[0, i], tint[1, i], tint[2, i]), one)
            grazing, dazzling = grazing * dark, dazzling * dark
        for k in range(3):
            color = tint[k, i]
            mirrored = seen[k] + gloss[k, i]
            tinted = color + (one - color) * grazing
            glare = dazzling * max(mirrored - np.float32(DAZZLE), zero)
            gloss[k, i] = np.float32(SHINE) * tinted * mirrored + glare
            if polished:
                light[k, i] *= np.float32(POLISH)


@fast
def _trace_surroundings(
    px: Real, py: Real, pz: Real, rx: Real, ry: Real, rz: Real,
    c: Floats, ground: Floats, share: Real, rim: Floats, polished: bool, seen: Floats,
) -> None:  # fmt: skip
    """What a mirror ray sees where no body stands in its way: the ground or the walls."""
    zero, half, one = np.float32(0.0), np.float32(0.5), np.float32(1.0)
    height, width = ground.shape[1], ground.shape[2]
    along = rx * np.float32(FIRST[0]) + ry * np.float32(FIRST[1])
    thrice = along * (np.float32(4.0) * along * along - np.float32(3.0) * (rx * rx + ry * ry))
    panel = one + np.float32(PANELS) * thrice  # the cosine of three times the bearing, for level rays
    if rz < zero:  # the ground, where the ray meets it
        mist = max(one + rz * np.float32(1 / MIST), zero)
        mist *= mist
        far = pz / max(-rz, np.float32(1e-3))
        dx, dy, dz = px + far * rx - c[0], py + far * ry - c[1], -c[2]
        depth = -(dx * c[9] + dy * c[10] + dz * c[11])
        scale = c[12] / max(depth, np.float32(0.5))
        gx = c[13] + scale * (dx * c[3] + dy * c[4]) - half
        gy = c[14] - scale * (dx * c[6] + dy * c[7] + dz * c[8]) - half
        kx = min(max(gx, zero), np.float32(width) - np.float32(1.01))
        ky = min(max(gy, zero), np.float32(height) - np.float32(1.01))
        ix, iy = np.int64(kx), np.int64(ky)
        fx, fy = kx - np.float32(ix), ky - np.float32(iy)
        beyond = min((abs(gx - kx) + abs(gy - ky)) * np.float32(OUTSIDE), one)
        for k in range(3):
            above = ground[k, iy, ix] + fx * (ground[k, iy, ix + 1] - ground[k, iy, ix])
            below = ground[k, iy + 1, ix] + fx * (ground[k, iy + 1, ix + 1] - ground[k, iy + 1, ix])
            light = above + fy * (below - above)
            light = share * (light + beyond * (rim[k] - light))
            seen[k] = (light + mist * (np.float32(HORIZON[k]) - light)) * panel
    else:
        level = (one - rz) * (one - rz)
        if polished:
            beside = max(one - abs(rz - np.float32(STRIP_AT)) * np.float32(1 / STRIP), zero)
            level = level * level + np.float32(STRIP_LIGHT) * beside * beside
        for k in range(3):
            seen[k] = (np.float32(OVERHEAD[k]) + level * (np.float32(HORIZON[k]) - np.float32(OVERHEAD[k]))) * panel


@fast
def _reflect_lamp(
    lamps: Floats, k: int, px: Real, py: Real, pz: Real, rx: Real, ry: Real, rz: Real, nearest: Real, blur: Real
) -> Real:
    """How much of a square lamp a mirror ray meets, its rim softened by the metal's roughness."""
    zero, one = np.float32(0.0), np.float32(1.0)
    toward = rx * lamps[k, 7] + ry * lamps[k, 8] + rz * lamps[k, 9]
    if toward < np.float32(0.05):
        return zero
    dx, dy, dz = lamps[k, 0] - px, lamps[k, 1] - py, lamps[k, 2] - pz
    t = (dx * lamps[k, 7] + dy * lamps[k, 8] + dz * lamps[k, 9]) / toward
    if t < zero or t > nearest:
        return zero
    dx, dy, dz = t * rx - dx, t * ry - dy, t * rz - dz
    half, soft = lamps[k, 6], blur * t
    u = half + soft * np.float32(0.5) - abs(dx * lamps[k, 10] + dy * lamps[k, 11] + dz * lamps[k, 12])
    v = half + soft * np.float32(0.5) - abs(dx * lamps[k, 13] + dy * lamps[k, 14] + dz * lamps[k, 15])
    if u <= zero or v <= zero:
        return zero
    a, b = min(u / soft, one), min(v / soft, one)
    wide = half + np.float32(0.25) * soft  # what is smeared out is dimmer
    return a * a * (3 - 2 * a) * b * b * (3 - 2 * b) / (4 * wide * wide)


@fast
def _intersect_proxy(
    stand_ins: Floats, j: int, px: Real, py: Real, pz: Real, rx: Real, ry: Real, rz: Real
) -> tuple[Real, Real, Real, Real]:
    """Distance along a ray to a stand-in whose ball it meets, and the normal there; 1e9 where it misses."""
    zero, one, miss = np.float32(0.0), np.float32(1.0), np.float32(1e9)
    dx, dy, dz = px - stand_ins[j, 1], py - stand_ins[j, 2], pz - stand_ins[j, 3]
    if stand_ins[j, 0] == zero:  # ball
        b, r = dx * rx + dy * ry + dz * rz, stand_ins[j, 6]
        t = -b - np.sqrt(max(b * b - (dx * dx + dy * dy + dz * dz) + r * r, zero))
        if t < zero:
            return miss, zero, zero, one
        return t, (dx + t * rx) / r, (dy + t * ry) / r, (dz + t * rz) / r
    cosine, sine = stand_ins[j, 7], stand_ins[j, 8]
    ox, oy = dx * cosine + dy * sine, dy * cosine - dx * sine
    qx, qy = rx * cosine + ry * sine, ry * cosine - rx * sine
    flat = abs(rz) < np.float32(1e-6)
    iz = one / (np.float32(1e-6) if flat else rz)
    near_z, far_z = (-stand_ins[j, 6] * abs(iz)) - dz * iz, (stand_ins[j, 6] * abs(iz)) - dz * iz
    if stand_ins[j, 0] == one:  # upright can
        a = max(qx * qx + qy * qy, np.float32(1e-9))
        b = ox * qx + oy * qy
        root = b * b - a * (ox * ox + oy * oy - stand_ins[j, 4] * stand_ins[j, 4])
        if root < zero:
            return miss, zero, zero, one
        root = np.sqrt(root)
        near_side, far_side = (-b - root) / a, (-b + root) / a
        t = max(near_side, near_z)
        if t < zero or t > min(far_side, far_z):
            return miss, zero, zero, one
        if near_z > near_side:
            return t, zero, zero, -np.sign(rz)
        mx, my = (ox + t * qx) / stand_ins[j, 4], (oy + t * qy) / stand_ins[j, 4]
        return t, mx * cosine - my * sine, mx * sine + my * cosine, zero
    ix = one / (np.float32(1e-6) if abs(qx) < np.float32(1e-6) else qx)
    iy = one / (np.float32(1e-6) if abs(qy) < np.float32(1e-6) else qy)
    near_x, far_x = (-stand_ins[j, 4] * abs(ix)) - ox * ix, (stand_ins[j, 4] * abs(ix)) - ox * ix
    near_y, far_y = (-stand_ins[j, 5] * abs(iy)) - oy * iy, (stand_ins[j, 5] * abs(iy)) - oy * iy
    t = max(near_x, near_y, near_z)
    if t < zero or t > min(far_x, far_y, far_z):
        return miss, zero, zero, one
    if t == near_z:
        return t, zero, zero, -np.sign(rz)
    if t == near_x:
        s = -np.sign(qx)
        return t, s * cosine, s * sine, zero
    s = -np.sign(qy)
    return t, -s * sine, s * cosine, zero
