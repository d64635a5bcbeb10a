"""YOLO labels: boxes in pixels where the image is there, and files given back byte by byte."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from shiftscope.errors import UserError
from shiftscope.formats import yolo
from shiftscope.scene import Object
from shiftscope.schemas.coco import NAMES, SCHEMA

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


@pytest.mark.parametrize("image", [True, False])
@pytest.mark.parametrize(
    "text",
    [
        LABELS,
        "",
        "23 0.5 0.5 0.25 0.5",
        "23 0.500000 0.500000 0.250000 0.5\r\n",
        "\n0 0.12345678901 0.5 0.1 0.1\n",
        "79 1 1 1e-05 0\n",
    ],
)
def test_file_comes_back_byte_by_byte(tmp_path: Path, text: str, image: bool) -> None:
    labels = put(tmp_path, "", image=image)
    (labels / "000000000025.txt").write_bytes(text.encode())
    yolo.write_scenes(tmp_path / "new", yolo.read_scenes(labels))
    assert (tmp_path / "new" / "000000000025.txt").read_bytes() == text.encode()


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 79), *[st.integers(1, 999_999)] * 4)),
    st.tuples(*[st.integers(1, 5000)] * 2),
)
def test_six_digits_survive_the_way_through_pixels(
    rows: list[tuple[int, ...]], size: tuple[int, int]
) -> None:
    text = "".join(f"{c} {' '.join(f'{v / 1e6:.6g}' for v in box)}\n" for c, *box in rows)
    objects, _ = yolo._parse(text, size, NAMES, Path("labels.txt"))
    assert yolo._lines(objects, [yolo._shares(o.box, size, Path()) for o in objects], NAMES) == text


def test_changed_scene_is_written_anew(tmp_path: Path) -> None:
    labels = put(tmp_path, "23 0.500000 0.5 0.25 0.5\n0 0.1 0.2 0.2 0.4\n")
    (scene,) = yolo.read_scenes(labels)
    yolo.write_scenes(tmp_path / "new", [replace(scene, objects=scene.objects[:1])])
    assert (tmp_path / "new" / "000000000025.txt").read_text() == "23 0.5 0.5 0.25 0.5\n"


def test_own_classes(tmp_path: Path) -> None:
    labels = put(tmp_path, "1 0.5 0.5 0.25 0.5\n", "park")
    (labels / "classes.txt").write_text("oak\nlime tree\n")
    scenes = list(yolo.read_scenes(labels))
    assert [(s.id, s.objects[0].values("name"), s.schema.name) for s in scenes] == [
        ("park", ("lime tree",), "open")
    ]
    yolo.write_scenes(tmp_path / "new", scenes, yolo.class_names(labels))
    assert (tmp_path / "new" / "park.txt").read_text() == "1 0.5 0.5 0.25 0.5\n"
    assert (tmp_path / "new" / "classes.txt").read_text() == "oak\nlime tree\n"


def test_sniff(tmp_path: Path) -> None:
    assert not yolo.sniff(tmp_path)
    put(tmp_path, LABELS)
    assert yolo.sniff(tmp_path)
    assert yolo.sniff(tmp_path / "labels")
    assert not yolo.sniff(tmp_path / "images")
    put(tmp_path, "dear diary\n", "0")
    assert not yolo.sniff(tmp_path)


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("0 0.5 0.5 0.5\n", "line 1: expected `class cx cy w h`, came 4 fields"),
        (LABELS + "80 0.5 0.5 0.1 0.1\n", "line 3: class 80, but there are only 80 (0 is the first)"),
        ("-1 0.5 0.5 0.1 0.1\n", "line 1: the class must be a whole number, came '-1'"),
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
    with pytest.raises(UserError, match="it can not be opened as an image"):
        list(yolo.read_scenes(labels))


def test_one_image_labelled_twice_is_refused(tmp_path: Path) -> None:
    put(tmp_path, LABELS)
    labels = put(tmp_path, LABELS, "COCO_val2014_000000000025")
    with pytest.raises(UserError, match="image '25' appears twice"):
        list(yolo.read_scenes(labels))


def test_what_has_no_class_or_size_can_not_be_written(tmp_path: Path) -> None:
    labels = put(tmp_path, LABELS)
    (scene,) = yolo.read_scenes(labels)
    unicorn = Object((("name", "unicorn"),), box=(0.0, 0.0, 1.0, 1.0))
    with pytest.raises(UserError, match="there is no class 'unicorn' among the 80"):
        yolo.write_scenes(tmp_path / "new", [replace(scene, objects=(unicorn,))])
    with pytest.raises(UserError, match="the image's size is not known"):
        yolo.write_scenes(tmp_path / "new", [replace(scene, size=None)])
