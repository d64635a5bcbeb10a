"""Qualification: annotators first judge questions that an expert has judged; only those who judge alike go on.

COVR (appendix E.1): its authors judged 100 examples themselves, and workers who agreed on more than 85% were given
feedback and approved for the rest. Here the first questions of a file of annotations are that round.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .store import Annotation

ABOVE = 85.0  # per cent, COVR's


@dataclass(frozen=True, slots=True)
class QualificationRound:
    """The first questions, who judged them beforehand, and of how many per cent a judgement must be theirs."""

    questions: int = 0  # none: everybody is qualified
    expert: str = ""
    above: float = ABOVE

    @classmethod
    def from_about(cls, about: Mapping[str, str]) -> QualificationRound:
        """As a file of annotations says it; one made before there were such rounds has none."""
        known = {name.removeprefix(_PREFIX): value for name, value in about.items() if name.startswith(_PREFIX)}
        return cls(int(known["questions"]), known["expert"], float(known["above"])) if known else cls()

    def to_about(self) -> dict[str, str]:
        named = {"questions": self.questions, "expert": self.expert, "above": self.above}
        return {f"{_PREFIX}{name}": str(value) for name, value in named.items()} if self.questions else {}

    def __str__(self) -> str:
        if not self.questions:
            return "without --qualify"
        return f"with --qualify {self.questions} --expert {self.expert!r} --qualify-above {self.above:g}"

    def measure(self, given: Mapping[int, str], known: Mapping[int, str]) -> QualificationResult:
        """How often a person judged as the expert did; both as place → verdict."""
        both = [place for place in range(self.questions) if place in given and place in known]
        judged = sum(place in given for place in range(self.questions))
        right = sum(given[place] == known[place] for place in both)
        return QualificationResult(self, judged, right, ready=all(p in known for p in range(self.questions)))


_PREFIX = "qualification_"


@dataclass(frozen=True, slots=True)
class QualificationResult:
    """How far a person has come in the round."""

    round: QualificationRound
    judged: int
    right: int  # as the expert
    ready: bool  # whether the expert has judged every question of the round

    @property
    def complete(self) -> bool:
        return self.ready and self.judged == self.round.questions

    @property
    def passed(self) -> bool:
        return self.complete and 100 * self.right > self.round.above * self.round.questions

    def __str__(self) -> str:
        if not self.complete:
            return f"{self.judged} of {self.round.questions} judged"
        return f"{self.right} of {self.round.questions}, {'passed' if self.passed else 'not passed'}"


def measure_qualification(
    qualification: QualificationRound, annotations: Iterable[Annotation]
) -> dict[str, QualificationResult]:
    """The result of everybody but the expert."""
    verdicts: dict[str, dict[int, str]] = {}
    for one in annotations:
        mine = verdicts.setdefault(one.annotator, {})
        if one.verdict:
            mine[one.place] = one.verdict
    known = verdicts.get(qualification.expert, {})
    names = [name for name in verdicts if name != qualification.expert]
    return {name: qualification.measure(verdicts[name], known) for name in names}


def select_counting(qualification: QualificationRound, annotations: Sequence[Annotation]) -> list[Annotation]:
    """What counts: of the round the expert's judgements alone, of the other questions those of whoever passed.

    Who passed was chosen by agreeing on the round, so their judgements there would make agreement look better.
    """
    if not qualification.questions:
        return list(annotations)
    results = measure_qualification(qualification, annotations)
    passed = {qualification.expert, *(name for name, result in results.items() if result.passed)}
    return [
        one
        for one in annotations
        if (one.annotator == qualification.expert if one.place < qualification.questions else one.annotator in passed)
    ]
