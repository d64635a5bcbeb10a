"""`shiftscope audit` as a user meets it: from files to OOD sets, a score of predictions, and a run."""

import json

import pytest

import store_toys
from command import here, refused, shiftscope
from shiftscope.store.build_dataset import build_dataset

COUNT = 200


def ok(result):
    assert result.returncode == 0, result.stderr
    return result


def lines(result):
    return [json.loads(line) for line in ok(result).stdout.splitlines()]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """200 questions, 9 in 10 answered alike; as VQA, as VQA-CP, and with what real files lack."""
    folder = tmp_path_factory.mktemp("vqa")
    questions, answers = [], []
    for k in range(COUNT):
        start, said = ("is the", "no" if k % 20 == 0 else "yes") if k % 2 == 0 else ("what", f"c{k % 3}")
        split = "train" if k < 120 else "val" if k < 130 else "test" if k < 190 else "extra"
        questions.append({"question_id": k, "image_id": k, "question": f"{start} w{k % 5}?", "split": split})
        listed = [{"answer": said, "answer_confidence": "yes", "answer_id": n} for n in range(1, 11)]
        row = {"question_id": k, "image_id": k, "question_type": start, "answer_type": "other"}
        answers.append(row | {"multiple_choice_answer": said, "answers": listed})
    odd_questions, odd_answers = json.loads(json.dumps([questions, answers]))
    for k in range(0, COUNT, 4):  # of every fourth something is missing or odd
        broken = ("question", "image_id")[k // 4 % 2]
        odd_questions[k][broken] = None
        del odd_answers[k]["question_type"]
        odd_answers[k]["image_id"] = 999
        odd_answers[k + 1]["answers"] = ["yes", "no"] if k % 8 else "yes"
        del odd_answers[k + 2]["answers"]
        odd_answers[k + 2]["multiple_choice_answer"] = 7
    cp = [q | {"coco_split": "val2014"} for q in questions]
    contents = {
        "q.json": questions,
        "a.json": {"annotations": answers},
        "odd_q.json": {"questions": odd_questions},
        "odd_a.json": odd_answers,
        "cp_train.json": cp[:150],
        "cp_test.json": cp[150:],
    }
    for name, content in contents.items():
        (folder / name).write_text(json.dumps(content))
    return folder


@pytest.fixture(scope="module")
def audit(files, tmp_path_factory):
    out = tmp_path_factory.mktemp("audits") / "audit"
    options = ("--shares", "60,10,30", "--recipe", "gqa_ood", "--gqa-by", "QT", "--statistics", "train")
    told = ok(
        shiftscope(
            *("audit", "--questions", files / "q.json", "--annotations", files / "a.json"), *("--out", out, *options)
        )
    )
    return out, told


def ids(folder, name):
    return [row["question_id"] for row in json.loads((folder / name / f"{name}-Ques.json").read_text())]


def test_an_audit_says_what_it_found(audit):
    out, told = audit
    assert "200 samples; split drawn: train 120, val 20, test 60; question types given" in told.stdout
    assert "gqa_ood (alpha 0.2, by QT): all" in told.stdout
    assert "mean OOD" in told.stdout
    assert "shiftscope: left out: KO, KOP, QT+KO, KW+KO, QT+KW+KO: no object annotations" in told.stderr
    assert "words: " in told.stderr
    assert "never seen in train" in told.stderr
    assert (out / "report.html").is_file()
    figures = json.loads((out / "audit.json").read_text())
    assert figures["split"] == {"train": 120, "val": 20, "test": 60, "drawn": True}
    assert figures["settings"]["shares"] == [0.6, 0.1]
    assert figures["recipes"]["gqa_ood"]["settings"]["by"] == "QT"
    assert {"majority", "prior", "question_only"} == set(figures["blind"])


def test_predictions_are_scored_on_all_sets_at_once(audit, tmp_path):
    out, _ = audit
    test = ids(out, "IID-Test")
    said = [{"question_id": k, "answer": "yes"} for k in (*test[:40], *ids(out, "Training")[:5])]
    (tmp_path / "p.json").write_text(json.dumps(said))
    told = here("score", tmp_path / "p.json", "--audit", out, "--json")
    scores = {(s["metric"], s.get("slice", {}).get("shortcut", "")): s for s in lines(told)}
    assert (scores["iid", ""]["n"], scores["iid", ""]["missing"]) == (60, 20)
    tail = ids_of_set(out, "OOD-Test", "QT")
    assert scores["ood", "QT"]["n"] == len(tail) > 0
    assert scores["ood", "QT"]["missing"] == len(set(tail) & set(test[40:]))
    assert "5 are for its train split" in told.stderr


def ids_of_set(folder, kind, shortcut):
    path = folder / kind / shortcut / f"{kind}-{shortcut}-Ques.json"
    return [row["question_id"] for row in json.loads(path.read_text())]


def test_a_run_on_an_audit_is_scored_by_it(audit, tmp_path):
    out, _ = audit
    for split, where in (("test", {}), ("val", {"split": "val"})):
        run = tmp_path / split
        ok(here("run", "--model", "majority", "--data", out, "--split", split, "--out", run))
        told = here("score", run, "--json")
        first, second = lines(told)[:2]
        assert (second["metric"], second.get("slice", {})) == ("iid", where)
        assert first["n"] == second["n"] == {"test": 60, "val": 20}[split]
        assert ("20 questions of" in told.stderr) == (split == "val")


def test_odd_files_go_all_the_way(files, tmp_path):
    options = ("--annotations", files / "odd_a.json", "--no-blind", "--json")
    told = ok(here("audit", "--questions", files / "odd_q.json", *options, "--out", tmp_path / "audit"))
    assert json.loads(told.stdout)["samples"] == COUNT
    ok(here(*("run", "--model", "question_only", "--data", tmp_path / "audit"), "--out", tmp_path / "run"))
    first = lines(here("score", tmp_path / "run", "--json"))[0]
    assert (first["n"], first["missing"]) == (50, 0)


def test_the_rows_own_splits_are_taken_when_asked_for(files, tmp_path):
    options = ("--questions", files / "q.json", "--annotations", files / "a.json", "--no-blind")
    told = ok(here("audit", *options, "--split", "given", "--out", tmp_path / "audit"))
    assert "split as given: train 120, val 10, test 60" in told.stdout
    assert "samples of a split other than train, val and test (extra): 10, in no set" in told.stderr


def test_vqa_cp_files_are_audited_as_train_and_test(files, tmp_path):
    parts = ("--train", files / "cp_train.json", "--test", files / "cp_test.json")
    options = (*parts, "--annotations", files / "a.json", "--no-blind", "--out", tmp_path / "audit")
    assert "split as given: train 150, val 0, test 50" in ok(here("audit", *options)).stdout


def test_a_dataset_of_ours_is_split_as_it_is(tmp_path):
    build_dataset(tmp_path / "data", store_toys.SPEC, store_toys.JOBS, store_toys.make)
    told = ok(here("audit", tmp_path / "data", "--no-blind", "--out", tmp_path / "audit"))
    assert "split as given" in told.stdout
    said = refused(here("audit", tmp_path / "data", "--no-blind", "--out", tmp_path / "data"))
    assert "data holds a dataset (manifest.json); name a folder of its own for the audit" in said
    options = ("--model", "majority", "--data", tmp_path / "data", "--out", tmp_path / "run")
    said = refused(here("run", *options, "--images", tmp_path))
    assert "a dataset holds its images; omit --images" in said


def test_what_can_not_be_meant_is_refused(files, tmp_path):
    base = ("audit", "--questions", files / "q.json", "--annotations", files / "a.json")
    (tmp_path / "p.json").write_text('[{"question_id": 1, "answer": "yes"}]')
    cases = {
        "holds": (*base, "--out", files),
        "are no shares of a split; write per cents as in 70,5,25": (*base, "--out", "x", "--shares", "70,30"),
        "settings of gqa_ood are given; name it with --recipe gqa_ood": (*(*base, "--out", "x", "--gqa-alpha", "0.3"),),
        "a.json is a file; --audit takes the folder that shiftscope audit made": (
            *("score", tmp_path / "p.json", "--audit", files / "a.json"),
        ),
    }
    for sentence, words in cases.items():
        assert sentence in refused(here(*words, cwd=tmp_path))
    assert [p.name for p in tmp_path.iterdir()] == ["p.json"]


def test_rows_are_streamed_and_what_is_left_out_is_said(tmp_path):
    rows = [
        {"question_id": k, "image_id": k, "question": f"is the w{k % 5}?", "answer": "no" if k % 20 == 0 else "yes"}
        for k in range(COUNT)
    ]
    (tmp_path / "rows").mkdir()
    for k in range(2):
        text = (json.dumps(row) for row in rows[100 * k : 100 * k + 100])
        (tmp_path / "rows" / f"part-{k}.jsonl").write_text("\n".join(text))
    pattern = str(tmp_path / "rows" / "*.jsonl")
    told = ok(here("audit", "--questions", pattern, "--stream", "--out", tmp_path / "a"))
    assert "left out: blind models: it learns from all samples at once" in told.stderr
    assert "200 samples; split drawn: train 140, val 10, test 50; question types learned" in told.stdout
    assert "report" not in told.stdout
    (streamed,) = lines(here("audit", "--questions", tmp_path / "rows", "--stream", "--out", tmp_path / "b", "--json"))
    (memory,) = lines(here("audit", "--questions", pattern, "--no-blind", "--out", tmp_path / "c", "--json"))
    assert streamed["report"] is None
    assert (tmp_path / "c" / "report.html").exists()
    assert streamed["shortcuts"] == memory["shortcuts"]
    wrong = here("audit", "--questions", pattern, "--stream", "--proportions", "0,100", "--out", tmp_path / "d")
    assert (
        refused(wrong)
        == "shiftscope: --proportions trains on all samples, and --stream never holds them; omit one of them"
    )
