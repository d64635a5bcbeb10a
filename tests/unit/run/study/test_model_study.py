"""A study of models: its records, which of them are shown together, its tables and what they conclude."""

from dataclasses import replace

import pytest

from shiftscope.report.model_study_page import list_model_tables, render_model_study
from shiftscope.run.study.model_records import (
    ModelOrigin,
    ModelRecordStore,
    ModelTestRecord,
    ModelTrainingRecord,
    collect_results,
)
from shiftscope.run.study.model_study import ModelStudySpec, _ModelStudyRun, name_data, read_results, show_no_progress
from shiftscope.suites.clevr_hyp.study import STUDY
from shiftscope.suites.study import FAILS, HOLDS, NOT_MEASURED, UNDECIDED

PAPER = STUDY.find_scale("paper")
DATA = name_data(STUDY, PAPER)
ORIGIN = ModelOrigin("clevr_hyp", "paper", DATA, "a GPU", "0", "2026-01-01T00:00:00")


def test_of(row, split="test", share=0.5, weights="w", made="2026-01-01", **figures):
    found = {"accuracy": {"": (share, share - 0.01, share + 0.01, 400)}} | figures
    asked = STUDY.rows[row]
    return ModelTestRecord(replace(ORIGIN, made=made), row, asked.model, asked.condition, split, weights, found, 1.5)


test_of.__test__ = False


def training_of(name, weights="w", made="2026-01-01", rise=0.001, plan=None):
    plan = STUDY.identify_training(name) if plan is None else plan
    about = {"val": {"exact": 0.9}, "epoch": 3, "rise": rise, "seconds": 60.0, "examples": 1000}
    curves = {"action_parser": [0.1, 0.5, 0.8, 0.9]}
    return ModelTrainingRecord(
        replace(ORIGIN, made=made), name, plan, weights, {"action_parser": about}, curves, 2_000_000, 61.0, "train"
    )


@pytest.mark.parametrize("place", ["cells", "cells.jsonl"])
def test_a_record_is_read_as_it_was_written(place, tmp_path):
    store = ModelRecordStore(tmp_path / place)
    made = [test_of("scene_edit"), training_of("scene_edit")]
    for record in (*made, made[0]):
        store.add(record)
    assert {r.name: r for r in store.read_records()} == {r.name: r for r in made}


def test_a_record_that_was_changed_by_hand_is_refused(tmp_path, refuses):
    store = ModelRecordStore(tmp_path)
    record = test_of("scene_edit")
    store.add(record)
    path = tmp_path / record.name
    path.write_text(path.read_text().replace("0.5", "0.9"))
    with refuses("its content is that of"):
        store.read_records()
    path.write_text(path.read_text().replace("0.9", "1.9"))
    with refuses("1.9 is no share"):
        store.read_records()


def test_only_figures_of_the_same_data_and_weights_are_shown():
    old_data = replace(test_of("lxmert"), origin=replace(ORIGIN, data="version 4"))
    stale = test_of("scene_edit", weights="before", made="2026-01-03")
    records = [training_of("scene_edit", "before"), training_of("scene_edit", "w", made="2026-01-02"), stale, old_data]
    found = collect_results(STUDY, records, PAPER, DATA)
    assert not found.tests and found.trainings["scene_edit"].weights == "w"
    newer = [test_of("scene_edit", share=0.6, made="2026-01-04"), test_of("scene_edit", share=0.7, made="2026-01-05")]
    assert collect_results(STUDY, [*records, *newer], PAPER, DATA).share("scene_edit", "test") == 0.7
    untrained = collect_results(STUDY, [test_of("random (by type)", weights="")], PAPER, DATA)
    assert untrained.share("random (by type)", "test") == 0.5


def test_figures_of_a_row_that_was_asked_otherwise_are_not_shown():
    """Such as of a row that kept its name and got another condition, or of another row's weights."""
    row = "text_reader, oracle scene"
    records = [training_of("text_reader"), training_of("lxmert", "others"), test_of(row)]
    assert collect_results(STUDY, records, PAPER, DATA).share(row, "test") == 0.5
    for changed in ({"condition": "as_is"}, {"model": "lxmert"}, {"weights": "others"}):
        found = collect_results(STUDY, [*records[:2], replace(records[2], **changed)], PAPER, DATA)
        assert not found.tests, changed


