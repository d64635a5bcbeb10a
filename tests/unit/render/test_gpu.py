"""The GPU renderer, as far as it can be tested without a GPU: packing, errors, and by Triton's interpreter."""

from dataclasses import fields, replace

import numpy as np
import pytest

from shiftscope.errors import UserError
from shiftscope.geometry.camera import Camera, camera_of
from shiftscope.geometry.layout import Layout, measure_layouts
from shiftscope.geometry.mesh import bodies_of, build_scene_mesh
from shiftscope.geometry.visibility import measure_labels, name_parts, number_parts, part_labels
from shiftscope.render import surface as texture
from shiftscope.render.gpu.pack import DeviceMeshes, join_packs, mesh_facets, pack_batch, pack_layouts
from shiftscope.render.gpu.raster import WORTHWHILE, GpuRenderer, check_device, render_batch, render_batch_on_cpu
from shiftscope.render.paint import pack_traits
from shiftscope.render.proxies import build_proxies
from shiftscope.render.raster import CpuRenderer
from shiftscope.scene import Object, Part, Scene
from shiftscope.schemas.clevr import SCHEMA as CLEVR
from shiftscope.schemas.superclevr import SCHEMA as SUPERCLEVR

BALL = Object(
    (("size", "small"), ("color", "red"), ("material", "metal"), ("shape", "sphere")), position=(0.0, 0.0, 0.35)
)
CUBE = Object(
    (("size", "large"), ("color", "blue"), ("material", "rubber"), ("shape", "cube")),
    position=(1.5, 1.0, 0.7),
    rotation=30.0,
)
SUV = Object(
    (("size", "large"), ("color", "cyan"), ("material", "metal"), ("shape", "suv")),
    parts=(
        Part("door_front_left", (("color", "red"), ("material", "rubber"), ("size", "large")), "striped"),
        Part("wheel_back_left", (("color", "green"), ("material", "metal"), ("size", "large"))),
    ),
    position=(0.0, 0.0, 0.44),
    rotation=200.0,
    texture="dotted",
)


def known_parts(thing):
    """The object with the parts renamed to those that its mesh has, whatever they are called."""
    names = [p for p in dict.fromkeys(bodies_of(scene_of(replace(thing, parts=())))[0].mesh.parts) if p[0] != "_"]
    return replace(thing, parts=tuple(replace(p, name=n) for p, n in zip(thing.parts, names[1:], strict=False)))


def scene_of(*things):
    schema = CLEVR if things[0].values("shape")[0] in ("sphere", "cube") else SUPERCLEVR
    return Scene(things, schema=schema, notes=(("camera", (7.5, -6.5, 5.3)),))


SOLIDS = scene_of(BALL, CUBE)
VEHICLE = scene_of(known_parts(SUV))


def test_packing_holds_what_the_cpu_renderer_makes_of_a_scene():
    for scene in (SOLIDS, VEHICLE):
        packed, stage = pack_batch([scene], (96, 64)), build_scene_mesh(bodies_of(scene))
        assert np.array_equal(packed.looks, texture.pack_looks(stage.bodies))
        assert np.array_equal(packed.labels, part_labels(scene, stage.bodies))
        assert np.array_equal(packed.stand_ins, build_proxies(stage.bodies).bodies)
        assert np.array_equal(packed.cameras[0], camera_of(scene).pack((96, 64)))
        ours, theirs = packed.traits, pack_traits(stage.bodies)
        assert np.array_equal(ours[:, 1:], theirs[:, 1:])
        same = ours[:, None, 0] == ours[None, :, 0]
        assert np.array_equal(same, theirs[:, None, 0] == theirs[None, :, 0])


def test_packing_numbers_every_part_of_an_object():
    two = scene_of(VEHICLE.objects[0], replace(VEHICLE.objects[0], position=(2.0, 2.0, 0.44)))
    packed = pack_batch([SOLIDS, two], (96, 64))
    bodies = bodies_of(two)
    assert np.array_equal(packed.numbers[-len(number_parts(bodies)) :], number_parts(bodies))
    many = len(name_parts(bodies)[0])
    assert packed.number_first.tolist() == [0, 0, 0, many]
    assert packed.numbered.tolist() == [0, 2 * many]


