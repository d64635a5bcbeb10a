"""Studies of held-out splits from nothing to their tables: resumed, and made of stored entries alone."""

import json
from dataclasses import replace

import pytest

from shiftscope.errors import UserError
from shiftscope.metrics.held_out_records import (
    BEFORE,
    EXACT,
    GT_EXEC,
    HELD_OUT,
    OTHER_IMAGES,
    PLAIN,
    HeldOutEntry,
    HeldOutTest,
    HeldOutTraining,
    name_bits,
)
from shiftscope.models.several_images import caption_training
from shiftscope.report.held_out_page import find_matrix, list_held_out_tables, render_held_out_markdown
from shiftscope.run.held_out_study import held_out_study
from shiftscope.run.held_out_study.held_out_study import HeldOutStore, HeldOutStudySpec, study_held_out
from shiftscope.run.held_out_study.test_sets import derive_questions
from shiftscope.store.dataset import Dataset
from shiftscope.suites.covr import study as covr
from shiftscope.suites.gendiff.study import CONTRAST
from shiftscope.suites.held_out_study import load_held_out_study


def watch(monkeypatch, name, see):
    """Let `see` have what one of the study's functions is given."""
    ask = getattr(held_out_study, name)

    def watched(*given, **options):
        see(*given, **options)
        return ask(*given, **options)

    monkeypatch.setattr(held_out_study, name, watched)


TINY = (("width", "16"), ("heads", "2"), ("inside", "32"), ("layers", "1"), ("set_layers", "1"))
PIXELS = (("backbone", "scratch"), ("patch", "16"))


@pytest.mark.full
def test_a_study_is_made_resumed_and_shown(tmp_path, monkeypatch):
    scale = replace(covr.SCALES["small"], scenes=48, questions=(90, 45, 45), sources=12, size=(96, 64), epochs=1)
    monkeypatch.setitem(covr.SCALES, "small", scale)
    told = []
    spec = HeldOutStudySpec(
        "covr",
        tmp_path / "study",
        tmp_path / "cells.jsonl",
        models=("majority_per_template", "visualbert", "visualbert_text"),
        splits=("iid", "has_quant", "has_count_has_attr"),
        settings=TINY + PIXELS,
        device="cpu",
    )
    asked = []
    watch(monkeypatch, "ask_network", lambda *given: asked.append((given[1].folder.name, given[3].images)))
    records = list(study_held_out(spec, tell=told.append))
    assert isinstance(records[0], HeldOutTest) and 0 < records[0].count <= 45
    plain, paraphrased, others = (images for name, images in asked if name == "visualbert-iid")
    assert (plain == paraphrased).all() and len([name for name, _ in asked if name == "visualbert_text-iid"]) == 2
    assert ((plain < 0) == (others < 0)).all(), "as many images"
    assert (plain != others).any(1).mean() > 0.8, "but of other questions"
    entries = {r.training: r for r in records[1:]}
    assert all(isinstance(r, HeldOutEntry) for r in entries.values())
    assert any("has_quant-250_shot is left out" in text for text in told)  # there are fewer than 250
    (held,) = [t for t in entries if t.kind == HELD_OUT and t.split == "has_count_has_attr"]
    with_property = records[0].with_property["has_count_has_attr"]
    assert entries[held].learned == 90 - with_property < 90
    about = json.loads((tmp_path / "study" / "models" / held.label / "model.json").read_text())
    assert about["answerer"]["data"]["part"]["name"] == "has_count_has_attr:train_zero_shot"
    assert about["answerer"]["val_counts"]["right"][1] < 45  # stopped by questions without the property
    assert [text for text in told if "captions" in text] == ["training visualbert-captions"]  # once for all
    told_of = {
        t.model: json.loads((tmp_path / "study" / "models" / t.label / "model.json").read_text())
        for t in entries
        if t.model != "majority_per_template"
    }
    assert about["captions"]["blake2b"] == told_of["visualbert"]["captions"]["blake2b"]
    assert (
        "captions" not in told_of["visualbert_text"]
        and BEFORE not in entries[HeldOutTraining("visualbert_text")].seconds
    )
    assert entries[held].seconds[BEFORE] > 0
    assert not list(study_held_out(spec)), "all is there"
    with monkeypatch.context() as then, pytest.raises(UserError, match="visualbert-captions holds another trained"):
        then.setattr(caption_training, "RULE", caption_training.RULE + 1)
        list(study_held_out(replace(spec, cells=tmp_path / "anew.jsonl")))
    blind = replace(spec, models=("visualbert_text",), splits=("iid",), out=tmp_path / "other")
    again = list(study_held_out(replace(blind, settings=(*spec.settings, ("dropout", "0")))))
    assert len(again) == 1, "planned otherwise, it is trained again"
    page = render_held_out_markdown("covr", HeldOutStore(spec.cells).read_records())
    assert "a trial run of the pipeline" in page and "| has_count_has_attr | " in page
    study = load_held_out_study("covr")
    _, matrix = find_matrix(HeldOutStore(spec.cells).read_records(), study, settings=spec.settings)
    (trainings,) = (table for table in list_held_out_tables(study, matrix) if table.title == "Trainings")
    assert "begin from is trained once and not counted here: visualbert " in trainings.note
    (sight,) = (table for table in list_held_out_tables(study, matrix) if table.title == "What the images add")
    assert {row[0] for row in sight.rows} == {t.label for t in entries if t.model == "visualbert"}  # not its twin


