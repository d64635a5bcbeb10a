"""Light and patterns on surfaces, for the points that a program shades: render/lighting.py, render/surface.py."""

import triton
import triton.language as tl

from ...geometry import visibility as v
from .. import lighting as l
from .. import surface as s
from .visibility import invert, join_four, split_program, store_four, tile

# mypy: ignore-errors

NEARNESS = tl.constexpr(float(v.NEARNESS))
LIFT, LEAST = tl.constexpr(s.LIFT), tl.constexpr(s.LEAST)
ROUGH, SHEEN = tl.constexpr(s.ROUGH), tl.constexpr(s.SHEEN)
NARROW, UPRIGHT = tl.constexpr(1 / s.BRUSHED), tl.constexpr(s.UPRIGHT / s.BRUSHED)
LUSTRE, DOT, SQUARE, STRIPE = (tl.constexpr(x) for x in (s.LUSTRE, s.DOT, s.SQUARE, s.STRIPE))
_, DOTTED, CHECKERED, STRIPED, _ = (tl.constexpr(float(x)) for x in s.MEANS)
SKY_R, SKY_G, SKY_B = (tl.constexpr(x) for x in l.SKY)
BOUNCE_R, BOUNCE_G, BOUNCE_B = (tl.constexpr(x) for x in l.BOUNCE)
LARGEST = tl.constexpr(2147483520.0)  # float that fits a signed integer


@triton.jit
def ambient_light(px, py, pz, nx, ny, nz, body, stand_ins, first, last):
    """The even light: from the sky above, off the ground below, less what neighbours hide."""
    hidden = tl.full(px.shape, 1.0, tl.float32)
    for j in range(first, last):
        ball = stand_ins + j * 13
        r = tl.load(ball + 6)
        dx, dy, dz = tl.load(ball + 1) - px, tl.load(ball + 2) - py, tl.load(ball + 3) - pz
        square = dx * dx + dy * dy + dz * dz
        facing = tl.maximum(dx * nx + dy * ny + dz * nz, 0.0)
        inverse = tl.rsqrt(square)
        taken = tl.minimum(facing * (0.8 * r * r) * (inverse * inverse * inverse), 0.8)
        hidden *= tl.where(body == j, 1.0, 1.0 - taken)
    up = 0.5 + 0.5 * nz
    down = (1.0 - up) * tl.minimum(pz + 0.15, 1.0)  # little light reaches under a body
    red = (SKY_R * up + BOUNCE_R * down) * hidden
    green = (SKY_G * up + BOUNCE_G * down) * hidden
    blue = (SKY_B * up + BOUNCE_B * down) * hidden
    return red, green, blue


@triton.jit
def lamp_visibility(px, py, pz, nx, ny, nz, lamp, view, margin, shadow, wide, high, wanted):
    lx, ly, lz = tl.load(lamp), tl.load(lamp + 1), tl.load(lamp + 2)
    px, py, pz = px + LIFT * nx, py + LIFT * ny, pz + LIFT * nz
    facing = (lx - px) * nx + (ly - py) * ny + (lz - pz) * nz > 0
    ez, bz = tl.load(view + 2), tl.load(view + 11)
    uz, focal = tl.load(view + 8), tl.load(view + 12) * 0.5
    mx = tl.load(view + 13) * 0.5 + margin
    my = tl.load(view + 14) * 0.5 + margin
    lift = 1.0 / lz
    left = tl.maximum(1.0 - pz * lift, 0.05)
    less = left - LEAST * lift
    both = 1.0 / (left * less)  # one division for two
    longer = both * less
    dx = lx + (px - lx) * longer - tl.load(view)
    dy = ly + (py - ly) * longer - tl.load(view + 1)
    depth = ez * bz - dx * tl.load(view + 9) - dy * tl.load(view + 10)
    scale = focal * invert(tl.maximum(depth, 0.1))
    x = mx + scale * (dx * tl.load(view + 3) + dy * tl.load(view + 4))
    up = dx * tl.load(view + 6) + dy * tl.load(view + 7) - ez * uz
    y = my - scale * up
    known = (x >= 2.0) & (x <= wide - 3) & (y >= 2.0) & (y <= high - 3)
    x, y = tl.where(known, x, 2.0), tl.where(known, y, 2.0)
    own = (NEARNESS / ez) * (both * left)
    ix, iy = x.to(tl.int32), y.to(tl.int32)
    fx, fy = x - ix.to(tl.float32) - 0.5, y - iy.to(tl.float32) - 0.5
    # a smooth bump over three cells: their shares when the place is f off the middle one's centre
    before, after = 0.5 * (0.5 - fx) * (0.5 - fx), 0.5 * (0.5 + fx) * (0.5 + fx)
    above, below = 0.5 * (0.5 - fy) * (0.5 - fy), 0.5 * (0.5 + fy) * (0.5 + fy)
    # nearness also falls with the depth of a cell's ground, which is the same along a row
    tilt = uz * invert(focal)
    fall = bz - (my - 0.5) * tilt
    seen = tl.zeros(px.shape, tl.float32)
    load = wanted & facing & known
    for row in tl.static_range(3):
        line = iy - 1 + row
        limit = tl.minimum(own * (fall + tilt * line.to(tl.float32)), LARGEST).to(tl.int32)
        cell = shadow + line * wide + ix
        free = tl.where(tl.load(cell - 1, load, 0) < limit, before, 0.0)
        free += tl.where(tl.load(cell, load, 0) < limit, 1.0 - before - after, 0.0)
        free += tl.where(tl.load(cell + 1, load, 0) < limit, after, 0.0)
        if row == 0:
            seen += free * above
        elif row == 2:
            seen += free * below
        else:
            seen += free * (1.0 - above - below)
    return tl.where(facing, tl.where(known, seen, 1.0), 0.0)


