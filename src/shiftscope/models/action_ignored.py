"""Action ignored: the true question's program on the true scene as it is, as if nothing had been done.

What a model scores that sees and parses perfectly and imagines nothing; a question that makes no sense
without its action has no answer.
"""

from collections.abc import Sequence
from dataclasses import replace

from ..lang.program import split_action
from ..model import PROGRAMS, SCENES, ModelSetting, ModelTraits, Prompt, Response
from .oracle import Oracle

TRAITS = ModelTraits(reads=frozenset((SCENES, PROGRAMS)), learns=True)  # as its runs have always recorded


class ActionIgnored(Oracle):
    """The oracle, deaf to actions; of a question without one it is the oracle itself."""

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        questions = [p.question for p in batch]
        unmoved = [replace(q, program=split_action(q.program)[1]) if q.program is not None else q for q in questions]
        return super().predict([replace(p, question=q) for p, q in zip(batch, unmoved, strict=True)])


def build(target: str, setting: ModelSetting) -> ActionIgnored:
    return ActionIgnored()
