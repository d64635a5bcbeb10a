"""Tables of words, written as running text with commas."""

from __future__ import annotations


def listed(words: str) -> frozenset[str]:
    return frozenset(" ".join(word.split()) for word in words.split(","))
