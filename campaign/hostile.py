"""Hostile: a full disk, folders that can not be written, two processes, clocks that jump, and signals."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from .process import Command
from .stories import STORIES, Story, content_of, differing, draw_story, undisturbed
from .trial import Trial

NAME, UNIT, TARGET = "hostile", "attacks", 300
PROMISE = (
    "A full disk, a folder that cannot be written, a second process, a clock that jumps or a signal ends in "
    "one sentence or has no effect; the same command then gives its usual result."
)
QUICK = tuple(story for story in STORIES if story.verb not in ("train", "study", "run p_nsvqa"))
FULL, LIMITED = "a full disk", "a limit on files"
NOBODY = 65_534
YEARS = 10 * 365 * 86_400.0
SMALL = 2_000, 400_000  # bytes: what a disk holds, or a file may have


def attack(random: np.random.Generator, folder: Path) -> Trial:
    story = draw_story(random, QUICK)
    name = list(ATTACKS)[int(random.integers(len(ATTACKS)))]
    if name == FULL and not can_mount():
        name = LIMITED
    fault = ATTACKS[name](random, story, folder)
    return Trial(NAME, 0, f"{name} at {story.verb}", fault=fault)


def judge(trials: list[Trial]) -> list[str]:
    return []


def describe(trials: list[Trial]) -> str:
    return ""


@cache
def can_mount() -> bool:
    """Whether there may be a disk of its own: not for everybody, nor in every container."""
    failures = (OSError, subprocess.CalledProcessError)
    with tempfile.TemporaryDirectory() as name, suppress(*failures), mounted(Path(name), SMALL[0]):
        return True
    return False


def fill_disk(random: np.random.Generator, story: Story, folder: Path) -> str:
    """A disk of its own that is too small, then large enough."""
    disk = folder / "disk"
    disk.mkdir()
    with mounted(disk, int(random.integers(*SMALL))) as grow:
        if fault := story.start(disk).end().fault(0, 2):
            return fault
        grow()
        return story.tell(disk) or differing(story, disk)


@contextmanager
def mounted(disk: Path, size: int) -> Any:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk], check=True, capture_output=True)
    try:
        yield lambda: subprocess.run(["mount", "-o", "remount,size=512m", disk], check=True)
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def limit_files(random: np.random.Generator, story: Story, folder: Path) -> str:
    """No file may get longer than so many bytes, as with a quota; then there is no limit."""
    size = int(random.integers(*SMALL))
    if fault := story.start(folder, before=partial(_limit, size)).end().fault(0, 2):
        return fault
    return story.tell(folder) or differing(story, folder)


def _limit(size: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def forbid_writing(random: np.random.Generator, story: Story, folder: Path) -> str:
    """The folder belongs to somebody else; perhaps after a part was done."""
    if random.random() < 0.5:
        command = story.start(folder)
        command.wait(float(random.uniform(0, undisturbed(story).seconds)))
        command.send(signal.SIGKILL)
        command.end()
    before = content_of(folder)
    _permit(folder, 0o555)
    ended = story.start(folder, before=_become_nobody).end()
    _permit(folder, 0o755)
    if fault := ended.fault(0, 2):
        return fault
    if content_of(folder) != before and ended.code:
        return "something was written where nothing may be"
    return story.tell(folder) or differing(story, folder)


def _permit(folder: Path, mode: int) -> None:
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            path.chmod(mode)


def _become_nobody() -> None:
    if os.getuid() == 0:  # for whom nothing is forbidden
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def start_two(random: np.random.Generator, story: Story, folder: Path) -> str:
    """Two or three at once: each is done or refused, and what is left is whole."""
    commands: list[Command] = []
    for _ in range(int(random.integers(2, 4))):
        commands.append(story.start(folder))
        time.sleep(float(random.uniform(0, undisturbed(story).seconds / 2)))
    ended = [command.end() for command in commands]
    for one in ended:
        if fault := one.fault(0, 2):
            return fault
        if one.code == 2 and "is already" not in one.complaint and "working on it" not in one.complaint:
            return f"refused for another reason: {one.complaint[-200:]}"
    if all(one.code for one in ended):
        return "all were refused"
    return differing(story, folder)


def turn_clock(random: np.random.Generator, story: Story, folder: Path) -> str:
    """Killed, its files dated anew, then gone on with by another clock, which jumps meanwhile."""
    command = story.start(folder)
    command.wait(float(random.uniform(0, undisturbed(story).seconds)))
    command.send(signal.SIGKILL)
    command.end()
    for path in folder.rglob("*"):
        with suppress(OSError):
            at = float(random.uniform(0, 2**32))
            os.utime(path, (at, at), follow_symlinks=False)
    jumps = random.uniform(-YEARS, YEARS, 16).tolist()
    ended = story.start(folder, before=partial(_jump, jumps)).end()
    return story.fault(ended, 0) or differing(story, folder)


def _jump(offsets: list[float]) -> None:
    """Let every look at the clock be off by another amount."""
    real, looks = time.time, iter(range(1 << 60))

    def look() -> float:
        return real() + offsets[next(looks) % len(offsets)]

    time.time = look
    time.time_ns = lambda: int(look() * 1e9)


def send_signal(random: np.random.Generator, story: Story, folder: Path) -> str:
    """Ctrl-C, a hang-up, an end or a pause at a random moment, then the same command again."""
    number = SIGNALS[int(random.integers(len(SIGNALS)))]
    command = story.start(folder)
    command.wait(float(random.uniform(0, 1.1 * undisturbed(story).seconds)))
    command.send(number)
    if number == signal.SIGTSTP:
        time.sleep(float(random.uniform(0, 0.3)))
        command.send(signal.SIGCONT)
    codes = {signal.SIGINT: (0, 130, -signal.SIGINT), signal.SIGTSTP: (0,)}.get(number, (0, -number))
    if fault := command.end().fault(*codes):
        return f"after {number.name}: {fault}"
    fault = story.tell(folder) or differing(story, folder)
    return fault and f"after {number.name}: {fault}"


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP)


def close_output(random: np.random.Generator, story: Story, folder: Path) -> str:
    """Whoever reads what is printed goes away, as `head` does."""
    if fault := story.start(folder, before=_close_output).end().fault(0):
        return fault
    return differing(story, folder)


def _close_output() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    os.dup2(writer, 1)
    sys.stdout = os.fdopen(1, "w")


ATTACKS: dict[str, Callable[[np.random.Generator, Story, Path], str]] = {
    FULL: fill_disk,
    LIMITED: limit_files,
    "a forbidden folder": forbid_writing,
    "two processes": start_two,
    "a clock that jumps": turn_clock,
    "a signal": send_signal,
    "a closed pipe": close_output,
}
