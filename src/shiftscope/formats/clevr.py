"""CLEVR, Super-CLEVR, CLEVR_HYP and CLEVR-Math: scene files and question files, released or from the generator."""

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import pi
from pathlib import Path
from typing import Any, NamedTuple

from .. import json_files as _json
from ..answer import Answer, read_answer
from ..english.inflection import spell_file_name
from ..errors import UserError
from ..files import read_bytes
from ..lang.notations import clevr as clevr_notation
from ..lang.notations import clevr_hyp as hyp_notation
from ..lang.notations import clevr_math as math_notation
from ..lang.notations import superclevr as superclevr_notation
from ..lang.program import Program, ProgramError
from ..question import Provenance, Question
from ..scene import Box, Notes, Object, Part, Scene, mask_members
from ..schema import Schema
from ..schemas import clevr, superclevr
from ._clevr_fields import (
    TEXTURES,
    get_fields,
    parse_box,
    parse_number,
    parse_relation,
    parse_size,
    parse_texture,
    parse_vector,
)
from ._clevr_neighbours import (
    CAMERA_FRAME,
    IMAGE_LISTS,
    WHOLE,
    flip_front,
    is_parsed_scene,
    read_mask_boxes,
    relate_parsed,
    split_images,
)

ATTRIBUTES = ("size", "color", "material", "shape")
STAGING = ("camera", "lamps")  # of our own scenes: what a rendering needs to be the same again
FRAME = "frame"  # note of a scene: its positions are as the camera sees them
ROTATION_UNIT = "rotation_unit"  # of our own CLEVR scenes: degrees; a released one does not say, and means radians
RADIANS = "rotation_radians"  # a note of a scene: the rotations as its file has them, to be written again
DEGREES = 180 / pi  # in a radian
OWN_FIELDS = ("texture", "box")  # of our own objects and parts: what is painted on them, and where they are seen
IMAGE_FIELDS = ("image_index", "image_filename", "image")  # of a question: one of them names its image


def sniff_scenes(file: _json.InputFile) -> bool:
    """Whether it holds CLEVR scenes: a file of them, a bare list, a single one, or a folder of files."""
    if file.path.is_dir():
        return any(file.path.glob("*.json*"))
    whole = file.outline if isinstance(file.outline, dict) else {}
    first = file.first_row("scenes") or (whole["scenes"] if isinstance(whole.get("scenes"), dict) else whole)
    return whole.get("scenes") == [] or isinstance(first.get("objects"), list)


def sniff_questions(file: _json.InputFile) -> bool:
    first = file.first_row("questions")
    return "question" in first and bool(first.keys() & {*IMAGE_FIELDS, *IMAGE_LISTS})


def explain_scenes(file: _json.InputFile) -> str:
    """Why a file that looks like CLEVR scenes is none; empty where it does not look like them."""
    listed = file.outline.get("scenes") if isinstance(file.outline, dict) else None
    if not isinstance(listed, list):
        return ""
    lacks = f"no list of objects, only {_list_fields(listed[0])}" if isinstance(listed[0], dict) else "no fields"
    return f"its first scene has {lacks} (each view of a scene must be a scene of its own)"


def explain_questions(file: _json.InputFile) -> str:
    first = file.first_row("questions") if isinstance(file.outline, dict) else {}
    if not first or "image_id" in first or "imageId" in first:  # VQA's, GQA's
        return ""
    missing = "no question" if "question" not in first else f"none of {', '.join((*IMAGE_FIELDS, *IMAGE_LISTS))}"
    return f"its first question has {missing}, only {_list_fields(first)}"


def _list_fields(row: dict[str, Any]) -> str:
    names = [*row]
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


class ClevrSceneRow(NamedTuple):
    """One scene as its file has it, to be read wherever there is time."""

    path: Path
    at: int  # its place in the file
    text: bytes


def read_scenes(path: Path, schema: Schema | None = None) -> list[Scene]:
    """All scenes of a file, or of a folder with a file for each; the vocabulary is recognised."""
    scenes = []
    for file, at, raw in _iterate_scenes(path):
        with _json.locate_errors(f"{file}: scene {at}"):
            scenes.append(parse_scene(raw, schema or _detect_schema(raw)))
    _json.refuse_repeated_ids((s.id for s in scenes), "scene", path)
    return scenes


def list_scene_rows(path: Path) -> list[ClevrSceneRow]:
    """The scenes of a file or folder as text; there is at least one."""
    return [ClevrSceneRow(file, at, json.dumps(raw).encode()) for file, at, raw in _iterate_scenes(path)]


def parse_scene_row(row: ClevrSceneRow) -> Scene:
    raw = _json.parse_json(row.text)
    with _json.locate_errors(f"{row.path}: scene {row.at}"):
        return parse_scene(raw, _detect_schema(raw))


