"""Facts are cut into levels that can be compared, and the search for bad slices finds those and no others."""

import numpy as np
import pytest

from report_toys import asked, log, study
from shiftscope import rng
from shiftscope.columns import Column, column_of
from shiftscope.report.measure import Levels, concat_columns, cut_levels
from shiftscope.report.sections.worst_slices import find_slice_rows, find_worst_slices, search_slices


def test_few_numbers_keep_their_values_and_their_order():
    made = cut_levels(column_of([10, 3, 10, None, 7]))
    assert made.names == ("3", "7", "10")
    assert made.codes.tolist() == [2, 0, 2, -1, 1]
    assert made.ordered


def test_many_numbers_become_ranges_of_like_size():
    made = cut_levels(column_of(list(range(1, 101))), 4)
    assert made.names == ("1–25", "26–50", "51–75", "76–100")
    assert np.bincount(made.codes).tolist() == [25, 25, 25, 25]


def test_words_stand_in_alphabetical_order_without_those_nobody_has():
    column = Column(("b", "gone", "a", True), np.array([0, 2, -1, 3], np.int32))
    made = cut_levels(column)
    assert (made.names, made.codes.tolist(), made.ordered) == (("a", "b", "yes"), [1, 0, -1, 2], False)


def test_columns_are_joined_over_one_list_of_values():
    made = concat_columns([column_of(["a", None]), column_of(["b", "a"]), column_of([1, True])])
    assert made.to_list() == ["a", None, "b", "a", 1, True]


def data(n=4000, scenes=400):
    random = rng.derive("test", "worst")
    kind = random.integers(0, 4, n)
    objects = random.integers(0, 5, n)
    facts = {
        "kind": Levels(("count", "exist", "query", "equal"), kind.astype(np.int32), False),
        "objects": Levels(("3", "4", "5", "6", "7"), objects.astype(np.int32), True),
    }
    return random, kind, objects, facts, (np.arange(n) % scenes).astype(np.int32)


def test_a_planted_pair_is_found_first():
    random, kind, objects, facts, scene = data()
    right = random.random(len(kind)) < np.where((kind == 0) & (objects == 4), 0.3, 0.9)
    found = find_worst_slices(right.astype(float), scene, facts)
    assert found.slices[0].facts == (("kind", "count"), ("objects", "7"))
    assert found.slices[0].inside == pytest.approx(right[(kind == 0) & (objects == 4)].mean())
    assert found.slices[0].chance < 0.001
    assert found.searched == 4 + 5 + 20


def test_a_single_bad_fact_is_not_told_again_through_every_pair_with_it():
    random, kind, _, facts, scene = data()
    right = random.random(len(kind)) < np.where(kind == 0, 0.4, 0.9)
    assert [s.facts for s in find_worst_slices(right.astype(float), scene, facts).slices] == [(("kind", "count"),)]


def test_noise_has_no_bad_slices():
    random, kind, _, facts, scene = data()
    assert find_worst_slices((random.random(len(kind)) < 0.8).astype(float), scene, facts).slices == ()


def test_scenes_that_fail_as_a_whole_are_not_taken_for_many_failures():
    """Forty scenes of a hundred questions: the kind is a property of the scene, and luck comes by scene."""
    random = rng.derive("test", "worst", "scenes")
    scene = np.repeat(np.arange(40), 100).astype(np.int32)
    bad = random.random(40) < 0.5
    kind = Levels(("a", "b"), (scene % 2).astype(np.int32), False)
    assert find_worst_slices((~bad[scene]).astype(float), scene, {"kind": kind}).slices == ()


def test_slices_of_too_few_examples_are_not_looked_at():
    values = np.array([0.0] * 20 + [1.0] * 80)
    kind = Levels(("rare", "common"), np.array([0] * 20 + [1] * 80, np.int32), False)
    assert find_worst_slices(values, np.arange(100, dtype=np.int32), {"kind": kind}).searched == 0


