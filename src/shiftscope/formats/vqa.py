"""VQA v2 and VQA-VS: questions, and their ten answers each; lists wrapped in an object or bare.

As records: questions and annotations are separate files that share `question_id`. `read_joined` joins them
and reports what has no counterpart. Fields beyond the known ones are kept as notes (an annotation's as
`annotation.FIELD`), so that writing gives back what was read. Images go by COCO's numbers, as the scenes of
`coco` and `yolo` do.

As columns (`read_question_table`): only the fields that an audit looks at. What is not usable in a row becomes
None, and the row is noted as odd.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from sys import intern
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .. import json_files as _json
from ..answer import Answer, read_answer, spell
from ..errors import UserError
from ..files import read_bytes
from ..question import Notes, Provenance, Question
from ..question_join import build_question_table, find_missing, is_other_id, pair_rows, take_values
from ..question_table import Id, QuestionTable, RowOrigin, Rows

RELEASE = ("VQA", "cc-by-4.0")
SOURCE = "vqa"
ANSWERS_APART = True  # in annotation files of their own
OTHER_TYPE = "none of the above"
# The fields of usual rows, which every reader of VQA files takes as they are; further ones are kept as notes.
QUESTION_FIELDS: _json.FieldTable = {"image_id": int | str, "question": str, "question_id": int | str}
ANNOTATION_FIELDS: _json.FieldTable = {
    "question_id": int | str,
    "image_id": int | str,
    "question_type": str,
    "answer_type": (str, ""),
    "multiple_choice_answer": str,
    "answers": [{"answer": str}],
}
_QUESTION_KEYS = frozenset(QUESTION_FIELDS)
_ANNOTATION_KEYS = frozenset(ANNOTATION_FIELDS)
_ANNOTATION_NOTES = ("answer_type", "answer_confidence")  # notes that come from annotations
_Record = TypeVar("_Record")


@dataclass(frozen=True, slots=True)
class VqaAnnotation:
    question: str
    image: str
    answer: Answer | None  # the one most of them gave
    answers: tuple[str, ...]
    kind: str  # the words the question begins with: "how many", "is the", …
    notes: Notes = ()


@dataclass(frozen=True, slots=True)
class JoinedQuestions:
    """Questions with their annotations, and the ids on either side that have no counterpart."""

    questions: tuple[Question, ...]
    without_annotation: tuple[str, ...] = ()
    without_question: tuple[str, ...] = ()


def sniff_questions(file: _json.InputFile) -> bool:
    return file.first_row("questions").keys() >= _QUESTION_KEYS


def sniff_annotations(file: _json.InputFile) -> bool:
    return file.first_row("annotations").keys() >= {"question_id", "answers"}


def read_joined(questions: Path, annotations: Path | None = None) -> JoinedQuestions:
    """The questions of one file with the annotations of another; what lacks a counterpart is reported."""
    if annotations is None:
        return JoinedQuestions(tuple(read_questions(questions)))
    known = {a.question: a for a in read_annotations(annotations)}
    joined: list[Question] = []
    alone: list[str] = []
    for q in read_questions(questions):
        annotation = known.pop(q.id, None)
        if annotation is None:
            alone.append(q.id)
            joined.append(q)
            continue
        if annotation.image not in ("", q.scenes[0]):
            where = f"{annotations}: question {q.id} is annotated for image {annotation.image}"
            raise UserError(f"{where} but asks about image {q.scenes[0]}")
        answer, notes = (annotation.answer, annotation.answers, annotation.kind), q.notes + annotation.notes
        # Spelled out, as `replace` takes longer than all the rest of the join.
        joined.append(Question(q.id, q.text, q.scenes, q.program, *answer, q.action, q.provenance, notes))
    return JoinedQuestions(tuple(joined), tuple(alone), tuple(known))


def read_questions(path: Path) -> Iterator[Question]:
    """The questions of a file, one at a time, without their answers."""
    return _read_records(path, "questions", parse_question)


def read_annotations(path: Path) -> Iterator[VqaAnnotation]:
    return _read_records(path, "annotations", parse_annotation, "question")


def read_header(path: Path) -> dict[str, Any] | None:
    """What the file says besides its list (info, license, …); None for a bare list."""
    data = read_bytes(path)
    if _json.first_byte(data) == b"[":
        return None
    return {k: v for k, v in _json.iterate_entries(data, path) if k not in ("questions", "annotations")}


def _read_records(path: Path, key: str, parse: Callable[[Any], _Record], id_field: str = "id") -> Iterator[_Record]:
    elements = _json.iterate_elements(read_bytes(path), key, path)
    rows = ((f"{key[:-1]} {at}", (raw,)) for at, raw in enumerate(elements))
    return _json.parse_records(rows, parse, path, key, id_field)


def parse_question(raw: dict[str, Any]) -> Question:
    _check_object(raw)
    text = raw["question"]
    if not isinstance(text, str):
        raise UserError(f"its question must be text, not {text!r}")
    question, image = raw["question_id"], raw["image_id"]
    notes: Notes = ()
    if not raw.keys() <= _QUESTION_KEYS:
        notes = tuple([(k, v) for k, v in raw.items() if k not in _QUESTION_KEYS])
    if type(question) is not int or type(image) is not int:
        notes += _note_text_id("question_id", question) + _note_text_id("image_id", image)
    provenance = _build_provenance(SOURCE, str(raw.get("split", "")))
    return Question(id=str(question), text=text, scenes=(str(image),), provenance=provenance, notes=notes)


_build_provenance = cache(Provenance)


def _check_object(raw: Any) -> None:
    if not isinstance(raw, dict):
        raise TypeError(f"expected an object, got {type(raw).__name__}")


def parse_annotation(raw: dict[str, Any]) -> VqaAnnotation:
    _check_object(raw)
    question, image = raw["question_id"], raw.get("image_id", "")
    if type(question) is not int:
        _note_text_id("question_id", question)
    listed = raw.get("answers", [])
    answers = tuple([intern(a["answer"]) for a in listed])
    notes: Notes = (_note_confidence(listed),)
    if "answer_type" in raw:
        notes = (("answer_type", intern(raw["answer_type"])), *notes)
    if not raw.keys() <= _ANNOTATION_KEYS:
        notes += tuple([(f"annotation.{k}", v) for k, v in raw.items() if k not in _ANNOTATION_KEYS])
    answer, kind = read_answer(raw.get("multiple_choice_answer")), intern(raw.get("question_type", ""))
    return VqaAnnotation(str(question), str(image), answer, answers, kind, notes)


def _note_confidence(listed: list[dict[str, Any]]) -> tuple[str, Any]:
    """How sure each annotator was, as words in their order; the whole list where it is not the usual one."""
    try:
        sure = " ".join([a["answer_confidence"] for a in listed])
        numbers = [a["answer_id"] for a in listed]
    except (KeyError, TypeError):
        return "annotation.answers", listed
    usual = numbers == list(range(1, len(numbers) + 1)) and [len(a) for a in listed] == [3] * len(numbers)
    if usual and len(sure.split()) == len(numbers):
        return "answer_confidence", intern(sure)
    return "annotation.answers", listed


def _note_text_id(field: str, value: Any) -> Notes:
    """Nothing for a number, a note for an id that the file writes as text; anything else is refused."""
    if type(value) is int:
        return ()
    if not isinstance(value, str) or not value:
        raise UserError(f"its {field} must be a number or text, not {value!r}")
    return ((field, value),)


def write_questions(path: Path, questions: Iterable[Question], header: dict[str, Any] | None = None) -> None:
    """A questions file: with a header (which may be empty) wrapped in an object, without a bare list."""
    rows = [format_question(q) for q in questions]
    _json.write_json(path, rows if header is None else header | {"questions": rows})


def write_annotations(path: Path, questions: Iterable[Question], header: dict[str, Any] | None = None) -> None:
    """An annotations file of the questions that are answered; wrapped or bare as in `write_questions`."""
    rows = [format_annotation(q) for q in questions if q.answer is not None or q.answers]
    _json.write_json(path, rows if header is None else header | {"annotations": rows})


def format_question(question: Question) -> dict[str, Any]:
    extra = {k: v for k, v in question.notes if k not in _ANNOTATION_NOTES and not k.startswith("annotation.")}
    return {**_format_ids(question), "question": question.text, **extra}


def format_annotation(question: Question) -> dict[str, Any]:
    notes = dict(question.notes)
    data = _format_ids(question)
    if question.kind:
        data["question_type"] = question.kind
    if "answer_type" in notes:
        data["answer_type"] = notes["answer_type"]
    if question.answer is not None:
        data["multiple_choice_answer"] = question.answer
    if question.answers:
        sure = notes.get("answer_confidence", "").split()
        sure = sure if len(sure) == len(question.answers) else [""] * len(question.answers)
        stated = ({"answer_confidence": confidence} if confidence else {} for confidence in sure)
        pairs = zip(question.answers, stated, strict=True)
        data["answers"] = [{"answer": a, **confidence, "answer_id": k} for k, (a, confidence) in enumerate(pairs, 1)]
    return data | {k.removeprefix("annotation."): v for k, v in notes.items() if k.startswith("annotation.")}


def _format_ids(question: Question) -> dict[str, Any]:
    names = {"question_id": question.id, "image_id": question.scenes[0]}
    numbered = {k: int(v) if v.isascii() and v.removeprefix("-").isdigit() else v for k, v in names.items()}
    return numbered | {k: v for k, v in question.notes if k in names}


# As columns.


@cache
def question_types() -> tuple[str, ...]:
    """The 65 question types of VQA v2, the last for all other questions."""
    return (*(files(__package__) / "vqa_question_types.txt").read_text("utf-8").splitlines(), OTHER_TYPE)


def read_question_table(
    questions: Sequence[Path], annotations: Sequence[Path], splits: Sequence[str] = ()
) -> QuestionTable:
    """The samples of VQA v2, VQA-VS or VQA-CP files, wrapped or bare: all questions that have an answer.

    `splits` names the split of each questions file; else a row's own `split` counts, or the file's subset.
    """
    question_files = [_read_question_rows(path) for path in questions]
    annotation_files, voted_rows = zip(*map(_read_annotation_rows, annotations), strict=True)
    for one, split in zip(question_files, splits, strict=False):
        one.columns["split"][:] = [split] * len(one)
    ids, images, texts, named = _chain_columns(question_files, "question_id", "image_id", "question", "split")
    fields = ("question_id", "image_id", "multiple_choice_answer", "question_type")
    other_ids, other_images, answers, types = _chain_columns(annotation_files, *fields)
    pairs = pair_rows(ids, images, (texts,), other_ids, other_images, (answers, types))
    rows, at = pairs.questions, pairs.annotations
    unanswered: list[Id] = []
    if None in answers:
        known = np.array([answers[j] is not None for j in at.tolist()], bool)
        unanswered = take_values(ids, rows[~known])
        rows, at = rows[known], at[known]
    if not len(rows):
        raise UserError(f"{questions[0]}: no question in it has an answer in {annotations[0]}")
    question_ids, written, shown = take_values(ids, rows), take_values(images, rows), take_values(images, rows)
    annotated = take_values(other_images, at)
    if None in shown:
        shown = [t if s is None else s for s, t in zip(shown, annotated, strict=True)]
    elsewhere = _find_differences(shown, annotated)
    kinds = take_values(types, at)
    foreign = set(kinds) - {*question_types(), None}
    own_types = [k for k, kind in enumerate(kinds) if kind in foreign] if foreign else []
    voted = _find_rows(at, annotation_files, voted_rows)
    moved = [k for k in elsewhere if annotated[k] is not None]
    left_out = *pairs.questions_left, ("questions without an answer", "left out", unanswered), *pairs.annotations_left
    table = build_question_table(
        *(SOURCE, question_ids, shown, take_values(texts, rows), left_out),
        kept=(
            ("answers that no annotation names", "most annotators'", voted),
            ("questions annotated for another image", "kept with the question's image", moved),
        ),
        typed=(
            ("questions without a type", "typed by their first words", find_missing(kinds)),
            ("questions of a type that VQA has not", "kept with it", own_types),
        ),
        answers=take_values(answers, at),
        types=kinds,
        splits=take_values(named, rows),
    )
    repaired = {*voted, *_find_differences(list(table.ids), question_ids)}
    repaired.update(_find_differences(list(table.ids), take_values(other_ids, at)), _find_differences(shown, written))
    origin = RowOrigin(
        tuple(one.path for one in (*question_files, *annotation_files)),
        tuple(one.raw for one in (*question_files, *annotation_files)),
        _locate_rows(question_files, rows, 0),
        _locate_rows(annotation_files, at, len(question_files)),
        frozenset(repaired),
        frozenset(_find_rows(rows, question_files, [one.odd for one in question_files])),
        frozenset((*_find_rows(at, annotation_files, [one.odd for one in annotation_files]), *elsewhere)),
    )
    return replace(table, origin=origin)


def _read_question_rows(path: Path) -> _json.JsonRows:
    rows = _json.decode_rows(path, "questions", QUESTION_FIELDS | {"split": (str | None, None)}, "data_subtype")
    if not len(rows):
        raise UserError(f"{path}: there are no questions in it")
    ids = {"question_id": _get_id, "image_id": _get_id}
    rows.fill_odd({**ids, "question": _get_text, "split": _get_text}, blank=[*ids])
    subset = _get_text(rows.header)
    if subset or "" in rows.columns["split"]:
        rows.columns["split"][:] = [split or subset for split in rows.columns["split"]]
    return rows


def _read_annotation_rows(path: Path) -> tuple[_json.JsonRows, list[int]]:
    """The rows, and which of them name no answer: theirs is the annotators' most frequent one."""
    rows = _json.decode_rows(path, "annotations", ANNOTATION_FIELDS)
    if not len(rows):
        raise UserError(f"{path}: there are no annotations in it")
    needed = {"question_id": _get_id, "image_id": _get_id, "multiple_choice_answer": _get_answer}
    rows.fill_odd({**needed, "question_type": _get_text}, blank=[*needed])
    if "" in rows.columns["question_type"]:
        rows.columns["question_type"][:] = [kind or None for kind in rows.columns["question_type"]]
    answers, voted = rows.columns["multiple_choice_answer"], []
    for at, row in rows.odd.items():
        if answers[at] is None and isinstance(row, dict):
            counts = Counter(parse_answer_list(row.get("answers")))
            counts.pop("", None)
            if counts:  # of equally frequent ones the first alphabetically
                answers[at] = min(counts, key=lambda a: (-counts[a], a))
                voted.append(at)
    return rows, voted


