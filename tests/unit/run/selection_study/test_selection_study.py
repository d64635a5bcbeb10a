"""A selection study end to end, small: a world is made, a model trained, every epoch measured; the same call resumes."""

from dataclasses import replace

import pytest

from shiftscope.metrics.model_selection import IID, SelectionRun, StudyWorld, build_selection_results
from shiftscope.report.selection_page import render_selection_markdown
from shiftscope.run.selection_study.selection_study import SelectionStudySpec, run_selection_study
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
    assert not list(tmp_path.glob("weights/*/epochs"))
    results = build_selection_results(study, made)
    assert results.find_score("lstm", IID).n == 36
    assert "| lstm |" in render_selection_markdown(results)
