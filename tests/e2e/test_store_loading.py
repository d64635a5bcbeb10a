"""Datasets and exports open in the libraries people use, and read back by our own readers."""

import gc
import io
import json
import os
import warnings
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from shiftscope.errors import UserError
from shiftscope.formats import clevr
from shiftscope.question import GroundedPhrase, Question
from shiftscope.scene import Part
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.exports import EXPORTS, export_dataset, hf, webdataset
from shiftscope.store.image import encode_mask
from shiftscope.store.manifest import DatasetInfo
from shiftscope.store.tables import IMAGE_COLUMNS, PART_COLUMNS, QUESTION_COLUMNS
from store_toys import JOBS, SPEC, content, make, stored

os.environ |= {"HF_HUB_OFFLINE": "1", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store") / "data"
    return build_dataset(folder, SPEC, JOBS, make, about=DatasetInfo(license="cc0-1.0"))


@pytest.fixture
def load(tmp_path):
    from datasets import load_dataset

    return lambda folder, *args, **options: load_dataset(
        str(folder), *args, cache_dir=str(tmp_path / "cache"), **options
    )


def pairs(spec, split, k):
    images = [stored(f"{split}{k}{i}") for i in range(3)]
    ids = [i.id for i in images]
    return images, [Question(f"{k}{n}", "Same?", tuple(ids[:n]), answer=n > 1) for n in (1, 2, 3)]


def same_picture(shown: Image.Image, png: bytes) -> bool:
    return np.array_equal(np.asarray(shown), np.asarray(Image.open(io.BytesIO(png))))


def samples_of(tars, *decoders):
    """What the library yields; it leaves closing the tars to the garbage collector, which warns."""
    from webdataset import WebDataset

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        found = WebDataset([str(t) for t in tars], shardshuffle=False)
        samples = list(found.decode(*decoders) if decoders else found)
        del found
        gc.collect()
    return samples


def test_load_dataset_opens_the_questions(dataset, load):
    found = load(dataset.folder)
    assert {split: rows.num_rows for split, rows in found.items()} == {"train": 36, "val": 18, "test": 18}
    assert list(found["train"].features) == [name for name, _ in QUESTION_COLUMNS]
    row = found["train"][4]
    question = next(q for n, q in enumerate(dataset.questions("train")) if n == 4)
    assert (row["question"], row["answer"], row["image_ids"]) == (question.text, "yes", list(question.scenes))


def test_load_dataset_opens_the_images(dataset, load):
    found = load(dataset.folder, "images", split="val")
    assert list(found.features) == [name for name, _ in IMAGE_COLUMNS]
    assert type(found.features["image"]).__name__ == "Image"
    for row, image in zip(found, dataset.images("val"), strict=True):
        assert same_picture(row["image"], image.png)
        mask = np.repeat(row["mask_values"], row["mask_lengths"]).reshape(row["height"], row["width"])
        assert [int((mask == i + 1).sum()) for i in range(row["num_objects"])] == row["visible_pixels"]
        assert row["boxes"] == [list(box) for box in image.boxes]


def parted(spec, split, k):
    images, questions = make(spec, split, k)
    roof = Part("roof", (("color", "red"),))
    mask = np.zeros((16, 24), np.uint8)
    mask[5:7, 1:4] = 1
    shown = []
    for image in images:
        first, *others = image.scene.objects
        listed = replace(image.scene, objects=(replace(first, parts=(roof,)), *others))
        shown.append(replace(image, scene=listed, part_mask=encode_mask(mask)))
    return shown, questions


def test_load_dataset_opens_masks_of_parts(load, tmp_path):
    built = build_dataset(tmp_path / "parted", SPEC, JOBS, parted)
    found = load(built.folder, "images", split="val")
    assert list(found.features) == [name for name, _ in IMAGE_COLUMNS + PART_COLUMNS]
    assert found.num_rows == 6
    for row in found:
        mask = np.repeat(row["part_values"], row["part_lengths"]).reshape(row["height"], row["width"])
        assert (int(mask.sum()), int(mask[5, 1])) == (6, 1)


def test_a_card_names_sources_and_is_one_that_the_hub_takes(load, tmp_path):
    from huggingface_hub import DatasetCard

    about = DatasetInfo(license="other", sources="- `mine.json`: its licence is not known here")
    built = build_dataset(tmp_path / "derived", SPEC, JOBS, make, about=about)
    export_dataset(built.folder, "hf", tmp_path / "exported")
    for folder in (built.folder, tmp_path / "exported"):
        card = DatasetCard.load(folder / "README.md")
        assert (card.data.license, card.data.license_name) == ("other", "see-sources-below")
        assert "## Sources and licences\n\nMade from\n- `mine.json`: its licence is not known here" in card.text
        assert load(folder)["val"].num_rows == 18
    plain = DatasetCard.load(build_dataset(tmp_path / "own", SPEC, JOBS, make).folder / "README.md")
    assert plain.data.license == "cc-by-4.0"
    assert "license_name" not in plain.data.to_dict()
    assert "Sources" not in plain.text


def grounded(spec, split, k):
    images, questions = make(spec, split, k)
    return images, [replace(q, grounding=(GroundedPhrase(0, 3, (0,)),)) for q in questions]


@pytest.fixture(scope="module")
def grounded_dataset(tmp_path_factory):
    return build_dataset(tmp_path_factory.mktemp("grounded") / "data", SPEC, JOBS, grounded)


def test_load_dataset_opens_grounding_also_from_an_export(grounded_dataset, load, tmp_path):
    for folder in (grounded_dataset.folder, export_dataset(grounded_dataset.folder, "hf", tmp_path / "flat")):
        found = load(folder, split="val")
        assert found[5]["grounding"] == [{"start": 0, "end": 3, "objects": [0], "parts": []}]


def test_one_file_opens_by_itself(dataset, load):
    path = dataset.folder / "images" / "val" / "00000.parquet"
    found = load("parquet", data_files=str(path), split="train")
    assert found[0]["image"].size == (24, 16)
    assert str(found.features["boxes"]) == "List(List(Value('int32')))"


def test_streaming(dataset, load):
    rows = load(dataset.folder, "images", split="train", streaming=True)
    assert [row["image_id"] for row in rows] == [i.id for i in dataset.images("train")]


def test_hf_export_joins_images_and_questions(dataset, load, tmp_path):
    told = []
    out = export_dataset(dataset.folder, "hf", tmp_path / "flat", progress=lambda *p: told.append(p))
    assert told[-1] == (72, 72, "questions")
    found = load(out)
    assert {split: rows.num_rows for split, rows in found.items()} == {"train": 36, "val": 18, "test": 18}
    for row, example in zip(found["test"], dataset.examples("test"), strict=True):
        assert same_picture(row["image"], example.images[0].png)
        assert row["question_id"] == example.question.id
        assert json.loads(row["scene"])["id"] == example.images[0].id
    assert 'license: "cc0-1.0"' in (out / "README.md").read_text()


def test_hf_export_keeps_each_picture_once_in_a_row_group(dataset, tmp_path):
    out = export_dataset(dataset.folder, "hf", tmp_path / "flat")
    pictures = sum(len(i.png) for i in dataset.images("train"))
    column = pq.read_metadata(out / "data" / "train-00000.parquet").row_group(0).column(0)
    assert column.path_in_schema == "image.bytes"
    assert column.total_compressed_size < 1.2 * pictures  # though there are three questions an image


def test_hf_export_in_several_files(dataset, load, tmp_path, monkeypatch):
    monkeypatch.setattr(hf, "FILE_BYTES", 1)
    monkeypatch.setattr(hf, "ROWS_IN_GROUP", 10)
    out = export_dataset(dataset.folder, "hf", tmp_path / "flat")
    assert [p.name for p in sorted((out / "data").glob("val*"))] == [f"val-0000{k}.parquet" for k in (0, 1)]
    found = load(out, split="val")
    assert [row["question_id"] for row in found] == [q.id for q in dataset.questions("val")]


def test_several_images_a_question(load, tmp_path):
    folder = tmp_path / "pairs"
    built = build_dataset(folder, {}, {"train": 2}, pairs)
    found = load(export_dataset(folder, "hf", tmp_path / "flat"), split="train")
    assert [len(row["images"]) for row in found] == [1, 2, 3, 1, 2, 3]
    last = list(built.examples())[-1]
    assert all(same_picture(a, b.png) for a, b in zip(found[5]["images"], last.images, strict=True))
    tars = export_dataset(folder, "webdataset", tmp_path / "tars")
    samples = samples_of([tars / "train-000000.tar"])
    assert [sorted(k for k in s if k.endswith("png")) for s in samples[:2]] == [["png"], ["0.png", "1.png"]]
    with pytest.raises(UserError, match=r"question 02: CLEVR files ask about one image .*--to hf"):
        export_dataset(folder, "clevr", tmp_path / "clevr")


def test_webdataset_iterates(dataset, tmp_path, monkeypatch):
    monkeypatch.setattr(webdataset.write, "__defaults__", (20_000,))
    out = export_dataset(dataset.folder, "webdataset", tmp_path / "tars")
    tars = sorted(out.glob("train-*.tar"))
    assert len(tars) > 1
    samples = samples_of(tars, "pil")
    assert len(samples) == 36
    for sample, example in zip(samples, dataset.examples("train"), strict=True):
        assert "." not in sample["__key__"]
        assert same_picture(sample["png"], example.images[0].png)
        assert sample["json"]["question"] == example.question.text
        assert sample["json"]["program"] == example.question.program.to_json()
        assert sample["json"]["scenes"] == [json.loads(json.dumps(example.images[0].scene.to_json()))]


def test_clevr_export_reads_back(dataset, tmp_path):
    out = export_dataset(dataset.folder, "clevr", tmp_path / "clevr")
    scenes = clevr.read_scenes(out / "scenes" / "CLEVR_val_scenes.json")
    stored_images = list(dataset.images("val"))
    assert [s.id for s in scenes] == [i.id for i in stored_images]
    assert [s.objects for s in scenes] == [i.scene.objects for i in stored_images]
    assert scenes[0].relation("left") == stored_images[0].scene.relation("left") == (0, 0b1)
    assert [r.name for r in scenes[0].relations] == ["left", "right"]
    for image in stored_images:
        assert (out / "images" / "val" / f"{image.id}.png").read_bytes() == image.png
    asked = list(clevr.read_questions(out / "questions" / "CLEVR_val_questions.json"))
    ours = list(dataset.questions("val"))
    assert [(q.text, q.scenes, q.program, q.provenance) for q in asked] == [
        (q.text, q.scenes, q.program, q.provenance) for q in ours
    ]
    assert [q.answer for q in asked[:3]] == ["2", "yes", "gray"]
    raw = json.loads((out / "questions" / "CLEVR_val_questions.json").read_text())["questions"][4]
    assert raw["image_filename"] == f"{raw['image']}.png" == "toy_val_000001.png"
    assert (raw["image_index"], raw["question_index"], raw["question_family_index"]) == (1, 4, 3)


@pytest.mark.parametrize("to", EXPORTS.names())
def test_an_export_is_whole_or_absent(dataset, grounded_dataset, tmp_path, to):
    def stop(done, total, what):
        raise KeyboardInterrupt

    dataset = grounded_dataset if to == "mdetr" else dataset  # it takes grounded questions alone
    (tmp_path / ".out.partial" / "data").mkdir(parents=True)  # left by an export that was killed
    with pytest.raises(KeyboardInterrupt):
        export_dataset(dataset.folder, to, tmp_path / "out", progress=stop)
    assert list(tmp_path.iterdir()) == []
    one = export_dataset(dataset.folder, to, tmp_path / "out")
    two = export_dataset(dataset.folder, to, tmp_path / "two")
    assert content(one) == content(two)
    assert not [name for name in content(one) if name.startswith(".")]
    with pytest.raises(UserError, match="is already there; choose another folder"):
        export_dataset(dataset.folder, to, tmp_path / "out")


def test_an_unknown_form(dataset, tmp_path):
    with pytest.raises(UserError, match="no export 'webdatset'; did you mean 'webdataset'"):
        export_dataset(dataset.folder, "webdatset", tmp_path / "out")