def _iterate_scenes(path: Path) -> Iterator[tuple[Path, int, Any]]:
    """The scenes of a file or folder, each with its file and its place there; at least one."""
    files = sorted(path.glob("*.json*")) if path.is_dir() else [path]
    if not files:
        raise UserError(f"{path}: no scene files (*.json) in this folder")
    found = False
    for file in files:
        looked_at = _json.InputFile(file)
        if not sniff_scenes(looked_at):
            _json.load_json(file)  # says where it is no JSON
            raise UserError(f"{file}: not a CLEVR scene file (no scenes with objects in it)")
        if isinstance(looked_at.outline, list) or isinstance(looked_at.outline.get("scenes"), list):
            raws: Iterable[Any] = _json.iterate_elements(read_bytes(file), "scenes", file)
        else:  # a single scene, at top level or under `scenes`
            whole = _json.load_json(file)
            raws = [whole.get("scenes", whole)]
        for at, raw in enumerate(raws):
            found = True
            objects = raw.get("objects") if isinstance(raw, dict) else None
            if not isinstance(objects, list) or not all(isinstance(o, dict) for o in objects):
                raise UserError(f"{file}: scene {at}: expected an object with a list of objects, got {raw!r:.60}")
            yield file, at, raw
    if not found:
        raise UserError(f"{path}: there are no scenes in it")


def _detect_schema(raw: dict[str, Any]) -> Schema:
    """Super-CLEVR where an object has parts or is a vehicle, else CLEVR."""
    vehicles = superclevr.SHAPE.values
    if any("parts" in o or o.get("shape") in vehicles for o in raw["objects"]):
        return superclevr.SCHEMA
    return clevr.SCHEMA


def parse_scene(raw: dict[str, Any], schema: Schema) -> Scene:
    size: tuple[int, int] | None = None
    known = _list_vocabulary(schema, part=False)
    parsed, boxes = is_parsed_scene(raw), read_mask_boxes(raw)
    staging = tuple(_parse_staging(raw))
    radians: list[float] | None = [] if _turns_in_radians(raw, schema, staging) else None
    objects = []
    for at, o in enumerate(raw["objects"]):
        for attribute in ATTRIBUTES:
            if attribute not in o:
                raise UserError(f"object {at} has no {attribute}")
            if type(o[attribute]) is not str or (attribute, o[attribute]) not in known:
                _check_value(schema, attribute, o[attribute], f"object {at}", part=False)
        pixel = o.get("pixel_coords")
        if isinstance(pixel, list) and pixel and isinstance(pixel[0], list):
            pixel, size = pixel[0], parse_size(pixel)
        coords = flip_front(parse_vector(o["position"])) if parsed else o.get("3d_coords")
        objects.append(
            Object(
                attributes=tuple([(a, o[a]) for a in ATTRIBUTES]),
                parts=tuple(
                    [_parse_part(n, p, schema, at, boxes.get((at, n))) for n, p in get_fields(o, "parts").items()]
                ),
                position=parse_vector(coords) if coords is not None else None,
                rotation=_parse_rotation(o["rotation"], radians) if o.get("rotation") is not None else None,
                pixel=parse_vector(pixel) if pixel is not None else None,
                box=parse_box(o.get("box")) or boxes.get((at, WHOLE)),
                texture=parse_texture(o.get("texture")),
            )
        )
    directions = tuple((name, parse_vector(v)) for name, v in get_fields(raw, "directions").items())
    stored = get_fields(raw, "relationships").items()
    relations = tuple(parse_relation(name, rows, len(objects)) for name, rows in stored)
    frame: tuple[tuple[str, str], ...] = ()
    if parsed:
        directions, frame = CAMERA_FRAME, ((FRAME, "camera"),)
        relations = relations or relate_parsed(tuple(objects))
    told = tuple((k, raw[k]) for k in ("image_index", "image_filename", "split") if k in raw)
    return Scene(
        id=_image_name(raw),
        schema=schema,
        size=size,
        objects=tuple(objects),
        directions=directions,
        relations=relations,
        notes=(*told, *frame, *staging, *(((RADIANS, tuple(radians)),) if radians else ())),
    )


def _turns_in_radians(raw: dict[str, Any], schema: Schema, staging: Notes) -> bool:
    """CLEVR's generator draws from 0 to 360 and hands that to Blender as radians; Super-CLEVR's converts it first.

    Our own scenes are in degrees and say so; those of earlier versions only note their camera.
    """
    return schema != superclevr.SCHEMA and raw.get(ROTATION_UNIT) != "degrees" and "camera" not in dict(staging)


def _parse_rotation(value: Any, radians: list[float] | None) -> float:
    """In degrees; a number that is in radians is added to those."""
    number = parse_number(value)
    if radians is None:
        return number
    radians.append(number)
    return _to_degrees(number)


