"""Model selection: each strategy chooses the epoch it should, and figures are those of the chosen epoch."""

import json
from dataclasses import replace

import numpy as np
import pytest

from shiftscope.metrics.intervals import Estimate
from shiftscope.metrics.model_selection import (
    IID,
    IID_VAL,
    ON_TEST,
    OOD_TEST,
    OOD_VAL,
    PRIORS,
    PROPORTION,
    WHOLE,
    SelectionRun,
    StudyWorld,
    add_seed_parts,
    build_selection_results,
    head_of,
    pack_bits,
    pack_numbers,
    parse_selection_record,
    select_epoch,
    tail_of,
)
from shiftscope.registry import STUDIES
from shiftscope.report.selection_page import list_selection_tables, render_selection_markdown
from shiftscope.shortcuts.concepts import SHORTCUTS
from shiftscope.suites.study import FAILS, HOLDS, NOT_MEASURED, UNDECIDED
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
    assert results.find_selection_gain(OOD_TEST, "updn").value == pytest.approx(0.5)
    assert results.find_score("ban", IID) is None


def test_blind_rules_stand_beside_the_models():
    blind = {"prior": pack_bits(COMMON), "second": pack_bits(RARE)}
    world = replace(make_world(), blind=blind)
    results = build_selection_results(STUDY, [parse_selection_record(json.loads(json.dumps(world.to_json())))])
    assert results.find_blind("prior", IID).value == 0.75 and results.find_blind("second", IID).value == 0.25
    assert results.find_blind("second", tail_of("KO"), tail_of("QT")).value == 1.0
    assert results.find_blind("prior", "ood_test") is None  # the set is empty
    rows = [row for row in render_selection_markdown(results).splitlines() if "most frequent" in row[:40]]
    assert rows[0].startswith("| most frequent answer of its type | – | 0.00") and "100.00" in rows[1]
    assert world.is_redrawn(replace(make_world(), data="other"))  # one that was described before there were rules
    bare = build_selection_results(STUDY, [make_world()])
    assert bare.find_blind("prior", IID) is None and "answer of its type" not in render_selection_markdown(bare)


def test_the_same_world_drawn_by_another_device_counts_and_is_told():
    drawn = replace(make_world(), data="c", spec={"device": "cuda"})
    other = replace(make_run("ban", [EVERY, NONE, NONE]), data="c")
    records = [make_world(), make_run("updn", EPOCHS), make_run("updn", EPOCHS, seed=1), drawn, other]
    results = build_selection_results(
        STUDY, [parse_selection_record(json.loads(json.dumps(r.to_json()))) for r in records]
    )
    assert results.find_score("ban", IID).value == 1.0 and results.world.data == "d"
    page = render_selection_markdown(results)
    assert "1 training (whole) saw the same scenes" in page and "drawn by a GPU instead of a CPU (data c)" in page
    again = replace(other, data="d", made="1")
    anew = [replace(one, spec={"device": "cuda"}) if one is records[0] else one for one in records]
    results = build_selection_results(STUDY, [*anew, again])
    assert list(results.list_repeats()) == [("ban", 0, WHOLE)]  # also of pictures drawn anew
    page = render_selection_markdown(build_selection_results(STUDY, anew))
    assert "drawn and stored anew (data c)" in page
    asked = replace(drawn, sizes=drawn.sizes | {"val": 11})  # by the same spec, with other questions
    results = build_selection_results(STUDY, [*records[:3], asked, other])
    assert results.find_score("ban", IID) is None and results.left_out == 1
    assert "saw the same scenes" not in render_selection_markdown(results)


