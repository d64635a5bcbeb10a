"""GQA: scene graphs, questions with their programs, and rows of calls; as records or as columns."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from .. import json_files as _json
from ..answer import read_answer, spell
from ..errors import UserError
from ..files import read_bytes
from ..lang.notations import gqa as notation
from ..lang.notations.gqa import tokenize_calls
from ..question import Provenance, Question
from ..question_join import build_question_table, drop_repeats
from ..question_table import ImageContents, QuestionTable, build_image_contents, collect_objects
from ..scene import FREE, Object, Pairs, Relation, Scene
from ..schemas.gqa import SCHEMA

RELEASE = ("GQA", "cc-by-4.0")
ANSWERS_APART = False
IMAGE_ATTRIBUTES = ("location", "weather")
DERIVED = ("hposition", "vposition")
_GRAPH_FIELDS = ("width", "height", "objects", *IMAGE_ATTRIBUTES)
_QUESTION_FIELDS = ("imageId", "question", "answer", "semantic", "semanticStr")
_ROW_FIELDS = ("fullAnswer", "tokens", "annotations")  # after image, question, calls, question id, answer


def sniff_scenes(file: _json.InputFile) -> bool:
    """Whether it holds scene graphs: image ids, each with objects by their ids."""
    return isinstance(file.first_value().get("objects"), dict)


def sniff_questions(file: _json.InputFile) -> bool:
    """Whether it holds GQA questions: by question id, or rows with a list of calls."""
    rows = isinstance(file.outline, list) and bool(file.outline) and _is_call_row(file.outline[0])
    return rows or file.first_value().keys() >= {"imageId", "question"}


def _is_call_row(row: Any) -> bool:
    fits = isinstance(row, list) and 4 <= len(row) <= 5 + len(_ROW_FIELDS)
    return fits and isinstance(row[1], str) and isinstance(row[2], list)


def read_scenes(path: Path) -> Iterator[Scene]:
    """The graphs of a file, one at a time, under the ids of their images."""
    entries = _json.iterate_entries(read_bytes(path), path)
    rows = ((f"image {image}", (image, raw)) for image, raw in entries)
    return _json.parse_records(rows, parse_scene, path, "scene graphs")


def parse_scene(image: str, raw: dict[str, Any]) -> Scene:
    if not isinstance(raw, dict) or not isinstance(raw.get("objects"), dict):
        raise UserError("expected a graph with objects by their ids")
    listed: dict[str, Any] = raw["objects"]
    size = (raw["width"], raw["height"]) if "width" in raw and "height" in raw else None
    if size and not all(map(_json.is_image_side, size)):
        far = _json.describe_limit(*size)
        raise UserError(f"expected a positive width and height, got {size[0]!r} and {size[1]!r}{far}")
    index = {name: i for i, name in enumerate(listed)}
    pairs: dict[str, list[tuple[int, int]]] = {}
    for name, o in listed.items():
        rows = o.get("relations", ())
        for row in rows.values() if isinstance(rows, dict) else rows:
            if not isinstance(row, dict) or not row.keys() >= {"name", "object"}:
                raise UserError(f"object {name}: expected a relation with name and object, got {row!r}")
            relation, other = str(row["name"]), str(row["object"])
            if other not in index:
                raise UserError(f"object {name}: {relation!r} names object {other}, which is not there")
            pairs.setdefault(relation, []).append((index[name], index[other]))
    return Scene(
        id=image,
        schema=SCHEMA,
        size=size,
        objects=tuple(_parse_object(name, o, size) for name, o in listed.items()),
        relations=tuple(Relation.of(name, found, len(index)) for name, found in pairs.items()),
        attributes=tuple((a, raw[a]) for a in IMAGE_ATTRIBUTES if a in raw),
        notes=tuple((k, v) for k, v in raw.items() if k not in _GRAPH_FIELDS),
    )


def _parse_object(name: str, o: dict[str, Any], size: tuple[int, int] | None) -> Object:
    words = o.get("attributes", ())
    if not isinstance(words, list | tuple) or not all(isinstance(w, str) for w in (o["name"], *words)):
        raise UserError(f"object {name}: its name and attributes must be text")
    box = (o["x"], o["y"], o["w"], o["h"]) if o.keys() >= {"x", "y", "w", "h"} else None
    if box and not all(map(_json.is_number, box)):
        raise UserError(f"object {name}: its box must be four finite numbers{_json.describe_limit(*box)}")
    described: Pairs = (("name", o["name"]), *((FREE, word) for word in words))
    if box and size:  # which half of the image its centre is in, and which third from top to bottom
        across, down = (box[0] + box[2] / 2) / size[0], (box[1] + box[3] / 2) / size[1]
        third = "top" if down < 1 / 3 else "middle" if down < 2 / 3 else "bottom"
        described += (("hposition", "left" if across < 1 / 2 else "right"), ("vposition", third))
    return Object(described, id=name, box=box)


def write_scenes(path: Path, scenes: Iterable[Scene]) -> None:
    _write_by_id(path, scenes, "image", format_scene)


def _write_by_id(path: Path, records: Iterable[Any], noun: str, write: Callable[[Any], Any]) -> None:
    listed = list(records)
    _json.refuse_repeated_ids((one.id for one in listed), noun, path)
    _json.write_json(path, {one.id: write(one) for one in listed})


def format_scene(scene: Scene) -> dict[str, Any]:
    """One graph as the official files have it; an object's relations come in the order of the scene's."""
    ids = [o.id or str(i) for i, o in enumerate(scene.objects)]
    data: dict[str, Any] = {}
    if scene.size:
        data["width"], data["height"] = scene.size
    data |= dict(scene.attributes) | dict(scene.notes)
    data["objects"] = {}
    for name, o in zip(ids, scene.objects, strict=True):
        box = dict(zip("xywh", o.box, strict=True)) if o.box else {}
        words = [v for a, v in o.attributes if a not in ("name", *DERIVED)]
        data["objects"][name] = {"name": next(iter(o.values("name")), ""), **box, "attributes": words, "relations": []}
    for relation in scene.relations:
        for subject, target in relation.triples():
            data["objects"][ids[subject]]["relations"].append({"name": relation.name, "object": ids[target]})
    return data


def read_questions(path: Path) -> Iterator[Question]:
    """The questions of a file, one at a time: by question id, or rows with calls."""
    data = read_bytes(path)
    if _json.first_byte(data) == b"[":
        return _json.parse_records(_iterate_call_rows(data, path), parse_call_row, path, "questions")
    rows = ((f"question {name}", (name, raw)) for name, raw in _json.iterate_entries(data, path))
    return _json.parse_records(rows, parse_question, path, "questions")


def parse_question(name: str, raw: dict[str, Any]) -> Question:
    """A question record from one question of a file; test questions have neither program nor answer."""
    semantic, line = raw.get("semantic"), raw.get("semanticStr")
    program = notation.read(semantic) if semantic else None
    notes = [(k, v) for k, v in raw.items() if k not in _QUESTION_FIELDS or v == []]
    if line != (notation.format_line(semantic) if semantic else None):
        notes.append(("semanticStr", line))
    return Question(
        id=name,
        text=raw["question"],
        scenes=(str(raw["imageId"]),),
        program=program,
        answer=read_answer(raw.get("answer")),
        kind=raw.get("types", {}).get("structural") or "",
        provenance=Provenance("gqa"),
        notes=tuple(notes),
    )


def write_questions(path: Path, questions: Iterable[Question]) -> None:
    _write_by_id(path, questions, "question", format_question)


def format_question(question: Question) -> dict[str, Any]:
    data: dict[str, Any] = {"imageId": question.scenes[0], "question": question.text}
    if question.answer is not None:
        data["answer"] = question.answer
    if question.program is not None:
        data["semantic"] = notation.write(question.program)
        data["semanticStr"] = notation.format_line(data["semantic"])
    data |= {k: v for k, v in question.notes if k != "tokens"}
    return {k: v for k, v in data.items() if v is not None or k != "semanticStr"}


def _iterate_call_rows(data: bytes, path: Path) -> Iterator[tuple[str, Any]]:
    for at, row in enumerate(_json.iterate_elements(data, None, path)):
        if not _is_call_row(row):
            raise UserError(f"{path}: row {at} is not image, question, calls, question id, answer, …")
        yield f"question {row[3]}", (row,)


def parse_call_row(row: list[Any]) -> Question:
    """A question record from a row: image, question, calls, question id, answer, full answer, …"""
    image, text, calls, name, *rest = row
    program, notes = notation.read_calls(calls), dict(zip(_ROW_FIELDS, rest[1:], strict=False))
    if notes.get("tokens") == tokenize_calls(calls):
        del notes["tokens"]
    return Question(
        id=str(name),
        text=text,
        scenes=(str(image),),
        program=program,
        answer=read_answer(rest[0]) if rest else None,
        provenance=Provenance("gqa"),
        notes=tuple(notes.items()),
    )


def write_call_rows(path: Path, questions: Iterable[Question]) -> None:
    _json.write_json(path, [format_call_row(q) for q in questions])


def format_call_row(question: Question) -> list[Any]:
    """One question as a row; a row ends with the last thing known."""
    if question.program is None:
        raise UserError(f"question {question.id} has no program to write as calls")
    calls = notation.write_calls(question.program)
    known = {"tokens": tokenize_calls(calls)} | dict(question.notes)
    row = [question.scenes[0], question.text, calls, question.id, question.answer]
    return [*row, *(known[k] for k in takewhile(known.__contains__, _ROW_FIELDS))]


# As columns.

# What an audit looks at: `detailed` or `structural` is the question's type, `local` its group in GQA-OOD.
_WORD = (str | None, None)
COLUMN_FIELDS: _json.FieldTable = {
    "imageId": (str | int | None, None),
    "question": _WORD,
    "answer": (str | int | bool | None, None),
    "types": {"detailed": _WORD, "structural": _WORD},
    "groups": {"local": _WORD},
}


def read_question_table(
    questions: Sequence[Path], annotations: Sequence[Path] = (), splits: Sequence[str] = ()
) -> QuestionTable:
    """All answered questions of the files. Their type is GQA's detailed one, else the structural one."""
    rows: list[tuple[Any, ...]] = []  # id, image, text, answer, type, local group, whether one is no word, split
    for number, path in enumerate(questions):
        found = _read_rows(path)
        if not found:
            raise UserError(f"{path}: there are no questions in it")
        rows += [(*row, splits[number] if splits else None) for row in found]
    answered = [row for row in rows if row[3] is not None]
    if not answered:
        raise UserError(f"{questions[0]}: no question in it has an answer")
    distinct, again = drop_repeats(*([row[c] for row in answered] for c in range(4)))
    ids, images, texts, answers, types, local, wordless, named = (
        list(column) for column in zip(*(answered[k] for k in distinct.tolist()), strict=True)
    )
    left_out = (
        ("questions without an answer", "left out", [row[0] for row in rows if row[3] is None]),
        ("questions that repeat another under its id", "counted once", [answered[k][0] for k in again]),
    )
    odd = "questions whose types or groups are not words", "kept without them", np.flatnonzero(wordless).tolist()
    columns = {"answers": answers, "types": types, "local": local, "splits": named}
    return build_question_table("gqa", ids, images, texts, left_out, typed=[odd], **columns)


