"""What a study of held-out splits stores: its test questions, and by training which of them were answered right.

One record says what the test questions are, and which of them have the property of each split; one per training
says which of them were answered right. Derived test sets (variants of the test questions, or another dataset's) have
such records of their own.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..records import JsonRecord, content_id, to_json

FORMAT = 1
Bools = npt.NDArray[np.bool_]
IID, IID_SIZE, HELD_OUT, EASY = "iid", "iid_size", "held_out", "easy"  # what a model learned from
BEFORE = "before"  # key of seconds: what a model learned before all its trainings of a study
K_SHOT, OTHER = "k_shot", "other"  # all, and `shots` examples of a contrast set besides; another benchmark's questions
PLAIN, PARAPHRASED = "generated", "paraphrased"  # wordings of the test questions
OTHER_IMAGES = "other_images"  # as generated, but asked about another question's images: what can be guessed
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