def test_figures_of_a_training_that_is_planned_otherwise_today_are_not_shown():
    """Such as image_edit's whose LXMERT had learned another wording; how long it learned is told, not hidden."""
    test = test_of("scene_edit")
    known = collect_results(STUDY, [training_of("scene_edit"), test], PAPER, DATA)
    assert known.share("scene_edit", "test") == 0.5
    other = collect_results(STUDY, [training_of("scene_edit", plan="another"), test], PAPER, DATA)
    assert not other.trainings and not other.tests

    class Changed(type(STUDY)):
        trainings = STUDY.trainings | {"clevr_scene": replace(STUDY.trainings["clevr_scene"], world="superclevr")}

    names = [name for name in STUDY.trainings if Changed().identify_training(name) != STUDY.identify_training(name)]
    assert names == list(STUDY.trainings)  # all rest on the scene parser
    longer = {name: replace(plan, epochs=99) for name, plan in STUDY.trainings.items()}
    Changed.trainings = longer
    assert Changed().identify_training("image_edit") == STUDY.identify_training("image_edit")


def table(results, title):
    (found,) = [t for t in list_model_tables(STUDY, results) if t.title == title]
    return found


def test_measured_stands_beside_reported_and_what_is_not_measured_is_a_dash():
    records = [test_of("scene_edit", share=0.961), training_of("scene_edit", rise=0.004)]
    results = collect_results(STUDY, records, PAPER, DATA)
    rows = {row[0]: row[1:] for row in table(results, "Accuracy, %").rows}
    assert rows["scene_edit"][:4] == ("96.1 ± 1.0", "–", "–", "–")
    assert rows["scene_edit, reinforced"][:4] == ("–", "70.5", "–", "68.6")  # as the paper's baseline 4 is
    assert rows["people"] == ("–", "98.4", "–", "–", "–", "96.2", "–", "96.6")
    missing = {row[0]: row[1:] for row in table(results, "Not measured yet").rows}
    assert missing["scene_edit"][0] == "Balanced, 2HopT_A, 2HopQ_H"
    assert "--models lxmert" in missing["lxmert"][1]
    curve = next(row for row in table(results, STUDY_CURVES).rows if row[0] == "scene_edit")
    assert curve[4:10] == ("10.00", "50.00", "50.00", "80.00", "90.00", "90.00")
    assert curve[10] == "0.40 (not at its end)"


STUDY_CURVES = "Learning curves: validation, %, after shares of the epochs"


def test_what_is_reported_by_kind_of_action_stands_beside_actions_and_by_type_of_question_beside_answers():
    results = collect_results(STUDY, [], PAPER, DATA)
    titles = {t.title: [row[0] for row in t.rows] for t in list_model_tables(STUDY, results)}
    told = {title for title, rows in titles.items() if any(name.endswith("reported") for name in rows)}
    assert told == {
        "Action accuracy (exact programs) on Original by action, %",
        "Action accuracy (exact programs) on 2HopT_A by action, %",
        "Outcome accuracy on Original by action, %",
        "Outcome accuracy on 2HopT_A by action, %",
        "Accuracy on Original by kind, %",
        "Accuracy on 2HopQ_H by logic, %",
    }
    assert not [r for r in titles["Outcome accuracy on Original by action, %"] if "scene_edit" in r]


def test_findings_are_decided_by_figures_alone():
    def verdicts(*records):
        results = collect_results(STUDY, [*map(training_of, STUDY.trainings), *records], PAPER, DATA)
        return {f.says: f.verdict for _, findings in STUDY.check_findings(results) for f in findings}

    target = "scene_edit on Original: at least 95.0%"
    assert set(verdicts().values()) == {NOT_MEASURED}
    assert verdicts(test_of("scene_edit", share=0.949))[target] == FAILS
    assert verdicts(test_of("scene_edit", share=0.95))[target] == HOLDS
    best = "Editing the scene graph is best on Original."
    others = [test_of(row, share=0.6) for row in ("text_reader, parsed scene", "lxmert", "image_edit")]
    assert verdicts(test_of("scene_edit", share=0.7), *others)[best] == HOLDS
    assert verdicts(test_of("scene_edit", share=0.6), *others)[best] == UNDECIDED
    assert verdicts(test_of("scene_edit", share=0.5), *others)[best] == FAILS
    kinds = {"remove": 0.9, "change": 0.9, "add": 0.8, "move_in_plane": 0.7, "move_on_top": 0.8}
    by_action = {f"action={kind}": (share, share - 0.03, share + 0.03, 10) for kind, share in kinds.items()}
    said = "scene_edit does better on remove and change than on add and move."
    assert verdicts(test_of("scene_edit", action=by_action))[said] == HOLDS
    near, unsure, above = (0.87, 0.84, 0.9, 10), (0.8, None, None, 10), (0.95, 0.92, 0.98, 10)
    for add, verdict in ((near, UNDECIDED), (unsure, UNDECIDED), (above, FAILS)):
        assert verdicts(test_of("scene_edit", action=by_action | {"action=add": add}))[said] == verdict


