"""In which stage a model goes wrong: format, language prior, perception, parsing or reasoning.

The same question is asked again under other conditions, and the condition that mends a wrong answer names the
stage. Every question answered wrong under `as_is` falls, in this order, under

*no_reply*        nothing came back, or the call failed;
*format*          the response is unparseable;
*language_prior*  it gives the same answer without the image, and with another scene's image: of `blind` and
                  `other_image`, all that were asked agree. Chance agreement is in it, which is much of it for
                  yes/no questions: compare it between variants rather than read it alone;
*perception*      it is right once the scene is given as text;
*parsing*         it is right once the program is given as text; where either mends it, each gets half;
*reasoning*       neither mends it;
*unexplained*     neither mends it, but one of them was not asked or failed.

The shares are of all questions, so they add up to the error, and the changes of the shares between two
variants add up to the drop between them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import UserError
from ..result import AS_IS, Bools, Floats, RunRecords, Score
from .accuracy import score_rows
from .intervals import RatioTerm, SceneClusters, cluster_runs
from .slices import has_response, none_if_nan

STAGES = ("no_reply", "format", "language_prior", "perception", "parsing", "reasoning", "unexplained")
TOTAL = "total"


@dataclass(frozen=True, slots=True, eq=False)
class StageShares:
    """How much of each question's error falls under each stage: [question, stage], rows add up to 0 or 1."""

    shares: Floats
    rows: npt.NDArray[np.int64]  # of the run, under as_is


def attribute_stages(records: RunRecords) -> StageShares:
    """The stages of every question with a known answer, as asked under as_is."""
    scored = score_rows(records)
    there = has_response(records)
    rows = np.flatnonzero(records.condition.equals(AS_IS) & scored.scorable)
    if not len(rows):
        raise UserError("attribution needs questions asked as they are (condition as_is); this run has none")
    right, answer = scored.values >= 1, records.answer.codes
    none = ~there[rows]
    wrong = ~right[rows] & ~none
    unread = wrong & records.status.equals("unreadable")[rows]
    asked: dict[str, Bools] = {}
    same: dict[str, Bools] = {}
    mended: dict[str, Bools] = {}
    for condition in ("blind", "other_image", "scene_text", "program_text"):
        beside = _find_condition_rows(records, condition, there & scored.scorable, rows)
        asked[condition] = beside >= 0
        same[condition] = asked[condition] & (answer[beside] == answer[rows]) & (answer[rows] >= 0)
        mended[condition] = asked[condition] & right[beside]
    senseless = ("blind", "other_image")
    prior = np.logical_and.reduce([same[c] | ~asked[c] for c in senseless])
    prior &= asked["blind"] | asked["other_image"]
    prior &= wrong & ~unread
    left = wrong & ~unread & ~prior
    scene, program = left & mended["scene_text"], left & mended["program_text"]
    neither = left & ~scene & ~program
    complete = asked["scene_text"] & asked["program_text"]
    both = 0.5 * (scene & program)
    columns = (none, unread, prior, scene - both, program - both, neither & complete, neither & ~complete)
    return StageShares(np.stack(columns, axis=1).astype(np.float64), rows)


def _find_condition_rows(
    records: RunRecords, condition: str, counted: Bools, rows: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The row of the same question under another condition, or -1."""
    there = np.flatnonzero(records.condition.equals(condition) & counted & (records.question.codes >= 0))
    row = np.full(len(records.question.values) + 1, -1, np.int64)
    row[records.question.codes[there]] = there
    return row[records.question.codes[rows]]


def measure(records: RunRecords) -> tuple[Score, ...]:
    """The share of all questions that go wrong in each stage, and their total, the error."""
    staged = attribute_stages(records)
    scenes = SceneClusters.from_records(records.take(staged.rows))
    every = np.ones(len(staged.rows))
    made = []
    for name, hits in _list_columns(staged):
        (value,), (low,), (high,), (count,) = scenes.estimate_shares(hits, every)
        made.append(_make_score("attribution", name, value, low, high, len(every), int(count)))
    return tuple(made)


def measure_drop(shifted: RunRecords, base: RunRecords) -> tuple[Score, ...]:
    """How much of the drop from base to shifted falls under each stage; scenes they share are paired."""
    runs = (shifted, base)
    staged = [attribute_stages(r) for r in runs]
    scenes = cluster_runs([r.take(s.rows) for r, s in zip(runs, staged, strict=True)])
    here = np.repeat([True, False], [len(s.rows) for s in staged])
    made = []
    for (name, one), (_, other) in zip(_list_columns(staged[0]), _list_columns(staged[1]), strict=True):
        hits = np.concatenate([one, other])
        change = scenes.combine((RatioTerm(hits, here), RatioTerm(hits, ~here)), (1, -1))
        made.append(
            _make_score("attribution_drop", name, change.value, change.low, change.high, len(one), change.scenes)
        )
    return tuple(made)


def _list_columns(staged: StageShares) -> list[tuple[str, Floats]]:
    found = [(name, staged.shares[:, k]) for k, name in enumerate(STAGES)]
    return [*found, (TOTAL, staged.shares.sum(axis=1))]


def _make_score(metric: str, stage: str, value: float, low: float, high: float, n: int, scenes: int) -> Score:
    ends = none_if_nan(low), none_if_nan(high)
    return Score(metric, none_if_nan(value), n, *ends, slice=(("stage", stage),), scenes=scenes)