def test_an_interval_over_scenes_gets_longer_by_what_seeds_differ_on_each_side_apart():
    """Errors of 0.02 and 0.04 over scenes; four seeds with a variance of 0.0004: together 12 and 75 degrees of freedom,
    by which the first side would be shorter than that of the seeds alone, which have three."""
    error = 1.959963984540054
    scenes = Estimate(0.5, 0.5 - 0.02 * error, 0.5 + 0.04 * error, 40, 0.0)
    made = add_seed_parts(scenes, [(0.0004, 3.0)], [1.0])
    assert 0.5 - made.low == pytest.approx(3.182446 * 0.0004**0.5, rel=1e-5)
    assert made.high - 0.5 == pytest.approx(1.992102 * 0.0020**0.5, rel=1e-5)
    assert add_seed_parts(scenes, [], [1.0]) == pytest.approx(scenes)  # one seed
    several = add_seed_parts(scenes, [], [1.0], comparisons=8)
    assert 0.5 - several.low == pytest.approx(0.02 * 2.734369, rel=1e-5)
    assert add_seed_parts(scenes, [(0.04, 1.0)], [1.0])[1:3] == (0.0, 1.0)  # of a share
    assert add_seed_parts(scenes, [(0.04, 1.0)], [1.0, -1.0])[1:3] == (-1.0, 1.0)  # of a difference


def test_seeds_that_differ_make_a_figure_unsure():
    one = build_selection_results(STUDY, [make_world(), make_run("updn", EPOCHS)])
    assert one.find_score("updn", IID).low > 0.5  # over scenes alone
    apart = [make_run("updn", EPOCHS), make_run("updn", [NONE, NONE, NONE], seed=1)]
    both = build_selection_results(STUDY, [make_world(), *apart]).find_score("updn", IID)
    assert (both.value, both.low, both.high) == (pytest.approx(0.375), 0.0, 1.0)
    table = render_selection_markdown(build_selection_results(STUDY, [make_world(), *apart]))
    assert "| updn | 2 | " in table and "37.50 (0.00–100.00)" in table
    alike = [make_run("updn", EPOCHS), make_run("updn", EPOCHS, seed=1)]
    same = build_selection_results(STUDY, [make_world(), *alike]).find_score("updn", IID)
    assert same.low == pytest.approx(one.find_score("updn", IID).low)


def test_a_training_made_again_counts_last_and_the_page_tells_how_far_they_lie_apart():
    first, again = make_run("updn", [EVERY, NONE, NONE]), replace(make_run("updn", [RARE, NONE, NONE]), made="1")
    results = build_selection_results(STUDY, [make_world(), again, first])
    assert results.find_score("updn", IID).value == pytest.approx(0.25) and results.repeats == (first,)
    assert results.list_repeats() == {("updn", 0, WHOLE): [1.0, 0.25]}
    page = render_selection_markdown(results)
    assert "75.00 points in the median, the most updn, seed 0: 100.00, 25.00." in page
    alone = build_selection_results(STUDY, [make_world(), again])
    assert "Made more than once" not in render_selection_markdown(alone)


def test_gains_are_of_the_seeds_that_both_have():
    backbone = [make_run("updn", [EVERY, NONE, NONE]), make_run("updn", [COMMON, NONE, NONE], seed=1)]
    lmh = [make_run("updn+lmh", [EVERY, NONE, NONE], seed=1), make_run("updn+lmh", [NONE, NONE, NONE], seed=2)]
    results = build_selection_results(STUDY, [make_world(), *backbone, *lmh])
    assert results.list_seeds("updn+lmh", "updn") == [1]
    assert results.find_gain("updn+lmh", "updn", IID).value == pytest.approx(0.25)
    assert results.find_mean_gain("updn+lmh", "updn").value == pytest.approx(1.0)
    row = next(line for line in render_selection_markdown(results).splitlines() if "| updn+lmh − updn |" in line)
    assert row.startswith("| updn+lmh − updn | 1 | +100.00")
    apart = build_selection_results(STUDY, [make_world(), backbone[0], *lmh])
    assert apart.find_gain("updn+lmh", "updn", IID) is None and apart.list_seeds("updn+lmh", "updn") == []


def test_a_gap_is_between_two_sets_of_one_model():
    results = build_selection_results(STUDY, [make_world(), make_run("updn", EPOCHS)])
    assert results.find_gap("updn", tail_of("QT")).value == pytest.approx(0.75)


BEATS = "No debiasing method beats its backbone on all nine OOD test sets"
HURTS = "Debiasing for one shortcut hurts on others (LMH: for question types)"
CHOOSING = "Choosing the epoch on OOD data adds points on the OOD test sets"
EASIER = "Every model is better on the IID test than on every OOD test set"
GAMMA = "Keeping a model more from frequent samples (LPF, γ from 1 to 5) costs IID and OOD accuracy"


