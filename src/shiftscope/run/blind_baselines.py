"""The blind audit: how much of the IID test and of each OOD set one modality alone solves.

*majority* knows the answers' frequencies, *prior* also the type of the question, *question_only* its words,
*object_only* the kinds of objects in the image. All learn from the train split; those that learn in epochs
keep the one that does best on the IID val split, never an OOD one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..columns import Column
from ..formats.vqa import read_annotator_answers
from ..metrics.shortcut_gap import measure
from ..model import ModelOptions, ModelSetting, Prompt, build_model, predict_checked
from ..question import Question
from ..question_table import Rows
from ..result import Prediction, QuestionRecord, RunRecords, Score, records_of
from ..scene import Object, Scene
from ..shortcuts.audit import TEST, TRAIN, VAL, ShortcutAudit
from ..shortcuts.audit_statistics import PART_NAMES
from ..shortcuts.concepts import KO, QT

CALLED = {"prior": "majority_per_template"}  # its name in the registry
MODELS = ("majority", "prior", "question_only", "object_only")
AT_ONCE = 1024


class BlindBaselines:
    """The samples of an audit, ready to be answered by models that see half of them at most."""

    def __init__(self, audit: ShortcutAudit, seed: int = 0) -> None:
        self.audit, self.seed = audit, seed

    @property
    def models(self) -> tuple[str, ...]:
        """Those that can be asked: without object annotations there is no object_only."""
        return tuple(m for m in MODELS if m != "object_only" or KO in self.audit.labels)

    def answer_test(self, model: str, train: Rows | None = None, val: Rows | None = None) -> RunRecords:
        """Every question of the IID test answered; learned from these rows, else from the train split."""
        split = self.audit.split
        learn = split.rows(TRAIN) if train is None else train
        choose = split.rows(VAL) if val is None else val
        setting = ModelSetting(
            train=lambda: self._iter_questions(learn),
            choosing=lambda: self._iter_questions(choose),
            scenes=self._find_scenes,
            options=ModelOptions(seed=self.seed),
        )
        built = build_model(CALLED.get(model, model), setting)
        asked = self._examples
        rows: list[tuple[QuestionRecord, Prediction | None]] = []
        for start in range(0, len(asked), AT_ONCE):
            some = asked[start : start + AT_ONCE]
            prompts = [Prompt(question, scenes=tuple(self._find_scenes(question))) for _, question in some]
            made = predict_checked(built, prompts, model)
            for (one, _), response in zip(some, made, strict=True):
                rows.append((one, Prediction(one.question, response.answer, confidence=response.confidence)))
        return self._mark_shortcuts(records_of(rows))

    def _mark_shortcuts(self, records: RunRecords) -> RunRecords:
        """With a fact a shortcut, also for one whose groups are all balanced."""
        nowhere = Column((), np.full(len(records), -1, np.int32))
        parts = {name: dict(records.facts).get(name, nowhere) for name in self.audit.labels}
        return replace(records, facts=tuple(parts.items()))

    def score(self, model: str) -> tuple[Score, ...]:
        return measure(self.answer_test(model))

    def _iter_questions(self, rows: Rows) -> Iterator[Question]:
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
    def _examples(self) -> list[tuple[QuestionRecord, Question]]:
        """The questions of the IID test, with their annotators and their parts."""
        audit, rows = self.audit, self.audit.split.rows(TEST)
        answers = read_annotator_answers(audit.samples, rows)
        parts = {name: groups.part for name, groups in audit.test.items()}
        made = []
        for at, question in enumerate(self._iter_questions(rows)):
            facts = tuple((name, PART_NAMES[part[at]]) for name, part in parts.items() if part[at])
            one = QuestionRecord(question.id, question.scenes, question.answer, answers[at], facts)
            made.append((one, question))
        return made

    def _find_scenes(self, question: Question) -> Sequence[Scene]:
        return [self._object_scenes[name] for name in question.scenes if name in self._object_scenes]

    @cached_property
    def _object_scenes(self) -> dict[str, Scene]:
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
