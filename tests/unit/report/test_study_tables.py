"""Tables and pages from stored cells: what is measured beside what is reported, nothing filled in."""

from dataclasses import replace

import pytest

from shiftscope.errors import UserError
from shiftscope.metrics.significance import PairedTest
from shiftscope.report.sections.ablations import ablation_table
from shiftscope.report.sections.attribution import diagnosis_tables
from shiftscope.report.sections.cost import throughput_table, training_tables
from shiftscope.report.sections.degrade import degrade_table
from shiftscope.report.sections.headline import format_gain, in_domain_table, model_comparison_table
from shiftscope.report.sections.method import section as method_section
from shiftscope.report.sections.not_measured import missing_table
from shiftscope.report.sections.transfer import accuracy_table
from shiftscope.report.study_page import build_study_page, list_tables, render_markdown, write_study_page
from shiftscope.run.study.entries import ORACLES
from shiftscope.run.study.entry_store import build_transfer_matrix
from shiftscope.suites.parser_study import MODELS
from shiftscope.suites.superclevr.study import StudyDomain, TrainingSetup, factor_grid
from study_toys import TOY, VISUAL, cell, changed, diagnosis, factor, training


def board(*cells):
    return build_transfer_matrix(cells, TOY)


def differences(matrix):
    return method_section(matrix).tables[0]


def row(table, *start):
    return next(r for r in table.rows if r[: len(start)] == start)


def test_table_1_has_what_is_measured_beside_what_is_reported():
    made = accuracy_table(board(*factor(VISUAL)), factor_grid("visual"))
    assert made.columns[2:6] == ("on easy", "on easy, parts", "on mid", "on mid, parts")
    assert [c.split(" ± ")[0] for c in row(made, "p_nsvqa", "easy")[2::2]] == ["80.00", "60.00", "40.00"]
    assert row(made, "P-NSVQA, reported", "hard")[2::2] == ("96.37", "95.11", "95.36")
    assert row(made, "nsvqa", "mid")[2:] == ("–",) * 6
    assert row(made, "film", "easy")[2:] == ("–",) * 6  # planned, and visibly not measured
    assert row(made, "FiLM, reported", "easy")[2] == "59.96"


def test_part_questions_stand_beside_object_questions_without_reported_figures():
    made = accuracy_table(board(*factor(VISUAL)), factor_grid("visual"))
    assert row(made, "p_nsvqa", "easy")[3].startswith("50.00")
    assert row(made, "P-NSVQA, reported", "easy")[3] == ""


def test_no_table_mixes_positions():
    there = cell(15, under=("predicted",)), cell(10, model="nsvqa", under=("predicted",)), cell(20)
    boxes, predicted = (accuracy_table(board(*there), factor_grid("visual"), p) for p in ("boxes", "predicted"))
    assert predicted.title == "Table 1, visual, predicted positions"
    assert [row(one, "p_nsvqa", "mid")[4].split(" ± ")[0] for one in (boxes, predicted)] == ["100.00", "75.00"]
    assert [row(one, "nsvqa", "mid")[4].split(" ± ")[0] for one in (boxes, predicted)] == ["–", "50.00"]
    assert not [r for r in predicted.rows if r[0] == "film" or "reported" in r[0]]
    assert [t.title for t in list_tables(board(*there))].count(predicted.title) == 1


def test_validation_has_tables_of_its_own():
    made = board(cell(15), cell(12, split="val"))
    assert made.find_score("p_nsvqa", TrainingSetup(), StudyDomain(), "object").value == 0.75
    table = accuracy_table(made.validation, factor_grid("visual"))
    assert table.title == "Table 1, visual, validation split"
    assert row(table, "p_nsvqa", "mid")[4].startswith("60.00")
    assert board(cell(15)).validation is None


