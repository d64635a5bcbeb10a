"""`shiftscope score` as a user meets it: a run's folder, official results files."""

import json
from pathlib import Path

import pytest

from command import here
from shiftscope.result import Prediction, QuestionRecord
from shiftscope.store.run_log import RunWriter

ROOT = Path(__file__).parents[2]
DATA = ROOT / "examples" / "data"
BARE = {"undefined": 0, "unreadable": 0, "failed": 0, "truncated": 0}


def score(*words):
    return here("score", *words)


def figures(result):
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def refused(result):
    assert result.returncode == 2, (result.stdout, result.stderr)
    *told, line = result.stderr.strip().splitlines()
    assert all("is not finished" in one for one in told)
    return line


def annotation(question, answers, kind="what", image=1):
    listed = [{"answer": a, "answer_confidence": "yes", "answer_id": k} for k, a in enumerate(answers, 1)]
    return {
        "question_id": question, "image_id": image, "question_type": kind, "answer_type": "other",
        "multiple_choice_answer": answers[0], "answers": listed,
    }  # fmt: skip


@pytest.fixture
def vqa(tmp_path):
    """Three questions about two images; the third has no prediction."""
    annotations = [
        annotation(1, ["red"] * 3 + ["blue"] * 7),
        annotation(2, ["Two"] * 10, "how many", 2),
        annotation(3, ["yes"] * 10, "is", 2),
    ]
    (tmp_path / "a.json").write_text(json.dumps({"annotations": annotations}))
    results = [{"question_id": 1, "answer": "The red."}, {"question_id": 2, "answer": "two"}]
    (tmp_path / "r.json").write_text(json.dumps(results))
    return tmp_path


@pytest.mark.parametrize(
    ("options", "value"),
    [
        ((), 90),
        (("--normalise", "always"), 190),
        (("--form", "thirds"), 100),
        (("--form", "thirds", "--normalise", "always"), 200),
    ],
)
def test_vqa_results_are_scored_directly(vqa, options, value):
    words = (vqa / "r.json", "--annotations", vqa / "a.json", "--metric", "vqa_accuracy", *options, "--json")
    (made,) = figures(score(*words))
    assert made.pop("low") is not None
    assert made.pop("high") is not None
    form = made.pop("form")
    assert form.startswith("thirds" if "thirds" in options else "official")
    assert ("always" in form) == ("always" in options)
    told = {"value": pytest.approx(value / 3), "n": 3, "missing": 1, "answered": pytest.approx(200 / 3)}
    assert made == {"metric": "vqa_accuracy", "scenes": 2, "too_few_scenes": True} | BARE | told


def test_a_file_of_only_the_right_answers_is_not_first(vqa):
    (vqa / "few.json").write_text(json.dumps([{"question_id": 3, "answer": "yes"}]))
    words = (vqa / "few.json", "--annotations", vqa / "a.json")
    (made,) = figures(score(*words, "--json"))
    assert (made["metric"], made["value"], made["n"]) == ("vqa_accuracy", pytest.approx(100 / 3), 3)
    assert "missing and failed responses count as wrong" in score(*words).stdout


def test_a_sample_that_was_declared_is_named_and_nothing_else_counts(vqa):
    (vqa / "sheet.json").write_text("[2, 3]")
    (vqa / "few.json").write_text(json.dumps([{"question_id": 3, "answer": "yes"}]))
    words = (vqa / "few.json", "--annotations", vqa / "a.json", "--sample", vqa / "sheet.json")
    (made,) = figures(score(*words, "--json"))
    assert (made["value"], made["n"], made["missing"]) == (50, 2, 1)
    assert made["sample"].endswith("sheet.json (2 of 3 questions)")
    assert "sample: " in score(*words).stdout
    (vqa / "sheet.json").write_text("[2, 9]")
    assert "1 ids of the sample are of no question of" in refused(score(*words))


