"""Trial: one attack, made from a seed and a number, and what came of it."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np

from shiftscope.rng import derive


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of one attack. `count` is how many units it was worth: kills, inputs, calls, studies."""

    part: str
    number: int
    what: str  # in words: which verb was killed, what was fuzzed
    count: int = 1
    fault: str = ""  # what went wrong; empty where everything held
    figures: Mapping[str, float] = field(default_factory=dict)  # to be added up over trials
    seed: int = 0
    seconds: float = 0.0


class Part(Protocol):
    """A module of this folder: its name, what it counts, how many the campaign wants, and one trial of it."""

    NAME: str
    UNIT: str
    TARGET: int
    PROMISE: str  # what must hold

    def attack(self, random: np.random.Generator, folder: Path) -> Trial:
        """Make one attack in an empty folder; a fault is told, not raised."""

    def judge(self, trials: list[Trial]) -> list[str]:
        """What does not hold over all trials together: shares that are too small or too large."""

    def describe(self, trials: list[Trial]) -> str:
        """What the figures of all trials add up to, in a sentence; or nothing."""


def take(part: Part, seed: int, number: int, folder: Path) -> Trial:
    """One trial; the same seed and number make the same one. What it raises is a fault."""
    random, start = derive("campaign", part.NAME, seed, number), time.monotonic()
    try:
        made = part.attack(random, folder)
    except Exception:
        made = Trial(part.NAME, number, "the attack itself", fault=traceback.format_exc(limit=-4))
    seconds = round(time.monotonic() - start, 3)
    return Trial(part.NAME, number, made.what, made.count, made.fault, dict(made.figures), seed, seconds)


def latest(trials: Iterable[Trial]) -> list[Trial]:
    """Of each trial, what came of it last: one that found a fault may have been taken again."""
    return list({(t.part, t.seed, t.number): t for t in trials}.values())


class Journal:
    """Trials as lines of a file: a campaign that was stopped goes on behind the last whole line."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file() and not path.read_bytes().endswith(b"\n"):
            with path.open("ab") as file:  # its last line was cut short by a kill
                file.write(b"\n")
        self.path = path

    def trials(self) -> Iterator[Trial]:
        if not self.path.is_file():
            return
        for line in self.path.read_text("utf-8").splitlines():
            try:
                yield Trial(**json.loads(line))
            except (ValueError, TypeError):  # cut short by a kill
                continue

    def add(self, trial: Trial) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(trial), ensure_ascii=False) + "\n")
