"""A model that looks is never asked blind in silence: missing pictures are refused, or counted apart."""

import io
import json
import re
from dataclasses import replace

import pytest
from PIL import Image

import several_toys
import store_toys
from asked import dataset
from command import here, refused
from shiftscope.model import ModelSetting, build_model, get_reads, get_traits
from shiftscope.result import MISSING_IMAGE
from shiftscope.run.audit import AuditFiles, audit_files
from shiftscope.run.consistency import NAME
from shiftscope.run.evaluate import RunSpec, evaluate
from shiftscope.run.question_source import DatasetSource
from shiftscope.shortcuts.audit import AuditSettings
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.dataset import Dataset
from shiftscope.store.run_log import compute_run_content_id, read_rows, read_run

TESTED = 6

# Says the colour of the corner of its picture, and what it was asked under.
LOOKER = """
import io
from PIL import Image
class Looker:
    def predict(self, batch):
        return [self._one(p) for p in batch]
    def _one(self, prompt):
        if not prompt.images:
            return "blind, and told so" if "The image is not shown" in prompt.text else "blind"
        red, green, _ = Image.open(io.BytesIO(prompt.images[0])).getpixel((0, 0))
        return "red" if red > green else "green"
class Reader(Looker):
    looks = False
"""


@pytest.fixture(scope="module")
def audit(tmp_path_factory):
    """Questions 1 to 6 for training, 7 for val, and 11 to 16 for the test, about images 110, 120, …, 160."""
    out = tmp_path_factory.mktemp("audit")
    asked = [*((k, "train") for k in range(1, 7)), (7, "val"), *((k, "test") for k in range(11, 11 + TESTED))]
    rows = [{"question_id": k, "image_id": 10 * k, "question": f"What is {k}?", "split": s} for k, s in asked]
    said = [
        {
            "question_id": k,
            "image_id": 10 * k,
            "multiple_choice_answer": "red",
            "answers": [{"answer": "red", "answer_id": n} for n in (1, 2, 3)],
        }
        for k, _ in asked
    ]
    for name, listed in (("q.json", rows), ("a.json", said)):
        (out / name).write_text(json.dumps(listed))
    audit_files(
        AuditFiles((out / "q.json",), (out / "a.json",)), out / "audit", AuditSettings(split="given"), blind=False
    )
    return out / "audit"


