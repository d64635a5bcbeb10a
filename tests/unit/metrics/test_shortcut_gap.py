"""IID test, OOD sets and the gaps between them, from one run whose rows know their parts."""

import numpy as np
import pytest

from rows import row, run
from shiftscope.metrics.shortcut_gap import measure
from shiftscope.result import Prediction, QuestionRecord, records_of


def named(scores):
    return {(s.metric, dict(s.slice).get("shortcut", "")): s for s in scores}


def of(*rows):
    return named(measure(records_of(rows)))


def test_every_figure_of_a_small_run():
    made = of(
        row("1 yes yes", QT="head", KW="tail"),
        row("2 yes yes", QT="head"),
        row("3 yes yes"),
        row("4 no yes", QT="tail", KW="tail"),
        row("5 no no", QT="tail", KW="head"),
    )
    assert {key: (s.value, s.n) for key, s in made.items()} == {
        ("iid", ""): (0.8, 5),
        ("ood", "QT"): (0.5, 2),
        ("acc_head", "QT"): (1.0, 2),
        ("gap", "QT"): (pytest.approx(0.3), 2),
        ("ood", "KW"): (0.5, 2),
        ("acc_head", "KW"): (1.0, 1),
        ("gap", "KW"): (pytest.approx(0.3), 2),
        ("mean_ood", ""): (0.5, 3),
        ("mean_gap", ""): (pytest.approx(0.3), 3),
    }


def test_shortcuts_come_in_the_order_of_table_1():
    scores = measure(records_of([row("1 a a", KO="tail", KW="tail", QT="tail")]))
    assert [dict(s.slice)["shortcut"] for s in scores if s.metric == "ood"] == ["QT", "KW", "KO"]


def test_the_mean_is_over_sets_not_over_samples():
    made = of(row("1 a a", QT="tail"), row("2 a b", KW="tail"), row("3 a b", KW="tail"), row("4 a b", KW="tail"))
    assert (made["mean_ood", ""].value, made["mean_ood", ""].n) == (0.5, 4)  # n: rows of any set


def test_a_set_without_samples_has_no_figure_and_is_not_in_the_mean():
    made = of(row("1 a a", QT="tail", KW="head"), row("2 a b", QT="tail", KW="head"))
    assert (made["ood", "KW"].value, made["gap", "KW"].value, made["ood", "KW"].n) == (None, None, 0)
    assert made["mean_ood", ""].value == 0.5


def test_without_any_tail_there_is_no_mean():
    assert set(of(row("1 a a", QT="head"))) == {("iid", ""), ("ood", "QT"), ("acc_head", "QT"), ("gap", "QT")}


def test_annotators_count_in_thirds_and_rows_without_a_reply_as_wrong():
    def asked(k, *said):
        return QuestionRecord(str(k), (f"s{k}",), "red", said, (("QT", "tail"),))

    made = of(
        (asked(1, "red", "red", "blue"), Prediction("1", "red")),
        (asked(2, "red", "red", "red"), Prediction("2", "red")),
        (asked(3, "red"), None),
    )
    assert made["ood", "QT"].value == pytest.approx((2 / 3 + 1) / 3)
    assert (made["ood", "QT"].n, made["ood", "QT"].missing) == (3, 1)
    assert made["ood", "QT"].form == "VQA accuracy, thirds"


def test_a_row_without_annotators_among_others_is_scored_by_equality():
    made = of(
        (QuestionRecord("1", ("s1",), "red", ("red", "red", "blue"), (("QT", "tail"),)), Prediction("1", "red")),
        (QuestionRecord("2", ("s2",), "red", (), (("QT", "tail"),)), Prediction("2", "red")),
    )
    assert (made["iid", ""].value, made["iid", ""].n) == (pytest.approx((2 / 3 + 1) / 2), 2)


