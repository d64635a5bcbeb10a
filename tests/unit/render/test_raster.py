"""Images: layers that agree with each other, light that behaves, bytes that decode."""

import io
import sys

import numpy as np
import pytest
from PIL import Image

from shiftscope.geometry.camera import Camera, camera_of
from shiftscope.geometry.shapes.clevr import COLORS
from shiftscope.render import lighting as shadow
from shiftscope.render.image import srgb_table, srgb_to_linear
from shiftscope.render.lighting import LAMPS, lamps_of
from shiftscope.render.png import encode_png, load_deflate
from shiftscope.render.raster import render
from shiftscope.scene import Scene, load_schema
from shiftscope.store.manifest import list_versions
from toy import THREE_AND_ONE, thing

ALL = ("rgb", "mask", "depth", "normal")


def scene_of(*objects):
    return Scene(objects, schema=THREE_AND_ONE.schema)


@pytest.fixture(scope="module")
def images():
    return render([THREE_AND_ONE], (240, 160), ALL)


def test_only_the_layers_asked_for_are_made():
    made = render([THREE_AND_ONE, THREE_AND_ONE], (64, 48), ["depth"])
    assert made.rgb is made.mask is made.normal is None
    assert made.depth.shape == (2, 48, 64)
    assert [len(v) for v in made.visible] == [4, 4]


def test_an_unknown_layer_and_a_silly_size_are_refused(refuses):
    with refuses("no layer 'masks'; did you mean 'mask'?"):
        render([THREE_AND_ONE], layers=["masks"])
    with refuses("an image of 4×4 pixels cannot be drawn"):
        render([THREE_AND_ONE], (4, 4))


def test_the_number_of_workers_changes_nothing():
    scenes = [THREE_AND_ONE, scene_of(thing("large gray metal cube")), scene_of(), THREE_AND_ONE]
    one, two = render(scenes, (96, 64), ALL, workers=1), render(scenes, (96, 64), ALL, workers=2)
    assert all((getattr(one, layer) == getattr(two, layer)).all() for layer in ALL)


def test_odd_sizes_work():
    made = render([THREE_AND_ONE], (99, 65), ALL)
    assert made.rgb.shape == (1, 65, 99, 3)
    assert made.rgb[0, :, -1].min() > 40


def test_depth_and_normals_are_those_of_the_solids(images):
    sphere = THREE_AND_ONE.objects[1]
    x, y, depth = Camera().project([sphere.position], (240, 160))[0]
    at = (0, int(y), int(x))
    assert images.mask[at] == 2
    assert images.depth[at] == pytest.approx(depth - 0.7, abs=0.02)
    toward = np.array(Camera().position) - sphere.position
    assert images.normal[at] == pytest.approx(toward / np.linalg.norm(toward), abs=0.05)
    assert np.linalg.norm(images.normal, axis=-1) == pytest.approx(1, abs=1e-3)


def test_the_ground_is_level_grey_and_farther_toward_the_top(images):
    ground = images.mask[0] == 0
    assert (images.normal[0][ground] == (0, 0, 1)).all()
    assert np.ptp(images.rgb[0][ground].astype(int), axis=-1).mean() < 12
    assert (np.diff(images.depth[0][:, 0]) < 0).all()


@pytest.mark.parametrize("color", ["red", "green", "blue"])
@pytest.mark.parametrize("material", ["rubber", "metal"])
def test_objects_have_their_colour(color, material):
    made = render([scene_of(thing(f"large {color} {material} cube"))], (120, 80))
    mean = made.rgb[0][made.mask[0] == 1].mean(0)
    assert mean.argmax() == ["red", "green", "blue"].index(color)


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("shape", ["cube", "cylinder", "sphere"])
def test_metal_shows_more_contrast_than_rubber_in_every_colour(shape, size):
    def contrast(color, material):
        made = render([scene_of(thing(f"{size} {color} {material} {shape}"))])
        light = made.rgb[0][made.mask[0] == 1].mean(-1)
        low, high = np.percentile(light, (5, 97))
        return (high - low) / light.mean()

    least = 1.0 if shape == "sphere" else 1.4  # a rubber sphere is already shaded all around
    for color in COLORS:
        assert contrast(color, "metal") > least * contrast(color, "rubber"), color


def test_an_image_painted_in_bands_is_the_image_painted_at_once(monkeypatch):
    scenes = [scene_of(*THREE_AND_ONE.objects, thing("large gray metal cube"))]
    whole = render(scenes, (98, 66)).rgb
    monkeypatch.setattr("shiftscope.render.paint.BAND", 700)
    assert (render(scenes, (98, 65)).rgb.shape) == (1, 65, 98, 3)  # another size, so that no canvas is kept
    assert np.abs(render(scenes, (98, 66)).rgb.astype(int) - whole).max() <= 1


