"""Workers: run a function over jobs in spawned local processes that never outlive their parent."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from ..errors import UserError

J = TypeVar("J")
R = TypeVar("R")
S = TypeVar("S")
COLLECTED = 50_000  # records made before cycles are looked for among the young ones


def run_all(task: Callable[[J], R], jobs: Sequence[J], workers: int) -> Generator[R, None, None]:
    """The results as they come, in any order. One worker runs here; leaving the loop stops the others."""
    return run_all_with(None, partial(_alone, task), jobs, workers)


def run_all_with(
    shared: S, task: Callable[[S, J], R], jobs: Sequence[J], workers: int
) -> Generator[R, None, None]:
    """The same for a task that takes something large besides its job, which is sent to each worker once."""
    if workers < 1:
        raise UserError(f"{workers} workers can not do any work; give at least 1")
    if workers == 1 or len(jobs) < 2:
        yield from (task(shared, job) for job in jobs)
        return
    context = multiprocessing.get_context("spawn")
    watched, held = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(min(workers, len(jobs)), context, _begin, (watched, shared))
    try:
        with _interrupts_held():
            pending = [pool.submit(_on_shared, task, job) for job in jobs]
        for done in as_completed(pending):
            yield done.result()
        pool.shutdown()
    except BrokenProcessPool:
        raise UserError(
            "a worker process died, perhaps for want of memory; what was finished is kept: "
            "run the same command again with fewer workers"
        ) from None
    finally:
        held.close()  # the workers end at once, in the middle of a job if need be
        pool.shutdown(cancel_futures=True)
        watched.close()


def in_order(task: Callable[[J], R], jobs: Iterable[J], workers: int, ahead: int) -> Generator[R, None, None]:
    """The results in the order of the jobs, at most `ahead` of them worked on before they are asked for."""
    if workers < 1 or ahead < 1:
        raise UserError(f"{workers} workers, {ahead} jobs ahead can not do any work; give at least 1 of each")
    if workers == 1:
        yield from map(task, jobs)
        return
    context = multiprocessing.get_context("spawn")
    watched, held = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(workers, context, _end_with_parent, (watched,))
    left, pending = iter(jobs), deque[Future[R]]()
    try:
        with _SELDOM:
            while True:
                with _interrupts_held():
                    pending.extend(pool.submit(task, job) for job in islice(left, ahead - len(pending)))
                if not pending:
                    break
                yield pending.popleft().result()
    except BrokenProcessPool:
        raise UserError("a worker process died, perhaps for want of memory; use fewer workers") from None
    finally:
        held.close()
        pool.shutdown(cancel_futures=True)
        watched.close()


_here: list[Any] = []  # in a worker: what was sent to it once


def _begin(watched: Connection, shared: Any) -> None:
    _end_with_parent(watched)
    _here.append(shared)


def _on_shared(task: Callable[[Any, J], R], job: J) -> R:
    return task(_here[0], job)


def _alone(task: Callable[[J], R], shared: None, job: J) -> R:
    return task(job)


def _end_with_parent(watched: Connection) -> None:
    """End this process when the parent lets go of the pipe: on purpose, or because it was killed.

    Workers make many small records, few of them in cycles, so cycles are looked for less often.
    """
    gc.set_threshold(COLLECTED)

    def watch() -> None:
        watched.poll(None)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class _Seldom:
    """While any thread is inside, cycles are looked for as seldom as in workers.

    What workers send is read here, and looking for cycles would take longer than the reading.
    """

    def __init__(self) -> None:
        self._lock, self._inside, self._before = threading.Lock(), 0, gc.get_threshold()

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._before = gc.get_threshold()
                gc.set_threshold(COLLECTED, *self._before[1:])
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                gc.set_threshold(*self._before)


_SELDOM = _Seldom()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach: the parent alone decides, and gets it afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
