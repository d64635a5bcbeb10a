"""Fuzz: all that reads what a user may give is given what no user should, and must refuse it politely.

A trial takes one target (campaign/targets.py) and draws mutated inputs with hypothesis, which is told how
many lines of ShiftScope an input reaches and looks for more. An input is either read, and then written and
read again as the same, or refused with a UserError in one sentence. Anything else is a fault: another
exception, more than ten seconds, more memory than it may take, the death of the process. Each trial runs in a
process of its own, and an input is on disk before it is tried.
"""

from __future__ import annotations

import atexit
import json
import mmap
import os
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from zlib import crc32

import hypothesis
import numpy as np
from hypothesis import HealthCheck, Phase, configuration, given, settings
from hypothesis import strategies as st

import shiftscope
from shiftscope.errors import UserError

from .command import command_target
from .mutate import Inputs
from .targets import Target, targets
from .trial import Trial

NAME, UNIT, TARGET = "fuzz", "inputs", 200_000
PROMISE = (
    "Every mutated file, folder, program, response and command line is either read, and equal after being "
    "written and read again, or refused in one sentence; no traceback, no crash, at most 10 s and 4 GB more "
    "of virtual memory."
)
LONGEST = 10  # seconds for an input
STUCK = 40.0  # seconds after which a process that no alarm reaches is killed
MEMORY = 1 << 30  # bytes above what the process has at its start
LATER = 3 << 30  # bytes of addresses for code that is loaded later, such as torch
TYPED = 0.1  # share of trials that attack the command line, the last of the targets
TRACED = 10  # of so many examples one is traced
SHRUNK = 15  # seconds to look for a smaller input
MEMORY_DISK = "/dev/shm" if Path("/dev/shm").is_dir() else None  # a disk takes longer than a reader
SOURCE = str(Path(shiftscope.__file__).parent)


class Slow(BaseException):
    """An input that took too long; no reader catches it."""


def attack(random: np.random.Generator, folder: Path) -> Trial:
    every = loaded()
    target = every[int(random.integers(len(every)))]
    seed = int(random.integers(1 << 32))
    if random.random() < TYPED:
        target = every[-1]
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=MEMORY_DISK) as place:
        report = fuzz(target, Path(place), seed)
        if report.faults:
            shutil.copytree(place, folder, dirs_exist_ok=True)
    for k, found in enumerate(report.faults.values()):
        (folder / f"fault-{k}.txt").write_text(found["why"])
    told = [f"{found['why'].splitlines()[-1]} (on {found['input']})" for found in report.faults.values()]
    figures = {"read": float(report.read), "refused": float(report.refused), "lines": float(report.lines)}
    what = f"{target.name} at seed {seed}"
    return Trial(NAME, 0, what, report.tried, "; ".join(told)[:2000], figures)


def fuzz(target: Target, place: Path, seed: int) -> Report:
    """Try a batch of inputs; of what faults, the smallest inputs that were found lie in the place."""
    work = prepare(target, place / "work")
    report = in_a_child(lambda said: batch(target, work, seed, said), place / "tried")
    if report.faults:
        shrink(target, work, seed, report.faults)
    return report


@cache
def loaded() -> tuple[Target, ...]:
    """All targets, with what they import; hypothesis reads through all of it at its first test, once."""
    every = (*targets(), command_target())
    given(st.integers())(settings(max_examples=9, database=None)(lambda number: None))()
    return every


def judge(trials: list[Trial]) -> list[str]:
    """Both ends are met: inputs that are read and inputs that are refused."""
    if sum(t.count for t in trials) < TARGET:
        return []
    total = {name: sum(t.figures.get(name, 0.0) for t in trials) for name in ("read", "refused")}
    rare = [name for name, count in total.items() if count < 0.05 * TARGET]
    missed = {t.name for t in targets()} - {t.what.partition(" at ")[0] for t in trials}
    return [f"few inputs are {name}" for name in rare] + [f"{name} was never tried" for name in sorted(missed)]