def test_a_vocabulary_without_solids_is_named(refuses):
    with refuses("no set of shapes 'coco', the vocabulary of this scene; only solids of clevr, superclevr can"):
        render([Scene((), schema=load_schema("coco"))])


@pytest.mark.parametrize("width", [8, 9, 15, 16, 17, 40])
@pytest.mark.parametrize("across", [1, 4, 8])
def test_blur_stays_inside_rows_of_any_length(width, across):
    source = np.random.default_rng(width).random((6, width), np.float32)
    x, y = np.arange(width), np.arange(6)
    left, right = source[:, np.maximum(x - across, 0)], source[:, np.minimum(x + across, width - 1)]
    rows = source / 2 + (left + right) / 4
    above, below = rows[np.maximum(y - 2, 0)], rows[np.minimum(y + 2, 5)]
    around = np.full((2, 6, 3 * width), 7.0, np.float32)  # what lies beside the rows must stay
    spare, out = around[:, :, width : 2 * width]
    shadow._blur(source, across, 2, spare, out)
    np.testing.assert_allclose(out, rows / 2 + (above + below) / 4, rtol=1e-5)
    assert (around[:, :, :width] == 7).all() and (around[:, :, 2 * width :] == 7).all()


def test_the_smallest_image_looks_like_a_large_one():
    small, large = (render([THREE_AND_ONE], size, ["rgb"]).rgb[0] for size in ((16, 16), (256, 256)))
    shrunk = large.reshape(16, 16, 16, 16, 3).mean((1, 3))
    assert np.abs(small - shrunk).mean() < 6


def test_what_stands_on_the_ground_casts_a_shadow():
    bare = render([scene_of()]).rgb[0].astype(int)
    made = render([scene_of(thing("large gray rubber sphere"))])
    ground = made.mask[0] == 0
    change = made.rgb[0].astype(int).sum(-1) - bare.sum(-1)
    assert change[ground].min() < -90
    assert (change[ground] <= 6).all()  # nothing on the ground gets brighter
    assert change[:20].min() > -9  # nor darker far away


def test_edges_are_smoothed():
    made = render([scene_of(thing("large cyan rubber sphere"))])
    bare = render([scene_of()]).rgb[0, ..., 0].astype(int)
    red, inside = made.rgb[0, ..., 0].astype(int), made.mask[0] == 1
    rim = np.roll(inside, 1, 0) & ~inside | np.roll(inside, -1, 0) & ~inside
    top = slice(0, np.nonzero(inside)[0].min() + 20)  # where no shadow falls
    partly = (red < bare - 8) & (red > 70)
    assert (rim & partly)[top].sum() > 5


def test_noted_lamps_move_the_light():
    notes = (("camera", Camera().position), ("lamps", [[1, 0, 0], [0, 0, 0], [0, 0, 0]]))
    moved = Scene(THREE_AND_ONE.objects, schema=THREE_AND_ONE.schema, notes=notes)
    assert lamps_of(moved)[0].position[0] == LAMPS[0].position[0] + 1
    assert lamps_of(THREE_AND_ONE)[:3] == LAMPS
    assert camera_of(moved) == camera_of(THREE_AND_ONE)
    assert (render([moved]).rgb != render([THREE_AND_ONE]).rgb).any()


def test_colours_survive_the_way_to_light_and_back():
    assert [srgb_table()[round(srgb_to_linear((c, c, c))[0] * 4096)] for c in (0, 87, 173, 255)] == [0, 87, 173, 255]


@pytest.fixture(params=["isal", "zlib"])
def deflate(request, monkeypatch):
    """Each library that PNG is packed with; what is cached of the choice is forgotten."""
    if request.param == "isal":
        pytest.importorskip("isal")
    else:
        monkeypatch.setitem(sys.modules, "isal", None)  # as if it were not installed
    load_deflate.cache_clear()
    yield request.param
    load_deflate.cache_clear()


@pytest.mark.parametrize("shape", [(7, 5, 3), (6, 4), (1, 9, 3)])
def test_png_bytes_decode_to_the_same_pixels_whatever_packs_them(shape, deflate):
    assert load_deflate()[0].startswith(f"{deflate} ") and ("png", load_deflate()[0]) in list_versions()
    pixels = np.random.Generator(np.random.PCG64(0)).integers(0, 256, shape, dtype=np.uint8)
    assert (np.asarray(Image.open(io.BytesIO(encode_png(pixels)))) == pixels).all()
