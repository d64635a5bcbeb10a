"""The study of generalization differences: what it plans, and tables and findings made of stored bits."""

from dataclasses import replace

import numpy as np
import pytest

from shiftscope.errors import UserError
from shiftscope.metrics.held_out_matrix import HeldOutMatrix
from shiftscope.metrics.held_out_records import (
    DENIED,
    GT_EXEC,
    HELD_OUT,
    IID,
    K_SHOT,
    ORIGINAL,
    OTHER,
    OTHER_IMAGES,
    PLAIN,
    SAME,
    VARIANT,
    HeldOutEntry,
    HeldOutTest,
    HeldOutTraining,
    name_bits,
    pack_array,
    pack_bits,
)
from shiftscope.report.held_out_page import find_matrix, list_held_out_tables, render_held_out_markdown
from shiftscope.run.generalization import contrast, segment_combine
from shiftscope.run.held_out_study.held_out_study import HeldOutStudySpec
from shiftscope.shift.held_out import DRAW_RULES
from shiftscope.suites.gendiff.findings import ALTERED, KEPT, check_findings
from shiftscope.suites.gendiff.reported import CONTRAST_ROWS, REPORTED, SHOT_ROWS
from shiftscope.suites.gendiff.study import (
    CONTRAST,
    MODELS,
    OBJECTS,
    OTHER_SPLIT,
    SEGMENTS,
    SMALL,
    STUDY,
    TABLE_4,
    name_row,
)
from shiftscope.suites.gendiff.tables import SEGMENT_KINDS, list_tables, measure_drop, measure_shots
from shiftscope.suites.held_out_study import BLIND, load_held_out_study
from shiftscope.suites.study import FAILS, HOLDS, NOT_MEASURED, UNDECIDED
from shiftscope.train.train import find_trainable

SIXTIETH = 20  # questions: enough that a model that loses none surely loses next to none
COUNT = 60 * SIXTIETH
VISUALBERT, T5 = HeldOutTraining("visualbert"), HeldOutTraining("t5")


def make_test(test_set="", marks=()):
    named = {name: pack_bits(np.asarray(bits, bool)) for name, bits in dict(marks).items()}
    return HeldOutTest(
        "gendiff",
        "small",
        f"d{test_set}",
        {"train": 5, "val": 5, "test": COUNT},
        ("count",),
        pack_array(np.zeros(COUNT, np.uint8)),
        pack_array(np.ones(COUNT, np.uint8)),
        pack_array(np.arange(COUNT, dtype=np.uint32)),
        named,
        {},
        test_set,
    )


def make_entry(training, test_set="", **right):
    """Sixtieths of the questions that are right."""
    bits = {name: pack_bits(np.arange(COUNT) < SIXTIETH * count) for name, count in right.items()}
    return HeldOutEntry("gendiff", "small", f"d{test_set}", training, 5, bits, test_set=test_set)


def make_matrix(*entries):
    everything = np.ones(COUNT, bool)
    tests = [
        make_test(),
        make_test(SEGMENTS, dict.fromkeys(SEGMENT_KINDS, everything)),
        make_test(CONTRAST, {name_row(*row): everything for row in CONTRAST_ROWS}),
    ]
    return HeldOutMatrix.gather([*tests, *entries], "small")


def find_verdict(says, matrix):
    return next(one.verdict for one in check_findings(matrix) if one.says.startswith(says))


def find_cell(matrix, title, row, head):
    table = next(one for one in list_tables(matrix) if one.title.startswith(title))
    found = next(r for r in table.rows if tuple(r[: len(row)]) == row)
    return found[table.heads.index(head)]


def test_reported_rows_are_rows_of_the_tests():
    rows = {contrast.name_row(kind, change) for kind, change, _ in contrast._list_rows()}
    assert {name_row(*row) for row in (*CONTRAST_ROWS, *SHOT_ROWS)} <= rows and len(SHOT_ROWS) == 9
    assert set(SEGMENT_KINDS) <= set(segment_combine.KINDS.values())
    alters = {(c.kind, c.level): c.alters for c in contrast.CHANGES}
    assert [row for row in SHOT_ROWS if not alters[row]] == list(KEPT)
    assert [row for row in SHOT_ROWS if alters[row]] == list(ALTERED)


