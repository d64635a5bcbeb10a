"""VQA v2 and VQA-VS: questions, their ten answers each, and results; lists wrapped in an object or bare.

Questions and annotations are separate files that share `question_id`. `read` joins them and reports what has
no counterpart. Fields beyond the known ones are kept as notes (an annotation's as `annotation.FIELD`), so
that writing gives back what was read. Images go by COCO's numbers, as the scenes of `coco` and `yolo` do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from sys import intern
from typing import Any, TypeVar

from ..answer import Answer, read_answer
from ..errors import UserError
from ..question import Notes, Provenance, Question
from ..result import Prediction
from . import _json

SOURCE = "vqa"
QUESTION_FIELDS = ("image_id", "question", "question_id")
ANNOTATION_FIELDS = (
    *("question_id", "image_id", "question_type", "answer_type"),
    *("multiple_choice_answer", "answers"),
)
_KNOWN_QUESTION = frozenset(QUESTION_FIELDS)
_KNOWN_ANNOTATION = frozenset(ANNOTATION_FIELDS)
_SURENESS = ("answer_type", "answer_confidence")  # notes that come from annotations
_Record = TypeVar("_Record")


@dataclass(frozen=True, slots=True)
class Annotation:
    """What annotators answered to one question."""

    question: str
    image: str
    answer: Answer | None  # the one most of them gave
    answers: tuple[str, ...]
    kind: str  # the words the question begins with: "how many", "is the", …
    notes: Notes = ()


@dataclass(frozen=True, slots=True)
class Joined:
    """Questions with their annotations, and the ids on either side that have no counterpart."""

    questions: tuple[Question, ...]
    without_annotation: tuple[str, ...] = ()
    without_question: tuple[str, ...] = ()


def sniff_questions(data: Any) -> bool:
    """Whether this JSON value holds VQA questions, wrapped or as a bare list."""
    return _first(data, "questions").keys() >= _KNOWN_QUESTION


def sniff_annotations(data: Any) -> bool:
    """Whether this JSON value holds VQA annotations, wrapped or as a bare list."""
    return _first(data, "annotations").keys() >= {"question_id", "answers"}


def sniff_results(data: Any) -> bool:
    """Whether this JSON value is a list of results: question_id and answer."""
    return isinstance(data, list) and _first(data, "").keys() >= {"question_id", "answer"}


def _first(data: Any, key: str) -> dict[str, Any]:
    found = data.get(key) if isinstance(data, dict) else data
    return found[0] if isinstance(found, list) and found and isinstance(found[0], dict) else {}


def read(questions: Path, annotations: Path | None = None) -> Joined:
    """The questions of one file with the annotations of another; what lacks a counterpart is reported."""
    if annotations is None:
        return Joined(tuple(read_questions(questions)))
    known = {a.question: a for a in read_annotations(annotations)}
    made: list[Question] = []
    alone: list[str] = []
    for question in read_questions(questions):
        annotation = known.pop(question.id, None)
        if annotation is None:
            alone.append(question.id)
            made.append(question)
            continue
        if annotation.image not in ("", question.scenes[0]):
            raise UserError(
                f"{annotations}: question {question.id} is annotated for image {annotation.image} "
                f"but asks about image {question.scenes[0]}"
            )
        made.append(annotated(question, annotation))
    return Joined(tuple(made), tuple(alone), tuple(known))


def annotated(question: Question, annotation: Annotation) -> Question:
    """The question with what annotators answered."""
    q = question  # spelled out, as `replace` takes longer than all the rest of the join
    return Question(
        *(q.id, q.text, q.scenes, q.program, annotation.answer, annotation.answers, annotation.kind),
        *(q.action, q.provenance, q.notes + annotation.notes),
    )


def read_questions(path: Path) -> Iterator[Question]:
    """The questions of a file, one at a time, without their answers."""
    return _records(path, "questions", question_from, lambda q: q.id)


def read_annotations(path: Path) -> Iterator[Annotation]:
    """The annotations of a file, one at a time."""
    return _records(path, "annotations", annotation_from, lambda a: a.question)


def read_results(path: Path) -> Iterator[Prediction]:
    """A model's answers: `[{"question_id", "answer"}]`."""
    return _records(path, "results", _result_from, lambda p: p.question)


def header(path: Path) -> dict[str, Any] | None:
    """What the file says besides its list (info, license, …); None for a bare list."""
    data = _json.read_bytes(path)
    if data[:64].lstrip()[:1] == b"[":
        return None
    return {k: v for k, v in _json.entries(data, path) if k not in ("questions", "annotations")}


