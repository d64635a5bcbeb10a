"""`shiftscope split` as a user meets it: from a dataset to lists, to runs on them, to the generalization score."""

import json

import pytest

from command import here, refused
from shiftscope.lang.text import parse_program
from shiftscope.models.nsvqa.training import QuestionParserStage
from shiftscope.question import Provenance, Question
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.question_part import read_part
from shiftscope.train.data import gather_split, open_training_data
from store_toys import stored

STAGE = QuestionParserStage()

RED, GRAY = "filter(scene(), color=red)", "filter(scene(), color=gray)"
ASKED = {
    "How many cubes are there?": ("count(filter(scene(), shape=cube))", 2),
    "How many red things are there?": (f"count({RED})", 1),
    "Are there fewer red things than gray ones?": (f"less(count({RED}), count({GRAY}))", False),
    "Is anything red?": (f"exist({RED})", True),
}


def shard(spec, split, k):
    """Six images of two cubes, with each of the questions."""
    images = [stored(f"{split}_{i}") for i in range(6)]
    origin = Provenance("clevr", split)
    asked = [
        Question(f"{image.id}-{n}", text, (image.id,), parse_program(program), answer, provenance=origin)
        for image in images
        for n, (text, (program, answer)) in enumerate(ASKED.items())
    ]
    return images, asked


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small dataset, and a split of it."""
    root = tmp_path_factory.mktemp("split")
    build_dataset(root / "data", {"suite": "toy"}, {"train": 1, "val": 1, "test": 1}, shard)
    result = here("split", root / "data", "--hold-out", "has_count & has_attr", "--out", root / "split")
    assert result.returncode == 0, result.stderr
    return root, result.stdout


def listed(root, name):
    return json.loads((root / "split" / f"{name}.json").read_text())


def run(root, name, *words):
    return here("run", "--data", root / "data", "--out", root / name, *words)


def test_the_table_says_what_is_filtered_and_what_to_train(made):
    root, shown = made
    about = json.loads((root / "split" / "split.json").read_text())
    assert about["with_property"] == {"train": 12, "val": 12, "test": 12}
    assert ["train", "24", "12", "12"] in [line.split() for line in shown.splitlines()]
    for name in ("train_text_only", "train_zero_shot", "train_iid_size", "train_iid", "val_without", "test_comp"):
        assert name in shown
    again = here("split", root / "data", "--hold-out", "has_count & has_attr", "--out", root / "split", "--json")
    assert json.loads(again.stdout) == {"folder": str(root / "split"), "new": False, **about}
    again = here("split", root / "data", "--hold-out", "has_count & has_attr", "--out", root / "split")
    assert f"nothing to do: {root / 'split'} holds this split already; next:" in again.stdout


def test_named_splits_and_properties_are_listed(made):
    root, _ = made
    rows = [json.loads(line) for line in here("split", root / "data", "--list", "--json").stdout.splitlines()]
    splits = {row["name"]: row for row in rows if "name" in row}
    assert len(splits) == 25
    assert splits["has_quant"]["with_property"] == {"train": 0, "val": 0, "test": 0}
    assert splits["has_count_has_attr"]["with_property"] == {"train": 12, "val": 12, "test": 12}
    shown = here("split", "--list").stdout
    assert "has_num_3 | ans_3" in shown and "12.1k (Table 7)" in shown and "rm_v_c, rm, v, c" in shown
    named = here("split", root / "data", "--name", "has_compar", "--shots", 2, "--out", root / "named").stdout
    assert "16.7k (COVR, Table 7)" in named and "few-shot, 2 with it are trained on" in named


def test_from_lists_to_the_generalization_score(made):
    """Who never saw how many red things there are does not know; who saw it in half of the lessons does."""
    root, _ = made
    split = root / "split"
    learned = {"model": "train_zero_shot", "text": "train_zero_shot", "upper": "train_iid_size"}
    for name, part in learned.items():
        words = ("--part", f"{split}:test_comp", "--learn-part", f"{split}:{part}")
        result = run(root, name, "--model", "majority" if name == "text" else "question_only", *words)
        assert result.returncode == 0, result.stderr
    spec = json.loads((root / "model" / "run.json").read_text())["spec"]
    assert spec["part"]["questions"] == 12
    assert spec["learned_part"]["name"] == "has_count_and_has_attr:train_zero_shot"
    runs = [root / name for name in learned]
    right = [json.loads(here("score", one, "--json").stdout)["value"] for one in runs]
    assert right[2] == 100
    assert max(right[:2]) < 100
    score = json.loads(here("score", *runs, "--metric", "generalization_score", "--json").stdout)
    assert score["n"] == 12
    assert score["value"] == pytest.approx(100 * (right[0] - right[1]) / (100 - right[1]))
    assert run(root, "model", "--model", "question_only").returncode == 2  # other questions are another run


def test_a_parser_learns_the_questions_of_a_part_and_stops_by_those_without_the_property(made):
    root, _ = made
    data = open_training_data(str(root / "data"), part=read_part(f"{root / 'split'}:train_zero_shot"))
    for split, name in (("train", "train_zero_shot"), ("val", "val_without")):
        found = gather_split(data, split, [STAGE], device="cpu").supervision[STAGE.name]
        assert {text for text, _ in found} == {"How many cubes are there?", "Is anything red?"}
        assert len(found) == len(listed(root, name)) == 12
    assert data.to_json()["part"]["name"] == "has_count_and_has_attr:train_zero_shot"


def test_mistakes_are_one_sentence(made, tmp_path):
    root, _ = made
    data, out = root / "data", tmp_path / "out"
    assert "did you mean 'has_quant'?" in refused(here("split", data, "--hold-out", "has_qant", "--out", out))
    assert "no question has has_quant" in refused(here("split", data, "--hold-out", "has_quant", "--out", out))
    assert "expected ')', got its end" in refused(here("split", data, "--hold-out", "(has_num", "--out", out))
    assert "no named split 'has_cuont'" in refused(here("split", data, "--name", "has_cuont", "--out", out))
    assert "--out" in refused(here("split", data, "--hold-out", "has_count"))
    assert "to split" in refused(here("split", "--hold-out", "has_count", "--out", out))
    assert "no split 'tset'" in refused(here("split", data, "--hold-out", "has_count", "--test", "tset", "--out", out))
    assert not list(tmp_path.iterdir())
    part = f"{root / 'split'}:val_comp"
    assert "is of the split 'val', not of 'test'" in refused(run(root, "x", "--model", "majority", "--part", part))
    learned = ("--model", "oracle", "--learn-part", f"{root / 'split'}:train_iid")
    assert "learns nothing when it is run" in refused(run(root, "x", *learned))
    assert "--part takes a dataset" in refused(
        here("train", "--model", "nsvqa", "--data", "superclevr", "--part", part, "--out", out)
    )
