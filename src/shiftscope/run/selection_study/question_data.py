"""Questions of an audit of VQA files, for a study of models that read the question alone: the language side only."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import UserError
from ...metrics.model_selection import IID, TEST, VAL, WHOLE, StudyWorld, head_of, pack_bits, pack_numbers, tail_of
from ...shortcuts import audit_folder
from ...shortcuts.audit import TRAIN
from ...train.data import TrainValData
from ...train.question_files import QuestionFilesData, open_audit_questions
from ...trainable import SplitData, TrainStage

Bools = npt.NDArray[np.bool_]
PARTS = {"head": head_of, "tail": tail_of}  # as marks name them


@dataclass(slots=True, eq=False)
class AuditedQuestions:
    """An audit's Training, Val and IID test, held open for many trainings; its OOD sets are parts of the last two."""

    folder: Path
    _read: dict[str, Any] = field(default_factory=dict)
    _collected: dict[str, list[tuple[TrainStage, Any]]] = field(default_factory=dict)  # by split

    @property
    def source(self) -> str:
        """As `train --data` takes it."""
        return str(self.folder)

    @property
    def files(self) -> QuestionFilesData:
        if "files" not in self._read:
            opened = open_audit_questions(self.folder)
            suffixes = (audit_folder.QUESTIONS_SUFFIX, audit_folder.ANSWERS_SUFFIX)
            questions, answers = (audit_folder.set_file(self.folder, audit_folder.TEST_FOLDER, s) for s in suffixes)
            if not questions.is_file():
                raise UserError(
                    f"{self.folder}: the audit has no {audit_folder.TEST_FOLDER}, which a study measures on"
                )
            self._read["files"] = QuestionFilesData(opened.name, (*opened.files, (TEST, questions, answers)))
        found: QuestionFilesData = self._read["files"]
        return found

    @property
    def answered(self) -> dict[str, int]:
        """How many questions of each split every epoch answers, in the order in which they are stored."""
        return {split: len(self._read_split(split)[1]) for split in (VAL, TEST)}

    @property
    def sets(self) -> dict[str, Bools]:
        """[question of the IID test] which are in each set."""
        return {IID: np.ones(self.answered[TEST], bool)} | self._mark(TEST, tuple(PARTS))

    @property
    def val_sets(self) -> dict[str, Bools]:
        """[question of the val split] which are in each set."""
        return {VAL: np.ones(self.answered[VAL], bool)} | self._mark(VAL, ("tail",))

    def describe_world(self, study: str, scale: str, tied: Sequence[Mapping[str, Any]] = ()) -> StudyWorld:
        identity, sets = audit_folder.identify_audit(self.folder), self.sets
        sizes = {name: int(mask.sum()) for name, mask in (self.val_sets | sets).items()}
        asked = [q.scenes[0] for q in self._read_split(TEST)[1]]
        place = {name: k for k, name in enumerate(dict.fromkeys(asked))}
        return StudyWorld(
            study=study,
            scale=scale,
            data=identity.id,
            spec={"audit": str(identity)},
            questions=self.answered[TEST],
            sizes=sizes | {TRAIN: len(self._read_split(TRAIN)[1])},
            degrees={},
            sets={name: pack_bits(mask) for name, mask in sets.items()},
            images=pack_numbers(np.array([place[name] for name in asked])),
            tied=tuple(tied),
        )

    def list_ids(self, training: str) -> None:
        """All questions are learned from, always."""
        if training != WHOLE:
            raise UserError(f"{training}: on an audit there is only the part {WHOLE}")

    def open_part(self, training: str) -> QuestionFilesData:
        self.list_ids(training)
        return self.files

    def gather_training(self, training: str, stages: Sequence[TrainStage]) -> TrainValData:
        start = time.monotonic()
        self.list_ids(training)
        return TrainValData(self.gather(TRAIN, stages), self.gather(VAL, stages), time.monotonic() - start)

    def gather(self, split: str, stages: Sequence[TrainStage]) -> SplitData:
        return SplitData(None, (), {stage.name: self._collect(split, stage) for stage in stages})

    def share_pictures(self, folder: Path) -> None:
        """There are none."""

    def _collect(self, split: str, stage: TrainStage) -> Any:
        known = self._collected.setdefault(split, [])
        alike = [one for other, one in known if stage.collects_like(other)]
        if not alike:
            alike = [stage.collect(*self._read_split(split))]
            known.append((stage, alike[0]))
        return alike[0]

    def check_order(self, stage: str, data: SplitData, split: str) -> None:
        """Refuse to score answers to questions in another order than the sets'."""
        given: Any = data.supervision[stage]
        if list(given.ids) != [q.id for q in self._read_split(split)[1]]:
            raise AssertionError("the questions of a split are collected in another order than they are read")

    def _read_split(self, split: str) -> tuple[list[Any], list[Any]]:
        if split not in self._read:
            self._read[split] = self.files.read(split)
        found: tuple[list[Any], list[Any]] = self._read[split]
        return found

    def _mark(self, split: str, parts: Sequence[str]) -> dict[str, Bools]:
        """[question of the split] whether it is in the head or tail of each shortcut."""
        if "marks" not in self._read:
            ids, _, marks = audit_folder.read_shortcut_marks(self.folder)
            self._read["marks"] = {name: k for k, name in enumerate(ids)}, marks
        place, marks = self._read["marks"]
        rows = np.array([place[q.id] for q in self._read_split(split)[1]], np.int64)
        found = {}
        for part in parts:
            for shortcut, column in marks.items():
                code = column.values.index(part) if part in column.values else -2
                name = tail_of(shortcut, split) if part == "tail" else head_of(shortcut)
                found[name] = column.codes[rows] == code
        return found
