"""Agreement with several annotators, as VQA scores it: three of ten who say the same make it right.

Two forms. *official*: for each annotator, min(1, matches among the others / 3), averaged, so that 1, 2 and 3
matches of ten give 0.3, 0.6 and 0.9. *thirds*: min(1, matches / 3), which VQA-VS uses.
Three ways to normalise. *official*: answers are compared as they are where all annotators agree, else
normalised. *always*: normalised. *never*: exact match, letter by letter, as VQA-VS's own program counts.
"""

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..errors import UserError, unknown
from ..result import Floats, RunRecords, Score
from .slices import RowValues, score_shares

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
    """As the official evaluation compares answers that differ.

    A mark next to a blank goes, and so do all marks where a number has a comma; others become blanks.
    """
    text = plain = strip_answer(text)
    numeric = _COMMA_IN_NUMBER.search(text) is not None
    for mark in PUNCTUATION:
        if mark in text:
            gone = numeric or f"{mark} " in text or f" {mark}" in text
            plain = plain.replace(mark, "" if gone else " ")
    plain = _LONE_PERIOD.sub("", plain, count=_MOST_PERIODS)
    words = [NUMBERS.get(word, word) for word in plain.lower().split()]
    contractions = load_contractions()
    return " ".join(contractions.get(word, word) for word in words if word not in ARTICLES)


Ints = npt.NDArray[np.int64]
DEFAULT_FOR = "annotators"
FORMS = ("official", "thirds")
NORMALISATIONS = ("official", "always", "never")


def measure(
    records: RunRecords, by: Sequence[str] = (), form: str = "official", normalise: str = "official"
) -> tuple[Score, ...]:
    """VQA accuracy of all rows that annotators answered, then of the slices of each column in `by`."""

    def score_agreement(rows: RunRecords) -> RowValues:
        annotated = rows.has_annotators
        if not annotated.any():
            raise UserError("vqa_accuracy needs several annotators' answers to each question; use accuracy")
        return score_row_agreement(rows, form, normalise), annotated | (rows.question.codes < 0)

    return score_shares("vqa_accuracy", records, score_agreement, by, describe_form(form, normalise))


def describe_form(form: str, normalise: str) -> str:
    return form if normalise == "official" else f"{form}, {normalise} normalised"


def score_row_agreement(records: RunRecords, form: str = "official", normalise: str = "official") -> Floats:
    """The score of each row, 0 to 1; 0 where there is nothing to compare."""
    if form not in FORMS:
        raise unknown("form of VQA accuracy", form, FORMS)
    if normalise not in NORMALISATIONS:
        raise unknown("normalisation", normalise, NORMALISATIONS)
    lengths, owner = records.answers.lengths, records.answers.rows
    matches, _ = _count_matches(records, str if normalise == "never" else normalise_answer)
    if normalise == "official":
        literal, answers = _count_matches(records, strip_answer)
        begins = records.answers.at[:-1]
        first = answers[np.minimum(begins, max(len(answers) - 1, 0))] if len(answers) else begins
        others = np.bincount(owner[answers != first[owner]], minlength=len(begins))
        matches = np.where(others == 0, literal, matches)  # unanimous annotators are taken literally
    # In whole numbers up to the last division, so that equal responses score exactly equal.
    if form == "thirds":
        return np.asarray(np.minimum(matches, 3) / 3, np.float64)
    ours = matches * np.clip(matches - 1, 0, 3)  # seen by the annotators who gave the same answer
    theirs = (lengths - matches) * np.minimum(matches, 3)
    return np.asarray((ours + theirs) / np.maximum(3 * lengths, 1), np.float64)


def _count_matches(records: RunRecords, spell: Callable[[str], str]) -> tuple[Ints, Ints]:
    """[row] how many annotators gave the row's answer, so spelled; and the number of each annotator's spelling."""
    numbers: dict[str, int] = {}
    spelled = [numbers.setdefault(spell(text), len(numbers)) for text in records.literal.values]
    number = np.array([*spelled, -1], np.int64)  # one more, for a row without an answer
    owner, answers = records.answers.rows, number[records.answers.codes]
    same = answers == number[records.literal.codes][owner]
    return np.bincount(owner[same], minlength=len(records)), answers
