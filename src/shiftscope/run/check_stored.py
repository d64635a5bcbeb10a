"""Check what is stored with the pictures of twins: boxes, visible pixels, masks of vehicles and of parts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..scene import Scene
from ..shift.concept_distribution import same_outlines
from ..store.dataset import Dataset
from ..store.shard import Shard, groups
from ..world.superclevr import Rules

NAMES = ("image_id", "width", "height", "num_objects")
SEEN = ("boxes", "visible_pixels", "mask_values", "mask_lengths")
PARTS = ("part_values", "part_lengths")


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """The rows of a shard of images, without the pictures."""

    scenes: tuple[Scene, ...]
    table: Any


def read_stored(dataset: Dataset, shard: Shard) -> Stored:
    """The scenes of a shard and what is stored with their pictures."""
    import pyarrow as pa

    if shard.images is None:
        return Stored((), None)
    read = ["scene", *NAMES, *SEEN, *PARTS]
    table = pa.concat_tables(groups(dataset.folder / shard.images.path, read)).combine_chunks()
    scenes = tuple(Scene.from_json(json.loads(text)) for text in table["scene"].to_pylist())
    return Stored(scenes, table)


def stored_breaches(base: Stored, twin: Stored, factor: str, level: str) -> Iterator[tuple[str, list[str]]]:
    """For each image of the twin with anything wrong about it: its name, and what is.

    Every column must be as in the base where the same is seen (but masks of parts where there are none);
    everywhere boxes must be those of the scene, and no vehicle less seen than the rules allow.
    """
    both = range(min(len(base.scenes), len(twin.scenes)))
    wrong: dict[int, list[str]] = {k: _unlike_scene(twin, k) for k in range(len(twin.scenes))}
    alike = list(both)
    if factor == "distribution":
        alike = [k for k in both if same_outlines(base.scenes[k], twin.scenes[k])]
    for name in (*SEEN, *(PARTS if level != "easy" else ())):
        for k in _unlike(base.table, twin.table, name, alike):
            wrong[k].append(f"stored {name}")
    for name in NAMES:
        for k in _unlike(base.table, twin.table, name, both):
            wrong[k].append(f"stored {name}")
    yield from ((twin.scenes[k].id, found) for k, found in wrong.items() if found)


def _unlike(base: Any, twin: Any, name: str, rows: Sequence[int]) -> list[int]:
    """The rows in which a column differs."""
    if not rows or base[name].equals(twin[name]):
        return []
    one, two = base[name], twin[name]
    return [k for k in rows if not one.slice(k, 1).equals(two.slice(k, 1))]


def _unlike_scene(twin: Stored, k: int) -> list[str]:
    """What the columns of an image say otherwise than its scene."""
    scene, row = twin.scenes[k], {name: twin.table[name][k].as_py() for name in (*NAMES, *SEEN[:2])}
    found = []
    if (row["image_id"], row["num_objects"]) != (scene.id, len(scene.objects)):
        found.append("stored image_id or num_objects")
    if [tuple(map(float, box)) for box in row["boxes"]] != [o.box for o in scene.objects]:
        found.append("boxes that are not those of its picture")
    rules = Rules(size=(row["width"], row["height"]))
    if scene.size != rules.size:
        found.append("a size that is not that of its picture")
    if any(pixels < rules.scaled(rules.pixels) for pixels in row["visible_pixels"]):
        found.append("a vehicle that is hardly seen")
    return found
