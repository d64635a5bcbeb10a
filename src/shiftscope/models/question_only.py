"""Question only: softmax regression over the question's words, fitted on the train split; sees no image."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..answer import Answer, spell
from ..rng import derive
from ._counts import Tally, answered
from ._model import Prompt, Reply, Setting

MOST_QUESTIONS = 100_000  # learned from; more change little and cost a minute
MOST_FEATURES = 8_192
MOST_ANSWERS = 1_024
EPOCHS = 12
BATCH = 256
RATE = 0.3
DECAY = 1e-4

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
_WORD = re.compile(r"[a-z0-9']+")


@dataclass(frozen=True, slots=True, eq=False)
class QuestionOnly:
    """A weight for each (word or pair of words, answer)."""

    features: dict[str, int]
    answers: tuple[Answer, ...]
    weights: Floats  # [feature + 1, answer]; the last row belongs to padding and stays 0
    bias: Floats  # [answer]

    def predict(self, batch: Sequence[Prompt]) -> list[Reply]:
        rows = _rows([p.question.text for p in batch], self.features)
        beliefs = _softmax(self.weights[rows].sum(1) + self.bias)
        best = beliefs.argmax(1)
        return [
            Reply(answer=self.answers[k], belief=float(min(1.0, b[k])))
            for k, b in zip(best.tolist(), beliefs, strict=True)
        ]


def build(target: str, setting: Setting) -> QuestionOnly:
    texts, said = _sample(setting)
    tally = Tally()
    for answer in said:
        tally.add(answer)
    counts = Counter(spell(a) for a in said)
    answers = sorted(tally.answers(), key=lambda a: (-counts[spell(a)], spell(a)))[:MOST_ANSWERS]
    number = {spell(a): k for k, a in enumerate(answers)}
    kept = [k for k, a in enumerate(said) if spell(a) in number]
    features = _features(texts)
    rows = _rows([texts[k] for k in kept], features)
    targets = np.array([number[spell(said[k])] for k in kept], np.int32)
    weights, bias = _fit(rows, targets, len(features), len(answers), setting.options.seed)
    return QuestionOnly(features, tuple(answers), weights, bias)


def _sample(setting: Setting) -> tuple[list[str], list[Answer]]:
    """At most so many questions, each as likely to be among them as any other."""
    random = derive("question_only", setting.options.seed, "sample")
    kept: list[tuple[str, Answer]] = []
    for seen, (question, answer) in enumerate(answered(setting, "question_only")):
        if seen < MOST_QUESTIONS:
            kept.append((question.text, answer))
        elif (at := int(random.integers(seen + 1))) < MOST_QUESTIONS:
            kept[at] = (question.text, answer)
    return [text for text, _ in kept], [answer for _, answer in kept]


def _features(texts: Iterable[str]) -> dict[str, int]:
    """Words and neighbouring pairs seen at least twice, the commonest first."""
    counts = Counter(f for text in texts for f in _parts(text))
    common = sorted((f for f, n in counts.items() if n > 1), key=lambda f: (-counts[f], f))
    return {f: k for k, f in enumerate(common[:MOST_FEATURES])}


def _parts(text: str) -> set[str]:
    words = _WORD.findall(text.lower())
    return {*words, *map(" ".join, pairwise(words))}


def _rows(texts: Sequence[str], features: dict[str, int]) -> Ints:
    """[text, place] numbers of the features each text has, padded with one past the last."""
    found = [sorted(features[p] for p in _parts(text) if p in features) for text in texts]
    width = max(map(len, found), default=1) or 1
    return np.array([f + [len(features)] * (width - len(f)) for f in found], np.int32).reshape(-1, width)


def _fit(rows: Ints, targets: Ints, features: int, answers: int, seed: int) -> tuple[Floats, Floats]:
    """Adagrad on the cross entropy."""
    weights = np.zeros((features + 1, answers), np.float32)
    bias = np.zeros(answers, np.float32)
    heat, bias_heat = np.full_like(weights, 1e-6), np.full_like(bias, 1e-6)
    order = derive("question_only", seed, "order")
    for _ in range(EPOCHS):
        for some in np.array_split(order.permutation(len(rows)), -(-len(rows) // BATCH)):
            mine = rows[some]
            error = _softmax(weights[mine].sum(1) + bias)
            error[np.arange(len(some)), targets[some]] -= 1
            error /= len(some)
            touched, place = np.unique(mine, return_inverse=True)
            slope = np.zeros((len(touched), answers), np.float32)
            np.add.at(slope, place.reshape(-1), np.repeat(error, mine.shape[1], axis=0))
            slope += DECAY * weights[touched]
            heat[touched] += slope**2
            weights[touched] -= RATE * slope / np.sqrt(heat[touched])
            weights[-1] = 0
            bias_slope = error.sum(0)
            bias_heat += bias_slope**2
            bias -= RATE * bias_slope / np.sqrt(bias_heat)
    return weights, bias


def _softmax(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max(1, keepdims=True))
    made: Floats = powers / powers.sum(1, keepdims=True)
    return made
