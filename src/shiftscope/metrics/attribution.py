"""In which stage a model goes wrong: format, language prior, perception, parsing or reasoning.

The same question is asked again under other conditions, and what mends a wrong answer names the stage. Every
question that is not right as it is normally asked falls, in this order, under

*format*          no answer could be read out of the reply;
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
from ..result import AS_IS, Bools, Floats, Records, Score
from ._resample import Resampling, interval, share, shared_clusters
from ._shares import known, replied

STAGES = ("format", "language_prior", "perception", "parsing", "reasoning", "unexplained")
TOTAL = "total"


@dataclass(frozen=True, slots=True, eq=False)
class Staged:
    """How much of each question's error falls under each stage: [question, stage], rows add up to 0 or 1."""

    shares: Floats
    rows: npt.NDArray[np.int64]  # of the run, as normally asked
    missing: int  # questions without a reply as normally asked, or without a known answer


def stages(records: Records) -> Staged:
    """The stages of every question that was replied to as it is normally asked."""
    counted = replied(records) & (records.truth.codes >= 0)
    normal = records.condition.equals(AS_IS)
    rows = np.flatnonzero(normal & counted)
    if not len(rows):
        raise UserError("attribution needs questions asked as they are (condition as_is); this run has none")
    right, answer = records.right, records.answer.codes
    wrong = ~right[rows]
    unread = wrong & records.status.equals("unreadable")[rows]
    asked: dict[str, Bools] = {}
    same: dict[str, Bools] = {}
    mended: dict[str, Bools] = {}
    for condition in ("blind", "other_image", "scene_text", "program_text"):
        beside = _beside(records, condition, counted, rows)
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
    columns = (unread, prior, scene - both, program - both, neither & complete, neither & ~complete)
    return Staged(np.stack(columns, axis=1).astype(np.float64), rows, int(normal.sum()) - len(rows))


def _beside(
    records: Records, condition: str, counted: Bools, rows: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The row of the same question under another condition, or -1."""
    there = np.flatnonzero(records.condition.equals(condition) & counted)
    row = np.full(len(records.question.values), -1, np.int64)
    row[records.question.codes[there]] = there
    return row[records.question.codes[rows]]


def measure(records: Records) -> tuple[Score, ...]:
    """The share of all questions that go wrong in each stage, and their total, the error."""
    staged = stages(records)
    sampled = Resampling(records.cluster.codes[staged.rows])
    every = np.ones(len(staged.rows))
    made = []
    for name, hits in _columns(staged):
        value, low, high = share(sampled, hits, every)
        made.append(_score("attribution", name, value[0], low[0], high[0], len(every), staged.missing))
    return tuple(made)


def measure_drop(shifted: Records, base: Records) -> tuple[Score, ...]:
    """How much of the drop from base to shifted falls under each stage; scenes they share are paired."""
    runs = (shifted, base)
    staged = [stages(r) for r in runs]
    clusters = shared_clusters([r.cluster.take(s.rows) for r, s in zip(runs, staged, strict=True)])
    sampled = Resampling(np.concatenate(clusters))
    split = len(clusters[0])
    size = split + len(clusters[1])
    here = np.arange(size) < split
    counts = [sampled.sums(here)[:, 0], sampled.sums(~here)[:, 0]]
    made = []
    for (name, one), (_, other) in zip(_columns(staged[0]), _columns(staged[1]), strict=True):
        many = [np.zeros(size), np.zeros(size)]
        many[0][:split], many[1][split:] = one, other
        with np.errstate(invalid="ignore", divide="ignore"):
            change = sampled.sums(many[0])[:, 0] / counts[0] - sampled.sums(many[1])[:, 0] / counts[1]
        low, high = interval(change[:, None])
        missing = staged[0].missing + staged[1].missing
        made.append(
            _score("attribution_drop", name, one.mean() - other.mean(), low[0], high[0], split, missing)
        )
    return tuple(made)


def _columns(staged: Staged) -> list[tuple[str, Floats]]:
    found = [(name, staged.shares[:, k]) for k, name in enumerate(STAGES)]
    return [*found, (TOTAL, staged.shares.sum(axis=1))]


def _score(metric: str, stage: str, value: float, low: float, high: float, n: int, missing: int) -> Score:
    return Score(metric, known(value), n, known(low), known(high), missing, (("stage", stage),))
