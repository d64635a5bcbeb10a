"""Majority per template: the commonest training answer of the question's template, else of its kind.

A question that names two answers ("red or blue?") gets one of them by lot, as in COVR (Bogin et al., 2021,
section 5): its template's commonest answer would mostly be neither.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..question import Question
from ..rng import derive
from ._counts import Tally, answered
from ._model import Prompt, Reply, Setting
from ._space import offered

LOOKS = False  # at no picture
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MajorityPerTemplate:
    """A reply for each template family, for each kind, and one for all the rest."""

    replies: Mapping[Key, Reply]
    seed: int = 0  # of the lots

    def predict(self, batch: Sequence[Prompt]) -> list[Reply]:
        return [self._reply(prompt.question) for prompt in batch]

    def _reply(self, question: Question) -> Reply:
        if two := offered(question):
            lot = derive("majority_per_template", self.seed, question.id).integers(len(two))
            return Reply(answer=two[int(lot)], belief=1 / len(two))
        return next(self.replies[k] for k in _keys(question) if k in self.replies)


def _keys(question: Question) -> Iterator[Key]:
    """From the narrowest group to all questions."""
    origin = question.provenance
    if origin.template or origin.family is not None:
        yield "template", origin.template, str(origin.family)
    if question.kind:
        yield "kind", question.kind
    yield ("all",)


def build(target: str, setting: Setting) -> MajorityPerTemplate:
    tallies: dict[Key, Tally] = defaultdict(Tally)
    for question, answer in answered(setting, "majority_per_template"):
        for key in _keys(question):
            tallies[key].add(answer)
    made = {}
    for key, tally in tallies.items():
        answer, share = tally.commonest()
        made[key] = Reply(answer=answer, belief=share)
    return MajorityPerTemplate(made, setting.options.seed)
