"""Stored cells are what the code reads and writes, and the results page is made from them."""

import re
from pathlib import Path

import pytest

from shiftscope.metrics.model_selection import build_selection_results
from shiftscope.registry import STUDIES
from shiftscope.report.held_out_page import render_held_out_markdown
from shiftscope.report.model_study_page import render_model_study
from shiftscope.report.selection_page import render_selection_markdown
from shiftscope.report.study_page import render_markdown
from shiftscope.run.held_out_study.held_out_study import HeldOutStore
from shiftscope.run.selection_study.selection_study import SelectionStore
from shiftscope.run.study.entries import RECORD_KINDS, TrainingRecord
from shiftscope.run.study.entry_store import EntryStore
from shiftscope.run.study.model_records import ModelRecordStore
from shiftscope.run.study.model_study import read_results
from shiftscope.suites.held_out_study import load_held_out_study
from shiftscope.suites.model_study import load_model_study
from shiftscope.suites.study import HELD_OUT, list_studies, load_study

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@pytest.mark.parametrize("suite", list_studies())
def test_every_stored_record_is_read(suite):
    shelf = EntryStore(RESULTS / load_study(suite).stored)
    strange = [p.name for p in shelf.path.iterdir() if p.suffix != ".json"] if shelf.path.is_dir() else []
    assert not [name for name in strange if name != "README.md"]
    for record in shelf.read_records():  # refuses what does not fit the schema, or was changed by hand
        assert record.KIND in RECORD_KINDS and record.origin.suite == suite
        assert record.origin.scale.name == "paper", "cells of trials are not kept here"


@pytest.mark.parametrize("suite", list_studies())
def test_stored_commands_name_no_folder_of_a_machine(suite):
    stored = EntryStore(RESULTS / load_study(suite).stored).read_records()
    commands = [record.command for record in stored if isinstance(record, TrainingRecord)]
    assert not [one for one in commands if " /" in one]


@pytest.mark.parametrize("suite", list_studies())
def test_the_results_page_is_fresh(suite):
    """It names the command that makes it, and the version of the data where that is not today's."""
    page = (RESULTS / f"{suite}.md").read_text("utf-8")
    command = re.match(r"<!-- made by `(.*?)`", page)[1]
    given = re.search(r" --data-version (\d+)", command)
    study = load_study(suite)
    folders = [load_study(name).stored for name in (suite, study.beside) if name]
    stored = [record for folder in folders for record in EntryStore(RESULTS / folder).read_records()]
    assert page == render_markdown(stored, int(given[1]) if given else None, study.find_scale("paper")), (
        f"run `{command}`"
    )


def test_the_page_of_a_study_of_models_is_fresh():
    study, cells = load_model_study("clevr_hyp"), RESULTS / "clevr_hyp"
    page = (RESULTS / "clevr_hyp.md").read_text("utf-8")
    command = re.match(r"<!-- made by `(.*?)`", page)[1]
    assert page == render_model_study(study, read_results(study, cells), "docs/results/clevr_hyp"), f"run `{command}`"
    for record in ModelRecordStore(cells).read_records():
        assert record.origin.scale == "paper", "results of trials are not kept here"


@pytest.mark.parametrize("suite", list_studies(HELD_OUT))
def test_the_pages_of_held_out_splits_are_fresh(suite):
    page = (RESULTS / f"{suite}.md").read_text("utf-8")
    command = re.match(r"<!-- made by `(.*?)`", page)[1]
    shared = load_held_out_study(suite).data_suite  # whose entries count here too
    stored = [r for name in (shared, suite) if name for r in HeldOutStore(RESULTS / name).read_records()]
    assert page == render_held_out_markdown(suite, stored), f"run `{command}`"


def test_the_page_of_model_selection_is_fresh():
    page = (RESULTS / "vqa_vs.md").read_text("utf-8")
    command = re.match(r"<!-- made by `(.*?)`", page)[1]
    results = build_selection_results(STUDIES.load("vqa_vs").STUDY, SelectionStore(RESULTS / "vqa_vs").read_records())
    assert page == render_selection_markdown(results), f"run `{command}`"
