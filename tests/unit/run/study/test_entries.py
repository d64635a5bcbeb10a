"""Cells: what is kept of a model on a test, read back as it was written, refused where it does not add up."""

import json
from dataclasses import replace

import numpy as np
import pytest

from shiftscope.errors import UserError
from shiftscope.metrics.calibration import Reliability
from shiftscope.metrics.transfer_matrix import EntryOutcome
from shiftscope.model import get_traits
from shiftscope.run.study.entries import TransferEntry, parse_record
from shiftscope.run.study.entry_store import EntryStore, merge_records
from shiftscope.schemas.superclevr import SCHEMA
from shiftscope.suites.superclevr.study import SCALES, STUDY, StudyDomain, TrainingSetup, factor_grid
from study_toys import TOY, cell, diagnosis, training


def test_an_outcome_keeps_every_answer_in_its_place():
    right = np.array([1, 0, 1, 1, 0, 0, 1], bool)
    outcome = EntryOutcome.from_arrays(right, np.array([3, 0, 4]), undefined=2)
    assert (outcome.asked, outcome.right, outcome.undefined) == (7, 4, 2)
    assert outcome.unpack_hits().tolist() == right.tolist()
    assert outcome.image_of_questions().tolist() == [0, 0, 0, 2, 2, 2, 2]
    assert EntryOutcome.from_json(json.loads(json.dumps(outcome.to_json()))) == outcome


def test_equal_numbers_of_questions_are_kept_as_one():
    outcome = EntryOutcome.from_arrays(np.ones(6, bool), np.array([3, 3]))
    assert outcome.each == 3
    assert outcome.image_of_questions().tolist() == [0, 0, 0, 1, 1, 1]


def test_a_test_without_questions_of_a_sort_has_an_empty_outcome():
    outcome = EntryOutcome.from_arrays(np.ones(0, bool), np.zeros(4, int))
    assert outcome.asked == 0
    assert len(EntryOutcome.from_json(outcome.to_json()).unpack_counts()) == 4


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("right", 5, "4 of 7 bits are set, not 5 of 7"),
        ("undefined", 4, "4 undefined answers among 3 not right"),
        ("bits", "????", "packed bits cannot be read"),
    ],
)
def test_an_outcome_that_does_not_add_up_is_refused(field, value, why):
    outcome = EntryOutcome.from_arrays(np.array([1, 0, 1, 1, 0, 0, 1], bool), np.array([3, 4]))
    with pytest.raises(ValueError, match=why):
        EntryOutcome.from_json(outcome.to_json() | {field: value})


def test_beliefs_are_kept_in_bins():
    belief = np.array([0.95, 0.92, 0.05, np.nan, 1.0])
    made = Reliability.from_confidences(belief, np.array([True, False, True, True, True]), bins=10)
    assert made.count == (1, 0, 0, 0, 0, 0, 0, 0, 0, 3)
    assert made.right == (1, 0, 0, 0, 0, 0, 0, 0, 0, 2)
    # |0.05 − 1| and |0.95 + 0.92 + 1 − 2|, over 4
    assert made.calibration_error == pytest.approx((0.95 + 0.87) / 4)
    assert Reliability.from_json(made.to_json()) == made


@pytest.mark.parametrize("record", [cell(7), training(), diagnosis()], ids=lambda r: r.KIND)
def test_a_record_is_read_back_as_it_was_written(record, tmp_path):
    for shelf in (EntryStore(tmp_path / "cells"), EntryStore(tmp_path / "cells.jsonl")):
        assert shelf.read_records() == []
        shelf.add(record)
        shelf.add(record)
        assert shelf.read_records() == [record]


def test_conditions_are_part_of_an_entry():
    made = replace(cell(7, under=("predicted", "both"), split="val"), adapted=("norm", "part priors"))
    assert made.model == "p_nsvqa, predicted, both"
    assert made.name.startswith("toy-p_nsvqa+predicted+both-default-default-val-")
    assert parse_record(json.loads(json.dumps(made.to_json()))) == made
    unchanged = replace(made, adapted=())  # its outcomes are those without adaptation
    assert unchanged.to_json()["outcomes"] == {}


def test_what_was_learned_of_beliefs_is_kept_where_it_is_known():
    assert "learned" not in cell(7).to_json()
    made = cell(7, learned="abc")
    assert parse_record(json.loads(json.dumps(made.to_json()))) == made
    assert made.name != cell(7).name


def test_a_field_that_nobody_knows_is_refused():
    with pytest.raises(ValueError, match="fields that are not known"):
        parse_record(cell(7).to_json() | {"more": 1})


def test_a_cell_of_another_number_of_images_is_refused():
    data = cell(7).to_json()
    data["scale"]["images"] = 66
    with pytest.raises(ValueError, match="object questions about 10 images, not 11"):
        parse_record(data)


def test_a_cell_changed_by_hand_is_refused(tmp_path):
    shelf = EntryStore(tmp_path)
    shelf.add(cell(7))
    (path,) = tmp_path.glob("*.json")
    path.write_text(path.read_text().replace('"cpu"', '"cuda"'))
    with pytest.raises(UserError, match="changed by hand"):
        shelf.read_records()
    path.write_text("{}")
    with pytest.raises(UserError, match="not a record of a study"):
        shelf.read_records()


def test_a_line_that_a_kill_cut_short_is_lost_alone(tmp_path):
    path = tmp_path / "cells.jsonl"
    shelf = EntryStore(path)
    shelf.add(cell(7))
    with path.open("a") as file:
        file.write('{"format": 1, "ki')
    assert shelf.read_records() == [cell(7)]
    shelf.add(cell(8))
    assert len(shelf.read_records()) == 2


