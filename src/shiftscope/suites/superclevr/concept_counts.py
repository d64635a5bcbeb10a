"""Concept counts: how often each concept occurs in a dataset, beside how often it was asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...scene import Pairs
from ...schemas.superclevr import SCHEMA
from ...store.dataset import Dataset
from ...store.image import LENGTH_DTYPE
from ...store.shard import ShardFile, read_columns
from ...store.tables import summarize_scene
from ...world.superclevr import SuperClevrRules
from ...world.superclevr.concepts import COLORS, SHAPES, ConceptDistribution

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


@dataclass
class _ConceptScan:
    """What one reading of all scenes counted."""

    values: Counter[tuple[str, str]] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)  # shape and colour
    vehicles: int = 0
    looked: list[int] = field(default_factory=lambda: [0, 0, 0, 0])  # as in Unseen


def count_concepts(dataset: Dataset, asked: Mapping[str, Mapping[str, float]]) -> list[ConceptFrequency]:
    """Every value of every attribute, over all splits; none where the dataset has no scenes."""
    scan = _scan_dataset(dataset)
    wanted = {**asked, **EVEN} if asked else {}
    return [
        ConceptFrequency(a.name, v, wanted.get(a.name, {}).get(v), scan.values[a.name, v] / scan.vehicles, n)
        for a in SCHEMA.attributes
        for v in sorted(a.values, key=lambda v: -wanted.get(a.name, {}).get(v, 0.0))
        if scan.vehicles
        for n in (scan.values[a.name, v],)
    ]


def count_shape_colors(dataset: Dataset, concepts: ConceptDistribution | None) -> list[ShapeColorFrequency]:
    """Every shape with every colour, where concepts say which go together; else nothing."""
    if concepts is None or concepts.together is None:
        return []
    scan = _scan_dataset(dataset)
    found = []
    for shape, row in zip(SHAPES, concepts.together, strict=True):
        of = scan.values["shape", shape]
        for color, asked in zip(COLORS, row, strict=True):
            n = scan.pairs[shape, color]
            found.append(ShapeColorFrequency(shape, color, asked, n / of if of else None, n))
    return found


def count_low_visibility(dataset: Dataset) -> LowVisibility:
    """What is hardly seen in the pictures of a dataset; nothing is looked at where it has none."""
    return LowVisibility(*_scan_dataset(dataset).looked)


def _scan_dataset(dataset: Dataset) -> _ConceptScan:
    return _scan(dataset.folder, tuple(s.images for s in dataset.shards() if s.images))


@lru_cache(maxsize=1)  # the card and the command line both tell of it
def _scan(folder: Path, files: tuple[ShardFile, ...]) -> _ConceptScan:
    scan = _ConceptScan()
    things: Counter[Pairs] = Counter()
    for file in files:
        table = read_columns(folder / file.path, COLUMNS)
        columns = {name: table[name].to_pylist() for name in COLUMNS[:4]}
        for k, text in enumerate(columns["scene"]):
            seen = summarize_scene(text)
            things.update(seen.objects)
            if columns["visible_pixels"][k]:
                size = columns["width"][k], columns["height"][k]
                pixels = _count_part_pixels(table, k, seen.parts)
                _count_visibility(scan, SuperClevrRules(size=size), columns["visible_pixels"][k], pixels)
    for attributes, n in things.items():
        known = dict(attributes)
        for pair in known.items():
            scan.values[pair] += n
        scan.pairs[known["shape"], known["color"]] += n
        scan.vehicles += n
    return scan


def _count_visibility(
    scan: _ConceptScan, rules: SuperClevrRules, vehicles: Sequence[int], parts: Sequence[int]
) -> None:
    for at, (pixels, least) in enumerate(((vehicles, rules.pixels), (parts, rules.part_pixels))):
        scan.looked[2 * at] += sum(n < rules.scale_pixels(least) for n in pixels)
        scan.looked[2 * at + 1] += len(pixels)


def _count_part_pixels(table: Any, k: int, count: int) -> list[int]:
    """The visible pixels of the parts that the scene of row k lists."""
    if not count or not table["part_values"][k].is_valid:
        return []
    values, lengths = (table[name][k].values.to_numpy() for name in ("part_values", "part_lengths"))
    found = np.bincount(values, weights=lengths.astype(LENGTH_DTYPE), minlength=count + 1)
    return [int(n) for n in found[1:].tolist()]


def format_concepts(
    found: Sequence[ConceptFrequency], together: Sequence[ShapeColorFrequency], unseen: LowVisibility | None
) -> str:
    """All of it as Markdown; what was not counted is left out."""
    passages = [
        _format_concept_table(found),
        _format_shape_color_matrix(together),
        describe_low_visibility(unseen) if unseen else "",
    ]
    return "\n\n".join(p for p in passages if p)


def _format_concept_table(found: Sequence[ConceptFrequency]) -> str:
    if not found:
        return ""
    lines = ["## Concepts", "", f"Shares of whole vehicles.{_explain_sizes(found)}", ""]
    lines += ["| attribute | value | asked for | measured | vehicles |", "|---|---|---:|---:|---:|"]
    for f in found:
        asked = "" if f.asked is None else f"{f.asked:.2%}"
        lines.append(f"| {f.attribute} | {f.value} | {asked} | {f.measured:.2%} | {f.vehicles:,} |")
    return "\n".join(lines)


def _explain_sizes(found: Sequence[ConceptFrequency]) -> str:
    """Why large vehicles are fewer than was asked."""
    large = next(f for f in found if (f.attribute, f.value) == ("size", "large"))
    if large.asked is None:
        return ""
    return (
        " Sizes are drawn evenly, but where a scene is crowded large vehicles are made small until there is "
        "room: in a large dataset about 47% are large, in every variant, rather than 50%; here "
        f"{large.measured:.1%} are."
    )


def _format_shape_color_matrix(together: Sequence[ShapeColorFrequency]) -> str:
    if not together:
        return ""
    cells = {(t.shape, t.color): t for t in together}
    vehicles = Counter({t.shape: 0 for t in together})
    for t in together:
        vehicles[t.shape] += t.vehicles
    lines = ["## Colors of each shape", "", "Percent of the vehicles of a shape: asked for / measured.", ""]
    lines += [f"| shape | {' | '.join(COLORS)} | vehicles |", f"|---|{'---:|' * (len(COLORS) + 1)}"]
    for shape in SHAPES:
        row = [format_share_pair(cells[shape, color]) for color in COLORS]
        lines.append(f"| {shape} | {' | '.join(row)} | {vehicles[shape]:,} |")
    return "\n".join(lines)


def format_share_pair(cell: ShapeColorFrequency) -> str:
    """A cell of the matrix, in percent: asked for / measured."""
    measured = "–" if cell.measured is None else f"{100 * cell.measured:.1f}"
    return f"{100 * cell.asked:.1f} / {measured}"


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
