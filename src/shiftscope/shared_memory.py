"""Memory that a worker shares with its parent: arrays too large to travel through a pipe, written where they are read.

A block has no name that could outlive its processes: the parent finds it among the worker's open files.
"""

import mmap
import os
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

CAN_SHARE = hasattr(os, "memfd_create")  # on Linux
ALIGNED = 64  # bytes: where an array of a block may begin


class BlockAddress(NamedTuple):
    path: str
    nbytes: int


class SharedBlock:
    """A worker's block; it grows with what is asked of it, and what it held before is then lost."""

    def __init__(self) -> None:
        self._file = os.memfd_create("shiftscope")
        self._memory = mmap.mmap(-1, 1)

    def reserve(self, nbytes: int) -> BlockAddress:
        if len(self._memory) < nbytes:
            os.ftruncate(self._file, nbytes)
            self._memory = mmap.mmap(self._file, nbytes)
        return BlockAddress(f"/proc/{os.getpid()}/fd/{self._file}", len(self._memory))

    def view(self, shapes: Sequence[tuple[int, ...]]) -> list[npt.NDArray[np.uint8]]:
        """Arrays of bytes that the parent wrote; they change when the block is used again."""
        return view_arrays(self._memory, shapes)


@lru_cache(maxsize=256)  # as many blocks as there are workers, each of a few sizes
def open_block(address: BlockAddress) -> mmap.mmap:
    """A worker's block, in its parent."""
    file = os.open(address.path, os.O_RDWR)
    try:
        return mmap.mmap(file, address.nbytes)
    finally:
        os.close(file)


def view_arrays(memory: Any, shapes: Sequence[tuple[int, ...]]) -> list[npt.NDArray[np.uint8]]:
    """Arrays of bytes, one after another."""
    found, at = [], 0
    for shape in shapes:
        size = int(np.prod(shape))
        found.append(np.frombuffer(memory, np.uint8, size, at).reshape(shape))
        at += align(size)
    return found


def align(nbytes: int) -> int:
    return -(-nbytes // ALIGNED) * ALIGNED
