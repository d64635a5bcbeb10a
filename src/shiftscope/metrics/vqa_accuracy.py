"""Agreement with several annotators, as VQA scores it: three of ten who say the same make it right.

Two forms. *official*: for each annotator, min(1, matches among the others / 3), averaged, so that 1, 2 and 3
matches of ten give 0.3, 0.6 and 0.9. *thirds*: min(1, matches / 3), which VQA-VS uses.
Two ways to normalise. *official*: answers are compared as they are where all annotators agree, else
normalised. *always*: normalised.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import UserError, unknown
from ..result import Bools, Floats, Records, Score
from ._shares import Shared, share_scores
from ._vqa_words import normalised, stripped

FORMS = ("official", "thirds")
NORMALISATIONS = ("official", "always")


def measure(
    records: Records, by: Sequence[str] = (), form: str = "official", normalise: str = "official"
) -> tuple[Score, ...]:
    """VQA accuracy of all rows that annotators answered, then of the slices of each column in `by`."""

    def of(rows: Records) -> Shared:
        annotated = rows.annotated
        if not annotated.any():
            raise UserError("vqa_accuracy needs several annotators' answers to each question; use accuracy")
        return row_agreement(rows, form, normalise), annotated | (rows.question.codes < 0)

    spelled = form if normalise == "official" else f"{form}, {normalise} normalised"
    return share_scores("vqa_accuracy", records, of, by, spelled)


def row_agreement(records: Records, form: str = "official", normalise: str = "official") -> Floats:
    """The score of each row, 0 to 1; 0 where there is nothing to compare."""
    if form not in FORMS:
        raise unknown("form of VQA accuracy", form, FORMS)
    if normalise not in NORMALISATIONS:
        raise unknown("normalisation", normalise, NORMALISATIONS)
    lengths, owner = records.answers.lengths, records.answers.rows
    plain, normal = _codes(records, stripped), _codes(records, normalised)
    matches = np.bincount(owner[_same(records, normal, owner)], minlength=len(records))
    if normalise == "official":
        unanimous = _unanimous(plain[records.answers.codes], records.answers.at, owner)
        literal = np.bincount(owner[_same(records, plain, owner)], minlength=len(records))
        matches = np.where(unanimous, literal, matches)
    return _agreement(matches, lengths, form)


def _codes(records: Records, spelled: Any) -> npt.NDArray[np.int64]:
    """The number of each literal answer's spelling; one more at the end, for a row without an answer."""
    numbers: dict[str, int] = {}
    made = [numbers.setdefault(spelled(text), len(numbers)) for text in records.said.values]
    return np.array([*made, -1], np.int64)


def _same(records: Records, number: npt.NDArray[np.int64], owner: npt.NDArray[Any]) -> Bools:
    said = number[records.said.codes]
    made: Bools = number[records.answers.codes] == said[owner]
    return made


def _unanimous(
    answers: npt.NDArray[np.int64], begins: npt.NDArray[np.int64], owner: npt.NDArray[Any]
) -> Bools:
    first = answers[np.minimum(begins[:-1], max(len(answers) - 1, 0))] if len(answers) else begins[:-1]
    others = np.bincount(owner[answers != first[owner]], minlength=len(begins) - 1)
    return np.equal(others, 0)


def _agreement(matches: npt.NDArray[Any], answers: npt.NDArray[Any], form: str) -> Floats:
    """In whole numbers up to the last division, so that equal replies score exactly equal."""
    if form == "thirds":
        return np.asarray(np.minimum(matches, 3) / 3, np.float64)
    ours = matches * np.clip(matches - 1, 0, 3)  # seen by the annotators who gave the same answer
    theirs = (answers - matches) * np.minimum(matches, 3)
    return np.asarray((ours + theirs) / np.maximum(3 * answers, 1), np.float64)
