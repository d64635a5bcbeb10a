"""Action ignored: the true question's program on the true scene as it is, as if nothing had been done.

What a model scores that sees and parses perfectly and imagines nothing; a question that makes no sense
without its action has no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ..lang.acted import apart
from ._model import Prompt, Reply, Setting
from .oracle import Oracle

LOOKS = False  # at no picture


@dataclass(slots=True)
class ActionIgnored:
    """The oracle, deaf to actions; of a question without one it is the oracle itself."""

    _oracle: Oracle = field(default_factory=Oracle)

    def predict(self, batch: Sequence[Prompt]) -> list[Reply]:
        return self._oracle.predict([_without_action(prompt) for prompt in batch])


def _without_action(prompt: Prompt) -> Prompt:
    program = prompt.question.program
    if program is None:
        return prompt
    return replace(prompt, question=replace(prompt.question, program=apart(program)[1]))


def build(target: str, setting: Setting) -> ActionIgnored:
    return ActionIgnored()
