"""What metal mirrors: the lamps, the ground as it is lit, a studio's walls, stand-ins for the other objects.

The walls are not in the scene: bright at the horizon and dark overhead, with three soft boxes before them, they are
there for metal to show. A flat face would mirror one spot of them, so faces bulge a little, in the mirror only.
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
BOX_AT, BOX = 0.42, 0.24  # soft boxes, one before each of the walls' brightest parts: how high, half their height
BOX_RIM = 14.0  # how sharp their upper and lower rims are,
BOX_SIDE, BOX_WIDE = 5.0, 0.42  # how sharp those at the sides, and where these lie: cosine of three times the bearing
BOX_LIGHT = 1.25  # how bright they are, against the horizon
DARK = 12.0  # panes and tyres, which are darker than this part of white, mirror less uncoloured light
POLISH = 0.35  # how much a vehicle's metal scatters, against that of a solid, which is brushed
CLEAR = 0.9  # how distinctly metal shows a body that touches it
MISS = 1e9  # how far away nothing is
HAZE = 0.06  # and how fast that fades with the square of the distance


# Numbers that index are made unsigned: the compiler need not check for a sign.
# Of each metal point: place(3), mirror ray(3), seen rgb(3), how far the nearest body is, how flatly one looks at it,
# how far it smears a lamp.
RX, SEEN, NEAREST, GRAZE, SMEAR, ROWS = 3, 6, 9, 10, 11, 12


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
    rays: Floats, which: Ints,  # [ROWS, point] and [point], working memory
) -> None:  # fmt: skip
    """Add what is mirrored at the metal points, and give all of it the metal's colour."""
    c = camera.astype(np.float32)
    zero, one = np.float32(0.0), np.float32(1.0)
    many = _aim_rays(count, points, weight, dull, body, stand_ins, c, rays, which)
    _trace_surroundings(many, rays, which, body, stand_ins, c, ground, np.float32(albedo))
    _trace_bodies(many, rays, which, body, stand_ins, blocks, first)
    for k in range(len(lamps)):
        _reflect_lamp(many, rays, lamps[k])
    for n in range(many):
        i = np.uint32(which[n])
        grazing, dazzling = rays[GRAZE, n], np.float32(GLARE)
        if stand_ins[np.uint32(body[i]), 0] == np.float32(MANY):
            dark = min(np.float32(DARK) * max(tint[0, i], tint[1, i], tint[2, i]), one)
            grazing, dazzling = grazing * dark, dazzling * dark
            for k in range(3):
                light[k, i] *= np.float32(POLISH)
        for k in range(3):
            color = tint[k, i]
            mirrored = rays[SEEN + k, n] + gloss[k, i]
            tinted = color + (one - color) * grazing
            glare = dazzling * max(mirrored - np.float32(DAZZLE), zero)
            gloss[k, i] = np.float32(SHINE) * tinted * mirrored + glare


@fast
def _aim_rays(
    count: int, points: Floats, weight: Floats, dull: Floats, body: Ints, stand_ins: Floats, c: Floats,
    rays: Floats, which: Ints,
) -> int:  # fmt: skip
    """List the metal points with their mirror rays, and return how many there are."""
    zero, one, two, bulge = np.float32(0.0), np.float32(1.0), np.float32(2.0), np.float32(BULGE)
    many = 0
    for k in range(count):
        which[many] = k
        many += 1 if dull[k] == zero else 0
    # The normal goes where the ray will be, the body's middle where what it sees, its radius where its distance.
    for n in range(many):
        i = np.uint32(which[n])
        own = np.uint32(body[i])
        for k in range(3):
            rays[k, n], rays[RX + k, n], rays[SEEN + k, n] = points[k, i], points[3 + k, i], stand_ins[own, 1 + k]
        rays[NEAREST, n] = stand_ins[own, 12]
        rays[SMEAR, n] = np.float32(BLUR) if weight[i] == one else np.float32(EDGE_BLUR)
    eye_x, eye_y, eye_z = c[0], c[1], c[2]
    for n in range(many):  # no look-ups: several at a time
        px, py, pz = rays[0, n], rays[1, n], rays[2, n]
        lean = bulge / np.sqrt(rays[NEAREST, n])
        nx = rays[RX, n] + lean * (px - rays[SEEN, n])
        ny = rays[RX + 1, n] + lean * (py - rays[SEEN + 1, n])
        nz = rays[RX + 2, n] + lean * (pz - rays[SEEN + 2, n])
        inverse = one / np.sqrt(nx * nx + ny * ny + nz * nz)
        nx, ny, nz = nx * inverse, ny * inverse, nz * inverse
        ex, ey, ez = px - eye_x, py - eye_y, pz - eye_z
        inverse = one / np.sqrt(ex * ex + ey * ey + ez * ez)
        ex, ey, ez = ex * inverse, ey * inverse, ez * inverse
        cosine = ex * nx + ey * ny + ez * nz
        rays[RX, n] = ex - two * cosine * nx
        rays[RX + 1, n] = ey - two * cosine * ny
        rays[RX + 2, n] = ez - two * cosine * nz
        rays[NEAREST, n] = np.float32(MISS)
        flat = one + min(cosine, zero)  # 1 where the ray grazes
        rays[GRAZE, n] = np.float32(GRAZING) * flat * flat * flat * flat
    return many


