"""Shared memory: what the parent writes is what the worker reads."""

from contextlib import closing

import numpy as np
import pytest

from shiftscope.executor import LocalExecutor, call_in_parent
from shiftscope.shared_memory import CAN_SHARE, SharedBlock, align, open_block, view_arrays

SHAPES = [(2, 3), (5,), (1, 4, 2)]
BLOCK = []  # a worker's


def fill(address, start):
    for k, array in enumerate(view_arrays(open_block(address), SHAPES)):
        array[...] = start + k


def have_filled(job):
    """Blocks that grow and are used again: what the parent wrote, and all that lies between."""
    if not BLOCK:
        BLOCK.append(SharedBlock())
    call_in_parent(fill, BLOCK[0].reserve(sum(align(int(np.prod(shape))) for shape in SHAPES) + 4096 * job), 10 * job)
    return [array.tolist() for array in BLOCK[0].view(SHAPES)]


@pytest.mark.skipif(not CAN_SHARE, reason="memory is shared on Linux only")
def test_a_parent_writes_where_its_workers_read():
    with closing(LocalExecutor(2).map(have_filled, range(6), ahead=4)) as found:
        rows = list(found)
    for job, arrays in enumerate(rows):
        assert arrays == [np.full(shape, 10 * job + k).tolist() for k, shape in enumerate(SHAPES)]
