"""Pool: the rows of several runs of one contender as one, with the test they come from as a fact.

Questions go by names that tell what data they are of, as scenes do: only the same are taken as the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..result import Column, Lists, Records
from .level import joined
from .study import Run

PLAIN = ("question", "content", "condition", "status", "reason", "twin")


def pooled(runs: Sequence[Run]) -> Run:
    """One run of all rows, of every seed; facts that a run lacks are nothing there."""
    whole = [(one, len(run.each) > 1) for run in runs for one in run.each]
    parts = [_apart(one, of_seeds) for one, of_seeds in whole]
    if len(parts) == 1:
        return replace(runs[0], records=parts[0])
    names = sorted({name for r in parts for name, _ in r.facts})
    facts = [(name, joined([dict(r.facts).get(name) or _nothing(len(r)) for r in parts])) for name in names]
    tests = joined([Column((run.test,), np.zeros(len(run.records), np.int32)) for run, _ in whole])
    truth, answer = _together([r.truth for r in parts], [r.answer for r in parts])
    said, answers = _together([r.said for r in parts], [_flat(r.answers) for r in parts])
    plain: dict[str, Any] = {name: joined([getattr(r, name) for r in parts]) for name in PLAIN}
    records = Records(
        **plain,
        images=_lists(joined([_flat(r.images) for r in parts]), [r.images for r in parts]),
        truth=truth,
        answer=answer,
        said=said,
        answers=_lists(answers, [r.answers for r in parts]),
        program_right=np.concatenate([r.program_right for r in parts]),
        seconds=np.concatenate([r.seconds for r in parts]),
        cost=np.concatenate([r.cost for r in parts]),
        belief=np.concatenate([r.belief for r in parts]),
        facts=(*((n, c) for n, c in facts if n != "test"), ("test", tests)),
    )
    return replace(runs[0], records=records, test="all tests" if len(runs) > 1 else runs[0].test, seeds=())


def _together(left: Sequence[Column], right: Sequence[Column]) -> tuple[Column, Column]:
    """Two groups of columns over one list of values, so that equal codes are equal values."""
    both = joined([*left, *right])
    size = sum(len(c) for c in left)
    return Column(both.values, both.codes[:size]), Column(both.values, both.codes[size:])


def _flat(lists: Lists) -> Column:
    return Column(lists.values, lists.codes)


def _lists(flat: Column, parts: Sequence[Lists]) -> Lists:
    """One below the other, from all their entries."""
    sizes = np.concatenate([part.lengths for part in parts])
    return Lists(flat.values, flat.codes, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64))


def _nothing(rows: int) -> Column:
    return Column((), np.full(rows, -1, np.int32))


def _apart(run: Run, of_seeds: bool) -> Records:
    """Its rows under names of their own; those of a seed pair with no other run's."""
    asked = f"{run.asked} {run.contender}, seed {run.spec.get('seed')}" if of_seeds else run.asked
    records = run.records
    return replace(
        records,
        question=_renamed(records.question, asked),
        twin=_renamed(records.twin, asked),
        data="",  # the names tell
    )


def _renamed(column: Column, of: str) -> Column:
    return Column(tuple(f"{of}: {name}" for name in column.values), column.codes)