@fast
def _trace_surroundings(
    many: int, rays: Floats, which: Ints, body: Ints, stand_ins: Floats, c: Floats, ground: Floats, share: Real
) -> None:
    """What each ray sees where no body stands in its way: the ground or the walls."""
    zero, half, one = np.float32(0.0), np.float32(0.5), np.float32(1.0)
    height, width = ground.shape[1], ground.shape[2]
    rim = np.empty(3, np.float32)
    for k in range(3):
        rim[k] = ground[k, -1].mean()
    for n in range(many):
        px, py, pz, rx, ry, rz = rays[0, n], rays[1, n], rays[2, n], rays[RX, n], rays[RX + 1, n], rays[RX + 2, n]
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
            ix, iy = np.uint32(kx), np.uint32(ky)
            fx, fy = kx - np.float32(ix), ky - np.float32(iy)
            beyond = min((abs(gx - kx) + abs(gy - ky)) * np.float32(OUTSIDE), one)
            for k in range(3):
                above = ground[k, iy, ix] + fx * (ground[k, iy, ix + 1] - ground[k, iy, ix])
                below = ground[k, iy + 1, ix] + fx * (ground[k, iy + 1, ix + 1] - ground[k, iy + 1, ix])
                light = above + fy * (below - above)
                light = share * (light + beyond * (rim[k] - light))
                rays[SEEN + k, n] = (light + mist * (np.float32(HORIZON[k]) - light)) * panel
        else:
            level = (one - rz) * (one - rz)
            if stand_ins[np.uint32(body[np.uint32(which[n])]), 0] == np.float32(MANY):
                beside = max(one - abs(rz - np.float32(STRIP_AT)) * np.float32(1 / STRIP), zero)
                level = level * level + np.float32(STRIP_LIGHT) * beside * beside
            side = min(max((thrice - np.float32(BOX_WIDE)) * np.float32(BOX_SIDE), zero), one)
            edge = min(max((np.float32(BOX) - abs(rz - np.float32(BOX_AT))) * np.float32(BOX_RIM), zero), one)
            level += np.float32(BOX_LIGHT) * side * side * edge * edge
            for k in range(3):
                low = np.float32(OVERHEAD[k])
                rays[SEEN + k, n] = (low + level * (np.float32(HORIZON[k]) - low)) * panel


