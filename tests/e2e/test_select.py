"""`shiftscope select` as a user meets it: real runs on a small dataset, the choice, and what it refuses."""

import json

import pytest

from command import here, refused
from shiftscope.result import Prediction, QuestionRecord
from shiftscope.store.run_log import RunWriter

MODELS = ("random", "majority", "question_only")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Three models on the validation split of one dataset, one of them on its test split too."""
    root = tmp_path_factory.mktemp("select")
    assert (
        here("make", "clevr", "--images", 20, "--size", "96x64", "--workers", 1, "--out", root / "data").returncode == 0
    )
    for name in MODELS:
        run(root, name, "val", name)
    run(root, "majority", "test", "tested")
    run(root, "random", "test", "tested_too")
    return root


def run(root, model, split, out):
    words = ("run", "--model", model, "--data", root / "data", "--split", split, "--out", root / out)
    result = here(*words)
    assert result.returncode == 0, result.stderr


def select(*words):
    return here("select", *words)


def toy(folder, right, *, split="val", questions=4, finished=True, failed=0, data="d"):
    spec = {"model": folder.name, "data_id": data, "split": split}
    with RunWriter(folder, spec, questions=questions) as writer:
        rows = []
        for k in range(questions):
            said = Prediction(str(k), "yes" if k < right else "no")
            rows.append((QuestionRecord(str(k), (f"s{k}",), "yes"), said))
        for k in range(failed):
            rows[k] = (rows[k][0], Prediction(str(k), status="failed", reason="down"))
        writer.add(rows)
        if finished:
            writer.finish()
    return folder


def test_the_highest_figure_on_validation_data_is_chosen(made):
    runs = [made / name for name in MODELS]
    told = json.loads(select(*runs, "--json").stdout)
    singles = [json.loads(here("score", r, "--json").stdout) for r in runs]
    values = [s["value"] for s in singles]
    best = values.index(max(values))
    assert told["chosen"] == str(runs[best])
    assert [r["value"] for r in told["runs"]] == values
    assert [r["model"] for r in told["runs"]] == list(MODELS)
    kept = json.loads((runs[best] / "selection.json").read_text())
    assert kept == {
        "chosen_from": [str(r) for r in runs],
        "metric": "accuracy",
        "value": values[best],
        "split": "val",
        "on_ood": False,
        "data_id": json.loads((runs[0] / "run.json").read_text())["spec"]["data_id"],
    }
    assert [r for r in runs if (r / "selection.json").exists()] == [runs[best]]
    shown = here("select", *runs)
    assert shown.stderr == ""
    assert f"chosen: {runs[best]}" in shown.stdout
    assert " to " in shown.stdout


def test_other_data_takes_a_flag_that_marks_the_run(made):
    runs = (made / "tested", made / "tested_too")
    assert "is a run on split 'test', and models are chosen on validation data" in refused(select(*runs))
    assert not any((r / "selection.json").exists() for r in runs)
    result = select(*runs, "--on-ood", "--json")
    told = json.loads(result.stdout)
    assert told["on_ood"] is True
    assert told["split"] == "test"
    assert "are no longer a fair test" in result.stderr
    (marked,) = [r for r in runs if (r / "selection.json").exists()]
    assert json.loads((marked / "selection.json").read_text())["on_ood"] is True


def test_of_equals_the_first_named_is_chosen(tmp_path):
    a, b, c = (toy(tmp_path / name, right) for name, right in (("a", 1), ("b", 3), ("c", 3)))
    assert json.loads(select(a, b, c, "--json").stdout)["chosen"] == str(b)
    assert json.loads(select(a, c, b, "--json").stdout)["chosen"] == str(c)


def test_a_validation_split_of_another_name_is_named(tmp_path):
    runs = [toy(tmp_path / name, 2, split="dev") for name in "ab"]
    assert "split 'dev'" in refused(select(*runs))
    assert json.loads(select(*runs, "--split", "dev", "--json").stdout)["on_ood"] is False


def test_runs_that_do_not_compare_are_refused(tmp_path, made):
    a, b = toy(tmp_path / "a", 2), toy(tmp_path / "b", 3)
    assert "two runs or more" in refused(select(a))
    assert "is given twice" in refused(select(a, b, tmp_path / "." / "a"))
    assert "on different splits" in refused(select(made / "majority", made / "tested", "--on-ood"))
    assert "on different data" in refused(select(a, toy(tmp_path / "c", 2, data="other")))
    assert "on different questions" in refused(select(a, toy(tmp_path / "d", 2, questions=3)))
    assert "is not finished" in refused(select(a, toy(tmp_path / "e", 2, finished=False)))
    assert "1 questions have no response" in refused(select(a, toy(tmp_path / "f", 2, failed=1)))
    assert "better when it is lower" in refused(select(a, b, "--metric", "calibration"))
    assert "gives several figures" in refused(select(made / "random", made / "majority", "--metric", "head_tail"))
    assert "did you mean 'accuracy'?" in refused(select(a, b, "--metric", "acuracy"))
    assert not any((r / "selection.json").exists() for r in (a, b))


def test_the_report_tells_of_a_choice_that_was_not_fair(made, tmp_path):
    assert select(made / "tested", made / "tested_too", "--on-ood").returncode == 0
    page = tmp_path / "report.html"
    words = ("report", made / "tested", made / "tested_too", "--data", made / "data", "--out", page)
    result = here(*words)
    assert result.returncode == 0, result.stderr
    assert "was chosen on out-of-distribution data" in page.read_text("utf-8")
