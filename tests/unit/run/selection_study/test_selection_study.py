"""A selection study end to end, small: a world is made, a model trained, every epoch measured; the same call resumes."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from command import here
from shiftscope.errors import UserError
from shiftscope.metrics.model_selection import IID, SelectionRun, StudyWorld, build_selection_results
from shiftscope.report.selection_page import render_selection_markdown
from shiftscope.run.selection_study.concurrent_trainings import measure_shared_throughput
from shiftscope.run.selection_study.selection_study import SelectionStore, SelectionStudySpec, run_selection_study
from shiftscope.store.audit_samples import read_stored_questions
from shiftscope.store.dataset import Dataset
from shiftscope.suites import load_suite
from shiftscope.suites.selection_study import SelectionScale, SelectionStudy, StudyMethod
from shiftscope.suites.vqa_vs.study import NOTES
from shiftscope.train.epochs import list_epochs


class TinyStudy(SelectionStudy):
    suite, title, world = "vqa_vs", "A tiny study", "clevr"
    shortcut = "question_type=exist>yes:0.8"
    methods = (StudyMethod("lstm", "lstm", (("hidden", "16"), ("words", "16"))),)
    seeds, scales, notes = (0,), {"tiny": SelectionScale("tiny", 40, (160, 112), epochs=2)}, NOTES
    proportion_method, proportions, proportion_settings = "lstm", (50,), (("batch", "8"),)

    def build_spec(self, scale):
        return load_suite("clevr").spec(images=scale.images, size=scale.size, questions=6, shortcut=self.shortcut)

    def check_findings(self, results):
        return iter(())


@pytest.mark.full
def test_a_study_measures_every_epoch_and_resumes(tmp_path):
    study = TinyStudy()
    spec = SelectionStudySpec(study, tmp_path, tmp_path / "cells", study.scales["tiny"], ("whole", "changing_priors"))
    made = list(run_selection_study(replace(spec, device="cpu")))
    assert [type(record) for record in made] == [StudyWorld, SelectionRun, SelectionRun]
    world, run, priors = made
    assert {len(counts) for counts in run.right.values()} == {2}
    assert world.sizes["iid"] == 36 and world.sizes["ood_test"] == 36
    assert priors.examples <= run.examples
    assert list(run_selection_study(replace(spec, device="cpu"))) == []  # nothing is left to do
    assert not list(tmp_path.glob("weights/*/answers"))  # kept until they are in a record
    results = build_selection_results(study, made)
    assert results.find_score("lstm", IID).n == 36
    assert "| lstm |" in render_selection_markdown(results)
    samples = read_stored_questions(Dataset.open(tmp_path / "world"))
    asked = {"train": [], "test": []}
    for split, kind, answer in zip(samples.splits.codes, samples.types.codes, samples.answers.codes, strict=True):
        asked.setdefault(samples.splits.values[split], []).append((kind, answer))
    for rank, rule in enumerate(("prior", "second")):
        counts = {
            kind: Counter(a for k, a in sorted(asked["train"]) if k == kind).most_common() for kind, _ in asked["test"]
        }
        right = sum(len(found := counts[kind]) > rank and found[rank][0] == answer for kind, answer in asked["test"])
        assert results.find_blind(rule, IID).value == pytest.approx(right / 36)


@pytest.mark.full
def test_small_training_sets_are_trained_with_settings_of_their_own(tmp_path):
    study = TinyStudy()
    spec = SelectionStudySpec(study, tmp_path, tmp_path / "cells", study.scales["tiny"], ("proportion",), device="cpu")
    runs = [record for record in run_selection_study(spec) if isinstance(record, SelectionRun)]
    assert runs and all(run.recipe["batch"] == "8" for run in runs)
    assert list(run_selection_study(spec)) == []
    models = [json.loads(path.read_text()) for path in tmp_path.glob("weights/*/model.json")]
    stages = [part for model in models for part in model.values() if isinstance(part, dict) and "recipe" in part]
    assert {stage["recipe"]["batch"] for stage in stages} == {8}


@pytest.fixture(scope="module")
def audit(tmp_path_factory):
    """Of 240 questions, which two annotators answer alike: the best answer to each scores two thirds."""
    folder = tmp_path_factory.mktemp("vqa")
    questions, answers = [], []
    for k in range(240):
        start, said = ("is the", "no" if k % 20 == 0 else "yes") if k % 2 == 0 else ("what", f"c{k % 3}")
        questions.append({"question_id": k, "image_id": k // 2, "question": f"{start} w{k % 5}?"})
        given = [said, said, "red"]
        row = {"question_id": k, "image_id": k // 2, "question_type": start, "multiple_choice_answer": said}
        answers.append(row | {"answers": [{"answer": one, "answer_id": n} for n, one in enumerate(given, 1)]})
    (folder / "q.json").write_text(json.dumps(questions))
    (folder / "a.json").write_text(json.dumps({"annotations": answers}))
    files = ("--questions", str(folder / "q.json"), "--annotations", str(folder / "a.json"))
    result = here("audit", *files, "--out", str(folder / "audit"))
    assert result.returncode == 0, result.stderr
    return folder / "audit"


class WordStudy(TinyStudy):
    language_methods = (
        StudyMethod("lstm", "lstm", (("hidden", "16"), ("words", "16"), ("batch", "16"), ("lr", "0.02"))),
        StudyMethod("lstm+none", "lstm", (("hidden", "16"), ("no_such_setting", "1"))),
    )
    language_epochs = 4


def test_real_questions_are_scored_in_thirds_and_a_failure_does_not_end_the_study(audit, tmp_path):
    study = WordStudy()
    cells = tmp_path / "cells"
    spec = SelectionStudySpec(study, tmp_path, cells, study.build_language_scale(), (), audit=audit, device="cpu")
    records, told = [], []
    with pytest.raises(UserError, match=r"1 of 2 trainings failed: lstm\+none, whole, seed 0; see above why"):
        records.extend(run_selection_study(spec, tell=told.append))
    assert any(
        "lstm+none, whole, seed 0 failed: UserError: no setting 'no_such_setting'" in sentence for sentence in told
    )
    run, world = SelectionStore(cells).read_records()
    assert (world.scale, run.scale, run.planes, len(run.right["val"])) == ("language", "language", 3, 4)
    assert world.sizes["iid"] == 60 and set(run.right) >= {"iid", "val", "test/QT/tail", "val/QT/tail"}
    results = build_selection_results(study, [world, run])
    assert results.world is None  # they are no world of images
    score = results.language.find_score("lstm", IID)
    assert score.n == 60
    best = int(np.argmax(run.right["val"]))
    assert score.value == pytest.approx(run.right["iid"][best] / 60, abs=1e-4)
    assert 0.3 <= score.value <= 2 / 3 + 1e-9
    assert round(score.value * 60 * 3) % 2 == 0  # two thirds each
    text = render_selection_markdown(results)
    assert "| lstm | 1 |" in text and "60 in the IID test" in text


def test_epochs_are_kept_until_all_strategies_have_chosen_and_then_those_that_one_chose(audit, tmp_path, monkeypatch):
    held = []

    def add(store, run):
        held.extend(list(list_epochs(path.parent)) for path in tmp_path.glob("weights/*/model.json"))
        keep(store, run)

    keep = SelectionStore.add
    monkeypatch.setattr(SelectionStore, "add", add)
    study, cells = WordStudy(), tmp_path / "cells"
    spec = SelectionStudySpec(study, tmp_path, cells, study.build_language_scale(), (), ("lstm",), audit=audit)
    *_, run = run_selection_study(replace(spec, device="cpu", keep_epochs=True))
    assert held[-1] == [1, 2, 3, 4]
    (folder,) = (path.parent for path in tmp_path.glob("weights/*/model.json"))
    assert list(list_epochs(folder)) == sorted(map(int, run.hits)) and len(run.hits) < 4


class BranchStudy(TinyStudy):
    small = (("hidden", "16"), ("words", "16"), ("batch", "16"), ("lr", "0.02"))
    language_methods = (StudyMethod("lstm+lmh_l", "lstm+lmh_l", small),)
    language_epochs = 2


def test_a_record_keeps_how_good_the_branch_was(audit, tmp_path):
    study, cells = BranchStudy(), tmp_path / "cells"
    spec = SelectionStudySpec(study, tmp_path, cells, study.build_language_scale(), (), audit=audit, device="cpu")
    (run,) = (record for record in run_selection_study(spec) if isinstance(record, SelectionRun))
    assert list(run.earlier_stages) == ["language_branch"] and 0 < run.earlier_stages["language_branch"] < 1
    assert study.trains_alike(run)
    assert list(run_selection_study(spec)) == []


@pytest.mark.full
def test_trainings_at_once_end_as_those_in_turn_and_say_so(audit, tmp_path):
    study, kept = WordStudy(), {}
    for together in (1, 2):
        out = tmp_path / str(together)
        places, told = (out, out / "cells", study.build_language_scale(), ()), []
        spec = SelectionStudySpec(study, *places, seeds=(0, 1), audit=audit, device="cpu", together=together)
        with pytest.raises(UserError, match=r"2 of 4 trainings failed: lstm\+none, whole, seed 0; lstm\+none"):
            list(run_selection_study(spec, tell=told.append))
        assert sum("seed 1 failed: UserError: no setting 'no_such_setting'" in sentence for sentence in told) == 1
        runs = [run for run in SelectionStore(out / "cells").read_records() if isinstance(run, SelectionRun)]
        kept[together] = {run.seed: run for run in runs}
        assert not list(out.glob("weights/*/answers")) and not (out / "pictures").exists()
    for seed in (0, 1):
        alone, beside = kept[1][seed], kept[2][seed]
        same = ("weights", "right", "hits", "planes", "recipe", "examples")
        assert all(getattr(alone, name) == getattr(beside, name) for name in same)
        assert (alone.together, beside.together) == (1, 2)
        assert beside.shared_throughput >= beside.throughput > 0
    assert "together" not in kept[1][0].to_json()


def test_minutes_that_are_over_pause_all_that_run_at_once(audit, tmp_path):
    study = WordStudy()
    spec = SelectionStudySpec(
        study, tmp_path, tmp_path / "cells", study.build_language_scale(), (), ("lstm",), (0, 1), audit=audit,
        device="cpu", together=2,
    )  # fmt: skip
    told = []
    made = list(run_selection_study(replace(spec, minutes=1e-6), tell=told.append))
    assert [type(record) for record in made] == [StudyWorld]
    assert told[-1] == "the minutes are over; the same command resumes from here"


def epoch(began, lasted, rate):
    return {"began": began, "lasted": lasted, "examples_per_second": rate}


def test_what_a_device_does_is_the_sum_over_what_overlaps():
    mine = [epoch(0.0, 2.0, 100.0), epoch(3.0, 2.0, 90.0)]
    assert measure_shared_throughput(mine, []) == 100
    halfway, after = epoch(1.0, 4.0, 60.0), epoch(6.0, 1.0, 500.0)
    assert measure_shared_throughput(mine, [halfway, after]) == 150  # 100 + 60 / 2; 90 + 60
    assert measure_shared_throughput([epoch(3.0, 2.0, 10.0)], [halfway]) == 70
    assert measure_shared_throughput([{"examples_per_second": 5.0}], [halfway]) == 0  # nobody knows when


def test_a_record_names_no_folder_of_the_machine(tmp_path):
    asked = (
        f"shiftscope study vqa_vs --data data --out={tmp_path} --cells {tmp_path}/c.jsonl --methods 'updn+lpf gamma=5'"
    )
    places = (tmp_path, tmp_path / "c.jsonl")
    spec = SelectionStudySpec(TinyStudy(), *places, TinyStudy.scales["tiny"], (), data=Path("data"), command=asked)
    told = "shiftscope study vqa_vs --data DATA --out=OUT --cells CELLS --methods 'updn+lpf gamma=5'"
    assert spec.write_command() == told
