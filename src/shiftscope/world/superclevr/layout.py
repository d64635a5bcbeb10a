"""Layout: vehicles placed on the ground so that none touches or hides another or leaves the image.

An arrangement is tried, looked at, and mended: a vehicle that is hardly seen is put elsewhere before all is
begun again; where that does not help for long, one of the large vehicles is made small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...geometry.camera import Camera
from ...geometry.footprint import place_at, place_drawn
from ...geometry.layout import Layout
from ...geometry.mesh import find_unit_circles
from ...geometry.shapes.superclevr import SIZES, load_vehicle
from ...geometry.visibility import Visibility
from ...kernels import Doubles, Longs, exact
from ...rng import KernelStream, Stream, draw_double, plan_skip
from ...scene import Object
from ...schemas.superclevr import SCHEMA

if TYPE_CHECKING:
    from . import SuperClevrRules

TRIES = 200  # places tried for one vehicle
MOST_MOVES = 6  # vehicles put elsewhere in one arrangement
PATIENCE = 25  # arrangements before a large vehicle is made small
RULES = ("margin", "frame", "overlap")  # in the order they are checked
_SKIP = plan_skip(2 * TRIES)  # random numbers for the places of one vehicle


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Vehicles that stand, and what is seen of them."""

    objects: tuple[Object, ...]
    seen: Visibility
    moved: tuple[int, ...] = ()  # those that could not stand at their spots


Arranging = Generator[Layout, Visibility, Arrangement]  # yields a layout, gets what is seen of it


class NoRoomError(Exception):
    """No arrangement was found; it says which rule turned most of them down."""


@cache
def outline(shape: str) -> tuple[float, float, float, float]:
    """Half the sides of the box around a vehicle, its height, and how far below its origin it stands."""
    low, high = load_vehicle(shape).vertices.min(0).tolist(), load_vehicle(shape).vertices.max(0).tolist()
    half = [max(-a, b) for a, b in zip(low[:2], high[:2], strict=True)]
    return half[0], half[1], high[2] - low[2], -low[2]


def put_on_ground(thing: Object, x: float, y: float, rotation: float) -> Object:
    (shape,), (size,) = thing.values("shape"), thing.values("size")
    return replace(thing, position=(x, y, outline(shape)[3] * SIZES[size]), rotation=rotation)


def arrange(
    things: Sequence[Object],
    others: Sequence[Sequence[str]],
    camera: Camera,
    rules: SuperClevrRules,
    stream: KernelStream,
    *,
    keep_sizes: bool = False,
) -> Arranging:
    """The vehicles in free places, turned at random; NoRoomError where there is no room.

    `others` are lists of shapes, one a vehicle: the places must be free for these vehicles too, though what
    would be seen of them is not looked at. With `keep_sizes` no large vehicle is made small.
    """
    current = list(things)
    ground = _Ground(camera, rules, things, others)
    placing = _Placing(ground, current, stream)
    refused: Counter[str] = Counter()
    tried = 0
    while tried < rules.arrangements:
        if (tried + 1) % PATIENCE == 0 and not keep_sizes:
            large = [i for i, t in enumerate(current) if t.values("size") == ("large",)]
            if large:  # one of them is made small
                k = large[stream.draw_below(len(large))]
                attributes = tuple((a, "small" if a == "size" else v) for a, v in current[k].attributes)
                current[k] = replace(current[k], attributes=attributes)
                placing = _Placing(ground, current, stream)
        most = min(PATIENCE - (tried + 1) % PATIENCE, rules.arrangements - tried)
        failed = placing.fill_anew(most)
        tried += len(failed)
        refused.update(failed)
        if len(failed) < most:
            tried += 1
            found = yield from placing.move_hidden(frozenset())
            if found is not None:
                return replace(found, moved=())
            refused["pixels"] += 1
    raise NoRoomError(refused.most_common(1)[0][0])


def rearrange(
    things: Sequence[Object], places: Sequence[Object], camera: Camera, rules: SuperClevrRules, stream: KernelStream
) -> Arranging:
    """The vehicles where others stand, of the same sizes; what has no room there is put elsewhere.

    First those are moved that hit another or leave the picture, then those that hide or are hidden. Where
    that does not do, all are; sizes are kept, and it is a NoRoomError where there is no room for them.
    """
    turns = np.array([p.rotation or 0.0 for p in places])
    spots = [(p.position[0], p.position[1]) for p in places if p.position is not None]
    placing = _Placing(_Ground(camera, rules, things), things, stream)
    loose = placing.put_back(turns, spots)
    for _ in range(PATIENCE):
        placing.put_back(turns, spots, loose)
        if placing.fill(loose):
            found = yield from placing.move_hidden(loose)
            if found is not None:
                return found
    found = yield from arrange(things, (), camera, rules, stream, keep_sizes=True)
    return replace(found, moved=tuple(range(len(things))))


class _Ground:
    """The ground and the shapes to stand on it, as the kernels take them: what no attempt changes."""

    def __init__(
        self, camera: Camera, rules: SuperClevrRules, things: Sequence[Object], others: Sequence[Sequence[str]] = ()
    ) -> None:
        self.camera, self.rules = camera, rules
        self.shapes = [t.values("shape")[0] for t in things]
        every = [self.shapes, *others]
        numbers = [number for shapes in every for shape in shapes for number in outline(shape)[:3]]
        self.outlines = np.array(numbers).reshape(len(every), -1, 3)  # [variant, vehicle, half sides height], of size 1
        directions = dict(camera.directions())
        axes = np.array([directions["right"][:2], directions["front"][:2]])
        frame = np.array([0.0, 0.0, *map(float, rules.size)])  # left, top, right, bottom
        self.room = axes, rules.margin, rules.gap, camera.pack(rules.size), frame


