"""RayExecutor: tasks on the nodes of a Ray cluster, with Ray's own scheduler, retries and object store.

Results come back to the driver, which alone writes files, so nodes need not share a disk. A job whose worker or
node dies is done again elsewhere; nodes that join are used. The package is not sent to the nodes: each tells, before
it works, that it has the very same.
"""

from __future__ import annotations

import gc
import logging
import os
import socket
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from itertools import islice
from operator import call
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import uuid4

from .cluster_nodes import (
    INSTALL,
    RETRIES,
    SHARE,
    Parcel,
    Requirement,
    ask_nodes,
    build_package_probe,
    describe_files,
    describe_node,
    describe_package,
    shorten_error,
)
from .errors import UserError
from .executor import AHEAD, GC_THRESHOLD, collect_rarely, need_no_gpu, take_jobs

J = TypeVar("J")
R = TypeVar("R")
S = TypeVar("S")
REACH_SECONDS = 10.0  # to hear from an address
LOOK_SECONDS = 2.0  # between looks at which nodes are there
SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # else Ray warns of what it will do one day
    "RAY_IGNORE_UNHANDLED_ERRORS": "1",  # else it prints those of jobs that were stopped after the first error
}


class RayExecutor:
    """The CPUs and GPUs of a cluster's nodes; of the CPUs at most `workers`, 0 for all."""

    shares_disk = False

    def __init__(self, workers: int = 0, address: str = "") -> None:
        if find_spec("ray") is None:
            raise UserError("--cluster ray: Ray is not installed here; pip install 'shiftscope[cluster]'")
        self._most, self._address = workers, address
        self._requirements: list[Requirement] = []
        self._joined: Any = None
        self._resources: tuple[float, Mapping[str, float]] = (0.0, {})  # and when they were looked at

    @property
    def workers(self) -> int:
        cpus = self._count("CPU")
        return max(1, min(cpus, self._most or cpus))

    @property
    def gpus(self) -> int:
        return self._count("GPU")

    @property
    def _room(self) -> int:
        """How many jobs may be under way: more than there are workers, so that none waits for the next."""
        return self._most if 0 < self._most < self._count("CPU") else AHEAD * self.workers

    def _count(self, resource: str) -> int:
        ray = self._join()
        if time.monotonic() - self._resources[0] > LOOK_SECONDS or not self._resources[1]:
            self._resources = time.monotonic(), ray.cluster_resources()
        return int(self._resources[1].get(resource, 0))

    def limit(self, jobs: int) -> RayExecutor:
        return self

    def map(self, task: Callable[[J], R], jobs: Iterable[J], ahead: int) -> Generator[R, None, None]:
        left, pending = iter(jobs), deque[Any]()
        with collect_rarely(), _TaskFlight(self._join(), self._list_requirements(), task, call) as flight:
            while True:
                pending.extend(flight.start(job) for job in islice(left, min(ahead, self._room) - len(pending)))
                if not pending:
                    return
                yield flight.take(pending.popleft())

    def map_unordered(self, task: Callable[[J], R], jobs: Sequence[J]) -> Generator[R, None, None]:
        return self.map_unordered_with(task, call, jobs)

    def map_unordered_with(self, shared: S, task: Callable[[S, J], R], jobs: Sequence[J]) -> Generator[R, None, None]:
        for _, result in self._map_as_they_come(shared, task, jobs, deque(), need_no_gpu):
            yield result

    def map_growing(
        self, task: Callable[[J], R], jobs: Iterable[J], urgent: deque[J], needs_gpu: Callable[[J], bool] = need_no_gpu
    ) -> Generator[tuple[J, R], None, None]:
        return self._map_as_they_come(task, call, jobs, urgent, needs_gpu)

    def _map_as_they_come(
        self, shared: S, task: Callable[[S, J], R], jobs: Iterable[J], urgent: deque[J], needs_gpu: Callable[[J], bool]
    ) -> Generator[tuple[J, R], None, None]:
        """Results wait to be taken only as many as there is room for, so they do not fill the memory."""
        left, pending = iter(jobs), dict[Any, J]()
        with collect_rarely(), _TaskFlight(self._join(), self._list_requirements(), shared, task) as flight:
            while True:
                for job in take_jobs(urgent, left, self._room - len(pending)):
                    pending[flight.start(job, on_gpu=needs_gpu(job))] = job
                if not pending:
                    return
                for done in _wait_for_some(self._joined, list(pending)):
                    yield pending.pop(done), flight.take(done)

    def map_replicated(
        self,
        build: Callable[[], S],
        task: Callable[[S, J], R],
        jobs: Iterable[J],
        *,
        on_gpu: bool = False,
        ahead: int = 1,
    ) -> Generator[tuple[J, R], None, None]:
        """A replica that dies with its node is replaced, and its jobs are done by others.

        There are as many as nodes have room for, and no more than there are jobs.
        """
        if on_gpu and not self.gpus:
            raise UserError("no node of the cluster has a GPU; omit --device")
        left, waiting = iter(jobs), deque[_Try[J]]()
        with _ReplicaFlight(self._join(), self._list_requirements(), build, task, on_gpu, ahead) as flight:
            while True:
                room = self.gpus if on_gpu else self.workers
                wanted = max(1, flight.free, room - flight.busy) - len(waiting)
                waiting.extend(_Try(job) for job in islice(left, max(0, wanted)))
                flight.start_replicas(min(room - flight.replicas, len(waiting) - flight.free - flight.starting))
                while waiting and flight.free:
                    flight.start(waiting.popleft())
                if not waiting and not flight.busy:
                    return
                for one, result in flight.take_some():
                    if result is None:
                        waiting.appendleft(one)
                    else:
                        yield one.job, result[0]

    def require_alike(self, describe: Callable[[], Mapping[str, str]], remedy: str) -> None:
        """Every node is asked now, and every worker before its first job, for a node may join later."""
        ray, required = self._join(), Requirement(describe, dict(describe()), remedy)
        if any(known[1:] == required[1:] for known in self._requirements):
            return
        ask_nodes(ray, required, describe_node, Parcel(required))
        self._requirements.append(required)

    def require_files(self, paths: Iterable[Path]) -> None:
        listed = tuple(dict.fromkeys(path.absolute() for path in paths))
        if listed:
            self.require_alike(partial(describe_files, listed), SHARE)

    def _list_requirements(self) -> tuple[Requirement, ...]:
        """Those that still hold here: spooled files go when they are no longer needed."""
        return tuple(required for required in self._requirements if not required.compare(required.describe()))

    def _join(self) -> Any:
        """The package `ray`, once there is a cluster and all its nodes have our package."""
        if self._joined is None:
            ray = _connect(self._address)
            required = Requirement(describe_package, dict(describe_package()), INSTALL)
            ask_nodes(ray, required, build_package_probe())
            self._requirements.append(required)
            self._joined = ray
        return self._joined


