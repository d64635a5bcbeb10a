"""Shifts by counts over a whole dataset: VQA-VS, GQA-OOD and changing priors."""

from collections import Counter

import numpy as np
import pytest

import audit_toys
from shiftscope.formats import read_question_table as read_vqa
from shiftscope.question_table import QuestionTable, encode_column
from shiftscope.shift import changing_priors, gqa_ood, vqa_vs
from shiftscope.shortcuts.audit import AuditSettings, audit_shortcuts
from shiftscope.shortcuts.concepts import SHORTCUTS


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    files = audit_toys.write(tmp_path_factory.mktemp("shift"), audit_toys.dataset(2000, typed=1.0))
    return read_vqa(*([file] for file in files))


def grouped(groups, answers):
    """Samples with local groups and answers, in the order given."""
    return QuestionTable(
        "gqa",
        ids=tuple(f"q{k}" for k in range(len(answers))),
        images=encode_column(["1"] * len(answers)),
        texts=encode_column(["Who?"] * len(answers)),
        answers=encode_column(answers),
        local=encode_column(groups),
    )


# VQA-VS


def test_vqa_vs_makes_the_split_and_the_sets_of_nine_shortcuts(samples):
    sets = {one.name: one for one in vqa_vs.sets(samples)}
    assert list(sets)[:4] == ["Training", "Val", "IID-Test", "OOD-Test/QT"]
    assert len(sets) == 3 + 3 * 9
    assert [len(sets[name]) for name in ("Training", "Val", "IID-Test")] == [1400, 100, 500]
    test, val = (set(sets[name].rows.tolist()) for name in ("IID-Test", "Val"))
    for shortcut in SHORTCUTS:
        ood, head = (set(sets[f"{kind}/{shortcut}"].rows.tolist()) for kind in ("OOD-Test", "Head"))
        assert ood and head
        assert ood | head <= test
        assert not ood & head
        assert set(sets[f"OOD-Val/{shortcut}"].rows.tolist()) <= val


def test_vqa_vs_takes_settings(samples):
    few = {s.name: len(s) for s in vqa_vs.sets(samples, AuditSettings(rare=0.3))}
    many = {s.name: len(s) for s in vqa_vs.build_audit_sets(audit_shortcuts(samples))}
    assert 0 < few["OOD-Test/QT"] < many["OOD-Test/QT"]


# GQA-OOD


def test_the_most_uneven_local_groups_are_parted():
    # Groups a: 9 of x and 1 of y; b and c: even. Mean entropy 0.823, deviation 0.25: only a is kept.
    groups = ["a"] * 10 + ["b"] * 4 + ["c"] * 4
    answers = ["x"] * 9 + ["y"] + ["x", "x", "y", "y"] * 2
    sets = {one.name: one.rows.tolist() for one in gqa_ood.sets(grouped(groups, answers))}
    assert sets == {"all": list(range(10)), "head": list(range(9)), "tail": [9]}


def test_groups_of_one_answer_count_in_mean_and_deviation():
    # 9 and 1 has 0.469, 4 and 1 has 0.722: of these two only, 0.595 - 0.126 = 0.469 keeps the first. With
    # six groups of one answer, at 1 each, it is 0.899 - 0.183 = 0.716; with seven 0.910 - 0.175 = 0.735.
    def kept(alone):
        groups = ["a"] * 10 + ["b"] * 5 + [f"c{k}" for k in range(alone)]
        made = grouped(groups, ["x"] * 9 + ["y"] + ["x"] * 4 + ["y"] + ["z"] * alone)
        return gqa_ood.build_groups(made).imbalanced.tolist()

    assert kept(0) == [True, False]
    assert kept(6) == [True, False] + [False] * 6
    assert kept(7) == [True, True] + [False] * 7


def test_questions_without_a_local_group_are_a_group():
    groups = [None] * 10 + ["b"] * 4 + ["c"] * 4
    answers = ["x"] * 9 + ["y"] + ["x", "x", "y", "y"] * 2
    sets = {one.name: one.rows.tolist() for one in gqa_ood.sets(grouped(groups, answers))}
    assert sets == {"all": list(range(10)), "head": list(range(9)), "tail": [9]}


def test_the_sets_of_an_audit_are_of_its_iid_test_and_by_its_concepts(samples):
    found = audit_shortcuts(samples, AuditSettings(statistics="train", types="prefixes", seed=3))
    test = set(found.split.rows("test").tolist())
    whole, head, tail = gqa_ood.build_audit_sets(found, gqa_ood.GqaOodSettings(by="QT+KW"))
    assert set(whole.rows.tolist()) == {*head.rows.tolist(), *tail.rows.tolist()} <= test
    assert len(head) and len(tail)
    other = audit_shortcuts(samples, AuditSettings(statistics="all", seed=3))
    assert gqa_ood.build_audit_sets(other, gqa_ood.GqaOodSettings(by="QT+KW"))[0].rows.tolist() != whole.rows.tolist()


