"""How VQA normalises answers before it compares them: marks, number words, articles, contractions."""

from __future__ import annotations

import re

PUNCTUATION = ';/[]"{}()=+\\_->' + "<@`,?!"
ARTICLES = frozenset(("a", "an", "the"))
_COUNTED = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBERS = {"none": "0"} | {word: str(n) for n, word in enumerate(_COUNTED)}
_COMMA_IN_NUMBER = re.compile(r"\d,\d")
_LONE_PERIOD = re.compile(r"\.(?!\d)")
_MOST_PERIODS = 32  # the official code passes a flag where the number of replacements goes

# What stands before an ending; the form without its apostrophe becomes the form with it.
_ENDINGS = {
    "n't": "ai are ca could did does do had has have is might must need ought sha should was were wo would",
    "'ve": "could might must not should they we what where who would you",
    "'d": "he how it someone something there they where who you",
    "'ll": "how it somebody someone something they what who why you",
    "'s": "he how somebody someone that there what when where who why",
    "'re": "there they what why you",
}
# Two apostrophes, of which either may be missing.
_DOUBLE = {
    "n't've": "could had might should would",
    "'d've": "he it she somebody someone something there they we who you",
}
_ODD = {
    "maam": "ma'am",
    "oclock": "o'clock",
    "twas": "'twas",
    "ow's'at": "'ow's'at",
    "'ows'at": "'ow's'at",
    "'ow'sat": "'ow's'at",
    "somebody'd": "somebodyd",  # the official table has this one the wrong way round
    "yall": "y'all",
    "yall'll": "y'all'll",
    "y'allll": "y'all'll",
    "yall'd've": "y'all'd've",
    "y'alld've": "y'all'd've",
    "y'all'dve": "y'all'd've",
}


def _contractions() -> dict[str, str]:
    made = dict(_ODD)
    for ending, stems in _ENDINGS.items():
        made |= {stem + ending.replace("'", ""): stem + ending for stem in stems.split()}
    for ending, stems in _DOUBLE.items():
        first, _, last = ending.rpartition("'")
        for stem in stems.split():
            made[stem + first.replace("'", "") + "'" + last] = stem + ending
            made[stem + first + last] = stem + ending
    return made


CONTRACTIONS = _contractions()


def stripped(text: str) -> str:
    """Without line breaks, tabs and outer blanks; done to every answer before anything else."""
    return text.replace("\n", " ").replace("\t", " ").strip()


def normalised(text: str) -> str:
    """As the official evaluation compares answers that differ."""
    text = _without_punctuation(stripped(text))
    words = [NUMBERS.get(word, word) for word in text.lower().split()]
    return " ".join(CONTRACTIONS.get(word, word) for word in words if word not in ARTICLES)


def _without_punctuation(text: str) -> str:
    """A mark next to a blank goes, and so do all marks where a number has a comma; others become blanks."""
    numeric = _COMMA_IN_NUMBER.search(text) is not None
    out = text
    for mark in PUNCTUATION:
        if mark in text:
            gone = numeric or f"{mark} " in text or f" {mark}" in text
            out = out.replace(mark, "" if gone else " ")
    return _LONE_PERIOD.sub("", out, count=_MOST_PERIODS)
