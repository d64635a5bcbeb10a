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
variants add up to the drop between them. Where only some of the questions were asked under other conditions
(`conditions_part` of a run's spec), all of this is of these; and two variants are compared by the conditions that
both were asked under.
"""

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from ..errors import UserError
from ..result import AS_IS, Bools, Floats, RunRecords, Score
from .accuracy import score_rows
from .intervals import RatioTerm, SceneClusters, cluster_runs
from .slices import has_response

STAGES = ("no_reply", "format", "language_prior", "perception", "parsing", "reasoning", "unexplained")
TOTAL = "total"
Rows = npt.NDArray[np.int64]


CONTRASTS = ("blind", "other_image", "scene_text", "program_text")


def _find_contrasts(records: RunRecords) -> set[str]:
    return {condition for condition in CONTRASTS if records.condition.equals(condition).any()}


def _attribute_stages(records: RunRecords, given: Collection[str] = CONTRASTS) -> tuple[dict[str, Floats], Rows]:
    """How much of each question's error falls under each stage, and in total (0 or 1); and the questions' rows.

    Of every question with a known answer, as asked under as_is; where none of the conditions `given` was asked of
    some of them but of others, of these others.
    """
    scored = score_rows(records)
    there = has_response(records)
    rows = np.flatnonzero(records.condition.equals(AS_IS) & scored.scorable)
    if not len(rows):
        raise UserError("attribution needs questions asked as they are (condition as_is); this run has none")
    rows = _select_questioned(records, rows, given)
    right, answer, question = scored.values >= 1, records.answer.codes, records.question.codes
    none = ~there[rows]
    wrong = ~right[rows] & ~none
    unread = wrong & records.status.equals("unreadable")[rows]
    asked: dict[str, Bools] = {}
    same: dict[str, Bools] = {}
    mended: dict[str, Bools] = {}
    for condition in CONTRASTS:
        # The row of the same question under the condition, or -1.
        under = records.condition.equals(condition) & (condition in given)
        others = np.flatnonzero(under & there & scored.scorable & (question >= 0))
        row = np.full(len(records.question.values) + 1, -1, np.int64)
        row[question[others]] = others
        beside = row[question[rows]]
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
    shares = np.stack(columns).astype(np.float64)
    return dict(zip((*STAGES, TOTAL), (*shares, shares.sum(axis=0)), strict=True)), rows


def _select_questioned(records: RunRecords, rows: Rows, given: Collection[str]) -> Rows:
    """Those of the rows whose question has a row under another condition too, whatever came of it; all if none has."""
    under = np.zeros(len(records), np.bool_)
    for condition in given:
        under |= records.condition.equals(condition)
    if not under.any():
        return rows
    question = records.question.codes
    kept = rows[np.isin(question[rows], question[under & (question >= 0)])]
    return kept if len(kept) else rows


def measure(records: RunRecords) -> tuple[Score, ...]:
    """The share of all questions that go wrong in each stage, and their total, the error."""
    stages, rows = _attribute_stages(records)
    scenes = SceneClusters.from_records(records.take(rows))
    every = np.ones(len(rows))
    scores = []
    for name, hits in stages.items():
        share = scenes.estimate_shares(hits, every).to_score(0)
        scores.append(Score("attribution", n=len(rows), slice=(("stage", name),), **share))
    return tuple(scores)


def measure_drop(shifted: RunRecords, base: RunRecords) -> tuple[Score, ...]:
    """How much of the drop from base to shifted falls under each stage; scenes they share are paired."""
    both = _find_contrasts(shifted) & _find_contrasts(base)
    (stages, rows), (base_stages, base_rows) = (_attribute_stages(r, both) for r in (shifted, base))
    scenes = cluster_runs([shifted.take(rows), base.take(base_rows)])
    here = np.repeat([True, False], [len(rows), len(base_rows)])
    scores = []
    for name, column in stages.items():
        hits = np.concatenate([column, base_stages[name]])
        change = scenes.combine((RatioTerm(hits, here), RatioTerm(hits, ~here)), (1, -1))
        at = (("stage", name),)
        scores.append(Score("attribution_drop", n=len(rows), slice=at, scenes=change.scenes, **change.to_score()))
    return tuple(scores)