@fast
def _trace_bodies(
    many: int, rays: Floats, which: Ints, body: Ints, stand_ins: Floats, blocks: Floats, first: Longs
) -> None:
    """Other bodies in the way of the rays, by their stand-ins."""
    zero, one, miss = np.float32(0.0), np.float32(1.0), np.float32(MISS)
    near = np.empty(many, np.uint8)
    hit, shade = np.empty(many, np.int32), np.empty(many, np.float32)
    for j in range(len(stand_ins)):
        cx, cy, cz, square = stand_ins[j, 1], stand_ins[j, 2], stand_ins[j, 3], stand_ins[j, 12]
        for n in range(many):  # else it lies behind, or the ray passes the ball around it
            dx, dy, dz = rays[0, n] - cx, rays[1, n] - cy, rays[2, n] - cz
            back = dx * rays[RX, n] + dy * rays[RX + 1, n] + dz * rays[RX + 2, n]
            beyond = dx * dx + dy * dy + dz * dz - square
            near[n] = (beyond <= zero) | ((back < zero) & (back * back >= beyond))
        for n in range(many):
            if near[n] == 0 or body[np.uint32(which[n])] == j:
                continue
            px, py, pz = rays[0, n], rays[1, n], rays[2, n]
            rx, ry, rz = rays[RX, n], rays[RX + 1, n], rays[RX + 2, n]
            for m in range(first[j], first[j + 1]):
                dx, dy, dz = px - blocks[m, 1], py - blocks[m, 2], pz - blocks[m, 3]
                back = dx * rx + dy * ry + dz * rz
                if back >= zero or back * back < dx * dx + dy * dy + dz * dz - blocks[m, 12]:
                    continue
                t, mx, my, mz = _intersect_proxy(blocks, m, px, py, pz, rx, ry, rz)
                if t < rays[NEAREST, n]:
                    rays[NEAREST, n] = t
                    # lit mostly by the key
                    lit = mx * np.float32(0.75) - my * np.float32(0.35) + mz * np.float32(0.55)
                    shade[n] = np.float32(0.22) + np.float32(0.5) * max(lit, zero)
                    hit[n] = m
    for n in range(many):
        nearest = rays[NEAREST, n]
        if nearest < miss:
            m = hit[n]
            clear = blocks[m, 13] * np.float32(CLEAR) / (one + np.float32(HAZE) * nearest * nearest)
            for k in range(3):
                rays[SEEN + k, n] += clear * (blocks[m, 9 + k] * shade[n] - rays[SEEN + k, n])


@fast
def _reflect_lamp(many: int, rays: Floats, lamp: Floats) -> None:
    """Add what each ray meets of a square lamp, its rim softened by the metal's roughness."""
    zero, half, one = np.float32(0.0), np.float32(0.5), np.float32(1.0)
    lx, ly, lz, wide = lamp[0], lamp[1], lamp[2], lamp[6]
    ax, ay, az, sx, sy, sz = lamp[7], lamp[8], lamp[9], lamp[10], lamp[11], lamp[12]
    tx, ty, tz, red, green, blue = lamp[13], lamp[14], lamp[15], lamp[3], lamp[4], lamp[5]
    for n in range(many):
        rx, ry, rz = rays[RX, n], rays[RX + 1, n], rays[RX + 2, n]
        toward = rx * ax + ry * ay + rz * az
        dx, dy, dz = lx - rays[0, n], ly - rays[1, n], lz - rays[2, n]
        t = (dx * ax + dy * ay + dz * az) / max(toward, np.float32(0.05))
        met = (toward >= np.float32(0.05)) & (t >= zero) & (t <= rays[NEAREST, n])
        dx, dy, dz = t * rx - dx, t * ry - dy, t * rz - dz
        soft = rays[SMEAR, n] * t if met else one
        u = max(wide + soft * half - abs(dx * sx + dy * sy + dz * sz), zero)
        v = max(wide + soft * half - abs(dx * tx + dy * ty + dz * tz), zero)
        a, b = min(u / soft, one), min(v / soft, one)
        broad = wide + np.float32(0.25) * soft  # what is smeared out is dimmer
        three, two = np.float32(3.0), np.float32(2.0)
        glow = a * a * (three - two * a) * b * b * (three - two * b) / (np.float32(4.0) * broad * broad)
        glow = glow if met else zero
        rays[SEEN, n] += glow * red
        rays[SEEN + 1, n] += glow * green
        rays[SEEN + 2, n] += glow * blue


@fast
def _intersect_proxy(
    stand_ins: Floats, j: int, px: Real, py: Real, pz: Real, rx: Real, ry: Real, rz: Real
) -> tuple[Real, Real, Real, Real]:
    """Distance along a ray to a stand-in whose ball it meets, and the normal there; 1e9 where it misses."""
    zero, one, miss = np.float32(0.0), np.float32(1.0), np.float32(MISS)
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