def test_reported_figures_are_the_papers():
    assert REPORTED.find("segment_combine", "verify_count_group_by", "combined", "visualbert", "") == pytest.approx(
        0.525
    )
    assert REPORTED.find("contrast", "verify_quant", "no → at least one", "gpt2", "gt_exec") == pytest.approx(0.614)
    assert REPORTED.find("compositional", "tpl_verify_attr", "t5 gt_exec") == pytest.approx(0.344)
    assert REPORTED.find("k_shot", "verify_count", "at least → less than", 5, "gt_exec") == pytest.approx(0.915)
    assert REPORTED.find("transfer", "gqa", "vqa", "open", "missing_objects") == pytest.approx(0.802)


def test_nine_rows_are_trained_with_five_draws_of_one_example():
    planned = STUDY.list_trainings(STUDY.models, STUDY.all_splits, (0,), shots=STUDY.shots)
    assert len(set(planned)) == len(planned) == len({one.label for one in planned})
    for model in ("visualbert", "t5", "composing"):
        some = [one for one in planned if one.kind == K_SHOT and one.model == model]
        assert len([one for one in some if one.shots == 1]) == 9 * 5
        assert len([one for one in some if one.shots == 5]) == 9
    assert {one for t in planned for one in STUDY.list_test_sets(t) if one} == {p.name for p in STUDY.test_sets}
    with pytest.raises(UserError, match="no split 'easy'"):
        STUDY.list_trainings(STUDY.models, ("easy",), (0,))


def test_k_0_is_the_in_domain_training():
    planned = STUDY.list_trainings(STUDY.models, (K_SHOT,), (0,), shots=(0, 1))
    assert HeldOutTraining("t5") in planned and HeldOutTraining("gpt2") not in planned
    assert {one.shots for one in planned if one.kind == K_SHOT} == {1}


def test_models_of_the_tables_are_trainable():
    for name, chosen in MODELS.items():
        stage = find_trainable(chosen.model).configure(dict(chosen.settings)).stages[0]
        assert not chosen.settings or dict(chosen.settings)["parser"] == stage.parser, name


def test_without_entries_only_what_is_reported_is_shown():
    for table in list_tables(None):
        for row in table.rows:
            assert all(isinstance(cell, str) or cell.measured is None for cell in row)
    verdicts = {finding.verdict for finding in check_findings(None)}
    assert verdicts == {NOT_MEASURED, "not testable here"}
    missing = list_held_out_tables(STUDY, None)[-1]
    assert any("--splits k_shot --shots 1" in str(row[1]) for row in missing.rows)


def test_figures_stand_in_their_row_and_column():
    kind = SEGMENT_KINDS[0]
    row = name_row("verify_count", "at least → less than")
    matrix = make_matrix(
        make_entry(VISUALBERT, **{PLAIN: 30}),
        make_entry(VISUALBERT, SEGMENTS, **{ORIGINAL: 45, VARIANT: 15, SAME: 30}),
        make_entry(T5, CONTRAST, **{VARIANT: 12, name_bits(VARIANT, GT_EXEC): 24, SAME: 6}),
    )
    assert find_cell(matrix, "Table 1", (kind, "original query"), "visualbert").measured.value == pytest.approx(0.75)
    assert find_cell(matrix, "Table 1", (kind, "segment-combine"), "visualbert").measured.value == pytest.approx(0.25)
    drop = measure_drop(matrix, VISUALBERT, SEGMENTS, kind)
    assert drop.value == pytest.approx(0.5) and 0.3 < drop.low < 0.5 < drop.high
    three = ("verify_count", "at least → less than")
    assert find_cell(matrix, "Table 3", three, "t5").measured.value == pytest.approx(0.2)
    assert find_cell(matrix, "Table 3", three, "t5 [GT]").measured.value == pytest.approx(0.4)
    assert find_cell(matrix, "Table 3", three, "t5 [GT]").reported == pytest.approx(0.656)
    assert find_cell(matrix, "Local", three, "t5").measured.value == pytest.approx(0.1)
    assert measure_drop(matrix, T5, CONTRAST, row) is None  # the originals are not there
    assert find_cell(matrix, "Table 3", ("verify_count", "at least → no less than"), "visualbert").measured is None


