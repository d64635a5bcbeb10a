"""Model selection: each strategy chooses the epoch it should, and figures are those of the chosen epoch."""

import json
from dataclasses import replace

import numpy as np
import pytest

from shiftscope.metrics.model_selection import (
    IID,
    IID_VAL,
    ON_TEST,
    OOD_TEST,
    OOD_VAL,
    WHOLE,
    SelectionRun,
    StudyWorld,
    build_selection_results,
    pack_bits,
    pack_numbers,
    parse_selection_record,
    select_epoch,
    tail_of,
)
from shiftscope.registry import STUDIES
from shiftscope.report.selection_page import list_selection_tables, render_selection_markdown
from shiftscope.shortcuts.concepts import SHORTCUTS
from shiftscope.suites.study import FAILS, HOLDS, NOT_MEASURED
from shiftscope.suites.vqa_vs.findings import correlate_ranks
from shiftscope.suites.vqa_vs.reported import REPORTED

STUDY = STUDIES.load("vqa_vs").STUDY
QUESTIONS = 40
RARE = np.arange(QUESTIONS) % 4 == 0  # in every OOD test set


def make_world():
    tails = {tail_of(s): pack_bits(RARE) for s in SHORTCUTS}
    sizes = {"train": 100, "val": 10, "iid": QUESTIONS, "ood_test": 0, "changing_priors": 0}
    sizes |= {tail_of(s): int(RARE.sum()) for s in SHORTCUTS} | {tail_of(s, "val"): 5 for s in SHORTCUTS}
    sets = {IID: pack_bits(np.ones(QUESTIONS)), "ood_test": pack_bits(np.zeros(QUESTIONS)), **tails}
    degrees = {s: 0.5 + 0.05 * k for k, s in enumerate(SHORTCUTS)}
    images = pack_numbers(np.arange(QUESTIONS) // 2)
    return StudyWorld("vqa_vs", "small", "d", {}, QUESTIONS, sizes, degrees, sets, images)


def make_run(method, hits, seed=0, val=(9, 5, 5), ood_val=(1, 4, 2), recipe=None):
    """`hits` [epoch, question]; without a recipe, one with the settings that the study has today."""
    recipe = {"lr": 0.001} | (dict(STUDY.find_method(method).settings) if recipe is None else recipe)
    right = {"val": val, IID: [int(h.sum()) for h in hits]}
    right |= {tail_of(s): [int(h[RARE].sum()) for h in hits] for s in SHORTCUTS}
    right |= {tail_of(s, "val"): ood_val for s in SHORTCUTS}
    packed = {str(k + 1): pack_bits(h) for k, h in enumerate(hits)}
    known = {name: tuple(counts) for name, counts in right.items()}
    return SelectionRun(
        "vqa_vs", "small", "d", method, seed, WHOLE, 100, known, packed, "w", recipe, {}, "cpu", "0", f"{seed}"
    )


COMMON, EVERY, NONE = ~RARE, np.ones(QUESTIONS, bool), np.zeros(QUESTIONS, bool)
EPOCHS = [COMMON, NONE, RARE]  # the first is best on IID val and on the test, the last on OOD test


def test_each_strategy_chooses_its_own_epoch():
    run, sizes = make_run("updn", EPOCHS), make_world().sizes
    chosen = [select_epoch(run.right, sizes, s) for s in (IID_VAL, OOD_VAL, OOD_TEST, ON_TEST)]
    assert chosen == [0, 1, 2, 0]


def test_figures_are_of_the_chosen_epoch_and_means_over_seeds():
    runs = [make_run("updn", EPOCHS), make_run("updn", [EVERY, NONE, NONE], seed=1)]
    results = build_selection_results(STUDY, [make_world(), *runs])
    assert results.find_score("updn", IID).value == pytest.approx((0.75 + 1) / 2)
    assert results.find_score("updn", tail_of("KO")).value == pytest.approx(0.5)
    assert results.find_mean("updn", OOD_TEST).value == pytest.approx(1.0)
    assert results.find_selection_gain("updn", OOD_TEST).value == pytest.approx(0.5)
    assert results.find_seed_deviation("updn", tail_of("KO")) == pytest.approx(np.std([0, 1], ddof=1))
    assert results.find_score("ban", IID) is None


def test_findings_hold_fail_or_are_not_measured():
    lmh = make_run("updn+lmh", [NONE, NONE, NONE])
    results = build_selection_results(STUDY, [make_world(), make_run("updn", [EVERY, NONE, NONE]), lmh])
    verdicts = {one.says: one.verdict for one in STUDY.check_findings(results)}
    assert verdicts["Debiasing for one shortcut hurts on others (LMH: for question types)"] == HOLDS
    assert verdicts["No debiasing method beats its backbone on all nine OOD test sets"] == NOT_MEASURED
    best = make_run("updn+lmh", [EVERY, NONE, NONE])
    results = build_selection_results(STUDY, [make_world(), make_run("updn", [NONE, NONE, NONE]), best])
    verdicts = {one.says: one.verdict for one in STUDY.check_findings(results)}
    assert verdicts["No debiasing method beats its backbone on all nine OOD test sets"] == FAILS
    nothing = build_selection_results(STUDY, [])
    assert {one.verdict for one in STUDY.check_findings(nothing)} == {NOT_MEASURED}


def test_records_of_another_loss_are_not_mixed_in():
    """Those that name none were made when every loss was one softmax."""
    old, new = make_run("updn", [NONE, NONE, NONE], recipe={}), make_run("updn", EPOCHS, seed=1)
    results = build_selection_results(STUDY, [make_world(), old, new])
    assert results.outdated == 1 and list(results.runs) == [("updn", 1, WHOLE)]
    assert results.find_score("updn", IID).value == pytest.approx(0.75)
    assert "1 record left out whose methods were trained with other settings" in render_selection_markdown(results)
    kept = build_selection_results(STUDY, [make_world(), make_run("lxmert", EPOCHS, recipe={})])
    assert kept.outdated == 0 and list(kept.runs) == [("lxmert", 0, WHOLE)]
    gamma = make_run("updn+lpf gamma=5", EPOCHS, recipe={"gamma": "1"})
    assert build_selection_results(STUDY, [make_world(), gamma]).outdated == 1
    assert all("loss" in dict(m.settings) for m in (*STUDY.methods, *STUDY.language_methods))


def test_records_are_read_as_they_were_written():
    for record in (make_world(), make_run("updn", EPOCHS)):
        assert parse_selection_record(json.loads(json.dumps(record.to_json()))) == record
    with pytest.raises((ValueError, TypeError)):
        parse_selection_record(make_world().to_json() | {"more": 1})


def test_what_is_not_measured_is_a_dash_with_its_command():
    page = render_selection_markdown(build_selection_results(STUDY, [make_world(), make_run("updn", EPOCHS)]))
    assert '--methods "updn+lmh" --parts whole' in page
    tables = {table.title: table for table in list_selection_tables(build_selection_results(STUDY, []))}
    assert {cell for row in tables["OOD test sets (Tables 2 and 3), measured"].rows for cell in row[1:]} == {"–"}
    assert "Not measured" in tables


def test_reported_means_are_those_of_the_reported_sets():
    for method in ("s_mrl", "updn", "updn+lmh", "updn+lmh_l", "updn+lmh_v", "updn+ssl", "ban", "lxmert"):
        sets = [REPORTED.find("ood_accuracy", method, s) for s in SHORTCUTS]
        assert np.mean(sets) == pytest.approx(REPORTED.find("ood_accuracy", method, "mean"), abs=6e-5)


def test_ranks_correlate():
    assert correlate_ranks([1, 2, 3], [10, 20, 30]) == pytest.approx(1)
    assert correlate_ranks([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert correlate_ranks([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(0.9486833)


def test_a_record_says_with_how_many_it_shared_the_device_and_older_ones_stay_as_they_are():
    alone = replace(make_run("updn", EPOCHS), throughput=100.0)
    beside = replace(alone, seed=1, together=4, throughput=60.0, shared_throughput=210.0)
    assert not {"together", "shared_throughput"} & set(alone.to_json())
    for run in (alone, beside):
        assert parse_selection_record(json.loads(json.dumps(run.to_json()))) == run


def test_throughput_of_a_shared_device_stands_apart_from_that_of_one_training():
    seconds = {"training": 10.0, "answering": 2.0}
    alone = replace(make_run("updn", EPOCHS), throughput=100.0, seconds=seconds)
    beside = replace(alone, seed=1, together=4, throughput=60.0, shared_throughput=210.0)
    text = render_selection_markdown(build_selection_results(STUDY, [make_world(), alone]))
    assert "| updn | 100 | 10.0 | 2.0 | cpu |" in text and "at once" not in text
    text = render_selection_markdown(build_selection_results(STUDY, [make_world(), alone, beside]))
    assert "| updn | 100 | 10.0 | 2.0 | cpu |" in text
    assert "| updn, 4 at once (60 by itself) | 210 | 10.0 | 2.0 | cpu |" in text
    assert "questions/s is the sum over them" in text
