"""YOLO labels: a folder with one text file per image, a line `class cx cy w h` for every box.

The numbers are shares of the image's width and height. Boxes become pixels where the image lies beside the
labels (in the same folder, or in `images/` next to `labels/`); elsewhere the shares stay as the scene's note
`shares`. Classes are COCO's 80, or the lines of a `classes.txt` in the folder.
"""

import os
from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path

from .. import json_files as _json
from ..errors import UserError
from ..files import encode_utf8, read_bytes
from ..scene import Object, Scene
from ..schema import OPEN
from ..schemas import coco
from .coco import PixelBox, image_id

ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".webp")
CLASSES_FILE = "classes.txt"
SLACK = 1e-6  # what rounding may add to a share of 1


def sniff_scenes(file: _json.InputFile) -> bool:
    """Whether it is a folder with YOLO labels, itself or in `labels/`."""
    files = _list_label_files(file.path) if file.path.is_dir() else []
    try:
        lines = read_bytes(files[0]).decode().splitlines() if files else []
        return bool(files) and all(len(line.split()) == 5 and _parse_line(line, "")[0] >= 0 for line in lines[:20])
    except (OSError, UnicodeDecodeError, UserError):
        return False


def read_scenes(path: Path) -> Iterator[Scene]:
    """The scenes of a folder of labels, or of a data set with `labels/` in it, by file name."""
    if not path.is_dir():
        raise UserError(f"{path}: no such folder")
    files = _list_label_files(path)
    if not files:
        raise UserError(f"{path}: no label files (*.txt) in this folder")
    _json.refuse_repeated_ids((image_id(f.stem) for f in files), "image", path)
    classes = files[0].parent / CLASSES_FILE
    names: Sequence[str] = coco.NAMES
    if classes.is_file():
        names = tuple(line.strip() for line in _read_text(classes).splitlines() if line.strip())
    for file in files:
        yield _read_scene(file, names)


def _read_scene(file: Path, names: Sequence[str]) -> Scene:
    if encode_utf8(file.stem) != os.fsencode(file.stem):
        raise UserError(f"{file}: its name is not UTF-8, so that it cannot name an image")
    size = _read_image_size(file)
    objects: list[Object] = []
    shares: list[PixelBox] = []
    for at, line in enumerate(_read_text(file).splitlines(), 1):
        if not line.strip():
            continue
        number, share = _parse_line(line, f"{file}: line {at}")
        if number >= len(names):
            raise UserError(f"{file}: line {at}: class {number}, but there are only {len(names)} (0 is the first)")
        box = None
        if size:
            (cx, cy, w, h), (width, height) = share, size
            box = ((cx - w / 2) * width, (cy - h / 2) * height, w * width, h * height)
        shares.append(share)
        objects.append(Object((("name", names[number]),), box=box))
    notes: tuple[tuple[str, object], ...] = (("file", file.stem),)
    if size is None:
        notes += (("shares", tuple(shares)),)
    schema = coco.SCHEMA if names == coco.NAMES else OPEN
    return Scene(tuple(objects), schema=schema, size=size, id=image_id(file.stem), notes=notes)


def _parse_line(line: str, where: str) -> tuple[int, PixelBox]:
    fields = line.split()
    if len(fields) != 5:
        raise UserError(f"{where}: expected `class cx cy w h`, got {len(fields)} fields")
    if not (fields[0].isascii() and fields[0].isdigit()):
        raise UserError(f"{where}: the class must be a whole number, got {fields[0]!r}")
    try:
        cx, cy, w, h = (float(f) for f in fields[1:])
    except ValueError:
        raise UserError(f"{where}: expected four numbers after the class, got {line.strip()!r}") from None
    for value in (cx, cy, w, h):
        if not isfinite(value) or not -SLACK <= value <= 1 + SLACK:
            raise UserError(f"{where}: {value} is no share of the image (0 to 1)")
    return int(fields[0]), (cx, cy, w, h)


def _list_label_files(path: Path) -> list[Path]:
    for folder in (path, path / "labels"):
        files = sorted(f for f in folder.glob("*.txt") if f.name != CLASSES_FILE)
        if files:
            return files
    return []


def _read_image_size(file: Path) -> tuple[int, int] | None:
    """Width and height of the image that the labels belong to, or None if it is not there."""
    from PIL import Image  # only here: it takes longer to import than all else

    for folder in (file.parent, file.parent.parent / "images"):
        for ending in ENDINGS:
            image = folder / f"{file.stem}{ending}"
            if image.is_file():
                try:
                    with Image.open(image) as opened:
                        return opened.size
                except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
                    raise UserError(f"{image}: it cannot be opened as an image") from None
    return None


def _read_text(file: Path) -> str:
    try:
        return read_bytes(file).decode()
    except UnicodeDecodeError:
        raise UserError(f"{file}: not a text file") from None
