"""Numbers that no measurement gives, in every numeric field of every scene reader: one sentence, never a picture."""

import json
from copy import deepcopy

import pytest

from command import ROOT, here, refused
from shiftscope import formats as _any
from shiftscope.errors import UserError
from shiftscope.geometry.camera import camera_of
from shiftscope.scene import Object, Scene

EXAMPLES = ROOT / "examples" / "data"
LARGE = (1e30, -1e30, 1e300, 2**63, -(2**63), 2**100, 10**400)
NO_NUMBER = ("1e400", "-1e400", "NaN", "Infinity", "-Infinity")
FILES = {name: json.loads((EXAMPLES / f"{name}.json").read_text()) for name in ("clevr_scenes", "superclevr_scenes", "gqa_graphs")}  # fmt: skip
FILES["clevr_scenes"]["scenes"][0]["objects"][0]["pixel_coords"] = [240, 160, 11.5]
FILES["coco"] = {
    "images": [{"id": 25, "width": 640, "height": 426}],
    "annotations": [{"id": 7, "image_id": 25, "category_id": 1, "bbox": [0.5, 60, 215, 297.2]}],
    "categories": [{"id": 1, "name": "person"}],
}
MEASURED = ("3d_coords", "pixel_coords", "rotation", "directions", "bbox", "width", "height", *"xywh")


def places(value, path=()):
    """Where the measured numbers are: the paths to them, and never more than one of a kind."""
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for at, one in enumerate(value[:3]):
            yield from places(one, (*path, at))
    elif isinstance(value, int | float) and any(key in MEASURED for key in path):
        yield path


CASES = [
    (name, path) for name, data in FILES.items() for path in {(tuple(k for k in p if isinstance(k, str)), p[-1]): p for p in places(data)}.values()
]  # fmt: skip


def with_number(name, path, value):
    data = deepcopy(FILES[name])
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return data


def test_all_kinds_of_numbers_are_tried():
    assert {key for _, path in CASES for key in path if key in MEASURED} == set(MEASURED)


@pytest.mark.parametrize(("name", "path"), CASES)
def test_numbers_out_of_range_are_refused(name, path, tmp_path):
    file = tmp_path / "file.json"
    for value in LARGE:
        file.write_text(json.dumps(with_number(name, path, value)))
        with pytest.raises(UserError, match=r"1,000,000 at most"):
            _any.read_scenes(file)
    for text in NO_NUMBER:
        file.write_text(json.dumps(with_number(name, path, "HERE")).replace('"HERE"', text))
        with pytest.raises(UserError, match=r"not valid JSON|out of range|is malformed"):
            _any.read_scenes(file)


@pytest.mark.parametrize("words", [("show",), ("render", "--out", "out", "--size", "32x24", "--scenes")])
def test_a_scene_far_off_is_neither_shown_nor_drawn(words, tmp_path):
    file = tmp_path / "file.json"
    path = ("scenes", 0, "objects", 0, "3d_coords", 0)
    file.write_text(json.dumps(with_number("clevr_scenes", path, 1e30)))
    assert "scene 0: expected a finite number, got 1e+30 (1,000,000 at most)" in refused(
        here(*words, file, cwd=tmp_path)
    )
    assert not (tmp_path / "out").exists()


def test_a_width_of_two_to_the_63(tmp_path):
    file = tmp_path / "file.json"
    file.write_text(json.dumps({"1": {"width": 2**63, "height": 9, "objects": {}}}))
    sentence = refused(here("make", "covr", "--graphs", file, "--overlap", "schema", "--out", tmp_path / "out"))
    assert f"expected a positive width and height, got {2**63} and 9 (1,000,000 at most)" in sentence


def test_pixels_that_no_camera_gives_are_told(refuses):
    inside = Object((), position=(7.4811, -6.5076, 5.3437), pixel=(0.0, 0.0, 0.0))  # where the camera begins
    with refuses("no camera fits scene 'far'"):
        camera_of(Scene((inside,), id="far"))
    with refuses("scene 'above': a camera right above the origin is not upright"):
        camera_of(Scene((), id="above", notes=(("camera", (0, 0, 5)),)))
