"""Result: what was asked, what a model said, what that scored, and the columns of a whole run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from .answer import Answer, spell
from .errors import unknown
from .lang.program import Program
from .lang.text import show
from .question import Question
from .scene import Scene

STATUSES = ("answered", "undefined", "unreadable", "failed")
MISSING = "missing"  # the status of a row without a prediction
CONDITIONS = ("as_is", "blind", "other_image", "scene_text", "program_text")
AS_IS, BLIND = CONDITIONS[:2]
PICTURED = ("as_is", "other_image", "program_text")  # those that show a picture
MISSING_IMAGE = "missing_image"  # no choice: asked without the picture, because there is none
PART_OPS = ("parts", "owners")
NOTED = ("answer_type", "factor", "level", "variant", "logic")  # notes of a question that are worth a column

Fact = str | int | float | bool
Facts = tuple[tuple[str, Fact], ...]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Prediction:
    """One reply. `status` keeps a wrong answer apart from an undefined, unreadable or failed one."""

    question: str
    answer: Answer | None = None
    raw: str = ""  # the reply as the model gave it
    status: str = "answered"
    reason: str = ""  # why there is no answer, or what went wrong on the way to it: "none found", …
    seconds: float | None = None
    cost: float | None = None  # in the currency of the run's spec
    tokens: int | None = None
    belief: float | None = None  # the probability the model gave its answer
    condition: str = AS_IS
    trace: str = ""
    program: str = ""  # the program the model wrote, spelled by `program_text`
    stored: float | None = (
        None  # seconds since 1970 when the cache kept the reply; None where it was just given
    )
    fingerprint: str = ""  # what a server calls the system that replied

    def __post_init__(self) -> None:
        if self.status not in (*STATUSES, MISSING):
            raise ValueError(f"status {self.status!r} is not one of {', '.join((*STATUSES, MISSING))}")
        if (self.answer is None) == (self.status == "answered"):
            raise ValueError(f"status {self.status!r} does not go with answer {self.answer!r}")
        if self.belief is not None and not 0 <= self.belief <= 1:
            raise ValueError(f"belief {self.belief!r} is not a probability")


@dataclass(frozen=True, slots=True)
class Asked:
    """What scoring needs to know of a question, so that a run can be scored without its dataset."""

    question: str
    scenes: tuple[str, ...] = ()
    truth: Answer | None = None
    answers: tuple[str, ...] = ()  # every annotator's, where there were several
    facts: Facts = ()  # what to slice by: kind, template, family, length, objects, split, factor levels
    twin: str = ""  # the id of the example this one is a variant of
    program: str = ""  # the true program, spelled by `program_text`
    content: str = ""  # the same for the same question about the same images, whatever ids they go by


def asked_of(
    question: Question,
    scenes: Sequence[Scene] = (),
    twin: str | None = None,
    facts: Facts = (),
    content: str = "",
) -> Asked:
    """What scoring needs of a question; the scenes tell how many objects there are.

    `length` is in words, `steps` in operations of the program. What `facts` names wins over what is derived.
    """
    origin = question.provenance
    known: dict[str, Any] = {
        "kind": question.kind,
        "template": origin.template,
        "family": origin.family,
        "split": origin.split,
        "length": len(question.text.split()),
        "steps": len(question.program) if question.program else None,
        "objects": sum(len(s.objects) for s in scenes) if scenes else None,
        "images": len(question.scenes) or None,
        "action": question.note("action_kind"),
        "about": _about(question, scenes),
        **{name: question.note(name) for name in NOTED},
        **dict(facts),
    }
    return Asked(
        question=question.id,
        scenes=question.scenes,
        truth=question.answer,
        answers=question.answers,
        facts=tuple((name, value) for name, value in known.items() if value not in (None, "")),
        twin=str(question.note("twin", "")) if twin is None else twin,
        program=program_text(question.program) if question.program else "",
        content=content,
    )


def _about(question: Question, scenes: Sequence[Scene]) -> str | None:
    """Whether a question is about objects or about their parts; nothing where objects can have none."""
    if question.program is not None and any(node.op in PART_OPS for node in question.program.nodes):
        return "parts"
    return "objects" if any(s.schema.part_attributes for s in scenes) else None


def program_text(program: Program) -> str:
    """One spelling per program, so that equal programs are equal texts."""
    return show(program.canonical())


@dataclass(frozen=True, slots=True)
class Score:
    """A metric's value with what it rests on: how many examples, and an interval. Shares are 0 to 1.

    `n` counts every example that the model was to be asked and whose answer is known. Those counted apart are
    in it, and not right.
    """

    metric: str
    value: float | None  # None: nothing to score
    n: int
    low: float | None = None
    high: float | None = None
    missing: int = 0  # without a reply: not asked yet, or not in the file of predictions
    slice: Facts = ()  # which part of the examples; all of them when empty
    undefined: int = 0  # the reply is that there is no answer
    unreadable: int = 0  # no answer could be read out of the reply
    failed: int = 0  # the model could not be asked
    form: str = ""  # of a metric that has several: "official" VQA accuracy
    scenes: int | None = None  # that the interval rests on; None where that is not what it rests on

    @property
    def answered(self) -> float | None:
        """The share of the examples that have a reply, right or not."""
        return None if not self.n else 1 - (self.missing + self.failed) / self.n

    @property
    def complete(self) -> bool:
        """Whether every example has a reply; what is not complete is not ranked."""
        return not self.missing and not self.failed


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """Values as numbers: row i holds `values[codes[i]]`, or nothing where the code is -1."""

    values: tuple[Any, ...]
    codes: Codes  # [row] int32

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> Any:
        code = int(self.codes[row])
        return None if code < 0 else self.values[code]

    def listed(self) -> list[Any]:
        return [None if c < 0 else self.values[c] for c in self.codes.tolist()]

    def take(self, rows: npt.NDArray[Any]) -> Column:
        return Column(self.values, self.codes[rows])

    def equals(self, value: Any) -> Bools:
        """Which rows hold the value."""
        code = next((k for k, v in enumerate(self.values) if v == value and type(v) is type(value)), -2)
        return np.equal(self.codes, code)


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """Several values a row: row i holds the values of `codes[at[i]:at[i + 1]]`."""

    values: tuple[Any, ...]
    codes: Codes  # [entry] int32
    at: npt.NDArray[np.int64]  # [row + 1] where a row's entries begin and end

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        return np.diff(self.at)

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """The row of each entry."""
        return np.repeat(np.arange(len(self.at) - 1), self.lengths)

    def take(self, rows: npt.NDArray[Any]) -> Lists:
        """The lists of the rows given by their numbers, in that order."""
        lengths = self.lengths[rows]
        ends = np.cumsum(lengths)
        flat = np.arange(ends[-1] if len(ends) else 0) + np.repeat(
            self.at[:-1][rows] - ends + lengths, lengths
        )
        return Lists(self.values, self.codes[flat], np.concatenate([[0], ends]).astype(np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """A whole run in columns, one row per question and condition; metrics are functions of this.

    `truth` and `answer` share one vocabulary of spelled answers, so being right is equality of codes; `said`
    and `answers` share one of answers letter by letter, for metrics that normalise in their own way. A row
    without a question is one that was to be asked and is not there: of it nothing is known but that.
    """

    question: Column
    content: Column  # what was asked about which images; nothing where a run does not tell
    condition: Column
    images: Lists  # of the question, at least one: a question without any stands for one
    truth: Column
    answer: Column
    said: Column
    status: Column  # one of STATUSES, or MISSING
    reason: Column
    twin: Column  # -1: the example is not a variant of another
    answers: Lists  # every annotator's answer
    program_right: npt.NDArray[np.int8]  # 1 the true one, 0 another, -1 none written, -2 not known
    seconds: Floats  # not a number where not known
    cost: Floats
    belief: Floats
    facts: tuple[tuple[str, Column], ...] = ()
    data: str = ""  # the content of the dataset, where it is known: within it an id is one question

    def __len__(self) -> int:
        return len(self.question)

    @property
    def cluster(self) -> Column:
        """The first image of each row."""
        return Column(self.images.values, self.images.codes[self.images.at[:-1]])

    @property
    def annotated(self) -> Bools:
        """Which rows several people answered, so that agreement with them decides."""
        return np.greater(self.answers.lengths, 0)

    @property
    def scorable(self) -> Bools:
        """Which rows have a known answer; one that is not there has, where any other does."""
        known = (self.truth.codes >= 0) | self.annotated
        return known | ((self.question.codes < 0) & bool(known.any()))

    @property
    def right(self) -> Bools:
        """Which rows have an answer that is the true one."""
        return np.equal(self.answer.codes, self.truth.codes) & (self.answer.codes >= 0)

    def column(self, name: str) -> Column:
        """A fact by its name, or one of the columns every run has."""
        known: dict[str, Column] = {n: getattr(self, n) for n in ("condition", "status", "truth", "reason")}
        known |= dict(self.facts)
        if name not in known:
            raise unknown("column", name, known, "the run")
        return known[name]

    def take(self, rows: npt.NDArray[Any]) -> Records:
        """The rows given by a mask or by their numbers, in that order."""
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        return Records(
            **{name: getattr(self, name).take(rows) for name in TAKEN},
            program_right=self.program_right[rows],
            seconds=self.seconds[rows],
            cost=self.cost[rows],
            belief=self.belief[rows],
            facts=tuple((name, column.take(rows)) for name, column in self.facts),
            data=self.data,
        )

    def under(self, condition: str) -> Records:
        """The rows of one condition."""
        return self.take(self.condition.equals(condition))


TAKEN = (
    *("question", "content", "condition", "images", "truth", "answer"),
    *("said", "status", "reason", "twin", "answers"),
)


def with_lacking(records: Records, conditions: Mapping[str, int]) -> Records:
    """With a missing row for each question that was to be asked and has none: condition → how many."""
    lacking, size = sum(conditions.values()), len(records)
    if not lacking or not size:
        return records
    new = np.arange(size + lacking) >= size
    made = records.take(np.where(new, 0, np.arange(size + lacking)))
    nothing: dict[str, Any] = {
        name: _emptied(getattr(made, name), new)
        for name in ("question", "content", "truth", "answer", "said", "reason", "twin")
    }
    nothing |= {name: np.where(new, np.nan, getattr(made, name)) for name in ("seconds", "cost", "belief")}
    return replace(
        made,
        **nothing,
        condition=_filled(made.condition, new, [c for c, n in conditions.items() for _ in range(n)]),
        status=_filled(made.status, new, [MISSING] * lacking),
        images=_own_images(made.images, new),
        answers=Lists(
            made.answers.values,
            made.answers.codes[~new[made.answers.rows]],
            np.concatenate([[0], np.cumsum(np.where(new, 0, made.answers.lengths))]).astype(np.int64),
        ),
        program_right=np.where(new, -2, made.program_right).astype(np.int8),
        facts=tuple((name, _emptied(column, new)) for name, column in made.facts),
    )


def _emptied(column: Column, where: Bools) -> Column:
    return Column(column.values, np.where(where, -1, column.codes).astype(np.int32))


def _filled(column: Column, where: Bools, values: Sequence[Any]) -> Column:
    listed = column.listed()
    for row, value in zip(np.flatnonzero(where).tolist(), values, strict=True):
        listed[row] = value
    return column_of(listed)


def _own_images(images: Lists, where: Bools) -> Lists:
    """One image of its own for each of these rows: nothing tells which it was about."""
    kept = images.codes[~where[images.rows]]
    lengths = np.where(where, 1, images.lengths)
    at = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    codes = np.empty(int(at[-1]), np.int32)
    own = np.repeat(where, lengths)
    codes[~own] = kept
    codes[own] = len(images.values) + np.arange(int(where.sum()))
    return Lists((*images.values, *(f"lacking {k}" for k in range(int(where.sum())))), codes, at)


@dataclass(frozen=True, slots=True)
class Lineage:
    """What the data of a run is a variant of, each by a name of all that it was made from.

    Twins pair where one run's `base` is the other's `own`; scenes of one name are one place where the `root`
    is the same. Names alone tell neither: data of another seed have the same.
    """

    own: str
    base: str  # what it shares everything with but one factor; itself where it is no variant
    root: str  # the base of its base, and so on


@dataclass(frozen=True, slots=True)
class CacheUse:
    """How many replies of a run came from the cache, and when the oldest of these was put there."""

    replies: int
    oldest: float | None = None  # seconds since 1970

    def to_json(self) -> dict[str, Any]:
        day = None if self.oldest is None else datetime.fromtimestamp(self.oldest, UTC)
        return {"replies": self.replies, "oldest": day and day.isoformat(timespec="seconds")}


@dataclass(frozen=True, slots=True, eq=False)
class RunLog:
    """A run as it stands: what was asked for and every row; scores are made from this, without the model."""

    spec: tuple[tuple[str, Any], ...]
    records: Records
    questions: int | None = None  # how many were to be asked as they are, where that is known
    finished: bool = True
    population: int | None = None  # how many the split has; more than `questions` where a sample was declared
    lineage: Lineage | None = None
    missing_images: int = 0  # questions besides, whose pictures were missing: asked under MISSING_IMAGE
    cache: CacheUse | None = None  # of an endpoint's run, unless an older version made it

    def wanted(self, condition: str) -> int | None:
        """How many questions were to be asked under a condition, where that is known."""
        if condition == MISSING_IMAGE or self.questions is None:
            return self.missing_images if condition == MISSING_IMAGE else None
        return self.questions + (0 if condition in PICTURED else self.missing_images)


class Coder:
    """Gives every distinct value the next number."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[type, Any], int] = {}

    def codes(self, values: Iterable[Any]) -> Codes:
        """The numbers of the values; None gets -1."""
        known = self._numbers
        made = [-1 if v is None else known.setdefault((type(v), v), len(known)) for v in values]
        return np.array(made, np.int32)

    def column(self, codes: Codes) -> Column:
        """With all values that have a number by now."""
        return Column(tuple(value for _, value in self._numbers), codes)