def draw(folder, *numbers, color="red"):
    folder.mkdir(exist_ok=True)
    for number in numbers:
        Image.new("RGB", (8, 8), color).save(folder / f"{number}.png")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with the module of the model, and pictures of four of the six test images."""
    (tmp_path / "looker_for_test.py").write_text(LOOKER)
    draw(tmp_path / "some", 110, 120, 130, 160)
    draw(tmp_path / "all", *range(110, 170, 10))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def words(audit, out, *more, model="looker_for_test:Looker"):
    return ("run", "--model", model, "--data", audit, "--out", out, *more)


def conditions(result):
    assert result.returncode == 0, result.stderr
    return {row["condition"]: row for row in json.loads(result.stdout)["conditions"]}


def test_without_a_folder_of_pictures(audit, place):
    said = refused(here(*words(audit, "run"), cwd=place))
    assert said == (
        "shiftscope: model 'looker_for_test:Looker' looks at pictures, and 6 of the 6 questions have none, the "
        "first about image '110'; name the folder of the pictures with --images, ask all of them blind with "
        "--condition blind, or have these asked without a picture and counted apart with --allow-missing"
    )
    assert not (place / "run").exists()


def test_with_a_folder_that_lacks_some(audit, place):
    said = refused(here(*words(audit, "run", "--images", "some"), cwd=place))
    assert "2 of the 6 questions have none, the first about image '140'; add them to some, " in said
    assert not (place / "run").exists()
    assert conditions(here(*words(audit, "run", "--images", "some", "--limit", "3", "--json"), cwd=place))


@pytest.mark.parametrize("model", ["openai:m@http://localhost:9/v1", "hf:nobody/nothing"])
def test_a_model_that_costs_is_not_even_built(audit, place, model):
    assert "looks at pictures, and 6 of the 6" in refused(here(*words(audit, "run", model=model), cwd=place))


def test_who_does_not_look_needs_none(audit, place):
    (place / "said.json").write_text(json.dumps({str(k): "red" for k in range(11, 17)}))
    for n, model in enumerate(("majority", "question_only", "predictions:said.json", "looker_for_test:Reader")):
        made = conditions(here(*words(audit, f"run{n}", "--json", model=model), cwd=place))
        assert {name: row["replies"] for name, row in made.items()} == {"as_is": 6}
    blind = conditions(here(*words(audit, "blind", "--condition", "blind", "--json"), cwd=place))
    assert list(blind) == ["blind"]


def test_missing_ones_are_a_condition_of_their_own(audit, place):
    given = words(audit, "run", "--images", "some", "--allow-missing")
    made = conditions(here(*given, "--json", cwd=place))
    kept = ("questions", "replies", "answered", "accuracy")
    assert {c: [row[k] for k in kept] for c, row in made.items()} == {
        "as_is": [4, 4, 4, 100.0],
        "missing_image": [2, 2, 2, 0.0],
    }
    assert made["as_is"]["missing"] == 0
    rows = {a.question: (p.condition, p.raw) for a, p in read_rows(place / "run")}
    assert rows["14"] == rows["15"] == (MISSING_IMAGE, "blind, and told so")
    assert rows["11"] == ("as_is", "red")
    again = here(*given, cwd=place)
    assert "missing_image: 2 questions have no picture; they were asked without one" in again.stdout
    assert "nothing to do: all 6 replies were in run already" in again.stdout


def test_scores_keep_them_apart(audit, place):
    here(*words(audit, "run", "--images", "some", "--allow-missing"), cwd=place)
    scored = here("score", "run", "--metric", "accuracy", "--json", cwd=place)
    found = [json.loads(line) for line in scored.stdout.splitlines()]
    assert [(s["value"], s["n"], s["missing"]) for s in found if s["metric"] == "accuracy" and "slice" not in s] == [
        (100.0, 4, 0)
    ]
    assert [(s["value"], s["n"]) for s in found if s.get("slice") == {"condition": MISSING_IMAGE}] == [(0.0, 2)]
    assert "2 questions of run had no picture and were asked without one" in scored.stderr
    by = here("score", "run", "--metric", "accuracy", "--by", "condition", "--json", cwd=place)
    assert [json.loads(line)["n"] for line in by.stdout.splitlines()] == [4, 4, 2]


def test_a_run_without_any_picture_has_no_score_but_theirs(audit, place, refuses):
    here(*words(audit, "run", "--allow-missing"), cwd=place)
    assert set(read_run(place / "run").records.condition.to_list()) == {MISSING_IMAGE}
    (line,) = here("score", "run", "--json", cwd=place).stdout.splitlines()
    assert json.loads(line)["slice"] == {"condition": MISSING_IMAGE}
    assert "has only questions under missing_image" in refused(here("report", "run", cwd=place))


def test_models_are_chosen_by_what_was_seen(audit, place):
    for name in ("one", "two"):
        here(*words(audit, name, "--images", "some", "--allow-missing"), cwd=place)
    chosen = here("select", "one", "two", "--metric", "accuracy", "--split", "test", "--json", cwd=place)
    assert chosen.returncode == 0, chosen.stderr
    assert json.loads(chosen.stdout)["value"] == 100.0


def test_the_page_shows_them_as_what_they_are(audit, place):
    here(*words(audit, "run", "--images", "some", "--allow-missing"), cwd=place)
    assert here("report", "run", "--out", "page.html", cwd=place).returncode == 0
    page = (place / "page.html").read_text()
    assert "2 questions have no image and were run without one, 0.0% right; they are in no accuracy" in page
    bars = re.search(r'aria-label="looker_for_test:Looker: ([^"]*)"', page)[1]
    assert bars == "right 66.7%, no image 33.3%"
    assert "Error attribution" not in page  # two conditions, but nobody asked under another one
    assert "--images" in page
    assert "--allow-missing" in page


def test_once_the_pictures_are_there_they_are_asked_as_they_are(audit, place):
    given = words(audit, "run", "--images", "some")
    here(*given, "--allow-missing", cwd=place)
    draw(place / "some", 140)
    on = here(*given, "--allow-missing", cwd=place)
    assert "wrote run (new replies: 1; from before: 6)" in on.stdout
    draw(place / "some", 150)
    made = conditions(here(*given, "--json", cwd=place))  # none is missing any more
    assert {c: (row["questions"], row["replies"]) for c, row in made.items()} == {"as_is": (6, 6)}
    here(*words(audit, "whole", "--images", "all"), cwd=place)
    assert compute_run_content_id(place / "run") == compute_run_content_id(place / "whole")
    assert (place / "run" / NAME).read_bytes() == (place / "whole" / NAME).read_bytes()


def test_a_run_of_an_earlier_version_may_have_asked_blind(audit, place):
    """Nothing tells which of its rows were; the user is told that."""
    given = words(audit, "run", "--images", "all")
    here(*given, cwd=place)
    about = json.loads((place / "run" / "run.json").read_text())
    about["spec"] = {k: v for k, v in about["spec"].items() if k not in ("images_id", "sources", "places")}
    (place / "run" / "run.json").write_text(json.dumps(about))
    (place / "run" / NAME).unlink()
    again = here(*given, cwd=place)
    assert again.returncode == 0
    assert "questions whose picture was missing were asked without it; to be sure, choose another --out" in again.stderr


def test_a_picture_that_changed_is_no_longer_the_run(audit, place):
    given = words(audit, "run", "--images", "all")
    assert here(*given, "--limit", "3", cwd=place).returncode == 0
    draw(place / "all", 160, color="green")  # not asked about
    assert here(*given, "--limit", "3", cwd=place).returncode == 0
    draw(place / "all", 120, color="green")
    assert refused(here(*given, "--limit", "3", cwd=place)) == (
        "shiftscope: the picture 120.png changed since it was asked about in run; choose another folder for "
        "--out, or delete run"
    )
    (place / "all" / "120.png").unlink()
    said = refused(here(*given, "--limit", "3", "--allow-missing", cwd=place))
    assert said.startswith("shiftscope: the picture 120.png is gone since it was asked about in run")


def test_a_broken_picture_stops_the_run_or_counts_as_missing(audit, place):
    whole = (place / "all" / "130.png").read_bytes()
    (place / "all" / "130.png").write_bytes(whole[:40])
    given = words(audit, "run", "--images", "all")
    said = refused(here(*given, cwd=place))
    assert "130.png: cannot be read as an image" in said
    assert "mend it and run the same command again to go on" in said
    made = conditions(here(*given, "--allow-missing", "--json", cwd=place))
    assert {c: (row["questions"], row["replies"]) for c, row in made.items()} == {
        "as_is": (5, 5),
        "missing_image": (1, 1),
    }
    assert "nothing to do" in here(*given, "--allow-missing", cwd=place).stdout
    (place / "all" / "130.png").write_bytes(whole)
    made = conditions(here(*given, "--json", cwd=place))
    assert {c: (row["questions"], row["replies"]) for c, row in made.items()} == {"as_is": (6, 6)}


def test_a_picture_that_changes_while_it_is_asked_about_is_noticed(audit, place, refuses):
    from shiftscope.run.question_source import VqaFiles

    source = VqaFiles(audit, place / "all")
    source.digest_pictures(["110"])
    draw(place / "all", 110, color="blue")
    with refuses("110.png changed during the run"):
        source.read_picture("110")


def half_shard(spec, split, k):
    """The toys, of which every second image has no picture."""
    images, questions = store_toys.make(spec, split, k)
    return [image if n % 2 else replace(image, png=b"") for n, image in enumerate(images)], questions


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    """Two splits of 12 images, with pictures of 6, and three questions each."""
    folder = tmp_path_factory.mktemp("half") / "data"
    build_dataset(folder, {"suite": "toy", "seed": 0, "images_per_shard": 6}, {"train": 2, "test": 2}, half_shard)
    return folder


def test_a_dataset_knows_which_images_have_no_picture(half, tmp_path):
    without = Dataset.open(half).list_ids_without_picture()
    shown = {image.id for image in Dataset.open(half).images() if not image.png}
    assert without == shown
    assert len(without) == 12
    assert dataset(tmp_path / "whole").list_ids_without_picture() == frozenset()


def test_a_dataset_without_some_pictures(half, place):
    said = refused(here(*words(half, "run"), cwd=place))
    assert "18 of the 36 questions have none, the first about image 'toy_test_000000'; make the data again" in said
    assert {c: row["replies"] for c, row in conditions(here(*words(half, "o", "--json", model="oracle"))).items()} == {
        "as_is": 36
    }
    given = words(half, "run", "--allow-missing", "--condition", "all", "--json")
    made = conditions(here(*given, cwd=place))
    assert {c: (row["questions"], row["replies"]) for c, row in made.items()} == {
        "as_is": (18, 18),
        "blind": (36, 36),
        "other_image": (18, 18),
        "scene_text": (36, 36),
        "program_text": (18, 18),
        "missing_image": (18, 18),
    }
    raws = {(p.condition, p.raw) for _, p in read_rows(place / "run") if p.raw.startswith("blind")}
    assert raws == {("blind", "blind, and told so"), ("scene_text", "blind"), ("missing_image", "blind, and told so")}
    assert json.loads(here(*given, cwd=place).stdout)["asked"] == 0


def test_an_image_without_a_picture_is_no_other_image(half):
    without = Dataset.open(half).list_ids_without_picture()
    items = list(DatasetSource(Dataset.open(half)).prompts("test", "short").iter_examples("other_image"))
    assert [bool(item.lacks) for item in items] == [item.question.scenes[0] in without for item in items]
    assert [len(item.prompt.images) for item in items] == [0 if item.lacks else 1 for item in items]
    assert {scene.id for item in items for scene in item.prompt.scenes}.isdisjoint(without)


def bare_shard(spec, split, k):
    images, questions = several_toys.make(spec, split, k)
    return [replace(image, png=b"") for image in images], questions


def test_a_test_is_refused_in_its_own_words(place):
    build_dataset(place / "bare", several_toys.SPEC, {"train": 2, "test": 2}, bare_shard)
    given = ("test", "contrast", "--data", "bare", "--set", "quantifiers", "--out")
    said = refused(here(*given, "looked", "--model", "looker_for_test:Looker", cwd=place))
    assert "looks at pictures, and " in said
    assert said.endswith(
        "a test compares what is seen: make bare with pictures, or test a model that does not look at them"
    )
    assert here(*given, "known", "--model", "oracle", cwd=place).returncode == 0


BUILT_IN = (
    "random",
    "random_uniform",
    "majority",
    "majority_per_template",
    "question_only",
    "object_only",
    "oracle",
    "action_ignored",
)


@pytest.mark.parametrize("model", BUILT_IN)
def test_who_says_that_it_does_not_look_does_not(model, tmp_path):
    """The same replies, whether there are pictures or not."""
    source = DatasetSource(dataset(tmp_path / "data"))
    setting = ModelSetting(
        train=lambda: source.questions("train"),
        schema=source.schema(),
        scenes=source.scenes,
        choosing=lambda: source.questions("train"),
    )
    assert "images" not in get_reads(model)
    made = build_model(model, setting)
    prompts = [item.prompt for item in source.prompts("test", "short").iter_examples("as_is")]
    other = io.BytesIO()
    Image.new("RGB", (8, 8)).save(other, "PNG")
    for shown in ((), (other.getvalue(),)):
        assert made.predict([replace(p, pictures=shown) for p in prompts]) == made.predict(prompts)


def test_every_other_model_is_taken_to_look():
    from shiftscope.registry import MODELS

    known = {name: get_traits(name).reads for name in MODELS.names()}
    assert known.pop("python") is None  # the class says
    blind = {*BUILT_IN, "lstm", "predictions", "visualbert_text", "vilbert_text"}
    assert {name for name, reads in known.items() if "images" not in reads} == blind


def test_what_was_allowed_is_not_part_of_the_run(audit, place):
    order = RunSpec("looker_for_test:Looker", audit, images=place / "all")
    evaluate(order, place / "run")
    evaluate(replace(order, allow_missing=True), place / "run")