@triton.jit
def reflect_lamp(px, py, pz, nx, ny, nz, lamp, view, dull, brushed):
    """How much of a lamp's light a point scatters if it sees all of the lamp, and its highlight as a share of that."""
    dx, dy, dz = tl.load(lamp) - px, tl.load(lamp + 1) - py, tl.load(lamp + 2) - pz
    inverse = tl.rsqrt(dx * dx + dy * dy + dz * dz)
    dx, dy, dz = dx * inverse, dy * inverse, dz * inverse
    lit = tl.maximum(nx * dx + ny * dy + nz * dz, 0.0)
    facing = dx * tl.load(lamp + 7) + dy * tl.load(lamp + 8) + dz * tl.load(lamp + 9)
    scattered = lit * tl.maximum(facing, 0.0) * (inverse * inverse)
    ex, ey, ez = tl.load(view) - px, tl.load(view + 1) - py, tl.load(view + 2) - pz
    inverse = tl.rsqrt(ex * ex + ey * ey + ez * ez)
    hx, hy, hz = dx + ex * inverse, dy + ey * inverse, dz + ez * inverse
    half = tl.rsqrt(hx * hx + hy * hy + hz * hz)
    along = (nx * hx + ny * hy + nz * hz) * half
    sharp = along * along * (ROUGH - 1.0) + 1.0
    hx, hy, hz = hx * half - nx, hy * half - ny, hz * half - nz
    streak = 1.0 + (hx * hx + hy * hy) * NARROW + hz * hz * UPRIGHT
    shares = ROUGH * SHEEN * dull * (streak * streak) + LUSTRE * brushed * (sharp * sharp)
    return scattered, shares * invert(sharp * sharp * (streak * streak))


@triton.jit
def ink_share(px, py, pz, nx, ny, nz, depth, pattern, body, frames, view, wanted):
    """How much of each point the ink covers, 0 where there is no pattern."""
    frame = frames + body * 6
    cosine, sine = tl.load(frame + 3, wanted, 0.0), tl.load(frame + 4, wanted, 0.0)
    steps = tl.load(frame + 5, wanted, 0.0)
    dx, dy = px - tl.load(frame, wanted, 0.0), py - tl.load(frame + 1, wanted, 0.0)
    z = (pz - tl.load(frame + 2, wanted, 0.0)) * steps
    x, y = (dx * cosine + dy * sine) * steps, (dy * cosine - dx * sine) * steps
    vx, vy, vz = tl.load(view) - px, tl.load(view + 1) - py, tl.load(view + 2) - pz
    facing = tl.abs(vx * nx + vy * ny + vz * nz) * tl.rsqrt(vx * vx + vy * vy + vz * vz)
    pixel = invert(tl.load(view + 12))
    width = depth * pixel * steps * tl.rsqrt(tl.maximum(facing, 0.1))
    width = tl.where(wanted, width, 1.0)
    narrow = invert(width)
    slant = tl.where(pattern == 4.0, (x + y) * 0.7071067811865476, (x + y + z) * 0.5773502691896258)
    edge = STRIPE / 2 - tl.abs(slant - tl.floor(slant) - 0.5)
    striped = _clamp(0.5 + edge * narrow, 0.0)
    mx, my, mz = tl.abs(nx * cosine + ny * sine), tl.abs(ny * cosine - nx * sine), tl.abs(nz)
    along = (mx >= my) & (mx >= mz)
    u = tl.where(along, y, x)
    v = tl.where(along | (my >= mz), z, y)
    du, dv = u - tl.floor(u) - 0.5, v - tl.floor(v) - 0.5
    dotted = _clamp(0.5 + (DOT - tl.sqrt(du * du + dv * dv)) * narrow, 0.0)
    u, v = u * (1 / (2 * SQUARE)), v * (1 / (2 * SQUARE))
    rise = (4 * SQUARE) * narrow
    u = _clamp(rise * (0.25 - tl.abs(u - tl.floor(u) - 0.5)), -1.0)
    v = _clamp(rise * (0.25 - tl.abs(v - tl.floor(v) - 0.5)), -1.0)
    checkered = 0.5 + 0.5 * u * v
    share = tl.where(pattern == 1.0, dotted, tl.where(pattern == 2.0, checkered, striped))
    mean = tl.where(pattern == 1.0, DOTTED, tl.where(pattern == 2.0, CHECKERED, STRIPED))
    share += _clamp(2.0 * width - 1.0, 0.0) * (mean - share)
    return tl.where(wanted, share, 0.0)


