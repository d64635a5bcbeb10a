"""Processes: the command line in a process of its own, forked from one that has everything loaded."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.forkserver import set_forkserver_preload
from multiprocessing.process import BaseProcess
from pathlib import Path

LIMIT = 600.0  # seconds that a command may take
PAUSE = 0.002  # between two looks at whether it has ended

_numbers = itertools.count()

Before = Callable[[], None]  # done in the new process, before the command


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its exit code, negative for a signal, and what it complained of."""

    code: int
    complaint: str
    seconds: float

    def fault(self, *codes: int) -> str:
        """What is wrong with how it ended; empty where it ended with one of the codes and one sentence."""
        if "Traceback (most recent call last)" in self.complaint:
            return f"a traceback: …{self.complaint[-600:]}"
        if self.code not in codes:
            return f"exit code {self.code}: {self.complaint[-300:]}"
        return ""


class Command:
    """A command under way, in a process group of its own."""

    def __init__(self, words: Sequence[str], folder: Path, before: Before | None = None) -> None:
        self._log = folder / f".complaints-{next(_numbers)}"
        self._process = _begin(list(words), folder, self._log, before)
        self._start = time.monotonic()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def wait(self, seconds: float = LIMIT) -> bool:
        """Whether it ended within so many seconds."""
        end = time.monotonic() + seconds
        while self._process.exitcode is None and time.monotonic() < end:
            time.sleep(PAUSE)
        return self._process.exitcode is not None

    def send(self, number: int, *, group: bool = True) -> bool:
        """Send a signal to its group, or to it alone; whether it was still there."""
        if self._process.exitcode is not None:
            return False
        with suppress(ProcessLookupError):
            if group and os.getpgid(self.pid) == self.pid:
                os.killpg(self.pid, number)
            else:  # it has no group of its own yet
                os.kill(self.pid, number)
        return True

    def end(self, seconds: float = LIMIT) -> Ended:
        """Wait for it; one that does not end is killed, and that is its end."""
        late = not self.wait(seconds)
        if late:
            self.send(signal.SIGKILL)
        self._process.join()
        took = time.monotonic() - self._start
        code = self._process.exitcode
        said = self._log.read_text("utf-8", "replace") if self._log.exists() else ""
        self._log.unlink(missing_ok=True)
        self._process.close()
        return Ended(code if code is not None else 0, f"no end within {seconds:g} s" if late else said, took)


def _begin(words: list[str], folder: Path, log: Path, before: Before | None) -> BaseProcess:
    os.environ["CAMPAIGN_WARM"] = "1"
    set_forkserver_preload(["campaign.warm"])
    process = multiprocessing.get_context("forkserver").Process(
        target=_run, args=(words, str(folder), str(log), before)
    )
    process.start()
    return process


def _run(words: list[str], folder: str, log: str, before: Before | None) -> None:
    """The command line, as if typed in that folder."""
    os.setsid()
    os.chdir(folder)
    sys.stdout.flush()
    for number, target in ((0, os.devnull), (1, os.devnull), (2, log)):
        opened = os.open(target, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
        os.dup2(opened, number)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, mode) for n, mode in ((0, "r"), (1, "w"), (2, "w")))
    sys.argv = ["shiftscope", *words]
    os.environ["COLUMNS"] = "200"
    signal.signal(signal.SIGINT, signal.default_int_handler)
    from shiftscope.cli import main

    code = 1
    try:
        if before is not None:
            before()
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)  # multiprocessing would wait for what a command leaves running
