"""COCO instances: images, boxes with a category each; one Scene an image, its objects named by category.

Outlines (`segmentation`) make most of such a file and are left out unless asked for. All other fields are
kept as notes, so writing gives back every image and annotation, those of one image together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..scene import Object, Scene
from ..schema import OPEN, Schema
from ..schemas import coco
from . import _json

LISTS = ("images", "annotations", "categories")
OUTLINE = "segmentation"
_IMAGE_FIELDS = frozenset(("id", "width", "height"))
_ANNOTATION_FIELDS = frozenset(("id", "image_id", "category_id", "bbox"))
_NUMBERED = re.compile(r"(?:.*_)?(\d{12})")

Box = tuple[float, float, float, float]


def image_id(stem: str) -> str:
    """The image's number in COCO, where its file is named as COCO names files, else the name itself."""
    numbered = _NUMBERED.fullmatch(stem)
    return str(int(numbered[1])) if numbered else stem


def sniff_scenes(data: Any) -> bool:
    """Whether this JSON value is a COCO file of images and their annotations."""
    return isinstance(data, dict) and all(isinstance(data.get(key), list) for key in LISTS)


def read_scenes(path: Path, *, outlines: bool = False) -> Iterator[Scene]:
    """The scenes of a file, one at a time in the order of its images."""
    data = _json.read_bytes(path)
    if data[:64].lstrip()[:1] != b"{":
        _json.decode(data, path)
        raise UserError(f"{path}: expected an object at top level")
    names: dict[int, str] = {}
    for at, raw in enumerate(_json.elements(data, "categories", path)):
        number, name = (
            _field(raw, "id", f"{path}: category {at}"),
            _field(raw, "name", f"{path}: category {at}"),
        )
        if number in names:
            raise UserError(f"{path}: category {number} appears twice")
        names[number] = str(name)
    schema = coco.SCHEMA if set(names.values()) <= set(coco.NAMES) else OPEN
    objects = _objects_by_image(data, path, names, outlines)
    seen: set[str] = set()
    for at, raw in enumerate(_json.elements(data, "images", path)):
        number = str(_field(raw, "id", f"{path}: image {at}"))
        if number in seen:
            raise UserError(f"{path}: image {number} appears twice")
        seen.add(number)
        yield _scene(raw, number, objects.pop(number, []), schema, f"{path}: image {number}")
    if objects:
        number, listed = next(iter(objects.items()))
        raise UserError(
            f"{path}: annotation {listed[0][0].id} is of image {number}, which is not among the images"
        )
    if not seen:
        raise UserError(f"{path}: there are no images in it")


def _objects_by_image(
    data: bytes, path: Path, names: dict[int, str], outlines: bool
) -> dict[str, list[tuple[Object, dict[str, Any]]]]:
    found: dict[str, list[tuple[Object, dict[str, Any]]]] = {}
    seen: set[str] = set()
    for at, raw in enumerate(_json.elements(data, "annotations", path)):
        number = str(_field(raw, "id", f"{path}: annotation {at}"))
        where = f"{path}: annotation {number}"
        if number in seen:
            raise UserError(f"{where} appears twice")
        seen.add(number)
        category = _field(raw, "category_id", where)
        if category not in names:
            raise UserError(f"{where} is of category {category}, which is not among the categories")
        box = box_of(raw["bbox"], where) if raw.get("bbox") is not None else None
        extra = {k: v for k, v in raw.items() if k not in _ANNOTATION_FIELDS and (outlines or k != OUTLINE)}
        made = Object((("name", names[category]),), id=number, box=box)
        found.setdefault(str(_field(raw, "image_id", where)), []).append((made, extra))
    return found


def box_of(values: Any, where: str) -> Box:
    """Left, top, width and height in pixels: finite, and not of negative size."""
    if not isinstance(values, list | tuple) or len(values) != 4 or {*map(type, values)} - {int, float}:
        raise UserError(f"{where}: expected a box of four numbers, came {values!r}")
    left, top, width, height = values
    if not all(map(_json.is_number, values)) or width < 0 or height < 0:
        far = _json.at_most(*values)
        raise UserError(f"{where}: a box must be finite and not of negative size, came {values!r}{far}")
    return (left, top, width, height)


def _scene(
    raw: dict[str, Any],
    number: str,
    objects: list[tuple[Object, dict[str, Any]]],
    schema: Schema,
    where: str,
) -> Scene:
    size = (raw.get("width"), raw.get("height"))
    if size != (None, None) and not all(map(_json.is_side, size)):
        far = _json.at_most(*size)
        raise UserError(f"{where}: its width and height must be whole numbers above 0, came {size}{far}")
    notes = tuple((k, v) for k, v in raw.items() if k not in _IMAGE_FIELDS)
    extra = {o.id: e for o, e in objects if e}
    return Scene(
        tuple(o for o, _ in objects),
        schema=schema,
        size=None if size == (None, None) else size,  # type: ignore[arg-type]  # checked above
        id=number,
        notes=(*notes, ("annotations", extra)) if extra else notes,
    )


def _field(raw: Any, field: str, where: str) -> Any:
    if not isinstance(raw, dict):
        raise UserError(f"{where}: expected an object, came {type(raw).__name__}")
    value = raw.get(field)
    if not isinstance(value, int | str) or isinstance(value, bool):
        raise UserError(
            f"{where}: there is no {field!r} in it" if value is None else f"{where}: bad {field!r}"
        )
    return value


def header(path: Path) -> dict[str, Any]:
    """What the file says besides images and annotations: its info, licenses and categories."""
    return {k: v for k, v in _json.entries(_json.read_bytes(path), path) if k not in LISTS[:2]}


def write_scenes(path: Path, scenes: Iterable[Scene], header: dict[str, Any] | None = None) -> None:
    """A COCO file; categories that the header does not number yet follow in the order they are met."""
    data = dict(header or {})
    categories: list[dict[str, Any]] = list(data.pop("categories", ()))
    numbers = {c["name"]: c["id"] for c in categories}
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for scene in scenes:
        images.append(_image_to(scene))
        extra = scene.note("annotations", {})
        for o in scene.objects:
            name = next(iter(o.values("name")), "")
            if not name:
                raise UserError(f"{path}: image {scene.id}: an object has no name to be its category")
            if name not in numbers:
                numbers[name] = max(numbers.values(), default=0) + 1
                categories.append({"id": numbers[name], "name": name})
            made = {"id": _number(o.id), "image_id": _number(scene.id), "category_id": numbers[name]}
            annotations.append(made | ({"bbox": list(o.box)} if o.box else {}) | extra.get(o.id, {}))
    _number_the_rest(annotations)
    _json.write(path, data | {"images": images, "annotations": annotations, "categories": categories})


def _image_to(scene: Scene) -> dict[str, Any]:
    size = {"width": scene.size[0], "height": scene.size[1]} if scene.size else {}
    notes = {k: v for k, v in scene.notes if k != "annotations"}
    return {"id": _number(scene.id)} | size | notes


def _number_the_rest(annotations: list[dict[str, Any]]) -> None:
    """Ids for objects that have none, or one that another image's object has too."""
    last = max((a["id"] for a in annotations if isinstance(a["id"], int)), default=0)
    seen: set[int | str] = set()
    for annotation in annotations:
        if annotation["id"] == "" or annotation["id"] in seen:
            last += 1
            annotation["id"] = last
        seen.add(annotation["id"])


def _number(name: str) -> int | str:
    return int(name) if name.isascii() and name.isdigit() else name
