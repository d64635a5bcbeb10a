"""YOLO labels: boxes in pixels where the image is there, and files given back byte by byte."""

from pathlib import Path

import pytest
from PIL import Image

from shiftscope.errors import UserError
from shiftscope.formats import yolo
from shiftscope.json_files import InputFile
from shiftscope.scene import Object
from shiftscope.schemas.coco import SCHEMA

LABELS = "23 0.5 0.5 0.25 0.5\n0 0.1 0.2 0.2 0.4\n"


def put(folder: Path, text: str, name: str = "000000000025", *, image: bool = True) -> Path:
    labels = folder / "labels"
    labels.mkdir(exist_ok=True)
    (labels / f"{name}.txt").write_text(text)
    if image:
        (folder / "images").mkdir(exist_ok=True)
        Image.new("RGB", (200, 100)).save(folder / "images" / f"{name}.png")
    return labels


def test_boxes_are_pixels_of_the_image_beside(tmp_path: Path) -> None:
    put(tmp_path, LABELS)
    (scene,) = yolo.read_scenes(tmp_path)
    assert (scene.id, scene.size, scene.schema) == ("25", (200, 100), SCHEMA)
    assert scene.objects[0] == Object((("name", "giraffe"),), box=(75.0, 25.0, 50.0, 50.0))
    assert scene.objects[1].values("name") == ("person",)


def test_shares_are_kept_where_there_is_no_image(tmp_path: Path) -> None:
    labels = put(tmp_path, LABELS, image=False)
    (scene,) = yolo.read_scenes(labels)
    assert (scene.size, scene.objects[0].box) == (None, None)
    assert scene.note("shares") == ((0.5, 0.5, 0.25, 0.5), (0.1, 0.2, 0.2, 0.4))


def test_own_classes(tmp_path: Path) -> None:
    labels = put(tmp_path, "1 0.5 0.5 0.25 0.5\n", "park")
    (labels / "classes.txt").write_text("oak\nlime tree\n")
    scenes = list(yolo.read_scenes(labels))
    assert [(s.id, s.objects[0].values("name"), s.schema.name) for s in scenes] == [("park", ("lime tree",), "open")]


def test_sniff(tmp_path: Path) -> None:
    assert not yolo.sniff_scenes(InputFile(tmp_path))
    put(tmp_path, LABELS)
    assert yolo.sniff_scenes(InputFile(tmp_path))
    assert yolo.sniff_scenes(InputFile(tmp_path / "labels"))
    assert not yolo.sniff_scenes(InputFile(tmp_path / "images"))
    put(tmp_path, "dear diary\n", "0")
    assert not yolo.sniff_scenes(InputFile(tmp_path))


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("0 0.5 0.5 0.5\n", "line 1: expected `class cx cy w h`, got 4 fields"),
        (LABELS + "80 0.5 0.5 0.1 0.1\n", "line 3: class 80, but there are only 80 (0 is the first)"),
        ("-1 0.5 0.5 0.1 0.1\n", "line 1: the class must be a whole number, got '-1'"),
        ("0 0.5 nan 0.1 0.1\n", "line 1: nan is no share of the image (0 to 1)"),
        ("0 0.5 0.5 -0.1 0.1\n", "line 1: -0.1 is no share of the image (0 to 1)"),
        ("0 320 240 10 10\n", "line 1: 320.0 is no share of the image (0 to 1)"),
        ("0 0.5 half 0.1 0.1\n", "line 1: expected four numbers after the class"),
    ],
)
def test_malformed_line_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    labels = put(tmp_path, text)
    with pytest.raises(UserError) as error:
        list(yolo.read_scenes(labels))
    assert str(error.value).startswith(f"{labels / '000000000025.txt'}: {sentence}")


def test_folder_and_image_must_be_readable(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder"):
        list(yolo.read_scenes(tmp_path / "none"))
    with pytest.raises(UserError, match=r"no label files \(\*\.txt\) in this folder"):
        list(yolo.read_scenes(tmp_path))
    labels = put(tmp_path, LABELS)
    (tmp_path / "images" / "000000000025.png").write_bytes(b"no image")
    with pytest.raises(UserError, match="it cannot be opened as an image"):
        list(yolo.read_scenes(labels))


def test_one_image_labelled_twice_is_refused(tmp_path: Path) -> None:
    put(tmp_path, LABELS)
    labels = put(tmp_path, LABELS, "COCO_val2014_000000000025")
    with pytest.raises(UserError, match="image '25' appears twice"):
        list(yolo.read_scenes(labels))
