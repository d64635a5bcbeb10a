"""Ahead: things are made in the background, in the order in which they will be asked for."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

SWITCH = 0.0005  # seconds: what trains must not wait long for the thread that makes


class Ahead:
    """One thread works through the makers; at most `most` results wait. None ahead: made when asked for."""

    def __init__(self, makers: Iterable[Callable[[], Any]], most: int) -> None:
        self._makers, self._most = iter(makers), most
        self._pending: deque[Future[Any]] = deque()
        self._pool = ThreadPoolExecutor(1) if most else None

    def next(self) -> Any:
        """The next result."""
        if self._pool is None:
            return next(self._makers)()
        self._fill()
        found = self._pending.popleft().result()
        self._fill()
        return found

    def _fill(self) -> None:
        assert self._pool is not None
        while len(self._pending) < self._most + 1:
            maker = next(self._makers, None)
            if maker is None:
                return
            self._pending.append(self._pool.submit(maker))

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def working_ahead(makers: Iterable[Callable[[], Any]], most: int) -> Iterator[Ahead]:
    """Work ahead until the end of the block."""
    before = sys.getswitchinterval()
    if most:
        sys.setswitchinterval(SWITCH)
    ahead = Ahead(makers, most)
    try:
        yield ahead
    finally:
        ahead.close()
        sys.setswitchinterval(before)
