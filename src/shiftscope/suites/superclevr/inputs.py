"""A user's own Super-CLEVR scenes, asked about and drawn; and how often each concept occurs in a dataset."""

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...arrow_array import read_numbers
from ...errors import UserError
from ...executor import ONE_PROCESS, Executor
from ...formats.clevr import ClevrSceneRow, list_scene_rows, parse_scene_row
from ...geometry.camera import camera_of
from ...geometry.visibility import measure_labels
from ...json_files import refuse_repeated_ids
from ...render import CPU
from ...scene import Box, Object, Pairs, Scene
from ...schemas.superclevr import SCHEMA
from ...store.dataset import Dataset
from ...store.image import LENGTH_DTYPE, StoredImage, decode_mask
from ...store.shard import ShardFile, read_columns
from ...store.tables import summarize_scene
from ...world.superclevr import SuperClevrRules
from ...world.superclevr.concepts import COLORS, SHAPES, ConceptDistribution
from ..scene_images import render_stored_images, write_spool

BLOCK = 1000  # scenes, about, that one process reads at a time


@dataclass(frozen=True, slots=True)
class UserScenes:
    """A user's own scenes: their file or folder, or where they were spooled."""

    path: Path
    pictured: bool = True
    own_size: bool = False  # each is rendered at the size that its file gives