def layouts_of(scenes, size):
    return [Layout(scene.objects, scene.schema, camera_of(scene), size) for scene in scenes]


def test_layouts_are_packed_as_their_scenes_are():
    """Where things stand decides what is seen of them; nothing else travels."""
    packed, whole = pack_layouts(layouts_of([SOLIDS, VEHICLE], (96, 64))), pack_batch([SOLIDS, VEHICLE], (96, 64))
    assert packed.meshes == whole.meshes and packed.size == whole.size
    for name in ("mesh_of", "image_of", "first", "poses", "surfaces", "numbers", "number_first", "numbered", "cameras"):
        assert np.array_equal(getattr(packed, name), getattr(whole, name)), name
    assert len(packed) == 2 and not len(packed.lamps) and not len(packed.looks)


def test_windows_on_the_ground_hold_what_each_lump_darkens():
    for scene in (SOLIDS, VEHICLE):
        packed = pack_batch([scene], (96, 64))
        for lump, window in zip(packed.lumps.astype(float), packed.windows.tolist(), strict=True):
            corners = [(lump[0] + i * lump[7], lump[1] + j * lump[7], 0.0) for i in (-1, 1) for j in (-1, 1)]
            x, y, depth = camera_of(scene).project(corners, (48, 32)).T
            assert depth.min() > 1
            low, high = (max(int(x.min()), 0), max(int(y.min()), 0)), (int(x.max()) + 1, int(y.max()) + 1)
            assert window == [*low, min(high[0], 48), min(high[1], 32)]


def test_a_batch_is_its_scenes_one_after_another():
    both = pack_batch([SOLIDS, VEHICLE, SOLIDS], (96, 64))
    assert len(both) == 3
    assert both.first.tolist() == [0, 2, 3, 5]
    assert both.image_of.tolist() == [0, 0, 1, 2, 2]
    assert both.mesh_of.tolist() == [0, 1, 2, 0, 1]
    assert both.listed.tolist() == [0, 2, 0]
    assert both.surfaces.tolist()[:3] == [0, 1, 2]
    assert len(both.labels) == len(both.looks) == 4 + len(both.meshes[2].parts)
    again = join_packs([pack_batch([SOLIDS, VEHICLE], (96, 64)), pack_batch([SOLIDS], (96, 64))])
    for field in fields(both):
        if field.name not in ("size", "meshes", "traits"):
            assert np.array_equal(getattr(both, field.name), getattr(again, field.name)), field.name
    assert np.array_equal(both.traits[:, 1:], again.traits[:, 1:])  # groups are told apart within an image


def test_batches_that_can_not_be_drawn():
    with pytest.raises(UserError, match="at least one scene"):
        pack_batch([])
    with pytest.raises(UserError, match="of one size"):
        join_packs([pack_batch([SOLIDS], (96, 64)), pack_batch([SOLIDS], (64, 96))])
    with pytest.raises(UserError, match="255 objects do not fit a mask of bytes"):
        pack_batch([Scene((BALL,) * 255, schema=CLEVR, notes=SOLIDS.notes)])


def test_the_shelf_knows_where_the_meshes_of_a_batch_lie():
    pytest.importorskip("torch")
    packed = pack_batch([SOLIDS, SOLIDS], (96, 64))
    ball, cube = packed.meshes
    shelf = DeviceMeshes("cpu")
    shelf.add(packed.meshes)
    shelf.add(packed.meshes)  # what is there is not sent again
    assert len(shelf.vertices) == len(ball.vertices) + len(cube.vertices)
    rows = shelf.body_rows(packed)
    assert rows[1].tolist() == [
        *(len(ball.vertices), len(cube.vertices), len(ball.triangles), len(cube.triangles)),
        *(len(ball.vertices), 0, 1, 1),
    ]
    assert rows[3, 4:].tolist() == [2 * len(ball.vertices) + len(cube.vertices), 1, 1, 3]
    assert mesh_facets(cube).shape == (len(cube.triangles), 4)