def test_entries_of_another_plan_are_not_shown():
    """Weights that were trained otherwise would pass for those of today's plan."""
    entries = [make_entry(VISUALBERT, **{PLAIN: 45}), make_entry(HeldOutTraining("majority"), **{PLAIN: 15})]
    plan = STUDY.identify_training(VISUALBERT, SMALL)
    assert plan and plan != STUDY.identify_training(VISUALBERT) and not STUDY.identify_training(entries[1].training)
    shown = find_matrix([make_test(), replace(entries[0], plan=plan), entries[1]], STUDY, "small")[1]
    assert set(shown.entries) == {e.training for e in entries} and not shown.planned_otherwise
    for other in ("", STUDY.identify_training(VISUALBERT), plan[::-1]):
        records = [make_test(), replace(entries[0], plan=other), entries[1]]
        matrix = find_matrix(records, STUDY, "small")[1]
        assert set(matrix.entries) == {entries[1].training} and matrix.planned_otherwise == 1
        assert "Entries of trainings that are planned otherwise today, left out: 1." in render_held_out_markdown(
            "gendiff", records
        )
    stray = replace(entries[0], training=HeldOutTraining("vilbert_text"))  # of COVR's study
    assert set(find_matrix([make_test(), stray, entries[1]], STUDY, "small")[1].entries) == {entries[1].training}


def test_how_long_a_training_lasts_is_no_part_of_its_plan(monkeypatch):
    first, stage = find_trainable("visualbert").stages
    before = STUDY.identify_training(VISUALBERT)
    with monkeypatch.context() as patch:  # but of what comes before, which no table tells
        patch.setattr(type(first), "recipe", replace(first.recipe, epochs=3))
        assert STUDY.identify_training(VISUALBERT) != before
    monkeypatch.setattr(type(stage), "recipe", replace(stage.recipe, epochs=3))
    assert STUDY.identify_training(VISUALBERT) == before
    monkeypatch.setattr(type(stage), "recipe", replace(stage.recipe, lr=1.0))
    assert STUDY.identify_training(VISUALBERT) != before


def test_what_is_drawn_by_another_rule_is_another_plan(monkeypatch):
    drawn, whole = HeldOutTraining("t5", HELD_OUT, "lexical_split_1"), HeldOutTraining("t5")
    before = STUDY.identify_training(drawn), STUDY.identify_training(whole)
    monkeypatch.setitem(DRAW_RULES, "lexical_split", 99)
    assert STUDY.identify_training(drawn) != before[0] and STUDY.identify_training(whole) == before[1]


def test_draws_are_averaged_and_unsure_of_images_even_where_all_agree():
    row, lengths = SHOT_ROWS[0], {}
    drawn = [HeldOutTraining("t5", K_SHOT, name_row(*row), 1, seed) for seed in range(3)]
    for counts in ((30, 30, 30), (29, 30, 31), (10, 30, 50)):
        entries = [make_entry(t, CONTRAST, **{VARIANT: n}) for t, n in zip(drawn, counts, strict=True)]
        score, draws = measure_shots(make_matrix(*entries), "t5", row, 1)
        assert draws == 3 and score.value == pytest.approx(0.5)
        lengths[counts] = score.high - score.low
        assert measure_shots(make_matrix(*entries), "t5", row, 5) == (None, 0)
    alike, near, far = lengths.values()
    assert 0.05 < alike <= near < far