def describe(trials: list[Trial]) -> str:
    read, refused = (int(sum(t.figures.get(name, 0.0) for t in trials)) for name in ("read", "refused"))
    return f"{read:,} inputs were read, {refused:,} were refused in a sentence."


@cache
def stage() -> Path:
    """Where what targets are given is kept, once made."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-stage-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # children end without it
    return folder


def prepare(target: Target, work: Path) -> Path:
    """A folder with what the target is given, made once in a child, so that no thread lives here."""
    work.parent.mkdir(parents=True, exist_ok=True)
    if target.given is None:
        work.mkdir()
        return work
    kept = stage() / "".join(c if c.isalnum() else "-" for c in target.name)
    if not kept.exists():
        kept.mkdir()
        fill = target.given
        made = in_a_child(lambda said: fill(kept), stage() / "made")
        assert not made.faults, made.faults
    shutil.copytree(kept, work)
    return work


class Report:
    """What came of a batch: counts that the child keeps in shared memory, and the faults that it wrote."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._shared = mmap.mmap(-1, 64)
        self.faults: dict[str, dict[str, str]] = {}

    def _at(self, k: int) -> int:
        return int(struct.unpack_from("<q", self._shared, 8 * k)[0])

    def _put(self, k: int, value: int) -> None:
        struct.pack_into("<q", self._shared, 8 * k, value)

    tried = property(lambda self: self._at(0), lambda self, n: self._put(0, n))
    read = property(lambda self: self._at(1), lambda self, n: self._put(1, n))
    refused = property(lambda self: self._at(2), lambda self, n: self._put(2, n))
    lines = property(lambda self: self._at(3), lambda self, n: self._put(3, n))

    def fault(self, where: str, why: str, kept: str) -> None:
        """Tell the parent, unless the same was told before."""
        if where not in self.faults:
            self.faults[where] = {"why": why, "input": kept}
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps([where, self.faults[where]]) + "\n")

    def gather(self) -> None:
        if self.file.exists():
            self.faults |= dict(map(json.loads, self.file.read_text("utf-8").splitlines()))


def in_a_child(work: Callable[[Report], None], file: Path, seconds: float | None = None) -> Report:
    """Do the work in a fork of this process; its death by a signal, or its silence, is a fault."""
    report = Report(file)
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            limit()
            work(report)
            code = 0
        except BaseException:
            report.fault("the fuzzer", traceback.format_exc(), "")
        finally:
            os._exit(code)
    status = watch(child, report, seconds)
    report.gather()
    if os.WIFSIGNALED(status) and not (seconds and os.WTERMSIG(status) == signal.SIGKILL):
        name = signal.Signals(os.WTERMSIG(status)).name
        report.faults[name] = {
            "why": f"the process died of {name} at input {report.tried}",
            "input": "the last one, in work",
        }
    return report


def watch(child: int, report: Report, seconds: float | None) -> int:
    """Wait for a child; kill it where it tries nothing new for long, or has had its time."""
    start = moved = time.monotonic()
    before = -1
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        now = time.monotonic()
        if report.tried != before:
            before, moved = report.tried, now
        if now - moved > STUCK + 60 * (before == 0) or (seconds is not None and now - start > seconds):
            os.kill(child, signal.SIGKILL)
        time.sleep(0.01)