def _to_degrees(radians: float) -> float:
    return radians * DEGREES % 360.0


def _parse_staging(raw: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Camera and lamps, as we write them; what others mean by these words is left alone."""
    try:
        if "camera" in raw:
            yield "camera", parse_vector(raw["camera"])
        if "lamps" in raw:
            key, fill, back = map(parse_vector, raw["lamps"])
            yield "lamps", (key, fill, back)
    except (UserError, TypeError, ValueError):
        return


def _parse_part(name: str, raw: dict[str, Any], schema: Schema, at: int, box: Box | None) -> Part:
    known = _list_vocabulary(schema, part=True)
    if not isinstance(raw, dict):
        raise UserError(f"object {at}, part {name}: expected its color, material and size, got {raw!r:.60}")
    attributes = tuple([pair for pair in raw.items() if pair[0] not in OWN_FIELDS])
    for attribute, value in (("name", name), *attributes):
        if type(value) is not str or (attribute, value) not in known:
            _check_value(schema, attribute, value, f"object {at}, part {name}", part=True)
    return Part(name, attributes, parse_texture(raw.get("texture")), parse_box(raw.get("box")) or box)


@lru_cache(maxsize=64)
def _list_vocabulary(schema: Schema, *, part: bool) -> frozenset[tuple[str, str]]:
    attributes = schema.part_attributes if part else schema.attributes
    return frozenset((a.name, value) for a in attributes for value in a.values)


def _check_value(schema: Schema, attribute: str, value: Any, where: str, *, part: bool) -> None:
    if schema.closed and value not in schema.attribute(attribute, part=part).values:
        raise UserError(f"{where}: unknown {attribute} {value!r} (vocabulary: {schema.name})")


def _image_name(raw: dict[str, Any]) -> str:
    """What names the image: its file name without the ending, or its index."""
    name = raw.get("image_filename") or raw.get("image")
    if name:
        return str(name).rpartition("/")[2].rpartition(".")[0] or str(name)
    if isinstance(raw.get("image_index"), int | str):
        return str(raw["image_index"])
    raise UserError("it has neither image_filename nor image_index")


def write_scenes(path: Path, scenes: Iterable[Scene], info: dict[str, Any] | None = None) -> None:
    _json.write_json(path, {"info": info or {}, "scenes": [format_scene(s) for s in scenes]})


def format_scene(scene: Scene) -> dict[str, Any]:
    data: dict[str, Any] = dict(scene.notes)
    radians = data.pop(RADIANS, None)
    if radians is None and scene.schema != superclevr.SCHEMA and any(o.rotation is not None for o in scene.objects):
        data[ROTATION_UNIT] = "degrees"
    spelled = None if radians is None else {_to_degrees(value): value for value in radians}
    objects = [_format_object(o, scene, spelled) for o in scene.objects]
    if data.pop(FRAME, None):  # NS-VQA's scenes leave to their positions what is left of what
        data["objects"] = objects
        return data | ({} if scene.relations == relate_parsed(scene.objects) else _format_relations(scene))
    data["directions"] = {name: list(vector) for name, vector in scene.directions}
    data["objects"] = objects
    return data | _format_relations(scene)


def _format_relations(scene: Scene) -> dict[str, Any]:
    return {"relationships": {r.name: [list(mask_members(row)) for row in r.rows] for r in scene.relations}}


def _format_object(o: Object, scene: Scene, radians: dict[float, float] | None) -> dict[str, Any]:
    """`radians` gives a rotation as its file had it; without them rotations are written in degrees."""
    data: dict[str, Any] = dict(o.attributes)
    if o.position is not None:
        parsed = scene.note(FRAME)
        data["position" if parsed else "3d_coords"] = list(flip_front(o.position) if parsed else o.position)
    if o.rotation is not None:
        data["rotation"] = o.rotation if radians is None else radians.get(o.rotation, o.rotation / DEGREES)
    if o.pixel is not None:
        nested = scene.size and scene.schema.part_attributes
        pixel = [int(v) if v.is_integer() else v for v in map(float, o.pixel)]  # whole, as in the release
        data["pixel_coords"] = [pixel, list(scene.size or ())] if nested else pixel
    if scene.schema.part_attributes:
        data["parts"] = {p.name: dict(p.attributes) | _format_own_fields(p) for p in o.parts}
    return data | _format_own_fields(o)


def _format_own_fields(thing: Object | Part) -> dict[str, Any]:
    """What the official files do not have: only where there is any."""
    official = next((theirs for theirs, ours in TEXTURES.items() if ours == thing.texture), thing.texture)
    return ({"texture": official} if official else {}) | ({"box": list(thing.box)} if thing.box else {})


def read_questions(path: Path) -> Iterator[Question]:
    """The questions of a file, one at a time; programs are read where there are any."""

    def list_rows() -> Iterator[tuple[str, Any]]:
        for at, raw in enumerate(_json.iterate_elements(read_bytes(path), "questions", path)):
            place = f"question {raw.get('question_index', at) if isinstance(raw, dict) else at}"
            if not isinstance(raw, dict) or not raw.keys() & IMAGE_LISTS.keys():
                yield place, (raw, at)
                continue
            with _json.locate_errors(f"{path}: {place}"):
                rows = list(split_images(raw, at))
            for row in rows:
                yield place, (row, at)

    return _json.parse_records(list_rows(), parse_question, path, "questions")


def parse_question(raw: dict[str, Any], at: int) -> Question:
    get = raw.get
    program, source = _parse_program(raw)
    number = get("question_index", at)
    if not isinstance(raw["question"], str) or not isinstance(number, int | str):
        raise UserError("its question must be text and its question_index a number")
    action = next((raw[f] for f in hyp_notation.ACTION_TEXT_FIELDS if f in raw), "")
    split, template = ("" if get(name) is None else get(name) for name in ("split", "template_filename"))
    if not type(action) is type(split) is type(template) is str:
        raise UserError("its split, template_filename and action must be text")
    family = get("question_family_index", get("template_index"))
    if family is not None and not isinstance(family, int):
        raise UserError(f"its question_family_index must be a number, got {family!r:.60}")
    if action and program is not None and source != "clevr_hyp":
        raise UserError("it has an action in words, and a program without it")
    last = raw["program"][-1] if get("program") else None
    kind = str(last.get("function") or last.get("type") or "") if isinstance(last, dict) else ""
    return Question(
        id=str(number),
        text=raw["question"],
        scenes=(_image_name(raw),),
        program=program,
        answer=read_answer(get("answer")),
        kind=kind,
        action=action,
        provenance=_build_provenance(source, split, template, family),
        notes=tuple([(k, raw[k]) for k in ("question_index", *IMAGE_FIELDS) if k in raw]),
    )


_build_provenance = lru_cache(maxsize=10_000)(Provenance)


# By the source of a question; told from CLEVR's by the functions that these have besides.
NOTATIONS: dict[str, Any] = {"superclevr": superclevr_notation, "clevr_hyp": hyp_notation, "clevr_math": math_notation}


def _parse_program(raw: dict[str, Any]) -> tuple[Program | None, str]:
    """The program and the name of its notation, recognised by the functions used."""
    action = next((raw[f] for f in hyp_notation.ACTION_FIELDS if f in raw), None)
    listed = raw.get("program")
    if listed is not None and not isinstance(listed, list):
        raise UserError("its program must be a list of nodes")
    if action:
        return hyp_notation.read_pair(action, listed or ()), "clevr_hyp"
    if not listed:
        return None, "clevr"
    try:
        return clevr_notation.read(listed), "clevr"
    except ProgramError:
        functions = {str(n.get("function") or n.get("type")) for n in listed if isinstance(n, dict)}
        for name, notation in NOTATIONS.items():
            if functions & (notation.TABLE.keys() - clevr_notation.FUNCTIONS.keys()):
                return notation.read(listed), name
        raise


def spell_official_answer(answer: Answer, schema: Schema) -> Answer:
    """The answer as Super-CLEVR's own files spell it: school bus, mid left door; others stay as they are."""
    if schema != superclevr.SCHEMA or not isinstance(answer, str):
        return answer
    if answer in superclevr.PART_NAMES:
        return spell_file_name(answer)
    return superclevr.OFFICIAL_MODELS.get(answer, answer)


def write_questions(path: Path, questions: Iterable[Question], info: dict[str, Any] | None = None) -> None:
    _json.write_json(path, {"info": info or {}, "questions": [format_question(q) for q in questions]})


def format_question(question: Question) -> dict[str, Any]:
    p = question.provenance
    data: dict[str, Any] = {"split": p.split} if p.split else {}
    data |= dict(question.notes)
    if not data.keys() & {*IMAGE_FIELDS}:
        data["image"] = question.scenes[0]
    data["question"] = question.text
    if question.answer is not None:
        data["answer"] = question.answer
    if question.program is not None and p.source == "clevr_hyp":
        data |= hyp_notation.write_pair(question.program, question.action)
    elif question.program is not None:
        data["program"] = NOTATIONS.get(p.source, clevr_notation).write(question.program)
    elif question.action:
        data[hyp_notation.ACTION_TEXT_FIELDS[0]] = question.action
    if p.template:
        data["template_filename"] = p.template
    if p.family is not None:
        data["question_family_index"] = p.family
    return data
