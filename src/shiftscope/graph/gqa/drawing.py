"""Drawing: what a form draws from, and the words that it draws: true ones, and others that surely are not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from ...answer import Answer
from ...lang.program import Program
from ..overlap import THRESHOLD, Overlap
from ..subgraph import Kind
from .view import View
from .vocabulary import Counts, Vocabulary

_T = TypeVar("_T")


class Drafted(NamedTuple):
    """A question's program, and the answer that it was made to have."""

    program: Program
    answer: Answer


class Drawing(NamedTuple):
    """What forms draw from."""

    view: View
    words: Vocabulary
    overlap: Overlap
    draw: np.random.Generator
    holds: bool = True  # the answer wanted of a form that asks for yes or no
    luck: float = 1.0  # from 0 to 1, of a form that asks which; see `rival`

    def thing(self) -> int | None:
        return self.one_of(self.view.things)

    def one_of(self, options: Sequence[_T]) -> _T | None:
        return options[int(self.draw.integers(len(options)))] if options else None

    def other(
        self, kind: Kind, truths: Iterable[str], options: Counts, fits: Callable[[str], bool] = bool
    ) -> str | None:
        """A word that surely does not hold where the true ones do.

        Common ones are drawn more often, as they are also true more often: to be rare tells nothing.
        """
        left = [word for word in options if fits(word)]
        for truth in truths:
            judged = self.overlap.judge(kind, truth, left)
            left = [word for word, m in zip(left, judged, strict=True) if m > THRESHOLD]
        if not left:
            return None
        ends = np.cumsum([options[word] for word in left])
        return left[int(np.searchsorted(ends, self.draw.integers(ends[-1]), side="right"))]

    def rival(
        self,
        kind: Kind,
        truth: str,
        truths: Iterable[str],
        options: Counts,
        fits: Callable[[str], bool] = bool,
    ) -> str | None:
        """Such a word to choose from beside the true one.

        A true word is passed over the more often the commoner it is; else, of "on or under", it would be on.
        """
        fitting = sum(n for word, n in options.items() if fits(word))
        if not fitting or self.luck < options.get(truth, 0) / fitting:
            return None
        return self.other(kind, truths, options, fits)