@pytest.mark.parametrize(("combined", "verdict"), [(15, HOLDS), (45, UNDECIDED), (50, FAILS)])
def test_a_finding_is_decided_by_its_rule(combined, verdict):
    entries = [
        make_entry(HeldOutTraining(model), SEGMENTS, **{ORIGINAL: 45, VARIANT: combined})
        for model in ("visualbert", "vilbert")
    ]
    first = next(check_findings(make_matrix(*entries)))
    assert first.says.startswith("End-to-end models fail") and first.verdict == verdict
    assert next(check_findings(make_matrix(entries[0]))).verdict == NOT_MEASURED


@pytest.mark.parametrize(("taught", "verdict"), [(60, HOLDS), (24, FAILS)])
def test_one_example_teaches_where_accuracy_rises_in_the_mean_of_all_rows(taught, verdict):
    right = name_bits(VARIANT, GT_EXEC)
    shown = [HeldOutTraining("composing", K_SHOT, name_row(*row), 1) for row in SHOT_ROWS]
    entries = [make_entry(training, CONTRAST, **{right: taught}) for training in shown]
    entries.insert(0, make_entry(HeldOutTraining("composing"), CONTRAST, **{right: 24}))
    found = {one.says: one for one in check_findings(make_matrix(*entries))}
    assert found["Ours: one example teaches the parser that composes a new wording."].verdict == verdict
    lacking = {one.says: one for one in check_findings(make_matrix(*entries[:-1]))}
    assert lacking["Ours: one example teaches the parser that composes a new wording."].verdict == NOT_MEASURED


def test_a_grammar_that_is_learned_by_another_rule_is_another_plan(monkeypatch):
    """Those of before had learned from the first 30,000 pairs alone."""
    stage = find_trainable("neuro_symbolic").stages[-1]
    before = STUDY.identify_training(HeldOutTraining("composing")), STUDY.identify_training(T5)
    monkeypatch.setattr(type(stage), "rule", 99)
    assert STUDY.identify_training(HeldOutTraining("composing")) != before[0]
    assert STUDY.identify_training(T5) == before[1]


def test_entries_of_other_questions_are_left_out():
    stray = HeldOutEntry(
        "gendiff", "small", "older", T5, 5, {VARIANT: pack_bits(np.ones(COUNT, bool))}, test_set=CONTRAST
    )
    matrix = make_matrix(stray)
    assert matrix.left_out == 1 and T5 not in matrix.find_test_set(CONTRAST).entries


@pytest.mark.parametrize(("at_home", "verdict"), [(45, HOLDS), (15, UNDECIDED)])
def test_a_model_that_learned_nothing_is_not_called_robust(at_home, verdict):
    entries = []
    for model in ("bart", "gpt2", "t5"):
        entries.append(make_entry(HeldOutTraining(model), **{PLAIN: at_home}))
        entries.append(make_entry(HeldOutTraining(model), SEGMENTS, **{ORIGINAL: at_home, VARIANT: at_home}))
    second = list(check_findings(make_matrix(*entries)))[1]
    assert second.says.startswith("Neuro-symbolic models are robust on segment") and second.verdict == verdict


def test_a_setting_that_no_model_knows_is_refused(tmp_path):
    """It would change nothing, and nobody would be told."""
    known = (("width", "96"), ("start", "bert"))
    plan_study(tmp_path, settings=known)
    with pytest.raises(UserError, match="no setting 'widht'; did you mean 'width'"):
        plan_study(tmp_path, settings=(*known, ("widht", "64")))


def plan_study(folder, **options):
    return HeldOutStudySpec("gendiff", folder, folder / "cells.jsonl", **options)


