"""shiftscope study clevr_hyp, as small as it can be: it is cut short, resumed, and done once."""

from dataclasses import replace
from itertools import islice

import pytest

from command import here, refused
from shiftscope.run.study import model_study
from shiftscope.run.study.model_records import ModelRecordStore, collect_results
from shiftscope.run.study.model_study import ModelStudySpec, name_data, run_model_study
from shiftscope.suites.clevr_hyp.study import STUDY

TINY = replace(STUDY.find_scale("small"), name="tiny", images=14, shard=14, limit=10)


@pytest.mark.full
def test_a_study_of_models_resumes_and_does_nothing_twice(tmp_path, monkeypatch):
    spec = ModelStudySpec(
        *(STUDY, tmp_path / "study", tmp_path / "cells.jsonl", TINY),
        models=("random_uniform", "scene_edit"),
        tests=("test", "two_hop_questions"),
        device="cpu",
    )
    asked = []
    evaluate = model_study.evaluate

    def stop_at_the_third(*given, **how):
        asked.append(given[0].split)
        if len(asked) == 3:
            raise KeyboardInterrupt  # as the end of the minutes
        return evaluate(*given, **how)

    monkeypatch.setattr(model_study, "evaluate", stop_at_the_third)
    told = []
    first = list(run_model_study(spec, tell=told.append))
    assert [record.label for record in first] == [
        *("random (27 answers alike)-test", "random (27 answers alike)-two_hop_questions"),
        *("training-clevr_scene", "training-scene_edit"),
    ]
    assert told[-1] == "the minutes are over; the same command resumes from here"
    monkeypatch.setattr(model_study, "evaluate", evaluate)
    rest = list(run_model_study(spec))
    assert [record.label for record in rest] == [
        *("scene_edit-test", "scene_edit-two_hop_questions", "training-scene_edit_reinforced"),
        *(f"scene_edit, {how}-{split}" for how in ("reinforced", "oracle scene") for split in spec.tests),
        *("training-scene_edit_recombined", *(f"scene_edit, recombined-{split}" for split in spec.tests)),
    ]
    assert not list(run_model_study(spec))
    results = collect_results(ModelRecordStore(spec.cells).read_records(), TINY, name_data(STUDY, TINY))
    assert results.find("scene_edit", "test")[3] == 10
    actions = {(q.scenes, q.action) for q in islice(model_study.Dataset.open(spec.out / "data").questions("test"), 10)}
    assert results.find("scene_edit", "test", "outcome")[3] == len(actions)  # each once
    assert results.trainings["scene_edit"].curves.keys() == {"action_parser", "question_parser"}


def test_options_of_shifts_are_refused(tmp_path):
    asked = ("study", "clevr_hyp", "--factors", "visual", "--out", tmp_path / "study")
    assert "No such option: --factors" in refused(here(*asked))
    assert not (tmp_path / "study").exists()
