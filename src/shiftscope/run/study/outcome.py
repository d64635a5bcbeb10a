"""Outcome: which questions of one sort were answered right, in the order asked, and how surely.

Questions stand image by image; bits are packed, so that paired tests and intervals by scene can be made from
what is stored.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...metrics.calibration import BINS
from ...result import Bools, Floats

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Reliability:
    """Beliefs in bins of equal width: how many there are, how many were right, and the sum of the beliefs."""

    count: tuple[int, ...]
    right: tuple[int, ...]
    total: tuple[float, ...]

    @classmethod
    def of(cls, belief: npt.NDArray[Any], right: npt.NDArray[Any], bins: int = BINS) -> Reliability:
        """Those without a belief (not a number) are in no bin."""
        known = np.isfinite(belief)
        belief, right = belief[known].astype(np.float64), right[known]
        at = np.clip((belief * bins).astype(np.int64), 0, bins - 1)
        return cls(
            tuple(np.bincount(at, minlength=bins).tolist()),
            tuple(np.bincount(at[right], minlength=bins).tolist()),
            tuple(np.round(np.bincount(at, belief, minlength=bins), 3).tolist()),
        )

    @property
    def n(self) -> int:
        return sum(self.count)

    @property
    def error(self) -> float | None:
        """Expected calibration error: the mean distance of belief and accuracy, weighed by bin."""
        gaps = np.abs(np.array(self.total) - np.array(self.right))
        return float(gaps.sum() / self.n) if self.n else None

    def to_json(self) -> dict[str, Any]:
        return {"count": list(self.count), "right": list(self.right), "total": list(self.total)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Reliability:
        made = cls(tuple(data["count"]), tuple(data["right"]), tuple(data["total"]))
        if not len(made.count) == len(made.right) == len(made.total) > 0:
            raise ValueError("bins of beliefs differ in number")
        if any(not 0 <= r <= c for r, c in zip(made.right, made.count, strict=True)):
            raise ValueError("a bin of beliefs has more right answers than answers")
        return made


@dataclass(frozen=True, slots=True)
class Outcome:
    """One sort of question of one test."""

    asked: int
    right: int
    undefined: int  # among those not right: the model found no answer
    each: int | str  # questions an image; packed where images differ
    bits: str  # which are right, packed
    belief: Reliability | None = None

    @classmethod
    def of(
        cls,
        right: npt.NDArray[Any],
        counts: npt.NDArray[Any],
        undefined: int = 0,
        belief: Floats | None = None,
    ) -> Outcome:
        """From arrays: `right` [question] image by image, `counts` [image] how many each image has."""
        hits = np.asarray(right, np.bool_)
        if int(counts.sum()) != len(hits):
            raise ValueError(f"{len(hits)} answers to {int(counts.sum())} questions")
        alike = len(counts) > 0 and counts[0] > 0 and bool((counts == counts[0]).all())
        each: int | str = int(counts[0]) if alike else _packed(np.asarray(counts, "<u2").tobytes())
        return cls(
            len(hits),
            int(hits.sum()),
            int(undefined),
            each,
            _packed(np.packbits(hits).tobytes()),
            Reliability.of(belief, hits) if belief is not None else None,
        )

    def hits(self) -> Bools:
        """[question] which are right."""
        bits = np.frombuffer(_unpacked(self.bits), np.uint8)
        return np.unpackbits(bits, count=self.asked).astype(np.bool_)

    def counts(self) -> Ints:
        """[image] how many questions each has."""
        if isinstance(self.each, int):
            return np.full(self.asked // self.each if self.each else 0, self.each, np.int64)
        return np.frombuffer(_unpacked(self.each), "<u2").astype(np.int64)

    def clusters(self) -> Ints:
        """[question] the number of its image, the same scene in every variant."""
        counts = self.counts()
        return np.repeat(np.arange(len(counts)), counts)

    def to_json(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in ("asked", "right", "undefined", "each", "bits")}
        return plain | ({"belief": self.belief.to_json()} if self.belief else {})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Outcome:
        """Checked: what does not add up is a ValueError."""
        belief = Reliability.from_json(data["belief"]) if "belief" in data else None
        plain = {name: data[name] for name in ("asked", "right", "undefined", "each", "bits")}
        made = cls(**plain, belief=belief)
        try:
            hits, counts = made.hits(), made.counts()
        except (binascii.Error, zlib.error) as error:
            raise ValueError(f"packed bits can not be read ({error})") from None
        if len(hits) != made.asked or int(hits.sum()) != made.right:
            raise ValueError(
                f"{int(hits.sum())} of {len(hits)} bits are set, not {made.right} of {made.asked}"
            )
        if int(counts.sum()) != made.asked:
            raise ValueError(f"the images have {int(counts.sum())} questions, not {made.asked}")
        if not 0 <= made.undefined <= made.asked - made.right:
            raise ValueError(f"{made.undefined} undefined answers among {made.asked - made.right} not right")
        if belief and belief.n > made.asked:
            raise ValueError("more beliefs than questions")
        return made


def _packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


def _unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text, validate=True))
