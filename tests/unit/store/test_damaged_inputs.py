"""What fuzzing found (campaign/fuzz.py): inputs that were read as something else, or ended in a traceback."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shiftscope.errors import UserError
from shiftscope.formats import clevr, gqa, read_objects, vqa
from shiftscope.lang.notations import gqa as dialect
from shiftscope.lang.program import ProgramError
from shiftscope.render.image import encode_srgb, srgb_table
from shiftscope.render.raster import render
from shiftscope.report.runs import arrange_runs
from shiftscope.result import Prediction, QuestionRecord, RunLog, records_of
from shiftscope.run.study.entry_store import EntryStore
from shiftscope.store.run_log import RunWriter, read_run
from shiftscope.store.shard import read_images, read_questions
from shiftscope.store.tables import build_image_table, build_question_table
from store_toys import questions, scene, stored
from study_toys import cell, training


def saved(path, value):
    path.write_text(json.dumps(value))
    return path


@pytest.mark.parametrize(
    "found",
    [
        {"lineage": {"own": "a", "base": "b"}},
        {"lineage": {"own": "a", "base": "b", "root": "c", "leaf": "d"}},
        {"lineage": {"own": 1, "base": 2, "root": 3}},
        {"lineage": [1]},
        {"population": "many"},
        {"missing_images": -1},
    ],
)
def test_a_run_whose_description_was_changed_is_refused(found, tmp_path, refuses):
    with RunWriter(tmp_path, {"model": "m"}) as run:
        run.add([(QuestionRecord("q", ("s",), "yes"), Prediction("q", "yes"))])
        run.finish()
    path = tmp_path / "run.json"
    saved(path, json.loads(path.read_bytes()) | found)
    with refuses("not a run's description"):
        read_run(tmp_path)


@pytest.mark.parametrize("field", ["seconds", "validation"])
@pytest.mark.parametrize("value", [5, [1], "all", None])
def test_a_record_of_a_study_without_its_figures_is_refused(field, value, tmp_path, refuses):
    record = cell(7) if field == "seconds" else training()
    saved(tmp_path / "cell.json", record.to_json() | {field: value})
    with refuses("not a record of a study"):
        EntryStore(tmp_path).read_records()


def test_a_relation_of_one_word_is_refused():
    steps = [
        {"operation": "select", "dependencies": [], "argument": "a (1)"},
        {"operation": "relate", "dependencies": [0], "argument": "b"},
    ]
    with pytest.raises(ProgramError, match="expected name,relation,s or name,relation,o, got 'b'"):
        dialect.read(steps)


@pytest.mark.parametrize("rest", [[], ["Yes."], ["Yes.", ["other", "tokens"]], ["Yes.", [], {"question": {}}]])
def test_a_row_that_ends_early_is_written_as_it_was_read(rest, tmp_path):
    row = ["61", "Is it red?", ["[10]=select(cup)", "?=verify([0], red)"], "3", "yes", *rest]
    read = list(gqa.read_questions(saved(tmp_path / "rows.json", [row])))
    gqa.write_call_rows(tmp_path / "again.json", read)
    assert list(gqa.read_questions(tmp_path / "again.json")) == read


def test_negative_ids_stay_numbers(tmp_path):
    rows = [{"question_id": -5, "image_id": -7, "question": "Is it red?"}]
    vqa.write_questions(tmp_path / "again.json", vqa.read_questions(saved(tmp_path / "q.json", rows)))
    assert json.loads((tmp_path / "again.json").read_bytes()) == rows


@pytest.mark.parametrize(
    ("column", "cells"),
    [("scene", ["{}"]), ("scene", ["not JSON"]), ("scene", [None]), ("boxes", [[[1, 2]]]), ("width", [3])],
)
def test_images_that_nobody_wrote_are_damage(column, cells, tmp_path):
    table = build_image_table([stored("a")])
    refuse_with(table, column, cells, tmp_path / "images.parquet", read_images)


@pytest.mark.parametrize(("column", "cells"), [("notes", ["[1]"]), ("image_ids", [None])])
def test_questions_that_nobody_wrote_are_damage(column, cells, tmp_path):
    table = build_question_table(questions(stored("a"), "test")[:1])
    refuse_with(table, column, cells, tmp_path / "questions.parquet", read_questions)


def refuse_with(table, column, cells, path, read):
    at = table.column_names.index(column)
    pq.write_table(table.set_column(at, column, pa.array(cells, table.schema.field(at).type)), path)
    with pytest.raises(UserError, match=r"is damaged \(.*\); run the shiftscope make"):
        list(read(path))


def test_a_program_without_the_action_that_is_told_in_words_is_refused(tmp_path, refuses):
    """It would be answered about the scene as it is; without a program the words are kept."""
    row = {"question": "Is it red?", "image_filename": "a.png", "action_text": "Paint it.", "action_program": None}
    program = [{"function": "scene", "inputs": []}, {"function": "exist", "inputs": [0]}]
    with refuses("it has an action in words, and a program without it"):
        list(clevr.read_questions(saved(tmp_path / "q.json", {"questions": [row | {"program": program}]})))
    read = list(clevr.read_questions(saved(tmp_path / "q.json", {"questions": [row]})))
    clevr.write_questions(tmp_path / "again.json", read)
    assert list(clevr.read_questions(tmp_path / "again.json")) == read
    assert read[0].action == "Paint it."


@pytest.mark.parametrize("field", ["split", "template_filename", "action_text"])
@pytest.mark.parametrize("value", [0, {}, ["a"]])
def test_words_of_a_question_that_are_none_are_refused(field, value, tmp_path, refuses):
    row = {"question": "Is it red?", "image_filename": "a.png", field: value}
    with refuses("must be text"):
        list(clevr.read_questions(saved(tmp_path / "q.json", {"questions": [row]})))


def test_objects_that_are_nested_deeply_are_refused(tmp_path, refuses):
    (tmp_path / "o.json").write_text('{"a":' * 3000 + "0" + "}" * 3000)
    with refuses("it is nested too deeply"):
        read_objects(tmp_path / "o.json")


def test_light_that_is_no_number_is_painted_all_the_same():
    """It was looked up outside of the table: a camera on the ground ended the process."""
    light = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 0, 1], np.float32)
    out = np.zeros((1, len(light), 3), np.uint8)
    encode_srgb(np.broadcast_to(light, (3, 1, len(light))).copy(), srgb_table(), out)
    assert out[0, -2:, 0].tolist() == [0, 255]


@pytest.mark.parametrize("far", [1e7, 1e30, -1e30, float("nan"), float("inf")])
def test_what_stands_nowhere_is_not_drawn(far, refuses):
    plain = scene("a", 2)
    first, second = plain.objects
    for wild in (
        replace(plain, objects=(replace(first, position=(far, 0.0, 0.35)), second)),
        replace(plain, objects=(replace(first, rotation=far), second)),
        replace(plain, notes=(("camera", (7.0, far, 5.0)),)),
        replace(plain, notes=(("camera", (7.0, -6.0, 5.0)), ("lamps", ((far, 0.0, 0.0), (0.0,) * 3, (0.0,) * 3)))),
    ):
        with refuses("stands nowhere, or further off than 1,000,000"):
            render([wild], (24, 16), ("rgb",))


@pytest.mark.parametrize("height", [0.0, -1.0])
def test_a_camera_stands_above_the_ground(height, refuses):
    with refuses("not above the ground"):
        render([replace(scene("a", 2), notes=(("camera", (7.0, -6.0, height)),))], (24, 16), ("rgb",))


@pytest.mark.parametrize("found", [[1], "all", {"chosen_from": 5}])
def test_a_selection_that_nobody_made_is_refused(found, tmp_path, refuses):
    saved(tmp_path / "selection.json", found)
    log = RunLog((("model", "m"),), records_of([(QuestionRecord("q", ("s",), "yes"), Prediction("q", "yes"))]))
    with refuses("selection.json: not what shiftscope select writes"):
        _ = arrange_runs([(log, tmp_path)]).runs[0].selection


def test_a_column_of_another_type_is_damage(tmp_path, refuses):
    with RunWriter(tmp_path, {"model": "m"}) as run:
        run.add([(QuestionRecord("q", ("s",), "yes"), Prediction("q", "yes"))])
        run.finish()
    path = tmp_path / "predictions.parquet"
    table = pq.read_table(path)
    at = table.column_names.index("image_ids")
    pq.write_table(table.set_column(at, "image_ids", pa.array([{"list": ["s"]}])), path)
    with refuses("is damaged"):
        read_run(tmp_path)