def column_of(values: Iterable[Any]) -> Column:
    coder = Coder()
    return coder.column(coder.codes(values))


def lists_of(rows: Iterable[Sequence[Any]]) -> Lists:
    listed = list(rows)
    column = column_of(value for row in listed for value in row)
    return Lists(column.values, column.codes, np.cumsum([0, *map(len, listed)], dtype=np.int64))


def records_of(rows: Iterable[tuple[Asked, Prediction | None]]) -> Records:
    """The columns of rows; a question without a prediction is a missing row, under the first condition."""
    asked, said = _apart(rows)
    given = [None if p is None else p.answer for p in said]
    words, letters = Coder(), Coder()
    truth = words.codes(None if a.truth is None else spell(a.truth) for a in asked)
    answer = words.codes(None if one is None else spell(one) for one in given)
    literal = letters.codes(None if one is None else answer_text(one) for one in given)
    answers = letters.codes(one for a in asked for one in a.answers)
    facts = [dict(a.facts) for a in asked]
    names = sorted({name for fact in facts for name in fact})
    return Records(
        question=column_of(a.question for a in asked),
        content=column_of(a.content or None for a in asked),
        condition=column_of(AS_IS if p is None else p.condition for p in said),
        images=lists_of(a.scenes or (f"question {a.question}",) for a in asked),
        truth=words.column(truth),
        answer=words.column(answer),
        said=letters.column(literal),
        status=column_of(MISSING if p is None else p.status for p in said),
        reason=column_of(None if p is None or not p.reason else p.reason for p in said),
        twin=column_of(a.twin or None for a in asked),
        answers=Lists(
            letters.column(answers).values,
            answers,
            np.cumsum([0, *(len(a.answers) for a in asked)], dtype=np.int64),
        ),
        program_right=np.array(
            [program_right(a.program, p.program if p else "") for a, p in zip(asked, said, strict=True)],
            np.int8,
        ),
        seconds=_floats(None if p is None else p.seconds for p in said),
        cost=_floats(None if p is None else p.cost for p in said),
        belief=_floats(None if p is None else p.belief for p in said),
        facts=tuple((name, column_of(fact.get(name) for fact in facts)) for name in names),
    )


def _apart(
    rows: Iterable[tuple[Asked, Prediction | None]],
) -> tuple[list[Asked], list[Prediction | None]]:
    asked: list[Asked] = []
    said: list[Prediction | None] = []
    for one, prediction in rows:
        if prediction is not None and prediction.question != one.question:
            raise ValueError(f"the prediction for {prediction.question} is not of question {one.question}")
        asked.append(one)
        said.append(prediction)
    return asked, said


def program_right(true: str, said: str) -> int:
    """How the program a model wrote compares with the true one, as `Records` keeps it."""
    return -2 if not true else -1 if not said else int(true == said)


def answer_text(answer: Answer) -> str:
    """Text letter by letter; only truth values and numbers are spelled."""
    return answer if isinstance(answer, str) else spell(answer)


def _floats(values: Iterable[float | None]) -> Floats:
    return np.array([np.nan if v is None else v for v in values], np.float64)