def test_without_a_gpu_the_error_says_what_to_do():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(UserError, match=r"cannot render on 'cuda': .*--device cpu"):
        render_batch([SOLIDS])
    with pytest.raises(UserError, match="cannot render on 'tpu'"):
        check_device("tpu")


def test_boxes_of_labels():
    plane = np.zeros((4, 6), np.uint8)
    plane[1:3, 2:5] = 2
    boxes, visible = measure_labels(plane, 2)
    assert boxes.tolist() == [[0, 0, 0, 0], [2, 1, 3, 2]]
    assert visible.tolist() == [0, 6]


def test_the_host_fills_the_same_tensors():
    pytest.importorskip("torch")
    images = render_batch_on_cpu([SOLIDS, VEHICLE], (96, 64), workers=1)
    assert images.rgb.shape == (2, 64, 96, 3)
    assert images.boxes.shape == (2, 2, 4)
    assert images.part_boxes.shape == (2, 2, 4)
    assert int(images.visible[1, 1]) == 0  # the second image has one object
    assert int((images.mask[0] == 1).sum()) == int(images.visible[0, 0])
    assert int((images.parts[1] == 1).sum()) == int(images.part_visible[1, 0])


@pytest.mark.full
def test_a_gpu_draws_what_the_cpu_draws():
    """Without a GPU under Triton's interpreter, which needs minutes, and a NumPy that makes numbers of arrays."""
    torch = pytest.importorskip("torch")
    triton = pytest.importorskip("triton")
    from benchmarks.gpu import INTERPRETED
    from shiftscope.render.gpu.raster import TUNING

    interpreted = triton.knobs.runtime.interpret
    if not interpreted and not torch.cuda.is_available():
        pytest.skip("no GPU")
    if interpreted and np.lib.NumpyVersion(np.__version__) >= "2.4.0":
        pytest.skip("Triton's interpreter makes numbers of arrays, which this NumPy refuses")
    scenes = [SOLIDS, VEHICLE] if interpreted else [SOLIDS, VEHICLE] * 8
    size = (96, 64) if interpreted else (480, 320)
    ours = render_batch(scenes, size, "cpu" if interpreted else "cuda", tuning=INTERPRETED if interpreted else TUNING)
    theirs = render_batch_on_cpu(scenes, size)
    for layer in ("mask", "parts", "boxes", "visible", "part_boxes", "part_visible"):
        assert torch.equal(getattr(ours, layer).cpu(), getattr(theirs, layer)), layer
    if not interpreted:
        drawn = GpuRenderer("cuda").render(scenes, ("mask", "parts"), size)
        for one, other in zip(drawn, CpuRenderer().render(scenes, ("mask", "parts"), size), strict=True):
            assert np.array_equal(one.parts, other.parts)
            assert all(map(np.array_equal, one.part_boxes, other.part_boxes))
            assert all(map(np.array_equal, one.part_visible, other.part_visible))
        layouts = layouts_of(scenes, size)
        assert len(layouts) >= WORTHWHILE
        for one, other in zip(GpuRenderer("cuda").measure(layouts), measure_layouts(layouts), strict=True):
            assert np.array_equal(one.boxes, other.boxes) and np.array_equal(one.visible, other.visible)
            assert all(map(np.array_equal, one.part_boxes, other.part_boxes))
            assert all(map(np.array_equal, one.part_visible, other.part_visible))
            assert len(one.part_boxes) == len(other.part_boxes) == len(other.visible)
    off = (ours.rgb.cpu().int() - theirs.rgb.int()).abs().amax(dim=3)
    assert float((off <= 1).float().mean()) >= 0.999


def test_a_camera_of_its_own_travels():
    far = replace(SOLIDS, notes=(("camera", (9.0, -8.0, 6.0)),))
    assert pack_batch([SOLIDS, far], (96, 64)).cameras[1].tolist() == Camera((9.0, -8.0, 6.0)).pack((96, 64)).tolist()
