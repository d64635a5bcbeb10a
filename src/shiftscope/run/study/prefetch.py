"""Prefetch: make things ahead in one background thread, so that a GPU need not wait for them."""

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import Any

SWITCH_INTERVAL = 0.0005  # seconds: training must not wait long for the thread that makes data


@contextmanager
def prefetch(makers: Iterable[Callable[[], Any]], most: int) -> Iterator[Iterator[Any]]:
    """The results of the makers, in order; one thread works ahead until the end of the `with` block.

    At most `most` results wait; with 0, each is made when it is needed.
    """
    if not most:
        yield (make() for make in makers)
        return
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL)
    pool = ThreadPoolExecutor(1)
    try:
        yield _work_ahead(pool, iter(makers), most)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        sys.setswitchinterval(before)


def _work_ahead(pool: ThreadPoolExecutor, makers: Iterator[Callable[[], Any]], most: int) -> Iterator[Any]:
    pending = deque(map(pool.submit, islice(makers, most + 1)))
    while pending:
        result = pending.popleft().result()
        pending.extend(map(pool.submit, islice(makers, 1)))
        yield result
