"""Labels: the concept of one shortcut for every sample, a tuple of parts such as (what color, banana)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .keys import numbered

NONE = "none"  # how a part is named where the sample has nothing for it
JOIN = " + "

QT, KW, KWP, KO, KOP = "QT", "KW", "KWP", "KO", "KOP"
SHORTCUTS = (QT, KW, KWP, "QT+KW", KO, KOP, "QT+KO", "KW+KO", "QT+KW+KO")  # in the order of Table 1
LANGUAGE = SHORTCUTS[:4]  # what can be labelled without object annotations


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The concepts of one shortcut. Concept c is made of `words[p][parts[c, p]]`, or NONE where that is -1.

    Concepts are numbered in the order of their parts, NONE first, then alphabetically. A sample of which it
    is not known what it has for a part (the objects of an image without annotations) has no concept: -1.
    """

    shortcut: str
    words: tuple[tuple[str, ...], ...]  # a vocabulary a part
    parts: npt.NDArray[np.int32]  # [concept, part]
    codes: npt.NDArray[np.int32]  # [sample] number of its concept, or -1

    def __len__(self) -> int:
        """How many concepts there are."""
        return len(self.parts)

    def name(self, concept: int) -> str:
        """The parts joined: `what color + banana`; empty for -1, no concept."""
        return JOIN.join(self.names(concept))

    def names(self, concept: int) -> tuple[str, ...]:
        if concept < 0:
            return ()
        row = self.parts[concept].tolist()
        return tuple(NONE if code < 0 else words[code] for words, code in zip(self.words, row, strict=True))


def labels_of(
    shortcut: str,
    words: tuple[tuple[str, ...], ...],
    columns: tuple[npt.NDArray[np.int32], ...],
    known: npt.NDArray[np.bool_] | None = None,
) -> Labels:
    """Labels from one column of codes a part, -1 for nothing; samples not marked in `known` get none."""
    sizes = [len(vocabulary) + 1 for vocabulary in words]
    key = np.zeros(len(columns[0]), np.int64)
    for size, column in zip(sizes, columns, strict=True):
        key = key * size + (column + 1)
    codes = np.full(len(key), -1, np.int32)
    inside = np.ones(len(key), bool) if known is None else known
    found, codes[inside], _ = numbered(key[inside])
    parts = np.empty((len(found), len(sizes)), np.int32)
    for place in range(len(sizes) - 1, -1, -1):
        found, parts[:, place] = found // sizes[place], found % sizes[place] - 1
    return Labels(shortcut, words, parts, codes)
