"""Executor: map a task over jobs, in local processes that never outlive their parent, or on a cluster.

`open_executor` gives one; the cluster's own is in `ray_executor`. A local worker can have something done by its
parent, which alone holds a GPU: `call_in_parent`.
"""

import gc
import multiprocessing
import operator
import os
import pickle
import secrets
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, as_completed, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import cache
from itertools import islice
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from .errors import UserError

J = TypeVar("J")
R = TypeVar("R")
S = TypeVar("S")
GC_THRESHOLD = 200_000  # records made before cycles are looked for among the young ones
AHEAD = 2  # jobs sent to a worker before their turn
Progress = Callable[[int, int, str], None]  # done, of how many, what was counted


def need_no_gpu(job: object) -> bool:
    return False


class WorkerDied(UserError):
    """A local worker ended by itself, and the work with it."""


class Executor(Protocol):
    """Where tasks run: processes of this machine, or a cluster.

    What a task returns may not depend on where it runs. Closing a generator of results stops the work.
    """

    shares_disk: bool  # whether a task may write files for its caller; else it returns what is to be written

    @property
    def workers(self) -> int:
        """How many jobs run at once; on a cluster this changes as nodes come and go."""

    @property
    def gpus(self) -> int:
        """How many GPUs its machines lend to jobs that need one; a local executor's jobs ask their parent."""

    def limit(self, jobs: int) -> "Executor":
        """The same for so few jobs: where this process can do them, no other is started."""

    def map(self, task: Callable[[J], R], jobs: Iterable[J], ahead: int) -> Generator[R, None, None]:
        """The results in the order of the jobs, at most `ahead` of them started before they are needed."""

    def map_unordered(self, task: Callable[[J], R], jobs: Sequence[J]) -> Generator[R, None, None]:
        """The results as they come."""

    def map_unordered_with(self, shared: S, task: Callable[[S, J], R], jobs: Sequence[J]) -> Generator[R, None, None]:
        """The same for a task that takes something large besides its job, which each worker gets once."""

    def map_growing(
        self, task: Callable[[J], R], jobs: Iterable[J], urgent: deque[J], needs_gpu: Callable[[J], bool] = need_no_gpu
    ) -> Generator[tuple[J, R], None, None]:
        """Each job with its result, as they come; what the caller puts into `urgent` meanwhile goes first."""

    def map_replicated(
        self,
        build: Callable[[], S],
        task: Callable[[S, J], R],
        jobs: Iterable[J],
        *,
        on_gpu: bool = False,
        ahead: int = 1,
    ) -> Generator[tuple[J, R], None, None]:
        """Each job with its result, by replicas of something that is costly to build, such as a model.

        There is one per worker, or per GPU, and each has at most `ahead` jobs before their turn.
        """

    def require_alike(self, describe: Callable[[], Mapping[str, str]], remedy: str) -> None:
        """Refuse a machine that describes itself otherwise than this one; the remedy ends the sentence."""

    def require_files(self, paths: Iterable[Path]) -> None:
        """Refuse a machine that does not see these files and folders of this one, or sees others by the same name."""


