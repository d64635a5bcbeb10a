"""Replies: several responses to one question, by sample and phrasing, as one row with their majority vote.

The vote is over the replies that give an answer (self-consistency: Wang et al., ICLR 2023, arXiv 2203.11171); among
answers with equally many votes the one that came first wins. How often single replies are right, which is what one
call would get, is metrics/mean_accuracy.py.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..answer import spell
from ..result import Prediction


def combine_replies(replies: Sequence[Prediction]) -> Prediction:
    """The row of several replies, given by phrasing and sample; a failed one fails it, so that it is asked again."""
    failed = [reply for reply in replies if reply.status == "failed"]
    votes = Counter(spell(reply.answer) for reply in replies if reply.answer is not None)
    if votes:
        most = max(votes.values())
        chosen = next(r for r in replies if r.answer is not None and votes[spell(r.answer)] == most)
    else:
        common = Counter(reply.status for reply in replies).most_common(1)[0][0]
        chosen = next(reply for reply in replies if reply.status == common)
    totals: dict[str, Any] = {name: _add(replies, name) for name in ("seconds", "cost", "tokens")}
    stored = [reply.stored for reply in replies]
    whole = replace(
        chosen,
        **totals,
        stored=None if None in stored else max(filter(None, stored), default=None),
        fingerprint=next((reply.fingerprint for reply in replies if reply.fingerprint), ""),
        usage=tuple(call for reply in replies for call in reply.usage),
        phrasing=0,
        replies=tuple(replace(reply, usage=()) for reply in replies),
    )
    if failed:
        reason = f"{len(failed)} of {len(replies)} replies failed: {failed[0].reason}"
        return replace(whole, answer=None, status="failed", reason=reason, raw="")
    return whole


def _add(replies: Sequence[Prediction], name: str) -> Any:
    """The sum over the replies that know it; None where none does."""
    known = [value for reply in replies if (value := getattr(reply, name)) is not None]
    return sum(known) if known else None