def _chain_columns(files: Sequence[_json.JsonRows], *fields: str) -> list[list[Any]]:
    """The values of all files one after the other; of one file its own lists, so they must not be changed."""
    if len(files) == 1:
        return [files[0].columns[field] for field in fields]
    return [list(chain(*(one.columns[field] for one in files))) for field in fields]


def _find_rows(rows: Rows, files: Sequence[_json.JsonRows], chosen: Sequence[Iterable[int]]) -> list[int]:
    """Where in `rows`, which are counted over all files, the chosen rows of each file are."""
    starts = np.cumsum([0, *map(len, files)]).tolist()
    wanted = [start + row for start, some in zip(starts, chosen, strict=False) for row in some]
    found: list[int] = np.flatnonzero(np.isin(rows, wanted)).tolist()
    return found


def _locate_rows(files: Sequence[_json.JsonRows], rows: Rows, before: int) -> npt.NDArray[np.int32]:
    """[row, 2] the file (counted from `before`) and the place in it of rows counted over all files."""
    starts = np.cumsum([0, *map(len, files)])[:-1]
    file = np.searchsorted(starts, rows, side="right") - 1
    return np.stack([file + before, rows - starts[file]], axis=1).astype(np.int32)


def _find_differences(ids: list[Any], written: list[Any]) -> list[int]:
    return [] if ids == written else [k for k, one in enumerate(ids) if is_other_id(one, written[k])]


