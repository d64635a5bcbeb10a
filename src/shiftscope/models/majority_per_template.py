"""Majority per template: the commonest training answer of the question's template, else of its kind.

A question that names two answers ("red or blue?") gets one of them by lot, as in COVR (Bogin et al., 2021,
section 5): its template's commonest answer would mostly be neither.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..model import PROGRAMS, TEXT, ModelSetting, ModelTraits, Prompt, Response
from ..question import Question
from ..questions.answer_space import find_choices
from ..rng import derive
from ._baselines import TrainingAnswerCounts, read_training_answers

TRAITS = ModelTraits(reads=frozenset((TEXT, PROGRAMS)), learns=True)
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MajorityPerTemplate:
    """A response for each template family, for each kind, and one for all the rest."""

    responses: Mapping[Key, Response]
    seed: int = 0  # of the lots

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        made = []
        for question in (prompt.question for prompt in batch):
            if two := find_choices(question):
                lot = derive("majority_per_template", self.seed, question.id).integers(len(two))
                made.append(Response(answer=two[int(lot)], confidence=1 / len(two)))
            else:
                made.append(next(self.responses[k] for k in _list_group_keys(question) if k in self.responses))
        return made


def _list_group_keys(question: Question) -> Iterator[Key]:
    """From the narrowest group to all questions."""
    origin = question.provenance
    if origin.template or origin.family is not None:
        yield "template", origin.template, str(origin.family)
    if question.kind:
        yield "kind", question.kind
    yield ("all",)


def build(target: str, setting: ModelSetting) -> MajorityPerTemplate:
    tallies: dict[Key, TrainingAnswerCounts] = defaultdict(TrainingAnswerCounts)
    for question, answer in read_training_answers(setting, "majority_per_template"):
        for key in _list_group_keys(question):
            tallies[key].add(answer)
    return MajorityPerTemplate({key: tally.respond() for key, tally in tallies.items()}, setting.options.seed)
