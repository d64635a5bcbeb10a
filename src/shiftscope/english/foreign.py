"""Other languages: the words in which replies state answers, put into English one by one.

No translation of a text: what it says in passing may come out wrong, but "Die Antwort ist: drei" reads as it should.
"""

import re
from collections.abc import Iterable
from functools import cache

from .word_lists import word_set, word_table

SPACED = ("de", "fr", "es", "it", "pt")  # in Latin letters, so that their words must tell which it is
_LETTERS = re.compile(
    r"(?P<ja>[\u3040-\u30ff])|(?P<ko>[\uac00-\ud7af])|(?P<ru>[\u0400-\u04ff])|(?P<zh>[\u4e00-\u9fff])"
)
_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH, _WEAK = word_set("foreign", "english"), word_set("foreign", "weak")
ALONE, DROPPED = "^", "-"  # before a word that must stand alone; in place of the English of a word that is dropped
LONGEST = 4_000  # characters at either end that are looked at to tell the language


def put_into_english(text: str) -> str:
    """The text with the words that matter in English; an English text as it is."""
    language = find_language(text)
    return _translate(text, language) if language else text


def find_language(text: str) -> str:
    """de, fr, …; empty for English, and for what is not known here."""
    sample = text if len(text) <= 2 * LONGEST else text[:LONGEST] + text[-LONGEST:]
    if not sample.isascii():
        scripts = {match.lastgroup for match in _LETTERS.finditer(sample)}
        for language in ("ja", "ko", "ru", "zh"):  # what has kana is no Chinese
            if language in scripts:
                return language
    words = set(_WORD.findall(sample.lower()))
    telling = words & _list_vocabularies()[""]
    if len(telling) <= (english := len(words & _ENGLISH)):
        return ""
    known = {language: len(words & _list_vocabularies()[language]) for language in SPACED}
    best = max(SPACED, key=lambda language: known[language])
    return best if known[best] > english else ""


@cache
def _list_vocabularies() -> dict[str, frozenset[str]]:
    """The words of each language, and of all (""), that are not English too."""
    found = {language: frozenset(_WORD.findall(" ".join(_read_words(language)))) - _WEAK for language in SPACED}
    return found | {"": frozenset().union(*found.values())}


@cache
def _read_words(language: str) -> dict[str, str]:
    """Each word with its English."""
    table = word_table("foreign", language)
    return {word: english.strip(DROPPED) for english, words in table.items() for word in words}


@cache
def _compile_words(language: str) -> re.Pattern[str]:
    """The words of a language, the longest first; those of languages with spaces are whole words."""
    bounded = language in SPACED or language == "ru"
    words = sorted(_read_words(language), key=lambda word: (not word.startswith(ALONE), -len(word)))
    return re.compile("|".join(_bound_words(words, bounded)), re.I)


def _bound_words(words: Iterable[str], bounded: bool) -> list[str]:
    whole = [rf"(?<!\w){re.escape(w.strip(ALONE))}(?!\w)" for w in words if bounded or w.startswith(ALONE)]
    return whole + ([] if bounded else [re.escape(w) for w in words if not w.startswith(ALONE)])


def _translate(text: str, language: str) -> str:
    words = _read_words(language)
    spaced = language in SPACED or language == "ru"

    def put(match: re.Match[str]) -> str:
        found = match[0].lower()
        alone = ALONE + found in words and not _touches_word(match)
        english = words.get(
            ALONE + found if alone else found, match[0]
        )  # as it is, if only its lower case is odd: ſechs
        return english if spaced else f" {english} "

    return _compile_words(language).sub(put, text)


def _touches_word(match: re.Match[str]) -> bool:
    start, end = match.span()
    return match.string[max(0, start - 1) : start].isalnum() or match.string[end : end + 1].isalnum()
