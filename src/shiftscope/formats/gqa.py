"""GQA: scene graphs, questions with their programs, and rows of calls.

A graph's free words ("dark", "wooden") stay without an attribute; which side of the image an object is on is
read off its box.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

from ..answer import read_answer
from ..errors import UserError
from ..lang.dialects import gqa as dialect
from ..lang.dialects._gqa_calls import tokens_of
from ..question import Provenance, Question
from ..scene import FREE, Object, Pairs, Relation, Scene
from ..schemas.gqa import SCHEMA
from . import _json

IMAGE_ATTRIBUTES = ("location", "weather")
DERIVED = ("hposition", "vposition")
_GRAPH_FIELDS = ("width", "height", "objects", *IMAGE_ATTRIBUTES)
_QUESTION_FIELDS = ("imageId", "question", "answer", "semantic", "semanticStr")
_ROW_FIELDS = ("fullAnswer", "tokens", "annotations")  # after image, question, calls, question id, answer


def sniff_scenes(data: Any) -> bool:
    """Whether this JSON value holds scene graphs: image ids, each with objects by their ids."""
    first = next(iter(data.values()), None) if isinstance(data, dict) else None
    return isinstance(first, dict) and isinstance(first.get("objects"), dict)


def sniff_questions(data: Any) -> bool:
    """Whether this JSON value holds GQA questions: by question id, or rows with a list of calls."""
    if isinstance(data, dict):
        first = next(iter(data.values()), None)
        return isinstance(first, dict) and first.keys() >= {"imageId", "question"}
    return isinstance(data, list) and bool(data) and _is_row(data[0])


def _is_row(row: Any) -> bool:
    return (
        isinstance(row, list)
        and 4 <= len(row) <= 5 + len(_ROW_FIELDS)
        and isinstance(row[1], str)
        and isinstance(row[2], list)
    )


def read_scenes(path: Path) -> Iterator[Scene]:
    """The graphs of a file, one at a time, under the ids of their images."""
    empty = True
    for image, raw in _json.entries(_json.read_bytes(path), path):
        empty = False
        with _json.placed(f"{path}: image {image}"):
            scene = scene_from(image, raw)
        yield scene
    if empty:
        raise UserError(f"{path}: there are no scene graphs in it")


def scene_from(image: str, raw: dict[str, Any]) -> Scene:
    """A scene record from one graph of a file."""
    if not isinstance(raw, dict) or not isinstance(raw.get("objects"), dict):
        raise UserError("expected a graph with objects by their ids")
    listed: dict[str, Any] = raw["objects"]
    size = (raw["width"], raw["height"]) if "width" in raw and "height" in raw else None
    if size and not (_json.is_side(size[0]) and _json.is_side(size[1])):
        raise UserError(
            f"expected a positive width and height, came {size[0]!r} and {size[1]!r}{_json.at_most(*size)}"
        )
    index = {name: i for i, name in enumerate(listed)}
    pairs: dict[str, list[tuple[int, int]]] = {}
    for name, o in listed.items():
        for relation, other in _relations(o.get("relations", ()), name):
            if other not in index:
                raise UserError(f"object {name}: {relation!r} names object {other}, which is not there")
            pairs.setdefault(relation, []).append((index[name], index[other]))
    return Scene(
        id=image,
        schema=SCHEMA,
        size=size,
        objects=tuple(_object(name, o, size) for name, o in listed.items()),
        relations=tuple(Relation.of(name, found, len(index)) for name, found in pairs.items()),
        attributes=tuple((a, raw[a]) for a in IMAGE_ATTRIBUTES if a in raw),
        notes=tuple((k, v) for k, v in raw.items() if k not in _GRAPH_FIELDS),
    )


def _relations(listed: Any, name: str) -> Iterator[tuple[str, str]]:
    """(relation, object id) of a list of them, or of a dict with them as its values."""
    for row in listed.values() if isinstance(listed, dict) else listed:
        if not isinstance(row, dict) or not row.keys() >= {"name", "object"}:
            raise UserError(f"object {name}: expected a relation with name and object, came {row!r}")
        yield str(row["name"]), str(row["object"])


def _object(name: str, o: dict[str, Any], size: tuple[int, int] | None) -> Object:
    words = o.get("attributes", ())
    if not isinstance(words, list | tuple) or not all(isinstance(w, str) for w in (o["name"], *words)):
        raise UserError(f"object {name}: its name and attributes must be text")
    box = (o["x"], o["y"], o["w"], o["h"]) if o.keys() >= {"x", "y", "w", "h"} else None
    if box and not all(map(_json.is_number, box)):
        raise UserError(f"object {name}: its box must be four finite numbers{_json.at_most(*box)}")
    described: Pairs = (("name", o["name"]), *((FREE, word) for word in words))
    return Object((*described, *(_position(box, size) if box and size else ())), id=name, box=box)


def _position(box: tuple[float, float, float, float], size: tuple[int, int]) -> Pairs:
    """Which half of the image the box's centre is in from left to right, which third from top to bottom."""
    left, top, width, height = box
    across = (left + width / 2) / size[0]
    down = (top + height / 2) / size[1]
    side = "left" if across < 1 / 2 else "right"
    return (
        ("hposition", side),
        ("vposition", "top" if down < 1 / 3 else "middle" if down < 2 / 3 else "bottom"),
    )


