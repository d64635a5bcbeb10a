"""Several replies to a question: their mean, what varies between them inside the interval, and the spread of phrasings."""

import numpy as np
import pytest

from shiftscope.metrics.accuracy import measure as measure_accuracy
from shiftscope.metrics.mean_accuracy import measure, summarize_replies
from shiftscope.result import Prediction, QuestionRecord
from shiftscope.rng import derive
from shiftscope.run.replies import combine_replies
from shiftscope.store.run_table import build_records, build_row_table


def records(right, phrasings=1):
    """Two questions a scene, true answer yes: right[question, reply]."""
    rows = []
    for k, replies in enumerate(right):
        size = len(replies) // phrasings
        made = [Prediction(str(k), bool(hit), phrasing=j // size) for j, hit in enumerate(replies)]
        rows.append((QuestionRecord(str(k), (f"s{k // 2}",), True), combine_replies(made)))
    return build_records(build_row_table(rows))


def test_mean_and_vote():
    made = records([[1, 1, 0], [0, 0, 1], [1, 1, 1], [0, 0, 0]])
    assert measure(made)[0].value == pytest.approx((2 / 3 + 1 / 3 + 1) / 4)
    assert measure_accuracy(made)[0].value == 0.5
    summary = summarize_replies(made)
    assert (summary.replies, summary.phrasings, summary.spread) == (3, 1, None)
    assert summary.agreement == pytest.approx((2 / 3 + 2 / 3 + 1 + 1) / 4)
    # within the first two questions the replies vary by 1/3, in the others not at all
    assert summary.sampling_error == pytest.approx(np.sqrt(2 * (1 / 3) / 3) / 4)
    assert "3 samples per question: a reply is the majority's in 83.3%" in str(summary)


def test_phrasings_are_told_apart():
    made = records([[1, 1, 0, 0], [1, 1, 0, 1]], phrasings=2)
    scores = {score.slice: score.value for score in measure(made)}
    assert scores == {(): 0.625, (("phrasing", 1),): 1.0, (("phrasing", 2),): 0.25}
    summary = summarize_replies(made)
    assert (summary.lowest, summary.highest) == (0.25, 1.0)
    assert summary.spread == pytest.approx(0.75 / np.sqrt(2))


def test_asked_once_it_is_the_accuracy():
    one = records([[1], [0]])
    assert measure(one)[0].value == measure_accuracy(one)[0].value
    assert measure(one)[0].low == measure_accuracy(one)[0].low


def test_the_interval_holds_what_varies_between_scenes_and_between_samples():
    """Questions that are right by chances of their own, drawn anew each time: the true mean is 1/2."""
    draws, questions, size = 60, 80, 4
    inside, means, widths = 0, [], []
    for draw in range(draws):
        random = derive("mean accuracy", draw)
        chances = np.repeat(random.random(questions // 2), 2)  # those of one scene go together
        score = measure(records(random.random((questions, size)) < chances[:, None]))[0]
        inside += score.low <= 0.5 <= score.high
        means.append(score.value)
        widths.append(score.high - score.low)
    assert inside >= 0.9 * draws
    # Miller (2024): Var(x) between clusters, E[s²] / K within, here 1/12 and 1/6
    expected = np.sqrt((1 / 12) / (questions / 2) + (1 / 6) / size / questions)
    assert np.std(means) == pytest.approx(expected, rel=0.3)
    assert np.mean(widths) == pytest.approx(2 * 1.96 * expected, rel=0.15)