def test_what_was_not_answered_is_counted_in_every_set():
    # Of 100 questions, every fifth is of the tail; 40 have predictions, of which four are no answers.
    rows = []
    for k in range(100):
        asked = QuestionRecord(str(k), (f"s{k}",), "yes", (), (("QT", "tail" if k % 5 == 0 else "head"),))
        status = {0: "undefined", 5: "unreadable", 10: "failed", 11: "failed"}.get(k)
        said = Prediction(str(k), None, status=status) if status else Prediction(str(k), "yes")
        rows.append((asked, said if k < 40 else None))
    made = of(*rows)

    def counts(metric, shortcut=""):
        s = made[metric, shortcut]
        return s.n, s.missing, s.undefined, s.unreadable, s.failed

    assert counts("iid") == (100, 60, 1, 1, 2)
    assert counts("ood", "QT") == counts("gap", "QT") == (20, 12, 1, 1, 1)
    assert counts("acc_head", "QT") == (80, 48, 0, 0, 1)
    assert counts("mean_ood") == counts("mean_gap") == (20, 12, 1, 1, 1)
    assert made["ood", "QT"].value == pytest.approx(5 / 20)


def test_where_all_rows_agree_the_interval_is_no_point():
    rows = [row(f"{k} yes {'yes' if k % 2 else 'no'}", QT="tail" if k % 2 == 0 else "head") for k in range(20)]
    made = of(*rows)
    high = made["ood", "QT"].high
    assert high == pytest.approx(0.266, abs=0.001)  # none of ten
    assert made["ood", "QT"].low == 0
    assert (made["mean_ood", ""].low, made["mean_ood", ""].high) == (0, pytest.approx(high))
    assert made["iid", ""].value == made["gap", "QT"].value == made["mean_gap", ""].value == 0.5
    down = np.hypot(0.5 - made["iid", ""].low, high)
    assert made["gap", "QT"].low == pytest.approx(0.5 - down)
    assert made["mean_gap", ""].low == pytest.approx(made["gap", "QT"].low)
    assert made["gap", "QT"].high == pytest.approx(made["iid", ""].high)


def test_a_mean_is_as_unsure_as_its_sets_that_agree():
    # One row of KW, right; QT is half right: the mean's interval holds that KW may be anything from 0.025 up.
    rows = [row(f"{k} yes {'yes' if k % 2 else 'no'}", QT="tail") for k in range(200)]
    made = of(*rows, row("x yes yes", KW="tail"))
    assert made["mean_ood", ""].value == 0.75
    assert made["mean_ood", ""].low < 0.75 - 0.9 / 2


def test_one_image_excludes_hardly_anything():
    made = of(row("1 yes yes", scene="s", QT="tail"), row("2 yes yes", scene="s", QT="head"))
    assert made["ood", "QT"].low < 0.1
    assert made["ood", "QT"].scenes == 1


def test_the_iid_test_is_the_test_split_and_others_are_scored_apart():
    rows = [row(f"t{k} yes yes", audit_split="test", QT="tail") for k in range(3)]
    rows += [row(f"v{k} yes no", audit_split="val", QT="tail") for k in range(2)]
    rows += [row("x yes no")]  # not in the audit
    made = [(s.metric, dict(s.slice), s.value, s.n) for s in measure(records_of(rows))]
    assert made[0] == ("iid", {}, 1.0, 3)
    assert ("ood", {"shortcut": "QT"}, 1.0, 3) in made
    assert ("iid", {"split": "val"}, 0.0, 2) in made
    assert ("ood", {"shortcut": "QT", "split": "val"}, 0.0, 2) in made
    assert len(made) == 12


def test_the_gap_is_paired():
    # Every image has one sample of the head and one of the tail, and both are right or both are wrong: IID test
    # and OOD set rise and fall together, so that the gap is much surer than either figure.
    rows = []
    for k in range(40):
        said = "yes" if k % 2 else "no"
        rows += [row(f"{k}a yes {said}", scene=f"s{k}", QT="head"), row(f"{k}b yes {said}", scene=f"s{k}", QT="tail")]
    made = of(*rows)
    gap, iid = made["gap", "QT"], made["iid", ""]
    assert gap.value == 0
    assert 0 < gap.high - gap.low < (iid.high - iid.low) / 3


def test_a_set_that_is_the_whole_test_has_no_gap():
    made = of(*(row(f"{k} yes {'yes' if k % 3 else 'no'}", QT="tail") for k in range(12)))
    assert (made["gap", "QT"].low, made["gap", "QT"].value, made["gap", "QT"].high) == (0, 0, 0)


def test_rows_that_know_no_shortcut_are_refused(refuses):
    with refuses("shortcut_gap needs rows that know their shortcuts; score with --audit DIR"):
        measure(run("1 yes yes"))
