"""How often a single reply is right, where each question was asked several times: the mean over its replies.

The interval is over scenes, of the means of their questions, so that it holds what varies between samples: with K
replies to each of n questions the variance of the mean is (Var(x) + E[s²] / K) / n, where x is what a question's
replies get on average and s² how they vary (Miller, Adding Error Bars to Evals, 2024, arXiv 2411.00640, section 3);
the variance over scenes estimates that sum whole, with questions of one scene taken together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..result import TRUNCATED, Bools, Floats, RunRecords, Score
from .accuracy import score_rows
from .slices import score_shares, select_base_rows

DEFAULT_FOR = "replies"
PHRASING = "phrasing"  # the slices by instruction, numbered from 1 as in the run's file


def measure(records: RunRecords, by: Sequence[str] = ()) -> tuple[Score, ...]:
    """The mean over all replies, then over those to each phrasing where there are several, then slices."""
    known = score_rows(records)
    metric, form = f"mean_{known.metric}", known.form
    scores = [*score_shares(metric, records, average_replies, by, form)]
    for number in _list_phrasings(records):
        one = score_shares(metric, records, partial(average_replies, phrasing=number), (), form)
        scores += [replace(score, slice=((PHRASING, number + 1),)) for score in one]
    return tuple(scores)


def average_replies(records: RunRecords, phrasing: int | None = None) -> tuple[Floats, Bools]:
    """What each row scores on average over its replies, or those to one phrasing, and which rows can be scored.

    Where a question is asked once, its answer is its reply.
    """
    chosen = range(len(records.replies)) if phrasing is None else _find(records, phrasing)
    values = [score_rows(records.select_reply(k)).values for k in chosen] or [score_rows(records).values]
    return np.mean(values, axis=0), records.scorable


def _list_phrasings(records: RunRecords) -> list[int]:
    """The phrasings where there are several."""
    numbers = sorted({reply.phrasing for reply in records.replies})
    return numbers if len(numbers) > 1 else []


def _find(records: RunRecords, phrasing: int) -> list[int]:
    return [k for k, reply in enumerate(records.replies) if reply.phrasing == phrasing]


@dataclass(frozen=True, slots=True)
class ReplySummary:
    """How far the replies to the same questions differ; shares are 0 to 1."""

    replies: int  # per question
    phrasings: int
    agreement: float  # how often a reply is the vote, of the questions that have one
    sampling_error: float | None  # of the mean, what is due to samples; None with one of each phrasing
    lowest: float | None = None  # of the phrasings
    highest: float | None = None
    spread: float | None = None  # standard deviation between phrasings
    truncated: int = 0  # replies that were cut at max_tokens

    def __str__(self) -> str:
        samples = self.replies // self.phrasings
        asked = f"{samples} samples" if self.phrasings == 1 else f"{self.phrasings} phrasings"
        asked += f" with {samples} samples each" if self.phrasings > 1 and samples > 1 else ""
        said = f"{asked} per question: a reply is the majority's in {100 * self.agreement:.1f}%"
        if self.sampling_error is not None:
            said += f"; the standard error of the mean from sampling alone is {100 * self.sampling_error:.2f} points"
        if self.spread is not None and self.lowest is not None and self.highest is not None:
            range_ = f"{100 * self.lowest:.1f}% to {100 * self.highest:.1f}%"
            said += f"; phrasings range from {range_}, with a standard deviation of {100 * self.spread:.1f} points"
        return said + (f"; {self.truncated:,} replies were cut at max_tokens" if self.truncated else "")


def summarize_replies(every: RunRecords) -> ReplySummary | None:
    """None of a run that asks each question once."""
    records = select_base_rows(every)
    if not records.replies:
        return None
    rows = records.take(records.scorable & records.status.equals("answered"))
    votes = [reply.answer.codes == rows.answer.codes for reply in rows.replies]
    scored = records.take(records.scorable)
    values = np.array([score_rows(scored.select_reply(k)).values for k in range(len(scored.replies))])
    phrasings = sorted({reply.phrasing for reply in records.replies})
    groups = [values[_find(records, number)] for number in phrasings]
    error = None
    if len(scored) and len(groups[0]) > 1:  # the variance within each question and phrasing, over all of them
        within = sum(group.var(axis=0, ddof=1).sum() / len(group) for group in groups)
        error = float(np.sqrt(within) / (len(groups) * len(scored)))
    means = [float(group.mean()) for group in groups] if len(groups) > 1 and len(scored) else []
    return ReplySummary(
        len(records.replies),
        len(phrasings),
        float(np.mean(votes)) if len(rows) else float("nan"),
        error,
        min(means, default=None),
        max(means, default=None),
        float(np.std(means, ddof=1)) if means else None,
        sum(int(reply.reason.equals(TRUNCATED).sum()) for reply in records.replies),
    )
