"""Boxes, masks and grounding in the forms other tools read, and drawn for a person."""

import json
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from shiftscope.formats import read_scenes
from shiftscope.question import GroundedPhrase
from shiftscope.scene import Part
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.exports import export_dataset
from shiftscope.store.exports.coco import encode_coco_mask
from shiftscope.store.grounding_picture import COLORS, draw_question
from shiftscope.store.image import StoredParts, decode_mask, encode_mask
from tests.store_toys import JOBS, SPEC, make

TEXT = "Is the roof of the cube like the cubes or the ball?"
ROOF, CUBE, CUBES, BALL = (TEXT.index(words) for words in ("the roof", "the cube ", "the cubes", "the ball"))
GROUNDING = (
    GroundedPhrase(ROOF, ROOF + 8, (), ((0, "roof"),)),
    GroundedPhrase(CUBE, CUBE + 8, (0,)),
    GroundedPhrase(CUBES, CUBES + 9, (0, 1)),
    GroundedPhrase(BALL, BALL + 8),
)


def make_grounded(spec, split, k):
    """Toy images whose first object has a roof, seen in its top row, and a hidden trunk."""
    images, questions = make(spec, split, k)
    shown = []
    for image in images:
        first, *others = image.scene.objects
        numbers = np.where(decode_mask(image.mask) == 1, 1, 0).astype(np.uint8)
        numbers[5:] = 0
        bare = ((),) * len(others)
        parts = StoredParts(
            encode_mask(numbers), (("roof", "trunk"), *bare), (((0, 4, 3, 1), (0, 0, 0, 0)), *bare), ((3, 0), *bare)
        )
        listed = replace(first, parts=(Part("roof", (("color", "red"),)),))
        scene = replace(image.scene, objects=(listed, *others))
        shown.append(replace(image, scene=scene, parts=parts))
    return shown, [replace(q, text=TEXT, grounding=GROUNDING) for q in questions]


@pytest.fixture(scope="module")
def grounded(tmp_path_factory):
    return build_dataset(tmp_path_factory.mktemp("grounded") / "data", SPEC, JOBS, make_grounded)


def test_mdetr_gets_a_box_for_everything_a_question_refers_to(grounded, tmp_path):
    out = export_dataset(grounded.folder, "mdetr", tmp_path / "mdetr")
    image_ids, box_ids = [], []
    for split in grounded.splits:
        data = json.loads((out / "annotations" / f"{split}.json").read_text())
        examples = list(grounded.examples(split))
        assert [row["caption"] for row in data["images"]] == [TEXT] * len(examples)
        for row, example in zip(data["images"], examples, strict=True):
            assert (out / "images" / split / row["file_name"]).read_bytes() == example.images[0].png
            assert (row["width"], row["height"], row["question_id"]) == (24, 16, example.question.id)
            boxes = {
                tuple(b["bbox"]): [TEXT[s:e] for s, e in b["tokens_positive"]]
                for b in data["annotations"]
                if b["image_id"] == row["id"]
            }
            first, second, *_ = example.images[0].boxes
            assert boxes == {(0, 4, 3, 1): ["the roof"], first: ["the cube", "the cubes"], second: ["the cubes"]}
        assert {b["category_id"] for b in data["annotations"]} == {1, 2} == {c["id"] for c in data["categories"]}
        image_ids += [row["id"] for row in data["images"]]
        box_ids += [b["id"] for b in data["annotations"]]
    assert image_ids == list(range(len(grounded)))
    assert box_ids == list(range(3 * len(grounded)))


def test_questions_without_grounding_do_not_go_to_mdetr(tmp_path, refuses):
    plain = build_dataset(tmp_path / "plain", SPEC, JOBS, make)
    with refuses("its questions have no grounding; make it again"):
        export_dataset(plain.folder, "mdetr", tmp_path / "mdetr")
    assert not (tmp_path / "mdetr").exists()


def decode_coco(segmentation):
    height, width = segmentation["size"]
    counts = segmentation["counts"]
    return np.repeat(np.arange(len(counts)) % 2, counts).reshape(width, height).T


def test_coco_has_the_masks_of_objects_and_of_the_parts_that_are_seen(grounded, tmp_path):
    out = export_dataset(grounded.folder, "coco", tmp_path / "coco")
    for split in grounded.splits:
        data = json.loads((out / "annotations" / f"instances_{split}.json").read_text())
        names = {c["id"]: (c["supercategory"], c["name"]) for c in data["categories"]}
        for row, image in zip(data["images"], grounded.images(split), strict=True):
            own = [a for a in data["annotations"] if a["image_id"] == row["id"]]
            assert [names[a["category_id"]] for a in own] == [
                *(("object", "cube"), ("part", "roof")),
                *[("object", "cube")] * (len(image.scene.objects) - 1),
            ]
            mask, roof = decode_mask(image.mask), own.pop(1)
            assert (roof["bbox"], roof["area"], roof["part_of"]) == ([0, 4, 3, 1], 3, own[0]["id"])
            assert np.argwhere(decode_coco(roof["segmentation"])).tolist() == [[4, 0], [4, 1], [4, 2]]
            for i, a in enumerate(own):
                assert np.array_equal(decode_coco(a["segmentation"]), mask == i + 1)
                assert (a["object"], tuple(a["bbox"]), a["area"]) == (i, image.boxes[i], image.visible[i])
    ids = [a["id"] for a in data["annotations"]]
    assert len(set(ids)) == len(ids)
    [first, *_] = read_scenes(out / "annotations" / "instances_train.json")
    assert [o.values("name") for o in first.objects][:2] == [("cube",), ("roof",)]


def test_a_coco_mask_may_begin_inside():
    shown = np.array([[True, False], [True, True]])
    assert encode_coco_mask(shown) == {"size": [2, 2], "counts": [0, 2, 1, 1]}


def test_the_picture_has_each_phrase_and_its_boxes_in_one_colour(grounded):
    example = grounded.example(0)
    picture = np.asarray(Image.open(BytesIO(draw_question(example.question, example.images[0]))))
    scale = 960 // 24
    assert picture.shape[1] == 960 and picture.shape[0] > 16 * scale
    left, top, width, height = (scale * v for v in example.images[0].boxes[0])
    assert tuple(picture[top + height // 2, left]) == COLORS[1]  # the cube
    assert tuple(picture[top + height // 2, left + width + 1]) == COLORS[2]  # one of the cubes: around it
    below = {tuple(c) for c in picture[16 * scale :].reshape(-1, 3).tolist()}
    assert set(COLORS[:4]) <= below
