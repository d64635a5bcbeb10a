"""Stories: what each verb does at toy size, and what its folder holds apart from the time it took."""

from __future__ import annotations

import atexit
import hashlib
import json
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from shiftscope.store.run_log import RUN_FILE as RUN
from shiftscope.store.run_log import compute_run_content_id

from .given import NEEDED, commands, lay_out
from .process import Command, Ended

CPU = "--device cpu --workers 1"
OUT = "out"  # what a story writes, in the folder of its trial
THERE = "is already there; choose another folder, or delete it"
GIVEN = "GIVEN"  # in a story: the folder of what is given
MOMENTARY = frozenset(  # fields that tell when, how long or how fast, not what
    {"seconds", "made", "examples_per_second", "took", "minutes", "wall", "date", "stored"}
)


@dataclass(frozen=True, slots=True)
class Story:
    """What a user types; `often` is its weight where one of them is drawn."""

    verb: str
    line: str
    often: float
    most: int = 12  # kills in one telling
    refusal: str = ""  # of a verb that does not go over what is done

    def start(self, folder: Path, **how: Any) -> Command:
        return Command(self.line.replace(GIVEN, str(given_folder())).split(), folder, **how)

    def tell(self, folder: Path) -> str:
        """Tell it to its end; what is wrong with how it ended."""
        return self.fault(self.start(folder).end(), 0)

    def fault(self, ended: Ended, *codes: int) -> str:
        """What is wrong with how it ended; empty where it ended with one of the codes, or was done before."""
        if self.refusal and ended.code == 2 and self.refusal in ended.complaint:
            return ""
        return ended.fault(*codes)


STORIES = (
    Story("make clevr", "make clevr --images 12 --size 48x32 --workers 1 --out out", 8),
    Story("make clevr with workers", "make clevr --images 12 --size 48x32 --workers 2 --out out", 1),
    Story("make superclevr", "make superclevr --images 12 --size 48x32 --workers 1 --out out", 8),
    Story("make clevr_hyp", "make clevr_hyp --images 9 --size 48x32 --workers 1 --out out", 4),
    Story("run", "run --model question_only --data GIVEN/data --out out", 12),
    Story("run p_nsvqa", "run --model p_nsvqa --data GIVEN/data --limit 8 --out out", 1),
    Story("audit", "audit --questions GIVEN/q.json --annotations GIVEN/a.json --out out", 8),
    Story("split", "split GIVEN/data --hold-out has_count --out out", 6),
    Story("test", "test contrast --model oracle --data GIVEN/data --out out", 8),
    Story("export to files", "export GIVEN/data --to clevr --out out", 5, refusal=THERE),
    Story("export to tar", "export GIVEN/data --to webdataset --out out", 3, refusal=THERE),
    Story("report", "report GIVEN/run0 GIVEN/run1 --data GIVEN/data --out out", 6),
    Story("train", f"train --model p_nsvqa --data superclevr --images 4 --epochs 1 {CPU} --out out", 0.2, 3),
    Story("study", f"study superclevr --images 12 --train easy --models nsvqa {CPU} --out out", 0.2, 3),
)


def draw_story(random: np.random.Generator, stories: tuple[Story, ...] = STORIES) -> Story:
    often = np.array([story.often for story in stories], float)
    return stories[int(random.choice(len(stories), p=often / often.sum()))]


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """What a story leaves where nothing disturbs it, and how long that takes."""

    content: dict[str, str]
    seconds: float


@cache
def undisturbed(story: Story) -> Undisturbed:
    folder = Path(tempfile.mkdtemp(prefix="undisturbed-", dir=given_folder()))
    first = story.start(folder).end()
    if fault := first.fault(0):
        raise RuntimeError(f"{story.verb}, undisturbed: {fault}")
    found = Undisturbed(content_of(folder), first.seconds)
    shutil.rmtree(folder)
    return found


@cache
def given_folder() -> Path:
    """What the stories are given, made once."""
    folder = Path(tempfile.mkdtemp(prefix="given-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    lay_out(folder)
    for words in commands(folder)[:NEEDED]:
        if fault := Command(words, folder).end().fault(0):
            raise RuntimeError(f"{' '.join(words)}: {fault}")
    return folder


def content_of(folder: Path) -> dict[str, str]:
    """The digest of everything a story left, by name, wherever the folder is and however long it took."""
    out = folder / OUT
    files = [out] if out.is_file() else sorted(path for path in out.rglob("*") if path.is_file())
    return {_name(path.relative_to(folder)): _digest(path, folder) for path in files}


def _name(path: Path) -> str:
    """A cell of a study has the digest of its content in its name, and so of how long it took."""
    return str(path.with_name(path.stem.rpartition("-")[0])) if path.parent.name == "cells" else str(path)


def _digest(path: Path, folder: Path) -> str:
    if path.name == "predictions.parquet":
        return compute_run_content_id(path.parent)
    data = path.read_bytes()
    if path.suffix == ".html" and (path.parent / "cells").is_dir():
        data = data[-8:]  # a study's page tells how fast it went; its cells are compared
    if path.suffix in (".json", ".jsonl") and path.name != RUN:
        lines = [data] if path.suffix == ".json" else data.splitlines()
        data = json.dumps([_without_moment(json.loads(line)) for line in lines]).encode()
    data = data.replace(str(folder).encode(), b"FOLDER")
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _without_moment(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_moment(v) for k, v in value.items() if k not in MOMENTARY}
    return [_without_moment(v) for v in value] if isinstance(value, list) else value


def differing(story: Story, folder: Path) -> str:
    """What is not as an undisturbed telling leaves it; empty where all is."""
    expected, found = undisturbed(story).content, content_of(folder)
    for path in folder.rglob(".*"):
        if path.name.endswith((".lock", ".partial")):
            return f"{path.relative_to(folder)} is left behind"
    if expected == found:
        return ""
    names = sorted(n for n in {*expected, *found} if expected.get(n) != found.get(n))
    how = [f"{n} is {'missing' if n not in found else 'new' if n not in expected else 'other'}" for n in names]
    return "; ".join(how[:4])
