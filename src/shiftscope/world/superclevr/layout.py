"""Layout: vehicles placed on the ground so that none touches or hides another or leaves the image.

An arrangement is tried, looked at, and mended: a vehicle that is hardly seen is put elsewhere before all is
begun again; where that does not help for long, one of the large vehicles is made small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ...geometry.camera import Camera
from ...geometry.footprint import place_all
from ...geometry.layout import Layout
from ...geometry.mesh import find_unit_circles
from ...geometry.shapes.superclevr import SIZES, load_vehicle
from ...geometry.visibility import Visibility
from ...kernels import Doubles
from ...scene import Object
from ...schemas.superclevr import SCHEMA

if TYPE_CHECKING:
    from . import SuperClevrRules

TRIES = 200  # places tried for one vehicle
MOST_MOVES = 6  # vehicles put elsewhere in one arrangement
PATIENCE = 25  # arrangements before a large vehicle is made small
RULES = ("margin", "frame", "overlap")  # in the order they are checked


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
    generator: np.random.Generator,
    *,
    keep_sizes: bool = False,
) -> Arranging:
    """The vehicles in free places, turned at random; NoRoomError where there is no room.

    `others` are lists of shapes, one a vehicle: the places must be free for these vehicles too, though what
    would be seen of them is not looked at. With `keep_sizes` no large vehicle is made small.
    """
    current = list(things)
    ground = _Ground(camera, rules, things, others)
    refused: Counter[str] = Counter()
    for tried in range(1, rules.arrangements + 1):
        if tried % PATIENCE == 0 and not keep_sizes:
            large = [i for i, t in enumerate(current) if t.values("size") == ("large",)]
            if large:  # one of them is made small
                k = large[int(generator.integers(len(large)))]
                attributes = tuple((a, "small" if a == "size" else v) for a, v in current[k].attributes)
                current[k] = replace(current[k], attributes=attributes)
        turns = 360.0 * generator.random(len(current))
        attempt = _PlacementAttempt(ground, current, turns, generator)
        found = attempt.fill(range(len(current)))
        if found == "":
            found, seen = yield from attempt.move_hidden(frozenset())
            if seen is not None:
                return Arrangement(attempt.objects(), seen)
        refused[found] += 1
    raise NoRoomError(refused.most_common(1)[0][0])


def rearrange(
    things: Sequence[Object],
    places: Sequence[Object],
    camera: Camera,
    rules: SuperClevrRules,
    generator: np.random.Generator,
) -> Arranging:
    """The vehicles where others stand, of the same sizes; what has no room there is put elsewhere.

    First those are moved that hit another or leave the picture, then those that hide or are hidden. Where
    that does not do, all are; sizes are kept, and it is a NoRoomError where there is no room for them.
    """
    turns = np.array([p.rotation or 0.0 for p in places])
    spots = [(p.position[0], p.position[1]) for p in places if p.position is not None]
    ground = _Ground(camera, rules, things)
    loose = _PlacementAttempt(ground, things, turns, generator).place_at(spots)
    for _ in range(PATIENCE):
        attempt = _PlacementAttempt(ground, things, turns, generator)
        attempt.place_at(spots, loose)
        if attempt.fill(sorted(loose)) == "":
            _, seen = yield from attempt.move_hidden(loose)
            if seen is not None:
                return Arrangement(attempt.objects(), seen, tuple(sorted(attempt.moved | loose)))
    found = yield from arrange(things, (), camera, rules, generator, keep_sizes=True)
    return replace(found, moved=tuple(range(len(things))))


class _Ground:
    """The ground and the shapes to stand on it, as the kernels take them: what no attempt changes."""

    def __init__(
        self, camera: Camera, rules: SuperClevrRules, things: Sequence[Object], others: Sequence[Sequence[str]] = ()
    ) -> None:
        self.camera, self.rules = camera, rules
        every = [[t.values("shape")[0] for t in things], *others]
        # [variant, vehicle, half sides and height], of size 1
        self.outlines = np.array([[outline(shape)[:3] for shape in shapes] for shapes in every])
        directions = dict(camera.directions())
        axes = np.array([directions["right"][:2], directions["front"][:2]])
        frame = np.array([0.0, 0.0, *map(float, rules.size)])  # left, top, right, bottom
        self.room = axes, rules.margin, rules.gap, camera.pack(rules.size), frame


class _PlacementAttempt:
    """One arrangement under way."""

    def __init__(
        self, ground: _Ground, things: Sequence[Object], turns: Doubles, generator: np.random.Generator
    ) -> None:
        self.ground, self.things, self.turns, self.generator = ground, things, turns, generator
        boxes = ground.outlines * np.array([SIZES[t.values("size")[0]] for t in things])[:, None]
        self.rows = np.zeros((len(boxes), len(things), 7))  # [variant, vehicle, number], see footprint.py
        self.rows[:, :, 2:4], self.heights = boxes[:, :, :2], np.ascontiguousarray(boxes[:, :, 2])
        find_unit_circles(turns, self.rows[0, :, 5:])
        self.rows[1:, :, 5:] = self.rows[0, :, 5:]
        self.standing = np.zeros(len(things), np.bool_)
        self.moved: frozenset[int] = frozenset()

    def try_places(self, order: Sequence[int], candidates: Doubles) -> tuple[int, str]:
        """Put vehicles at their first free candidates, [vehicle, try, xy]: how many before one finds none, and why.

        That is the rule that turned most of its candidates down; "" where all found a place.
        """
        refused, which = np.zeros(3, np.int64), np.array(order, np.int64)
        n = place_all(self.rows, self.heights, self.standing, which, candidates, *self.ground.room, refused)
        return n, "" if n == len(order) else RULES[int(refused.argmax())]

    def list_largest_first(self, which: Iterable[int]) -> list[int]:
        area = (self.rows[0, :, 2] * self.rows[0, :, 3]).tolist()
        return sorted(which, key=lambda k: (-area[k], k))

    def fill(self, which: Iterable[int]) -> str:
        """Put these anywhere; "" where all found a place, else the rule in the way.

        Places are drawn for all at once; those of vehicles after the one that found none count as not drawn.
        """
        order, source = self.list_largest_first(which), self.generator.bit_generator
        before = source.state
        n, rule = self.try_places(order, self.sample_places(len(order)))
        if rule and n + 1 < len(order):
            source.state = before
            self.sample_places(n + 1)
        return rule

    def sample_places(self, vehicles: int) -> Doubles:
        return self.ground.rules.reach * (2.0 * self.generator.random((vehicles, TRIES, 2)) - 1.0)

    def place_at(self, spots: Sequence[tuple[float, float]], loose: frozenset[int] = frozenset()) -> frozenset[int]:
        """Put all but the loose ones at their spots; returns those that cannot stay."""
        bound = [k for k in self.list_largest_first(range(len(spots))) if k not in loose]
        return loose | {k for k in bound if self.try_places([k], np.array([[spots[k]]]))[1]}

    def move_hidden(self, moved: frozenset[int]) -> Generator[Layout, Visibility, tuple[str, Visibility | None]]:
        """Put those elsewhere that are hardly seen, until all are seen well."""
        self.moved = moved
        camera, rules = self.ground.camera, self.ground.rules
        for _ in range(MOST_MOVES):
            seen = yield Layout(self.objects(), SCHEMA, camera, rules.size)
            k = int(seen.visible.argmin())
            if seen.visible[k] >= rules.scale_pixels(rules.pixels):
                return "", seen
            self.moved |= {k}
            self.standing[k] = False
            if self.try_places([k], self.sample_places(1))[1]:
                break
        return "pixels", None

    def objects(self) -> tuple[Object, ...]:
        spots, turns = self.rows[0, :, :2].tolist(), self.turns.tolist()
        return tuple(put_on_ground(t, x, y, turn) for t, (x, y), turn in zip(self.things, spots, turns, strict=True))