class LocalExecutor:
    """Processes of this machine; one worker is this process itself."""

    shares_disk = True
    gpus = 0

    def __init__(self, workers: int) -> None:
        self._workers = workers

    @property
    def workers(self) -> int:
        return self._workers

    def limit(self, jobs: int) -> "LocalExecutor":
        return LocalExecutor(max(1, jobs)) if jobs < self.workers else self

    def map(self, task: Callable[[J], R], jobs: Iterable[J], ahead: int) -> Generator[R, None, None]:
        if self.workers < 1 or ahead < 1:
            raise UserError(f"{self.workers} workers, {ahead} jobs ahead cannot do any work; give at least 1 of each")
        if self.workers == 1:
            yield from map(task, jobs)
            return
        left, pending = iter(jobs), deque[Future[R]]()
        with collect_rarely(), _open_pool(self.workers) as pool:
            while True:
                with _hold_interrupts():
                    pending.extend(pool.submit(task, job) for job in islice(left, ahead - len(pending)))
                if not pending:
                    break
                yield pending.popleft().result()

    def map_unordered(self, task: Callable[[J], R], jobs: Sequence[J]) -> Generator[R, None, None]:
        return self.map_unordered_with(task, operator.call, jobs)

    def map_unordered_with(self, shared: S, task: Callable[[S, J], R], jobs: Sequence[J]) -> Generator[R, None, None]:
        if self.workers < 1:
            raise UserError(f"{self.workers} workers cannot do any work; give at least 1")
        if self.workers == 1 or len(jobs) < 2:
            yield from (task(shared, job) for job in jobs)
            return
        with _open_pool(min(self.workers, len(jobs)), shared) as pool:
            with _hold_interrupts():
                pending = [pool.submit(_call_with_shared, task, job) for job in jobs]
            for done in as_completed(pending):
                yield done.result()
            pool.shutdown()

    def map_growing(
        self, task: Callable[[J], R], jobs: Iterable[J], urgent: deque[J], needs_gpu: Callable[[J], bool] = need_no_gpu
    ) -> Generator[tuple[J, R], None, None]:
        if self.workers < 1:
            raise UserError(f"{self.workers} workers cannot do any work; give at least 1")
        left = iter(jobs)
        if self.workers == 1:
            while True:
                one = next(take_jobs(urgent, left, 1), None)
                if one is None:
                    return
                yield one, task(one)
        pending: dict[Future[R], J] = {}
        with collect_rarely(), _open_pool(self.workers, task) as pool:
            while True:
                with _hold_interrupts():
                    for job in take_jobs(urgent, left, AHEAD * self.workers - len(pending)):
                        pending[pool.submit(_call_with_shared, operator.call, job)] = job
                if not pending:
                    return
                for done in wait(pending, return_when=FIRST_COMPLETED).done:
                    yield pending.pop(done), done.result()

    def map_replicated(
        self,
        build: Callable[[], S],
        task: Callable[[S, J], R],
        jobs: Iterable[J],
        *,
        on_gpu: bool = False,
        ahead: int = 1,
    ) -> Generator[tuple[J, R], None, None]:
        """One replica, in this process: a model uses all of a machine by itself."""
        replica = build()
        for job in jobs:
            yield job, task(replica, job)

    def require_alike(self, describe: Callable[[], Mapping[str, str]], remedy: str) -> None:
        """There is one machine."""

    def require_files(self, paths: Iterable[Path]) -> None:
        """There is one machine."""


ONE_PROCESS = LocalExecutor(1)


def open_executor(workers: int = 0, cluster: str = "") -> Executor:
    """So many local processes, 0 for one per core; or a cluster's, named as in `ray` or `ray:ADDRESS`.

    A cluster is joined, or started, when it is first needed.
    """
    if not cluster:
        return LocalExecutor(workers or os.cpu_count() or 1)
    kind, _, address = cluster.partition(":")
    if kind != "ray" or cluster.endswith(":"):
        raise UserError(f"--cluster {cluster}: expected ray, or ray:ADDRESS as in ray:10.0.0.5:6379")
    from .ray_executor import RayExecutor

    return RayExecutor(workers, address)


def take_jobs(urgent: deque[J], left: Iterator[J], most: int) -> Iterator[J]:
    """The next jobs, the urgent ones first."""
    while most > 0:
        try:
            yield urgent.popleft() if urgent else next(left)
        except StopIteration:
            return
        most -= 1


THREADED = ("torch", "pyarrow", "fsspec")  # start threads of their own, which a copy of the process would wait for


def _can_fork() -> bool:
    """Whether a copy of this process can work: a forked worker finds all imported and loaded that its parent has.

    No other thread may be in the middle of something that the copy would wait for. One that draws a progress bar may:
    workers draw none.
    """
    if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
        return False
    others = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
    quiet = all(type(thread).__module__ == "rich.live" for thread in others)
    return quiet and not any(name in sys.modules for name in THREADED)