def _read_rows(path: Path) -> list[tuple[Any, ...]]:
    rows = _json.decode_rows(path, None, COLUMN_FIELDS)
    found = []
    for at, values in enumerate(zip(rows.names, *rows.columns.values(), strict=True)):
        name, image, text, answer, types, groups = values
        detailed, structural = (types.detailed, types.structural) if types else ("", "")
        local = groups.local if groups else ""
        words: tuple[str | None, ...] = (detailed or "", structural or "", local or "")
        if at in rows.odd:
            row = rows.odd[at]
            if not isinstance(row, dict):
                raise UserError(f"{path}: question {name}: expected an object, got {type(row).__name__}")
            image, text, answer = row.get("imageId"), row.get("question"), row.get("answer")
            named = (("types", "detailed"), ("types", "structural"), ("groups", "local"))
            words = tuple(_get_word(row, *keys) for keys in named)
        image = str(image) if isinstance(image, str | int) and image != "" else None
        answer = spell(answer) if isinstance(answer, str | int) and answer != "" else None
        kind, local = words[0] or words[1] or None, words[2] or None
        found.append((name, image, text if isinstance(text, str) else "", answer, kind, local, None in words))
    return found


def _get_word(raw: dict[str, Any], key: str, name: str) -> str | None:
    """The word under `name` in what is under `key`, empty if there is none; None if it is not a word."""
    held = raw.get(key)
    found = held.get(name) if isinstance(held, dict) else held
    return "" if found is None else found if isinstance(held, dict) and isinstance(found, str) else None


def read_objects(path: Path) -> ImageContents:
    """The names of the objects of each scene graph; without relations and attributes, this is fast."""
    msgspec, data = _json.require_msgspec(), read_bytes(path)
    thing: Any = _json.build_struct({"name": str})
    graphs: Any = dict[str, _json.build_struct({"objects": dict[str, thing]})]  # type: ignore[misc]
    with suppress(msgspec.DecodeError, RecursionError):
        found = msgspec.json.decode(data, type=graphs)
        if data.count(b'"objects"') == len(found):  # else an image stands twice, and only the last is here
            names = ((image, [o.name for o in graph.objects.values()]) for image, graph in found.items())
            return build_image_contents(names)
    return collect_objects(read_scenes(path))  # which says what is wrong
