"""Tally: how questions, answers and scenes are distributed, and what guessing blindly would score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from .dataset import Dataset
from .shard import columns_of

NO_TYPE = "(none)"


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of one split, or of several added up."""

    answers: Counter[tuple[str, str]]  # question type, answer
    words: Counter[int]  # in a question
    objects: Counter[int]  # in a scene

    def types(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for (kind, _), n in self.answers.items():
            found[kind] += n
        return found

    def answer_counts(self, kind: str | None = None) -> Counter[str]:
        """How often each answer is right, to questions of one type or to all."""
        found: Counter[str] = Counter()
        for (k, answer), n in self.answers.items():
            if kind in (None, k):
                found[answer] += n
        return found


@dataclass(frozen=True, slots=True)
class Blind:
    """What answering without looking scores on questions of one type, learned on another split."""

    kind: str
    n: int
    majority: int  # right with the commonest answer of all
    prior: int  # right with the commonest answer to this type


def tally(dataset: Dataset, split: str) -> Tally:
    """Count a split; questions without an answer are left out of the answers."""
    found = Tally(Counter(), Counter(), Counter())
    for shard in dataset.shards(split):
        if shard.questions:
            names = ["question_type", "answer", "question"]
            table = columns_of(dataset.folder / shard.questions.path, names)
            kinds, answers, texts = (table.column(n).to_pylist() for n in names)
            found.words.update([len(text.split()) for text in texts])
            pairs = Counter(zip(kinds, answers, strict=True))
            for (kind, answer), n in pairs.items():
                if answer is not None:
                    found.answers[kind or NO_TYPE, answer] += n
        if shard.images:
            table = columns_of(dataset.folder / shard.images.path, ["num_objects"])
            found.objects.update(table["num_objects"].to_pylist())
    return found


def total(tallies: Iterable[Tally]) -> Tally:
    summed = Tally(Counter(), Counter(), Counter())
    for one in tallies:
        summed.answers.update(one.answers)
        summed.words.update(one.words)
        summed.objects.update(one.objects)
    return summed


def blind_audit(learned: Tally, measured: Tally) -> tuple[Blind, ...]:
    """Blind scores per question type, commonest first; a type never learned takes the majority answer."""
    overall = _commonest(learned.answer_counts())
    found = []
    for kind, n in ranked(measured.types()):
        right = measured.answer_counts(kind)
        guess = _commonest(learned.answer_counts(kind)) or overall
        found.append(Blind(kind, n, right[overall], right[guess]))
    return tuple(found)


def ranked(counts: Counter[str]) -> list[tuple[str, int]]:
    """Commonest first; equal counts in alphabetical order, so that the order is always the same."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _commonest(counts: Counter[str]) -> str:
    return ranked(counts)[0][0] if counts else ""