def _records(
    path: Path, key: str, make: Callable[[Any], _Record], name: Callable[[_Record], str]
) -> Iterator[_Record]:
    data = _json.read_bytes(path)
    start = data[:64].lstrip()[:1]
    if start not in (b"{", b"["):
        _json.decode(data, path)
        raise UserError(f"{path}: expected an object or a list at top level")
    what = key[:-1]
    seen: set[str] = set()
    for at, raw in enumerate(_json.elements(data, key if start == b"{" else None, path)):
        try:
            record = make(raw)
        except UserError as error:
            raise UserError(f"{path}: {what} {at}: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UserError(f"{path}: {what} {at} is malformed: {_complaint(raw, error)}") from None
        one = name(record)
        if one in seen:
            raise UserError(f"{path}: question {one} appears twice")
        seen.add(one)
        yield record
    if not seen:
        raise UserError(f"{path}: there are no {key} in it")


def question_from(raw: dict[str, Any]) -> Question:
    """A question record from one entry of a questions file."""
    text = raw["question"]
    if not isinstance(text, str):
        raise UserError(f"its question must be text, not {text!r}")
    question, image = raw["question_id"], raw["image_id"]
    notes: Notes = ()
    if not raw.keys() <= _KNOWN_QUESTION:
        notes = tuple([(k, v) for k, v in raw.items() if k not in _KNOWN_QUESTION])
    if type(question) is not int or type(image) is not int:
        notes += _spelled("question_id", question) + _spelled("image_id", image)
    return Question(
        id=str(question),
        text=text,
        scenes=(str(image),),
        provenance=_provenance(str(raw.get("split", ""))),
        notes=notes,
    )


@cache
def _provenance(split: str) -> Provenance:
    return Provenance(SOURCE, split)


def annotation_from(raw: dict[str, Any]) -> Annotation:
    """An annotation record from one entry of an annotations file."""
    question, image = raw["question_id"], raw.get("image_id", "")
    if type(question) is not int:
        _spelled("question_id", question)
    answers, notes = _answers_from(raw.get("answers", []))
    if "answer_type" in raw:
        notes = (("answer_type", intern(raw["answer_type"])), *notes)
    if not raw.keys() <= _KNOWN_ANNOTATION:
        notes += tuple([(f"annotation.{k}", v) for k, v in raw.items() if k not in _KNOWN_ANNOTATION])
    return Annotation(
        question=str(question),
        image=str(image),
        answer=read_answer(raw.get("multiple_choice_answer")),
        answers=answers,
        kind=intern(raw.get("question_type", "")),
        notes=notes,
    )


def _answers_from(listed: list[dict[str, Any]]) -> tuple[tuple[str, ...], Notes]:
    """Every annotator's answer; how sure each was is one note, as words in the same order."""
    answers = tuple([intern(a["answer"]) for a in listed])
    try:
        sure = " ".join([a["answer_confidence"] for a in listed])
        numbers = [a["answer_id"] for a in listed]
    except (KeyError, TypeError):
        return answers, (("annotation.answers", listed),)
    usual = numbers == list(range(1, len(numbers) + 1)) and [len(a) for a in listed] == [3] * len(numbers)
    if usual and len(sure.split()) == len(numbers):
        return answers, (("answer_confidence", intern(sure)),)
    return answers, (("annotation.answers", listed),)


def _answers_to(answers: tuple[str, ...], sure: list[str]) -> list[dict[str, Any]]:
    if len(sure) != len(answers):
        return [{"answer": a, "answer_id": k} for k, a in enumerate(answers, 1)]
    return [
        {"answer": a, "answer_confidence": c, "answer_id": k}
        for k, (a, c) in enumerate(zip(answers, sure, strict=True), 1)
    ]


def _result_from(raw: dict[str, Any]) -> Prediction:
    _spelled("question_id", raw["question_id"])
    answer = read_answer(raw["answer"])
    if answer is None:
        raise UserError("it has no answer")
    return Prediction(str(raw["question_id"]), answer, raw=str(answer))


def _spelled(field: str, value: Any) -> Notes:
    """Nothing for a number, a note for an id that the file writes as text; anything else is refused."""
    if type(value) is int:
        return ()
    if not isinstance(value, str) or not value:
        raise UserError(f"its {field} must be a number or text, not {value!r}")
    return ((field, value),)


def write_questions(path: Path, questions: Iterable[Question], header: dict[str, Any] | None = None) -> None:
    """A questions file: with a header (which may be empty) wrapped in an object, without a bare list."""
    rows = [question_to(q) for q in questions]
    _json.write(path, rows if header is None else header | {"questions": rows})


def write_annotations(
    path: Path, questions: Iterable[Question], header: dict[str, Any] | None = None
) -> None:
    """An annotations file of the questions that are answered; wrapped or bare as in `write_questions`."""
    rows = [annotation_to(q) for q in questions if q.answer is not None or q.answers]
    _json.write(path, rows if header is None else header | {"annotations": rows})


def write_results(path: Path, predictions: Iterable[Prediction]) -> None:
    """The answered predictions as a list of results."""
    rows = [
        {"question_id": _number(p.question), "answer": p.answer} for p in predictions if p.answer is not None
    ]
    _json.write(path, rows)


def question_to(question: Question) -> dict[str, Any]:
    """One entry of a questions file."""
    extra = {k: v for k, v in question.notes if k not in _SURENESS and not k.startswith("annotation.")}
    return {**_ids(question), "question": question.text, **extra}


def annotation_to(question: Question) -> dict[str, Any]:
    """One entry of an annotations file."""
    notes = dict(question.notes)
    data = _ids(question)
    if question.kind:
        data["question_type"] = question.kind
    if "answer_type" in notes:
        data["answer_type"] = notes["answer_type"]
    if question.answer is not None:
        data["multiple_choice_answer"] = question.answer
    if question.answers:
        data["answers"] = _answers_to(question.answers, notes.get("answer_confidence", "").split())
    return data | {k.removeprefix("annotation."): v for k, v in notes.items() if k.startswith("annotation.")}


def _ids(question: Question) -> dict[str, Any]:
    notes = dict(question.notes)
    return {
        "question_id": notes.get("question_id", _number(question.id)),
        "image_id": notes.get("image_id", _number(question.scenes[0])),
    }


def _number(name: str) -> int | str:
    return int(name) if name.isascii() and name.removeprefix("-").isdigit() else name


def _complaint(raw: Any, error: Exception) -> str:
    if not isinstance(raw, dict):
        return f"expected an object, came {type(raw).__name__}"
    return f"there is no {error} in it" if isinstance(error, KeyError) else str(error)
