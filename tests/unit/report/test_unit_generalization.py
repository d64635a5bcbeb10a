"""The report of generalization: templates, splits with their score, what tests found, and questions of many images."""

import json
import re
from dataclasses import replace

import pytest

import bird_toys
import several_toys
from report_toys import asked, body, log, right, study
from shiftscope.errors import UserError
from shiftscope.metrics.generalization_score import measure_runs
from shiftscope.registry import GENERALIZATION_TESTS
from shiftscope.report.number_format import format_percent
from shiftscope.report.page import SECTIONS
from shiftscope.report.runs import read_role, read_runs
from shiftscope.report.sections.failures import find_failures, section
from shiftscope.report.sections.reproduce import run_command
from shiftscope.report.sections.tests import capitalise, read_results
from shiftscope.run.evaluate import RunSpec, evaluate
from shiftscope.run.generalization.compositional import CompositionalOptions
from shiftscope.run.test import test as take_test
from shiftscope.store.dataset import Dataset

TWO = [asked(f"q{k}", "yes", f"s{k}", template="count" if k % 3 else "verify") for k in range(60)]


def cells(markup, tag_name="td"):
    found = re.findall(rf"<{tag_name}\b[^>]*>(.*?)</{tag_name}>", markup, re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", " ", c).split()) for c in found]


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """A multi-image dataset with runs of its reference points, and a compositional test."""
    folder = tmp_path_factory.mktemp("several")
    data = several_toys.dataset(folder / "data", shards=3).folder
    for model in ("majority", "majority_per_template", "question_only", "oracle"):
        evaluate(RunSpec(model, data), folder / model)
    options = CompositionalOptions(hold_out="has_count", text="majority", upper="oracle")
    take_test("compositional", RunSpec("majority_per_template", data), folder / "test", options)
    return folder


def test_every_template_stands_beside_every_contender():
    shown = body("templates", study(log(right(30, TWO), model="film"), log(right(60, TWO), model="oracle")))
    assert cells(shown, "th") == ["Template", "film", "oracle", "Questions", "count", "verify"]
    assert "reports" not in shown
    film, oracle, n = cells(shown)[:3]
    assert (film.split()[0], oracle.split()[0], n) == ("50.0", "100.0", "40")
    assert body("templates", study(log(right(5)))) is None


def test_the_templates_of_covr_stand_beside_what_is_reported_of_them():
    covr = [asked(f"q{k}", "yes", f"s{k}", template=("count", "choose_rel")[k % 2]) for k in range(20)]
    shown = body("templates", study(log(right(10, covr))))
    reported = shown[shown.index("<details>") :]
    assert "Reported: COVR (Bogin et al., 2021), Tables 12 and 13" in reported
    assert cells(reported) == ["58.1", "65.9", "51.8", "52.2", "26.2", "73.1", "25.2", "67.6"]


def test_the_score_of_three_runs_is_that_of_the_metric():
    model, text, upper = (
        log(right(n, TWO), model=name, trained_on=f"train_{role}")
        for n, name, role in ((36, "vilt", "zero_shot"), (30, "vilt_text", "text_only"), (45, "vilt", "iid_size"))
    )
    shown = body("splits", study(model, text, upper))
    score = measure_runs(model.records, text.records, upper.records)
    assert cells(shown, "th")[:6] == ["Split", "Model", "Text only", "Held out", "0 to 100", "Gen. score"]
    assert cells(shown)[0] == "vilt (train_zero_shot)"
    assert [c.split()[0] for c in cells(shown)[1:3]] == ["50.0", "60.0"]
    assert cells(shown)[4].split()[0] == f"{100 * score.value:.1f}" == "40.0"
    assert shown.count("<tr>") == 2  # the other two are what it is compared with
    assert body("splits", study(model, text)) is None


def test_reference_points_with_a_role_are_compared_and_others_are_not():
    part = {"name": "has_count:test_comp"}
    runs = [
        log(
            right(n, TWO),
            model=model,
            part=part,
            **({"learned_part": {"name": f"has_count:train_{role}"}} if role else {}),
        )
        for n, model, role in (
            (36, "question_only", "m_shot"),
            (30, "majority", "text_only"),
            (45, "question_only", "iid_size"),
            (60, "oracle", ""),
        )
    ]
    shown = body("splits", study(*runs))
    assert shown.count("<tr>") == 2
    assert [c.split()[0] for c in cells(shown)[1:3]] == ["50.0", "60.0"]


def test_a_text_only_run_without_images_is_compared():
    blind = [(q, (answer, "blind")) for q, answer in right(30, TWO)]
    runs = [
        log(rows, model="m", learned_part={"name": f"has_count:train_{role}"})
        for rows, role in ((right(36, TWO), "m_shot"), (blind, "text_only"), (right(45, TWO), "iid_size"))
    ]
    assert [c.split()[0] for c in cells(body("splits", study(*runs)))[1:3]] == ["50.0", "60.0"]
    with pytest.raises(UserError, match="has only questions under blind"):
        study(log(blind, model="m"))


def test_a_score_beyond_the_scale_is_said_to_be():
    runs = [(20, "a", "250-shot"), (30, "b", "text-only"), (45, "a", "iid-size")]
    made = study(*(log(right(n, TWO), model=m, trained_on=t) for n, m, t in runs))
    assert "Beyond the ends of the scale: a (250-shot)" in body("splits", made)
    assert "−66.7" in body("splits", made)


@pytest.mark.parametrize(
    ("said", "role"),
    [
        ("train_m_shot", "shot"),
        ("250-shot", "shot"),
        ("zero shot", "shot"),
        ("train_iid", "iid"),
        ("iid-size", "iid_size"),
        ("text_only", "text_only"),
        ("rd", ""),
        ("", ""),
    ],
)
def test_what_a_run_learned_from_tells_its_role(said, role):
    assert read_role({"trained_on": said}) == role
    assert read_role({"learned_part": {"name": f"has_count:{said}"}}) == role


def test_trainings_of_a_split_are_compared_where_they_are_asked():
    part = {"name": "has_count:test_comp"}
    runs = [
        log(right(n, TWO), model="m", learned_part={"name": f"has_count:{role}"}, part=part)
        for n, role in ((10, "train_zero_shot"), (20, "train_iid_size"))
    ]
    made = study(*runs)
    assert made.tests == ("has_count:test_comp",)
    assert made.select_in_domain().contenders == ("m (train_zero_shot)", "m (train_iid_size)")
    whole = study(*runs, log(right(30, TWO), model="m"))
    assert whole.select_in_domain().contenders == ("m (train_zero_shot)", "m (train_iid_size)", "m")
    assert body("transfer", made) is None


def test_the_command_of_a_run_names_the_parts_it_takes():
    parts = {"part": {"name": "has_count:test_comp"}, "learned_part": {"name": "has_count:train_iid"}}
    (run,) = study(log(right(5, TWO), **parts)).runs
    assert run_command(run).endswith("  # add --part: has_count:test_comp, --learn-part: has_count:train_iid")


def test_the_outcome_of_a_test_is_shown_with_the_runs_it_made(several):
    made = read_runs([several / "test/runs" / name for name in ("held_out", "in_domain")])
    (one,) = read_results(made)
    assert (one.test, one.model_label) == ("compositional", "majority_per_template")
    shown = body("splits", made)
    stored = json.loads((several / "test/result.json").read_text())["lines"][0]["scores"]
    assert cells(shown)[:1] == ["majority_per_template"]
    assert cells(shown)[4].split()[0] == format_percent(stored["generalization_score"]["value"] / 100)
    assert [h for h in cells(shown, "th") if h in ("In domain", "Gap")] == ["In domain", "Gap"]
    assert body("tests", made) is None


def test_other_tests_are_shown_as_tables(several, tmp_path):
    folder = tmp_path / "out"
    (folder / "runs").mkdir(parents=True)
    (folder / "runs/changed").symlink_to(several / "majority")
    run = folder / "runs/changed"
    evaluate(RunSpec("majority", several / "data"), folder / "runs/own")
    score = {"value": 25.0, "low": 20.0, "high": 31.0, "n": 8}
    line = {"of": {"change": "no → some"}, "scores": {"original": score, "drop": score | {"value": -50.0}}}
    result = {
        "test": "contrast", "model": "majority", "lines": [line], "left_out": {"no quantifier": 1200}
    }  # fmt: skip
    (folder / "result.json").write_text(json.dumps(result))
    shown = body("tests", read_runs([folder / "runs/own"]))
    assert cells(shown, "h3") == ["Contrast, majority"]
    assert cells(shown, "th") == ["Change", "Original", "Drop", "Questions", "no → some"]
    assert [c.split()[0] for c in cells(shown)] == ["25.0", "−50.0", "8"]
    assert "Left out: 1,200, no quantifier." in shown
    assert capitalise(GENERALIZATION_TESTS.summary("redundancy").partition(": ")[2]).startswith("GQA questions")
    assert body("tests", read_runs([run])) is None  # a run that stands elsewhere is not of this test
    (folder / "result.json").write_text('{"test": 3}')
    with pytest.raises(UserError, match="not what shiftscope test writes"):
        body("tests", read_runs([folder / "runs/own"]))


def test_variants_beside_their_originals_are_no_more_questions():
    base = [asked(f"q{k}", "yes", f"s{k}", template=("count", "verify")[k % 2]) for k in range(20)]
    more = [replace(q, question=f"{q.question}+x", twin=q.question) for q in base]
    both = log([*right(10, base), *right(0, more)], 40)
    shown = body("headline", study(both))
    assert [c for c in cells(shown) if c == "20"] == ["20"]
    assert cells(shown)[1].split()[0] == "50.0"
    lead = SECTIONS.load("headline").section(study(both)).lead
    assert "The 20 variants of these questions that a test adds do not count here." in lead
    assert cells(body("templates", study(both)))[1::2] == ["10", "10"]
    alone = body("headline", study(log(right(5, more), 20)))  # their originals are of another run
    assert cells(alone)[1].split()[0] == "25.0"
    assert "Variants of questions are counted as questions" in SECTIONS.load("outcomes").section(study(both)).lead


def test_a_failure_shows_every_image_of_its_question(several):
    made = read_runs([several / "majority"])
    shown = section(made).body
    cards = re.findall(r"<article.*?</article>", shown, re.DOTALL)
    assert len(cards) >= 10
    many = {}
    for card in cards:
        name = re.search(r"question ([\w-]+)</p>", card)[1]
        many[name] = (card.count("<img"), re.findall(r'class="place"[^>]*>(\d)<', card))
    asked_about = {f.question: f for f in find_failures(made.runs)}
    stored = {q.id: len(q.scenes) for q in Dataset.open(several / "data").questions("test")}
    assert set(many) <= set(asked_about)
    for name, (pictures, places) in many.items():
        assert pictures == stored[name]
        assert places == ([str(k + 1) for k in range(pictures)] if pictures > 1 else [])
    assert {pictures for pictures, _ in many.values()} >= {1, 2, 3, 4}
    assert all(('class="card wide"' in card) == (card.count("<img") > 2) for card in cards)


def test_a_scene_without_a_picture_is_told(tmp_path):
    data = bird_toys.dataset(tmp_path / "data", "parrot", "oak").folder
    evaluate(RunSpec("majority", data), tmp_path / "run")
    shown = section(read_runs([tmp_path / "run"])).body
    assert "<img" not in shown
    assert "No image. The scene holds 2 objects, numbered from 1. 1: " in shown
    assert "parrot" in shown


def test_reference_points_of_many_images_are_shown_as_such(several):
    runs = [several / m for m in ("majority", "majority_per_template", "question_only", "oracle")]
    made = read_runs(runs)
    assert made.references == ("majority", "majority_per_template", "question_only", "oracle")
    shown = body("templates", made).partition("<details>")[0]
    oracle = cells(shown, "th").index("oracle")
    per_row = len(cells(shown, "th")) - 4  # columns without the row's heading, of four templates
    assert {c.split()[0] for c in cells(shown)[oracle - 1 :: per_row - 1]} == {"100.0"}
