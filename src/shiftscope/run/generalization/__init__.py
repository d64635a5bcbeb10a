"""Generalization tests, one file each; `run/test.py` runs them (`shiftscope test NAME`).

A test's file defines

    APPLIES                        what data it needs, as a clause
    OPTIONS                        what a user may choose: its subclass of GeneralizationOptions
    plan(data, options)            the test sets that a model is asked, or why there are none
    findings(plan, runs, options)  the test's table, from the runs of these test sets
    list_reported()                the paper's figures, where it has some: column names, rows, title
    pair_questions(questions)      for studies: the pairs of a test set that the table compares, by its rows

The records below are what these functions take and return.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from ...answer import Answer, is_same_answer
from ...errors import unknown
from ...lang.exec.exact import Undefined, execute
from ...lang.execution_world import ExecutionWorld
from ...lang.program import Program
from ...metrics import accuracy
from ...metrics import contrast as contrast_metric
from ...metrics.intervals import RatioTerm, cluster_runs
from ...metrics.significance import find_common_rows
from ...metrics.slices import select_base_rows
from ...question import Question
from ...result import AS_IS, Facts, RunLog, RunRecords, Score
from ...scene import Scene
from ...store.question_part import QuestionPart
from ...store.shard import iterate_row_groups
from ..question_source import DatasetSource, QuestionSource, open_source

T = TypeVar("T")
SAME = "same"  # the model itself, where a test asks for another one
WRONG_ANSWER = "the program does not give the stored answer"  # why a question is left out


def option(default: Any, help: str, flag: str = "", **command_line: Any) -> Any:
    """A field of a test's options, and the option of `shiftscope test` that gives it.

    `command_line` may hold: `required`, `min`, `path` (it names a file) and `data` (a dataset, or a suite
    that is made on demand).
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
        options = {flag: getattr(self, f.name) for flag, f in self.list_flags().items()}
        numbers = {k: v for k, v in options.items() if isinstance(v, tuple) and all(isinstance(n, int) for n in v)}
        return options | {k: ",".join(map(str, v)) for k, v in numbers.items()}


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
    context: Any = None  # what `findings` needs to know besides


def collect_questions(
    test: str, applies: str, data: SourceSplit, build: Callable[[Question, Counter[str]], Sequence[T]]
) -> tuple[list[T], GeneralizationPlan]:
    """What `build` makes of the questions of a split, up to its limit, and a plan without test sets.

    `build` returns nothing for a question that it cannot use, and counts the reason. Where no question can
    be used, the plan says why not.
    """
    if not data.is_dataset:
        return [], GeneralizationPlan(why_not=f"{test} does not apply to {data.folder}, an audit: {applies}")
    results: list[T] = []
    why: Counter[str] = Counter()
    used = considered = 0
    for question in data.questions():
        if data.limit is not None and used >= data.limit:
            break
        considered += 1
        some = build(question, why)
        used += bool(some)
        results += some
    left_out = sort_reasons(why)
    reasons = format_reasons(left_out) or "it has no questions"
    why_not = "" if results else f"{test} does not apply to {data.folder}: {applies} ({reasons})"
    return results, GeneralizationPlan((), considered, left_out, why_not)


def sort_reasons(why: Counter[str]) -> tuple[tuple[str, int], ...]:
    """What was left out, the commonest reason first."""
    return tuple(sorted(why.items(), key=lambda item: (-item[1], item[0])))


def format_reasons(left_out: Sequence[tuple[str, int]]) -> str:
    return "; ".join(f"{n:,} {reason}" for reason, n in left_out)


@dataclass(frozen=True, slots=True, eq=False)
class GeneralizationRun:
    """The run of a test set; `store.run_log.read_rows(folder)` gives every raw response."""

    test_set: GeneralizationTestSet
    log: RunLog
    folder: Path
    new: int = 0  # rows that were not there before


@dataclass(frozen=True, slots=True)
class PairedQuestion:
    """A question, and what is asked instead of it: a variant, or segments whose answers are put together."""

    original: Question
    asked: tuple[Question, ...]
    rows: tuple[str, ...]  # of the test's table that it counts in
    fusion: str = ""  # how the answers of segments are put together

    @property
    def answer(self) -> Answer | None:
        """What is right; segments have the original's answer together."""
        return self.original.answer if self.fusion else self.asked[0].answer


TestRuns = Mapping[str, GeneralizationRun]  # by test set


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


# Figures that several tests report: accuracy drops of one set of rows from another, of variants from their originals.


def measure_gap(name: str, first: RunRecords, second: RunRecords) -> Score:
    """The accuracy of the first set less that of the second, whose counts it has.

    Scenes that both ask about go together: over the same questions the interval is a paired one.
    """
    runs = [select_base_rows(first), select_base_rows(second)]
    counts = replace(accuracy.measure(runs[1])[0], metric=name, form="")
    scored = [accuracy.score_rows(r) for r in runs]
    if not all(one.scorable.any() for one in scored):
        return replace(counts, value=None, low=None, high=None)
    scorable = np.concatenate([one.scorable for one in scored])
    values = np.concatenate([one.values for one in scored])
    here = np.arange(len(values)) < len(runs[0])
    terms = RatioTerm(values, scorable & here), RatioTerm(values, scorable & ~here)
    return replace(counts, **cluster_runs(runs).combine(terms, (1, -1)).to_score())


def select_common(first: RunRecords, second: RunRecords) -> tuple[RunRecords, RunRecords]:
    """The rows of both about questions that both were asked."""
    runs = [select_base_rows(first), select_base_rows(second)]
    one, two = find_common_rows(runs)
    return runs[0].take(one), runs[1].take(two)


def measure_pairs(records: RunRecords, variants: Mapping[str, str], names: Mapping[str, str]) -> tuple[Score, ...]:
    """Figures of `metrics.contrast` for variants (id → the original's id), renamed and ordered by `names`."""
    some = select_rows(records, {*variants, *variants.values()})
    if not (some.twin.codes >= 0).any():
        return tuple(Score(name, None, 0) for name in names.values())
    scores = {s.metric: s for s in contrast_metric.measure(some)}
    return tuple(replace(scores[metric], metric=name) for metric, name in names.items())


def measure_originals(records: RunRecords, wanted: Collection[str]) -> Score:
    return accuracy.measure(select_rows(records, wanted))[0]


def select_rows(records: RunRecords, wanted: Collection[str]) -> RunRecords:
    known = np.array([*(name in wanted for name in records.question.values), False], np.bool_)
    return records.take(known[records.question.codes])