def test_ablations_are_over_the_pairs_that_all_rows_have():
    hard = StudyDomain.from_name("hard")
    plain = [cell(n, tested=at) for n, at in ((20, StudyDomain()), (10, hard))]
    kept = replace(cell(15, tested=hard, under=("boxes", "norm")), adapted=("norm",))
    unchanged = replace(cell(1, under=("boxes", "norm")), adapted=())  # whose outcomes are not its own
    alone = cell(3, model="nsvqa")  # no entry on hard
    made = ablation_table(board(*plain, kept, unchanged, alone))
    assert made.columns[:6] == (
        "rules, inference",
        "positions",
        "adaptation",
        "kept in",
        "mean, objects",
        "mean, parts",
    )
    assert [r[:6] for r in made.rows] == [
        ("nsvqa", "boxes", "none", "–", "15.00", "50.00"),
        ("p_nsvqa", "boxes", "none", "–", "100.00", "50.00"),
        ("p_nsvqa", "boxes", "norm", "0", "100.00", "50.00"),
    ]
    made = ablation_table(board(*plain, kept, unchanged))
    assert [r[3:5] for r in made.rows] == [("–", "75.00"), ("1", "87.50")]
    assert made.rows[1][6:] == ("100.00", "75.00")  # default → default, default → hard


def test_what_is_not_measured_is_told_with_its_command():
    made = missing_table(board(*factor(VISUAL)))
    assert row(made, "mdetr")[1:] == ("all 59 pairs", "no such model in this version") or "mdetr" in MODELS
    _, lacking, command = row(made, "p_nsvqa")
    assert lacking.startswith("default rd- (3), default (9), ") and "easy" not in lacking
    assert command == "shiftscope study superclevr --scale toy --models p_nsvqa --out DIR"


def test_table_2_has_four_forms():
    made = degrade_table(board(*factor(VISUAL)))
    forms = {form: row(made, "p_nsvqa", form)[2].split(" ± ")[0] for form in ("printed", "tabulated")}
    assert forms == {"printed": "20.83", "tabulated": "41.67"}
    assert made.columns[2:4] == ("visual", "visual, parts")
    assert row(made, "P-NSVQA, reported", "absolute")[2:4] == ("12.88", "")
    assert row(made, "p_nsvqa_exact", "printed")[2] == "–"
    assert row(made, "FiLM, reported", "absolute")[2] == "4.03"


def test_three_seeds_with_their_spread():
    seeds = [cell(n, TrainingSetup(seed=k)) for k, n in enumerate((18, 19, 20))]
    made = row(in_domain_table(board(*seeds)), "p_nsvqa, object questions")
    assert [c.split(" ± ")[0] for c in made[1:4]] == ["90.00", "95.00", "100.00"]
    assert made[4].startswith("95.00 ± 12.42")  # Student's 4.303 · 5 / √3
    assert made[5] == "5.00"
    assert made[6] == "95.76"
    assert row(in_domain_table(board(cell(18))), "p_nsvqa, object questions")[4:6] == ("–", "–")


def test_models_are_compared_cell_by_cell():
    made = model_comparison_table(board(cell(15), cell(10, model="nsvqa")))
    (only,) = made.rows
    assert made.columns[2:4] == ("p_nsvqa − nsvqa, objects", "p_nsvqa − nsvqa, parts")
    assert only[2].startswith("+25.00 ± ") and ", p = 0." in only[2]
    assert only[3].startswith("0.00") and only[4:] == ("–",) * 4


@pytest.mark.parametrize(("p", "told"), [(0.0009, ""), (0.001, ", p = 0.001"), (0.3, ", p = 0.30"), (None, "")])
def test_of_a_gain_only_a_p_that_leaves_a_doubt_is_told(p, told):
    assert format_gain(PairedTest(40, 5, 1, 0.02, -0.01, 0.03, p)) == f"+2.00 ± 3.00{told}"


def test_speed_is_over_all_stages():
    # 10 images in 2 s, 30 questions read in 3 s and run in 1 s
    assert row(throughput_table(board(cell(15))), "p_nsvqa")[1:5] == ("5", "10", "30", "5")


def oracle_table(given):
    return next(diagnosis_tables(board(cell(15), diagnosis(given))))


