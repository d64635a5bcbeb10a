"""Which samples are shaded, the light of each, and the pixels they make: render/paint.py."""

import triton
import triton.language as tl

from ...geometry import visibility as v
from .. import image as color
from .. import lighting, paint, proxies, reflect
from .reflect import reflect_surroundings
from .shading import ambient_light, ink_share, lamp_visibility, reflect_lamp
from .visibility import invert, load_four, split_program, tile

# mypy: ignore-errors

GROUND, METAL_BODY = tl.constexpr(lighting.GROUND), tl.constexpr(paint.METAL_BODY)
NEARNESS, STEPS = tl.constexpr(float(v.NEARNESS)), tl.constexpr(float(color.STEPS))
SHINE, GLARE, DAZZLE = (tl.constexpr(x) for x in (reflect.SHINE, reflect.GLARE, reflect.DAZZLE))
POLISH, DARK, MANY = (tl.constexpr(x) for x in (reflect.POLISH, reflect.DARK, proxies.MANY))
BITS = tl.constexpr(20)  # of each colour of a shaded sample
MASK = tl.constexpr((1 << 20) - 1)
FULL = tl.constexpr((1 << 20) - 4)  # white: the rounded shares of four samples add up within their bits
SHADED = tl.constexpr(1 << 62)  # marks one, so that black is not the ground


@triton.jit
def gather_samples(
    fine,  # [image, pixel, sample], see visibility.py; a sample that another stands for becomes −1
    busy,  # [image, tile], whether there may be any sample
    bodies, facets, part_of, traits, first,
    todo,  # out: [image, 4 · pixels], `pixel << 4 | sample << 2 | quarters − 1`
    counts,  # out: [image], how long its list is
    width, height,
    ACROSS: tl.constexpr, DOWN: tl.constexpr,
):  # fmt: skip
    """One program: one tile of one image."""
    image, piece = split_program()
    if tl.load(busy + image * tl.num_programs(1) + piece) > 0:
        _, _, x, y, inside = tile(piece, width, height, ACROSS, DOWN)
        pixel = y * width + x
        pixels = width * height
        cells = fine + (image.to(tl.int64) * pixels + pixel) * 4
        c0, c1, c2, c3 = load_four(cells, inside, 0)
        some = (c0 | c1 | c2 | c3) != 0
        if tl.max(some.to(tl.int32), 0) > 0:
            w0, w1, w2, w3 = _weights(c0, c1, c2, c3, bodies, facets, part_of, traits, tl.load(first + image))
            w0 = tl.where(some, w0, 0.0)
            n0, n1 = (w0 > 0).to(tl.int32), (w1 > 0).to(tl.int32)
            n2, n3 = (w2 > 0).to(tl.int32), (w3 > 0).to(tl.int32)
            own = n0 + n1 + n2 + n3
            start = tl.atomic_add(counts + image, tl.sum(own, 0), sem="relaxed")
            at = todo + image.to(tl.int64) * pixels * 4 + start + tl.cumsum(own, 0) - own
            _list_sample(at, pixel, 0, w0, cells, c0)
            _list_sample(at + n0, pixel, 1, w1, cells, c1)
            _list_sample(at + n0 + n1, pixel, 2, w2, cells, c2)
            _list_sample(at + n0 + n1 + n2, pixel, 3, w3, cells, c3)


@triton.jit
def _list_sample(at, pixel, K: tl.constexpr, quarters, cells, cell):
    """Put a sample on the list, or mark it as one that another stands for."""
    shaded = quarters > 0
    tl.store(at, (pixel << 4) | (K << 2) | (quarters.to(tl.int32) - 1), shaded)
    tl.store(cells + K, tl.full(pixel.shape, -1, tl.int64), (cell > 0) & (shaded == 0))


@triton.jit
def _facet(cell, bodies, facets, part_of, traits, first):
    """Of what a sample sees: whether it is there, its face, normal, group, edge, and whether it is joined."""
    there = cell > 0
    row = bodies + (first + ((cell >> 24) & 255).to(tl.int32)) * 8
    face = tl.load(row + 2, there, 0) + (cell & 0xFFFFFF).to(tl.int32)
    surface = tl.load(row + 7, there, 0) + tl.load(part_of + face, there, 0)
    nx, ny, nz, square = load_four(facets + face * 4, there, 0.0)
    group, edge, bend, small = load_four(traits + surface * 4, there, 0.0)
    bends = square < bend
    joins = (small != 0) & (bends == 0)
    return there, nx, ny, nz, group, edge, bends, joins