def decide(*runs):
    results = build_selection_results(STUDY, [make_world(), *runs])
    return {one.says: one.verdict for one in STUDY.check_findings(results)}


def test_findings_hold_fail_or_are_not_measured():
    every, none = [EVERY, NONE, NONE], [NONE, NONE, NONE]
    verdicts = decide(make_run("updn", every), make_run("updn+lmh", none))
    assert (verdicts[HURTS], verdicts[BEATS]) == (FAILS, NOT_MEASURED)  # it loses on its own shortcut
    assert decide(make_run("updn", none), make_run("updn+lmh", every))[BEATS] == FAILS
    gammas = [make_run(f"updn+lpf gamma={k}", hits) for k, hits in ((1, every), (5, none))]
    assert decide(*gammas)[GAMMA] == HOLDS
    assert decide(make_run("updn", [COMMON, NONE, NONE]))[EASIER] == HOLDS
    assert decide(make_run("updn", [RARE, NONE, NONE]))[EASIER] == FAILS
    nothing = build_selection_results(STUDY, [])
    assert {one.verdict for one in STUDY.check_findings(nothing)} == {NOT_MEASURED}


def make_share_runs(rights):
    """One training per shortcut and share: of the tail and of the rest, the head here, the first so many are right."""
    for shortcut in SHORTCUTS:
        for share, (tail, head) in rights.items():
            hits = (RARE & (np.cumsum(RARE) <= tail)) | (COMMON & (np.cumsum(COMMON) <= head))
            run = make_run(
                "updn", [hits, NONE, NONE], recipe=dict(STUDY.find_method("updn").settings) | {"batch": "64"}
            )
            right = run.right | {head_of(s): (head, 0, 0) for s in SHORTCUTS}
            yield replace(run, training=f"{PROPORTION}/{shortcut}/{share}", right=right)


def test_shares_of_shortcut_samples_cost_tails_and_are_soon_learned_or_not():
    world = make_world()
    heads = {head_of(s): pack_bits(COMMON) for s in SHORTCUTS}
    world = replace(world, sets={**world.sets, **heads}, sizes=world.sizes | dict.fromkeys(heads, int(COMMON.sum())))
    soon = {10: (10, 0), 30: (8, 28), 50: (6, 29), 70: (4, 30), 90: (0, 30)}
    late = {10: (0, 0), 30: (4, 2), 50: (6, 5), 70: (8, 20), 90: (10, 30)}
    verdicts = []
    for rights in (soon, late):
        results = build_selection_results(STUDY, [world, *make_share_runs(rights)])
        found = list(STUDY.check_findings(results))
        verdicts.append([one.verdict for one in found if "Figure 7" in one.says])
    assert verdicts == [[HOLDS, HOLDS], [FAILS, FAILS]]
    most = [run for run in make_share_runs(soon) if run.training != f"{PROPORTION}/KO/10"]
    found = STUDY.check_findings(build_selection_results(STUDY, [world, *most]))
    assert {one.verdict for one in found if "Figure 7" in one.says} == {NOT_MEASURED}


def test_a_finding_that_seeds_disagree_about_is_undecided():
    better, worse = [EVERY, NONE, NONE], [NONE, NONE, NONE]
    methods = [m for m in STUDY.methods if m.backbone]
    backbones = [make_run(label, worse, seed) for label in {m.backbone for m in methods} for seed in (0, 1)]
    mixed = [make_run(m.label, hits, seed) for m in methods for seed, hits in enumerate((better, worse))]
    verdicts = decide(*backbones, *mixed)
    assert verdicts[BEATS] == UNDECIDED
    assert verdicts[GAMMA] == UNDECIDED
    gammas = [make_run(f"updn+lpf gamma={k}", better if k == 1 else worse, 0) for k in (1, 5)]
    gammas += [make_run(f"updn+lpf gamma={k}", worse, 1) for k in (1, 5)]
    assert decide(*gammas)[GAMMA] == UNDECIDED