@contextmanager
def _open_pool(workers: int, shared: Any = None) -> Iterator[ProcessPoolExecutor]:
    forked = _can_fork()
    context = multiprocessing.get_context("fork" if forked else "spawn")
    watched, held = context.Pipe(duplex=False)
    name = f"\0shiftscope-{os.getpid()}-{secrets.token_hex(8)}" if sys.platform == "linux" else None  # no file
    listener = Listener(name, backlog=workers, authkey=multiprocessing.current_process().authkey)
    over = threading.Event()
    accepting = threading.Thread(target=_accept_workers, args=(listener, over), daemon=True)
    accepting.start()
    given = watched, held if forked else None, shared, listener.address
    pool = ProcessPoolExecutor(workers, context, _start_worker, given)
    try:
        yield pool
    except BrokenProcessPool:
        raise WorkerDied(
            "a worker process died, perhaps because memory ran out; finished work is kept: "
            "run the same command again with fewer workers"
        ) from None
    finally:
        held.close()  # the workers end at once, in the middle of a job if need be
        pool.shutdown(cancel_futures=True)
        watched.close()
        over.set()
        with suppress(OSError):
            _connect(listener.address).close()  # wakes the thread that accepts
        accepting.join(timeout=10)


_worker_state: list[Any] = []  # in a worker: what was sent to it once, and where its parent listens


def _start_worker(watched: Connection, held: Connection | None, shared: Any, address: Any) -> None:
    """End this process when the parent lets go of the pipe: on purpose, or because it was killed.

    `held` is a forked worker's copy of the parent's end. Workers make many small records, few of them in cycles, so
    cycles are looked for less often, and never among what was there before.
    """
    if held is not None:
        held.close()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)
    _worker_state[:] = shared, address
    _connect_to_parent.cache_clear()

    def watch_parent() -> None:
        watched.poll(None)
        os._exit(1)

    threading.Thread(target=watch_parent, daemon=True).start()


def _call_with_shared(task: Callable[[Any, J], R], job: J) -> R:
    return task(_worker_state[0], job)


# What workers send is unpacked where it is received. Sealed, it is unpacked when somebody wants it.


class Sealed(Generic[S]):
    """Something on its way from a worker: bytes of our own processes, never of a file."""

    def __init__(self, value: S) -> None:
        self._packed = pickle.dumps(value, 5)

    def open(self) -> S:
        value: S = pickle.loads(self._packed)
        return value


# What one process alone can do, or does best, its workers have done there.


def is_worker() -> bool:
    """Whether this process was started by an executor."""
    return bool(_worker_state)


def call_in_parent(function: Callable[..., R], *args: Any) -> R:
    """What a function at the top level of a module returns in the process that started this worker.

    Calls of several workers come in threads of their own. A process that is no worker calls it itself.
    """
    if not is_worker():
        return function(*args)
    connection = _connect_to_parent()
    connection.send((function, args))
    worked, result = connection.recv()
    if not worked:
        raise result
    return result  # type: ignore[no-any-return]


@cache
def _connect_to_parent() -> Connection:
    return _connect(_worker_state[1])


def _connect(address: Any) -> Connection:
    return Client(address, authkey=multiprocessing.current_process().authkey)


def _accept_workers(listener: Listener, over: threading.Event) -> None:
    """A thread for each worker that calls."""
    with listener:
        while not over.is_set():
            with suppress(OSError, EOFError, multiprocessing.AuthenticationError):  # whoever called is gone
                connection = listener.accept()
                threading.Thread(target=_answer_worker, args=(connection,), daemon=True).start()


def _answer_worker(connection: Connection) -> None:
    with connection, suppress(OSError, EOFError):
        while True:
            function, args = connection.recv()
            try:
                answer = True, function(*args)
            except Exception as error:
                answer = False, error
            connection.send(answer)


_gc_lock = threading.Lock()
_gc_thresholds: list[tuple[int, int, int]] = []  # before each thread that is inside went in


@contextmanager
def collect_rarely() -> Iterator[None]:
    """While any thread is inside, cycles are looked for as seldom as in workers.

    What workers send is read here, or long lists from files, and looking for cycles takes longer than the reading.
    """
    with _gc_lock:
        _gc_thresholds.append(gc.get_threshold())
        first, *older = _gc_thresholds[0]
        gc.set_threshold(max(first, GC_THRESHOLD), *older)
    try:
        yield
    finally:
        with _gc_lock:
            before = _gc_thresholds.pop()
            if not _gc_thresholds:
                gc.set_threshold(*before)


@contextmanager
def _hold_interrupts() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach: the parent alone decides, and gets it afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