def test_slices_and_a_table(vqa):
    words = (vqa / "r.json", "--annotations", vqa / "a.json", "--by", "kind")
    made = figures(score(*words, "--json"))
    assert [(m.get("slice"), m["value"], m["missing"]) for m in made] == [
        (None, 30, 1), ({"kind": "how many"}, 0, 0), ({"kind": "is"}, 0, 1), ({"kind": "what"}, 90, 0),
    ]  # fmt: skip
    shown = score(*words).stdout
    assert "kind how many" in shown
    assert "vqa_accuracy (official)" in shown
    assert "too few scenes" in shown


def test_answers_written_by_answer_are_scored(tmp_path):
    out = tmp_path / "said.json"
    words = (
        "answer",
        "--scenes",
        DATA / "clevr_scenes.json",
        "--questions",
        DATA / "clevr_questions.json",
        "--out",
        out,
    )
    assert here(*words).returncode == 0
    (made,) = figures(score(out, "--annotations", DATA / "clevr_questions.json", "--json"))
    assert (made["metric"], made["value"], made["n"]) == ("accuracy", 100, 7)


def test_gqa_predictions_are_scored(tmp_path):
    questions = json.loads((DATA / "gqa_questions.json").read_text())
    said = [{"questionId": name, "prediction": q["answer"].upper()} for name, q in questions.items()]
    said[0]["prediction"] = "nonsense"
    said.append({"questionId": "elsewhere", "prediction": "yes"})
    (tmp_path / "p.json").write_text(json.dumps(said))
    result = score(tmp_path / "p.json", "--annotations", DATA / "gqa_questions.json", "--metric", "accuracy", "--json")
    (made,) = figures(result)
    assert (made["value"], made["n"], made["missing"]) == (75, 4, 0)
    assert "1 predictions in" in result.stderr


@pytest.fixture
def run(tmp_path):
    with RunWriter(tmp_path / "run", {"model": "toy"}, questions=5) as writer:
        for k, said in enumerate(("yes", "yes", "no")):
            asked = QuestionRecord(str(k), (f"s{k}",), "yes", facts=(("kind", "exist" if k else "query"),))
            writer.add([(asked, Prediction(str(k), said, confidence=0.9))])
        writer.add([(QuestionRecord("3", ("s3",), "yes"), Prediction("3", status="unreadable", raw="I notice"))])
    return tmp_path / "run"


def test_a_run_is_scored_again_without_its_model(run):
    total, exist, query = figures(score(run, "--by", "kind", "--json"))
    assert (total["value"], total["n"], total["missing"], total["unreadable"]) == (40, 5, 1, 1)
    assert (total["answered"], total["scenes"]) == (80, 5)
    assert (exist["value"], query["value"]) == (50, 100)
    made = figures(score(run, "--metric", "accuracy", "--metric", "calibration", "--json"))
    assert [m["metric"] for m in made] == ["accuracy", "calibration"]
    assert made[1]["value"] == pytest.approx(100 * (1.8 + 0.9 - 2) / 3)


def test_bad_input_is_one_sentence_and_exit_2(run, vqa, tmp_path):
    results, annotations = vqa / "r.json", vqa / "a.json"
    assert "no such run or results file" in refused(score(tmp_path / "nowhere"))
    assert "give the true answers with --annotations FILE" in refused(score(results))
    assert "no metric 'acuracy'; did you mean 'accuracy'?" in refused(score(run, "--metric", "acuracy"))
    assert "no column 'knid' in the run; did you mean 'kind'?" in refused(score(run, "--by", "knid"))
    assert "--by needs the name of a column" in refused(score(run, "--by", ""))
    assert "--by needs the name of a column" in refused(score(run, "--by", "kind,"))
    assert "is given twice; name each run once" in refused(score(run, run.parent / "." / run.name))
    assert "relative_degrade compares several runs" in refused(score(run, "--metric", "relative_degrade"))
    assert "contrast cannot be sliced" in refused(score(run, "--metric", "contrast", "--by", "kind"))
    assert "accuracy: takes no --form" in refused(score(run, "--form", "thirds"))
    assert "omit --annotations" in refused(score(run, "--annotations", annotations))
    assert "not the folder of a run" in refused(score(tmp_path))


