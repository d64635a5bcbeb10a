"""Parts as an image shows them: pixels, boxes and labels, on a mesh small enough to count by hand."""

import numpy as np
import pytest

from shiftscope.geometry.camera import Camera
from shiftscope.geometry.mesh import Body, Mesh, SurfaceLook, bodies_of, build_scene_mesh
from shiftscope.geometry.shapes.superclevr import SIZES, load_vehicle, vehicle_names
from shiftscope.geometry.visibility import list_parts, measure_visibility, name_parts, part_labels
from shiftscope.render.proxies import fit_boxes
from shiftscope.render.raster import render
from shiftscope.render.surface import mean_thickness
from shiftscope.scene import Object, Part, Scene
from shiftscope.schemas.superclevr import SCHEMA

ABOVE = Camera((0.0, -1e-6, 10.0), (0.0, 0.0, 0.0), 0.5)  # x to the right, y up; 8 pixels show 16 units
SIZE = (16, 16)
PARTS = ("body", "door", "door", "_glass")
RUBBER = SurfaceLook((255, 0, 0), "rubber")


def tiles(*places):
    """A mesh of level squares of side 2 at z = 2, one surface each, given by their lower left corners."""
    corners = [(x + dx, y + dy, 2.0) for x, y in places for dx, dy in ((0, 0), (2, 0), (2, 2), (0, 2))]
    faces = [(4 * k + i, 4 * k + j, 4 * k + m) for k in range(len(places)) for i, j, m in ((0, 1, 2), (0, 2, 3))]
    return Mesh(
        "tiles",
        np.array(corners, float),
        np.tile([0.0, 0.0, 1.0], (len(corners), 1)),
        np.array(faces, np.int32),
        PARTS[: len(places)],
        np.repeat(np.arange(len(places), dtype=np.int32), 2),
    )


TILES = tiles((-6, -6), (0, 0), (4, 2), (-4, 4))


def body_of(mesh, x=0.0):
    return Body(mesh, (x, 0.0, 0.0), 1.0, 0.0, (RUBBER,) * len(mesh.parts))


@pytest.fixture(scope="module")
def seen():
    return measure_visibility(build_scene_mesh((body_of(TILES),)), ABOVE, SIZE, np.array([0, 7, 7, 0], np.uint8))


def test_parts_are_named_once_and_neither_the_body_nor_glass_is_one():
    assert list_parts(TILES) == ("door",)


def test_the_surfaces_of_a_part_count_together(seen):
    # at a depth of 8, a pixel shows one unit: a tile covers 2 × 2 pixels
    assert seen.visible.tolist() == [16]
    assert seen.boxes.tolist() == [[2, 2, 12, 12]]
    assert [p.tolist() for p in seen.part_visible] == [[8]]
    assert [b.tolist() for b in seen.part_boxes] == [[[8, 4, 6, 4]]]


def test_labels_stand_where_their_parts_are_seen(seen):
    ys, xs = np.nonzero(seen.parts)
    assert set(seen.parts[ys, xs].tolist()) == {7}
    assert sorted(zip(xs.tolist(), ys.tolist(), strict=True)) == [
        *((8, 6), (8, 7), (9, 6), (9, 7)),
        *((12, 4), (12, 5), (13, 4), (13, 5)),
    ]
    assert measure_visibility(build_scene_mesh((body_of(TILES),)), ABOVE, SIZE).parts is None


def test_a_hidden_part_has_no_pixels_and_no_box():
    seen = measure_visibility(build_scene_mesh((body_of(TILES, x=100.0),)), ABOVE, SIZE)
    assert [p.tolist() for p in seen.part_visible] == [[0]]
    assert [b.tolist() for b in seen.part_boxes] == [[[0, 0, 0, 0]]]


def standing(shape, x, y, *parts):
    attributes = (("size", "large"), ("color", "gray"), ("material", "rubber"), ("shape", shape))
    own = (("size", "large"), ("color", "red"), ("material", "rubber"))
    height = -float(load_vehicle(shape).vertices[:, 2].min()) * SIZES["large"]
    return Object(attributes, parts=tuple(Part(p, own) for p in parts), position=(x, y, height), rotation=176.0)


TWO = Scene((standing("sedan", 1.5, -1.5, "roof", "hood"), standing("biplane", -1.5, 1.5, "wing_left")), schema=SCHEMA)


