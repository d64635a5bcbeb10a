"""COVR: questions about several images, one JSON object a line, as released or as its generator writes them.

The release calls the text `utterance`, the generator `question`. Programs may be in the original or in the
compositional form, recognised by their operations. Fields beyond the known ones (`rephrase`,
`properties`, `sub_graphs`, …) are kept as notes, so that writing gives back what was read.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .. import json_files as _json
from ..answer import read_answer
from ..errors import UserError
from ..files import read_bytes
from ..lang.notations import covr as original
from ..lang.notations import covr_compositional as compositional
from ..question import Provenance, Question
from ..schema import Schema

SOURCE = "covr"
USES_SCHEMA = True
TEXTS = ("utterance", "question")
FIELDS = ("qid", "scenes", "program", "answer", "pattern_name")
TEXT_FIELD = "text field"  # the note of a question whose text is not called `utterance`
FORM = "form"  # the note of a question whose program is not in the original form


def sniff_questions(file: _json.InputFile) -> bool:
    """Whether it holds COVR questions, by the first line, or the first of a list."""
    first = file.outline if isinstance(file.outline, dict) else file.first_row("")
    return first.keys() >= {"qid", "scenes"} and bool(first.keys() & set(TEXTS))


def read_questions(path: Path, schema: Schema | None = None) -> Iterator[Question]:
    """The questions of a file, one at a time; a schema tells which attribute a program's words belong to."""
    rows = ((place, (raw, schema)) for place, raw in _iterate_rows(path))
    return _json.parse_records(rows, parse_question, path, "questions")


def _iterate_rows(path: Path) -> Iterator[tuple[str, Any]]:
    """What is in the file, and where: a line each, or the elements of a list."""
    data = read_bytes(path)
    if _json.first_byte(data) == b"[":
        for at, raw in enumerate(_json.iterate_elements(data, None, path)):
            yield f"question {at}", raw
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            try:
                raw = _json.parse_json(line)
            except (ValueError, RecursionError) as error:
                raise UserError(f"{path}: line {number}: not valid JSON ({error})") from None
            yield f"line {number}", raw


def parse_question(raw: Any, schema: Schema | None = None) -> Question:
    """A question record from one of a file; test questions have neither program nor answer."""
    if not isinstance(raw, dict):
        raise UserError("expected an object with qid, utterance and scenes")
    field = next((name for name in TEXTS if name in raw), TEXTS[0])
    name, text, scenes = raw["qid"], raw[field], raw["scenes"]
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise UserError(f"its qid must be text or a number, not {name!r}")
    if not isinstance(text, str):
        raise UserError(f"its {field} must be text")
    if not isinstance(scenes, list) or not scenes or not all(isinstance(s, str | int) for s in scenes):
        raise UserError("its scenes must be a list of images")
    template = raw.get("pattern_name")
    if not isinstance(template, str | None):
        raise UserError("its pattern_name must be text")
    notes = [(k, v) for k, v in raw.items() if k not in FIELDS and k != field]
    if isinstance(name, int):
        notes.append(("qid", name))
    if any(isinstance(s, int) for s in scenes):
        notes.append(("scenes", scenes))
    if field != TEXTS[0]:
        notes.append((TEXT_FIELD, field))
    rows = raw.get("program")
    notation = compositional if compositional.sniff(rows) else original
    if notation is compositional:
        notes.append((FORM, "compositional"))
    return Question(
        id=str(name),
        text=text,
        scenes=tuple(map(str, scenes)),
        program=notation.read(rows, schema) if rows is not None else None,
        answer=read_answer(raw.get("answer")),
        provenance=Provenance(SOURCE, template=template or ""),
        notes=tuple(notes),
    )


def write_questions(path: Path, questions: Iterable[Question]) -> None:
    """Write questions a line each, whole or not at all; `.gz` is gzipped."""
    listed = list(questions)
    _json.refuse_repeated_ids((q.id for q in listed), "question", path)
    lines = [json.dumps(format_question(q), ensure_ascii=False, allow_nan=False) for q in listed]
    _json.write_text(path, "".join(f"{line}\n" for line in lines))


def format_question(question: Question, schema: Schema | None = None) -> dict[str, Any]:
    """One question as the official files have it; the schema tells which words are names, and what these contain."""
    notes = dict(question.notes)
    notation = compositional if notes.pop(FORM, "") else original
    data: dict[str, Any] = {"qid": question.id, notes.pop(TEXT_FIELD, TEXTS[0]): question.text}
    data["scenes"] = list(question.scenes)
    if question.program is not None:
        data["program"] = notation.write(question.program, schema)
    if question.answer is not None:
        data["answer"] = question.answer
    if question.provenance.template:
        data["pattern_name"] = question.provenance.template
    return data | notes
