"""Kills: a verb is killed at random moments and gone on with; it then leaves what it always does."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np

from .stories import differing, draw_story, undisturbed
from .trial import Trial

NAME, UNIT, TARGET = "kills", "kills", 1_000
PROMISE = (
    "After any number of kills, the same command resumes and its output equals that of an undisturbed run to the byte."
)
ALONE = 0.2  # share of kills that hit the process and not its workers
LATEST = 1.1  # kills come until this many times what it takes undisturbed


def attack(random: np.random.Generator, folder: Path) -> Trial:
    story = draw_story(random)
    latest = LATEST * undisturbed(story).seconds
    kills = 0
    for _ in range(int(random.integers(1, story.most + 1))):
        command = story.start(folder)
        ended = command.wait(float(random.uniform(0, latest)))
        kills += command.send(signal.SIGKILL, group=random.random() >= ALONE)
        if fault := story.fault(command.end(), 0, -signal.SIGKILL):
            return Trial(NAME, 0, story.verb, kills, f"after kill {kills}: {fault}")
        if ended:
            break
    fault = story.tell(folder) or differing(story, folder)
    return Trial(NAME, 0, story.verb, kills, fault and f"after {kills} kills: {fault}")


def judge(trials: list[Trial]) -> list[str]:
    return []


def describe(trials: list[Trial]) -> str:
    return ""
