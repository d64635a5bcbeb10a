"""Layout: vehicles placed on the ground so that none touches or hides another or leaves the image.

An arrangement is tried, looked at, and mended: a vehicle that is hardly seen is put elsewhere before all is
begun again; where that does not help for long, one of the large vehicles is made small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from ...geometry.body import bodies_of, build_scene_mesh
from ...geometry.camera import Camera
from ...geometry.footprint import place_first_free
from ...geometry.mesh import unit_circle
from ...geometry.shapes.superclevr import SIZES
from ...geometry.vehicles import load_vehicle
from ...geometry.visibility import Visibility, measure_visibility
from ...scene import Object, Pairs, Scene
from ...schemas.superclevr import SCHEMA

TRIES = 200  # places tried for one vehicle
MOST_MOVES = 6  # vehicles put elsewhere in one arrangement
PATIENCE = 25  # arrangements before a large vehicle is made small
RULES = ("margin", "frame", "overlap")  # in the order they are checked


@dataclass(frozen=True, slots=True)
class PlacementArea:
    """Where vehicles may stand in one picture, and how they must be seen."""

    camera: Camera
    size: tuple[int, int]  # of the picture
    reach: float
    margin: float
    gap: float
    least: float  # visible pixels of a vehicle
    arrangements: int  # tried before it is given up


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Vehicles that stand, and what is seen of them."""

    objects: tuple[Object, ...]
    seen: Visibility
    moved: tuple[int, ...] = ()  # those that could not stand at their spots


