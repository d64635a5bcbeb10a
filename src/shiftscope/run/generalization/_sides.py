"""A side of a transfer: a dataset with its answers, its names, and the questions of it that count."""

from __future__ import annotations

from collections import Counter
from functools import cached_property

from ...answer import spell
from ...models._space import expected_of
from ...question import Question
from ...reply import NUMBER
from ...schema import OPEN, Schema
from ...store.shard import groups
from ..source import DatasetSource
from ._frame import Material
from ._names import program_words, scene_words

KINDS = ("binary", "open")
COUNTING = "a counting question"
UNANSWERED = "no known answer"
NOT_SHARED = "an answer that only one of the datasets has"


class Side:
    """One of the two datasets."""

    def __init__(self, name: str, material: Material) -> None:
        self.name, self.material = name, material

    @cached_property
    def labels(self) -> frozenset[str]:
        """Every answer that one of its questions has, in any split."""
        source = self.material.source
        if not isinstance(source, DatasetSource):
            asked = (q for split in source.splits for q in source.questions(split))
            return frozenset(spell(q.answer) for q in asked if q.answer is not None)
        dataset = source.dataset
        files = [dataset.folder / s.questions.path for s in dataset.shards() if s.questions]
        found = {v for f in files for t in groups(f, ["answer"]) for v in t["answer"].unique().to_pylist()}
        return frozenset(spell(v) for v in found if v is not None)

    @cached_property
    def words(self) -> frozenset[str]:
        """The names in the programs of its training questions; of those asked, where it has no others."""
        splits = self.material.source.splits
        split = "train" if "train" in splits else self.material.split
        asked = self.material.questions(split)
        return frozenset(w for q in asked if q.program is not None for _, w in program_words(q.program))

    @cached_property
    def schema(self) -> Schema:
        return self.material.source.schema()

    @cached_property
    def scene_names(self) -> frozenset[str]:
        """What the objects in the images asked about are called."""
        scenes = (self.material.scenes([name]) for name in self.material.images)
        return frozenset(word for some in scenes for word in scene_words(some))

    def kept(self, shared: frozenset[str], why: Counter[str]) -> tuple[Question, ...]:
        """The questions that count; `why` counts the others by reason."""
        made: list[Question] = []
        for question in self.material.questions():
            if self.material.limit is not None and len(made) >= self.material.limit:
                break
            reason = left_out(question, shared)
            if reason:
                why[f"{self.name}: {reason}"] += 1
            else:
                made.append(question)
        return tuple(made)


def left_out(question: Question, shared: frozenset[str]) -> str:
    """Why a question does not count, or nothing."""
    if question.answer is None:
        return UNANSWERED
    said = spell(question.answer)
    if said.isdecimal() or expected_of(question, OPEN) is NUMBER:
        return COUNTING
    return "" if said in shared else NOT_SHARED


def kind_of(answer: str) -> str:
    return KINDS[0] if answer in ("yes", "no") else KINDS[1]