def test_the_layer_of_listed_parts_numbers_them_in_the_order_of_the_scene():
    stage = build_scene_mesh(bodies_of(TWO))
    labels = part_labels(TWO, stage.bodies)
    assert set(labels.tolist()) == {0, 1, 2, 3}
    images = render([TWO], layers=("mask", "listed"))
    seen = measure_visibility(stage, Camera(), (480, 320))
    for label, (i, name) in enumerate(((0, "roof"), (0, "hood"), (1, "wing_left")), 1):
        k = list_parts(stage.bodies[i].mesh).index(name)
        own = images.listed[0] == label
        assert own.sum() == seen.part_visible[i][k] > 100
        assert (images.mask[0][own] == i + 1).all()
        ys, xs = np.nonzero(own)
        box = (xs.min(), ys.min(), np.ptp(xs) + 1, np.ptp(ys) + 1)
        assert tuple(seen.part_boxes[i][k].tolist()) == box


def test_a_scene_without_parts_has_an_empty_layer():
    bare = Scene((standing("sedan", 0, 0),), schema=SCHEMA)
    assert not render([bare], (48, 32), ("listed",)).listed.any()


def test_the_layer_of_parts_shows_every_part_of_every_object():
    stage = build_scene_mesh(bodies_of(TWO))
    images = render([TWO], layers=("mask", "parts"))
    names = name_parts(stage.bodies)
    assert [len(own) for own in names] == [21, 7]
    seen = measure_visibility(stage, Camera(), (480, 320))
    for i, own in enumerate(names):
        shown = images.parts[0][images.mask[0] == i + 1]
        assert shown.max() <= len(own)
        assert [int((shown == k + 1).sum()) for k in range(len(own))] == seen.part_visible[i].tolist()
        assert (seen.part_visible[i] > 0).sum() > 5
        assert np.array_equal(images.part_boxes[0][i], seen.part_boxes[i])
    assert not images.parts[0][images.mask[0] == 0].any()


def test_listed_parts_are_among_all_parts():
    images = render([TWO], layers=("parts", "listed", "mask"))
    names = name_parts(bodies_of(TWO))
    label = 0
    for i, thing in enumerate(TWO.objects):
        for part in thing.parts:
            label += 1
            own = (images.mask[0] == i + 1) & (images.parts[0] == names[i].index(part.name) + 1)
            assert np.array_equal(own, images.listed[0] == label)


def test_more_parts_than_bytes_are_refused(refuses):
    crowd = Scene((standing("sedan", 0, 0, *["roof"] * 255),), schema=SCHEMA)
    with refuses("a scene can list at most 254 parts to be told apart in an image"):
        part_labels(crowd, bodies_of(crowd))


def test_the_pixels_of_parts_are_among_those_of_their_vehicle():
    seen = measure_visibility(build_scene_mesh(bodies_of(TWO)), Camera(), (480, 320))
    assert all(sum(p) <= v for p, v in zip(seen.part_visible, seen.visible.tolist(), strict=True))


@pytest.mark.parametrize("name", vehicle_names())
def test_blocks_hold_their_vehicle_with_less_air_than_its_box(name):
    mesh = load_vehicle(name)
    blocks = fit_boxes(mesh)
    assert 1 <= len(blocks.solid) <= 5
    assert ((blocks.solid > 0) & (blocks.solid <= 1)).all()
    middles = mesh.vertices[mesh.triangles].mean(1)
    low, high = blocks.middles - blocks.halves - 0.03, blocks.middles + blocks.halves + 0.03
    inside = (middles[:, None] >= low).all(-1) & (middles[:, None] <= high).all(-1)
    assert inside.any(1).mean() > 0.98
    volume = np.prod(2 * blocks.halves, axis=1).sum()
    assert volume < 1.05 * np.prod(np.ptp(mesh.vertices, axis=0))


def test_an_aeroplane_is_cut_where_its_wings_are_and_a_bicycle_is_mostly_air():
    box = np.prod(np.ptp(load_vehicle("airliner").vertices, axis=0))
    assert np.prod(2 * fit_boxes(load_vehicle("airliner")).halves, axis=1).sum() < 0.5 * box
    assert fit_boxes(load_vehicle("tandem")).solid.max() < 0.6 < fit_boxes(load_vehicle("sedan")).solid.max()
    assert (
        mean_thickness(load_vehicle("tandem"))
        < mean_thickness(load_vehicle("biplane"))
        < mean_thickness(load_vehicle("sedan"))
    )
