"""`shiftscope study superclevr | clevr` on stored cells: tables, pages, merging, and what they refuse."""

import json

import pytest

from command import here, refused
from shiftscope.run.study.entry_store import EntryStore
from study_toys import VISUAL, factor, training


@pytest.fixture
def lines(tmp_path):
    shelf = EntryStore(tmp_path / "from.jsonl")
    for record in (*factor(VISUAL), *factor(VISUAL, "nsvqa"), training()):
        shelf.add(record)
    return shelf.path


def study(*words):
    return here("study", "superclevr", *words)


def test_cells_from_another_machine_become_tables_and_pages(lines, tmp_path):
    cells, page = tmp_path / "cells", tmp_path / "page.md"
    assert "19 of 19 records were new" in here("study", "superclevr", "--merge", lines, "--cells", cells).stdout
    told = study("--tables", "--cells", cells, "--page", page, "--out", tmp_path / "study")
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("Scale toy: a trial run of the pipeline.")
    assert "Table 2, Relative Degrade, %" in told.stdout
    assert "| p_nsvqa | tabulated | 41.67 ±" in page.read_text()
    assert (tmp_path / "study" / "report.html").stat().st_size > 10_000


def test_tables_for_programs(lines):
    told = [json.loads(line) for line in study("--tables", "--cells", lines, "--json").stdout.splitlines()]
    visual = next(t for t in told if t["table"] == "Table 1, visual")
    assert ["nsvqa", "easy"] in [row[:2] for row in visual["rows"]]


def test_clevrs_page_is_made_where_only_the_data_set_beside_is_measured(lines, tmp_path):
    page = tmp_path / "clevr.md"
    told = here("study", "clevr", "--tables", "--cells", tmp_path / "none", "--known", lines, "--page", page)
    assert told.returncode == 0, told.stderr
    assert "Figure 3, in domain on CLEVR and on Super-CLEVR" in told.stdout
    assert "0 of 10 entries" in page.read_text() and "| lstm | – | – | – |" in page.read_text()
    assert "no entries there yet" in refused(here("study", "clevr", "--tables", "--cells", lines))


@pytest.mark.full
def test_a_study_of_clevr_trains_answers_and_resumes(tmp_path):
    command = ("study", "clevr", "--images", "12", "--models", "lstm", "--device", "cpu", "--out", tmp_path / "study")
    told = here(*command)
    assert told.returncode == 0, told.stderr
    assert "cell  default  default  lstm" in told.stdout and "Figure 3" in told.stdout
    assert (tmp_path / "study" / "runs" / "in-domain" / "lstm-default-default" / "run.json").exists()
    again = here(*command)
    assert "cell  " not in again.stdout and "Figure 3" in again.stdout


def test_options_that_clevr_has_no_use_for_are_refused(tmp_path):
    for options, why in (
        (("--factors", "visual"), "no factor 'visual' in clevr's study; known: in-domain"),
        (("--visual", "hard"), "omit --visual"),
        (("--train", "hard"), "no training 'hard'"),
    ):
        assert why in refused(here("study", "clevr", "--out", tmp_path / "study", *options))
    assert not (tmp_path / "study").exists()


def test_a_piece_that_ends_before_its_first_entry_is_no_error(tmp_path):
    told = study("--out", tmp_path / "study", "--images", "12", "--models", "lstm", "--minutes", "0.00001")
    assert told.returncode == 0 and not told.stdout, told.stderr
    assert "the minutes are over" in told.stderr


def test_what_is_refused(tmp_path):
    assert "--out" in refused(study())
    assert "no entries there yet" in refused(study("--tables", "--cells", tmp_path / "none"))
    assert "no scale 'papre'; did you mean 'paper'?" in refused(study("--out", tmp_path, "--scale", "papre"))
    assert "no model 'oracle'" in refused(study("--out", tmp_path, "--models", "oracle"))
    assert "whole numbers" in refused(study("--out", tmp_path, "--seeds", "a"))
    assert "add --tables" in refused(study("--out", tmp_path, "--page", tmp_path / "p.md"))
    assert "no factor 'colour'" in refused(study("--out", tmp_path, "--factors", "colour"))
    (tmp_path / "notes.txt").write_text("mine")
    assert "is not empty and holds no study" in refused(study("--out", tmp_path))
    assert "is a file" in refused(study("--out", tmp_path / "notes.txt"))
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