def test_a_difference_of_means_is_judged_by_both_intervals():
    even = "scene_edit: counting, existence and attribute queries are easier than comparisons."

    def judge(plain, compared, wide):
        names = {"count": plain, "exist": plain, "query_attribute": plain}
        names |= {"compare_integer": compared, "compare_attribute": compared}
        parts = {f"kind={name}": (share, share - wide, share + wide, 99) for name, share in names.items()}
        record = replace(test_of("scene_edit"), figures={"accuracy": {"": (0.9, 0.8, 1.0, 99)} | parts})
        results = collect_results(STUDY, [training_of("scene_edit"), record], PAPER, DATA)
        return {f.says: f.verdict for _, some in STUDY.check_findings(results) for f in some}[even]

    # The half-width of the difference: wide × √(1/3 + 1/2) = 0.913 × wide.
    assert judge(0.8, 0.7, 0.108) == HOLDS
    assert judge(0.8, 0.7, 0.111) == judge(0.7, 0.8, 0.111) == UNDECIDED
    assert judge(0.7, 0.8, 0.108) == FAILS


def test_a_page_is_of_the_largest_scale_and_says_when_that_is_a_trial(tmp_path):
    small = STUDY.find_scale("small")
    store = ModelRecordStore(tmp_path)
    origin = replace(ORIGIN, scale="small", data=name_data(STUDY, small))
    store.add(replace(test_of("random (by type)", weights=""), origin=origin))
    results = read_results(STUDY, tmp_path)
    assert results.scale == small
    assert "a trial run" in render_model_study(STUDY, results, "cells")
    store.add(test_of("random (by type)", weights=""))
    assert "a trial run" not in render_model_study(STUDY, read_results(STUDY, tmp_path), "cells")


def test_the_page_says_where_models_ran(tmp_path):
    store = ModelRecordStore(tmp_path)
    other = replace(ORIGIN, device="another")
    store.add(test_of("random (by type)", weights=""))
    store.add(replace(test_of("question_only", weights=""), origin=other))
    page = render_model_study(STUDY, read_results(STUDY, tmp_path), "cells")
    assert "Trainings have seed 0. Results by device: a GPU: 1, another: 1." in page
    empty = tmp_path / "empty"
    assert "by device" not in render_model_study(STUDY, read_results(STUDY, empty), "cells")


def test_unknown_models_and_test_sets_are_refused(tmp_path, refuses):
    with refuses("no model of this study"):
        ModelStudySpec(STUDY, tmp_path, tmp_path, PAPER, models=("lstm",))
    with refuses("no test set 'val'"):
        ModelStudySpec(STUDY, tmp_path, tmp_path, PAPER, tests=("val",))


def test_a_shipped_part_is_taken_only_if_it_was_trained_in_the_same_way(tmp_path, monkeypatch):
    from shiftscope.models.nsvqa.trained_model import TrainedModel
    from shiftscope.run.study.model_study import _take_shipped
    from shiftscope.train.train import TrainSpec

    spec = TrainSpec("nsvqa", "superclevr", only="questions")
    shipped = TrainedModel.read(TrainedModel.SHIPPED / "superclevr")
    assert _take_shipped(spec, tmp_path / "same")
    taken = TrainedModel.read(tmp_path / "same")
    assert taken.parts == ("question_parser",)
    assert taken.read_bytes("question_parser") == shipped.read_bytes("question_parser")
    assert _take_shipped(spec, tmp_path / "same")  # the second time
    for other in (replace(spec, images=1000), replace(spec, epochs=3), replace(spec, seed=1)):
        assert not _take_shipped(other, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_trial_has_as_many_epochs_as_its_scale_says(tmp_path):
    """A tail would let it go on while validation rises, which it does at first."""
    tails = []
    for scale in ("small", "paper"):
        spec = ModelStudySpec(STUDY, tmp_path, tmp_path / "cells", STUDY.find_scale(scale))
        made = _ModelStudyRun(spec, lambda sentence: None, show_no_progress)._build_train_spec("lxmert_clevr")
        (stage,) = made.stages
        tails.append((made.recipe(stage).epochs, made.recipe(stage).tail))
    assert tails == [(1, 0), (48, 16)]