@pytest.mark.full
def test_a_study_of_generalization_tests_is_made_resumed_and_shown(tmp_path, monkeypatch):
    scale = replace(covr.SCALES["small"], scenes=60, questions=(180, 45, 60), sources=16, size=(96, 64), epochs=1)
    monkeypatch.setitem(covr.SCALES, "small", scale)
    spec = HeldOutStudySpec(
        "gendiff",
        tmp_path / "study",
        tmp_path / "cells.jsonl",
        models=("majority", "visualbert", "t5", "composing", "nsvqa"),
        splits=("iid", "tpl_verify_attr", "other", "k_shot"),
        shots=(0, 1),
        settings=PIXELS,
        device="cpu",
    )
    told, weights = [], {}
    watch(monkeypatch, "ask_model", lambda *given, by="", folder, **how: weights.setdefault(folder.parts[-2], by))
    records = list(study_held_out(spec, tell=told.append))
    parsers = [by for label, by in weights.items() if label.startswith(("t5", "composing"))]
    assert len(parsers) == len(set(parsers)) > 4 and all(parsers), "answers are kept for the weights that gave them"
    tests = {r.test_set: r for r in records if isinstance(r, HeldOutTest)}
    assert {"", "segment_combine", "contrast", "other", "objects"} == set(tests)
    entries = {(r.training, r.test_set): r for r in records if isinstance(r, HeldOutEntry)}
    trained = {training for training, _ in entries}
    assert {t.kind for t in trained} == {"iid", "held_out", "other", "k_shot"}
    known = entries[HeldOutTraining("t5"), ""].learned
    shots = [t for t in trained if t.kind == "k_shot"]
    assert {t.model for t in shots} == {"visualbert", "t5", "composing"}
    assert {entries[t, "contrast"].learned for t in shots} == {known + 1}  # added to the whole training set
    assert entries[HeldOutTraining("t5", HELD_OUT, "tpl_verify_attr"), ""].learned < known
    study = load_held_out_study("gendiff")
    _, matrix = find_matrix(records, study, settings=PIXELS)
    exact = matrix.measure_accuracy(HeldOutTraining("composing"), wording=name_bits(PLAIN, EXACT))
    gt = matrix.measure_accuracy(HeldOutTraining("composing"), wording=name_bits(PLAIN, GT_EXEC))
    assert gt.value >= exact.value > 0.3  # an exact program is right on the true scenes
    assert not list(study_held_out(spec)), "all is there"
    plan, data = next(one for one in study.test_sets if one.name == CONTRAST), tmp_path / "study" / "data"
    given = plan, Dataset.open(data / "main"), data / CONTRAST
    assert derive_questions(given[0], given[1], "test", given[2], plan.limit)
    for split, limit in (("train", plan.limit), ("test", 3)):
        with pytest.raises(UserError, match="holds other questions"):
            derive_questions(given[0], given[1], split, given[2], limit)
    page = render_held_out_markdown("gendiff", HeldOutStore(spec.cells).read_records())
    assert "a trial run of the pipeline" in page and "## Table 8" in page
    drawn = {(t.split, t.shots, t.seed) for t in shots if t.model == "t5"}  # this row may lack test questions
    assert drawn == {("verify_quant: some → none of the", 1, seed) for seed in (0, 1)}


@pytest.mark.full
def test_a_model_of_one_image_learns_from_and_is_asked_about_the_other_benchmark(tmp_path, monkeypatch):
    scale = replace(covr.SCALES["small"], scenes=60, questions=(90, 45, 45), sources=12, size=(96, 64), epochs=1)
    monkeypatch.setitem(covr.SCALES, "small", scale)
    spec = HeldOutStudySpec(
        "gendiff",
        tmp_path / "study",
        tmp_path / "cells.jsonl",
        models=("lxmert", "nsvqa"),
        splits=("iid", "other"),
        settings=(("text_layers", "1"), ("image_layers", "1")),
        device="cpu",
    )
    entries = [r for r in study_held_out(spec) if isinstance(r, HeldOutEntry)]
    assert {(e.training.model, e.training.kind, e.test_set) for e in entries} == {
        (model, "other", test_set) for model in ("lxmert", "nsvqa") for test_set in ("other", "objects")
    }
    exchanged = {(e.training.model, e.test_set) for e in entries if OTHER_IMAGES in e.right}
    assert exchanged == {("lxmert", "other")}, "on the questions like those it learned from"
    (learned,) = {e.learned for e in entries if e.training.model == "lxmert"}
    study = load_held_out_study("gendiff")
    other = study.build_spec(study.find_scale("small"), "other")
    assert learned == 40 * other.questions  # two thirds of its images
    _, matrix = find_matrix(HeldOutStore(spec.cells).read_records(), study, settings=spec.settings)
    tables = {table.title.split(":")[0]: table for table in list_held_out_tables(study, matrix)}
    for title in ("Table 2", "Table 5"):
        column = tables[title].columns.index("lxmert")
        measured = [row[column] for row in tables[title].rows if not row[column].startswith("–")]
        assert len(measured) == {"Table 2": 4, "Table 5": 2}[title]