@triton.jit
def _clamp(value, least):
    return tl.minimum(tl.maximum(value, least), 1.0)


# The light on the ground at half the image's resolution, all lamps at once: render/lighting.py.

# mypy: ignore-errors

UNIT = tl.constexpr(1.0 / v.NEARNESS)
NONE = tl.constexpr(1 << 30)  # no lump
SKY_R, SKY_G, SKY_B = (tl.constexpr(x) for x in l.SKY)
SIGMA_1, SIGMA_2, SIGMA_3, SIGMA_4 = (tl.constexpr(float(x)) for x in l.SIGMAS)


@triton.jit
def _ground_ray(view, row):
    """Where the rays of a row of cells meet the ground: its depth, and the row's part of x and y."""
    up = (tl.load(view + 14) * 0.5 - row - 0.5) * invert(tl.load(view + 12) * 0.5)
    dx = tl.load(view + 6) * up - tl.load(view + 9)
    dy = tl.load(view + 7) * up - tl.load(view + 10)
    dz = tl.load(view + 8) * up - tl.load(view + 11)
    return tl.load(view + 2) * invert(tl.maximum(-dz, 1e-3)), dx, dy


@triton.jit
def _strip(piece, columns, rows, STEP: tl.constexpr, ACROSS: tl.constexpr, DOWN: tl.constexpr):
    """The columns of a strip, which of them the ground has, its first row and the one after its last.

    It has DOWN rows, STEP apart: walked from the top, each is read once and serves three.
    """
    wide = tl.cdiv(columns, ACROSS)
    x = piece % wide * ACROSS + tl.arange(0, ACROSS)
    down = piece // wide
    top = down // STEP * (STEP * DOWN) + down % STEP
    return x, x < columns, top, tl.minimum(top + STEP * DOWN, rows)


@triton.jit
def read_shadow_maps(
    maps, views, lamps,
    planes,  # out: [image, cell, covered share or width, lamp]
    columns, rows, margin,
    LAMPS: tl.constexpr, ACROSS: tl.constexpr, DOWN: tl.constexpr,
):  # fmt: skip
    """Which cells a lamp does not reach, and there the penumbra's width, both blurred once."""
    image, piece = split_program()
    x, inside, top, end = _strip(piece, columns, rows, 1, ACROSS, DOWN)
    view, lamp = views + image * 15, tl.arange(0, LAMPS)[None, :]
    source = maps + image.to(tl.int64) * LAMPS * (columns + 2 * margin) * (rows + 2 * margin)
    spread = 2.0 * tl.load(lamps + (image * LAMPS + lamp) * 16 + 6) * (tl.load(view + 12) * 0.5) * 0.29
    out = planes + (image.to(tl.int64) * columns * rows + x)[:, None] * (2 * LAMPS) + lamp
    share_before, width_before = _read_row(source, view, x, top - 1, columns, rows, margin, inside, LAMPS)
    share, width = _read_row(source, view, x, top, columns, rows, margin, inside, LAMPS)
    for y in range(top, end):
        share_after, width_after = _read_row(source, view, x, y + 1, columns, rows, margin, inside, LAMPS)
        place = out + y * columns * (2 * LAMPS)
        tl.store(place, 0.25 * (share_before + share_after) + 0.5 * share, inside[:, None])
        tl.store(place + LAMPS, (0.25 * (width_before + width_after) + 0.5 * width) * spread, inside[:, None])
        share_before, width_before, share, width = share, width, share_after, width_after


