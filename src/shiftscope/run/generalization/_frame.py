"""The frame of a generalization test: the data it is made from, its exams, its table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ...answer import same_answer
from ...errors import unknown
from ...lang.exec.exact import Undefined, execute
from ...lang.program import Program
from ...lang.world import World
from ...question import Question
from ...result import AS_IS, CacheUse, Facts, RunLog, Score
from ...scene import Scene
from ...store.shard import groups
from ..part import Part
from ..source import DatasetSource, Source, open_source

SAME = "same"  # the model itself, where a test asks for another one


@dataclass(frozen=True, slots=True)
class Exam:
    """Questions that are put to a model in one run, `OUT/runs/NAME`.

    Given `questions` become a dataset of their own, `OUT/data/NAME`, split "test"; its images are those of
    `data`. Without them the split of `data` is asked as it stands (the only way for the files of an audit).
    """

    name: str
    data: Path  # the dataset, or the audit, whose images the questions are about
    questions: tuple[Question, ...] | None = None  # with their answers; ids are unique
    split: str = "test"  # of `data`, where no questions are given
    part: Part | None = None  # of that split: only its questions are asked
    learn_from: Path | None = None  # the dataset whose train split a built-in model learns from; else `data`
    learn_part: Part | None = None  # of that train split: only its questions are learned from
    model: str = ""  # another one than the order's
    trained_on: str = ""  # for the report: what a model that learns here learns from
    variant: str = ""  # what the report calls this data; else the test's name
    condition: str = AS_IS  # how it is asked


@dataclass(frozen=True, slots=True)
class Plan:
    """The exams of a test on one dataset. Nothing is hidden: what is in no exam is counted, by reason."""

    exams: tuple[Exam, ...] = ()
    considered: int = 0  # questions that were looked at
    left_out: tuple[tuple[str, int], ...] = ()  # a reason, and how many have it
    why_not: str = ""  # where nothing applies: one sentence


def listed(why: Counter[str]) -> tuple[tuple[str, int], ...]:
    """What was left out, the commonest reason first."""
    return tuple(sorted(why.items(), key=lambda item: (-item[1], item[0])))


def told(left_out: Sequence[tuple[str, int]]) -> str:
    """The same in words."""
    return "; ".join(f"{n:,} {reason}" for reason, n in left_out)


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """An exam once it is taken. `folder` is its run: `store.runlog.read_rows(folder)` has every raw reply."""

    exam: Exam
    log: RunLog
    folder: Path
    new: int = 0  # rows that were not there before


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table: what it is of, and the figures of it."""

    of: Facts  # ("template", "verify_count"), ("change", "at least → less than"), …
    scores: tuple[Score, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """The table of a test, and the runs that it made out of those of its exams, if any."""

    lines: tuple[Line, ...]
    runs: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a test found; `data()` is what `result.json` holds and `--json` prints, shares in percent."""

    test: str
    model: str
    spec: Mapping[str, Any]  # the data, the split and the options
    plan: Plan
    lines: tuple[Line, ...]
    runs: tuple[Path, ...]
    asked: int = 0
    shown: tuple[Path, ...] = ()  # those of the runs that a report is best made of
    given: Mapping[str, Any] = field(default_factory=dict)  # what else the model was asked with
    new: int = 0  # replies that were not there before; not in `data()`, which is the same whenever it is made
    cache: CacheUse | None = None  # where an endpoint was asked

    def data(self) -> dict[str, Any]:
        return {
            "test": self.test,
            "model": self.model,
            **self.spec,
            **({"given": dict(self.given)} if self.given else {}),
            "considered": self.plan.considered,
            "asked": self.asked,
            **({"cache": self.cache.to_json()} if self.cache else {}),
            "left_out": dict(self.plan.left_out),
            "lines": [
                {"of": dict(line.of), "scores": {s.metric: _figures(s) for s in line.scores}}
                for line in self.lines
            ],
            "runs": [str(run) for run in self.runs],
        }


def _figures(score: Score) -> dict[str, Any]:
    shares = {k: getattr(score, k) for k in ("value", "low", "high")}
    figures: dict[str, Any] = {k: None if v is None else round(100 * v, 10) for k, v in shares.items()}
    counts = {k: getattr(score, k) for k in ("missing", "undefined", "unreadable", "failed")}
    return figures | {"n": score.n} | {k: v for k, v in counts.items() if v}


class Material:
    """The split of a dataset that a test is made from; scenes are read once, when one is asked for."""

    def __init__(
        self, folder: Path, split: str = "test", limit: int | None = None, images: Path | None = None
    ) -> None:
        self.folder = folder
        self.split = split
        self.limit = limit  # how many questions of the split a test is made from; None: all that it can use
        self.source: Source = open_source(folder, images)
        self._last: tuple[tuple[str, ...], World] | None = None

    @property
    def is_dataset(self) -> bool:
        """Whether it is a dataset of ours; else an audit, whose questions have no programs or scenes."""
        return isinstance(self.source, DatasetSource)

    def questions(self, split: str = "") -> Iterator[Question]:
        """The questions of the split, or of another one, in the dataset's order."""
        wanted = split or self.split
        if wanted not in self.source.splits:
            raise unknown("split", wanted, self.source.splits, str(self.folder))
        return self.source.questions(wanted)

    @cached_property
    def images(self) -> tuple[str, ...]:
        """The split's images, each once: those that its questions are about, then others stored with it."""
        named = dict.fromkeys(name for q in self.questions() for name in q.scenes)
        if isinstance(self.source, DatasetSource):
            dataset = self.source.dataset
            for file in (s.images for s in dataset.shards(self.split) if s.images):
                for table in groups(dataset.folder / file.path, ["image_id"]):
                    named |= dict.fromkeys(table["image_id"].to_pylist())
        return tuple(named)

    def scenes(self, names: Sequence[str]) -> tuple[Scene, ...]:
        """What these images show."""
        return tuple(self.source.scenes(Question("", "", tuple(names))))

    def world(self, names: tuple[str, ...]) -> World:
        """What these images show together; the same ones in a row are put together once."""
        if self._last is None or self._last[0] != names:
            self._last = names, World(self.scenes(names))
        return self._last[1]

    def answer(self, program: Program, names: tuple[str, ...]) -> Any:
        """What a program gives on these images: an answer, or an Undefined."""
        return execute(program, self.world(names)).answer

    def holds(self, question: Question) -> bool:
        """Whether the question's program gives its stored answer."""
        if question.program is None or question.answer is None:
            return False
        answer = self.answer(question.program, question.scenes)
        return not isinstance(answer, Undefined) and same_answer(answer, question.answer)
