"""Agreement with several annotators, as VQA scores it: three of ten who say the same make it right.

Two forms. *official*: for each annotator, min(1, matches among the others / 3), averaged, so that 1, 2 and 3
matches of ten give 0.3, 0.6 and 0.9. *thirds*: min(1, matches / 3), which VQA-VS uses.
Two ways to normalise. *official*: answers are compared as they are where all annotators agree, else
normalised. *always*: normalised.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import UserError, unknown
from ..result import Bools, Floats, RunRecords, Score
from .slices import RowValues, score_shares

# How VQA normalises answers before it compares them: marks, number words, articles, contractions.

PUNCTUATION = ';/[]"{}()=+\\_->' + "<@`,?!"
ARTICLES = frozenset(("a", "an", "the"))
_COUNTED = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBERS = {"none": "0"} | {word: str(n) for n, word in enumerate(_COUNTED)}
_COMMA_IN_NUMBER = re.compile(r"\d,\d")
_LONE_PERIOD = re.compile(r"\.(?!\d)")
_MOST_PERIODS = 32  # the official code passes a flag where the number of replacements goes


@cache
def load_contractions() -> dict[str, str]:
    """The official table: a contraction without its apostrophe → the one with it, slips included."""
    text = (Path(__file__).parent / "vqa_contractions.json").read_text("utf-8")
    return {str(k): str(v) for k, v in json.loads(text).items()}


def strip_answer(text: str) -> str:
    """Without line breaks, tabs and outer blanks; done to every answer before anything else."""
    return text.replace("\n", " ").replace("\t", " ").strip()


def normalise_answer(text: str) -> str:
    """As the official evaluation compares answers that differ."""
    text = _strip_punctuation(strip_answer(text))
    words = [NUMBERS.get(word, word) for word in text.lower().split()]
    contractions = load_contractions()
    return " ".join(contractions.get(word, word) for word in words if word not in ARTICLES)


def _strip_punctuation(text: str) -> str:
    """A mark next to a blank goes, and so do all marks where a number has a comma; others become blanks."""
    numeric = _COMMA_IN_NUMBER.search(text) is not None
    out = text
    for mark in PUNCTUATION:
        if mark in text:
            gone = numeric or f"{mark} " in text or f" {mark}" in text
            out = out.replace(mark, "" if gone else " ")
    return _LONE_PERIOD.sub("", out, count=_MOST_PERIODS)


DEFAULT_FOR = "annotators"
FORMS = ("official", "thirds")
NORMALISATIONS = ("official", "always")


def measure(
    records: RunRecords, by: Sequence[str] = (), form: str = "official", normalise: str = "official"
) -> tuple[Score, ...]:
    """VQA accuracy of all rows that annotators answered, then of the slices of each column in `by`."""

    def score_agreement(rows: RunRecords) -> RowValues:
        annotated = rows.has_annotators
        if not annotated.any():
            raise UserError("vqa_accuracy needs several annotators' answers to each question; use accuracy")
        return score_row_agreement(rows, form, normalise), annotated | (rows.question.codes < 0)

    spelled = form if normalise == "official" else f"{form}, {normalise} normalised"
    return score_shares("vqa_accuracy", records, score_agreement, by, spelled)


def score_row_agreement(records: RunRecords, form: str = "official", normalise: str = "official") -> Floats:
    """The score of each row, 0 to 1; 0 where there is nothing to compare."""
    if form not in FORMS:
        raise unknown("form of VQA accuracy", form, FORMS)
    if normalise not in NORMALISATIONS:
        raise unknown("normalisation", normalise, NORMALISATIONS)
    lengths, owner = records.answers.lengths, records.answers.rows
    plain, normal = _number_answers(records, strip_answer), _number_answers(records, normalise_answer)
    matches = np.bincount(owner[_match_answers(records, normal, owner)], minlength=len(records))
    if normalise == "official":
        unanimous = _is_unanimous(plain[records.answers.codes], records.answers.at, owner)
        literal = np.bincount(owner[_match_answers(records, plain, owner)], minlength=len(records))
        matches = np.where(unanimous, literal, matches)
    return _compute_agreement(matches, lengths, form)


def _number_answers(records: RunRecords, spelled: Any) -> npt.NDArray[np.int64]:
    """The number of each literal answer's spelling; one more at the end, for a row without an answer."""
    numbers: dict[str, int] = {}
    made = [numbers.setdefault(spelled(text), len(numbers)) for text in records.literal.values]
    return np.array([*made, -1], np.int64)


def _match_answers(records: RunRecords, number: npt.NDArray[np.int64], owner: npt.NDArray[Any]) -> Bools:
    given = number[records.literal.codes]
    made: Bools = number[records.answers.codes] == given[owner]
    return made


def _is_unanimous(answers: npt.NDArray[np.int64], begins: npt.NDArray[np.int64], owner: npt.NDArray[Any]) -> Bools:
    first = answers[np.minimum(begins[:-1], max(len(answers) - 1, 0))] if len(answers) else begins[:-1]
    others = np.bincount(owner[answers != first[owner]], minlength=len(begins) - 1)
    return np.equal(others, 0)


def _compute_agreement(matches: npt.NDArray[Any], answers: npt.NDArray[Any], form: str) -> Floats:
    """In whole numbers up to the last division, so that equal responses score exactly equal."""
    if form == "thirds":
        return np.asarray(np.minimum(matches, 3) / 3, np.float64)
    ours = matches * np.clip(matches - 1, 0, 3)  # seen by the annotators who gave the same answer
    theirs = (answers - matches) * np.minimum(matches, 3)
    return np.asarray((ours + theirs) / np.maximum(3 * answers, 1), np.float64)