BAD = {
    "truncated": ("[{", "not valid JSON"),
    "not a list": ("{}", "expected a list of results"),
    "empty": ("[]", "there are no results in it"),
    "no id": ('[{"answer": "x"}]', "result 0 needs an id (question_id, questionId, question_index)"),
    "no answer": ('[{"question_id": 1}]', "result 0 needs an id"),
    "odd answer": ('[{"question_id": 1, "answer": [1]}]', "result 0: an answer must be true or false"),
    "twice": ('[{"question_id": 1, "answer": "x"}, {"question_id": "1", "answer": "x"}]', "question 1 appears twice"),
    "other questions": ('[{"question_id": 7, "answer": "x"}]', "it has '7', the annotations '1'"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_results_file_is_refused(name, vqa):
    text, sentence = BAD[name]
    (vqa / "bad.json").write_text(text)
    assert sentence in refused(score(vqa / "bad.json", "--annotations", vqa / "a.json"))


def test_questions_without_answers_are_refused(vqa):
    (vqa / "q.json").write_text(json.dumps([{"question_id": 1, "image_id": 1, "question": "?"}]))
    sentence = "questions without answers; give the annotations file that goes with it"
    assert sentence in refused(score(vqa / "r.json", "--annotations", vqa / "q.json"))


def test_several_seeds_of_one_model_become_one_figure_and_other_runs_are_refused(tmp_path):
    data = tmp_path / "data"
    make = ["make", "clevr", "--images", 8, "--size", "96x64", "--workers", 1, "--out", data]
    assert here(*make).returncode == 0
    for seed in (0, 1, 2):
        made = here("run", "--model", "random", "--seed", seed, "--data", data, "--out", tmp_path / f"r{seed}")
        assert made.returncode == 0, made.stderr
    singles = [json.loads(here("score", tmp_path / f"r{s}", "--json").stdout) for s in (0, 1, 2)]
    pooled = json.loads(here("score", *(tmp_path / f"r{s}" for s in (0, 1, 2)), "--json").stdout)
    assert pooled["value"] == pytest.approx(sum(s["value"] for s in singles) / 3)
    assert pooled["n"] == sum(s["n"] for s in singles)
    assert pooled["low"] <= pooled["value"] <= pooled["high"]
    relative = ("run", "--model", "random", "--seed", 1, "--data", "data", "--out", "spelled")
    assert here(*relative, cwd=tmp_path).returncode == 0
    again = here("score", tmp_path / "r0", tmp_path / "spelled", tmp_path / "r2", "--json")
    assert json.loads(again.stdout) == pooled  # the same data under another spelling
    here("run", "--model", "majority", "--data", data, "--out", tmp_path / "other")
    result = here("score", tmp_path / "r0", tmp_path / "other")
    assert result.returncode == 2
    assert "differ in model" in result.stderr


def test_the_generalization_score_takes_three_runs(tmp_path):
    data = tmp_path / "data"
    here("make", "clevr", "--images", 8, "--size", "96x64", "--workers", 1, "--out", data)
    for model in ("random", "majority", "oracle"):
        here("run", "--model", model, "--data", data, "--out", tmp_path / model)
    words = [tmp_path / m for m in ("random", "majority", "oracle")]
    found = json.loads(here("score", *words, "--metric", "generalization_score", "--json").stdout)
    random, majority = (json.loads(here("score", w, "--json").stdout)["value"] for w in words[:2])
    assert found["value"] == pytest.approx(100 * (random - majority) / (100 - majority))
    result = here("score", *words[:2], "--metric", "generalization_score")
    assert result.returncode == 2
    assert "takes 3 runs" in result.stderr
