"""Held-out matrix: trainings with and without held-out questions, all tested on the same questions.

Every figure of a study of held-out splits is made from its stored records alone (`held_out_records.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ..result import Score
from .generalization_score import generalization_score
from .held_out_records import (
    HELD_OUT,
    IID,
    IID_SIZE,
    K_SHOT,
    OTHER_IMAGES,
    PLAIN,
    HeldOutEntry,
    HeldOutRecord,
    HeldOutTest,
    HeldOutTraining,
    unpack_array,
    unpack_bits,
)
from .held_out_sight import Sight, judge_sight
from .intervals import SceneClusters, none_if_nan, widen_side
from .significance import PairedTest, add_seed_variance, run_paired_test

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
SIDES = PLAIN, OTHER_IMAGES


class HeldOutMatrix:
    """The entries on one test, by training; and beside it the matrices of derived test sets."""

    def __init__(
        self, test: HeldOutTest, entries: Sequence[HeldOutEntry], derived: Mapping[str, HeldOutMatrix] | None = None
    ) -> None:
        self.test = test
        self.entries = {entry.training: entry for entry in entries if entry.data == test.data}
        self.derived = dict(derived or {})
        others = sum(one.left_out for one in self.derived.values())
        self.left_out: int = others + len([e for e in entries if e.data != test.data])
        self.planned_otherwise: int = 0  # entries that whoever gathered the records left out for that
        self._template = test.find_templates()
        self.sights: dict[HeldOutTraining, Sight] = self._judge_sights() | {
            t: s for one in self.derived.values() for t, s in one.sights.items()
        }
        self.blind = {training for training, sight in self.sights.items() if sight.blind}
        for one in self.derived.values():
            one.blind = self.blind

    @classmethod
    def gather(cls, records: Sequence[HeldOutRecord], scale: str) -> Self | None:
        """The records of one scale on the test that most entries are of; None where there is no test."""
        found = {name: cls._gather_test_set(records, scale, name) for name in sorted({r.test_set for r in records})}
        main = found.pop("", None)
        if main is None:
            return None
        return cls(*main, {name: HeldOutMatrix(*one) for name, one in found.items() if one is not None})

    @staticmethod
    def _gather_test_set(
        records: Sequence[HeldOutRecord], scale: str, test_set: str
    ) -> tuple[HeldOutTest, list[HeldOutEntry]] | None:
        mine = [r for r in records if r.scale == scale and r.test_set == test_set]
        tests: dict[str, HeldOutTest] = {}
        for one in mine:
            if isinstance(one, HeldOutTest):  # studies of the same data mark other properties of the same questions
                marks = {**tests[one.data].marks, **one.marks} if one.data in tests else one.marks
                tests[one.data] = replace(one, marks=marks)
        entries = [r for r in mine if isinstance(r, HeldOutEntry)]
        if not tests:
            return None
        counts = {data: sum(entry.data == data for entry in entries) for data in tests}
        return tests[max(counts, key=lambda data: (counts[data], data))], entries

    def find_test_set(self, name: str) -> HeldOutMatrix | None:
        """The matrix of a derived test set, or of the test split itself; None where nothing is stored of it."""
        return self.derived.get(name) if name else self

    def list_entries(self) -> dict[HeldOutTraining, HeldOutEntry]:
        """Every training with one of its entries, whichever test set it is of."""
        found = {t: e for one in self.derived.values() for t, e in one.entries.items()}
        return found | self.entries

    @cached_property
    def _clusters(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """[question] how many images it is about, and the images of one question after the other."""
        counts, images = unpack_array(self.test.image_counts, np.uint8), unpack_array(self.test.images, np.uint32)
        return counts.astype(np.int64), images.astype(np.int64)

    def find_rows(self, split: str = "", template: str = "", *, without: bool = False) -> Rows:
        """The questions with the property of a split, or `without` it, and of a template; all where none is named."""
        there = np.ones(self.test.count, np.bool_)
        if split:
            there &= self.test.find_marks(split) != without
        if template:
            there &= self._template == self.test.templates.index(template)
        return np.flatnonzero(there)

    def find_hits(self, training: HeldOutTraining, wording: str, seeds: Sequence[int] = (0,)) -> Floats | None:
        """[question] the share of seeds that are right; None where none is measured, or not in that wording."""
        found = [
            unpack_bits(entry.right[wording], self.test.count).astype(np.float64)
            for seed in seeds
            if (entry := self.entries.get(_with_seed(training, seed))) is not None and wording in entry.right
        ]
        return np.mean(found, axis=0) if found else None

    def list_seeds(self, training: HeldOutTraining, wordings: Collection[str] = ()) -> list[int]:
        """Those that were asked in these wordings; without seeds that did not come to see, where others did."""
        alike = [one for one in self.entries if _with_seed(one, 0) == _with_seed(training, 0)]
        asked = [one for one in alike if all(wording in self.entries[one].right for wording in wordings)]
        seeing = [one for one in asked if one not in self.blind]
        return sorted(one.seed for one in seeing or asked)

    def is_blind(self, training: HeldOutTraining) -> bool:
        """Whether all its seeds hardly came to see: its figures say nothing of what it learned from."""
        alike = [one for one in self.list_entries() if _with_seed(one, 0) == _with_seed(training, 0)]
        return bool(alike) and all(one in self.blind for one in alike)

    def _judge_sights(self) -> dict[HeldOutTraining, Sight]:
        """Of all trainings that were asked about other images, on questions like those they learned from."""
        asked = sorted((t for t, entry in self.entries.items() if OTHER_IMAGES in entry.right), key=_is_at_home)
        found: dict[HeldOutTraining, Sight] = {}
        for training in reversed(asked):  # in-domain ones first, with which the others are compared
            held = training.split if training.kind == HELD_OUT and training.split in self.test.marks else ""
            rows = self.find_rows(held, without=bool(held))
            homes = [t for t in found if t == HeldOutTraining(training.model, seed=t.seed) and not found[t].blind]
            home = None
            if homes and training.kind in (HELD_OUT, IID_SIZE, K_SHOT):  # others learn from other images
                mean = [np.mean([self._read(one, wording) for one in homes], axis=0) for wording in SIDES]
                home = mean[0][rows], mean[1][rows]
            pair = self._read(training, PLAIN)[rows], self._read(training, OTHER_IMAGES)[rows]
            if len(rows):
                found[training] = judge_sight(pair, home, self._cluster(rows))
        return {training: found[training] for training in sorted(found)}

    def _read(self, training: HeldOutTraining, wording: str) -> Floats:
        return unpack_bits(self.entries[training].right[wording], self.test.count).astype(np.float64)

    def measure_accuracy(
        self,
        training: HeldOutTraining,
        *,
        split: str = "",
        template: str = "",
        wording: str = PLAIN,
        rows: Rows | None = None,
    ) -> Score | None:
        """With an interval over images, and over seeds where there are several, whose mean it is then.

        `rows` are the questions, where these are not those of a split or template.
        """
        hits = self.find_hits(training, wording, self.list_seeds(training, (wording,)))
        rows = self.find_rows(split, template) if rows is None else rows
        if hits is None or not len(rows):
            return None
        found = self._cluster(rows).estimate_shares(hits[rows], np.ones(len(rows)))
        low, high = none_if_nan(float(found.low[0])), none_if_nan(float(found.high[0]))
        made = Score("accuracy", float(found.value[0]), len(rows), low, high, scenes=int(found.scenes[0]))
        return _add_seed_parts(made, [_vary(self.list_shares(training, wording, rows))], (0.0, 1.0))

    def list_shares(
        self, training: HeldOutTraining, wording: str, rows: Rows, seeds: Sequence[int] | None = None
    ) -> list[float]:
        """By seed the share of these questions that is right."""
        seeds = self.list_seeds(training, (wording,)) if seeds is None else seeds
        found = [self.find_hits(training, wording, (seed,)) for seed in seeds]
        return [float(hits[rows].mean()) for hits in found if hits is not None]

    def measure_generalization(
        self,
        model: HeldOutTraining,
        text_only: HeldOutTraining,
        upper: HeldOutTraining,
        *,
        split: str,
        wording: str = PLAIN,
    ) -> Score | None:
        """The generalization score; None where one of the three is not measured.

        A question is about all of its images: its interval is over these, as that of an accuracy.
        """
        rows = self.find_rows(split)
        three = [self.find_hits(one, wording, self.list_seeds(one, (wording,))) for one in (model, text_only, upper)]
        if any(hits is None for hits in three) or not len(rows):
            return None
        scores = [hits[rows] for hits in three if hits is not None]
        held, text, top = (float(one.mean()) for one in scores)
        value = generalization_score(held, text, top)
        clusters = self._cluster(rows)
        low, high = clusters.bound_gap_share(*scores)
        made = Score("generalization_score", value, len(rows), low, high, scenes=clusters.count)
        if value is None:
            return made
        gap = top - text
        slopes = (1 / gap, (held - top) / gap**2, (text - held) / gap**2)  # of the score, by each of the three
        seeds = [
            _vary(self.list_shares(one, wording, rows), slope)
            for one, slope in zip((model, text_only, upper), slopes, strict=True)
        ]
        return _add_seed_parts(made, seeds)

    def has_gap(self, upper: HeldOutTraining, text_only: HeldOutTraining, split: str, wording: str) -> bool | None:
        """Whether one is surely above the other on a split's questions; None where that is not measured."""
        pair = self.compare(upper, text_only, split=split, wording=wording)
        return None if pair is None or pair.low is None else pair.low > 0

    def compare(
        self,
        first: HeldOutTraining,
        second: HeldOutTraining,
        *,
        split: str = "",
        template: str = "",
        wording: str = PLAIN,
        than: str = "",
        rows: Rows | None = None,
    ) -> PairedTest | None:
        """The first less the second, paired by question; `than` is the second's wording, where it is another.

        The interval is over images, and over seeds where there are several; two wordings to one training are paired by
        seed too.
        """
        rows = self.find_rows(split, template) if rows is None else rows
        worded = ((first, wording), (second, than or wording))
        same = _with_seed(first, 0) == _with_seed(second, 0)
        seeds = [self.list_seeds(one, {w for _, w in worded} if same else {words}) for one, words in worded]
        pair = [self.find_hits(*one, mine) for one, mine in zip(worded, seeds, strict=True)]
        if pair[0] is None or pair[1] is None or not len(rows):
            return None
        test = run_paired_test(pair[0][rows], pair[1][rows], self._cluster(rows))
        sides = [self.list_shares(*one, rows, mine) for one, mine in zip(worded, seeds, strict=True)]
        if same:
            sides = [[a - b for a, b in zip(*sides, strict=True)]]
        return add_seed_variance(test, sides)

    def _cluster(self, rows: Rows) -> SceneClusters:
        counts, images = self._clusters
        starts = np.cumsum(counts) - counts
        mine = counts[rows]
        at = np.repeat(np.arange(len(rows)), mine)
        places = np.repeat(starts[rows] - (np.cumsum(mine) - mine), mine) + np.arange(int(mine.sum()))
        return SceneClusters(images[places], at, np.repeat(1 / np.sqrt(np.maximum(mine, 1)), mine))


def _vary(values: Sequence[float], slope: float = 1.0) -> tuple[float, float] | None:
    """The variance of a mean over seeds, times the square of a slope, and its degrees of freedom; None of one seed."""
    several = len(values) > 1
    return (slope**2 * float(np.var(values, ddof=1)) / len(values), len(values) - 1.0) if several else None


def _add_seed_parts(
    score: Score, parts: Sequence[tuple[float, float] | None], within: tuple[float, float] = (-np.inf, np.inf)
) -> Score:
    """The same, unsure for its seeds too."""
    known = [part for part in parts if part is not None and part[0] > 0]
    if not known or score.value is None or score.low is None or score.high is None:
        return score
    freedom = max((score.scenes or 2) - 1.0, 1.0)
    below, above = (widen_side(side, known, freedom) for side in (score.value - score.low, score.high - score.value))
    return replace(score, low=max(within[0], score.value - below), high=min(within[1], score.value + above))


def _is_at_home(training: HeldOutTraining) -> tuple[bool, HeldOutTraining]:
    return training.kind == IID, training


def _with_seed(training: HeldOutTraining, seed: int) -> HeldOutTraining:
    return replace(training, seed=seed)
