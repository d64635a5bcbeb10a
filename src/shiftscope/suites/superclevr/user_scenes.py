"""Given scenes: questions about a user's own Super-CLEVR scenes, and pictures of them."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ...errors import UserError
from ...executor import LocalExecutor
from ...formats.clevr import ClevrSceneRow, list_scene_rows, parse_scene_row
from ...geometry.camera import SIZE, camera_of
from ...geometry.visibility import measure_labels
from ...json_files import refuse_repeated_ids
from ...scene import Box, Object, Scene
from ...schemas.superclevr import SCHEMA
from ...store.image import StoredImage, decode_mask
from .._scene_images import render_stored_images, write_spool

BLOCK = 1000  # scenes, about, that one process reads at a time


@dataclass(frozen=True, slots=True)
class UserScenes:
    """A user's own scenes: their file or folder, or where they were spooled."""

    path: Path
    pictured: bool = True
    own_size: bool = False  # each is rendered at the size that its file gives


def spool_user_scenes(path: Path, spool: Path, shard: int, workers: int = 1) -> int:
    """Write a user's own scenes where other processes find them, shard by shard; returns how many there are.

    All are read before anything is made of any, so that a bad one is refused at once.
    """
    rows = list_scene_rows(path)
    size = shard * max(1, BLOCK // shard)
    jobs = [(k, rows[k : k + size]) for k in range(0, len(rows), size)]
    task, executor = partial(_read_rows, path, spool, shard), LocalExecutor(min(workers, len(jobs)))
    read = executor.map(task, jobs, ahead=len(jobs))
    with closing(read):
        refuse_repeated_ids((name for names in read for name in names), "scene", path)
    return len(rows)


def _read_rows(path: Path, spool: Path, shard: int, job: tuple[int, Sequence[ClevrSceneRow]]) -> list[str]:
    """Read these rows, the first of them beginning a shard; their names."""
    first, rows = job
    scenes = [parse_scene_row(row) for row in rows]
    for scene in scenes:
        if scene.schema != SCHEMA:
            raise UserError(f"{path}: scene {scene.id!r} is no Super-CLEVR scene but of {scene.schema.name}")
    for k in range(0, len(scenes), shard):
        write_spool(spool / str((first + k) // shard), scenes[k : k + shard])
    return [scene.id for scene in scenes]


def draw_user_scene(scene: Scene, size: tuple[int, int], given: UserScenes) -> StoredImage:
    """A user's scene as it is stored, with a picture if one is wanted."""
    if not given.pictured:
        return StoredImage(scene)
    return render_user_scene(scene, (scene.size or SIZE) if given.own_size else size)


def render_user_scene(scene: Scene, size: tuple[int, int]) -> StoredImage:
    """A given scene rendered; its record then says where things are seen in this picture."""
    (image,) = render_stored_images([scene], size, parts=True)
    assert image.part_mask is not None
    labels, _ = measure_labels(decode_mask(image.part_mask), sum(len(o.parts) for o in scene.objects))
    boxes = iter(labels.tolist())
    objects = []
    for thing, box in zip(_place_objects(scene, size), image.boxes, strict=True):
        parts = tuple(replace(part, box=_to_box(*next(boxes))) for part in thing.parts)
        objects.append(replace(thing, parts=parts, box=_to_box(*box)))
    return replace(image, scene=replace(scene, objects=tuple(objects), size=size))


def _to_box(left: int, top: int, width: int, height: int) -> Box | None:
    """None where nothing is seen."""
    return (float(left), float(top), float(width), float(height)) if width else None


def _place_objects(scene: Scene, size: tuple[int, int]) -> tuple[Object, ...]:
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