def spool_user_scenes(path: Path, spool: Path, shard: int, executor: Executor = ONE_PROCESS) -> int:
    """Write a user's own scenes where other processes find them, shard by shard; returns how many there are.

    All are read before anything is made of any, so that a bad one is refused at once.
    """
    rows = list_scene_rows(path)
    size = shard * max(1, BLOCK // shard)
    jobs = [(k, rows[k : k + size]) for k in range(0, len(rows), size)]
    executor.require_files([spool])
    read = executor.limit(len(jobs)).map(partial(_read_rows, path, spool, shard), jobs, ahead=len(jobs))
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


def render_user_scene(scene: Scene, size: tuple[int, int], device: str = CPU) -> StoredImage:
    """A given scene rendered; its record then says where things are seen in this picture."""
    (image,) = render_stored_images([scene], size, parts=True, device=device)
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


# Concept counts: how often each concept occurs in a dataset, beside how often it was asked for.

EVEN = {"size": {"large": 0.5, "small": 0.5}}  # asked for in every variant
COLUMNS = ("scene", "width", "height", "visible_pixels", "part_values", "part_lengths")


class ConceptFrequency(NamedTuple):
    """One value of an attribute of whole vehicles; shares from 0 to 1."""

    attribute: str
    value: str
    asked: float | None  # None: nobody asked, the scenes were given
    measured: float
    vehicles: int


class ShapeColorFrequency(NamedTuple):
    """How often vehicles of one shape are of one colour; shares from 0 to 1 of that shape."""

    shape: str
    color: str
    asked: float
    measured: float | None  # None: there is no vehicle of that shape
    vehicles: int


class LowVisibility(NamedTuple):
    """Vehicles, and parts with attributes of their own, with fewer visible pixels than a new scene allows."""

    vehicles: int
    of_vehicles: int
    parts: int
    of_parts: int


class ConceptReport(NamedTuple):
    """What is counted over all splits; lists are empty where there is nothing to count."""

    frequencies: list[ConceptFrequency]
    shape_colors: list[ShapeColorFrequency]  # where it was asked which go together
    low_visibility: LowVisibility | None  # of given scenes that have pictures


def count_concepts(dataset: Dataset, asked: ConceptDistribution | None, *, look: bool) -> ConceptReport:
    """Every value of every attribute, and every shape with every colour; with `look`, what is hardly seen."""
    things, looked = _scan(dataset.folder, tuple(s.images for s in dataset.shards() if s.images))
    values: Counter[tuple[str, str]] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()  # shape and colour
    for attributes, n in things.items():
        known = dict(attributes)
        for pair in known.items():
            values[pair] += n
        pairs[known["shape"], known["color"]] += n
    wanted = asked.frequencies() | EVEN if asked else {}
    total = things.total()
    found = [
        ConceptFrequency(a.name, v, wanted.get(a.name, {}).get(v), values[a.name, v] / total, values[a.name, v])
        for a in SCHEMA.attributes
        for v in sorted(a.values, key=lambda v: -wanted.get(a.name, {}).get(v, 0.0))
        if total
    ]
    matrix = []
    if asked is not None and asked.together is not None:
        for shape, row in zip(SHAPES, asked.together, strict=True):
            of = values["shape", shape]
            for color, share in zip(COLORS, row, strict=True):
                n = pairs[shape, color]
                matrix.append(ShapeColorFrequency(shape, color, share, n / of if of else None, n))
    return ConceptReport(found, matrix, LowVisibility(*looked) if look else None)


@lru_cache(maxsize=1)  # the card and the command line both tell of it
def _scan(folder: Path, files: tuple[ShardFile, ...]) -> tuple[Counter[Pairs], list[int]]:
    """How many vehicles there are of each kind, and the numbers of LowVisibility."""
    things: Counter[Pairs] = Counter()
    looked = [0, 0, 0, 0]
    for file in files:
        table = read_columns(folder / file.path, COLUMNS)
        columns = (table[name].to_pylist() for name in COLUMNS[:4])
        for k, (text, width, height, visible) in enumerate(zip(*columns, strict=True)):
            seen = summarize_scene(text)
            things.update(seen.objects)
            if visible:
                rules = SuperClevrRules(size=(width, height))
                parts: list[float] = []  # visible pixels of the parts that the scene lists
                if seen.parts and table["part_values"][k].is_valid:
                    values, lengths = (read_numbers(table[name][k].values) for name in COLUMNS[4:])
                    counted = np.bincount(values, lengths.astype(LENGTH_DTYPE), minlength=seen.parts + 1)
                    parts = counted[1:].tolist()
                for at, (pixels, least) in enumerate(((visible, rules.pixels), (parts, rules.part_pixels))):
                    looked[2 * at] += sum(n < rules.scale_pixels(least) for n in pixels)
                    looked[2 * at + 1] += len(pixels)
    return things, looked


def format_concepts(report: ConceptReport) -> str:
    """All of it as Markdown; what was not counted is left out."""
    passages = []
    if report.frequencies:
        large = next(f for f in report.frequencies if (f.attribute, f.value) == ("size", "large"))
        why = (
            " Sizes are drawn evenly, but where a scene is crowded large vehicles are made small until there is "
            "room: in a large dataset about 47% are large, in every variant, rather than 50%; here "
            f"{large.measured:.1%} are."
        )
        lines = ["## Concepts", "", f"Shares of whole vehicles.{'' if large.asked is None else why}", ""]
        lines += ["| attribute | value | asked for | measured | vehicles |", "|---|---|---:|---:|---:|"]
        for f in report.frequencies:
            asked = "" if f.asked is None else f"{f.asked:.2%}"
            lines.append(f"| {f.attribute} | {f.value} | {asked} | {f.measured:.2%} | {f.vehicles:,} |")
        passages.append("\n".join(lines))
    if report.shape_colors:
        lines = ["## Colors of each shape", "", "Percent of the vehicles of a shape: asked for / measured.", ""]
        lines += [f"| shape | {' | '.join(COLORS)} | vehicles |", f"|---|{'---:|' * (len(COLORS) + 1)}"]
        for k in range(0, len(report.shape_colors), len(COLORS)):
            row = report.shape_colors[k : k + len(COLORS)]
            measured = ("–" if cell.measured is None else f"{100 * cell.measured:.1f}" for cell in row)
            shares = " | ".join(f"{100 * cell.asked:.1f} / {of}" for cell, of in zip(row, measured, strict=True))
            lines.append(f"| {row[0].shape} | {shares} | {sum(cell.vehicles for cell in row):,} |")
        passages.append("\n".join(lines))
    if report.low_visibility:
        passages.append(describe_low_visibility(report.low_visibility))
    return "\n\n".join(filter(None, passages))


def describe_low_visibility(unseen: LowVisibility) -> str:
    """How much of given scenes is hardly seen; nothing where nothing was looked at."""
    if not unseen.of_vehicles:
        return ""
    rules = SuperClevrRules()
    return (
        f"Of the {unseen.of_vehicles:,} vehicles in the given scenes {unseen.vehicles:,} have fewer than "
        f"{rules.pixels} visible pixels, and of the {unseen.of_parts:,} parts {unseen.parts:,} fewer than "
        f"{rules.part_pixels} (counted at 640×480, scaled by area); questions are asked about these too."
    )
