"""YOLO labels: a folder with one text file an image, a line `class cx cy w h` for every box.

The numbers are shares of the image's width and height. Boxes become pixels where the image lies beside the
labels (in the same folder, or in `images/` next to `labels/`); elsewhere the shares stay as the scene's note
`shares`. Classes are COCO's 80, or the lines of a `classes.txt` in the folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from pathlib import Path

from ..errors import UserError
from ..scene import Object, Scene
from ..schema import OPEN
from ..schemas import coco
from ..whole import utf8, write_whole
from . import _json
from .coco import Box, image_id

ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".webp")
CLASSES = "classes.txt"
SLACK = 1e-6  # what rounding may add to a share of 1

Size = tuple[int, int]


def sniff(path: Path) -> bool:
    """Whether this folder holds YOLO labels, itself or in `labels/`."""
    return any(_looks_like_labels(file) for file in _label_files(path)[:1])


def read_scenes(path: Path) -> Iterator[Scene]:
    """The scenes of a folder of labels, or of a data set with `labels/` in it, by file name."""
    if not path.is_dir():
        raise UserError(f"{path}: no such folder")
    files = _label_files(path)
    if not files:
        raise UserError(f"{path}: no label files (*.txt) in this folder")
    _json.unique_ids((image_id(f.stem) for f in files), "image", path)
    names = class_names(files[0].parent)
    for file in files:
        yield read_scene(file, names)


def read_scene(file: Path, names: Sequence[str] = coco.NAMES) -> Scene:
    """The scene of one label file."""
    if utf8(file.stem) != os.fsencode(file.stem):
        raise UserError(f"{file}: its name is not UTF-8, so that it cannot name an image")
    text = _text(file)
    size = _size_of(file)
    objects, shares = _parse(text, size, names, file)
    notes: tuple[tuple[str, object], ...] = (("file", file.stem),)
    if size is None:
        notes += (("shares", shares),)
    if _lines(objects, shares, names) != text:
        notes += (("text", text),)
    schema = coco.SCHEMA if names == coco.NAMES else OPEN
    return Scene(objects, schema=schema, size=size, id=image_id(file.stem), notes=notes)


def class_names(folder: Path) -> tuple[str, ...]:
    """What the class numbers of this folder's labels mean."""
    listed = folder / CLASSES
    if not listed.is_file():
        return coco.NAMES
    return tuple(line.strip() for line in _text(listed).splitlines() if line.strip())


def write_scenes(folder: Path, scenes: Iterable[Scene], names: Sequence[str] = coco.NAMES) -> None:
    """A label file for every scene; boxes need the image's size, or the shares that were read."""
    folder.mkdir(parents=True, exist_ok=True)
    if tuple(names) != coco.NAMES:
        write_whole(folder / CLASSES, "".join(f"{name}\n" for name in names).encode())
    for scene in scenes:
        file = folder / f"{scene.note('file', scene.id)}.txt"
        write_whole(file, _label_text(scene, names, file).encode())


def _label_text(scene: Scene, names: Sequence[str], file: Path) -> str:
    text = scene.note("text")  # as it was read, if that is not how we would write it
    if isinstance(text, str) and _parse(text, scene.size, names, file)[0] == scene.objects:
        return text
    if scene.size is None:
        shares = tuple(tuple(box) for box in scene.note("shares", ()))
    else:
        shares = tuple(_shares(o.box, scene.size, file) for o in scene.objects)
    if len(shares) != len(scene.objects):
        raise UserError(f"{file}: the image's size is not known, so its boxes can not be written")
    unknown = [n for o in scene.objects for n in o.values("name")[:1] or ("",) if n not in names]
    if unknown:
        raise UserError(f"{file}: there is no class {unknown[0]!r} among the {len(names)}")
    return _lines(scene.objects, shares, names)


def _lines(objects: Iterable[Object], shares: Iterable[Sequence[float]], names: Sequence[str]) -> str:
    return "".join(
        f"{names.index(o.values('name')[0])} {' '.join(f'{v:.6g}' for v in box)}\n"
        for o, box in zip(objects, shares, strict=True)
    )


def _parse(
    text: str, size: Size | None, names: Sequence[str], file: Path
) -> tuple[tuple[Object, ...], tuple[Box, ...]]:
    objects: list[Object] = []
    shares: list[Box] = []
    for at, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        number, share = _line(line, f"{file}: line {at}")
        if number >= len(names):
            raise UserError(
                f"{file}: line {at}: class {number}, but there are only {len(names)} (0 is the first)"
            )
        shares.append(share)
        objects.append(Object((("name", names[number]),), box=_pixels(share, size) if size else None))
    return tuple(objects), tuple(shares)


def _line(line: str, where: str) -> tuple[int, Box]:
    fields = line.split()
    if len(fields) != 5:
        raise UserError(f"{where}: expected `class cx cy w h`, came {len(fields)} fields")
    if not (fields[0].isascii() and fields[0].isdigit()):
        raise UserError(f"{where}: the class must be a whole number, came {fields[0]!r}")
    try:
        cx, cy, w, h = (float(f) for f in fields[1:])
    except ValueError:
        raise UserError(f"{where}: expected four numbers after the class, came {line.strip()!r}") from None
    for value in (cx, cy, w, h):
        if not isfinite(value) or not -SLACK <= value <= 1 + SLACK:
            raise UserError(f"{where}: {value} is no share of the image (0 to 1)")
    return int(fields[0]), (cx, cy, w, h)


def _pixels(share: Box, size: Size) -> Box:
    cx, cy, w, h = share
    return ((cx - w / 2) * size[0], (cy - h / 2) * size[1], w * size[0], h * size[1])


def _shares(box: Box | None, size: Size, file: Path) -> Box:
    if box is None:
        raise UserError(f"{file}: an object has no box")
    left, top, w, h = box
    return ((left + w / 2) / size[0], (top + h / 2) / size[1], w / size[0], h / size[1])


def _label_files(path: Path) -> list[Path]:
    for folder in (path, path / "labels"):
        files = sorted(f for f in folder.glob("*.txt") if f.name != CLASSES)
        if files:
            return files
    return []


def _looks_like_labels(file: Path) -> bool:
    try:
        lines = _json.read_bytes(file).decode().splitlines()
        return all(len(line.split()) == 5 and _line(line, "")[0] >= 0 for line in lines[:20])
    except (OSError, UnicodeDecodeError, UserError):
        return False


def _size_of(file: Path) -> Size | None:
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
                    raise UserError(f"{image}: it can not be opened as an image") from None
    return None


def _text(file: Path) -> str:
    try:
        return _json.read_bytes(file).decode()
    except UnicodeDecodeError:
        raise UserError(f"{file}: not a text file") from None
