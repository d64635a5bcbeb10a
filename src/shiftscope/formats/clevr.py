"""CLEVR, Super-CLEVR and CLEVR_HYP: scene files and question files, released or from the generator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ..answer import read_answer
from ..bits import mask_of, members
from ..errors import UserError
from ..lang.dialects import clevr as clevr_dialect
from ..lang.dialects import clevr_hyp as hyp_dialect
from ..lang.dialects import superclevr as superclevr_dialect
from ..lang.program import Program, ProgramError
from ..question import Provenance, Question
from ..scene import Box, Object, Part, Relation, Scene, Vector
from ..schema import Schema
from ..schemas import clevr, superclevr
from . import _json

ATTRIBUTES = ("size", "color", "material", "shape")
STAGING = ("camera", "lamps")  # of our own scenes: what a rendering needs to be the same again
OURS = ("texture", "box")  # of our own objects and parts: what is painted on them, and where they are seen
KEPT = ("question_index", "image_index", "image_filename", "image")  # of a question, besides its content


def sniff_scenes(data: Any) -> bool:
    """Whether this JSON value holds CLEVR scenes: a file of them, a bare list, or a single one."""
    first = _scene_list(data)[:1]
    if isinstance(data, dict) and data.get("scenes") == []:
        return True
    return bool(first) and isinstance(first[0], dict) and isinstance(first[0].get("objects"), list)


def sniff_questions(data: Any) -> bool:
    """Whether this JSON value holds CLEVR questions, wrapped or as a bare list."""
    found = data.get("questions") if isinstance(data, dict) else data
    return (
        isinstance(found, list)
        and bool(found)
        and isinstance(found[0], dict)
        and "question" in found[0]
        and bool(found[0].keys() & {"image_index", "image_filename", "image"})
    )


class Row(NamedTuple):
    """One scene as its file has it, to be read wherever there is time."""

    path: Path
    at: int  # its place in the file
    text: bytes


def read_scenes(path: Path, schema: Schema | None = None) -> list[Scene]:
    """All scenes of a file, or of a folder with a file for each; the vocabulary is recognised."""
    scenes = [read_row(row, schema) for row in scene_rows(path)]
    _json.unique_ids((s.id for s in scenes), "scene", path)
    return scenes


def scene_rows(path: Path) -> list[Row]:
    """The scenes of a file or folder, none of them looked into yet; there is at least one."""
    files = sorted(path.glob("*.json*")) if path.is_dir() else [path]
    if not files:
        raise UserError(f"{path}: no scene files (*.json) in this folder")
    rows = [Row(file, at, text) for file in files for at, text in enumerate(_texts(file))]
    if not rows:
        raise UserError(f"{path}: there are no scenes in it")
    return rows


def _texts(path: Path) -> list[bytes]:
    """The scenes of one file."""
    data = _json.read_bytes(path)
    if not sniff_scenes(_json.outline(data, path)):
        raise UserError(f"{path}: not a CLEVR scene file (no scenes with objects in it)")
    whole = data
    if _json.first_mark(data) == b"{":
        fields = _json.raw_entries(data, path)
        whole = fields.get("scenes", data)
    return [whole] if _json.first_mark(whole) == b"{" else _json.raw_elements(whole, path)


def read_row(row: Row, schema: Schema | None = None) -> Scene:
    """The scene of a row; its vocabulary is recognised where none is given."""
    try:
        raw = _json.parsed(row.text)
    except (ValueError, RecursionError):
        _json.load(row.path)  # tells where in the file
        raise
    with _json.placed(f"{row.path}: scene {row.at}"):
        return scene_from(raw, schema or _schema_of(raw))


def _scene_list(data: Any) -> list[Any]:
    if isinstance(data, dict) and "scenes" in data:
        data = data["scenes"]
    if isinstance(data, dict) and "objects" in data:
        return [data]
    return data if isinstance(data, list) else []


def _schema_of(raw: dict[str, Any]) -> Schema:
    """Super-CLEVR where an object has parts or is a vehicle, else CLEVR."""
    vehicles = superclevr.SHAPE.values
    if any("parts" in o or o.get("shape") in vehicles for o in raw["objects"]):
        return superclevr.SCHEMA
    return clevr.SCHEMA


def scene_from(raw: dict[str, Any], schema: Schema) -> Scene:
    """A scene record from one scene of a file."""
    size: tuple[int, int] | None = None
    known = _vocabulary(schema)
    objects = []
    for at, o in enumerate(raw["objects"]):
        for attribute in ATTRIBUTES:
            if type(o[attribute]) is not str or (attribute, o[attribute]) not in known:
                _known(schema, attribute, o[attribute], f"object {at}", part=False)
        pixel = o.get("pixel_coords")
        if pixel is not None and isinstance(pixel[0], list):  # Super-CLEVR: [[x, y, depth], [width, height]]
            pixel, size = pixel[0], _size(pixel[1])
        coords = o.get("3d_coords")
        objects.append(
            Object(
                attributes=tuple([(a, o[a]) for a in ATTRIBUTES]),
                parts=tuple([_part(name, p, schema, at) for name, p in o.get("parts", {}).items()]),
                position=_vector(coords) if coords is not None else None,
                rotation=_number(o["rotation"]) if o.get("rotation") is not None else None,
                pixel=_vector(pixel) if pixel is not None else None,
                box=_box(o.get("box")),
                texture=_texture(o.get("texture")),
            )
        )
    return Scene(
        id=_stem(raw),
        schema=schema,
        size=size,
        objects=tuple(objects),
        directions=tuple((name, _vector(v)) for name, v in raw.get("directions", {}).items()),
        relations=tuple(
            _relation(name, rows, len(objects)) for name, rows in raw.get("relationships", {}).items()
        ),
        notes=(
            *((k, raw[k]) for k in ("image_index", "image_filename", "split") if k in raw),
            *_staging(raw),
        ),
    )


def _staging(raw: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Camera and lamps, as we write them; what others mean by these words is left alone."""
    try:
        if "camera" in raw:
            yield "camera", _vector(raw["camera"])
        if "lamps" in raw:
            key, fill, back = map(_vector, raw["lamps"])
            yield "lamps", (key, fill, back)
    except (UserError, TypeError, ValueError):
        return


