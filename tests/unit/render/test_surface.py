"""Textures: patterns that stick to their body, show on all sides, and leave the colour's name true."""

import numpy as np
import pytest

from shiftscope.geometry.camera import BASE_POSITION, FOCAL
from shiftscope.geometry.shapes.clevr import COLORS
from shiftscope.geometry.shapes.superclevr import body
from shiftscope.render.image import srgb_to_linear
from shiftscope.render.raster import render
from shiftscope.render.surface import MEANS, apply_texture, ink_color, texture_frames
from shiftscope.scene import Object, Scene
from shiftscope.schemas.superclevr import SCHEMA, SHAPE

RED, GREEN = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)  # the colour and the ink
CODES = {"dotted": 1, "checkered": 2, "striped": 3, "upright stripes": 4}


def vehicle(words, texture="", x=0.0, y=0.0, rotation=20.0):
    names = ("size", "color", "material", "shape")
    return Object(
        tuple(zip(names, words.split(), strict=True)), position=(x, y, 0.4), rotation=rotation, texture=texture
    )


def alone(*things):
    return Scene(things, schema=SCHEMA, notes=(("camera", BASE_POSITION),))


def painted(texture, place, normal, frame=(0, 0, 0, 1, 0, 1), depth=0.01):
    """How much ink a point shows, seen by a camera of focal length 1 pixel per unit and depth."""
    view = np.zeros(15)
    view[:3], view[12] = (*place[:2], place[2] + 5), 1.0
    points = np.array([*place, *normal], np.float32).reshape(6, 1)
    looks = np.array([[*RED, 0, CODES[texture], *GREEN]], np.float32)
    none, out = np.zeros(1, np.int32), np.zeros((3, 1), np.float32)
    at = np.array([depth], np.float32)
    apply_texture(1, points, at, none, none, looks, np.array([frame], np.float32), MEANS, view, out)
    assert out[0, 0] + out[1, 0] == pytest.approx(1)
    return float(out[1, 0])


UP, AHEAD, ASIDE = (0, 0, 1), (0, 1, 0), (1, 0, 0)


@pytest.mark.parametrize(("normal", "flat"), [(UP, (0, 1)), (AHEAD, (0, 2)), (ASIDE, (1, 2))])
def test_dots_lie_in_the_plane_that_a_surface_faces(normal, flat):
    middle, corner = np.zeros(3), np.zeros(3)
    middle[list(flat)], corner[list(flat)] = 0.5, 1.0
    assert painted("dotted", middle, normal) == 1
    assert painted("dotted", corner, normal) == 0
    assert painted("dotted", middle + 0.25, normal) == 0  # 0.35 from the middle
    assert painted("dotted", middle + np.array([3, -2, 5]), normal) == 1


def test_squares_change_along_both_sides():
    ink_at = [[painted("checkered", (0.6 + 0.6 * i, 0.6 + 0.6 * j, 9), UP) for i in range(3)] for j in range(3)]
    assert ink_at == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]


def test_stripes_run_slanted_through_space():
    step = np.sqrt(3)
    assert painted("striped", (step / 2, 0, 0), UP) == painted("striped", (0, 0, step / 2), ASIDE) == 1
    assert painted("striped", (step, 0, 0), UP) == painted("striped", (0, step, 0), UP) == 0


def test_upright_stripes_keep_their_ink_all_the_way_up():
    step = np.sqrt(2)
    assert [painted("upright stripes", (step / 2, 0, z), AHEAD) for z in (0, 0.3, 0.7)] == [1, 1, 1]
    assert [painted("upright stripes", (step, 0, z), AHEAD) for z in (0, 0.3, 0.7)] == [0, 0, 0]


def test_a_pattern_turns_and_moves_with_its_body():
    frame = (4, 5, 6, 0, 1, 2)  # a quarter turn, two steps a unit
    assert painted("dotted", (4 - 0.25, 5 + 0.25, 6), UP, frame) == 1
    assert painted("dotted", (4 - 0.25, 5 + 0.5, 6), UP, frame) == 0


@pytest.mark.parametrize("texture", CODES)
def test_what_is_too_fine_for_a_pixel_becomes_its_mean(texture):
    assert painted(texture, (0.5, 0.5, 0), UP, depth=1.0) == pytest.approx(MEANS[CODES[texture]])


def test_ink_keeps_the_hue():
    assert ink_color((0.1, 0.1, 0.1)) == pytest.approx((0.7, 0.7, 0.7))
    assert ink_color((0.02, 0.01, 0.0)) == pytest.approx((0.14, 0.0945, 0.049))  # a dark one stays dark
    assert ink_color((0.0, 0.0, 0.0)) == (0, 0, 0)
    assert ink_color(srgb_to_linear(COLORS["yellow"])) == pytest.approx(
        [0.2 * c for c in srgb_to_linear(COLORS["yellow"])]
    )
    for color in COLORS.values():
        r, g, b = ink_color(srgb_to_linear(color))
        assert np.argmax((r, g, b)) == np.argmax(color)


@pytest.mark.parametrize("shape", SHAPE.values)
def test_a_pattern_repeats_after_five_pixels_or_more_on_any_small_vehicle(shape):
    (frame,) = texture_frames((body(vehicle(f"small red rubber {shape}")),))
    distance = float(np.linalg.norm(BASE_POSITION))  # to the middle of the ground
    assert FOCAL * 480 / distance / frame[5] > 5.5


def test_steps_suit_the_size_of_the_body_and_how_slender_it_is():
    large, small = (body(vehicle(f"{size} red rubber sedan")) for size in ("large", "small"))
    bicycle = body(vehicle("large red rubber road"))
    steps = [1 / f[5] for f in texture_frames((large, small, bicycle))]
    assert steps[:2] == pytest.approx([0.2725, 0.213], rel=1e-3)
    assert 0.13 < steps[2] < 0.2


@pytest.mark.parametrize("texture", CODES)
@pytest.mark.parametrize("size", ["large", "small"])
def test_a_pattern_is_seen_on_its_vehicle_alone_and_the_colour_stays(texture, size):
    plain, patterned = (
        render([alone(vehicle(f"{size} red rubber suv", t), vehicle("small blue rubber sedan", "", 1.5, 2.0))])
        for t in ("", texture)
    )
    change = np.abs(plain.rgb[0].astype(int) - patterned.rgb[0]).max(-1)
    own = plain.mask[0] == 1
    assert (plain.mask == patterned.mask).all()
    assert change[plain.mask[0] == 2].max() == 0
    # nowhere but on the vehicle and, by smoothing, on its rim
    rim = own | np.roll(own, 1, 0) | np.roll(own, -1, 0) | np.roll(own, 1, 1) | np.roll(own, -1, 1)
    assert change[~rim].max() == 0
    inked = (change[own] > 40).mean()
    assert 0.1 < inked < 0.6
    r, g, b = patterned.rgb[0][own].mean(0)
    assert r > 1.25 * max(g, b)


def test_an_unknown_texture_is_named(refuses):
    with refuses("no texture 'stripy'; did you mean 'striped'?"):
        body(vehicle("large red rubber sedan", "stripy"))
