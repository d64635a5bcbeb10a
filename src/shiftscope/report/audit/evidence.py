"""Evidence: an audit with what blind models made of it; what the sections of its page are written from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...audit.audit import Audit
from ...audit.concepts import known_objects
from ...audit.tables import Line, table
from ...result import Score
from ...run.proportion import BlendScore
from .guess import Guess, guesses

CALLED = {
    "QT": "question type",
    "KW": "key word",
    "KWP": "two key words",
    "QT+KW": "question type and key word",
    "KO": "key object",
    "KOP": "two key objects",
    "QT+KO": "question type and key object",
    "KW+KO": "key word and key object",
    "QT+KW+KO": "question type, key word and key object",
}
KNOWS = {
    "majority": "always gives the commonest answer",
    "prior": "knows only the type of the question",
    "question_only": "reads only the question",
    "object_only": "knows only which objects the image shows",
}
MOST_UNSEEN = 0.5  # share of samples without known objects above which these are not judged
FIRST_MODEL = 2  # the series of the first model: 0 and 1 are the colours of head and tail


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """All that the page tells of."""

    audit: Audit
    blind: Mapping[str, Sequence[Score]]  # by model
    blends: Sequence[BlendScore]
    source: str  # what the dataset is called; may be empty
    lines: tuple[Line, ...]  # a shortcut each
    guesses: Mapping[str, Guess]  # by shortcut

    @property
    def ranked(self) -> tuple[Line, ...]:
        """The shortcuts that have an OOD test set, the most imbalanced in train first."""
        return tuple(sorted((s for s in self.lines if s.tail), key=lambda s: (s.degree, -s.tail)))

    @property
    def strongest(self) -> Line | None:
        """The first of the ranked; not one of objects where those of most samples are not known."""
        seen = [s for s in self.ranked if self.unseen <= MOST_UNSEEN or "KO" not in s.shortcut]
        return next(iter(seen), None)

    @property
    def unseen(self) -> float:
        """The share of the samples whose image the object annotations, where there are any, do not name."""
        if "KO" not in self.audit.labels:
            return 0.0
        return float(1 - known_objects(self.audit.samples).mean())

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(self.blind)

    def series(self, model: str) -> int:
        """The number that decides a model's colour and sign."""
        return FIRST_MODEL + self.models.index(model)

    def score(self, model: str, metric: str, shortcut: str = "") -> Score | None:
        """A model's score by its name, of one shortcut or of all; None where there is nothing to score."""
        where = (("shortcut", shortcut),) if shortcut else ()
        found = (s for s in self.blind.get(model, ()) if s.metric == metric and s.slice == where)
        return next((s for s in found if s.value is not None), None)


def evidence(
    found: Audit, blind: Mapping[str, Sequence[Score]], blends: Sequence[BlendScore], source: str
) -> Evidence:
    return Evidence(found, blind, blends, source, table(found), guesses(found))


def called(shortcut: str) -> str:
    """A shortcut in words."""
    return CALLED.get(shortcut, shortcut)