@triton.jit
def _is_alike(s, sx, sy, sz, s_group, s_edge, t, tx, ty, tz, t_group):
    """s and t are the cells of two samples."""
    smooth = (s_edge == 0) | (sx * tx + sy * ty + sz * tz >= s_edge)
    return ((s & 0xFFFFFFFF) == (t & 0xFFFFFFFF)) | ((s_group == t_group) & smooth)


@triton.jit
def _weights(c0, c1, c2, c3, bodies, facets, part_of, traits, first):
    """How many quarters of its pixel each sample stands for; 0 where another does, or the ground."""
    h0, x0, y0, z0, g0, _, bends, _ = _facet(c0, bodies, facets, part_of, traits, first)
    h1, x1, y1, z1, g1, e1, _, j1 = _facet(c1, bodies, facets, part_of, traits, first)
    h2, x2, y2, z2, g2, e2, _, j2 = _facet(c2, bodies, facets, part_of, traits, first)
    h3, x3, y3, z3, g3, e3, _, j3 = _facet(c3, bodies, facets, part_of, traits, first)
    a10 = h1 & h0 & _is_alike(c1, x1, y1, z1, g1, e1, c0, x0, y0, z0, g0)
    a20 = h2 & h0 & _is_alike(c2, x2, y2, z2, g2, e2, c0, x0, y0, z0, g0)
    a30 = h3 & h0 & _is_alike(c3, x3, y3, z3, g3, e3, c0, x0, y0, z0, g0)
    a21 = h2 & h1 & _is_alike(c2, x2, y2, z2, g2, e2, c1, x1, y1, z1, g1)
    a31 = h3 & h1 & _is_alike(c3, x3, y3, z3, g3, e3, c1, x1, y1, z1, g1)
    a32 = h3 & h2 & _is_alike(c3, x3, y3, z3, g3, e3, c2, x2, y2, z2, g2)
    mixed = bends | ((a10 & a20 & a30) == 0)
    # the first earlier sample that stands for itself takes a later one in
    p1 = h1 & ((j1 & a10) == 0)
    p2 = h2 & ((j2 & (a20 | (a21 & p1))) == 0)
    p3 = h3 & ((j3 & (a30 | (a31 & p1) | (a32 & p2))) == 0)
    t20, t30 = j2 & a20, j3 & a30
    t21 = h2 & (p2 == 0) & (t20 == 0)
    t31 = j3 & a31 & p1 & (t30 == 0)
    t32 = h3 & (p3 == 0) & (t30 == 0) & (t31 == 0)
    w0 = h0.to(tl.float32) + (j1 & a10).to(tl.float32) + t20.to(tl.float32) + t30.to(tl.float32)
    w1 = p1.to(tl.float32) + t21.to(tl.float32) + t31.to(tl.float32)
    w1 = tl.where(p1, w1, 0.0)
    w2 = tl.where(p2, 1.0 + t32.to(tl.float32), 0.0)
    w3 = p3.to(tl.float32)
    w0 = tl.where(mixed, w0, 4.0)
    return w0, tl.where(mixed, w1, 0.0), tl.where(mixed, w2, 0.0), tl.where(mixed, w3, 0.0)


@triton.jit
def pack_sample(red, green, blue):
    """A shaded sample in the cell that named its triangle; each colour from 0 to 1."""
    r, g, b = ((red * FULL + 0.5).to(tl.int64), (green * FULL + 0.5).to(tl.int64), (blue * FULL + 0.5).to(tl.int64))
    return SHADED | (r << (2 * BITS)) | (g << BITS) | b