def test_lmh_hurts_others_if_it_gains_on_its_own_shortcut_and_surely_loses_on_another():
    world = make_world()
    own = np.arange(QUESTIONS) % 4 == 1
    world = replace(world, sets={**world.sets, tail_of("QT"): pack_bits(own)})
    runs = [make_run("updn", [RARE, NONE, NONE]), make_run("updn+lmh", [own, NONE, NONE])]
    found = {one.says: one.verdict for one in STUDY.check_findings(build_selection_results(STUDY, [world, *runs]))}
    assert found[HURTS] == HOLDS
    unsure = [make_run(run.method, [~own & ~RARE, NONE, NONE], seed=1) for run in runs]
    results = build_selection_results(STUDY, [world, *runs, *unsure])
    assert {one.says: one.verdict for one in STUDY.check_findings(results)}[HURTS] == UNDECIDED


def test_choosing_is_judged_by_ood_val_and_not_by_the_very_figure():
    run = make_run("updn", EPOCHS)  # on OOD test the last epoch has all, that of OOD val no more than that of IID val
    results = build_selection_results(STUDY, [make_world(), run])
    assert results.find_selection_gain(OOD_TEST, "updn").value == pytest.approx(1)
    assert decide(run)[CHOOSING] == FAILS
    assert decide(make_run("updn", EPOCHS, ood_val=(1, 2, 4)))[CHOOSING] == HOLDS
    seeds = [make_run("updn", EPOCHS, seed, ood_val=(1, 2, 4) if seed else (4, 1, 2)) for seed in (0, 1)]
    assert decide(*seeds)[CHOOSING] == UNDECIDED


def test_chosen_epochs_are_shown_by_seed():
    runs = [make_run("updn", EPOCHS, val=(1, 2, 3)), make_run("updn", EPOCHS, seed=1)]
    assert "| updn | 2 | 3, 1 | " in render_selection_markdown(build_selection_results(STUDY, [make_world(), *runs]))


def test_lpf_is_compared_with_a_backbone_of_its_own_loss():
    for method in (m for m in (*STUDY.methods, *STUDY.language_methods) if m.backbone):
        assert dict(STUDY.find_method(method.backbone).settings)["loss"] == dict(method.settings)["loss"]


def test_small_training_sets_have_settings_of_their_own():
    part = replace(make_run("updn", EPOCHS), training="proportion/QT/50")
    assert not STUDY.trains_alike(part)
    small = replace(part, recipe={**part.recipe, "batch": "64"})
    assert STUDY.trains_alike(small) and not STUDY.trains_alike(replace(small, training=WHOLE))


def test_a_branch_that_was_trained_before_is_told_and_changes_no_settings():
    run = replace(make_run("updn+lmh_l", EPOCHS), throughput=1.0, seconds={"training": 1.0, "answering": 1.0})
    run = replace(run, recipe={**run.recipe, "language_branch_val": 0.4412})
    assert STUDY.trains_alike(run) and run.earlier_stages == {"language_branch": 0.4412}
    text = render_selection_markdown(build_selection_results(STUDY, [make_world(), run]))
    assert "by seed, per cent: updn+lmh_l, language branch: 44.1." in text


@pytest.mark.parametrize("training", ["changing_priors", "proportion/QT/50"])
def test_any_seed_of_a_part_that_takes_one_is_measured(training):
    def list_missing(*runs):
        tables = list_selection_tables(build_selection_results(STUDY, [make_world(), *runs]))
        rows = next(table.rows for table in tables if table.title == "Not measured")
        return {row[1]: row[2] for row in rows if row[0] == "updn"}

    run = make_run("updn", EPOCHS, seed=1)
    run = replace(run, training=training, right={**run.right, "changing_priors": (1, 1, 1)})
    run = replace(run, recipe={**run.recipe, **({"batch": "64"} if "proportion" in training else {})})
    before, after = list_missing(), list_missing(run)
    assert before["changing_priors"] == "changing_priors" and before["proportion"] == "45 trainings"
    assert after.get("changing_priors") == (None if training == "changing_priors" else "changing_priors")
    assert after["proportion"] == ("45 trainings" if training == "changing_priors" else "44 trainings")