def _connect(address: str) -> Any:
    """Join the cluster at an address, or the one that this machine belongs to; where there is none, start one here."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    import ray

    if ray.is_initialized():
        return ray
    try:
        _reach(address)
        ray.init(address or None, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    except Exception as error:  # of many kinds, bare ones among them
        raise UserError(
            f"{f'ray:{address}' if address else 'ray'}: that cluster cannot be joined ({shorten_error(error)}); make "
            f"this machine its node with ray start --address={address or 'ADDRESS'}, and if it asks for a token, "
            "set RAY_AUTH_MODE=token"
        ) from None
    # Ray prints which tasks it does again, on the standard output, where our figures go; there is no option for that.
    if hasattr(ray._private.worker, "print_to_stdstream"):
        ray._private.worker.print_to_stdstream = lambda *data, **options: None
    return ray


def _reach(address: str) -> None:
    """Whether anybody is there is quickly found out; Ray would try for minutes, and write about it."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=REACH_SECONDS).close()


# Jobs under way.


class _TaskFlight(Generic[S, J, R]):
    """Jobs under way as Ray tasks; those left at the end are stopped."""

    def __init__(self, ray: Any, requirements: tuple[Requirement, ...], shared: S, task: Callable[[S, J], R]) -> None:
        self._ray, self._key, self._flying = ray, uuid4().hex, set[Any]()
        self._remote = ray.remote(num_cpus=1, max_retries=RETRIES)(_run_job)
        self._sent = ray.put(Parcel(_Payload(requirements, shared, task)))

    def __enter__(self) -> _TaskFlight[S, J, R]:
        return self

    def __exit__(self, *error: object) -> None:
        for reference in self._flying:
            with suppress(Exception):  # it has ended, or its node has
                self._ray.cancel(reference, force=True)

    def start(self, job: J, *, on_gpu: bool = False) -> Any:
        reference = self._remote.options(num_gpus=int(on_gpu)).remote(self._key, self._sent, job)
        self._flying.add(reference)
        return reference

    def take(self, reference: Any) -> R:
        """The result, once there is one."""
        result: R = _get(self._ray, reference)
        self._flying.discard(reference)
        return result


class _Try(NamedTuple, Generic[J]):
    """A job for a replica, and how many have died of it, or with it."""

    job: J
    deaths: int = 0