class NoRoomError(Exception):
    """No arrangement was found; `rule` turned most of them down."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


@cache
def outline(shape: str) -> tuple[float, float, float, float]:
    """Half the sides of the box around a vehicle, its height, and how far below its origin it stands."""
    low, high = load_vehicle(shape).vertices.min(0).tolist(), load_vehicle(shape).vertices.max(0).tolist()
    half = [max(-a, b) for a, b in zip(low[:2], high[:2], strict=True)]
    return half[0], half[1], high[2] - low[2], -low[2]


def put_on_ground(thing: Object, x: float, y: float, rotation: float) -> Object:
    """The vehicle put on the ground."""
    (shape,), (size,) = thing.values("shape"), thing.values("size")
    return replace(thing, position=(x, y, outline(shape)[3] * SIZES[size]), rotation=rotation)


def arrange(
    things: Sequence[Object],
    others: Sequence[Sequence[str]],
    ground: PlacementArea,
    generator: np.random.Generator,
    *,
    keep_sizes: bool = False,
) -> Arrangement:
    """The vehicles in free places, turned at random; Cramped where there is no room.

    `others` are lists of shapes, one a vehicle: the places must be free for these vehicles too, though what
    would be seen of them is not looked at. With `keep_sizes` no large vehicle is made small.
    """
    current = list(things)
    plot = _PlacementProblem.of(ground, things, others)
    refused: Counter[str] = Counter()
    for tried in range(1, ground.arrangements + 1):
        if tried % PATIENCE == 0 and not keep_sizes:
            current = _shrink_one(current, generator)
        turns = (360.0 * generator.random(len(current))).tolist()
        lot = _PlacementAttempt(plot, current, turns, generator)
        found = lot.fill(range(len(current)))
        if found == "":
            found, seen = lot.move_hidden(frozenset())
            if seen is not None:
                return Arrangement(lot.objects(), seen)
        refused[found] += 1
    raise NoRoomError(refused.most_common(1)[0][0])


def rearrange(
    things: Sequence[Object], places: Sequence[Object], ground: PlacementArea, generator: np.random.Generator
) -> Arrangement:
    """The vehicles where others stand, of the same sizes; what has no room there is put elsewhere.

    First those are moved that hit another or leave the picture, then those that hide or are hidden. Where
    that does not do, all are; sizes are kept, and it is Cramped where there is no room for them.
    """
    turns = [p.rotation or 0.0 for p in places]
    spots = [(p.position[0], p.position[1]) for p in places if p.position is not None]
    plot = _PlacementProblem.of(ground, things)
    loose = _PlacementAttempt(plot, things, turns, generator).place_at(spots)
    for _ in range(PATIENCE):
        attempt = _PlacementAttempt(plot, things, turns, generator)
        attempt.place_at(spots, loose)
        if attempt.fill(sorted(loose)) == "":
            _, seen = attempt.move_hidden(loose)
            if seen is not None:
                return Arrangement(attempt.objects(), seen, tuple(sorted(attempt.moved | loose)))
    found = arrange(things, (), ground, generator, keep_sizes=True)
    return replace(found, moved=tuple(range(len(things))))


def _shrink_one(things: list[Object], generator: np.random.Generator) -> list[Object]:
    large = [i for i, t in enumerate(things) if t.values("size") == ("large",)]
    if not large:
        return things
    chosen = large[int(generator.integers(len(large)))]
    return [_shrink(t) if i == chosen else t for i, t in enumerate(things)]


def _shrink(thing: Object) -> Object:
    attributes: Pairs = tuple((a, "small" if a == "size" else v) for a, v in thing.attributes)
    return replace(thing, attributes=attributes)


@dataclass(frozen=True, slots=True, eq=False)
class _PlacementProblem:
    """The ground and the shapes to stand on it, as the kernels take them: what no attempt changes."""

    ground: PlacementArea
    outlines: npt.NDArray[np.float64]  # [variant, vehicle, half sides and height], of size 1
    axes: npt.NDArray[np.float64]  # [2, xy] to the right and to the front
    camera: npt.NDArray[np.float64]
    frame: npt.NDArray[np.float64]  # left, top, right, bottom

    @classmethod
    def of(
        cls, ground: PlacementArea, things: Sequence[Object], others: Sequence[Sequence[str]] = ()
    ) -> _PlacementProblem:
        every = [[t.values("shape")[0] for t in things], *others]
        directions = dict(ground.camera.directions())
        return cls(
            ground,
            np.array([[outline(shape)[:3] for shape in shapes] for shapes in every]),
            np.array([directions["right"][:2], directions["front"][:2]]),
            ground.camera.pack(ground.size),
            np.array([0.0, 0.0, *map(float, ground.size)]),
        )


class _PlacementAttempt:
    """One arrangement under way."""

    def __init__(
        self, plot: _PlacementProblem, things: Sequence[Object], turns: Sequence[float], generator: np.random.Generator
    ) -> None:
        self.plot, self.ground = plot, plot.ground
        self.things, self.turns, self.generator = things, turns, generator
        boxes = plot.outlines * np.array([SIZES[t.values("size")[0]] for t in things])[:, None]
        self.rows = np.zeros((len(boxes), len(things), 7))  # [variant, vehicle, number]
        self.rows[:, :, 2:4], self.heights = boxes[:, :, :2], np.ascontiguousarray(boxes[:, :, 2])
        self.rows[:, :, 5:] = [unit_circle(turn) for turn in turns]
        self.standing = np.zeros(len(things), np.bool_)
        self.moved: frozenset[int] = frozenset()

    def try_place(self, k: int, candidates: npt.NDArray[np.float64]) -> str:
        """Put vehicle k at the first free candidate; else the rule that turned most of them down."""
        refused = np.zeros(3, np.int64)
        plot, ground = self.plot, self.ground
        room = plot.axes, ground.margin, ground.gap, plot.camera, plot.frame, refused
        if place_first_free(self.rows, self.heights, self.standing, k, candidates, *room):
            self.standing[k] = True
            return ""
        return RULES[int(refused.argmax())]

    def fill(self, which: Sequence[int] | range) -> str:
        """Put these anywhere, the largest first; "" where all found a place, else the rule in the way."""
        area = (self.rows[0, :, 2] * self.rows[0, :, 3]).tolist()
        for k in sorted(which, key=lambda k: (-area[k], k)):
            rule = self.try_place(k, self.sample_places())
            if rule:
                return rule
        return ""

    def sample_places(self) -> npt.NDArray[np.float64]:
        found = self.generator.random((TRIES, 2))
        found *= 2.0
        found -= 1.0
        found *= self.ground.reach
        return found

    def place_at(self, spots: Sequence[tuple[float, float]], loose: frozenset[int] = frozenset()) -> frozenset[int]:
        """Put all but the loose ones at their spots, the largest first; returns those that cannot stay."""
        area = self.rows[0, :, 2] * self.rows[0, :, 3]
        found = set(loose)
        for k in sorted(range(len(spots)), key=lambda k: (-area[k], k)):
            if k not in loose and self.try_place(k, np.array([spots[k]])):
                found.add(k)
        return frozenset(found)

    def move_hidden(self, moved: frozenset[int]) -> tuple[str, Visibility | None]:
        """Put those elsewhere that are hardly seen, until all are seen well."""
        self.moved = moved
        for _ in range(MOST_MOVES):
            seen = measure_visibility(
                build_scene_mesh(bodies_of(Scene(self.objects(), schema=SCHEMA))), self.ground.camera, self.ground.size
            )
            k = int(seen.visible.argmin())
            if seen.visible[k] >= self.ground.least:
                return "", seen
            self.moved |= {k}
            self.standing[k] = False
            if self.try_place(k, self.sample_places()):
                break
        return "pixels", None

    def objects(self) -> tuple[Object, ...]:
        spots = self.rows[0, :, :2].tolist()
        return tuple(
            put_on_ground(t, x, y, turn) for t, (x, y), turn in zip(self.things, spots, self.turns, strict=True)
        )
