"""Replicas: one model in several processes, each on GPUs of its own, which take the prompts in turn.

One process keeps the run: it sends a batch to whichever replica is free, and writes what comes back. A batch holds
the prompts that it would hold without replicas, so that the responses are the same.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice, pairwise
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from ..errors import UserError
from ..model import (
    ModelError,
    ModelOptions,
    ModelSetting,
    Prompt,
    Response,
    build_model,
    get_identity,
    parse_model_name,
    predict_checked,
)
from .concurrent_calls import QUIET_SECONDS, Responses
from .conditions import EvalExample

VISIBLE = "CUDA_VISIBLE_DEVICES"
SPREAD = "all"  # as a device: each replica over several GPUs
LAUNCHER = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT")
READY, SAID, RETURNED, RAISED = "ready", "said", "returned", "raised"


class ReplicaPool:
    """A model of a name, so many times. Closing it ends the processes, in the middle of a batch if need be."""

    def __init__(self, name: str, options: ModelOptions, warn: Callable[[str], None]) -> None:
        if not parse_model_name(name).traits.replicable:
            raise UserError(f"model {name!r} runs in one process; omit --replicas, which is for hf models")
        self.name, self.batch, self._identity = name, 1, dict[str, Any]()
        placed = place_replicas(options.device, options.replicas)
        context = multiprocessing.get_context("spawn")
        alive, self._held = context.Pipe(duplex=False)
        self._replicas: dict[Connection, SpawnProcess] = {}
        try:
            for number, gpus in enumerate(placed):
                ours, theirs = context.Pipe()
                given = (name, replace(options, replicas=1), gpus, len(placed), alive, theirs)
                process = context.Process(target=_serve, args=given, name=f"replica {number}", daemon=True)
                process.start()
                theirs.close()
                self._replicas[ours] = process
            self._wait_until_ready(warn)
        except BaseException:
            self.close()
            raise

    def _wait_until_ready(self, warn: Callable[[str], None]) -> None:
        """All load at once; what several of them say is said once."""
        said: set[str] = set()
        left = set(self._replicas)
        while left:
            ready = wait(list(left))
            for connection in [one for one in left if one in ready]:
                how, what = self._receive(connection)
                if how == SAID and what not in said:
                    said.add(what)
                    warn(what)
                elif how == READY:
                    self.batch, self._identity = what
                    left.discard(connection)

    def close(self) -> None:
        self._held.close()
        for connection, process in self._replicas.items():
            process.join()
            connection.close()

    def identity(self, before: Mapping[str, Any]) -> dict[str, Any]:
        return self._identity

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        """By one of the replicas; `stream` keeps all of them busy."""
        connection = next(iter(self._replicas))
        self._send(connection, batch)
        responses: list[Response] = self._receive(connection)[1]
        return responses

    def stream(self, items: Iterator[EvalExample], reads: frozenset[str]) -> Responses:
        """Every item with its response, as they come; None now and then while nothing comes.

        A response's time is what passed since the batch before came: all together, the time that all took.
        """
        free, busy = list(self._replicas), dict[Connection, list[EvalExample]]()
        last = time.perf_counter()
        while True:
            while free and (block := list(islice(items, self.batch))):
                connection = free.pop()
                self._send(connection, [item.prompt.restrict(reads) for item in block])
                busy[connection] = block
            if not busy:
                return
            ready = wait(list(busy), QUIET_SECONDS)
            if not ready:
                yield None
            for connection in [one for one in busy if one in ready]:
                _, responses = self._receive(connection)
                block = busy.pop(connection)
                free.append(connection)
                now = time.perf_counter()
                each, last = (now - last) / len(block), now
                yield from zip(block, (replace(response, seconds=each) for response in responses), strict=True)

    def _send(self, connection: Connection, prompts: Sequence[Prompt]) -> None:
        try:
            connection.send(prompts)
        except OSError:
            raise self._explain_end(connection) from None

    def _receive(self, connection: Connection) -> tuple[str, Any]:
        try:
            how, what = connection.recv()
        except (EOFError, OSError):
            raise self._explain_end(connection) from None
        if how == RAISED:
            raise what
        return how, what

    def _explain_end(self, connection: Connection) -> ModelError:
        process = self._replicas[connection]
        process.join()
        code = process.exitcode or 0
        why = f"signal {-code}" if code < 0 else f"exit code {code}"
        return ModelError(f"{process.name} of model {self.name!r} ended ({why}), perhaps because memory ran out")


def place_replicas(device: str, replicas: int) -> list[str | None]:
    """For each replica the GPUs that it sees, as CUDA_VISIBLE_DEVICES names them; None: whatever there is.

    On `all` they share the GPUs evenly, and each spreads over its own; else each has one, in turn.
    """
    import torch

    count = torch.cuda.device_count()
    if device in ("cpu", "mps") or not count:
        return [None] * replicas
    if device not in ("auto", "cuda", SPREAD):
        raise UserError(f"--device {device} names one GPU; with --replicas give auto, one GPU each, or all")
    given = os.environ.get(VISIBLE)
    gpus = given.split(",")[:count] if given else [str(k) for k in range(count)]
    if device != SPREAD:
        return [gpus[k % count] for k in range(replicas)]
    if replicas > count:
        raise UserError(f"{replicas} replicas cannot be spread over {count} GPUs; give fewer, or --device auto")
    cuts = [count * k // replicas for k in range(replicas + 1)]
    return [",".join(gpus[a:b]) for a, b in pairwise(cuts)]


def count_replicas(asked: int) -> int | None:
    """As many as asked for, or as a launcher has started processes; None in all of those but the first.

    The first of them starts the replicas itself, and has nothing for the others to do.
    """
    launched = int(os.environ.get("WORLD_SIZE", "1"))
    if launched == 1:
        return asked
    if os.environ.get("LOCAL_WORLD_SIZE", str(launched)) != str(launched):
        raise UserError("a run has replicas on one machine; start one run on each, with a --part of the questions")
    return max(asked, launched) if os.environ.get("RANK", "0") == "0" else None


def _serve(
    name: str, options: ModelOptions, gpus: str | None, replicas: int, alive: Connection, answers: Connection
) -> None:
    """A replica's process: build the model, then answer until the parent is done, or is gone."""
    os.setsid()  # Ctrl-C reaches the parent alone

    def watch_parent() -> None:
        alive.poll(None)
        os._exit(1)

    threading.Thread(target=watch_parent, daemon=True).start()
    for variable in LAUNCHER:  # a replica is none of a launcher's processes
        os.environ.pop(variable, None)
    if gpus is not None:
        os.environ[VISIBLE] = gpus
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // replicas)))
    with suppress(EOFError, BrokenPipeError):
        try:
            model = build_model(name, ModelSetting(options=options, warn=lambda said: answers.send((SAID, said))))
        except UserError as error:
            answers.send((RAISED, error))
            return
        answers.send((READY, (getattr(model, "batch", options.batch), get_identity(model, {}))))
        while True:
            prompts = answers.recv()
            try:
                answers.send((RETURNED, predict_checked(model, prompts, name)))
            except UserError as error:
                answers.send((RAISED, error))
