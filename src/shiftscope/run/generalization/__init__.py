"""What every generalization test is made of: its options, its data, its test sets, their runs, its table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from ...answer import is_same_answer
from ...errors import UserError, unknown
from ...folder import lock_folder
from ...lang.exec.exact import Undefined, execute
from ...lang.execution_world import ExecutionWorld
from ...lang.program import Program
from ...question import Question
from ...records import canonical_json
from ...result import AS_IS, CacheUse, Facts, RunLog, Score
from ...scene import Scene
from ...store.dataset import Dataset
from ...store.manifest import DatasetInfo, Manifest, list_versions, read_manifest, write_manifest
from ...store.question_part import QuestionPart
from ...store.shard import Shard, SharedImages, iterate_row_groups, write_shard
from ..question_source import DatasetSource, QuestionSource, open_source

T = TypeVar("T")
SAME = "same"  # the model itself, where a test asks for another one
WRONG_ANSWER = "the program does not give the stored answer"  # why a question is left out


def option(default: Any, help: str, flag: str = "", **command_line: Any) -> Any:
    """A field of a test's options, and the option of `shiftscope test` that gives it.

    `command_line` may hold: `required`, `min`, `path` (it names a file), `data` (a dataset, or a suite that is
    made on demand), and `fallback`, a function whose value stands for an omitted option.
    """
    return field(default=default, metadata={"flag": flag, "help": help, **command_line})


def draw_option() -> Any:
    return option(0, "Which of the possible questions chance makes.", "draw")


@dataclass(frozen=True, slots=True)
class GeneralizationOptions:
    """What a user may choose in a test; fields are plain JSON data, made with `option`."""

    shared: ClassVar[tuple[str, ...]] = ("learn_from",)  # which of --learn-from and --images a test takes

    @classmethod
    def list_flags(cls) -> dict[str, Any]:
        """The fields by their spelling on the command line."""
        return {f.metadata["flag"] or f.name.replace("_", "-"): f for f in fields(cls)}

    def to_cli_options(self) -> dict[str, Any]:
        """As options of the command line: texts are repeated, numbers joined by commas."""
        found = {flag: getattr(self, f.name) for flag, f in self.list_flags().items()}
        numbers = {k: v for k, v in found.items() if isinstance(v, tuple) and all(isinstance(n, int) for n in v)}
        return found | {k: ",".join(map(str, v)) for k, v in numbers.items()}


@dataclass(frozen=True, slots=True)
class GeneralizationTestSet:
    """Questions that are put to a model in one run, `OUT/runs/NAME`.

    Given `questions` become a dataset of their own, `OUT/data/NAME`, split "test"; its images are those of
    `data`. Without them the split of `data` is asked as it stands (the only way for the files of an audit).
    """

    name: str
    data: Path  # the dataset, or the audit, whose images the questions are about
    questions: tuple[Question, ...] | None = None  # with their answers; ids are unique
    split: str = "test"  # of `data`, where no questions are given
    part: QuestionPart | None = None  # of that split: only its questions are asked
    learn_from: Path | None = None  # the dataset whose train split a built-in model learns from; else `data`
    learn_part: QuestionPart | None = None  # of that train split: only its questions are learned from
    model: str = ""  # another one than the run's
    trained_on: str = ""  # for the report: what a model that learns here learns from
    variant: str = ""  # what the report calls this data; else the test's name
    condition: str = AS_IS  # how it is asked


@dataclass(frozen=True, slots=True)
class GeneralizationPlan:
    """The test sets of a test on one dataset. Questions that are in none are counted, by reason."""

    test_sets: tuple[GeneralizationTestSet, ...] = ()
    considered: int = 0  # questions that were looked at
    left_out: tuple[tuple[str, int], ...] = ()  # a reason, and how many have it
    why_not: str = ""  # where nothing applies: one sentence


def collect_questions(
    test: str, applies: str, data: SourceSplit, build: Callable[[Question, Counter[str]], Sequence[T]]
) -> tuple[list[T], GeneralizationPlan]:
    """What `build` makes of the questions of a split, up to its limit, and a plan without test sets.

    `build` returns nothing for a question that it cannot use, and counts the reason. Where no question can
    be used, the plan says why not.
    """
    if not data.is_dataset:
        return [], GeneralizationPlan(why_not=f"{test} does not apply to {data.folder}, an audit: {applies}")
    made: list[T] = []
    why: Counter[str] = Counter()
    used = considered = 0
    for question in data.questions():
        if data.limit is not None and used >= data.limit:
            break
        considered += 1
        some = build(question, why)
        used += bool(some)
        made += some
    left_out = sort_reasons(why)
    reasons = format_reasons(left_out) or "it has no questions"
    why_not = "" if made else f"{test} does not apply to {data.folder}: {applies} ({reasons})"
    return made, GeneralizationPlan((), considered, left_out, why_not)


def sort_reasons(why: Counter[str]) -> tuple[tuple[str, int], ...]:
    """What was left out, the commonest reason first."""
    return tuple(sorted(why.items(), key=lambda item: (-item[1], item[0])))


def format_reasons(left_out: Sequence[tuple[str, int]]) -> str:
    """The same in words."""
    return "; ".join(f"{n:,} {reason}" for reason, n in left_out)


@dataclass(frozen=True, slots=True, eq=False)
class GeneralizationRun:
    """The run of a test set; `store.run_log.read_rows(folder)` gives every raw response."""

    test_set: GeneralizationTestSet
    log: RunLog
    folder: Path
    new: int = 0  # rows that were not there before


@dataclass(frozen=True, slots=True)
class FindingsRow:
    """A row of the table: what it is of, and the figures of it."""

    of: Facts  # ("template", "verify_count"), ("change", "at least → less than"), …
    scores: tuple[Score, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """The table of a test, and the runs that it made out of those of its test sets, if any."""

    lines: tuple[FindingsRow, ...]
    runs: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class GeneralizationOutcome:
    """What a test found; `to_json()` is what `result.json` holds and `--json` prints, shares in percent."""

    test: str
    model: str
    spec: Mapping[str, Any]  # the data, the split and the options
    plan: GeneralizationPlan
    lines: tuple[FindingsRow, ...]
    runs: tuple[Path, ...]
    asked: int = 0
    shown: tuple[Path, ...] = ()  # those of the runs that a report is best made of
    given: Mapping[str, Any] = field(default_factory=dict)  # what else the model was asked with
    new: int = 0  # responses that were not there before; not in `to_json()`, which does not depend on resuming
    cache: CacheUse | None = None  # where an endpoint was asked

    def to_json(self) -> dict[str, Any]:
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
                {"of": dict(line.of), "scores": {s.metric: _score_to_json(s) for s in line.scores}}
                for line in self.lines
            ],
            "runs": [str(run) for run in self.runs],
        }


def _score_to_json(score: Score) -> dict[str, Any]:
    shares = {k: getattr(score, k) for k in ("value", "low", "high")}
    figures: dict[str, Any] = {k: None if v is None else round(100 * v, 10) for k, v in shares.items()}
    counts = {k: getattr(score, k) for k in ("missing", "undefined", "unreadable", "failed")}
    return figures | {"n": score.n} | {k: v for k, v in counts.items() if v}


class SourceSplit:
    """The split of a dataset that a test is made from; scenes are read once, when one is asked for."""

    def __init__(self, folder: Path, split: str = "test", limit: int | None = None, images: Path | None = None) -> None:
        self.folder = folder
        self.split = split
        self.limit = limit  # how many questions of the split a test is made from; None: all that it can use
        self.source: QuestionSource = open_source(folder, images)
        self._last: tuple[tuple[str, ...], ExecutionWorld] | None = None

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
                for table in iterate_row_groups(dataset.folder / file.path, ["image_id"]):
                    named |= dict.fromkeys(table["image_id"].to_pylist())
        return tuple(named)

    def scenes(self, names: Sequence[str]) -> tuple[Scene, ...]:
        """What these images show."""
        return tuple(self.source.scenes(Question("", "", tuple(names))))

    def world(self, names: tuple[str, ...]) -> ExecutionWorld:
        """What these images show together; the same ones in a row are put together once."""
        if self._last is None or self._last[0] != names:
            self._last = names, ExecutionWorld(self.scenes(names))
        return self._last[1]

    def answer(self, program: Program, names: tuple[str, ...]) -> Any:
        """What a program gives on these images: an answer, or an Undefined."""
        return execute(program, self.world(names)).answer

    def is_answer_right(self, question: Question) -> bool:
        """Whether the question's program gives its stored answer."""
        if question.program is None or question.answer is None:
            return False
        answer = self.answer(question.program, question.scenes)
        return not isinstance(answer, Undefined) and is_same_answer(answer, question.answer)


