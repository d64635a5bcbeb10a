"""A study of COVR's held-out splits from nothing to its tables: resumed, and made of stored entries alone."""

import json
from dataclasses import replace

import pytest

from shiftscope.metrics.held_out_matrix import HELD_OUT, HeldOutEntry, HeldOutTest
from shiftscope.report.held_out_page import render_held_out_markdown
from shiftscope.run.held_out_study.held_out_study import HeldOutStore, HeldOutStudySpec, study_held_out
from shiftscope.suites.covr import study as covr

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
    records = list(study_held_out(spec, tell=told.append))
    assert isinstance(records[0], HeldOutTest) and 0 < records[0].count <= 45
    entries = {r.training: r for r in records[1:]}
    assert all(isinstance(r, HeldOutEntry) for r in entries.values())
    assert any("has_quant-250_shot is left out" in text for text in told)  # there are fewer than 250
    (held,) = [t for t in entries if t.kind == HELD_OUT and t.split == "has_count_has_attr"]
    with_property = records[0].with_property["has_count_has_attr"]
    assert entries[held].learned == 90 - with_property < 90
    about = json.loads((tmp_path / "study" / "models" / held.label / "model.json").read_text())
    assert about["answerer"]["data"]["part"]["name"] == "has_count_has_attr:train_zero_shot"
    assert about["answerer"]["val_counts"]["right"][1] < 45  # stopped by questions without the property
    assert not list(study_held_out(spec)), "all is there"
    page = render_held_out_markdown("covr", HeldOutStore(spec.cells).read_records())
    assert "a trial run of the pipeline" in page and "| has_count_has_attr | " in page