def test_settings_that_a_model_refuses_are_refused_before_anything_is_made(tmp_path):
    """Not in the middle of a study, nor where that model is not trained."""
    wide = (("width", "64"),)
    with pytest.raises(UserError, match="lxmert: a width of 64 is not a multiple of 6 heads; set both"):
        plan_study(tmp_path, scale="paper", settings=wide)
    plan_study(tmp_path, scale="paper", settings=(*wide, ("heads", "4")))
    plan_study(tmp_path, scale="small", settings=wide)  # whose networks have two heads
    plan_study(tmp_path, scale="paper", settings=wide, models=("visualbert", "t5"))
    lxmert = HeldOutTraining("lxmert", OTHER)
    assert STUDY.is_planned(lxmert, STUDY.identify_training(lxmert))
    assert not STUDY.is_planned(lxmert, STUDY.identify_training(lxmert), wide)


def test_a_study_without_any_training_is_refused(tmp_path):
    with pytest.raises(UserError, match="study gendiff trains none of lxmert, nsvqa on iid"):
        plan_study(tmp_path, models=("lxmert", "nsvqa"), splits=("iid",))


def test_entries_of_the_study_with_the_same_data_count_too():
    """Those of trainings that are this study's; the rest of that study is not shown here."""
    twin, alone = HeldOutTraining("visualbert_text"), HeldOutTraining("visualbert", "easy")
    given = load_held_out_study("gendiff").find_scale("small").settings
    entries = [
        replace(make_entry(one, **{PLAIN: 30}), suite="covr", plan=STUDY.identify_training(one, given))
        for one in (twin, replace(twin, seed=1), alone)
    ]
    _, matrix = find_matrix([make_test(), *entries], STUDY)
    assert set(matrix.entries) == {twin, replace(twin, seed=1)} and not matrix.planned_otherwise
    others = [replace(one, suite="vqa_vs") for one in entries]
    assert not find_matrix([make_test(), *others], STUDY)[1].entries


def test_trainings_of_several_recipes_are_named():
    first, other = make_entry(T5, **{PLAIN: 50}), make_entry(replace(T5, seed=1), **{PLAIN: 40})
    for recipe, mixed in (("a", False), ("b", True)):
        matrix = make_matrix(
            replace(first, recipe="a"), replace(other, recipe=recipe), make_entry(VISUALBERT, **{PLAIN: 5})
        )
        (table,) = (one for one in list_held_out_tables(STUDY, matrix) if one.title == "Trainings")
        assert table.note.endswith("scene parser: those of t5.") == mixed


def test_a_training_whose_figures_are_of_several_weights_is_named():
    """Its entries on different test sets may have come from different machines."""
    first, derived = make_entry(T5, **{PLAIN: 50}), make_entry(T5, SEGMENTS, **{VARIANT: 40})
    for change, words in (
        ({}, "not what one alone takes."),
        ({"recipe": "b"}, "same scene parser: those of t5."),
        ({"val": 0.5}, "are not all of the same weights: t5-iid."),
    ):
        (table,) = (
            one
            for one in list_held_out_tables(STUDY, make_matrix(first, replace(derived, **change)))
            if one.title == "Trainings"
        )
        assert table.note.endswith(words)


def test_a_training_that_did_not_come_to_see_is_named():
    blind = replace(VISUALBERT, kind=HELD_OUT, split="tpl_verify_attr")
    seeing = make_entry(VISUALBERT, **{PLAIN: 40, OTHER_IMAGES: 25})
    failed = make_entry(blind, **{PLAIN: 26, OTHER_IMAGES: 24})
    matrix = make_matrix(seeing, failed, make_entry(T5, **{PLAIN: 50}))
    (table,) = (one for one in list_held_out_tables(STUDY, matrix) if one.title == "What the images add")
    assert [row[0] for row in table.rows] == [blind.label, VISUALBERT.label]
    assert [cell.split(" ")[0] for cell in table.rows[1][1:]] == ["66.7", "41.7", "25.0"]
    assert table.note.endswith(
        f"hardly came to see: {blind.label}. Where other seeds of a training see, figures are theirs alone."
    )
    unasked = make_matrix(seeing, make_entry(blind, **{PLAIN: 26}))
    (table,) = (one for one in list_held_out_tables(STUDY, unasked) if one.title == "What the images add")
    assert table.note.endswith(f"loses nothing. Not asked about other images: {blind.label}.")
    planned = [replace(e, plan=STUDY.identify_training(e.training, SMALL)) for e in (seeing, failed)]
    page = render_held_out_markdown("gendiff", [make_test(), *planned])
    assert "Trainings that hardly came to see: 1 (What the images add)." in page
    assert "Trainings that hardly came to see" not in render_held_out_markdown("gendiff", [make_test(), planned[0]])
    without = list_held_out_tables(STUDY, make_matrix(make_entry(T5, **{PLAIN: 50})))
    assert all(one.title != "What the images add" for one in without)