def test_an_entropy_at_the_limit_is_kept_whatever_rounding_says():
    # Two groups: the limit is the lower entropy, (a + b) / 2 - (b - a) / 2, to which floats need not come back.
    for rare in range(1, 40):
        groups = ["a"] * (2 * rare + 7) + ["b"] * (rare + 3)
        answers = ["x"] * (2 * rare + 6) + ["y"] + ["x"] * (rare + 1) + ["y"] * 2
        assert gqa_ood.build_groups(grouped(groups, answers)).imbalanced.tolist() == [True, False]


def test_alpha_says_how_far_the_tail_reaches():
    # 6, 3, 1 of 10: the mean is 3.3; with α = 0.2 the tail ends below 4, with α = -0.5 below 1.7.
    made = grouped(["a"] * 10, ["x"] * 6 + ["y"] * 3 + ["z"])
    tails = [
        next(s for s in gqa_ood.sets(made, gqa_ood.GqaOodSettings(alpha=alpha)) if s.name == "tail").rows.tolist()
        for alpha in (0.2, -0.5)
    ]
    assert tails == [[6, 7, 8, 9], [9]]


def test_a_limit_of_one_s_own_replaces_mean_and_deviation():
    made = grouped(["a"] * 10 + ["b"] * 4, ["x"] * 9 + ["y"] + ["x", "x", "x", "y"])
    kept = gqa_ood.build_groups(made, gqa_ood.GqaOodSettings(entropy=0.9)).imbalanced
    assert kept.tolist() == [True, True]


def test_equal_groups_are_all_kept_whatever_rounding_says():
    made = grouped([g for g in "abcdefg" for _ in range(4)], ["x", "x", "x", "y"] * 7)
    assert gqa_ood.build_groups(made).imbalanced.all()


def test_gqa_ood_needs_groups(samples, refuses):
    with refuses("the questions name no local groups; take those of a shortcut, such as QT+KW"):
        gqa_ood.sets(samples)
    with refuses("no grouping 'KWO'; did you mean"):
        gqa_ood.sets(samples, gqa_ood.GqaOodSettings(by="KWO"))
    with refuses("no groups of KO: no object annotations are given"):
        gqa_ood.sets(grouped(["a"], ["x"]), gqa_ood.GqaOodSettings(by="KO"))
    with refuses("alpha must be above -1, not -1"):
        gqa_ood.sets(samples, gqa_ood.GqaOodSettings(alpha=-1))


# Changing priors


def test_no_type_and_answer_is_on_both_sides(samples):
    found = changing_priors.build_split(samples)
    kinds = list(zip(samples.types.to_list(), samples.answers.to_list(), strict=True))
    train, test = ({kinds[k] for k in rows.tolist()} for rows in (found.train, found.test))
    assert not train & test
    assert len(train | test) == found.groups
    assert sorted([*found.train.tolist(), *found.test.tolist()]) == list(range(2000))


def test_the_test_has_its_share_and_no_more(samples):
    for share in (0.1, 1 / 3, 0.6):
        found = changing_priors.build_split(samples, changing_priors.ChangingPriorsSettings(share=share))
        assert 0.95 * share * 2000 <= len(found.test) <= share * 2000


def test_the_prior_of_a_type_changes(samples):
    found = changing_priors.build_split(samples)
    kind = samples.types.codes == samples.types.values.index("what color is the")
    tops = [
        Counter(samples.answers.codes[rows[kind[rows]]].tolist()).most_common(1)[0][0]
        for rows in (found.train, found.test)
    ]
    assert tops[0] != tops[1]


def test_train_shows_more_of_what_the_test_speaks_of_than_chance_would(samples):
    found = changing_priors.build_split(samples)

    def speaks(rows):
        said = [w for k in rows.tolist() for w in samples.texts[k].lower().strip("?").split()]
        return {*said, *(("answer", samples.answers[k]) for k in rows.tolist())}

    test = speaks(found.test)
    assert found.covered == pytest.approx(len(test & speaks(found.train)) / len(test), abs=0.02)
    assert found.covered > 0.75


def test_the_seed_decides_and_the_order_of_the_files_does_not(samples):
    turned = np.arange(2000)[::-1]
    other = QuestionTable(
        "vqa",
        samples.ids[::-1],
        *(c.take(turned) for c in (samples.images, samples.texts, samples.answers, samples.types)),
    )
    first, second = changing_priors.build_split(samples), changing_priors.build_split(other)
    assert set(samples.take_ids(first.test)) == set(other.take_ids(second.test))
    third = changing_priors.build_split(samples, changing_priors.ChangingPriorsSettings(seed=1))
    assert first.test.tolist() != third.test.tolist()


def test_what_can_not_be_split_is_refused(refuses):
    with refuses("every group of one question type and answer is larger than the test may be"):
        changing_priors.build_split(grouped(["a"] * 9, ["x"] * 9))
    with refuses("the test's share must be between 0 and 1, not 1"):
        changing_priors.build_split(grouped(["a"], ["x"]), changing_priors.ChangingPriorsSettings(share=1))
