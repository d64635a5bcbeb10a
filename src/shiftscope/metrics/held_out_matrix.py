"""Held-out matrix: trainings with and without held-out questions, all tested on the same questions, as stored.

One record says what the test questions are, and which of them have the property of each split; one per training
says which of them were answered right. Every figure of a study of held-out splits is made from these alone.
Derived test sets (variants of the test questions, or another dataset's) have such records of their own.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from ..records import JsonRecord, content_id, to_json
from ..result import Score
from .generalization_score import generalization_score
from .held_out_sight import Sight, judge_sight
from .intervals import SceneClusters, none_if_nan, widen_side
from .significance import PairedTest, add_seed_variance, run_paired_test

FORMAT = 1
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
IID, IID_SIZE, HELD_OUT, EASY = "iid", "iid_size", "held_out", "easy"  # what a model learned from
BEFORE = "before"  # key of seconds: what a model learned before all its trainings of a study
K_SHOT, OTHER = "k_shot", "other"  # all, and `shots` examples of a contrast set besides; another benchmark's questions
PLAIN, PARAPHRASED = "generated", "paraphrased"  # wordings of the test questions
OTHER_IMAGES = "other_images"  # as generated, but asked about another question's images: what can be guessed
SIDES = PLAIN, OTHER_IMAGES
VARIANT, ORIGINAL, SAME = "variant", "original", "same"  # of a derived set: right there, on the original, same answer
DENIED, DENIED_TRUTH = "denied", "denied_truth"  # no or 0 is answered, or is the true answer
GT_EXEC, EXACT, MISSING = "gt_exec", "exact", "missing_objects"  # of models that write programs


def name_bits(of: str, measure: str = "") -> str:
    """What an entry calls the bits of a wording or side: of answers as asked, or of what is measured of programs."""
    return f"{of} {measure}" if measure else of


def pack_array(array: npt.NDArray[Any]) -> str:
    return base64.b64encode(zlib.compress(array.tobytes(), 9)).decode("ascii")


def unpack_array(text: str, dtype: Any) -> npt.NDArray[Any]:
    try:
        return np.frombuffer(zlib.decompress(base64.b64decode(text, validate=True)), dtype)
    except (zlib.error, ValueError) as error:
        raise ValueError(f"a packed array cannot be read ({error})") from None


def pack_bits(bits: Bools) -> str:
    return pack_array(np.packbits(bits))


def unpack_bits(text: str, count: int) -> Bools:
    found = unpack_array(text, np.uint8)
    if len(found) != -(-count // 8):
        raise ValueError(f"{8 * len(found)} bits are not those of {count} questions")
    return np.unpackbits(found, count=count).astype(np.bool_)


@dataclass(frozen=True, slots=True, order=True)
class HeldOutTraining(JsonRecord):
    """What a model learned from: all, as many as a split leaves, or what it leaves; `shots` have the property.

    Of K-shot trainings `split` is a row of the contrast set, and `seed` also tells draws of the examples apart.
    """

    model: str
    kind: str = IID
    split: str = ""
    shots: int = 0
    seed: int = 0

    @property
    def label(self) -> str:
        shots = f"{self.shots}_shot" if self.kind in (HELD_OUT, K_SHOT) else ""
        size = f"{self.shots}" if self.kind == IID_SIZE else ""
        split = re.sub(r"\W+", "_", self.split)
        names = (self.model, self.kind if self.kind != HELD_OUT else "", split, shots or size)
        return "-".join(filter(None, (*names, f"seed{self.seed}" if self.seed else "")))


class _StudyRecord(JsonRecord):
    """A record with its kind beside its fields, under a name that one of the same thing replaces."""

    __slots__ = ()
    KIND: ClassVar[str]

    @property
    def key(self) -> list[Any]:
        """What it is the record of."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        return f"{self.KIND}-{content_id(self.key)[:16]}.json"

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, "kind": self.KIND, **to_json(self)}


@dataclass(frozen=True, slots=True)
class HeldOutTest(_StudyRecord):
    """The questions that all are tested on; packed arrays are over them, in the order of the test split."""

    KIND: ClassVar[str] = "test"

    suite: str
    scale: str
    data: str  # the content of the data's spec
    questions: Mapping[str, int]  # split →
    templates: tuple[str, ...]
    template: str  # [question] uint8, its template
    image_counts: str  # [question] uint8, how many images it is about
    images: str  # [image of a question] uint32, one question after the other
    marks: Mapping[str, str]  # named split → [question] bits: has the property
    with_property: Mapping[str, int]  # named split → training questions that have it
    test_set: str = ""  # a derived one, whose questions `data` identifies too; none: the test split

    @property
    def key(self) -> list[Any]:
        return [self.suite, self.scale, self.data, *filter(None, (self.test_set,))]

    @property
    def count(self) -> int:
        return self.questions["test"]

    def find_templates(self) -> npt.NDArray[np.uint8]:
        return unpack_array(self.template, np.uint8)

    def find_marks(self, split: str) -> Bools:
        return unpack_bits(self.marks[split], self.count)

    def marks_like(self, other: HeldOutTest) -> bool:
        """Whether it marks the same properties of the same questions; packed bits may differ by machine."""
        if self.marks.keys() != other.marks.keys() or self.with_property != other.with_property:
            return False
        return all(np.array_equal(self.find_marks(split), other.find_marks(split)) for split in self.marks)


@dataclass(frozen=True, slots=True)
class HeldOutEntry(_StudyRecord):
    """One training: which test questions it answers right, in each wording, and how it went."""

    KIND: ClassVar[str] = "entry"

    suite: str
    scale: str
    data: str
    training: HeldOutTraining
    learned: int  # questions it learned from
    right: Mapping[str, str]  # wording, OTHER_IMAGES or a name of `name_bits` → [question] bits
    val: float | None = None  # of what it was chosen by
    epoch: str = ""  # the best, of how many
    rise: float = 0.0  # of the validation figure over the last quarter of the epochs
    seconds: Mapping[str, float] = field(default_factory=dict)  # of its steps; BEFORE: of what it began from
    speed: float = 0.0  # training questions per second, the fastest epoch
    device: str = ""
    version: str = ""
    recipe: str = ""  # id of all that its weights depend on but data and seed
    plan: str = ""  # id of how the study plans to train it: entries of another plan are not shown
    test_set: str = ""  # that was answered; none: the test split

    @property
    def key(self) -> list[Any]:
        return [self.suite, self.scale, self.data, self.training.to_json(), *filter(None, (self.test_set,))]


HeldOutRecord = HeldOutTest | HeldOutEntry
RECORDS: dict[str, type[HeldOutTest] | type[HeldOutEntry]] = {one.KIND: one for one in (HeldOutTest, HeldOutEntry)}


def parse_held_out_record(data: Any) -> HeldOutRecord:
    """A record from its JSON; ValueError, KeyError or TypeError where it is none."""
    if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("kind") not in RECORDS:
        raise ValueError(f"not a record of a study of held-out splits of format {FORMAT}")
    record = RECORDS[data["kind"]].from_json({k: v for k, v in data.items() if k not in ("format", "kind")})
    if isinstance(record, HeldOutTest):
        for bits in record.marks.values():
            unpack_bits(bits, record.count)
    return record


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
