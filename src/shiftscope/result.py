"""Results: a question's record, a model's prediction, scores, and a whole run in columns."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .answer import Answer, spell
from .columns import Column, ListColumn, ValueCoder, column_of, lists_of
from .errors import UserError, unknown
from .lang.op import all_ops
from .lang.program import Program, split_action
from .lang.text import format_program, parse_program
from .question import Question
from .scene import Scene
from .token_usage import CallUsage, TokenUse

STATUSES = ("answered", "undefined", "unreadable", "failed")
MISSING = "missing"  # the status of a row without a prediction
TRUNCATED = "cut at max_tokens"  # the reason of a response that was longer than it might be
CONDITIONS = ("as_is", "blind", "other_image", "scene_text", "program_text", "true_outcome")
AS_IS, BLIND = CONDITIONS[:2]
TRUE_OUTCOME = CONDITIONS[-1]  # only of questions about what an action leads to
IMAGE_CONDITIONS = ("as_is", "other_image", "program_text", TRUE_OUTCOME)  # those that show a picture
CONDITIONS_PART_FIELD = "conditions_part"  # of a run's spec: the questions that are asked under conditions but as_is
MISSING_IMAGE = "missing_image"  # not chosen: run without the image, because it is missing
PART_OPS = ("parts", "owners")
LOCAL_GROUP = "local_group"  # of a question of GQA
OPTIONS, CORRECT_OPTION = "options", "correct_option"  # of a multiple choice: all in order, the letter of the true one
# notes of a question that are worth a column
NOTE_FACTS = ("answer_type", "factor", "level", "variant", "logic", "before", "wording", "action_wording")

Fact = str | int | float | bool
Facts = tuple[tuple[str, Fact], ...]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Prediction:
    """One response, parsed. `status` tells a wrong answer from an undefined, unparseable or failed one."""

    question: str
    answer: Answer | None = None
    raw: str = ""  # the response as the model gave it
    status: str = "answered"
    reason: str = ""  # why there is no answer, or what went wrong on the way to it: "none found", …
    seconds: float | None = None
    cost: float | None = None  # in the currency of the run's spec
    tokens: int | None = None
    confidence: float | None = None  # the probability the model gave its answer
    condition: str = AS_IS
    trace: str = ""
    program: str = ""  # the program the model wrote, spelled by `program_text`
    stored: float | None = None  # seconds since 1970 when the cache stored the response; None for a fresh one
    fingerprint: str = ""  # the system_fingerprint of the server
    judged: str = ""  # what a judge reads in the response; nothing where it was not asked
    read_by: str = ""  # "judge" where the answer is the judge's; else the rules read it, or the model gave it
    usage: tuple[CallUsage, ...] = ()  # what was called for it
    phrasing: int = 0  # of one of several replies: which instruction it was given
    replies: tuple["Prediction", ...] = ()  # where it was asked several times: each, by phrasing and sample

    def __post_init__(self) -> None:
        if self.status not in (*STATUSES, MISSING):
            raise ValueError(f"status {self.status!r} is not one of {', '.join((*STATUSES, MISSING))}")
        if (self.answer is None) == (self.status == "answered"):
            raise ValueError(f"status {self.status!r} does not go with answer {self.answer!r}")
        if self.confidence is not None and not 0 <= self.confidence <= 1:
            raise ValueError(f"confidence {self.confidence!r} is not a probability")


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    """What scoring needs to know of a question, so that a run can be scored without its dataset."""

    question: str
    scenes: tuple[str, ...] = ()
    truth: Answer | None = None
    answers: tuple[str, ...] = ()  # every annotator's, where there were several
    facts: Facts = ()  # what to slice by: kind, template, family, length, objects, split, factor levels
    twin: str = ""  # the id of the example this one is a variant of
    program: str = ""  # the true program, spelled by `program_text`
    content: str = ""  # the same for the same question about the same images, whatever ids they go by


def _get_local_group(question: Question) -> str | None:
    """What GQA groups it by for the balance of its answers; None for other questions."""
    groups = question.note("groups")
    local = groups.get("local") if isinstance(groups, dict) else None
    return local if isinstance(local, str) else None


def build_question_record(
    question: Question, scenes: Sequence[Scene] = (), twin: str | None = None, facts: Facts = (), content: str = ""
) -> QuestionRecord:
    """What scoring needs of a question; the scenes tell how many objects there are.

    `length` is in words, `steps` in operations of the program. What `facts` names wins over what is derived.
    """
    origin = question.provenance
    about = "objects" if any(s.schema.part_attributes for s in scenes) else None  # nothing where there are no parts
    if question.program is not None and any(node.op in PART_OPS for node in question.program.nodes):
        about = "parts"
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
        "about": about,
        **{name: question.note(name) for name in NOTE_FACTS},
        LOCAL_GROUP: _get_local_group(question),
        **dict(facts),
    }
    return QuestionRecord(
        question=question.id,
        scenes=question.scenes,
        truth=question.answer,
        answers=question.answers,
        facts=tuple((name, value) for name, value in known.items() if value not in (None, "")),
        twin=str(question.note("twin", "")) if twin is None else twin,
        program=program_text(question.program) if question.program else "",
        content=content,
    )


def program_text(program: Program) -> str:
    """One spelling per program, so that equal programs are equal texts."""
    return format_program(program.canonicalize())


@dataclass(frozen=True, slots=True)
class Score:
    """A metric's value with what it rests on: how many examples, and an interval. Shares are 0 to 1.

    `n` counts every example of the run whose answer is known. Those counted apart are
    in it, and not right.
    """

    metric: str
    value: float | None  # None: nothing to score
    n: int
    low: float | None = None
    high: float | None = None
    missing: int = 0  # without a response: not run yet, or not in the file of predictions
    slice: Facts = ()  # which part of the examples; all of them when empty
    undefined: int = 0  # the response is that there is no answer
    unreadable: int = 0  # the response is unparseable
    failed: int = 0  # the call to the model failed
    truncated: int = 0  # the response was cut at max_tokens, and is not right
    form: str = ""  # of a metric that has several: "official" VQA accuracy
    scenes: int | None = None  # that the interval rests on; None where that is not what it rests on

    @property
    def response_rate(self) -> float | None:
        """The share of the examples that have a response, right or not."""
        return None if not self.n else 1 - (self.missing + self.failed) / self.n

    @property
    def complete(self) -> bool:
        """Whether every example has a response; an incomplete run is not ranked."""
        return not self.missing and not self.failed


@dataclass(frozen=True, slots=True, eq=False)
class ReplyColumns:
    """One of several replies to each question, coded as the columns of the same names of its RunRecords."""

    phrasing: int
    answer: Column
    literal: Column
    status: Column
    reason: Column

    def take(self, rows: npt.NDArray[Any]) -> "ReplyColumns":
        return ReplyColumns(self.phrasing, *(getattr(self, name).take(rows) for name in REPLY_FIELDS))


REPLY_FIELDS = ("answer", "literal", "status", "reason")


@dataclass(frozen=True, slots=True, eq=False)
class RunRecords:
    """A whole run in columns, one row per question and condition; metrics are functions of this.

    `truth` and `answer` share one vocabulary of spelled answers, so being right is equality of codes; `literal`
    and `answers` share one of answers letter by letter, for metrics that normalise in their own way. A row
    without a question is one that the run lacks; nothing else is known of it.
    """

    question: Column
    content: Column  # content id of question and images; nothing where the run does not store it
    condition: Column
    images: ListColumn  # of the question, at least one: a question without any stands for one
    truth: Column
    answer: Column
    literal: Column
    status: Column  # one of STATUSES, or MISSING
    reason: Column
    twin: Column  # -1: the example is not a variant of another
    answers: ListColumn  # every annotator's answer
    program_right: npt.NDArray[np.int8]  # 1 the true one, 0 another, -1 none written, -2 not known
    action_right: npt.NDArray[np.int8]  # the same of the action's part of it; -2 also where there is no action
    seconds: Floats  # not a number where not known
    cost: Floats
    confidence: Floats
    facts: tuple[tuple[str, Column], ...] = ()
    data: str = ""  # the content of the dataset, where it is known: within it an id is one question
    replies: tuple[ReplyColumns, ...] = ()  # of a run that asks each question several times; `answer` is their vote

    def __len__(self) -> int:
        return len(self.question)

    @property
    def cluster(self) -> Column:
        """The first image of each row."""
        return Column(self.images.values, self.images.codes[self.images.at[:-1]])

    @property
    def has_annotators(self) -> Bools:
        """Which rows several people answered, so that agreement with them decides."""
        return np.greater(self.answers.lengths, 0)

    @property
    def scorable(self) -> Bools:
        """Which rows have a known answer; one that is not there has, where any other does."""
        known = (self.truth.codes >= 0) | self.has_annotators
        return known | ((self.question.codes < 0) & bool(known.any()))

    @property
    def right(self) -> Bools:
        """Which rows have an answer that is the true one."""
        return np.equal(self.answer.codes, self.truth.codes) & (self.answer.codes >= 0)

    @property
    def truncated(self) -> Bools:
        """Which rows have a response that was cut at max_tokens, and is not right."""
        return self.reason.equals(TRUNCATED) & ~self.right

    def select_reply(self, k: int) -> "RunRecords":
        """The records with the answers of one of the replies instead of their vote."""
        columns = {name: getattr(self.replies[k], name) for name in REPLY_FIELDS}
        return replace(self, **columns, replies=())

    def column(self, name: str) -> Column:
        """A fact by its name, or one of the columns every run has."""
        known: dict[str, Column] = {n: getattr(self, n) for n in ("condition", "status", "truth", "reason")}
        known |= dict(self.facts)
        if name not in known:
            raise unknown("column", name, known, "the run")
        return known[name]

    def take(self, rows: npt.NDArray[Any]) -> "RunRecords":
        """The rows given by a mask or by their numbers, in that order."""
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        return RunRecords(
            **{f.name: getattr(self, f.name).take(rows) for f in fields(self) if f.name not in _NO_COLUMNS},
            facts=tuple((name, column.take(rows)) for name, column in self.facts),
            data=self.data,
            replies=tuple(reply.take(rows) for reply in self.replies),
        )

    def filter_condition(self, condition: str) -> "RunRecords":
        """The rows of one condition."""
        return self.take(self.condition.equals(condition))


_NO_COLUMNS = ("facts", "data", "replies")


def add_missing_rows(records: RunRecords, conditions: Mapping[str, int]) -> RunRecords:
    """With a missing row for each question that the run lacks: condition → how many."""
    lacking, size = sum(conditions.values()), len(records)
    if not lacking or not size:
        return records
    new = np.arange(size + lacking) >= size
    made = records.take(np.where(new, 0, np.arange(size + lacking)))
    nothing: dict[str, Any] = {
        name: _clear_rows(getattr(made, name), new)
        for name in ("question", "content", "truth", "answer", "literal", "reason", "twin")
    }
    nothing |= {name: np.where(new, np.nan, getattr(made, name)) for name in ("seconds", "cost", "confidence")}
    return replace(
        made,
        **nothing,
        condition=_fill_rows(made.condition, new, [c for c, n in conditions.items() for _ in range(n)]),
        status=_fill_rows(made.status, new, [MISSING] * lacking),
        images=_assign_own_images(made.images, new),
        answers=ListColumn(
            made.answers.values,
            made.answers.codes[~new[made.answers.rows]],
            np.concatenate([[0], np.cumsum(np.where(new, 0, made.answers.lengths))]).astype(np.int64),
        ),
        program_right=np.where(new, -2, made.program_right).astype(np.int8),
        action_right=np.where(new, -2, made.action_right).astype(np.int8),
        facts=tuple((name, _clear_rows(column, new)) for name, column in made.facts),
        replies=tuple(
            ReplyColumns(
                reply.phrasing,
                _clear_rows(reply.answer, new),
                _clear_rows(reply.literal, new),
                _fill_rows(reply.status, new, [MISSING] * lacking),
                _clear_rows(reply.reason, new),
            )
            for reply in made.replies
        ),
    )


def _clear_rows(column: Column, where: Bools) -> Column:
    return Column(column.values, np.where(where, -1, column.codes).astype(np.int32))


def _fill_rows(column: Column, where: Bools, values: Sequence[Any]) -> Column:
    listed = column.to_list()
    for row, value in zip(np.flatnonzero(where).tolist(), values, strict=True):
        listed[row] = value
    return column_of(listed)


def _assign_own_images(images: ListColumn, where: Bools) -> ListColumn:
    """One image of its own for each of these rows: which it was about is not known."""
    lengths = np.where(where, 1, images.lengths)
    own = np.repeat(where, lengths)
    lacking = int(where.sum())
    codes = np.empty(len(own), np.int32)
    codes[~own] = images.codes[~where[images.rows]]
    codes[own] = len(images.values) + np.arange(lacking)
    values = (*images.values, *(f"lacking {k}" for k in range(lacking)))
    return ListColumn(values, codes, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


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
    """How many responses of a run came from the cache, and when the oldest of these was stored."""

    replies: int
    oldest: float | None = None  # seconds since 1970

    def to_json(self) -> dict[str, Any]:
        day = None if self.oldest is None else datetime.fromtimestamp(self.oldest, UTC)
        return {"replies": self.replies, "oldest": day and day.isoformat(timespec="seconds")}


@dataclass(frozen=True, slots=True)
class JudgeUse:
    """What a judge model did in a run: replies that the rules could not read, and a sample of those that they could."""

    model: str
    unread: int  # replies that the rules could not read, shown to the judge
    read: int  # of these, how many it read
    sampled: int
    agreed: int  # of these, how many it reads as the rules do

    def __str__(self) -> str:
        share = f" ({100 * self.agreed / self.sampled:.1f}%)" if self.sampled else ""
        return (
            f"{self.model} read {self.read:,} of {self.unread:,} replies that the rules could not read, and reads "
            f"{self.agreed:,} of a sample of {self.sampled:,} as the rules do{share}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class RunLog:
    """A run: its spec and every row; scores are computed from this, without the model."""

    spec: tuple[tuple[str, Any], ...]
    records: RunRecords
    questions: int | None = None  # how many the run covers under AS_IS, where that is known
    finished: bool = True
    population: int | None = None  # how many the split has; more than `questions` where a sample was declared
    lineage: Lineage | None = None
    missing_images: int = 0  # further questions whose images are missing: run under MISSING_IMAGE
    cache: CacheUse | None = None  # of an endpoint's run, unless an older version made it
    judge: JudgeUse | None = None
    usage: TokenUse | None = None  # of the model's calls; None where the run does not say
    judge_usage: TokenUse | None = None
    images_sent: Mapping[str, Any] | None = None  # encoding, smallest and largest size that a prompted model was sent

    def count_expected(self, condition: str) -> int | None:
        """How many questions the run covers under a condition, where that is known."""
        if condition == MISSING_IMAGE or self.questions is None:
            return self.missing_images if condition == MISSING_IMAGE else None
        part = dict(self.spec).get(CONDITIONS_PART_FIELD)
        if condition != AS_IS and isinstance(part, Mapping):
            return int(part["questions"])
        return self.questions + (0 if condition in IMAGE_CONDITIONS else self.missing_images)


def records_of(rows: Iterable[tuple[QuestionRecord, Prediction | None]]) -> RunRecords:
    """The columns of rows; a question without a prediction is a missing row, under the first condition."""
    pairs = list(rows)
    for one, prediction in pairs:
        if prediction is not None and prediction.question != one.question:
            raise ValueError(f"the prediction for {prediction.question} is not of question {one.question}")
    questions, predictions = [q for q, _ in pairs], [p for _, p in pairs]
    given = [None if p is None else p.answer for p in predictions]
    words, letters = ValueCoder(), ValueCoder()
    truth = words.codes(None if q.truth is None else spell(q.truth) for q in questions)
    answer = words.codes(None if one is None else spell(one) for one in given)
    literal = letters.codes(one if one is None or isinstance(one, str) else spell(one) for one in given)
    answers = letters.codes(one for q in questions for one in q.answers)
    lengths = [len(q.answers) for q in questions]
    facts = [dict(q.facts) for q in questions]
    names = sorted({name for fact in facts for name in fact})
    return RunRecords(
        question=column_of(q.question for q in questions),
        content=column_of(q.content or None for q in questions),
        condition=column_of(AS_IS if p is None else p.condition for p in predictions),
        images=lists_of(q.scenes or (f"question {q.question}",) for q in questions),
        truth=words.column(truth),
        answer=words.column(answer),
        literal=letters.column(literal),
        status=column_of(MISSING if p is None else p.status for p in predictions),
        reason=column_of(None if p is None or not p.reason else p.reason for p in predictions),
        twin=column_of(q.twin or None for q in questions),
        answers=ListColumn(letters.column(answers).values, answers, np.cumsum([0, *lengths], dtype=np.int64)),
        program_right=np.array([compare_programs(q.program, p.program if p else "") for q, p in pairs], np.int8),
        action_right=np.array([compare_actions(q.program, p.program if p else "") for q, p in pairs], np.int8),
        seconds=_floats(None if p is None else p.seconds for p in predictions),
        cost=_floats(None if p is None else p.cost for p in predictions),
        confidence=_floats(None if p is None else p.confidence for p in predictions),
        facts=tuple((name, column_of(fact.get(name) for fact in facts)) for name in names),
    )


def compare_programs(true: str, predicted: str) -> int:
    """How the program a model wrote compares with the true one, as `RunRecords` keeps it."""
    return -2 if not true else -1 if not predicted else int(true == predicted)


@cache
def build_action_pattern() -> str:
    """The regular expression that finds an action in the text of a program."""
    return rf"\b(?:{'|'.join(name for name, op in all_ops().items() if op.edits)})\("


@lru_cache(maxsize=200_000)
def compare_actions(true: str, predicted: str) -> int:
    """The same of the actions of hypothetical programs; a text that is no program is another one."""
    if not re.search(build_action_pattern(), true):
        return -2
    if not predicted:
        return -1
    expected, found = _read_action(true), _read_action(predicted)
    return int(found is not None and found == expected)


@lru_cache(maxsize=100_000)
def _read_action(text: str) -> Program | None:
    try:
        action = split_action(parse_program(text))[0]
    except UserError:
        return None
    return None if action is None else action.canonicalize()


def _floats(values: Iterable[float | None]) -> Floats:
    return np.array([np.nan if v is None else v for v in values], np.float64)
