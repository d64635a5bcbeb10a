"""Training sets with a chosen share of shortcut samples: of one size, nested, and a function of the seed."""

import pytest

from audit_samples import samples_of
from shiftscope.question import Question
from shiftscope.shortcuts.audit import PROPORTIONS, AuditSettings, audit_shortcuts, build_proportion_sets


def found(said):
    """One type, with these answers in train and once more in test."""
    questions = [Question(f"q{k}", "Is it?", (f"i{k}",), answer=a, kind="is") for k, a in enumerate(said * 2)]
    splits = ["train"] * len(said) + ["test"] * len(said)
    return audit_shortcuts(samples_of(questions, None, splits), AuditSettings(split="given"))


@pytest.fixture(scope="module")
def uneven():
    """A head of 30 times yes, a tail of ten answers once each."""
    return found(["yes"] * 30 + [f"rare {k}" for k in range(10)])


def shares(audited, made):
    head = set(audited.train["QT"].head.tolist())
    return [(blend.share, len(blend.rows), len(head & set(blend.rows.tolist()))) for blend in made]


def test_sets_are_as_large_as_the_smaller_part_and_have_their_share(uneven):
    assert shares(uneven, build_proportion_sets(uneven, "QT")) == [
        (0, 10, 0),
        (10, 10, 1),
        (30, 10, 3),
        (50, 10, 5),
        (70, 10, 7),
        (90, 10, 9),
        (100, 10, 10),
    ]
    assert PROPORTIONS == (0, 10, 30, 50, 70, 90, 100)


def test_shares_come_in_order_and_once(uneven):
    assert [blend.share for blend in build_proportion_sets(uneven, "QT", (100, 0, 100))] == [0, 100]


def test_the_head_of_a_smaller_share_is_in_the_larger_and_the_tail_the_other_way_round(uneven):
    head = set(uneven.train["QT"].head.tolist())
    small, large = (set(b.rows.tolist()) for b in build_proportion_sets(uneven, "QT", (30, 70)))
    assert small & head < large & head
    assert large - head < small - head


def test_rows_are_of_train_ascending_and_each_once(uneven):
    rows = build_proportion_sets(uneven, "QT", (50,))[0].rows.tolist()
    assert rows == sorted(set(rows))
    assert max(rows) < 40


def test_the_seed_decides(uneven):
    one, same, other = (build_proportion_sets(uneven, "QT", (50,), seed)[0].rows.tolist() for seed in (0, 0, 1))
    assert one == same
    assert one != other


def test_a_set_is_named_after_shortcut_and_share(uneven):
    made = build_proportion_sets(uneven, "QT", (30,))[0]
    assert (made.name, len(made.rows)) == ("Proportion/QT-30", 10)


def test_without_a_head_or_a_tail_there_is_nothing_to_blend():
    assert build_proportion_sets(found(["yes", "no"] * 5), "QT") == ()


@pytest.mark.parametrize("share", [-1, 101])
def test_a_share_is_of_a_hundred(uneven, refuses, share):
    with refuses(f"a share of shortcut samples is from 0 to 100 per cent, not {share}"):
        build_proportion_sets(uneven, "QT", (50, share))
