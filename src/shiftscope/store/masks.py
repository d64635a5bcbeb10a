"""Masks as run lengths: which object each pixel shows, row by row, exact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.uint8]  # [height, width], object index + 1, 0 for the ground
LENGTH = np.dtype("<i4")


@dataclass(frozen=True, slots=True)
class RunLengths:
    """A mask read left to right, top to bottom: run k is `lengths[k]` pixels of `values[k]`.

    Held as bytes, so that it compares, hashes and travels between processes as a plain value.
    """

    values: bytes  # uint8
    lengths: bytes  # int32, little-endian
    width: int

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        pixels = int(np.frombuffer(self.lengths, LENGTH).sum())
        return self.width, pixels // self.width if self.width else 0


def encode(mask: Mask) -> RunLengths:
    """The run lengths of a mask."""
    if mask.dtype != np.uint8 or mask.ndim != 2:
        raise ValueError(f"a mask is a uint8 image of two dimensions, not {mask.dtype} of {mask.ndim}")
    flat = mask.ravel()
    if not flat.size:
        return RunLengths(b"", b"", mask.shape[1])
    starts = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    starts = np.concatenate((np.zeros(1, starts.dtype), starts))
    lengths = np.diff(starts, append=flat.size).astype(LENGTH)
    return RunLengths(flat[starts].tobytes(), lengths.tobytes(), mask.shape[1])


def decode(runs: RunLengths) -> Mask:
    """The mask, as it was."""
    values = np.frombuffer(runs.values, np.uint8)
    lengths = np.frombuffer(runs.lengths, LENGTH)
    return np.repeat(values, lengths).reshape(-1, runs.width)