def _part(name: str, raw: dict[str, Any], schema: Schema, at: int) -> Part:
    known = _part_vocabulary(schema)
    attributes = tuple([pair for pair in raw.items() if pair[0] not in OURS])
    for attribute, value in (("name", name), *attributes):
        if type(value) is not str or (attribute, value) not in known:
            _known(schema, attribute, value, f"object {at}, part {name}", part=True)
    return Part(name, attributes, _texture(raw.get("texture")), _box(raw.get("box")))


def _texture(raw: Any) -> str:
    return raw if isinstance(raw, str) else ""


def _box(raw: Any) -> Box | None:
    """Left, top, width, height, as we write them; other boxes are left alone."""
    if not isinstance(raw, list) or len(raw) != 4:
        return None
    left, top, width, height = map(_number, raw)
    return (left, top, width, height)


@lru_cache(maxsize=64)
def _vocabulary(schema: Schema) -> frozenset[tuple[str, str]]:
    return frozenset((a.name, value) for a in schema.attributes for value in a.values)


@lru_cache(maxsize=64)
def _part_vocabulary(schema: Schema) -> frozenset[tuple[str, str]]:
    return frozenset((a.name, value) for a in schema.part_attributes for value in a.values)


def _known(schema: Schema, attribute: str, value: Any, where: str, *, part: bool) -> None:
    if schema.closed and value not in schema.attribute(attribute, part=part).values:
        raise UserError(f"{where}: unknown {attribute} {value!r} (vocabulary: {schema.name})")


def _vector(values: Any) -> Vector:
    x, y, z = map(_number, values)
    return (x, y, z)


def _number(value: Any) -> float:
    if not _json.is_number(value):
        raise UserError(f"expected a finite number, came {value!r}{_json.at_most(value)}")
    return float(value)


def _size(values: Any) -> tuple[int, int]:
    width, height = values
    if not (_json.is_side(width) and _json.is_side(height)):
        raise UserError(f"expected a width and height, came {values!r}{_json.at_most(width, height)}")
    return width, height


def _relation(name: str, rows: list[list[int]], size: int) -> Relation:
    if len(rows) != size:
        raise UserError(f"relationships {name!r} has {len(rows)} rows for {size} objects")
    masks = []
    for i, row in enumerate(rows):
        for j in row:
            if type(j) is not int or not 0 <= j < size:
                raise UserError(
                    f"relationships {name!r} names an object that is not there (there are {size})"
                )
        masks.append(mask_of(row))
        if masks[i] >> i & 1:
            raise UserError(f"relationships {name!r} has an object that relates to itself")
    return Relation(name, tuple(masks))


def _stem(raw: dict[str, Any]) -> str:
    """What names the image: its file name without the ending, or its index."""
    name = raw.get("image_filename") or raw.get("image")
    if name:
        return str(name).rpartition("/")[2].rpartition(".")[0] or str(name)
    if isinstance(raw.get("image_index"), int | str):
        return str(raw["image_index"])
    raise UserError("it has neither image_filename nor image_index")


def write_scenes(path: Path, scenes: Iterable[Scene], info: dict[str, Any] | None = None) -> None:
    _json.write(path, {"info": info or {}, "scenes": [scene_to(s) for s in scenes]})


def scene_to(scene: Scene) -> dict[str, Any]:
    """One scene as the official files have it."""
    data: dict[str, Any] = dict(scene.notes)
    data["directions"] = {name: list(vector) for name, vector in scene.directions}
    data["objects"] = [_object_to(o, scene) for o in scene.objects]
    data["relationships"] = {r.name: [list(members(row)) for row in r.rows] for r in scene.relations}
    return data