def test_merging_only_adds(tmp_path):
    lines, folder = EntryStore(tmp_path / "from.jsonl"), tmp_path / "cells"
    for record in (cell(7), cell(8), training()):
        lines.add(record)
    assert merge_records([lines.path], folder) == (3, 3, 0, ())
    assert merge_records([lines.path], folder) == (3, 0, 0, ())
    assert EntryStore(folder).read_records() == lines.read_records()
    with lines.path.open("a") as file:
        file.write('{"format": 1, "ki')
    assert merge_records([lines.path], folder) == (3, 0, 0, (str(lines.path),))
    with pytest.raises(UserError, match="no such file"):
        merge_records([tmp_path / "none.jsonl"], folder)
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(UserError, match="no record of a study"):
        merge_records([tmp_path / "empty.jsonl"], folder)


def test_the_names_of_files_tell_what_they_hold():
    made = cell(7, TrainingSetup(StudyDomain.from_name("slt", "hard"), "rd", 0), StudyDomain.from_name("head", "hard"))
    assert made.name.startswith("toy-p_nsvqa-slt_hard-head_hard-")
    assert isinstance(made, TransferEntry)


def test_the_default_stands_for_four_variants():
    assert (
        StudyDomain.from_name("mid")
        == StudyDomain.from_name("bal")
        == StudyDomain.from_name("co-0")
        == StudyDomain.from_name("rd")
        == StudyDomain()
    )
    assert StudyDomain.from_name("bal", "hard") == StudyDomain.from_name("hard") == StudyDomain("hard", "hard")
    assert TrainingSetup.from_name("rd-") == TrainingSetup(StudyDomain(), "rd-")
    assert TrainingSetup.from_name("rd-", "hard") == TrainingSetup(StudyDomain.from_name("hard"), "rd-")


def test_the_matrix_is_that_of_the_paper():
    rows = {row.trained.label: [t.label for t in row.tests] for row in STUDY.plan_rows()}
    assert rows["easy"] == rows["hard"] == ["easy", "default", "hard"]
    assert rows["default rd-"] == ["rd-", "default", "rd+"]
    assert rows["slt"] == ["default", "slt", "long", "head", "tail", "oppo"]
    assert rows["co-1"] == ["default", "co-1", "co-2"]
    assert len(rows["default"]) == 12
    assert list(rows)[:3] == ["default", "default rd-", "default rd+"]
    assert len(rows) == 9
    hard = {row.trained.label: len(row.tests) for row in STUDY.plan_rows(["distribution"], "hard")}
    assert hard == {"hard": 6, "slt@hard": 6, "long@hard": 6}
    assert [g.title for g in STUDY.grids][-2:] == ["distribution@hard", "redundancy, plain"]
    assert len(STUDY.pairs) == 59


def test_only_some_trainings_can_be_chosen():
    assert [r.trained.label for r in STUDY.plan_rows(only=["mid", "rd-"])] == ["default", "default rd-"]
    assert [r.trained.label for r in STUDY.plan_rows(only=["default"], seeds=[0, 1])] == ["default", "default seed 1"]
    (row,) = STUDY.plan_rows(only=["default"], tests=["mid", "head"])
    assert [at.label for at in row.tests] == ["default", "head"]
    with pytest.raises(UserError, match="no test set 'head' in the factors chosen"):
        STUDY.plan_rows(["visual"], tests=["head"])
    with pytest.raises(UserError, match="no training 'slt' in the factors chosen"):
        STUDY.plan_rows(["visual"], only=["slt"])
    with pytest.raises(UserError, match="no factor 'colour'"):
        factor_grid("colour")


def test_plain_question_parsers_are_trained_by_name():
    rows = STUDY.plan_rows(["redundancy"], only=["rd+ plain", "rd plain"])
    assert {r.trained.label: [t.label for t in r.tests] for r in rows} == {
        "default plain": ["rd-", "default", "rd+"],
        "default rd+ plain": ["rd-", "default", "rd+"],
    }
    trained = rows[0].trained
    assert TrainingSetup.from_json(trained.to_json()) == trained
    scene, questions = STUDY.list_parts(trained, TOY, "neuro_symbolic")
    assert (scene.name, questions.name) == ("toy-scene-default-0", "toy-questions-default-plain-0")
    assert STUDY.suits("neuro_symbolic", trained) and not STUDY.suits("film", trained)
    stages = get_traits("nsvqa").trainable.configure(dict(questions.settings)).stages
    told = [stage.describe(SCHEMA) for stage in stages]
    assert (told[1]["config"]["enriched"], told[1]["config"]["stripped"]) == (0.0, 0.0)
    assert told[0] == get_traits("nsvqa").trainable.stages[0].describe(SCHEMA)
    with pytest.raises(
        UserError, match="no setting questions=short of the neuro-symbolic models; there is questions=plain"
    ):
        get_traits("nsvqa").trainable.configure({"questions": "short"})


def test_end_to_end_models_learn_images_and_questions_of_one_domain():
    (part,) = STUDY.list_parts(TrainingSetup.from_name("rd-"), TOY, "film")
    assert (part.model, part.only, part.domain.label, part.name) == ("film", "", "rd-", "toy-film-rd--0")
    (part,) = STUDY.list_parts(TrainingSetup.from_name("slt", "hard"), TOY, "film")
    assert part.domain.label == "slt@hard"


def test_a_scale_of_another_size_has_another_name():
    assert STUDY.find_scale("paper") is SCALES["paper"]
    assert SCALES["paper"].test_images == 5000
    assert STUDY.find_scale("small", 60).name == "small-60"
    assert STUDY.find_scale("small", 60) != TOY
    with pytest.raises(UserError, match="too few"):
        STUDY.find_scale("small", 6)
