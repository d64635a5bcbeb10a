"""In which stage a model goes wrong: format, language prior, perception, parsing or reasoning.

The same question is asked again under other conditions, and what mends a wrong answer names the stage. Every
question that is not right as it is normally asked falls, in this order, under

*no_reply*        nothing came back, or the call failed;
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
from ._interval import Part, Scenes, of_runs
from ._shares import known, replied
from .accuracy import row_scores

STAGES = ("no_reply", "format", "language_prior", "perception", "parsing", "reasoning", "unexplained")
TOTAL = "total"


@dataclass(frozen=True, slots=True, eq=False)
class Staged:
    """How much of each question's error falls under each stage: [question, stage], rows add up to 0 or 1."""

    shares: Floats
    rows: npt.NDArray[np.int64]  # of the run, as normally asked


def stages(records: Records) -> Staged:
    """The stages of every question with a known answer, as it is normally asked."""
    scored = row_scores(records)
    there = replied(records)
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
        beside = _beside(records, condition, there & scored.scorable, rows)
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
    return Staged(np.stack(columns, axis=1).astype(np.float64), rows)


def _beside(
    records: Records, condition: str, counted: Bools, rows: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The row of the same question under another condition, or -1."""
    there = np.flatnonzero(records.condition.equals(condition) & counted & (records.question.codes >= 0))
    row = np.full(len(records.question.values) + 1, -1, np.int64)
    row[records.question.codes[there]] = there
    return row[records.question.codes[rows]]


def measure(records: Records) -> tuple[Score, ...]:
    """The share of all questions that go wrong in each stage, and their total, the error."""
    staged = stages(records)
    scenes = Scenes.of(records.take(staged.rows))
    every = np.ones(len(staged.rows))
    made = []
    for name, hits in _columns(staged):
        (value,), (low,), (high,), (count,) = scenes.shares(hits, every)
        made.append(_score("attribution", name, value, low, high, len(every), int(count)))
    return tuple(made)


def measure_drop(shifted: Records, base: Records) -> tuple[Score, ...]:
    """How much of the drop from base to shifted falls under each stage; scenes they share are paired."""
    runs = (shifted, base)
    staged = [stages(r) for r in runs]
    scenes = of_runs([r.take(s.rows) for r, s in zip(runs, staged, strict=True)])
    here = np.repeat([True, False], [len(s.rows) for s in staged])
    made = []
    for (name, one), (_, other) in zip(_columns(staged[0]), _columns(staged[1]), strict=True):
        hits = np.concatenate([one, other])
        change = scenes.combine((Part(hits, here), Part(hits, ~here)), (1, -1))
        made.append(
            _score("attribution_drop", name, change.value, change.low, change.high, len(one), change.scenes)
        )
    return tuple(made)


def _columns(staged: Staged) -> list[tuple[str, Floats]]:
    found = [(name, staged.shares[:, k]) for k, name in enumerate(STAGES)]
    return [*found, (TOTAL, staged.shares.sum(axis=1))]


def _score(metric: str, stage: str, value: float, low: float, high: float, n: int, scenes: int) -> Score:
    ends = known(low), known(high)
    return Score(metric, known(value), n, *ends, slice=(("stage", stage),), scenes=scenes)