def test_a_training_of_the_other_benchmark_is_judged_by_its_own_questions():
    """That it learned nothing of COVR's says nothing about whether it sees."""
    other = replace(VISUALBERT, kind=OTHER)
    assert STUDY.find_own_test_set(other) == OTHER_SPLIT
    assert not any(STUDY.find_own_test_set(replace(VISUALBERT, kind=kind)) for kind in (IID, HELD_OUT, K_SHOT))
    entries = make_entry(other, **{PLAIN: 10}), make_entry(other, OTHER_SPLIT, **{PLAIN: 50, OTHER_IMAGES: 30})
    matrix = HeldOutMatrix.gather([make_test(), make_test(OTHER_SPLIT), *entries], "small")
    ((training, sight),) = matrix.sights.items()
    assert training == other
    assert [score.value for score in (sight.accuracy, sight.elsewhere, sight.added)] == pytest.approx(
        [5 / 6, 1 / 2, 1 / 3]
    )


def test_what_is_unsure_is_not_called_blind():
    few = replace(make_test(), data="few", questions={"train": 5, "val": 5, "test": 40})
    few = replace(few, template=pack_array(np.zeros(40, np.uint8)), image_counts=pack_array(np.ones(40, np.uint8)))
    bits = {PLAIN: pack_bits(np.arange(40) < 21), OTHER_IMAGES: pack_bits(np.arange(40) % 2 == 0)}
    entry = HeldOutEntry("gendiff", "small", "few", VISUALBERT, 5, bits)
    matrix = HeldOutMatrix(few, [entry])
    (sight,) = matrix.sights.values()
    assert sight.added.value < 0.05 < sight.added.high and not sight.blind
    (table,) = (one for one in list_held_out_tables(STUDY, matrix) if one.title == "What the images add")
    assert "hardly came to see" not in table.note


@pytest.mark.parametrize(
    ("original", "denied", "same", "verdict"),
    [
        (45, 30, 55, HOLDS),
        (45, 30, 20, FAILS),
        (30, 30, 20, UNDECIDED),
        (45, 0, 20, UNDECIDED),
        (45, 60, 55, UNDECIDED),
    ],
)
def test_who_guesses_or_answers_all_alike_overlooks_nothing(original, denied, same, verdict):
    """Coherency is then how often the originals got that one answer."""
    entry = make_entry(VISUALBERT, CONTRAST, **{ORIGINAL: original, VARIANT: 30, DENIED: denied, SAME: same})
    assert find_verdict("Changes whose opposites were not seen", make_matrix(entry)) == verdict


@pytest.mark.parametrize(("there", "verdict"), [(30, UNDECIDED), (40, HOLDS)])
def test_who_guesses_on_another_benchmark_transfers_nothing(there, verdict):
    everything = dict.fromkeys(("binary", "open"), np.ones(COUNT, bool))
    entries = [
        make_entry(model, where, **{PLAIN: right})
        for model, home, away in ((VISUALBERT, 45, there), (T5, 55, 10))
        for where, right in (("", home), (OTHER_SPLIT, away))
    ]
    tests = make_test("", everything), make_test(OTHER_SPLIT, everything)
    matrix = HeldOutMatrix.gather([*tests, *entries], "small")
    assert find_verdict("End-to-end models transfer better", matrix) == verdict