def _get_id(value: Any) -> Id | None:
    return value if type(value) is int or (isinstance(value, str) and value) else None


def _get_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _get_answer(value: Any) -> str | None:
    if isinstance(value, str):
        return value or None
    return spell(value) if isinstance(value, bool | int) else None


def is_answer_list(listed: Any) -> bool:
    """Whether this is what VQA has under `answers`: records, each with an answer in words."""
    rows = listed if isinstance(listed, list) else [None]
    return all(isinstance(row, dict) and isinstance(row.get("answer"), str) for row in rows)


def parse_answer_list(listed: Any) -> tuple[str, ...]:
    """The answers of a list of records or of plain answers; anything else is none."""
    if not isinstance(listed, list):
        return ()
    found = (one.get("answer") if isinstance(one, dict) else one for one in listed)
    return tuple(a if isinstance(a, str) else spell(a) for a in found if isinstance(a, str | int))


def read_annotator_answers(samples: QuestionTable, rows: Rows) -> list[tuple[str, ...]]:
    """The answers to each sample, one per annotator; none where the files hold one answer only."""
    origin = samples.origin
    if samples.annotators is not None:
        stored = (samples.annotators[k] for k in rows.tolist())
        return [() if text is None else parse_answer_list(json.loads(text)) for text in stored]
    if origin is None:
        return [()] * len(rows)
    texts = (origin.rows[file][row] for file, row in origin.annotation[rows].tolist())
    return [parse_answer_list(json.loads(bytes(text)).get("answers")) for text in texts]
