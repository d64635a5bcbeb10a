"""A call beside this process, in one of its own, that tells how far it is; it ends with the process that started it."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from ..executor import collect_rarely
from ..trainable import ProgressCallback
from .loop import TrainingPaused

J = TypeVar("J")
LOOK_SECONDS = 0.2  # between looks at how far it is
GRACE_SECONDS = 3.0  # in which one that was interrupted with this process ends
LEAVE_SECONDS = 20.0  # that it may take to write a checkpoint


class ProcessBeside:
    """Begun at once. What it is to leave it writes into files; whether it did, only these say."""

    def __init__(self, call: Callable[[J, ProgressCallback], None], job: J) -> None:
        context = multiprocessing.get_context("spawn")
        self.told = context.Array("q", 2)
        packed = pickle.dumps(job, 5)
        self.process = context.Process(target=_run_beside, args=(call, packed, self.told))
        self._sent = threading.Thread(target=self._send)  # sending waits until the other process has imported all
        self._sent.start()

    def _send(self) -> None:
        with suppress(OSError):  # it was interrupted before it had taken everything
            self.process.start()

    def wait(self, tell: ProgressCallback) -> None:
        self._sent.join()
        while self.process.is_alive():
            self.process.join(LOOK_SECONDS)
            done, total = self.told[:]
            if total:
                tell(done, total, "")

    def stop(self) -> None:
        """Interrupt it, if it still runs, and wait until it has left what it leaves then.

        Ctrl-C reaches both processes, and a second interrupt would disturb what the first one leads to.
        """
        self._sent.join()
        if self.process.pid is None:
            return
        self.process.join(GRACE_SECONDS)
        if self.process.is_alive() and self.process.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGINT)
            self.process.join(LEAVE_SECONDS)
            self.process.kill()
        self.process.join()


def _run_beside(call: Callable[[Any, ProgressCallback], None], packed: bytes, told: Any) -> None:
    parent = os.getppid()

    def tell(done: int, total: int, words: str) -> None:
        if os.getppid() != parent:  # it was killed, and the folder is no longer held
            raise KeyboardInterrupt
        told[:] = [done, total]

    with suppress(KeyboardInterrupt, TrainingPaused):
        with collect_rarely():
            job = pickle.loads(packed)
        call(job, tell)