def test_rows_without_a_value_are_left_out():
    random, kind, _, facts, scene = data()
    right = (random.random(len(kind)) < np.where(kind == 0, 0.4, 0.9)).astype(float)
    half = np.arange(len(kind)) % 2 == 0
    found = find_worst_slices(np.where(half, right, np.nan), scene, facts)
    assert found.slices[0].inside == pytest.approx(right[half & (kind == 0)].mean())


def test_the_slice_that_tells_wrong_answers_best_comes_before_a_larger_one_that_holds_it():
    """All of a tenth of a kind are wrong, in 25 scenes; so the kind is worse than others, but that is not the point."""
    random, kind, _, _, scene = data()
    rare = (kind == 0) & (scene < 250) & (scene % 10 == 0)
    right = (random.random(len(kind)) < 0.95) & ~rare
    facts = {
        "kind": Levels(("count", "exist", "query", "equal"), kind.astype(np.int32), False),
        "number": Levels(("few", "many"), np.where(kind == 0, rare, -1).astype(np.int32), True),
    }
    found = find_worst_slices(right.astype(float), scene, facts)
    assert [one.facts for one in found.slices] == [(("number", "many"),)]


def test_a_slice_whose_examples_all_fail_in_a_dozen_scenes_is_found():
    """Student's t cannot see it, corrected for many slices: twelve scenes are at most 3.5 standard errors."""
    y = np.ones(3000)
    y[:36] = 0
    scene = np.concatenate([np.repeat(np.arange(12), 3), 12 + np.arange(2964) % 300]).astype(np.int32)
    codes = np.concatenate([np.zeros(36), 1 + np.arange(2964) % 60]).astype(np.int32)
    y[40::25] = 0
    facts = {"fact": Levels(tuple(map(str, range(61))), codes, False)}
    (one,) = find_worst_slices(y, scene, facts).slices
    assert one.facts == (("fact", "0"),) and one.chance < 1e-6


def test_a_slice_is_not_named_for_examples_of_another():
    """Only test `hard` fails; half of it is about parts, of the rest a quarter, so parts look worse."""
    random = rng.derive("test", "worst", "confounded")
    n = 4000
    hard = np.arange(n) % 4 == 0
    parts = np.where(hard, np.arange(n) % 8 == 0, np.arange(n) % 5 == 1)
    right = random.random(n) < np.where(hard, 0.3, 0.95)
    facts = {
        "test": Levels(("default", "hard"), hard.astype(np.int32), False),
        "about": Levels(("wholes", "parts"), parts.astype(np.int32), False),
    }
    scene = (np.arange(n) // 10).astype(np.int32)
    found = find_worst_slices(right.astype(float), scene, facts)
    assert [one.facts for one in found.slices] == [(("test", "hard"),)]
    alone = find_worst_slices(right.astype(float), scene, {"about": facts["about"]})
    assert [one.facts for one in alone.slices] == [(("about", "parts"),)]  # it would have been


def test_noise_has_no_bad_slices_in_nineteen_of_twenty_searches():
    *_, facts, scene = data(600, 60)
    luck = rng.derive("test", "worst", "noise")
    for share in (0.97, 0.6):  # by scene as well: each has its own accuracy
        named = 0
        for _ in range(100):
            of_scene = np.clip(luck.normal(share, 0.08, 60), 0, 1)
            named += bool(find_worst_slices((luck.random(600) < of_scene[scene]).astype(float), scene, facts).slices)
        assert named <= 8  # 5 expected at most; more than 8 has a chance of 6%


def test_the_rows_of_a_slice_are_those_that_it_was_found_by():
    questions = [asked(f"q{k}", "yes", f"s{k // 2}", kind=f"kind {k % 3}", length=k % 25) for k in range(600)]
    run = study(log([(q, "no" if k % 3 == 0 and k % 25 > 15 else "yes") for k, q in enumerate(questions)])).runs
    found = search_slices(run).slices
    assert found
    for one in found:
        rows = find_slice_rows(run, one)
        assert rows.sum() == one.n
        assert run[0].records.right[rows].mean() == pytest.approx(one.inside)