@triton.jit
def _read_row(source, view, x, y, columns, rows, margin, inside, LAMPS: tl.constexpr):
    """[lane, lamp]: shares and widths along one row; a lamp's size is left to the caller."""
    tl.static_assert(LAMPS == 4)
    y = tl.minimum(tl.maximum(y, 0), rows - 1)
    depth, _, _ = _ground_ray(view, y)
    wide = columns + 2 * margin
    line, size = source + (y + margin) * wide + margin, wide * (rows + 2 * margin)
    a, e = _read_cells(line, x, columns, depth, inside)
    b, f = _read_cells(line + size, x, columns, depth, inside)
    c, g = _read_cells(line + 2 * size, x, columns, depth, inside)
    d, h = _read_cells(line + 3 * size, x, columns, depth, inside)
    return join_four(a, b, c, d), join_four(e, f, g, h) * invert(depth)


@triton.jit
def _read_cells(line, x, columns, depth, inside):
    share, width = tl.zeros(x.shape, tl.float32), tl.zeros(x.shape, tl.float32)
    for across in tl.static_range(-1, 2):
        column = tl.minimum(tl.maximum(x + across, 0), columns - 1)
        near = tl.load(line + column, inside, 0).to(tl.float32)
        share_of = 0.5 if across == 0 else 0.25
        share += share_of * tl.minimum(near, 1.0)
        width += share_of * tl.maximum(near * (UNIT * depth) - 1.0, 0.0)
    return share, width


@triton.jit
def blur(
    planes, out, columns, rows,
    STEP_X: tl.constexpr, STEP_Y: tl.constexpr,
    LAMPS: tl.constexpr, ACROSS: tl.constexpr, DOWN: tl.constexpr,
):  # fmt: skip
    """Shares and widths of every image and lamp, blurred once more: cells so far apart, 1 2 1 both ways."""
    VALUES: tl.constexpr = 2 * LAMPS
    image, piece = split_program()
    start = image.to(tl.int64) * columns * rows * VALUES
    x, inside, top, end = _strip(piece, columns, rows, STEP_Y, ACROSS, DOWN)
    source, value = planes + start, tl.arange(0, VALUES)[None, :]
    before = _blur_row(source, x, top - STEP_Y, columns, rows, inside, STEP_X, VALUES, VALUES)
    here = _blur_row(source, x, top, columns, rows, inside, STEP_X, VALUES, VALUES)
    for y in range(top, end, STEP_Y):
        after = _blur_row(source, x, y + STEP_Y, columns, rows, inside, STEP_X, VALUES, VALUES)
        place = out + start + (y * columns + x)[:, None] * VALUES + value
        tl.store(place, 0.25 * (before + after) + 0.5 * here, inside[:, None])
        before, here = here, after


@triton.jit
def _blur_row(source, x, y, columns, rows, inside, STEP: tl.constexpr, COUNT: tl.constexpr, STRIDE: tl.constexpr):
    """[lane, value]: of each cell the first COUNT of STRIDE values, blurred along its row."""
    total, value = tl.zeros([x.shape[0], COUNT], tl.float32), tl.arange(0, COUNT)[None, :]
    row = tl.minimum(tl.maximum(y, 0), rows - 1) * columns
    for across in tl.static_range(-1, 2):
        column = tl.minimum(tl.maximum(x + across * STEP, 0), columns - 1)
        cell = source + (row + column)[:, None] * STRIDE + value
        total += (0.5 if across == 0 else 0.25) * tl.load(cell, inside[:, None], 0.0).to(tl.float32)
    return total


@triton.jit
def _blend_level(shown, other, wanted, LOW: tl.constexpr, HIGH: tl.constexpr):
    """Go over to the next level of blur as the penumbra widens."""
    SCALE: tl.constexpr = 1.0 / (HIGH - LOW)
    part = tl.minimum(tl.maximum((wanted - LOW) * SCALE, 0.0), 1.0)
    return shown + part * (other - shown)


