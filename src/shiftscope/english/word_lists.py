"""Word lists: the text files in `english/data`, read when first needed and kept.

A file has sections. `[mass]` may hold words between commas, over any number of lines; a table `word: other, words`,
groups `these | those`, rules `pattern => words` or texts `key: One. | Another.`, one entry per line, where an
indented line continues the one above; `#` starts a comment.
"""

import re
from functools import cache
from pathlib import Path


@cache
def word_list(file: str, section: str) -> tuple[str, ...]:
    return _split_words(" ".join(_read_sections(file)[section]))


@cache
def word_set(file: str, section: str) -> frozenset[str]:
    return frozenset(word_list(file, section))


@cache
def word_pairs(file: str, section: str) -> dict[str, str]:
    """For `person people, man men`, the second word of each pair by the first."""
    return dict(pair.split() for pair in word_list(file, section))


def word_table(file: str, section: str, separator: str = ",") -> dict[str, tuple[str, ...]]:
    """For lines `kind: these, those`, the words by what stands before the colon; for texts, separated by `|`."""
    entries = (line.partition(": ") for line in _read_sections(file)[section])
    return {key: _split_words(words, separator) for key, _, words in entries}


def word_groups(file: str, section: str) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """For lines `these, those | others`, the groups of each line."""
    return tuple(tuple(map(_split_words, line.split("|"))) for line in _read_sections(file)[section])


def pair_words(file: str, section: str) -> frozenset[tuple[str, str]]:
    """For lines `these, those | others`, each of the first group with each of the second."""
    return frozenset((one, other) for ones, others in word_groups(file, section) for one in ones for other in others)


def rewrite_rules(file: str, section: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """For lines `pattern => replacement`, these in order, for `Pattern.sub`."""
    pairs = (line.split(" => ") for line in _read_sections(file)[section])
    return tuple((re.compile(pattern), words) for pattern, words in pairs)


def _split_words(text: str, separator: str = ",") -> tuple[str, ...]:
    return tuple(" ".join(word.split()) for word in text.split(separator))


@cache
def _read_sections(file: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    for line in (Path(__file__).parent / "data" / f"{file}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            lines = sections[line.strip("[]")] = []
        elif line.startswith(" "):
            lines[-1] += line
        elif line and not line.startswith("#"):
            lines.append(line)
    return sections
