"""The world of a selection study: its questions with the sets they are in, and what trainings learn from and answer."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...answer import spell
from ...errors import UserError
from ...metrics.model_selection import (
    BLIND,
    IID,
    PLANTED,
    PRIORS,
    PRIORS_TEST,
    TEST,
    VAL,
    WHOLE,
    StudyWorld,
    head_of,
    pack_bits,
    pack_numbers,
    tail_of,
)
from ...question import Question
from ...scene import Scene
from ...shift import changing_priors
from ...shortcuts.audit import TRAIN, AuditSettings, ShortcutAudit, audit_shortcuts, build_proportion_sets
from ...shortcuts.concepts import QT
from ...store.audit_samples import read_stored_questions
from ...store.dataset import Dataset, data_id
from ...store.question_part import QuestionPart
from ...store.shard import read_questions, read_shard_scenes
from ...train.data import DatasetTrainingData, TrainValData, gather_split
from ...trainable import IMAGES, SplitData, TrainStage

if TYPE_CHECKING:
    import torch

Bools = npt.NDArray[np.bool_]
PIXELS = "pixels.npy"


@cache
def open_pictures(folder: Path) -> torch.Tensor:
    """What `share_pictures` left there; in memory once, however many processes read it."""
    import torch

    return torch.from_numpy(np.load(folder / PIXELS, mmap_mode="c"))


@dataclass(slots=True, eq=False)
class SelectionData:
    """A dataset with an audit of its own split, held open for many trainings."""

    dataset: Dataset
    device: str
    workers: int
    _held: dict[str, SplitData] = field(default_factory=dict)  # by split
    _asked: dict[str, tuple[list[Scene], list[Question]]] = field(default_factory=dict)
    _collected: dict[str, list[tuple[TrainStage, Any]]] = field(default_factory=dict)  # by split, what stages collect
    _checked: list[Any] = field(default_factory=list)  # what was found to be in the order of the sets
    _cached: dict[str, Any] = field(default_factory=dict)

    @property
    def audit(self) -> ShortcutAudit:
        if "audit" not in self._cached:
            samples = read_stored_questions(self.dataset)
            self._cached["audit"] = audit_shortcuts(samples, AuditSettings(split="given"))
        found: ShortcutAudit = self._cached["audit"]
        return found

    @property
    def priors(self) -> changing_priors.PriorSplit:
        if "priors" not in self._cached:
            self._cached["priors"] = changing_priors.build_split(self.audit.samples)
        found: changing_priors.PriorSplit = self._cached["priors"]
        return found

    @property
    def ood_rows(self) -> npt.NDArray[np.int64]:
        """The questions of the world's own OOD test; none where it has no such split."""
        splits = self.audit.samples.splits
        assert splits is not None
        there = PLANTED in splits.values
        return np.flatnonzero(splits.codes == splits.values.index(PLANTED)) if there else np.zeros(0, np.int64)

    @property
    def source(self) -> str:
        """As `train --data` takes it."""
        return str(self.dataset.folder)

    @property
    def answered(self) -> dict[str, int]:
        """How many questions of each split every epoch answers, in the order in which they are stored."""
        return {split: len(rows) for split, rows in self._list_rows().items()}

    def _list_rows(self) -> dict[str, npt.NDArray[np.int64]]:
        found = {VAL: self.audit.split.rows(VAL), TEST: self.audit.split.rows(TEST)}
        return found | ({PLANTED: self.ood_rows} if len(self.ood_rows) else {})

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """The questions that every epoch is measured on: the IID test, then the world's own OOD test."""
        return np.concatenate([self.audit.split.rows(TEST), self.ood_rows])

    @property
    def sets(self) -> dict[str, Bools]:
        """[question of `rows`] which are in each set."""
        if "sets" not in self._cached:
            iid, rows = self.audit.split.rows(TEST), self.rows
            found = {IID: np.arange(len(rows)) < len(iid), PLANTED: np.arange(len(rows)) >= len(iid)}
            found[PRIORS_TEST] = np.isin(rows, self.priors.test) & found[IID]
            for name, groups in self.audit.test.items():
                found[tail_of(name)] = np.isin(rows, groups.tail)
                found[head_of(name)] = np.isin(rows, groups.head)
            self._cached["sets"] = found
        sets: dict[str, Bools] = self._cached["sets"]
        return sets

    @property
    def val_sets(self) -> dict[str, Bools]:
        """[question of the val split] which are in each set."""
        rows = self.audit.split.rows(VAL)
        tails = {tail_of(name, VAL): np.isin(rows, groups.tail) for name, groups in self.audit.val.items()}
        return {VAL: np.ones(len(rows), bool)} | tails

    def describe_world(self, study: str, scale: str, tied: Sequence[Mapping[str, Any]]) -> StudyWorld:
        sets = self.sets
        sizes = {name: int(mask.sum()) for name, mask in (self.val_sets | sets).items()}
        return StudyWorld(
            study=study,
            scale=scale,
            data=data_id(self.dataset),
            spec=dict(self.dataset.manifest.spec),
            questions=len(self.rows),
            sizes=sizes | {TRAIN: len(self.audit.split.rows(TRAIN))},
            degrees={name: round(groups.imbalance_degree(), 6) for name, groups in self.audit.train.items()},
            several_degrees={name: round(groups.imbalance_degree(2), 6) for name, groups in self.audit.train.items()},
            sets={name: pack_bits(mask) for name, mask in sets.items()},
            images=pack_numbers(self.audit.samples.images.codes[self.rows]),
            tied=tuple(tied),
            blind={rule: pack_bits(right) for rule, right in self._answer_blindly().items()},
        )

    def _answer_blindly(self) -> dict[str, Bools]:
        """[question of `rows`] what the frequent answers of its type in train get right; of equal ones the first."""
        if QT not in self.audit.labels:
            return {}
        types, answers = self.audit.labels[QT], self.audit.samples.answers
        train, rows = self.audit.split.rows(TRAIN), self.rows
        assert types.codes.min() >= 0, "a world gives every question its type"
        counts = np.zeros((len(types), len(answers.values)), np.int64)
        np.add.at(counts, (types.codes[train], answers.codes[train]), 1)
        ranked = np.argsort(-counts, axis=1, kind="stable")
        asked = types.codes[rows]
        return {
            rule: (ranked[asked, k] == answers.codes[rows]) & (counts[asked, ranked[asked, k]] > 0)
            for k, rule in enumerate(BLIND)
        }

    def list_ids(self, training: str) -> frozenset[str] | None:
        """The train questions that a training learns from; None: all. An empty set: there is no such training."""
        if training == WHOLE:
            return None
        train = self.audit.split.rows(TRAIN)
        if training == PRIORS:
            rows = np.intersect1d(self.priors.train, train)
        else:
            _, shortcut, share = training.split("/")
            made = build_proportion_sets(self.audit, shortcut, (int(share),)) if shortcut in self.audit.labels else ()
            rows = made[0].rows if made else np.zeros(0, np.int64)
        return frozenset(map(str, self.audit.samples.take_ids(rows.tolist())))

    def open_part(self, training: str) -> DatasetTrainingData:
        """As `train` opens it; raises UserError where there is nothing to learn from."""
        ids = self.list_ids(training)
        part = None
        if ids is not None:
            if not ids:
                raise UserError(f"{training}: no question of train is of such a training")
            part = QuestionPart(training, ids, TRAIN, data_id(self.dataset))
        return DatasetTrainingData(self.dataset, self.dataset.count(TRAIN)[0], part)

    def gather_training(self, training: str, stages: Sequence[TrainStage]) -> TrainValData:
        """What stages learn from and are chosen by."""
        start = time.monotonic()
        train, val = self.gather(TRAIN, stages, self.list_ids(training)), self.gather(VAL, stages)
        return TrainValData(train, val, time.monotonic() - start)

    def gather(self, split: str, stages: Sequence[TrainStage], ids: frozenset[str] | None = None) -> SplitData:
        """A split as `train` gathers it, of these questions alone; its pictures are read once for all trainings."""
        seen = any(IMAGES in stage.supervision for stage in stages)
        held = self._held.get(split)
        if held is None or (seen and held.pixels is None):
            data = DatasetTrainingData(self.dataset, self.dataset.count(TRAIN)[0])
            held = self._held[split] = gather_split(data, split, stages, device=self.device, workers=self.workers)
            self._collected.setdefault(split, []).extend((stage, held.supervision[stage.name]) for stage in stages)
        supervision = {stage.name: self._collect(split, stage, ids) for stage in stages}
        return SplitData(held.pixels if seen else None, held.scenes, supervision, held.kept)

    def share_pictures(self, folder: Path) -> None:
        """Move the pictures that are held into files, SPLIT/pixels.npy, from which other processes read them."""
        for split, held in self._held.items():
            if held.pixels is not None and held.kept is None:
                own = folder / split
                own.mkdir(parents=True)
                np.save(own / PIXELS, held.pixels.cpu().numpy())
                self._held[split] = replace(held, pixels=open_pictures(own), kept=own)

    def _collect(self, split: str, stage: TrainStage, ids: frozenset[str] | None) -> Any:
        """What a stage learns from; stages that collect alike share it, of all questions of a split."""
        known = self._collected.setdefault(split, [])
        if ids is None and (alike := [one for other, one in known if stage.collects_like(other)]):
            return alike[0]
        if split not in self._asked:
            self._asked[split] = self._read_scenes(split), list(self._iter_questions(split))
        scenes, questions = self._asked[split]
        if ids is not None:
            return stage.collect(scenes, [q for q in questions if q.id in ids])
        known.append((stage, stage.collect(scenes, questions)))
        return known[-1][1]

    def check_order(self, stage: str, data: SplitData, split: str) -> None:
        """Refuse to score answers to questions in another order than the sets'."""
        given, rows = data.supervision[stage], self._list_rows()[split]
        if any(given is one for one in self._checked):
            return
        words, codes = getattr(given, "answer_words", None), getattr(given, "answers", None)
        if words is None or codes is None:
            raise UserError(f"the stage {stage!r} does not learn from answers, so a selection study cannot score it")
        mine = [spell(words[k]) for k in codes.tolist()]
        if mine != [spell(self.audit.samples.answers[k]) for k in rows.tolist()]:
            raise AssertionError("the questions of a split are read in another order than its audit's")
        self._checked.append(given)

    def _read_scenes(self, split: str) -> list[Scene]:
        files = (shard.images for shard in self.dataset.shards(split) if shard.images)
        return [scene for file in files for scene in read_shard_scenes(self.dataset.folder / file.path)]

    def _iter_questions(self, split: str) -> Iterator[Question]:
        for shard in self.dataset.shards(split):
            if shard.questions:
                yield from read_questions(self.dataset.folder / shard.questions.path)