def test_records_of_another_loss_are_not_mixed_in():
    """Those that name none were made when every loss was one softmax."""
    old, new = make_run("updn", [NONE, NONE, NONE], recipe={}), make_run("updn", EPOCHS, seed=1)
    results = build_selection_results(STUDY, [make_world(), old, new])
    assert results.outdated == 1 and list(results.runs) == [("updn", 1, WHOLE)]
    assert results.find_score("updn", IID).value == pytest.approx(0.75)
    assert "1 record left out whose methods were trained with other settings" in render_selection_markdown(results)
    kept = build_selection_results(STUDY, [make_world(), make_run("lxmert width=384", EPOCHS, recipe={})])
    assert kept.outdated == 0 and list(kept.runs) == [("lxmert width=384", 0, WHOLE)]
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
    for method in ("s_mrl", "updn", "updn+lmh", "updn+lmh_l", "updn+lmh_v", "updn+ssl", "ban", "lxmert width=384"):
        sets = [REPORTED.find("ood_accuracy", method, s) for s in SHORTCUTS]
        assert np.mean(sets) == pytest.approx(REPORTED.find("ood_accuracy", method, "mean"), abs=6e-5)


def test_evenness_without_groups_of_one_answer_is_told_beside():
    world = replace(make_world(), several_degrees={s: 0.9 - 0.05 * k for k, s in enumerate(SHORTCUTS)})
    assert parse_selection_record(json.loads(json.dumps(world.to_json()))) == world
    assert "several_degrees" not in make_world().to_json()
    runs = [make_run(m.label, EPOCHS) for m in STUDY.methods if not m.backbone]
    text = render_selection_markdown(build_selection_results(STUDY, [world, *runs]))
    assert "| QT | 0.500 | 0.900 |" in text and "by groups with several answers alone" in text
    assert "| QT | 0.500 | – |" in render_selection_markdown(build_selection_results(STUDY, [make_world(), *runs]))
    assert "lxmert width=384 +" in text and ", lxmert +" not in text  # two sizes of one model are not two


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
    assert "| updn | 100 | 100 | no | 10.0 | 2.0 | cpu |" in text and "at once" not in text
    text = render_selection_markdown(build_selection_results(STUDY, [make_world(), alone, beside]))
    assert "| updn | 100 | 100 | no | 10.0 | 2.0 | cpu |" in text
    assert "| updn, 4 at once (60 by itself) | 210 | 210 | no | 10.0 | 2.0 | cpu |" in text
    assert "questions/s is the sum over them" in text
    last_alone = replace(beside, throughput=120_000.0, shared_throughput=120_000.0)
    text = render_selection_markdown(build_selection_results(STUDY, [make_world(), last_alone]))
    assert "| updn | 120,000 | 120,000 | yes | 10.0 | 2.0 | cpu |" in text and "at once" not in text


def test_seeds_and_frequent_answers_stand_apart_and_priors_say_their_epoch():
    world = make_world()
    sizes = {**world.sizes, "changing_priors": 20, head_of("QT"): 30}
    sets = {**world.sets, "changing_priors": pack_bits(np.arange(QUESTIONS) < 20), head_of("QT"): pack_bits(COMMON)}
    world = replace(world, sizes=sizes, sets=sets)
    runs = [make_run("updn", EPOCHS), make_run("updn", [RARE, NONE, NONE], seed=1)]
    priors = replace(runs[0], training=PRIORS, right={**runs[0].right, "changing_priors": (3, 5, 1)})
    tables = {t.title: t for t in list_selection_tables(build_selection_results(STUDY, [world, *runs, priors]))}
    seeds = {row[0]: row[1:] for row in tables["Seeds apart"].rows}
    assert seeds["updn"] == ("75.0 / 0.0", "25.0 / 100.0") and set(seeds["ban"]) == {"–"}
    heads = {row[0]: row[1] for row in tables["The frequent answers (heads) of the IID test"].rows}
    assert heads["updn"].startswith("50.00") and heads["ban"] == "–"
    assert "updn 2 (5.00)" in tables["OOD test sets (Tables 2 and 3), measured"].note
