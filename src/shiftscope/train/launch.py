"""Launch: call a function in several processes that train together, as `accelerate launch` would.

Each finds the others through the same environment variables that torchrun sets. They end with their parent; one
that fails ends the others, and what it said is said here.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, TypeVar

from ..errors import UserError

R = TypeVar("R")
LAUNCHED = "WORLD_SIZE"  # set in processes that a launcher started
GRACE_SECONDS = 2.0  # for others to say why they end, where one has ended: the first is seldom the cause
DONE, REFUSED, RAISED, DIED = "done", "refused", "raised", "died"
CAUSES = (REFUSED, DIED, RAISED)  # the likeliest cause first: where one process dies, the others raise


def refuse_nested(processes: int) -> None:
    started = os.environ.get(LAUNCHED, "1")
    if started != "1":
        raise UserError(f"a launcher has started {started} processes already; omit --processes {processes}")


def call_in_processes(function: Callable[..., R], args: tuple[Any, ...], processes: int) -> R:
    """What the function, at the top level of a module, returns in the first process; an interrupt reaches all."""
    context = multiprocessing.get_context("spawn")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    alive, held = context.Pipe(duplex=False)
    running: dict[Connection, SpawnProcess] = {}
    ended: dict[str, Any] = {}
    try:
        for index in range(processes):
            ours, theirs = context.Pipe(duplex=False)
            given = (index, processes, port, alive, theirs, function, args)
            started = context.Process(target=_run_process, args=given, name=f"process {index}", daemon=False)
            started.start()
            theirs.close()
            running[ours] = started
        _wait_for_all(running, ended)
    finally:
        held.close()  # those that still run end at once
        for process in running.values():
            process.join()
    for cause in CAUSES:
        if cause in ended:
            raise ended[cause]
    result: R = ended[DONE]
    return result


def _wait_for_all(running: dict[Connection, SpawnProcess], ended: dict[str, Any]) -> None:
    """Until all are done, or one fails and the others have had their time to say why."""
    left = dict(running)
    until: float | None = None
    while left and (until is None or time.monotonic() < until):
        try:
            ready = wait(list(left), None if until is None else max(0.0, until - time.monotonic()))
        except KeyboardInterrupt:
            for process in left.values():
                with suppress(ProcessLookupError):
                    os.kill(process.pid or 0, signal.SIGINT)
            continue
        for connection in [one for one in left if one in ready]:
            how, what = _hear_end(connection, left.pop(connection))
            if how != DONE:
                until = until or time.monotonic() + GRACE_SECONDS
                ended.setdefault(how, what)
            elif what is not None:
                ended[DONE] = what


def _hear_end(connection: Connection, process: SpawnProcess) -> tuple[str, Any]:
    try:
        how, what = connection.recv()
    except EOFError:
        process.join()
        code = process.exitcode or 0
        why = f"signal {-code}" if code < 0 else f"exit code {code}"
        return DIED, UserError(
            f"{process.name} of the training ended ({why}), perhaps because memory ran out; "
            "run the same command again to resume from the last checkpoint"
        )
    return how, what


def _run_process(
    index: int,
    processes: int,
    port: int,
    alive: Connection,
    answer: Connection,
    function: Callable[..., Any],
    args: tuple[Any, ...],
) -> None:
    os.setsid()  # Ctrl-C reaches the parent alone, which passes it on

    def watch_parent() -> None:
        alive.poll(None)
        os._exit(1)

    threading.Thread(target=watch_parent, daemon=True).start()
    number, size = str(index), str(processes)
    os.environ |= {"RANK": number, "LOCAL_RANK": number, LAUNCHED: size, "LOCAL_WORLD_SIZE": size}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")  # else DDP remarks that no parameter was left unused
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // processes)))
    try:
        result = function(*args)
        _leave_group()
        answer.send((DONE, result if index == 0 else None))
    except UserError as error:
        answer.send((REFUSED, error))
    except (Exception, KeyboardInterrupt) as error:
        ours = isinstance(error, KeyboardInterrupt) or type(error).__module__.startswith(__name__.partition(".")[0])
        answer.send((RAISED, error if ours else RuntimeError(f"in process {index}:\n{traceback.format_exc()}")))


def _leave_group() -> None:
    """So that none of the others waits for it."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        distributed.destroy_process_group()