class _ReplicaFlight(Generic[S, J, R]):
    """Replicas, one per CPU or GPU, each with up to `ahead` jobs at a time."""

    def __init__(
        self,
        ray: Any,
        requirements: tuple[Requirement, ...],
        build: Callable[[], S],
        task: Callable[[S, J], R],
        on_gpu: bool,
        ahead: int,
    ) -> None:
        self._ray, self._ahead = ray, ahead
        self._remote = ray.remote(num_cpus=1, num_gpus=int(on_gpu), max_restarts=0)(_Replica)
        self._sent = ray.put(Parcel(_Payload(requirements, build, task)))
        self._starting: dict[Any, Any] = {}  # the reference that tells when it is built → replica
        self._busy: dict[Any, tuple[Any, _Try[J]]] = {}  # result → replica, job
        self._free = deque[Any]()  # each replica as often as it can take a job
        self._alive: dict[Any, None] = {}
        self._failures = 0

    def __enter__(self) -> _ReplicaFlight[S, J, R]:
        return self

    def __exit__(self, *error: object) -> None:
        for replica in self._alive:
            with suppress(Exception):
                self._ray.kill(replica)

    @property
    def replicas(self) -> int:
        return len(self._alive)

    @property
    def busy(self) -> int:
        return len(self._busy)

    @property
    def free(self) -> int:
        """Jobs that can be started, at once or as soon as a replica is built."""
        return len(self._free)

    @property
    def starting(self) -> int:
        return len(self._starting)

    def start_replicas(self, count: int) -> None:
        for _ in range(count):
            replica = self._remote.remote()
            self._alive[replica] = None
            self._starting[replica.build.remote(self._sent)] = replica

    def start(self, one: _Try[J]) -> None:
        replica = self._free.popleft()
        self._busy[replica.run.remote(one.job)] = replica, one

    def take_some(self) -> Iterator[tuple[_Try[J], tuple[R] | None]]:
        """Jobs with their results, perhaps none yet; without one where the replica died."""
        from ray.exceptions import RayActorError

        for done in _wait_for_some(self._ray, [*self._starting, *self._busy]):
            if done in self._starting:
                replica = self._starting.pop(done)
                try:
                    _get(self._ray, done)
                except RayActorError as error:
                    self._drop(replica)
                    self._failures += 1
                    if self._failures > RETRIES:
                        raise _explain_death(error) from None
                else:
                    self._free.appendleft(replica)
                    self._free.extend([replica] * (self._ahead - 1))
                continue
            replica, one = self._busy.pop(done)
            try:
                result: R = _get(self._ray, done)
            except RayActorError as error:
                self._drop(replica)
                if one.deaths == RETRIES:
                    raise _explain_death(error) from None
                yield _Try(one.job, one.deaths + 1), None
            else:
                self._free.append(replica)
                yield one, (result,)

    def _drop(self, replica: Any) -> None:
        self._alive.pop(replica, None)
        self._free = deque(one for one in self._free if one != replica)


def _wait_for_some(ray: Any, references: list[Any]) -> list[Any]:
    """Those that are done, perhaps none yet."""
    if not references:  # no node is there to do anything
        time.sleep(LOOK_SECONDS)
        return []
    done, _ = ray.wait(references, num_returns=1, timeout=LOOK_SECONDS)
    return list(ray.wait(references, num_returns=len(references), timeout=0)[0]) if done else []


def _get(ray: Any, reference: Any) -> Any:
    """The result; an error of the job's own is raised as it was there."""
    from ray.exceptions import RayActorError, RayError, RayTaskError

    try:
        return ray.get(reference)
    except RayTaskError as error:
        cause = error.cause
        if isinstance(cause, UserError):
            raise cause from None
        if isinstance(cause, ImportError):
            raise UserError(
                f"a node lacks something that this machine has ({shorten_error(cause)}); {INSTALL}"
            ) from None
        raise
    except RayActorError:
        raise
    except RayError as error:
        raise _explain_death(error) from None


def _explain_death(error: Exception) -> UserError:
    return UserError(
        f"a job was lost {RETRIES + 1} times with the worker or node that did it ({shorten_error(error)}); "
        "finished work is kept: run the same command again, with fewer --workers if memory ran out"
    )


# On the nodes.


class _Payload(NamedTuple):
    """What workers get once."""

    requirements: tuple[Requirement, ...]
    shared: Any  # what a task is called with before its job, or what builds that
    task: Callable[[Any, Any], Any]


_opened: dict[str, _Payload] = {}  # in a worker: the payload of the jobs it is doing


def _open_payload(sent: Parcel[_Payload]) -> _Payload:
    gc.set_threshold(GC_THRESHOLD)
    payload = sent.open()
    for required in payload.requirements:
        required.check()
    return payload


def _run_job(key: str, sent: Parcel[_Payload], job: Any) -> Any:
    if key not in _opened:
        _opened.clear()
        _opened[key] = _open_payload(sent)
    payload = _opened[key]
    return payload.task(payload.shared, job)


class _Replica:
    """An actor that keeps what it was built with."""

    def build(self, sent: Parcel[_Payload]) -> None:
        payload = _open_payload(sent)
        self._state, self._task = payload.shared(), payload.task

    def run(self, job: Any) -> Any:
        return self._task(self._state, job)
