"""Which believed thing is which true one: objects by their boxes, parts by their object and their name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..scenetable import SceneTable
from .beliefs import Beliefs, certain

NONE = -1


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """Numbers of the true things within their scene; −1 for what is none of them. Each is given once."""

    objects: NDArray[np.int64]  # [scene, object]
    parts: NDArray[np.int64]  # [scene, part]


def match(beliefs: Beliefs, truth: SceneTable, overlap: float = 0.5) -> Match:
    """Pair off best overlaps first (intersection over union, `overlap` at least), then parts by names."""
    known, true = beliefs.numpy(), certain(truth)
    objects = _pair_off(
        np.where(
            (known.exists > 0)[:, :, None] & (true.exists > 0)[:, None, :],
            _overlaps(known.boxes, true.boxes),
            0,
        ),
        overlap,
    )
    if not known.part_exists.size or not true.part_exists.size:
        return Match(objects, np.full(known.part_exists.shape, NONE, np.int64))
    owner = np.take_along_axis(objects, known.part_owner.clip(0, objects.shape[1] - 1), 1)
    of_one = (owner[:, :, None] == true.part_owner[:, None, :]) & (owner[:, :, None] != NONE)
    there = (known.part_exists > 0)[:, :, None] & (true.part_exists > 0)[:, None, :]
    name = [a.name for a in known.schema.part_attributes].index("name")
    likely = known.part_attributes[name] @ true.part_attributes[name].swapaxes(1, 2)
    return Match(objects, _pair_off(np.where(of_one & there, likely, 0), 1e-6))


def _overlaps(some: NDArray[np.float32], others: NDArray[np.float32]) -> NDArray[np.float32]:
    """[scene, one, other] intersection over union of boxes given as left, top, width, height."""
    a, b = some[:, :, None, :], others[:, None, :, :]
    low = np.maximum(a[..., :2], b[..., :2])
    high = np.minimum(a[..., :2] + a[..., 2:], b[..., :2] + b[..., 2:])
    shared = np.prod(np.maximum(high - low, 0), -1)
    either = np.prod(a[..., 2:], -1) + np.prod(b[..., 2:], -1) - shared
    return np.asarray(shared / np.maximum(either, 1e-9), np.float32)


def _pair_off(score: NDArray[np.float32], least: float) -> NDArray[np.int64]:
    """[scene, one] the other it is paired with: greatest scores first, each once, none below `least`."""
    left = score.astype(np.float32, copy=True)
    scenes = np.arange(len(left))
    found = np.full(left.shape[:2], NONE, np.int64)
    for _ in range(min(left.shape[1:])):
        best = left.reshape(len(left), -1).argmax(1)
        one, other = best // left.shape[2], best % left.shape[2]
        good = left[scenes, one, other] >= least
        if not good.any():
            break
        found[scenes[good], one[good]] = other[good]
        left[scenes, one, :] = -1
        left[scenes, :, other] = -1
    return found
