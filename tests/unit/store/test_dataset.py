"""An opened dataset gives back what was built."""

import json
import os
import shutil
from pathlib import Path

import pytest
import yaml

from shiftscope.errors import UserError
from shiftscope.question import Question
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.card import count_split, score_blind
from shiftscope.store.dataset import Dataset
from shiftscope.store.manifest import DatasetInfo
from store_toys import JOBS, SPEC, make, questions, stored


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dataset") / "data"
    build_dataset(folder, SPEC, JOBS, make, about=DatasetInfo("Toys & co", license="cc0-1.0"))
    return Dataset.open(folder)


def across_shards(spec, split, k):
    """Questions of shard 0 about images of shard 1, and of shard 1 about both."""
    images = [stored(f"{split}{k}")]
    near, far = f"{split}{k}", f"{split}{1 - k}"
    return images, [Question(f"{k}", "?", (far,) if k == 0 else (far, near), answer=k)]


def scenes_alone(spec, split, k):
    return [stored(f"{split}{k}")], []


def test_lengths(dataset):
    assert dataset.splits == ("train", "val", "test")
    assert dataset.count("train") == (12, 36)
    assert len(dataset) == 72


def test_iteration_gives_the_records_in_order(dataset):
    made = [make(SPEC, "train", k) for k in range(4)]
    assert list(dataset.images("train")) == [i for images, _ in made for i in images]
    assert list(dataset.questions("train")) == [q for _, asked in made for q in asked]
    assert sum(1 for _ in dataset.questions()) == 72


def test_one_example(dataset):
    images, asked = make(SPEC, "train", 2)
    example = dataset.example(22)
    assert (example.question, example.images, example.split) == (asked[4], (images[1],), "train")
    assert dataset.example(0, "val") == dataset.example(36)
    assert [e.question.id for e in dataset.examples("val")] == [q.id for q in dataset.questions("val")]


@pytest.mark.parametrize("index", [-1, 18])
def test_an_index_out_of_range(dataset, index):
    with pytest.raises(UserError, match=r"no question -?\d+ in split 'val' .* it has 18, counted from 0"):
        dataset.example(index, "val")


def test_an_unknown_split(dataset):
    with pytest.raises(UserError, match="did you mean 'train'"):
        dataset.count("trian")


def test_a_question_may_ask_about_images_of_other_shards(tmp_path):
    dataset = build_dataset(tmp_path, {}, {"a": 2}, across_shards)
    assert [[i.id for i in e.images] for e in dataset.examples()] == [["a1"], ["a0", "a1"]]


def test_nothing_there(tmp_path):
    with pytest.raises(UserError, match="no dataset there"):
        Dataset.open(tmp_path)
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(UserError, match="not a manifest"):
        Dataset.open(tmp_path)


def test_the_blind_audit_counts(dataset):
    learned, measured = count_split(dataset, "train"), count_split(dataset, "val")
    rows = {r.kind: (r.n, r.majority, r.prior) for r in score_blind(learned, measured)}
    # Half the images have 2 cubes and half 3; "gray" and "yes" are as common, and "gray" comes first.
    assert rows == {"count": (6, 0, 3), "exist": (6, 0, 6), "query_color": (6, 6, 6)}


def test_the_card(dataset):
    text = (dataset.folder / "README.md").read_text()
    front = yaml.safe_load(text.split("---\n")[1])
    assert front["license"] == "cc0-1.0"
    assert front["configs"][0] == {
        "config_name": "questions",
        "default": True,
        "data_files": [{"split": s, "path": f"questions/{s}/*.parquet"} for s in ("train", "val", "test")],
    }
    assert [c["config_name"] for c in front["configs"]] == ["questions", "images"]
    assert front["dataset_info"][1]["splits"][0]["num_examples"] == 12
    assert "On `val`: majority 33.3%, prior 83.3% of 18 questions." in text
    for name in ("question_types", "answers", "question_length", "objects"):
        assert f"![{name}.svg](figures/{name}.svg)" in text
        assert "%</text>" in (dataset.folder / "figures" / f"{name}.svg").read_text()


def test_scenes_alone_make_a_card_of_images(tmp_path):
    build_dataset(tmp_path, {}, {"train": 2}, scenes_alone)
    text = (tmp_path / "README.md").read_text()
    front = yaml.safe_load(text.split("---\n")[1])
    assert [(c["config_name"], c["default"]) for c in front["configs"]] == [("images", True)]
    assert "Blind audit" not in text


def test_an_answer_left_open_is_not_audited(tmp_path):
    def make_open(spec, split, k):
        image = stored("a")
        return [image], [*questions(image, split), Question("open", "Why?", ("a",))]

    dataset = build_dataset(tmp_path, {}, {"train": 1}, make_open)
    assert sum(count_split(dataset, "train").count_types().values()) == 3
    assert "On `train`, the questions it was learned on" in (tmp_path / "README.md").read_text()


def test_files_that_change_under_a_reader_are_refused(dataset, tmp_path):
    """As when a dataset is deleted and another one made in its place while a run reads it."""
    shutil.copytree(dataset.folder, tmp_path / "data")
    opened = Dataset.open(tmp_path / "data")
    path = tmp_path / "data" / "questions" / "train" / "00001.parquet"
    path.chmod(0o644)
    path.write_bytes((tmp_path / "data" / "images" / "train" / "00001.parquet").read_bytes())
    with pytest.raises(UserError, match=r"00001\.parquet is missing or cut short"):
        list(opened.questions("train"))


@pytest.mark.parametrize(
    ("name", "value"),
    [("shards", 2**100), ("shards", 3.7), ("shards", -1), ("rows", "3"), ("bytes", None), ("path", "/etc/passwd")],
)
def test_a_manifest_that_counts_wrongly_is_refused(dataset, tmp_path, name, value, refuses):
    shutil.copytree(dataset.folder, tmp_path / "data")
    path = tmp_path / "data" / "manifest.json"
    told = json.loads(path.read_text())
    place = told["splits"]["train"] if name == "shards" else told["shards"][0]["images"]
    place[name] = value
    path.write_text(json.dumps(told))
    with refuses(f"{path}: not a manifest"):
        Dataset.open(tmp_path / "data")


def test_a_folder_whose_name_is_no_utf8(dataset, tmp_path):
    named = Path(os.fsdecode(os.fsencode(tmp_path) + b"/d\xff"))
    shutil.copytree(dataset.folder, named)
    assert [q.id for q in Dataset.open(named).questions("val")] == [q.id for q in dataset.questions("val")]