def _object_to(o: Object, scene: Scene) -> dict[str, Any]:
    data: dict[str, Any] = dict(o.attributes)
    if o.position is not None:
        data["3d_coords"] = list(o.position)
    if o.rotation is not None:
        data["rotation"] = o.rotation
    if o.pixel is not None:
        nested = scene.size and scene.schema.part_attributes
        pixel = [int(v) if v.is_integer() else v for v in map(float, o.pixel)]  # whole, as in the release
        data["pixel_coords"] = [pixel, list(scene.size or ())] if nested else pixel
    if scene.schema.part_attributes:
        data["parts"] = {p.name: dict(p.attributes) | _ours(p) for p in o.parts}
    return data | _ours(o)


def _ours(thing: Object | Part) -> dict[str, Any]:
    """What the official files do not have: only where there is any."""
    texture = {"texture": thing.texture} if thing.texture else {}
    return texture | ({"box": list(thing.box)} if thing.box else {})


def read_questions(path: Path) -> Iterator[Question]:
    """The questions of a file, one at a time; programs are read where there are any."""
    data = _json.read_bytes(path)
    start = _json.first_mark(data)
    if start not in (b"{", b"["):
        _json.decode(data, path)
        raise UserError(f"{path}: expected an object or a list at top level")
    seen: set[str] = set()
    at = -1
    for at, raw in enumerate(_json.elements(data, "questions" if start == b"{" else None, path)):
        name = raw.get("question_index", at) if isinstance(raw, dict) else at
        with _json.placed(f"{path}: question {name}"):
            question = question_from(raw, at)
        if question.id in seen:
            raise UserError(f"{path}: question {question.id} appears twice")
        seen.add(question.id)
        yield question
    if at < 0:
        raise UserError(f"{path}: there are no questions in it")


def question_from(raw: dict[str, Any], at: int) -> Question:
    """A question record from one question of a file."""
    get = raw.get
    program, source = _program(raw)
    number = get("question_index", at)
    if not isinstance(raw["question"], str) or not isinstance(number, int | str):
        raise UserError("its question must be text and its question_index a number")
    action = next((raw[f] for f in hyp_dialect.ACTION_TEXT_FIELDS if f in raw), "")
    split, template = ("" if get(name) is None else get(name) for name in ("split", "template_filename"))
    if not type(action) is type(split) is type(template) is str:
        raise UserError("its split, template_filename and action must be text")
    if action and program is not None and source != "clevr_hyp":
        raise UserError("it has an action in words, and a program without it")
    return Question(
        id=str(number),
        text=raw["question"],
        scenes=(_stem(raw),),
        program=program,
        answer=read_answer(get("answer")),
        kind=_kind(raw),
        action=action,
        provenance=_provenance(source, split, template, get("question_family_index")),
        notes=tuple([(k, raw[k]) for k in KEPT if k in raw]),
    )


@lru_cache(maxsize=10_000)
def _provenance(source: str, split: str, template: str, family: int | None) -> Provenance:
    return Provenance(source, split, template, family)


def _program(raw: dict[str, Any]) -> tuple[Program | None, str]:
    """The program and the name of its dialect, told by the functions used."""
    action = next((raw[f] for f in hyp_dialect.ACTION_FIELDS if f in raw), None)
    listed = raw.get("program")
    if listed is not None and not isinstance(listed, list):
        raise UserError("its program must be a list of nodes")
    if action:
        return hyp_dialect.read_pair(action, listed or ()), "clevr_hyp"
    if not listed:
        return None, "clevr"
    try:
        return clevr_dialect.read(listed), "clevr"
    except ProgramError:
        functions = {n.get("function") or n.get("type") for n in listed if isinstance(n, dict)}
        for name, dialect in (("superclevr", superclevr_dialect), ("clevr_hyp", hyp_dialect)):
            if functions & (dialect.DIALECT.table.keys() - clevr_dialect.DIALECT.table.keys()):
                return dialect.read(listed), name
        raise


def _kind(raw: dict[str, Any]) -> str:
    listed = raw.get("program")
    if not listed:
        return ""
    last = listed[-1]
    return str(last.get("function") or last.get("type") or "") if isinstance(last, dict) else ""


def write_questions(path: Path, questions: Iterable[Question], info: dict[str, Any] | None = None) -> None:
    _json.write(path, {"info": info or {}, "questions": [question_to(q) for q in questions]})


def question_to(question: Question) -> dict[str, Any]:
    """One question as the official files have it."""
    p = question.provenance
    data: dict[str, Any] = {"split": p.split} if p.split else {}
    data |= dict(question.notes)
    if not data.keys() & {"image_filename", "image_index", "image"}:
        data["image"] = question.scenes[0]
    data["question"] = question.text
    if question.answer is not None:
        data["answer"] = question.answer
    if question.program is not None:
        match p.source:
            case "clevr_hyp":
                data |= hyp_dialect.write_pair(question.program, question.action)
            case "superclevr":
                data["program"] = superclevr_dialect.write(question.program)
            case _:
                data["program"] = clevr_dialect.write(question.program)
    elif question.action:
        data[hyp_dialect.ACTION_TEXT_FIELDS[0]] = question.action
    if p.template:
        data["template_filename"] = p.template
    if p.family is not None:
        data["question_family_index"] = p.family
    return data
