"""A selection study end to end, small: a world is made, a model trained, every epoch measured; the same call resumes."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from command import here
from shiftscope.errors import UserError
from shiftscope.metrics.model_selection import IID, SelectionRun, StudyWorld, build_selection_results
from shiftscope.report.selection_page import render_selection_markdown
from shiftscope.run.selection_study.selection_study import SelectionStore, SelectionStudySpec, run_selection_study
from shiftscope.suites import load_suite
from shiftscope.suites.selection_study import SelectionScale, SelectionStudy, StudyMethod
from shiftscope.suites.vqa_vs.study import NOTES


class TinyStudy(SelectionStudy):
    suite, title, world = "vqa_vs", "A tiny study", "clevr"
    shortcut = "question_type=exist>yes:0.8"
    methods = (StudyMethod("lstm", "lstm", (("hidden", "16"), ("words", "16"))),)
    seeds, scales, notes = (0,), {"tiny": SelectionScale("tiny", 40, (160, 112), epochs=2)}, NOTES
    proportion_method, proportions = "lstm", (50,)

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
    assert "| lstm | 1 seed |" in text and "60 in the IID test" in text


def test_a_record_names_no_folder_of_the_machine(tmp_path):
    asked = (
        f"shiftscope study vqa_vs --data data --out={tmp_path} --cells {tmp_path}/c.jsonl --methods 'updn+lpf gamma=5'"
    )
    places = (tmp_path, tmp_path / "c.jsonl")
    spec = SelectionStudySpec(TinyStudy(), *places, TinyStudy.scales["tiny"], (), data=Path("data"), command=asked)
    told = "shiftscope study vqa_vs --data DATA --out=OUT --cells CELLS --methods 'updn+lpf gamma=5'"
    assert spec.write_command() == told