@triton.jit
def resolve(
    fine,  # [image, pixel, sample], shaded
    busy,  # [image, tile], whether there may be any sample
    light,  # [image, cell, rgb -], the ground's
    table,  # the byte of each step of light
    out,  # [image, pixel, rgb]
    width, height, columns, rows,
    ACROSS: tl.constexpr, DOWN: tl.constexpr,
):  # fmt: skip
    """One program: one tile of one image."""
    image, piece = split_program()
    _, _, x, y, inside = tile(piece, width, height, ACROSS, DOWN)
    place = image.to(tl.int64) * width * height + y * width + x
    red = tl.zeros([ACROSS * DOWN], tl.float32)
    green, blue, bare = red, red, red + 1.0
    if tl.load(busy + image * tl.num_programs(1) + piece) > 0:
        c0, c1, c2, c3 = load_four(fine + place * 4, inside, 0)
        bare = tl.where(c0 == 0, 0.25, 0.0) + tl.where(c1 == 0, 0.25, 0.0)
        bare += tl.where(c2 == 0, 0.25, 0.0) + tl.where(c3 == 0, 0.25, 0.0)
        # −1: another sample stands for it
        cell = tl.maximum(c0, 0) + tl.maximum(c1, 0) + tl.maximum(c2, 0) + tl.maximum(c3, 0)
        red = ((cell >> (2 * BITS)) & MASK).to(tl.float32) * (1.0 / FULL)
        green = ((cell >> BITS) & MASK).to(tl.float32) * (1.0 / FULL)
        blue = (cell & MASK).to(tl.float32) * (1.0 / FULL)
    if tl.max(bare, 0) > 0:
        ground = light + image.to(tl.int64) * columns * rows * 4
        r, g, b = _upsample_ground(ground, x, y, columns, rows, width, inside & (bare > 0))
        red += bare * r
        green += bare * g
        blue += bare * b
    _encode(out + place * 3, red, table, inside)
    _encode(out + place * 3 + 1, green, table, inside)
    _encode(out + place * 3 + 2, blue, table, inside)


@triton.jit
def _upsample_ground(light, x, y, columns, rows, width, wanted):
    """The ground's light, from cells twice as wide: lighting.upsample_light."""
    own, here = y >> 1, x >> 1
    other = tl.minimum(tl.maximum(own + tl.where((y & 1) == 1, 1, -1), 0), rows - 1)
    beside = tl.minimum(tl.maximum(here + tl.where((x & 1) == 1, 1, -1), 0), columns - 1)
    beside = tl.where((x == width - 1) & ((x & 1) == 0), here, beside)
    a, b = light + (own * columns + here) * 4, light + (other * columns + here) * 4
    c, d = light + (own * columns + beside) * 4, light + (other * columns + beside) * 4
    ar, ag, ab, _ = load_four(a, wanted, 0.0)
    br, bg, bb, _ = load_four(b, wanted, 0.0)
    cr, cg, cb, _ = load_four(c, wanted, 0.0)
    dr, dg, db, _ = load_four(d, wanted, 0.0)
    return _blend(ar, br, cr, dr), _blend(ag, bg, cg, dg), _blend(ab, bb, cb, db)


@triton.jit
def _blend(a, b, c, d):
    return GROUND * (0.75 * (0.75 * a + 0.25 * b) + 0.25 * (0.75 * c + 0.25 * d))


@triton.jit
def _encode(out, light, table, inside):
    step = tl.minimum(tl.maximum(light * STEPS + 0.5, 0.0), STEPS).to(tl.int32)
    tl.store(out, tl.load(table + step, inside, 0), inside)


