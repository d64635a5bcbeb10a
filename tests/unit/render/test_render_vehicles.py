"""Vehicles as they are painted: metal that gleams, dark panes, pixels that add up, light from neighbours."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shiftscope.geometry.camera import BASE_POSITION, Camera
from shiftscope.geometry.mesh import bodies_of, build_scene_mesh
from shiftscope.geometry.shapes.clevr import COLORS
from shiftscope.geometry.shapes.superclevr import SIZES, load_vehicle
from shiftscope.geometry.visibility import FOUR, draw_buffer
from shiftscope.render.paint import facets_of, gather_samples, pack_traits
from shiftscope.render.proxies import MANY, SHARES, THIN, _find_best_cut, build_proxies
from shiftscope.render.raster import render
from shiftscope.scene import Object, Scene
from shiftscope.schemas.superclevr import SCHEMA
from toy import THREE_AND_ONE


def standing(words, x=0.0, y=0.0, rotation=176.0):
    values = dict(zip(("size", "color", "material", "shape"), words.split(), strict=True))
    height = -float(load_vehicle(values["shape"]).vertices[:, 2].min()) * SIZES[values["size"]]
    return Object(tuple(values.items()), position=(x, y, height), rotation=rotation)


def scene(*things):
    return Scene(things, schema=SCHEMA, notes=(("camera", BASE_POSITION),))


@pytest.mark.parametrize("shape", ["suv", "double", "cruiser", "jet", "utility"])
def test_metal_shows_more_contrast_than_rubber_in_every_colour(shape):
    def contrast(color, material):
        made = render([scene(standing(f"large {color} {material} {shape}"))], layers=("rgb", "mask"))
        light = made.rgb[0][made.mask[0] == 1].mean(-1)
        low, high = np.percentile(light, (5, 97))
        return (high - low) / light.mean()

    for color in COLORS:
        assert contrast(color, "metal") > 1.2 * contrast(color, "rubber"), color


@pytest.mark.parametrize("color", ["red", "green", "blue"])
@pytest.mark.parametrize("material", ["rubber", "metal"])
def test_vehicles_have_their_colour(color, material):
    for shape in ("truck", "school", "scooter", "airliner", "mountain"):
        made = render([scene(standing(f"small {color} {material} {shape}"))])
        mean = made.rgb[0][made.mask[0] == 1].mean(0)
        assert mean.argmax() == ["red", "green", "blue"].index(color), shape


def test_panes_are_dark_whatever_the_colour():
    stage = build_scene_mesh(bodies_of(scene(standing("large yellow rubber double"))))
    made = render([scene(standing("large yellow rubber double"))])
    glass = np.array([name == "_glass" for name in stage.bodies[0].mesh.parts])
    cells = draw_buffer(stage, Camera(BASE_POSITION), (480, 320), np.array([[128, 128]], np.int64))
    pane = (cells > 0) & glass[stage.surface_of[cells & 0xFFFFFFFF]]
    assert pane.sum() > 300
    assert made.rgb[0][pane].mean() < 0.5 * made.rgb[0][(made.mask[0] == 1) & ~pane].mean()


@pytest.mark.parametrize(
    ("drawn", "most"),
    [
        (THREE_AND_ONE, 0.6),
        (scene(standing("large red metal utility")), 1.0),
        (scene(standing("large red rubber double")), 0.5),
    ],
)
def test_the_shares_of_a_pixel_add_up_to_one_and_points_are_fewer_than_samples(drawn, most):
    stage = build_scene_mesh(bodies_of(drawn))
    size = (96, 64)
    buffer = draw_buffer(stage, Camera(), size, FOUR)
    facets = facets_of(stage, pack_traits(stage.bodies))
    pixel, triangle = np.zeros((2, 4 * 96 * 64), np.int32)
    weight, places = np.zeros(4 * 96 * 64, np.float32), np.zeros((3, 4 * 96 * 64), np.float32)
    bare = np.where((buffer > 0).reshape(64, 96, 4).any(axis=-1), np.float32(9), np.float32(1))  # 9: to be written
    drawn_on = int((buffer > 0).sum())
    n, _ = gather_samples(buffer, FOUR, 0, facets, pixel, triangle, weight, places, bare, 0)
    total = bare.reshape(-1) + np.bincount(pixel[:n], weight[:n], 96 * 64)
    assert total == pytest.approx(1)
    assert n < most * drawn_on
    assert not buffer.any()  # left empty for the next image


def test_samples_that_see_other_looks_are_not_joined():
    things = scene(standing("large red rubber sedan"))
    stage = build_scene_mesh(bodies_of(things))
    traits = pack_traits(stage.bodies)
    parts = stage.bodies[0].mesh.parts
    assert len({float(g) for g in traits[:, 0]}) == len(set(stage.looks))
    assert traits[parts.index("roof"), 0] == traits[0, 0]  # the same look as the body
    assert (traits[:, 3] == 1).all()
    assert (pack_traits(bodies_of(THREE_AND_ONE))[:, 3] == 0).all()


def test_solids_stand_in_for_themselves_and_vehicles_by_their_blocks():
    solids = build_proxies(bodies_of(THREE_AND_ONE))
    assert (solids.blocks[:, :13] == solids.bodies).all()
    assert solids.first.tolist() == [0, 1, 2, 3, 4]
    assert len(solids.lumps) == 4
    vehicles = build_proxies(
        bodies_of(scene(standing("large red rubber regular"), standing("small red rubber road", 3)))
    )
    assert vehicles.bodies[:, 0].tolist() == [MANY, MANY]
    bus, bicycle = (vehicles.lumps[vehicles.lumps[:, 0] < 2], vehicles.lumps[vehicles.lumps[:, 0] > 2])
    assert len(bus) >= 2  # long: it darkens the ground along its whole length
    assert np.ptp(bus[:, :2], axis=0).max() > 1
    assert bus[:, 3].sum() > 8 * bicycle[:, 3].sum()


def test_metal_mirrors_a_neighbour_but_no_bicycle():
    """The gleam of a bus beside a vehicle; what a bicycle hides of the walls is next to nothing."""
    alone = render([scene(standing("large gray metal double"))], layers=("rgb",)).rgb[0].astype(int)

    def change(words):
        made = render([scene(standing("large gray metal double"), standing(words, 1.6, -1.9))])
        own = (made.mask[0] == 1) & (render([scene(standing("large gray metal double"))]).mask[0] == 1)
        return np.abs(made.rgb[0].astype(int) - alone)[own].mean()

    assert change("large yellow rubber suv") > 2 * change("large yellow rubber road")


def test_the_shadow_of_a_long_body_lies_under_all_of_it():
    bare = render([scene()]).rgb[0].astype(int).sum(-1)
    made = render([scene(standing("large gray rubber regular"))])
    darker = (bare - made.rgb[0].astype(int).sum(-1) > 20) & (made.mask[0] == 0)
    left, _, width, _ = made.boxes[0][0].tolist()
    columns = np.nonzero(darker.any(0))[0]
    assert columns.min() <= left + 0.1 * width
    assert columns.max() >= left + 0.9 * width


@given(st.lists(st.tuples(*[st.sampled_from((0.0, 0.1, 0.25, 0.5, 0.9, 1.0, 3.0))] * 3), min_size=1, max_size=12))
def test_the_best_cut_leaves_the_least_air(points):
    """Tried one by one: for each axis and share, the box around it all less the boxes around both sides."""
    places = np.array(points)

    def volume(some):
        return float(np.prod(np.maximum(some.max(0) - some.min(0), THIN))) if len(some) else 0.0

    tried = [(0.0, 0, 0.0)]
    for axis in range(3):
        low, high = places[:, axis].min(), places[:, axis].max()
        for at in (low + share * (high - low) for share in SHARES):
            above = places[:, axis] >= at
            tried.append((volume(places) - volume(places[~above]) - volume(places[above]), axis, at))
    gain, axis, at = _find_best_cut(places)
    assert gain == pytest.approx(max(tried)[0], abs=1e-9)
    assert any((a, b) == (axis, at) and c == pytest.approx(gain, abs=1e-9) for c, a, b in tried)
