"""Random: any answer that the question's type admits, each as likely as the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ..answer import Answer
from ..rng import derive
from ._counts import Tally, answered
from ._model import Prompt, Reply, Setting
from ._space import space_of

LOOKS = False  # at no picture


class Random:
    """The answer to a question depends on the seed and the question's id alone."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._seen: dict[str, tuple[Answer, ...]] = {}  # kind → answers, read when first needed

    def predict(self, batch: Sequence[Prompt]) -> list[Reply]:
        return [self._reply(prompt) for prompt in batch]

    def _reply(self, prompt: Prompt) -> Reply:
        question = prompt.question
        space = space_of(question, self._setting.schema) or self._known(question.kind)
        random = derive("random", self._setting.options.seed, question.id)
        return Reply(answer=space[int(random.integers(len(space)))], belief=1 / len(space))

    def _known(self, kind: str) -> tuple[Answer, ...]:
        """Where the vocabulary is open: the answers that training questions of the kind had."""
        if not self._seen:
            tallies: dict[str, Tally] = defaultdict(Tally)
            for question, answer in answered(self._setting, "random"):
                tallies[question.kind].add(answer)
                tallies[""].add(answer)
            self._seen = {name: tally.answers() for name, tally in tallies.items()}
        return self._seen.get(kind) or self._seen[""]


def build(target: str, setting: Setting) -> Random:
    return Random(setting)
