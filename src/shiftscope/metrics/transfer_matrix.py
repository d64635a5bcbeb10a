"""Transfer matrix: accuracy of models trained on one variant and tested on another, each figure with its interval.

All test sets of a matrix show the same scenes in the same order, so scenes are resampled together in all entries:
differences and ratios between entries are paired. Throughput is the median over entries.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import UserError
from ..result import Bools, Floats, RunRecords, Score
from .calibration import Reliability
from .intervals import SceneClusters, sum_by_slice
from .relative_degrade import DegradeEstimate, ResampledAccuracies
from .significance import PairedTest, run_paired_test

Ints = npt.NDArray[np.int64]
EntryKey = tuple[str, Any, Any]  # model, training, test set; the suite's study says what the last two are
OUTCOME_FIELDS = ("asked", "right", "undefined", "each", "bits")


@dataclass(frozen=True, slots=True)
class EntryOutcome:
    """A run's outcome on one group of questions, in few bytes: which questions, image by image, are right."""

    asked: int
    right: int
    undefined: int  # among those not right: the model gave no answer
    each: int | str  # questions per image; packed where images differ
    bits: str  # which are right, packed
    confidence: Reliability | None = None

    @classmethod
    def from_records(cls, records: RunRecords, counts: npt.NDArray[Any]) -> EntryOutcome:
        """From a run whose rows stand image by image; `counts` [image] is how many rows each image has."""
        confidence = records.confidence if np.isfinite(records.confidence).any() else None
        return cls.from_arrays(records.right, counts, int((records.answer.codes < 0).sum()), confidence)

    @classmethod
    def from_arrays(
        cls, right: npt.NDArray[Any], counts: npt.NDArray[Any], undefined: int = 0, confidence: Floats | None = None
    ) -> EntryOutcome:
        """`right` [question] image by image, `counts` [image] how many each image has."""
        hits = np.asarray(right, np.bool_)
        if int(counts.sum()) != len(hits):
            raise ValueError(f"{len(hits)} answers to {int(counts.sum())} questions")
        alike = len(counts) > 0 and counts[0] > 0 and bool((counts == counts[0]).all())
        each = int(counts[0]) if alike else _compress(np.asarray(counts, "<u2").tobytes())
        bits = _compress(np.packbits(hits).tobytes())
        reliability = Reliability.from_confidences(confidence, hits) if confidence is not None else None
        return cls(len(hits), int(hits.sum()), int(undefined), each, bits, reliability)

    def unpack_hits(self) -> Bools:
        """[question] which are right."""
        bits = np.frombuffer(_decompress(self.bits), np.uint8)
        return np.unpackbits(bits, count=self.asked).astype(np.bool_)

    def unpack_counts(self) -> Ints:
        """[image] how many questions each has."""
        if isinstance(self.each, int):
            return np.full(self.asked // self.each if self.each else 0, self.each, np.int64)
        return np.frombuffer(_decompress(self.each), "<u2").astype(np.int64)

    def image_of_questions(self) -> Ints:
        """[question] the number of its image, the same scene in every variant."""
        counts = self.unpack_counts()
        return np.repeat(np.arange(len(counts)), counts)

    def to_json(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in OUTCOME_FIELDS}
        return plain | ({"belief": self.confidence.to_json()} if self.confidence else {})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> EntryOutcome:
        """Checked: what does not add up is a ValueError."""
        confidence = Reliability.from_json(data["belief"]) if "belief" in data else None
        made = cls(**{name: data[name] for name in OUTCOME_FIELDS}, confidence=confidence)
        try:
            hits, counts = made.unpack_hits(), made.unpack_counts()
        except (binascii.Error, zlib.error) as error:
            raise ValueError(f"packed bits cannot be read ({error})") from None
        if len(hits) != made.asked or int(hits.sum()) != made.right:
            raise ValueError(f"{int(hits.sum())} of {len(hits)} bits are set, not {made.right} of {made.asked}")
        if int(counts.sum()) != made.asked:
            raise ValueError(f"the images have {int(counts.sum())} questions, not {made.asked}")
        if not 0 <= made.undefined <= made.asked - made.right:
            raise ValueError(f"{made.undefined} undefined answers among {made.asked - made.right} not right")
        if confidence and confidence.n > made.asked:
            raise ValueError("more confidences than questions")
        return made


def _compress(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


def _decompress(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text, validate=True))


@dataclass(frozen=True, slots=True, eq=False)
class TransferMatrix:
    """The entries of one scale that fit together; what was left out, and why.

    Entries, trainings and diagnoses are a study's records, scales and keys those of its suite.
    """

    study: Any  # the suite's definition of it
    scale: Any
    entries: dict[EntryKey, Any]
    trainings: dict[tuple[str, Any], Any]  # by family of models, and training
    diagnoses: tuple[Any, ...]
    left_out: tuple[tuple[str, str], ...]  # file, reason
    data_version: int | None = None  # of the suite's data, where these are not today's
    split: str = "test"
    validation: TransferMatrix | None = None  # of the same trainings, on validation data
    beside: TransferMatrix | None = None  # of another study, whose models in domain are set beside these
    _accuracies: dict[str, tuple[dict[EntryKey, Score], ResampledAccuracies[EntryKey] | None]] = field(
        default_factory=dict
    )

    def group_rows_by(self, name: str, family: str = "") -> dict[str, list[Any]]:
        """The trainings shown, or a family's, by recipe, version or device: a page says where there are several."""
        found: dict[str, list[Any]] = {}
        for entry in self.entries.values():
            rows = found.setdefault(getattr(entry.origin, name), []) if family in ("", entry.origin.family) else []
            if entry.trained not in rows:
                rows.append(entry.trained)
        return found

    def list_pairs(self) -> list[tuple[Any, Any]]:
        """The trainings and tests that any model has an entry for, in the order of the factors."""
        there = {(trained, tested) for _, trained, tested in self.entries}
        listed = [pair for pair in self.study.pairs if pair in there]
        return [*listed, *sorted(there.difference(listed))]

    def find_outcome(self, model: str, trained: Any, tested: Any, group: str) -> EntryOutcome | None:
        entry = self.entries.get((model, trained, tested))
        found: EntryOutcome | None = entry.find_outcome(group) if entry else None
        return found if found and found.asked else None

    def find_score(self, model: str, trained: Any, tested: Any, group: str) -> Score | None:
        """Accuracy; None where the entry is missing or its test set has no such questions."""
        return self._resample(group)[0].get((model, trained, tested))

    def find_in_domain(self, model: str) -> Score | None:
        """Accuracy of the default in its own domain, on the first group of questions."""
        trained, tested = self.study.default
        return self.find_score(model, trained, tested, self.study.question_groups[0])

    def measure_degrade(self, model: str, grid: Any, form: str, group: str) -> DegradeEstimate | None:
        """Relative Degrade of a factor's grid; None unless all entries that the form needs are there."""
        resampled = self._resample(group)[1]
        keys = {(row, column): (model, t, at) for row, t in grid.trained for column, at in grid.tested}
        try:
            return resampled.measure_degrade(keys, grid.factor, form) if resampled else None
        except UserError:  # an entry is missing, or nothing is right: no figure rather than half of one
            return None

    def subtract_accuracies(self, pairs: Sequence[tuple[EntryKey, EntryKey]], group: str) -> DegradeEstimate | None:
        """By how much the first of two entries is above the second, the mean over pairs; None where one is missing."""
        scores, resampled = self._resample(group)
        if resampled is None or not pairs or any(key not in scores for pair in pairs for key in pair):
            return None
        return resampled.subtract(pairs)

    def compare_models(self, first: str, second: str, trained: Any, tested: Any, group: str) -> PairedTest | None:
        """Two models of one training on the same questions: the first minus the second."""
        a, b = (self.find_outcome(model, trained, tested, group) for model in (first, second))
        if a is None or b is None:
            return None
        return run_paired_test(a.unpack_hits(), b.unpack_hits(), SceneClusters(a.image_of_questions()))

    def _resample(self, group: str) -> tuple[dict[EntryKey, Score], ResampledAccuracies[EntryKey] | None]:
        """Accuracies on one group of questions in all entries; None where no entry has such questions."""
        if group not in self._accuracies:
            outcomes = {key: outcome for key in self.entries if (outcome := self.find_outcome(*key, group))}
            self._accuracies[group] = _score_outcomes(outcomes, self.scale.test_images) if outcomes else ({}, None)
        return self._accuracies[group]


def _score_outcomes(
    outcomes: Mapping[EntryKey, EntryOutcome], images: int
) -> tuple[dict[EntryKey, Score], ResampledAccuracies[EntryKey]]:
    asked: dict[EntryKey, Floats] = {}
    right: dict[EntryKey, Floats] = {}
    for key, outcome in outcomes.items():
        image = outcome.image_of_questions()
        asked[key] = sum_by_slice(np.ones(len(image)), image, images)
        right[key] = sum_by_slice(outcome.unpack_hits(), image, images)
    hits, among = np.stack(list(right.values())), np.stack(list(asked.values()))
    at, scene = np.indices(among.shape)
    shares = SceneClusters(scene.ravel()).estimate_shares(hits.ravel(), among.ravel(), at.ravel(), len(outcomes))
    scores = {
        key: Score("accuracy", n=outcome.asked, undefined=outcome.undefined, **shares.to_score(k))
        for k, (key, outcome) in enumerate(outcomes.items())
    }
    return scores, ResampledAccuracies(right, asked)


class Throughput(NamedTuple):
    """Images seen, questions read and programs run per second; and questions through all three in turn."""

    seen: float
    read: float
    run: float
    answered: float


def median_throughput(entries: Iterable[Any]) -> Throughput | None:
    """The median over entries, start-up and compilation included; None where no entry has the seconds."""
    found = []
    for entry in entries:
        took = dict(entry.seconds)
        asked = sum(outcome.asked for _, outcome in entry.outcomes)
        see, read, run = (took.get(stage, 0.0) for stage in ("see", "read", "execute"))
        if see and read and run:
            found.append((entry.origin.scale.test_images / see, asked / read, asked / run, asked / (see + read + run)))
    return Throughput(*np.median(np.array(found), axis=0).tolist()) if found else None


def sum_training_seconds(training: Any, what: str = "all") -> float | None:
    """Of all parts together, as if nothing ran side by side; None where the record does not say."""
    took = [seconds for name, seconds in training.seconds if name.endswith(f", {what}")]
    return sum(took) if took else None