# The questions of a test set as a dataset of their own, which can be run, shown and exported like any other.

TEST = "test"


def write_test_set(folder: Path, test_set: GeneralizationTestSet, spec: Mapping[str, Any]) -> Dataset:
    """Write the dataset of a test set, or open it where it exists; image files are shared with its source."""
    assert test_set.questions is not None
    there = read_manifest(folder)
    if there is not None and there.complete:
        if canonical_json(dict(there.spec)) != canonical_json(dict(spec)):
            raise UserError(
                f"{folder} holds the questions of another test; choose another folder for --out, or delete it"
            )
        if all(file.is_whole(folder) for shard in there.shards for file in shard.files):
            return Dataset.open(folder)
    base = Dataset.open(test_set.data)
    found = _find_shards(base, {name for q in test_set.questions for name in q.scenes})
    with lock_folder(folder):
        shards = _write_shards(folder, base, test_set.questions, found)
        about = DatasetInfo("The questions of a generalization test", f"Made from {base.manifest.about.title}.")
        write_manifest(folder, Manifest(dict(spec), ((TEST, len(shards)),), list_versions(), about, tuple(shards)))
    return Dataset.open(folder)


def _find_shards(base: Dataset, wanted: set[str]) -> dict[str, int]:
    """In which of the base's shards each wanted image is."""
    found: dict[str, int] = {}
    for at, shard in enumerate(base.shards()):
        if shard.images is None:
            continue
        for table in iterate_row_groups(base.folder / shard.images.path, ["image_id"]):
            for name in table["image_id"].to_pylist():
                if name in wanted:
                    found.setdefault(name, at)
    lost = wanted - found.keys()
    if lost:
        raise UserError(f"{base.folder}: no image {min(lost)!r} in it")
    return found


def _write_shards(folder: Path, base: Dataset, asked: Sequence[Question], found: Mapping[str, int]) -> list[Shard]:
    """A shard for each of the base's that has a wanted image; questions stand with their first image."""
    inside: dict[int, list[Question]] = {at: [] for at in sorted(set(found.values()))}
    for question in asked:
        inside[found[question.scenes[0]]].append(question)
    shards: list[Shard] = []
    for index, (at, questions) in enumerate(inside.items()):
        file = base.shards()[at].images
        assert file is not None
        shards.append(write_shard(folder, TEST, index, SharedImages(base.folder, file), questions))
    return shards
