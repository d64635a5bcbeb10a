"""Random: any answer that the question's type admits, each as likely as the others."""

from collections import defaultdict
from collections.abc import Sequence

from ..answer import Answer
from ..model import PROGRAMS, TEXT, ModelSetting, ModelTraits, Prompt, Response
from ..questions.answer_space import list_answers
from ..rng import derive
from ._baselines import TrainingAnswerCounts, read_training_answers

TRAITS = ModelTraits(reads=frozenset((TEXT, PROGRAMS)), learns=True)


class RandomModel:
    """The answer to a question depends on the seed and the question's id alone."""

    def __init__(self, setting: ModelSetting) -> None:
        self._setting = setting
        self._seen: dict[str, tuple[Answer, ...]] = {}  # kind → answers, read when first needed

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        responses = []
        for question in (prompt.question for prompt in batch):
            space = list_answers(question, self._setting.schema) or self._list_training_answers(question.kind)
            drawn = derive("random", self._setting.options.seed, question.id).integers(len(space))
            responses.append(Response(answer=space[int(drawn)], confidence=1 / len(space)))
        return responses

    def _list_training_answers(self, kind: str) -> tuple[Answer, ...]:
        """Where the vocabulary is open: the answers that training questions of the kind had."""
        if not self._seen:
            tallies: dict[str, TrainingAnswerCounts] = defaultdict(TrainingAnswerCounts)
            for question, answer in read_training_answers(self._setting, "random"):
                tallies[question.kind].add(answer)
                tallies[""].add(answer)
            self._seen = {name: tally.list_answers() for name, tally in tallies.items()}
        return self._seen.get(kind) or self._seen[""]


def build(target: str, setting: ModelSetting) -> RandomModel:
    return RandomModel(setting)
