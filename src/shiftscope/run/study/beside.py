"""Beside: work that goes on in the background while the caller does other things."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")
Work = Callable[[], Iterator[T]]


class Beside(Generic[T]):
    """Works through what it is given, one thing after another; not `apart`, the caller does it at once.

    What fails there fails here, when next something is given or the rest is taken over. Leaving the block
    ends the work after the item that is being made.
    """

    def __init__(self, apart: bool) -> None:
        self._given: SimpleQueue[Work[T] | None] = SimpleQueue()
        self._made: SimpleQueue[T | None] = SimpleQueue()  # None: the last one was made
        self._failed: BaseException | None = None
        self._stopped = False
        self._thread = threading.Thread(target=self._go, daemon=True) if apart else None

    def __enter__(self) -> Beside[T]:
        if self._thread:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._stopped = True
        self._given.put(None)
        if self._thread:
            self._thread.join()

    def give(self, work: Work[T]) -> Iterator[T]:
        """Take this on as well; what was made until now comes back."""
        if self._thread is None:
            yield from work()
            return
        self._given.put(work)
        try:
            while (item := self._made.get_nowait()) is not None:
                yield item
        except Empty:
            pass
        self._check()

    def rest(self) -> Iterator[T]:
        """Everything that is still to come."""
        if self._thread is None:
            return
        self._check()
        self._given.put(None)
        while (item := self._made.get()) is not None:
            yield item
        self._check()

    def _go(self) -> None:
        try:
            while (work := self._given.get()) is not None and not self._stopped:
                for item in work():
                    self._made.put(item)
                    if self._stopped:
                        return
        except BaseException as error:
            self._failed = error
        finally:
            self._made.put(None)

    def _check(self) -> None:
        if self._failed is not None:
            raise self._failed
