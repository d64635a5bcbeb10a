"""English, as far as questions need it: the plural of a noun, and a or an before a word."""

from __future__ import annotations

from functools import lru_cache

IRREGULAR = {
    "person": "people",
    "man": "men",
    "woman": "women",
    "child": "children",
    "mouse": "mice",
    "foot": "feet",
    "tooth": "teeth",
    "leaf": "leaves",
    "shelf": "shelves",
    "knife": "knives",
    "sheep": "sheep",
    "fish": "fish",
    "aircraft": "aircraft",
}
CONSONANT_START = ("uni", "use", "usu", "uti", "ute", "eu", "ew", "one", "once")  # said "yoo…" or "wu…"
VOWEL_START = ("hour", "honest", "heir", "honor", "honour")
SPELLED_WITH_VOWEL = "AEFHILMNORSX"  # letters whose names begin with a vowel: an SUV, an FM radio


@lru_cache(maxsize=4096)
def plural(phrase: str) -> str:
    """The phrase for several: buses, SUVs, double-deckers, red boxes."""
    head, space, word = phrase.rpartition(" ")
    start = f"{head}{space}"
    if word.lower() in IRREGULAR:
        return start + IRREGULAR[word.lower()]
    if word.isupper() and len(word) > 1:
        return f"{phrase}s"
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return f"{phrase}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{phrase[:-1]}ies"
    return f"{phrase}s"


@lru_cache(maxsize=4096)
def article(phrase: str) -> str:
    """`an` before a vowel sound, else `a`."""
    word = phrase.partition(" ")[0].partition("-")[0]
    if word.isupper() and len(word) > 1:
        return "an" if word[0] in SPELLED_WITH_VOWEL else "a"
    lowered = word.lower()
    if lowered.startswith(VOWEL_START):
        return "an"
    return "an" if lowered[:1] in "aeiou" and not lowered.startswith(CONSONANT_START) else "a"
