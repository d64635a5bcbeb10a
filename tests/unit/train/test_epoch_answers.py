"""The answers of epochs: whatever the order in which questions are asked, they stand in the order of the set."""

from types import SimpleNamespace

from lazy import lazy
from shiftscope.models.end_to_end.training import measure_agreement
from shiftscope.train.epochs import EpochAnswerer
from shiftscope.trainable import TrainStage

torch = lazy("torch")
LENGTHS, TARGETS = [9, 2, 5, 2, 7], [0, 1, 2, 0, 1]


class Questions:
    """Each says its own number; the scores of answers favour that number modulo 3."""

    def __init__(self, votes=None):
        self.lengths, self.votes, self.batches = torch.tensor(LENGTHS), votes, []

    def __len__(self):
        return len(LENGTHS)

    def batch(self, rows):
        self.batches.append(rows.tolist())
        agreement = None if self.votes is None else measure_agreement(self.votes[rows], 3)
        return SimpleNamespace(rows=rows, targets=torch.tensor(TARGETS)[rows], agreement=agreement)


class Stage(TrainStage):
    name = "answerer"

    def __init__(self, questions):
        self.questions = questions

    def make_examples(self, data, config, device):
        return self.questions

    def logits(self, module, batch):
        return torch.nn.functional.one_hot(batch.rows % 3, 3).float()


def answer(questions):
    return EpochAnswerer(Stage(questions), {"val": None}, "cpu")(4, None, None)


def test_questions_are_asked_by_length_and_answered_in_their_order():
    questions = Questions()
    found = answer(questions)
    assert questions.batches == [[1, 3, 2, 4, 0]]
    assert found.epoch == 4
    assert found.answers["val"].tolist() == [0, 1, 2, 0, 1]
    assert found.right["val"].tolist() == [True] * 5


def test_annotators_give_thirds():
    votes = torch.tensor([[0, 0, 0, 0], [1, 0, 0, -1], [2, 2, 1, 1], [1, 1, 1, 1], [1, -1, -1, -1]])
    scores = answer(Questions(votes)).right["val"] * 3
    assert [round(float(score), 4) for score in scores] == [3, 1, 2, 0, 1]
