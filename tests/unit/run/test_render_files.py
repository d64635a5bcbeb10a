"""`render`: the size that pixel coordinates are of is found and named; nothing that does not fit is drawn."""

import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from shiftscope.errors import UserError
from shiftscope.geometry.camera import camera_of
from shiftscope.run.render import render_files
from shiftscope.scene import Object, Scene
from shiftscope.world import clevr as world

SIZES = [(480, 320), (320, 240), (640, 480), (224, 224)]


def as_released(scene: Scene, size, count=None, name="") -> Scene:
    """The scene as a file of images of that size has it: without a camera, with rounded pixels."""
    camera, kept = camera_of(scene), scene.objects[:count]
    projected = camera.project([o.position for o in kept], size).tolist()
    objects = [
        replace(o, pixel=(float(round(x)), float(round(y)), depth))
        for o, (x, y, depth) in zip(kept, projected, strict=True)
    ]
    return replace(scene, objects=tuple(objects), size=None, notes=(), id=name or scene.id)


@pytest.fixture(scope="module")
def scene():
    return world.sample_scene(0, "val", 3)


def mask_of(folder, scene):
    return np.asarray(Image.open(folder / f"{scene.id}_mask.png"))


@pytest.mark.parametrize("size", SIZES)
def test_a_scene_of_any_usual_size_is_seen_as_by_its_own_camera(scene, size, tmp_path):
    truth = render_files([scene], tmp_path / "truth", size, ["mask"])
    made = render_files([as_released(scene, size)], tmp_path / "found", None, ["mask"])
    assert (truth.noted, truth.fits) == (1, ())
    assert made.size == size
    assert made.count_sizes() == {f"{size[0]}×{size[1]}": 1}
    differing = np.mean(mask_of(tmp_path / "truth", scene) != mask_of(tmp_path / "found", scene))
    assert differing < 0.01


def test_a_lone_object_takes_the_size_of_the_other_scenes(scene, tmp_path):
    size = (700, 500)
    scenes = [as_released(scene, size), as_released(scene, size, 1, "lone")]
    assert render_files(scenes, tmp_path / "out", None, ["mask"]).count_sizes() == {"700×500": 2}
    with pytest.raises(UserError, match="no camera fits scene 'lone'"):
        render_files(scenes[1:], tmp_path / "alone", None, ["mask"])


def test_scenes_of_several_sizes_are_drawn_at_the_one_asked_for(scene, tmp_path):
    scenes = [as_released(scene, (480, 320), name="a"), as_released(scene, (320, 240), name="b")]
    with pytest.raises(UserError, match=r"several sizes \(320×240, 480×320\); say how large to draw them with --size"):
        render_files(scenes, tmp_path / "out", None, ["mask"])
    made = render_files(scenes, tmp_path / "out", (120, 80), ["mask"])
    assert made.count_sizes() == {"480×320": 1, "320×240": 1}
    assert mask_of(tmp_path / "out", scenes[0]).shape == mask_of(tmp_path / "out", scenes[1]).shape == (80, 120)


def test_pixels_of_another_scene_are_refused_before_anything_is_written(scene, tmp_path):
    given = as_released(scene, (480, 320))
    mixed = [replace(o, pixel=p.pixel) for o, p in zip(given.objects, reversed(given.objects), strict=True)]
    with pytest.raises(UserError, match="do not go with its 3d_coords"):
        render_files([replace(given, objects=tuple(mixed))], tmp_path / "out", (48, 32), ["rgb"])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"id": "../../elsewhere"}, "its name cannot be that of a file"),
        ({"notes": (("camera", (0.0, 0.0, 5.0)),)}, "a camera right above the origin is not upright"),
        ({"objects": (Object((), pixel=(1.0, 1.0, 9.0)),)}, "an object without a position cannot be drawn"),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_anything_is_written(scene, change, why, tmp_path):
    given = replace(scene, **change)
    with pytest.raises(UserError, match=f"scene '{given.id}': {why}"):
        render_files([given], tmp_path / "out", (48, 32), ["rgb"])
    assert not list(tmp_path.iterdir())


def test_a_scene_without_objects_is_drawn(scene, tmp_path):
    made = render_files([replace(scene, objects=(), notes=(), size=None)], tmp_path / "out", None, ["rgb"])
    assert (made.rendered, made.size, made.default) == (1, (480, 320), 1)


def test_a_scene_without_pixels_is_seen_by_clevrs_own_camera_and_that_is_told(scene, tmp_path):
    bare = replace(scene, objects=tuple(replace(o, pixel=None) for o in scene.objects), notes=())
    made = render_files([bare], tmp_path / "out", (48, 32), ["rgb"])
    assert json.loads(json.dumps(made.to_json()))["cameras"] == {
        "noted": 0,
        "fitted": {},
        "default": 1,
        "pixels_off": 0.0,
        "loosely_fitted": 0,
    }
