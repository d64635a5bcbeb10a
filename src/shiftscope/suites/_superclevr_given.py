"""Given scenes: questions about a user's own Super-CLEVR scenes, and pictures of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import UserError
from ..formats._json import unique_ids
from ..formats.clevr import Row, read_row, scene_rows
from ..geometry.camera import SIZE, camera_of
from ..scene import Box, Object, Scene
from ..schemas.superclevr import SCHEMA
from ..store.build import Made
from ..store.image import StoredImage
from ..store.masks import decode
from ..store.workers import in_order
from ._pictures import pictures
from ._spool import read_spool, write_spool
from .superclevr import Order, questions_of

OWN_SIZE: dict[str, Any] = {"size": None}  # in the spec: each is rendered at its own


BLOCK = 1000  # scenes, about, that one process reads at a time


def lay_out(path: Path, spool: Path, shard: int, workers: int = 1) -> int:
    """Put a user's own scenes where other processes find them, shard by shard; returns how many there are.

    All are read before anything is made of any, so that a bad one is refused at once.
    """
    rows = scene_rows(path)
    size = shard * max(1, BLOCK // shard)
    jobs = [(k, rows[k : k + size]) for k in range(0, len(rows), size)]
    read = in_order(partial(_read, path, spool, shard), jobs, min(workers, len(jobs)), ahead=len(jobs))
    with closing(read):
        unique_ids((name for names in read for name in names), "scene", path)
    return len(rows)


def _read(path: Path, spool: Path, shard: int, job: tuple[int, Sequence[Row]]) -> list[str]:
    """Read these rows, the first of them beginning a shard; their names."""
    first, rows = job
    scenes = [read_row(row) for row in rows]
    for scene in scenes:
        if scene.schema != SCHEMA:
            raise UserError(f"{path}: scene {scene.id!r} is no Super-CLEVR scene but of {scene.schema.name}")
    for k in range(0, len(scenes), shard):
        write_spool(spool / str((first + k) // shard), scenes[k : k + shard])
    return [scene.id for scene in scenes]


def make_given_shard(spool: Path, pictured: bool, spec: Mapping[str, Any], split: str, k: int) -> Made:
    """Questions, and if wanted pictures, of shard k of a user's own scenes, as `lay_out` left them."""
    order = Order.of(spec)
    scenes = read_spool(spool / str(k))
    asked = questions_of(order, scenes, split, k)
    if not pictured:
        return [StoredImage(scene) for scene in scenes], asked
    forced = order.size if spec["size"] else None
    return [shown(scene, forced or scene.size or SIZE) for scene in scenes], asked


def shown(scene: Scene, size: tuple[int, int]) -> StoredImage:
    """A given scene rendered; its record then says where things are seen in this picture."""
    (image,) = pictures([scene], size, parts=True)
    assert image.part_mask is not None
    labels = decode(image.part_mask)
    label = 0
    objects = []
    for thing, (left, top, width, height) in zip(_placed(scene, size), image.boxes, strict=True):
        parts = []
        for part in thing.parts:
            label += 1
            parts.append(replace(part, box=_box(labels == label)))
        box = (float(left), float(top), float(width), float(height)) if width else None
        objects.append(replace(thing, parts=tuple(parts), box=box))
    return replace(image, scene=replace(scene, objects=tuple(objects), size=size))


def _placed(scene: Scene, size: tuple[int, int]) -> tuple[Object, ...]:
    """The objects with their centres where a picture of this size has them."""
    if scene.size in (None, size):
        return scene.objects
    camera = camera_of(scene)
    made = []
    for thing in scene.objects:
        if thing.pixel is not None and thing.position is not None:
            ((x, y, depth),) = camera.project([thing.position], size).tolist()
            thing = replace(thing, pixel=(float(round(x)), float(round(y)), depth))
        made.append(thing)
    return tuple(made)


def _box(where: npt.NDArray[np.bool_]) -> Box | None:
    """Left, top, width and height around what is marked; None where nothing is."""
    rows, columns = np.flatnonzero(where.any(1)), np.flatnonzero(where.any(0))
    if not len(rows):
        return None
    left, top, right, bottom = (float(v) for v in (columns[0], rows[0], columns[-1], rows[-1]))
    return left, top, right + 1 - left, bottom + 1 - top
