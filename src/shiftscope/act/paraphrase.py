"""Paraphrase by rules: other words with the same meaning, chosen by a text's random bits."""

from __future__ import annotations

import re

# A word that must be there for the rule to fit at all, what it looks for, and what it makes of it.
RULES: tuple[tuple[str, re.Pattern[str], str], ...] = tuple(
    (sign, re.compile(pattern), words)
    for sign, pattern, words in (
        ("to the", r"\bto the (left|right) of\b", r"on the \1 side of"),
        ("to the", r"\bto the (left|right) of\b", r"on the \1-hand side of"),
        ("How many", r"^How many (?!of |things would you then)", "What number of "),
        ("Which", r"\bWhich (color|size|shape|material) would\b", r"What \1 would"),
        (" match ", r"\bmatch (the .*) in (color|size|shape|material)\?", r"have the same \2 as \1?"),
        ("share the same", r"\bshare the same (color|size|shape|material)\?", r"have the same \1?"),
        ("Would there be any", r"\bWould there be any\b", "Would there then be any"),
        (" lie ", r"\blie\b", "stand"),
        ("things", r"\bthings\b", "objects"),
    )
)


def rephrased(text: str, dice: int) -> str:
    """The text with about every third rule that fits carried out."""
    for number, (sign, pattern, words) in enumerate(RULES):
        if (dice >> (3 * number)) % 3 == 0 and sign in text:
            text = pattern.sub(words, text)
    return text