@triton.jit
def shade(
    fine,  # [image, pixel, sample], in and out
    todo, counts,  # see paint.py
    points,  # [vertex, position - normal -]
    triangles, part_of,  # of all meshes, see pack.py
    bodies, first, views, lamps, stand_ins, blocks, block_first, frames, looks,  # see pack.py
    maps, light, rim, width, height, columns, rows, margin,
    LAMPS: tl.constexpr, TURNS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """One program: every TURNS-th block of one image's list."""
    image, turn = split_program()
    pixels = width * height
    count = tl.load(counts + image)
    start, end = tl.load(first + image), tl.load(first + image + 1)
    ground = light + image.to(tl.int64) * columns * rows * 4
    for begin in range(turn * BLOCK, count, TURNS * BLOCK):
        i = begin + tl.arange(0, BLOCK)
        wanted = i < count
        entry = tl.load(todo + image.to(tl.int64) * pixels * 4 + i, wanted, 0)
        pixel, k = entry >> 4, (entry >> 2) & 3
        weight = tl.where(wanted, ((entry & 3) + 1).to(tl.float32) * 0.25, 0.0)
        place = fine + (image.to(tl.int64) * pixels + pixel) * 4 + k
        cell = tl.load(place, wanted, 0)
        # where the samples of FOUR lie
        x = pixel % width + tl.where(k == 0, 0.375, tl.where(k == 1, 0.875, tl.where(k == 2, 0.125, 0.625)))
        y = pixel // width + 0.125 + 0.25 * k
        red, green, blue = _shade_sample(
            cell, weight, x, y, points, triangles, part_of, bodies, start, end, views + image * 15,
            lamps + image * LAMPS * 16, stand_ins, blocks, block_first, frames, looks, maps, image, ground,
            rim + image * 3, columns, rows, margin, LAMPS,
        )  # fmt: skip
        tl.store(place, pack_sample(weight * red, weight * green, weight * blue), wanted)


@triton.jit
def _locate_sample(cell, wanted, x, y, points, triangles, row, view):
    """A sample's world position, its normal interpolated over the triangle, and its depth."""
    depth = NEARNESS / tl.where(wanted, cell >> 32, 1).to(tl.float32)  # exactly: shadows hang on it
    scale = depth * invert(tl.load(view + 12))
    u, v = (x - tl.load(view + 13)) * scale, (tl.load(view + 14) - y) * scale
    px = _along(view, u, v, depth)
    py = _along(view + 1, u, v, depth)
    pz = _along(view + 2, u, v, depth)
    corner = triangles + (tl.load(row + 2, wanted, 0) + (cell & 0xFFFFFF).to(tl.int32)) * 3
    origin = points + tl.load(row + 4, wanted, 0).to(tl.int64) * 8
    a = origin + tl.load(corner, wanted, 0) * 8
    b = origin + tl.load(corner + 1, wanted, 0) * 8
    c = origin + tl.load(corner + 2, wanted, 0) * 8
    ax, ay, az, _ = load_four(a, wanted, 0.0)
    bx, by, bz, _ = load_four(b, wanted, 0.0)
    cx, cy, cz, _ = load_four(c, wanted, 0.0)
    ex, ey, ez = bx - ax, by - ay, bz - az
    fx, fy, fz = cx - ax, cy - ay, cz - az
    dx, dy, dz = px - ax, py - ay, pz - az
    # shares of the corners, by least squares along two edges e and f
    ee, ff, ef = ex * ex + ey * ey + ez * ez, fx * fx + fy * fy + fz * fz, ex * fx + ey * fy + ez * fz
    de, df = dx * ex + dy * ey + dz * ez, dx * fx + dy * fy + dz * fz
    scale = 1.0 / (ee * ff - ef * ef)
    of_b = tl.minimum(tl.maximum((ff * de - ef * df) * scale, 0.0), 1.0)
    of_c = tl.minimum(tl.maximum((ee * df - ef * de) * scale, 0.0), 1.0)
    ax, ay, az, _ = load_four(a + 4, wanted, 1.0)
    bx, by, bz, _ = load_four(b + 4, wanted, 1.0)
    cx, cy, cz, _ = load_four(c + 4, wanted, 1.0)
    of_a = 1.0 - of_b - of_c
    nx, ny = of_a * ax + of_b * bx + of_c * cx, of_a * ay + of_b * by + of_c * cy
    nz = of_a * az + of_b * bz + of_c * cz
    size = tl.rsqrt(nx * nx + ny * ny + nz * nz)
    return px, py, pz, nx * size, ny * size, nz * size, depth


@triton.jit
def _along(view, u, v, depth):
    """One coordinate of a point of the view."""
    right, up = tl.load(view + 3), tl.load(view + 6)
    return tl.load(view) + u * right + v * up - depth * tl.load(view + 9)


@triton.jit
def _shade_sample(
    cell, weight, x, y, points, triangles, part_of, bodies, start, end, view,
    lamps, stand_ins, blocks, block_first, frames, looks, maps, image, ground, rim, columns, rows, margin,
    LAMPS: tl.constexpr,
):  # fmt: skip
    """The colour that one sample of each pixel sees, where its weight is not 0."""
    wanted = weight > 0
    body = start + tl.where(wanted, (cell >> 24) & 255, 0).to(tl.int32)
    row = bodies + body * 8
    px, py, pz, nx, ny, nz, depth = _locate_sample(cell, wanted, x, y, points, triangles, row, view)
    face = tl.load(row + 2, wanted, 0) + (cell & 0xFFFFFF).to(tl.int32)
    look = looks + (tl.load(row + 7, wanted, 0) + tl.load(part_of + face, wanted, 0)) * 8
    tint_r, tint_g, tint_b, metal = load_four(look, wanted, 0.0)
    pattern, ink_r, ink_g, ink_b = load_four(look + 4, wanted, 0.0)
    if tl.max(pattern, 0) > 0:
        ink = ink_share(px, py, pz, nx, ny, nz, depth, pattern, body, frames, view, pattern > 0)
        tint_r += ink * (ink_r - tint_r)
        tint_g += ink * (ink_g - tint_g)
        tint_b += ink * (ink_b - tint_b)
    red, green, blue = ambient_light(px, py, pz, nx, ny, nz, body, stand_ins, start, end)
    gloss_r, gloss_g, gloss_b = red * 0.0, red * 0.0, red * 0.0
    polished = (metal > 0) & (tl.load(stand_ins + body * 13, wanted, 0.0) == MANY)
    brushed = tl.where(polished, 0.0, metal)
    wide, high = columns + 2 * margin, rows + 2 * margin
    for k in tl.static_range(LAMPS):
        lamp = lamps + k * 16
        shadow = maps + (image * LAMPS + k).to(tl.int64) * wide * high
        strength = lamp_visibility(px, py, pz, nx, ny, nz, lamp, view, margin, shadow, wide, high, wanted)
        scattered, highlight = reflect_lamp(px, py, pz, nx, ny, nz, lamp, view, 1.0 - metal, brushed)
        strength *= scattered
        peak = strength * highlight
        power_r, power_g, power_b = tl.load(lamp + 3), tl.load(lamp + 4), tl.load(lamp + 5)
        red, gloss_r = red + power_r * strength, gloss_r + power_r * peak
        green, gloss_g = green + power_g * strength, gloss_g + power_g * peak
        blue, gloss_b = blue + power_b * strength, gloss_b + power_b * peak
    if tl.max(metal, 0) > 0:
        shiny = metal > 0
        r, g, b, grazing = reflect_surroundings(
            px, py, pz, nx, ny, nz, weight, body, shiny, polished, view, lamps, stand_ins, blocks,
            block_first, start, end, ground, rim, columns, rows, LAMPS,
        )  # fmt: skip
        dark = tl.minimum(DARK * tl.maximum(tl.maximum(tint_r, tint_g), tint_b), 1.0)
        dark = tl.where(polished, dark, 1.0)
        gloss_r = tl.where(shiny, _metal_reflection(r + gloss_r, tint_r, grazing * dark, dark), gloss_r)
        gloss_g = tl.where(shiny, _metal_reflection(g + gloss_g, tint_g, grazing * dark, dark), gloss_g)
        gloss_b = tl.where(shiny, _metal_reflection(b + gloss_b, tint_b, grazing * dark, dark), gloss_b)
    scatter = (1.0 + metal * (METAL_BODY - 1.0)) * tl.where(polished, POLISH, 1.0)
    red = tl.minimum(red * tint_r * scatter + gloss_r, 1.0)
    green = tl.minimum(green * tint_g * scatter + gloss_g, 1.0)
    blue = tl.minimum(blue * tint_b * scatter + gloss_b, 1.0)
    return tl.where(wanted, red, 0.0), tl.where(wanted, green, 0.0), tl.where(wanted, blue, 0.0)


@triton.jit
def _metal_reflection(light, color, grazing, dazzling):
    """What metal throws back of the light it mirrors."""
    glare = GLARE * dazzling * tl.maximum(light - DAZZLE, 0.0)
    return SHINE * (color + (1.0 - color) * grazing) * light + glare
