"""Executor: results in order, and a process that is left as it was found."""

import gc
from collections import deque
from contextlib import closing

import pytest

from shiftscope.errors import UserError
from shiftscope.executor import GC_THRESHOLD, LocalExecutor


def test_results_come_in_order_and_cycles_are_looked_for_less_meanwhile():
    before = gc.get_threshold()
    with closing(LocalExecutor(2).map(abs, [-3, -1, -2], ahead=2)) as found:
        assert next(found) == 3
        assert gc.get_threshold() == (GC_THRESHOLD, *before[1:])
        with closing(LocalExecutor(2).map(abs, [-5, -4], ahead=2)) as others:
            assert next(others) == 5
        assert gc.get_threshold()[0] == GC_THRESHOLD  # someone is still reading
        assert list(found) == [1, 2]
    assert gc.get_threshold() == before


def test_left_in_the_middle_or_by_an_error_it_is_as_before():
    before = gc.get_threshold()
    with closing(LocalExecutor(2).map(abs, [-3, -1, -2], ahead=2)) as found:
        next(found)
    assert gc.get_threshold() == before
    with pytest.raises(TypeError):
        list(LocalExecutor(2).map(abs, ["word", -1], ahead=2))
    assert gc.get_threshold() == before
    with pytest.raises(UserError, match="0 workers, 1 jobs ahead"):
        next(LocalExecutor(0).map(abs, [1], ahead=1))


@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_urgent_goes_first(workers):
    urgent, done = deque(), []
    for job, found in LocalExecutor(workers).map_growing(abs, iter(range(-9, 0)), urgent):
        done.append(job)
        assert found == abs(job)
        if job == -9:
            urgent.append(-100)
    assert sorted(done) == [-100, *range(-9, 0)]
    assert done.index(-100) < done.index(-1)
