"""What the baselines share: answer counts, and softmax regression over bags of features.

Ties between answers are broken by spelling, so that the order of the questions does not matter.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ..answer import Answer, spell
from ..errors import UserError
from ..kernels import exact
from ..model import ModelSetting, Prompt, Response
from ..question import Question
from ..rng import derive


class TrainingAnswerCounts:
    """How often each answer was given."""

    def __init__(self, answers: Iterable[Answer] = ()) -> None:
        self._counts: Counter[str] = Counter()
        self._typed: dict[str, Answer] = {}
        for answer in answers:
            self.add(answer)

    def add(self, answer: Answer) -> None:
        spelled = spell(answer)
        self._counts[spelled] += 1
        self._typed.setdefault(spelled, answer)

    def rank_answers(self) -> tuple[Answer, ...]:
        """Every answer once, the commonest first."""
        return tuple(self._typed[s] for s, _ in sorted(self._counts.items(), key=lambda item: (-item[1], item[0])))

    def respond(self) -> Response:
        """The answer given most often, with its share as confidence."""
        answer = self.rank_answers()[0]
        return Response(answer=answer, confidence=self._counts[spell(answer)] / self._counts.total())

    def list_answers(self) -> tuple[Answer, ...]:
        """Every answer once, by spelling."""
        return tuple(self._typed[spelled] for spelled in sorted(self._typed))


def read_training_answers(setting: ModelSetting, model: str) -> Iterable[tuple[Question, Answer]]:
    """The training questions with their answers; none at all is an error."""
    found = False
    for question in setting.train():
        if question.answer is not None:
            found = True
            yield question, question.answer
    if not found:
        raise UserError(
            f"model {model!r} learns from answered questions and there are none; "
            "name a dataset with a train split: --learn-from DIR"
        )


def read_validation_answers(setting: ModelSetting) -> Iterable[tuple[Question, Answer]]:
    """The questions that a model may be chosen by, with their answers; there need not be any."""
    return ((q, q.answer) for q in setting.choosing() if q.answer is not None)


MOST_EXAMPLES = 100_000  # learned from; more change little and cost a minute
MOST_FEATURES = 8_192
MOST_ANSWERS = 1_024
EPOCHS = 12
PATIENCE = 2  # epochs without a better score on the examples to choose by, after which it ends
BATCH = 256
RATE = 0.3
DECAY = 1e-4

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Places = npt.NDArray[np.int64]
Bag = frozenset[str]
T = TypeVar("T")
BagRows = tuple[Ints, Places]  # codes and [bag + 1] at: bag b holds the features `codes[at[b] : at[b + 1]]`, ascending


@dataclass(frozen=True, slots=True, eq=False)
class BagRegression:
    """A weight for each (feature, answer)."""

    features: dict[str, int]
    answers: tuple[Answer, ...]
    weights: Floats  # [feature, answer]
    bias: Floats  # [answer]

    def predict_bags(self, bags: Sequence[Bag]) -> list[Response]:
        rows = _encode_bags(bags, self.features)
        chances = _softmax(_compute_scores(self.weights, self.bias, *rows, np.arange(len(bags))))
        best = enumerate(chances.argmax(1).tolist())
        return [Response(answer=self.answers[k], confidence=float(min(1.0, chances[i, k]))) for i, k in best]


@dataclass(frozen=True, slots=True, eq=False)
class BagModel:
    """The regression on what `bag` finds in a prompt."""

    fitted: BagRegression
    bag: Callable[[Prompt], Bag]

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        return self.fitted.predict_bags([self.bag(prompt) for prompt in batch])


def fit_bag_regression(
    examples: Iterable[tuple[T, Answer]],
    choosing: Iterable[tuple[T, Answer]] = (),
    *,
    bag: Callable[[T], Bag],
    name: str,
    seed: int,
) -> BagRegression:
    """Learn from examples; where others are given to choose by, the epoch that does best on them is kept.

    `bag` says what an example shows; it is called only for those that are learned from.
    """
    shown, true = _sample_examples(examples, name, seed)
    bags = [bag(one) for one in shown]
    answers = TrainingAnswerCounts(true).rank_answers()[:MOST_ANSWERS]
    number = {spell(a): k for k, a in enumerate(answers)}
    kept = [k for k, a in enumerate(true) if spell(a) in number]
    counts = Counter(f for features in bags for f in features)
    common = sorted((f for f, n in counts.items() if n > 1), key=lambda f: (-counts[f], f))  # seen at least twice
    features = {f: k for k, f in enumerate(common[:MOST_FEATURES])}
    rows = _encode_bags([bags[k] for k in kept], features)
    targets = np.array([number[spell(true[k])] for k in kept], np.int32)
    others, expected = _sample_examples(choosing, name, seed)
    check = (
        _encode_bags([bag(one) for one in others], features),
        np.array([number.get(spell(a), -1) for a in expected], np.int32),
    )
    order = derive(name, seed, "order")
    weights, bias = _run_adagrad(rows, targets, len(features), len(answers), order, check)
    return BagRegression(features, answers, weights, bias)


def _sample_examples(examples: Iterable[tuple[T, Answer]], name: str, seed: int) -> tuple[list[T], list[Answer]]:
    """At most so many examples, each as likely to be among them as any other."""
    random = derive(name, seed, "sample")
    kept: list[tuple[T, Answer]] = []
    for seen, example in enumerate(examples):
        if seen < MOST_EXAMPLES:
            kept.append(example)
        elif (at := int(random.integers(seen + 1))) < MOST_EXAMPLES:
            kept[at] = example
    return [shown for shown, _ in kept], [answer for _, answer in kept]


def _encode_bags(bags: Sequence[Bag], features: dict[str, int]) -> BagRows:
    found = [sorted(features[f] for f in bag if f in features) for bag in bags]
    at = np.concatenate([[0], np.cumsum([len(f) for f in found], dtype=np.int64)])
    return np.array([code for f in found for code in f], np.int32), at


def _run_adagrad(
    rows: BagRows, targets: Ints, features: int, answers: int, order: np.random.Generator, check: tuple[BagRows, Ints]
) -> tuple[Floats, Floats]:
    """Adagrad on the cross entropy."""
    weights = np.zeros((features, answers), np.float32)
    bias = np.zeros(answers, np.float32)
    heat, bias_heat = np.full_like(weights, 1e-6), np.full_like(bias, 1e-6)
    best, waited, chosen = -1.0, 0, (weights, bias)
    for _ in range(EPOCHS):
        for some in np.array_split(order.permutation(len(targets)), -(-len(targets) // BATCH)):
            error = _softmax(_compute_scores(weights, bias, *rows, some))
            error[np.arange(len(some)), targets[some]] -= 1
            error /= np.float32(len(some))
            _step_adagrad(weights, heat, *rows, some, error)
            bias_slope = error.sum(0)
            bias_heat += bias_slope**2
            bias -= np.float32(RATE) * bias_slope / np.sqrt(bias_heat)
        if len(check[1]):
            right, waited = _measure_accuracy(weights, bias, *check), waited + 1
            if right > best:
                best, waited, chosen = right, 0, (weights.copy(), bias.copy())
            if waited == PATIENCE:
                break
    return chosen if len(check[1]) else (weights, bias)


def _measure_accuracy(weights: Floats, bias: Floats, rows: BagRows, true: Ints) -> float:
    """The share of the bags whose likeliest answer is the true one."""
    hits = 0
    for start in range(0, len(true), 16 * BATCH):
        some = np.arange(start, min(start + 16 * BATCH, len(true)))
        hits += int((_compute_scores(weights, bias, *rows, some).argmax(1) == true[some]).sum())
    return hits / len(true)


@exact
def _compute_scores(weights: Floats, bias: Floats, codes: Ints, at: Places, some: Places) -> Floats:
    """[bag, answer] the sum of the weights of each bag's features."""
    scores = np.empty((len(some), len(bias)), np.float32)
    for i in range(len(some)):
        scores[i] = bias
        for f in codes[at[some[i]] : at[some[i] + 1]]:
            for a in range(len(bias)):
                scores[i, a] += weights[f, a]
    return scores


@exact
def _step_adagrad(weights: Floats, heat: Floats, codes: Ints, at: Places, some: Places, error: Floats) -> None:
    """One step of Adagrad for the features that the bags have; only their rows of the arrays are touched."""
    rate, decay = np.float32(RATE), np.float32(DECAY)
    answers = weights.shape[1]
    slot = np.full(len(weights), -1, np.int32)  # of a feature among the slopes
    many = 0
    for b in some:
        for f in codes[at[b] : at[b + 1]]:
            if slot[f] < 0:
                slot[f] = many
                many += 1
    slope = np.zeros((many, answers), np.float32)
    for i in range(len(some)):
        for f in codes[at[some[i]] : at[some[i] + 1]]:
            s = slot[f]
            for a in range(answers):
                slope[s, a] += error[i, a]
    for f in range(len(weights)):
        s = slot[f]
        if s >= 0:
            for a in range(answers):
                down = slope[s, a] + decay * weights[f, a]
                heat[f, a] += down * down
                weights[f, a] -= rate * down / np.sqrt(heat[f, a])


def _softmax(scores: Floats) -> Floats:
    """Of each row, in its place."""
    scores -= scores.max(1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(1, keepdims=True)
    return scores