@triton.jit
def light_ground(
    views, lamps, lumps, windows, lump_first,
    once, twice, thrice,  # [image, cell, covered share or width, lamp] after so many blurs
    out,  # [image, cell, rgb -]
    columns, rows,
    MANY: tl.constexpr,  # lumps looked through at once
    LAMPS: tl.constexpr, ACROSS: tl.constexpr, DOWN: tl.constexpr,
):  # fmt: skip
    """The sky's light less what bodies hide, and each lamp's."""
    image, piece = split_program()
    left, top, column, row, inside = tile(piece, columns, rows, ACROSS, DOWN)
    i = row * columns + column
    view = views + image * 15
    far, dx, dy = _ground_ray(view, row)
    side = (column + 0.5 - tl.load(view + 13) * 0.5) * invert(tl.load(view + 12) * 0.5)
    x = tl.load(view) + far * (dx + tl.load(view + 3) * side)
    y = tl.load(view + 1) + far * (dy + tl.load(view + 4) * side)
    red = tl.full([ACROSS * DOWN], SKY_R, tl.float32)
    green = tl.full([ACROSS * DOWN], SKY_G, tl.float32)
    blue = tl.full([ACROSS * DOWN], SKY_B, tl.float32)
    last = tl.load(lump_first + image + 1)
    for some in range(tl.load(lump_first + image), last, MANY):  # few of the lumps are near this tile
        lane = some + tl.arange(0, MANY)
        there = lane < last
        near_x = (tl.load(windows + lane * 4, there, 0) < left + ACROSS) & (
            tl.load(windows + lane * 4 + 2, there, 0) > left
        )
        near_y = (tl.load(windows + lane * 4 + 1, there, 0) < top + DOWN) & (
            tl.load(windows + lane * 4 + 3, there, 0) > top
        )
        left_over = tl.where(there & near_x & near_y, lane, NONE)
        j = tl.min(left_over, 0)
        while j < NONE:
            window, lump = windows + j * 4, lumps + j * 8
            begin, upper = tl.load(window), tl.load(window + 1)
            end, lower = tl.load(window + 2), tl.load(window + 3)
            near = (column >= begin) & (row >= upper) & (column < end) & (row < lower)
            cz, strength = tl.load(lump + 2), tl.load(lump + 3) * tl.load(lump + 2)
            bx, by = x - tl.load(lump), y - tl.load(lump + 1)
            square = bx * bx + by * by + cz * cz
            inverse = tl.rsqrt(square)
            hidden = tl.minimum(strength * (inverse * inverse * inverse), 1.0)
            hidden = tl.where(near, hidden, 0.0)
            red *= 1.0 - hidden * (1.0 - 0.45 * tl.load(lump + 4))
            green *= 1.0 - hidden * (1.0 - 0.45 * tl.load(lump + 5))
            blue *= 1.0 - hidden * (1.0 - 0.45 * tl.load(lump + 6))
            left_over = tl.where(left_over > j, left_over, NONE)
            j = tl.min(left_over, 0)
    start = image.to(tl.int64) * columns * rows
    place, there = (start + i)[:, None] * (2 * LAMPS) + tl.arange(0, LAMPS)[None, :], inside[:, None]
    third = tl.load(thrice + place, there, 0.0).to(tl.float32)
    shown = third
    if tl.max(tl.max(third, 1), 0) > 0:  # else no shadow is near: the fourth blur is looked at where the third is
        wanted = tl.load(thrice + place + LAMPS, there, 0.0).to(tl.float32) * invert(third + 1e-4)
        shown = tl.load(once + place, there, 0.0).to(tl.float32)
        shown = _blend_level(shown, tl.load(twice + place, there, 0.0).to(tl.float32), wanted, SIGMA_1, SIGMA_2)
        shown = _blend_level(shown, third, wanted, SIGMA_2, SIGMA_3)
        cells = thrice + start * (2 * LAMPS)
        fourth = 0.5 * _blur_row(cells, column, row, columns, rows, inside, 8, LAMPS, 2 * LAMPS)
        fourth += 0.25 * _blur_row(cells, column, row - 4, columns, rows, inside, 8, LAMPS, 2 * LAMPS)
        fourth += 0.25 * _blur_row(cells, column, row + 4, columns, rows, inside, 8, LAMPS, 2 * LAMPS)
        shown = _blend_level(shown, fourth, wanted, SIGMA_3, SIGMA_4)
    lamp = lamps + (image * LAMPS + tl.arange(0, LAMPS)[None, :]) * 16
    lz = tl.load(lamp + 2)
    tx, ty = tl.load(lamp) - x[:, None], tl.load(lamp + 1) - y[:, None]
    square = tx * tx + ty * ty + lz * lz
    facing = tx * tl.load(lamp + 7) + ty * tl.load(lamp + 8) + lz * tl.load(lamp + 9)
    inverse = tl.rsqrt(square)
    inverse *= inverse
    fall = lz * tl.maximum(facing, 0.0) * (inverse * inverse) * (1.0 - shown)
    red += tl.sum(tl.load(lamp + 3) * fall, 1)
    green += tl.sum(tl.load(lamp + 4) * fall, 1)
    blue += tl.sum(tl.load(lamp + 5) * fall, 1)
    store_four(out + (start + i) * 4, red, green, blue, tl.zeros_like(red), inside)