def write_scenes(path: Path, scenes: Iterable[Scene]) -> None:
    written = list(scenes)
    _json.unique_ids((scene.id for scene in written), "image", path)
    _json.write(path, {scene.id: scene_to(scene) for scene in written})


def scene_to(scene: Scene) -> dict[str, Any]:
    """One graph as the official files have it; an object's relations come in the order of the scene's."""
    ids = [o.id or str(i) for i, o in enumerate(scene.objects)]
    data: dict[str, Any] = {}
    if scene.size:
        data["width"], data["height"] = scene.size
    data |= dict(scene.attributes) | dict(scene.notes)
    data["objects"] = {name: _object_to(o) for name, o in zip(ids, scene.objects, strict=True)}
    for relation in scene.relations:
        for subject, target in relation.triples():
            data["objects"][ids[subject]]["relations"].append({"name": relation.name, "object": ids[target]})
    return data


def _object_to(o: Object) -> dict[str, Any]:
    data: dict[str, Any] = {"name": next(iter(o.values("name")), "")}
    if o.box:
        data |= dict(zip("xywh", o.box, strict=True))
    data["attributes"] = [v for a, v in o.attributes if a not in ("name", *DERIVED)]
    data["relations"] = []
    return data


def read_questions(path: Path) -> Iterator[Question]:
    """The questions of a file, one at a time: by question id, or rows with calls."""
    data = _json.read_bytes(path)
    if _json.first_mark(data) == b"[":
        yield from _read_rows(data, path)
        return
    empty = True
    for name, raw in _json.entries(data, path):
        empty = False
        with _json.placed(f"{path}: question {name}"):
            question = question_from(name, raw)
        yield question
    if empty:
        raise UserError(f"{path}: there are no questions in it")


def question_from(name: str, raw: dict[str, Any]) -> Question:
    """A question record from one question of a file; test questions have neither program nor answer."""
    semantic = raw.get("semantic")
    program = dialect.read(semantic) if semantic else None
    notes = [(k, v) for k, v in raw.items() if k not in _QUESTION_FIELDS or v == []]
    line = raw.get("semanticStr")
    if line != (dialect.line_of(semantic) if semantic else None):
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
    written = list(questions)
    _json.unique_ids((q.id for q in written), "question", path)
    _json.write(path, {q.id: question_to(q) for q in written})


def question_to(question: Question) -> dict[str, Any]:
    """One question as the official files have it."""
    data: dict[str, Any] = {"imageId": question.scenes[0], "question": question.text}
    if question.answer is not None:
        data["answer"] = question.answer
    if question.program is not None:
        data["semantic"] = dialect.write(question.program)
        data["semanticStr"] = dialect.line_of(data["semantic"])
    data |= {k: v for k, v in question.notes if k != "tokens"}
    return {k: v for k, v in data.items() if v is not None or k != "semanticStr"}


def _read_rows(data: bytes, path: Path) -> Iterator[Question]:
    seen: set[str] = set()
    for at, row in enumerate(_json.elements(data, None, path)):
        if not _is_row(row):
            raise UserError(f"{path}: row {at} is not image, question, calls, question id, answer, …")
        name = str(row[3])
        if name in seen:
            raise UserError(f"{path}: question {name} appears twice")
        seen.add(name)
        try:
            yield question_from_row(row)
        except UserError as error:
            raise UserError(f"{path}: question {name}: {error}") from None
    if not seen:
        raise UserError(f"{path}: there are no questions in it")


def question_from_row(row: list[Any]) -> Question:
    """A question record from a row: image, question, calls, question id, answer, full answer, …"""
    image, text, calls, name, *rest = row
    notes = dict(zip(_ROW_FIELDS, rest[1:], strict=False))
    program = dialect.read_calls(calls)
    if notes.get("tokens") == tokens_of(calls):
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


def write_rows(path: Path, questions: Iterable[Question]) -> None:
    """Questions as rows with calls instead of `semantic` lists."""
    _json.write(path, [row_of(q) for q in questions])


def row_of(question: Question) -> list[Any]:
    """One question as a row; a row ends with the last thing known."""
    if question.program is None:
        raise UserError(f"question {question.id} has no program to write as calls")
    calls = dialect.write_calls(question.program)
    known = {"tokens": tokens_of(calls)} | dict(question.notes)
    row = [question.scenes[0], question.text, calls, question.id, question.answer]
    return [*row, *(known[k] for k in takewhile(known.__contains__, _ROW_FIELDS))]