def test_an_oracle_that_a_diagnosis_lacks_is_a_dash():
    new, old = oracle_table(ORACLES), oracle_table(ORACLES[:4])
    assert new.columns[2] == "true objects, own relations"
    assert row(new, "nsvqa, object questions")[1:] == ("75.00", "95.00", "80.00", "85.00", "90.00")
    assert row(old, "nsvqa, object questions")[1:] == ("75.00", "–", "80.00", "85.00", "90.00")
    assert "as under `run --condition`" in new.note
    assert "older than the column" in old.note


def test_the_time_of_a_training_is_summed_over_parsers_and_data():
    times, told, reached = training_tables(board(cell(15), training()))
    assert told.rows == (("neuro_symbolic, default", "shiftscope study …"),)
    (only,) = times.rows
    assert only[2:5] == ("100 s", "5.3 min", "7.00 min")
    assert reached.rows == (("color", "99.00"), ("part name", "90.00"))
    times, *_ = training_tables(board(cell(15), training(took=(("scene, data", 60.0),))))
    assert times.rows[0][2:5] == ("60 s", "–", "–")


def test_what_differs_from_the_paper_is_computed_where_cells_tell():
    def loss(*cells):
        return row(differences(board(*cells)), "co-0 → co-1, object questions")[1:]

    assert loss() == ("nsvqa −14.06 points, p_nsvqa −8.64 points", "not measured yet")
    other = StudyDomain.from_name("co-1")
    assert loss(cell(18), cell(15, tested=other))[1] == "p_nsvqa −15.00 points"
    assert "hardly hurts" in loss(cell(18), cell(18, tested=other))[1]
    assert row(differences(board()), "images")[2] == "a renderer of our own, 96×64"


def test_redundancy_is_said_to_be_no_blind_test():
    assert "Not a blind test" in accuracy_table(board(cell(15)), factor_grid("redundancy")).note
    assert "Not a blind test" not in accuracy_table(board(cell(15)), factor_grid("visual")).note


def test_every_table_is_whole():
    records = (*factor(VISUAL), training(), diagnosis(), changed(cell(3), train_order="old"))
    made = list(list_tables(board(*records)))
    for table in made:
        assert {len(r) for r in table.rows} <= {len(table.columns)}
    titles = [t.title for t in made]
    assert len(set(titles)) == len(titles)
    assert titles[-1] == "Left out"
    assert any("the parsers" in t for t in titles)


def test_the_page_of_the_repository():
    seed = cell(15, TrainingSetup(seed=1))  # of the default's seeds only the first is of the matrix
    text = render_markdown([*factor(VISUAL), training(), diagnosis(), seed])
    assert "**Scale toy: a trial run of the pipeline." in text
    assert "9 of 590 entries of the transfer matrix are finished (9 pairs of training and test set, each with" in text
    assert "verdict (trial, no evidence)" in text and "other seeds and conditions are not counted" in text
    assert "| p_nsvqa | easy | 80.00 ±" in text
    with pytest.raises(UserError, match="no entries"):
        render_markdown([])
    assert "different recipes" in render_markdown([cell(15), cell(15, TrainingSetup.from_name("easy"), recipe="other")])
    moved = changed(cell(15, TrainingSetup.from_name("easy")), device="H200", version="1")
    mixed = render_markdown([cell(15), moved])
    assert "**The rows are of 2 different devices (H200: easy; cpu: default).**" in mixed
    assert "**The rows are of 2 different versions of shiftscope (0: default; 1: easy).**" in mixed
    assert "different recipes" not in text


def test_the_html_page_needs_nothing_else(tmp_path):
    records = [*factor(VISUAL), *factor(VISUAL, "nsvqa"), training(), diagnosis()]
    text = build_study_page(board(*records)).render()
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert 'class="heat"' in text
    assert "<svg" in text
    assert write_study_page(tmp_path / "study.html", records).read_text() == text
    with pytest.raises(UserError, match="no entries"):
        write_study_page(tmp_path / "none.html", [])