def limit() -> None:
    """A child may take so much more than it has, leaves no core, and says nothing."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY + LATER
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    os.fsync = lambda fd: None  # what is fuzzed need not outlive the machine
    signal.signal(signal.SIGALRM, _too_slow)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)


def _too_slow(number: int, frame: FrameType | None) -> None:
    raise Slow


def batch(target: Target, work: Path, seed: int, report: Report, wanted: str = "") -> None:
    """Try inputs that hypothesis draws; `wanted` is the fault to be had again, which it shrinks."""
    configuration.set_hypothesis_home_dir(work.parent / ".hypothesis")
    reached: set[tuple[CodeType, int]] = set()
    phases = (Phase.generate, Phase.shrink) if wanted else (Phase.generate, Phase.target)

    def one(inputs: list[bytes]) -> None:
        traced = crc32(inputs[-1]) % TRACED == 0
        lines: set[tuple[CodeType, int]] = set()
        with tracing(lines) if traced else nothing():
            failed = [attempt(target, work, data, report) for data in inputs]
        if traced:
            reached.update(lines)
            report.lines = len(reached)
            hypothesis.target(float(len(lines)), label="lines")
        assert not wanted or wanted not in failed, wanted

    run: Any = given(strategy(target, work))(one)
    run = settings(
        max_examples=target.examples,
        database=None,
        deadline=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )(run)
    hypothesis.seed(seed)(run)()


def strategy(target: Target, work: Path) -> Inputs:
    return target.inputs(work)


def attempt(target: Target, work: Path, data: bytes, report: Report) -> str:
    """Try one input, which lies on disk first; where it faults, say where and keep it."""
    path = work / target.file
    before = path.read_bytes() if path.exists() and target.given else None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    report.tried += 1
    signal.alarm(LONGEST)
    where = ""
    try:
        value = target.read(path)
        report.read += 1
        if target.again is not None:
            where = differs(target, value, work)
    except UserError as error:
        report.refused += 1
        where = "" if polite(str(error)) else f"a sentence: {str(error)[:300]!r}"
    except Slow:
        where = f"it took more than {LONGEST} s"
    except BaseException as error:
        where = placed(error)
    finally:
        signal.alarm(0)
    if where:
        kept = keep(work, data, where)
        report.fault(where, f"{sys_trace(where)}{where}", kept)
    if before is not None:
        path.write_bytes(before)
    return where


_TRACES: dict[str, str] = {}


def sys_trace(where: str) -> str:
    return _TRACES.get(where, "")


def placed(error: BaseException) -> str:
    """An exception by its kind and by where in ShiftScope it left."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if f.filename.startswith(SOURCE)] or frames
    last = ours[-1]
    said = " ".join(str(error).split())[:120]
    where = f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno} in {last.name}"
    _TRACES[where] = "".join(traceback.format_exception(error, limit=-12)) + said + "\n"
    return where


def differs(target: Target, value: Any, work: Path) -> str:
    """Whether what was read is another thing once it is written; a writer may refuse."""
    assert target.again is not None
    try:
        again = target.again(value, work / f"again{Path(target.file).suffix}")
    except UserError:
        return ""
    return "" if again == value else "what was written is not what was read"


def polite(sentence: str) -> bool:
    """Whether it is a sentence for a user: some words, none of a traceback."""
    return bool(sentence.strip()) and "Traceback" not in sentence


def keep(work: Path, data: bytes, where: str) -> str:
    """The smallest input of a fault so far; its name."""
    name = "".join(c if c.isalnum() else "-" for c in where)[:80]
    path = work.parent / f"input-{name}"
    if not path.exists() or path.stat().st_size > len(data):
        path.write_bytes(data)
    return path.name


def shrink(target: Target, work: Path, seed: int, faults: dict[str, Any]) -> None:
    """Have the first faults again, and let hypothesis look for smaller inputs for a while."""
    for where in list(faults)[:3]:
        if where.startswith("SIG") or "took more" in where or where == "the fuzzer":
            continue
        in_a_child(lambda said, w=where: batch(target, work, seed, said, w), work.parent / "shrunk", SHRUNK)  # type: ignore[misc]


@contextmanager
def tracing(lines: set[tuple[CodeType, int]]) -> Iterator[None]:
    """Note every line of ShiftScope that runs."""

    def local(frame: FrameType, event: str, arg: object) -> Any:
        if event == "line":
            lines.add((frame.f_code, frame.f_lineno))
        return local

    def enter(frame: FrameType, event: str, arg: object) -> Any:
        return local if frame.f_code.co_filename.startswith(SOURCE) else None

    sys.settrace(enter)
    try:
        yield
    finally:
        sys.settrace(None)


@contextmanager
def nothing() -> Iterator[None]:
    yield
