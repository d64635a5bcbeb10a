"""The blind audit: how much of the IID test and of each OOD set is solved without seeing and reading both.

*majority* knows the answers' frequencies, *prior* also the type of the question, *question_only* its words,
*object_only* the kinds of objects in the image. All learn from the train split; those that learn in epochs
keep the one that does best on the IID val split, never an OOD one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..audit.annotators import annotators
from ..audit.audit import Audit
from ..audit.labels import KO, QT
from ..audit.samples import Rows
from ..audit.split import TEST, TRAIN, VAL
from ..audit.tables import PARTS
from ..metrics.shortcut_gap import measure
from ..models._model import Options, Prompt, Setting, replies
from ..models._name import build
from ..question import Question
from ..result import Asked, Column, Prediction, Records, Score, records_of
from ..scene import Object, Scene

CALLED = {"prior": "majority_per_template"}  # what the catalogue calls it
MODELS = ("majority", "prior", "question_only", "object_only")
AT_ONCE = 1024


class Blind:
    """The samples of an audit, ready to be answered by models that see half of them at most."""

    def __init__(self, audit: Audit, seed: int = 0) -> None:
        self.audit, self.seed = audit, seed

    @property
    def models(self) -> tuple[str, ...]:
        """Those that can be asked: without object annotations there is no object_only."""
        return tuple(m for m in MODELS if m != "object_only" or KO in self.audit.labels)

    def records(self, model: str, train: Rows | None = None, val: Rows | None = None) -> Records:
        """Every question of the IID test answered; learned from these rows, else from the train split."""
        split = self.audit.split
        learn = split.rows(TRAIN) if train is None else train
        choose = split.rows(VAL) if val is None else val
        setting = Setting(
            train=lambda: self._questions(learn),
            choosing=lambda: self._questions(choose),
            scenes=self._scenes,
            options=Options(seed=self.seed),
        )
        built = build(CALLED.get(model, model), setting)
        asked = self._asked
        rows: list[tuple[Asked, Prediction | None]] = []
        for start in range(0, len(asked), AT_ONCE):
            some = asked[start : start + AT_ONCE]
            prompts = [Prompt(question, scenes=tuple(self._scenes(question))) for _, question in some]
            made = replies(built, prompts, model)
            for (one, _), reply in zip(some, made, strict=True):
                rows.append((one, Prediction(one.question, reply.answer, belief=reply.belief)))
        return self._marked(records_of(rows))

    def _marked(self, records: Records) -> Records:
        """With a fact a shortcut, also for one whose groups are all balanced."""
        nowhere = Column((), np.full(len(records), -1, np.int32))
        parts = {name: dict(records.facts).get(name, nowhere) for name in self.audit.labels}
        return replace(records, facts=tuple(parts.items()))

    def scores(self, model: str) -> tuple[Score, ...]:
        return measure(self.records(model))

    def _questions(self, rows: Rows) -> Iterator[Question]:
        samples, types = self.audit.samples, self.audit.labels[QT]
        for k in rows.tolist():
            image = samples.images[k]
            yield Question(
                id=str(samples.ids[k]),
                text=samples.texts[k],
                scenes=() if image is None else (str(image),),
                answer=samples.answers[k],
                kind=types.name(int(types.codes[k])),
            )

    @cached_property
    def _asked(self) -> list[tuple[Asked, Question]]:
        """The questions of the IID test, with their annotators and their parts."""
        audit, rows = self.audit, self.audit.split.rows(TEST)
        said = annotators(audit.samples, rows)
        parts = {name: groups.part for name, groups in audit.test.items()}
        made = []
        for at, question in enumerate(self._questions(rows)):
            facts = tuple((name, PARTS[part[at]]) for name, part in parts.items() if part[at])
            one = Asked(question.id, question.scenes, question.answer, said[at], facts)
            made.append((one, question))
        return made

    def _scenes(self, question: Question) -> Sequence[Scene]:
        return [self._shown[name] for name in question.scenes if name in self._shown]

    @cached_property
    def _shown(self) -> dict[str, Scene]:
        """What is known of each image: one object of each kind."""
        samples, objects = self.audit.samples, self.audit.samples.objects
        if objects is None:
            return {}
        return {
            str(image): Scene(
                tuple(
                    Object((("name", objects.kinds[code]),))
                    for code in objects.codes[objects.at[k] : objects.at[k + 1]].tolist()
                )
            )
            for k, image in enumerate(samples.images.values)
        }
