"""COCO instances: one scene an image, given back as they were read."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from shiftscope.errors import UserError
from shiftscope.formats import coco
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.text import parse_program
from shiftscope.scene import Object
from sniffed import sniffed

FILE: dict[str, Any] = {
    "info": {"year": 2017},
    "licenses": [{"id": 1, "name": "none"}, {"id": 2, "name": "other"}],
    "images": [
        {"id": 25, "width": 640, "height": 426, "file_name": "000000000025.jpg", "license": 2},
        {"id": 9, "width": 100, "height": 50, "file_name": "000000000009.jpg"},
    ],
    "annotations": [
        {"id": 70, "image_id": 25, "category_id": 25, "bbox": [385.5, 60.0, 215.0, 297.2], "area": 5.5},
        {"id": 8, "image_id": 25, "category_id": 1, "bbox": [0, 0, 10, 20], "iscrowd": 0, "segmentation": [[1.5, 2]]},
    ],
    "categories": [
        {"id": 25, "name": "giraffe", "supercategory": "animal"},
        {"id": 1, "name": "person", "supercategory": "person"},
    ],
}


def put(folder: Path, data: Any) -> Path:
    path = folder / "instances.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def test_objects_are_named_and_boxed(tmp_path: Path) -> None:
    scene, empty = coco.read_scenes(put(tmp_path, FILE))
    assert (scene.id, scene.size, scene.note("file_name")) == ("25", (640, 426), "000000000025.jpg")
    assert scene.objects == (
        Object((("name", "giraffe"),), id="70", box=(385.5, 60.0, 215.0, 297.2)),
        Object((("name", "person"),), id="8", box=(0, 0, 10, 20)),
    )
    assert (empty.id, empty.objects) == ("9", ())


def test_a_giraffe_is_an_animal(tmp_path: Path) -> None:
    scene, _ = coco.read_scenes(put(tmp_path, FILE))
    assert execute(parse_program("count(find(animal))"), scene).answer == 1


def test_outlines_are_left_out(tmp_path: Path) -> None:
    path = put(tmp_path, FILE)
    scene, _ = coco.read_scenes(path)
    assert scene.note("annotations") == {"70": {"area": 5.5}, "8": {"iscrowd": 0}}


def test_own_categories_make_an_open_schema(tmp_path: Path) -> None:
    data = deepcopy(FILE)
    data["categories"][0]["name"] = "unicorn"
    scene, _ = coco.read_scenes(put(tmp_path, data))
    assert scene.schema.name == "open"


def test_image_numbers() -> None:
    assert coco.image_id("000000000025") == "25"
    assert coco.image_id("COCO_train2014_000000000025") == "25"
    assert coco.image_id("holiday_25") == "holiday_25"


def test_sniff() -> None:
    assert coco.sniff_scenes(sniffed(FILE))
    assert not coco.sniff_scenes(sniffed({"images": [], "annotations": []}))
    assert not coco.sniff_scenes(sniffed([FILE]))


def changed(at: str, index: int, **fields: Any) -> dict[str, Any]:
    data = deepcopy(FILE)
    data[at][index] |= fields
    return data


@pytest.mark.parametrize(
    "data, sentence",
    [
        (json.dumps(FILE)[:-40], "it ends too early"),
        ("[]", "expected an object at top level"),
        ({"images": []}, "there is no 'categories' in it"),
        ({"images": [], "categories": [], "annotations": []}, "there are no images in it"),
        (changed("images", 1, id=25), "image 25 appears twice"),
        (changed("annotations", 1, id=70), "annotation 70 appears twice"),
        (changed("categories", 1, id=25), "category 25 appears twice"),
        (changed("annotations", 0, category_id=3), "annotation 70 is of category 3, which is not"),
        (changed("annotations", 0, image_id=3), "annotation 70 is of image 3, which is not"),
        (changed("annotations", 0, image_id=None), "annotation 70: there is no 'image_id' in it"),
        (changed("annotations", 0, bbox=[1, 2, -3, 4]), "annotation 70: a box must be finite and not of negative"),
        (changed("annotations", 0, bbox=[1, 2, 3]), "annotation 70: expected a box of four numbers"),
        (changed("annotations", 0, bbox=[1, 2, "a", 3]), "annotation 70: expected a box of four numbers"),
        (json.dumps(changed("annotations", 0, bbox=[1, 2, float("nan"), 3])), "not valid JSON"),
        (changed("images", 0, width=0), "image 25: its width and height must be whole numbers above 0"),
        ({**FILE, "images": [5]}, "image 0: expected an object, got int"),
    ],
)
def test_malformed_file_is_one_sentence(tmp_path: Path, data: Any, sentence: str) -> None:
    path = put(tmp_path, data)
    with pytest.raises(UserError) as error:
        list(coco.read_scenes(path))
    assert str(error.value).startswith(str(path))
    assert sentence in str(error.value)


def test_box_must_be_finite() -> None:
    with pytest.raises(UserError, match="annotation 1: a box must be finite"):
        coco.parse_box([1, 2, float("nan"), 3], "annotation 1")


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        list(coco.read_scenes(tmp_path / "none.json"))