def test_who_did_not_come_to_see_in_a_training_is_marked_and_decides_nothing():
    marks = dict.fromkeys(TABLE_4, np.arange(COUNT) % 2 == 0)
    home = make_entry(VISUALBERT, **{PLAIN: 45, OTHER_IMAGES: 25})
    twin = make_entry(HeldOutTraining("visualbert_text"), **{PLAIN: 25})
    parsers = [make_entry(HeldOutTraining("t5", HELD_OUT, split), **{PLAIN: 50}) for split in TABLE_4]
    for seen, verdict, mark in ((40, HOLDS, ""), (28, UNDECIDED, "†")):  # 28: more than 5 points, less than half of 20
        held = [
            make_entry(HeldOutTraining("visualbert", HELD_OUT, split), **{PLAIN: seen, OTHER_IMAGES: 24})
            for split in TABLE_4
        ]
        matrix = HeldOutMatrix.gather([make_test("", marks), home, twin, *parsers, *held], "small")
        assert find_verdict("Neuro-symbolic models are higher on most", matrix) == verdict
        row = next(one for one in list_tables(matrix) if one.title.startswith("Table 4")).rows[0]
        assert (row[2].mark, row[4].mark) == ("", mark)
    poor = make_entry(VISUALBERT, **{PLAIN: 25, OTHER_IMAGES: 18})
    matrix = HeldOutMatrix.gather([make_test("", marks), poor, twin], "small")
    assert next(one for one in list_tables(matrix) if one.title.startswith("Table 4")).rows[0][2].mark == "‡"


def test_sight_is_judged_without_the_questions_that_were_held_out():
    """These may be lost for what was held out."""
    split = TABLE_4[0]
    marked = np.arange(COUNT) >= COUNT // 2
    held = make_entry(HeldOutTraining("visualbert", HELD_OUT, split), **{PLAIN: 30, OTHER_IMAGES: 10})
    matrix = HeldOutMatrix.gather([make_test("", {split: marked}), held], "small")
    (sight,) = matrix.sights.values()
    assert [one.value for one in (sight.accuracy, sight.elsewhere, sight.added)] == pytest.approx([1, 1 / 3, 2 / 3])


def test_trainings_on_the_other_benchmark_that_hardly_came_to_see_decide_nothing():
    row = {name_row("one image", "another object"): np.ones(COUNT, bool)}
    tests = make_test(), make_test(OTHER_SPLIT), make_test(OBJECTS, row)
    for elsewhere, verdict in ((20, HOLDS), (40, UNDECIDED)):
        entries = [
            entry
            for model in ("lxmert", "visualbert", "vilbert")
            for entry in (
                make_entry(HeldOutTraining(model, OTHER), OTHER_SPLIT, **{PLAIN: 41, OTHER_IMAGES: elsewhere}),
                make_entry(HeldOutTraining(model, OTHER), OBJECTS, **{ORIGINAL: 45, VARIANT: 20}),
            )
        ]
        matrix = HeldOutMatrix.gather([*tests, *entries], "small")
        assert find_verdict("End-to-end models ground objects weakly", matrix) == verdict
        cell = find_cell(matrix, "Table 2", ("another object",), "vilbert")
        assert cell.mark == ("" if verdict == HOLDS else BLIND)


def test_another_seed_is_proposed_for_what_hardly_came_to_see():
    blind = HeldOutTraining("visualbert", HELD_OUT, "tpl_verify_attr")
    entry = make_entry(blind, **{PLAIN: 26, OTHER_IMAGES: 24})
    matrix = make_matrix(make_entry(VISUALBERT, **{PLAIN: 40, OTHER_IMAGES: 25}), entry)
    (table,) = (one for one in list_held_out_tables(STUDY, matrix) if one.title == "Not measured")
    (row,) = (row for row in table.rows if "hardly came to see" in row[0])
    assert row[0].startswith(blind.label) and "--splits tpl_verify_attr --seeds 1 " in row[1]
