"""Questions made from scenes, a folder per benchmark; here what a set of them asks and answers, as counts."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from ..answer import spell
from ..question import Question

Counts = dict[str, int]


@dataclass(frozen=True, slots=True)
class QuestionDistribution:
    """How many questions there are of each type, family, length and answer."""

    questions: int
    scenes: int
    types: Counts  # most frequent first
    families: Counts  # "file#number", by name
    words: Counts  # length of the text, ascending
    steps: Counts  # length of the program, ascending
    answers: dict[str, Counts]  # by type, each most frequent first
    family_answers: dict[str, Counts]  # by family

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def count_questions(questions: Iterable[Question]) -> QuestionDistribution:
    listed = list(questions)
    by_type: dict[str, Counter[str]] = {}
    by_family: dict[str, Counter[str]] = {}
    for q in listed:
        answer = () if q.answer is None else (spell(q.answer),)
        by_type.setdefault(q.kind or "unknown", Counter()).update(answer)
        by_family.setdefault(template_id(q), Counter()).update(answer)
    words = Counter(len(q.text.split()) for q in listed)
    steps = Counter(len(q.program) for q in listed if q.program is not None)
    return QuestionDistribution(
        questions=len(listed),
        scenes=len({scene for q in listed for scene in q.scenes}),
        types=_sort_by_count(Counter(q.kind or "unknown" for q in listed)),
        families=dict(sorted(Counter(map(template_id, listed)).items())),
        words={str(length): n for length, n in sorted(words.items())},
        steps={str(length): n for length, n in sorted(steps.items())},
        answers={kind: _sort_by_count(by_type[kind]) for kind in sorted(by_type)},
        family_answers={family: _sort_by_count(by_family[family]) for family in sorted(by_family)},
    )


def template_id(question: Question) -> str:
    """The template a question was made from: `one_hop.json#3`."""
    p = question.provenance
    return f"{p.template or 'unknown'}#{'?' if p.family is None else p.family}"


def _sort_by_count(counts: Counter[str]) -> Counts:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
