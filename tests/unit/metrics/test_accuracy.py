"""Accuracy: what counts, what is counted apart, and slices."""

import pytest

from rows import row, run
from shiftscope.metrics.accuracy import measure
from shiftscope.result import Prediction, QuestionRecord, Score, add_missing_rows, records_of


def test_all_rows_and_the_slices_of_a_column():
    records = records_of(
        [
            row("1 red red", kind="query", length=5),
            row("2 red blue", kind="query", length=7),
            row("3 2 2", kind="count", length=5),
        ]
    )
    total, count, query = measure(records, ["kind"])
    assert total.value == pytest.approx(2 / 3)
    assert (total.n, total.slice) == (3, ())
    assert (count.value, count.n, count.slice) == (1, 1, (("kind", "count"),))
    assert (query.value, query.n, query.slice) == (0.5, 2, (("kind", "query"),))
    crossed = measure(records, ["length,kind"])[1:]
    assert [s.slice for s in crossed] == [
        (("length", 5), ("kind", "count")),
        (("length", 5), ("kind", "query")),
        (("length", 7), ("kind", "query")),
    ]


def test_what_is_not_an_answer_is_counted_apart():
    records = run("1 yes yes", "2 yes undefined", "3 yes unreadable", "4 yes failed", "5 yes missing", "6 yes no")
    (score,) = measure(records)
    assert (score.value, score.n) == (pytest.approx(1 / 6), 6)
    assert (score.undefined, score.unreadable, score.failed, score.missing) == (1, 1, 1, 1)
    assert score.response_rate == pytest.approx(4 / 6)
    assert not score.complete


def test_a_file_of_only_the_right_answers_is_not_all_right():
    records = run("1 yes yes", *(f"{k} yes missing" for k in range(2, 11)))
    (score,) = measure(records)
    assert (score.value, score.n, score.missing, score.response_rate) == (0.1, 10, 9, pytest.approx(0.1))


def test_a_question_that_is_not_there_counts_as_missing_and_is_in_no_slice():
    records = add_missing_rows(run("1 yes yes", "2 yes no", kind="exist"), {"as_is": 2})
    assert len(records) == 4
    total, exist = measure(records, ["kind"])
    assert (total.value, total.n, total.missing, total.scenes) == (0.25, 4, 2, 4)
    assert (exist.value, exist.n, exist.missing) == (0.5, 2, 0)
    assert measure(add_missing_rows(records_of([(QuestionRecord("1"), Prediction("1", "x"))]), {"as_is": 1}))[0].n == 0


def test_where_several_people_answered_it_is_vqa_accuracy():
    said = [(QuestionRecord("1", ("s",), "red", ("red",) * 9 + ("blue",)), Prediction("1", "red"))]
    said += [(QuestionRecord("2", ("t",), "red", ("red",) * 8 + ("blue",) * 2), Prediction("2", "blue"))]
    (score,) = measure(records_of(said))
    assert (score.metric, score.form, score.n) == ("vqa_accuracy", "official", 2)
    assert score.value == pytest.approx((1 + 0.6) / 2)


def test_answers_are_the_same_however_they_are_typed():
    pairs = [(True, "Yes"), (3, "3"), ("Light  Blue", "light blue"), (False, "false")]
    records = records_of(
        (QuestionRecord(str(k), ("s",), truth), Prediction(str(k), said)) for k, (truth, said) in enumerate(pairs)
    )
    assert measure(records)[0].value == 1


def test_a_question_without_a_known_answer_is_left_out():
    records = records_of([(QuestionRecord("1"), Prediction("1", "yes")), row("2 yes yes")])
    assert (measure(records)[0].n, measure(records)[0].value) == (1, 1)


def test_nothing_to_score_is_no_figure():
    score = measure(records_of([(QuestionRecord("1"), Prediction("1", "yes"))]))[0]
    assert score == Score("accuracy", None, 0, scenes=0)
    assert score.response_rate is None


def test_other_conditions_count_only_when_asked_for():
    records = records_of([row("1 yes yes"), row("1 yes no", condition="blind"), row("2 yes yes", condition="blind")])
    assert measure(records)[0].value == 1
    by = {dict(s.slice)["condition"]: s for s in measure(records, ["condition"])[1:]}
    assert (by["as_is"].value, by["blind"].value, by["blind"].n) == (1, 0.5, 2)


def test_an_unknown_column_gets_the_nearest(refuses):
    with refuses("no column 'knid' in the run; did you mean 'kind'?"):
        measure(run("1 yes yes", kind="exist"), ["knid"])