class _Placing:
    """Vehicles of some sizes, in one arrangement or another."""

    def __init__(self, ground: _Ground, things: Sequence[Object], stream: KernelStream) -> None:
        self.ground, self.things, self.words = ground, things, stream.words
        sizes = [SIZES[t.values("size")[0]] for t in things]
        self.rises = [outline(shape)[3] * size for shape, size in zip(ground.shapes, sizes, strict=True)]
        boxes = ground.outlines * np.array(sizes)[:, None]
        self.rows = np.zeros((len(boxes), len(things), 7))  # [variant, vehicle, number], see footprint.py
        self.rows[:, :, 2:4], self.heights = boxes[:, :, :2], np.ascontiguousarray(boxes[:, :, 2])
        areas = (boxes[0, :, 0] * boxes[0, :, 1]).tolist()
        self.largest_first = sorted(range(len(things)), key=lambda k: (-areas[k], k))
        self.turns, self.standing = np.zeros(len(things)), np.zeros(len(things), np.bool_)

    def fill_anew(self, most: int) -> list[str]:
        """Turn all and put them anywhere, until all have a place or so many times: the rules in the way each time."""
        order, failed = np.array(self.largest_first, np.int64), np.empty(most, np.int64)
        reach, room = self.ground.rules.reach, self.ground.room
        n = _fill_until_full(
            self.rows, self.heights, self.standing, self.turns, order, self.words, TRIES, _SKIP, reach, *room, failed
        )
        return [RULES[k] for k in failed[:n].tolist()]

    def fill(self, which: frozenset[int]) -> bool:
        """Put these anywhere; whether all found a place."""
        order = np.array([k for k in self.largest_first if k in which], np.int64)
        reach, room, refused = self.ground.rules.reach, self.ground.room, np.empty(len(RULES), np.int64)
        placed = place_drawn(
            self.rows, self.heights, self.standing, order, self.words, TRIES, _SKIP, reach, *room, refused
        )
        return placed == len(order)

    def put_back(
        self, turns: Doubles, spots: Sequence[tuple[float, float]], loose: frozenset[int] = frozenset()
    ) -> frozenset[int]:
        """Put all but the loose ones at their spots and nothing elsewhere; returns those that cannot stay."""
        self.turns, self.standing[:] = turns, False
        _turn_bodies(turns, self.rows)
        gone = set(loose)
        for k in self.largest_first:
            x, y = spots[k]
            if k not in loose and not place_at(self.rows, self.heights, self.standing, k, x, y, *self.ground.room):
                gone.add(k)
        return frozenset(gone)

    def move_hidden(self, moved: frozenset[int]) -> Generator[Layout, Visibility, Arrangement | None]:
        """Put those elsewhere that are hardly seen, until all are seen well; None where that does not help."""
        camera, rules = self.ground.camera, self.ground.rules
        for _ in range(MOST_MOVES):
            objects = self.objects()
            seen = yield Layout(objects, SCHEMA, camera, rules.size)
            k = int(seen.visible.argmin())
            if seen.visible[k] >= rules.scale_pixels(rules.pixels):
                return Arrangement(objects, seen, tuple(sorted(moved)))
            moved |= {k}
            self.standing[k] = False
            if not self.fill(frozenset((k,))):
                break
        return None

    def objects(self) -> tuple[Object, ...]:
        spots, turns = self.rows[0, :, :2].tolist(), self.turns.tolist()
        placed = zip(self.things, spots, self.rises, turns, strict=True)
        return tuple([Object(t.attributes, position=(x, y, z), rotation=turn) for t, (x, y), z, turn in placed])


@exact
def _turn_bodies(turns: Doubles, rows: Doubles) -> None:
    """Number by number: to copy a whole array takes as long to compile as a quarter of all that samples scenes."""
    find_unit_circles(turns, rows[0, :, 5:])
    for copy in range(1, rows.shape[0]):
        for k in range(rows.shape[1]):
            for i in range(5, rows.shape[2]):
                rows[copy, k, i] = rows[0, k, i]


@exact
def _fill_until_full(
    rows: Doubles, heights: Doubles, standing: npt.NDArray[np.bool_], turns: Doubles, order: Longs,
    stream: Stream, tries: int, skip: Stream, reach: float,
    axes: Doubles, margin: float, clearance: float, camera: Doubles, frame: Doubles,
    failed: Longs,
) -> int:  # fmt: skip
    """How many arrangements failed before one did not, and the rule in the way of each; as many as `failed` holds."""
    refused = np.empty(3, np.int64)
    for n in range(len(failed)):
        standing[:] = False
        for k in range(len(turns)):
            turns[k] = 360.0 * draw_double(stream)
        _turn_bodies(turns, rows)
        placed = place_drawn(
            rows, heights, standing, order, stream, tries, skip, reach, axes, margin, clearance, camera, frame, refused
        )
        if placed == len(order):
            return n
        failed[n] = refused.argmax()
    return len(failed)
