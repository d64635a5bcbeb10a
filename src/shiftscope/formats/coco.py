"""COCO instances: images, boxes with a category each; one Scene per image, its objects named by category.

Outlines (`segmentation`), which make up most of such a file, are left out. All other fields are kept as notes.
"""

import re
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from .. import json_files as _json
from ..errors import UserError
from ..files import read_bytes
from ..question_table import ImageContents, collect_objects
from ..scene import Object, Scene
from ..schema import OPEN
from ..schemas import coco

RELEASE = ("COCO", "cc-by-4.0")
LISTS = ("images", "annotations", "categories")
_IMAGE_FIELDS = frozenset(("id", "width", "height"))
_ANNOTATION_FIELDS = frozenset(("id", "image_id", "category_id", "bbox", "segmentation"))
_COCO_FILE_NAME = re.compile(r"(?:.*_)?(\d{12})")

PixelBox = tuple[float, float, float, float]


def image_id(stem: str) -> str:
    """The image's number in COCO, where its file is named as COCO names files, else the name itself."""
    numbered = _COCO_FILE_NAME.fullmatch(stem)
    return str(int(numbered[1])) if numbered else stem


def sniff_scenes(file: _json.InputFile) -> bool:
    """Whether it is a COCO file of images, their annotations and categories; its head may show the first list alone."""
    if not isinstance(file.outline, dict):
        return False
    whole = all(isinstance(file.outline.get(key), list) for key in LISTS)
    return whole or "id" in file.first_row("images") or "category_id" in file.first_row("annotations")


def read_scenes(path: Path) -> Iterator[Scene]:
    """The scenes of a file, one at a time in the order of its images."""
    data = read_bytes(path)
    if _json.first_byte(data) == b"[":
        raise UserError(f"{path}: expected an object at top level")
    names: dict[int, str] = {}
    for number, raw in _iterate_by_id(data, path, "categories", "category"):
        names[number] = str(_get_id_field(raw, "name", f"{path}: category {len(names)}"))
    schema = coco.SCHEMA if set(names.values()) <= set(coco.NAMES) else OPEN
    objects: dict[str, list[tuple[Object, dict[str, Any]]]] = {}
    for number, raw in _iterate_by_id(data, path, "annotations", "annotation", as_text=True):
        where = f"{path}: annotation {number}"
        category = _get_id_field(raw, "category_id", where)
        if category not in names:
            raise UserError(f"{where} is of category {category}, which is not among the categories")
        box = parse_box(raw["bbox"], where) if raw.get("bbox") is not None else None
        extra = {k: v for k, v in raw.items() if k not in _ANNOTATION_FIELDS}
        thing = Object((("name", names[category]),), id=number, box=box)
        objects.setdefault(str(_get_id_field(raw, "image_id", where)), []).append((thing, extra))
    number = None
    for number, raw in _iterate_by_id(data, path, "images", "image", as_text=True):
        size = (raw.get("width"), raw.get("height"))
        if size != (None, None) and not all(map(_json.is_image_side, size)):
            far = _json.describe_limit(*size)
            where = f"{path}: image {number}"
            raise UserError(f"{where}: its width and height must be whole numbers above 0, got {size}{far}")
        notes = tuple((k, v) for k, v in raw.items() if k not in _IMAGE_FIELDS)
        shown = objects.pop(number, [])
        extra = {o.id: e for o, e in shown if e}
        yield Scene(
            tuple(o for o, _ in shown),
            schema=schema,
            size=None if size == (None, None) else size,
            id=number,
            notes=(*notes, ("annotations", extra)) if extra else notes,
        )
    if objects:
        number, listed = next(iter(objects.items()))
        raise UserError(f"{path}: annotation {listed[0][0].id} is of image {number}, which is not among the images")
    if number is None:
        raise UserError(f"{path}: there are no images in it")


def _iterate_by_id(data: bytes, path: Path, key: str, noun: str, as_text: bool = False) -> Iterator[tuple[Any, Any]]:
    """The elements of a list with their ids, none of which may come twice."""
    seen: set[Any] = set()
    for at, raw in enumerate(_json.iterate_elements(data, key, path)):
        number = _get_id_field(raw, "id", f"{path}: {noun} {at}")
        number = str(number) if as_text else number
        if number in seen:
            raise UserError(f"{path}: {noun} {number} appears twice")
        seen.add(number)
        yield number, raw


def parse_box(values: Any, where: str) -> PixelBox:
    """Left, top, width and height in pixels: finite, and not of negative size."""
    if not isinstance(values, list | tuple) or len(values) != 4 or {*map(type, values)} - {int, float}:
        raise UserError(f"{where}: expected a box of four numbers, got {values!r}")
    left, top, width, height = values
    if not all(map(_json.is_number, values)) or width < 0 or height < 0:
        far = _json.describe_limit(*values)
        raise UserError(f"{where}: a box must be finite and not of negative size, got {values!r}{far}")
    return (left, top, width, height)


def _get_id_field(raw: Any, field: str, where: str) -> Any:
    if not isinstance(raw, dict):
        raise UserError(f"{where}: expected an object, got {type(raw).__name__}")
    value = raw.get(field)
    if not isinstance(value, int | str) or isinstance(value, bool):
        raise UserError(f"{where}: there is no {field!r} in it" if value is None else f"{where}: bad {field!r}")
    return value


def read_objects(path: Path) -> ImageContents:
    """The categories of each image's boxes; without the boxes themselves, this is fast."""
    msgspec = _json.require_msgspec()
    fields: _json.FieldTable = {
        "images": [{"id": int | str}],
        "annotations": [{"image_id": int | str, "category_id": int | str}],
        "categories": [{"id": int | str, "name": str}],
    }
    try:
        whole = msgspec.json.decode(read_bytes(path), type=_json.build_struct(fields))
        kinds = {c.id: k for k, c in enumerate(whole.categories)}
        images = {i.id: k for k, i in enumerate(whole.images)}
        objects = whole.annotations
        image, kind = (
            np.fromiter(map(places.__getitem__, map(attrgetter(field), objects)), np.int64, len(objects))
            for field, places in (("image_id", images), ("category_id", kinds))
        )
        unique = len(kinds) == len(whole.categories) and len(images) == len(whole.images)
    except (msgspec.DecodeError, RecursionError, KeyError):
        unique = False
    if not unique:
        return collect_objects(read_scenes(path))  # which says what is wrong
    return ImageContents(list(images), [c.name for c in whole.categories], image, kind)
