"""Scenes from a scene posterior: the likeliest one, or several possible ones with their weights.

Objects stand where the parser says, in the frame of CLEVR's camera, so that an action finds its places as in a scene
that is known. Possible scenes differ in which objects there are and what they are (the likeliest joint outcomes) and
in where they stand (sampled, as widely as relations were found to be uncertain on validation scenes).
"""

import heapq
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...edit import RADIUS
from ...geometry.camera import Camera
from ...lang.posterior_calibration import PLACES, Calibration, SpatialLikelihood
from ...lang.scene_posterior import ScenePosterior
from ...rng import derive
from ...scene import Object, Scene
from ...schema import Schema

DETECTED = 0.9  # the paper's threshold: what is likelier counts as found
NEGLIGIBLE = 1e-3  # an outcome of one object or attribute that is less likely is never tried
OUTCOMES = 64  # joint outcomes of what there is at most
DIRECTIONS = tuple(pair for pair in Camera().directions() if pair[0] in ("left", "right", "behind", "front"))
SIDES = np.array([dict(DIRECTIONS)["right"][:2], dict(DIRECTIONS)["front"][:2]])  # [side, x y]

Floats = NDArray[np.float64]


class WeighedScene(NamedTuple):
    weight: float
    scene: Scene


class ParsedObjects(NamedTuple):
    """One image's row of a posterior: those objects that may be there."""

    schema: Schema
    size: tuple[int, int]
    exists: Floats  # [object]
    attributes: tuple[Floats, ...]  # [object, value] for each attribute
    places: Floats  # [object, 2] right and front
    boxes: Floats  # [object, 4]

    def calibrate(self, calibration: Calibration) -> "ParsedObjects":
        """With probabilities as validation scenes bore them out."""
        made = calibration.apply(
            ScenePosterior(
                self.schema,
                self.size,
                self.exists[None],
                tuple(a[None] for a in self.attributes),
                self.boxes[None],
                *(np.zeros((1, 0)), np.zeros((1, 0), np.int64), ()),
            )
        )
        return self._replace(exists=made.exists[0], attributes=tuple(a[0] for a in made.attributes))


def take_objects(posterior: ScenePosterior, row: int) -> ParsedObjects:
    if posterior.places is None:
        raise ValueError("this posterior does not say where objects stand")
    one = posterior.take([row]).to_numpy()
    there = one.exists[0] > 0
    arrays: list[Any] = [
        np.asarray(a[0][there], np.float64) for a in (one.exists, *one.attributes, one.places, one.boxes)
    ]
    return ParsedObjects(one.schema, one.size, arrays[0], tuple(arrays[1:-2]), arrays[-2], arrays[-1])


def build_likeliest_scene(found: ParsedObjects, name: str, detected: float = DETECTED) -> Scene:
    """What is surely there, each object as it most likely is."""
    kept = np.flatnonzero(found.exists > detected).tolist()
    values = {i: tuple(int(a[i].argmax()) for a in found.attributes) for i in kept}
    return _build_scene(found, values, found.places, name)


def build_possible_scenes(
    found: ParsedObjects, name: str, worlds: int, relation: SpatialLikelihood | None
) -> list[WeighedScene]:
    """At most about so many scenes, whose weights add up to 1, the likeliest first."""
    outcomes = list(_list_outcomes(found, min(worlds, OUTCOMES)))
    total = sum(weight for weight, _ in outcomes)
    spread = _compute_spread(relation)
    made = []
    for number, (weight, values) in enumerate(outcomes):
        share = weight / total
        times = max(1, round(worlds * share)) if spread.any() else 1
        random = derive("scene_edit_worlds", name, number)
        for k in range(times):
            moved = random.normal(size=found.places.shape) * spread if k or number else np.zeros_like(found.places)
            made.append(WeighedScene(share / times, _build_scene(found, values, found.places + moved, name)))
    return made


def _compute_spread(relation: SpatialLikelihood | None) -> Floats:
    """[side] how far objects may stand from where they are seen, world units: half of the variance between two."""
    if relation is None or relation.source != PLACES:
        return np.zeros(2)
    slopes = np.array([abs(relation.weights[axis][axis]) for axis in range(2)])
    return np.asarray(math.pi / math.sqrt(3) / np.maximum(slopes, 1e-3) / math.sqrt(2))


def _list_outcomes(found: ParsedObjects, most: int) -> Iterator[tuple[float, dict[int, tuple[int, ...]]]]:
    """The likeliest joint outcomes: weight, and the values of the objects that there are."""
    factors: list[list[tuple[float, Any]]] = []  # of each object, what it may be, the likeliest first
    for i in range(len(found.exists)):
        options: list[tuple[float, tuple[int, ...]]] = [(1.0, ())]
        for chances in found.attributes:
            likely = [(float(p), k) for k, p in enumerate(chances[i]) if p > NEGLIGIBLE] or [(1.0, 0)]
            options = [(w * p, (*held, k)) for w, held in options for p, k in likely]
            options = sorted(options, reverse=True)[:most]
        there = float(found.exists[i])
        either: list[tuple[float, Any]] = [(w * there, values) for w, values in options if there > NEGLIGIBLE]
        either += [(1 - there, None)] if 1 - there > NEGLIGIBLE or not either else []
        factors.append(sorted(either, key=lambda option: -option[0])[:most])
    for weight, chosen in list_best_joint([[w for w, _ in options] for options in factors], most):
        picked = {i: factors[i][k][1] for i, k in enumerate(chosen)}
        yield weight, {i: values for i, values in picked.items() if values is not None}


def list_best_joint(chances: Sequence[Sequence[float]], most: int) -> Iterator[tuple[float, tuple[int, ...]]]:
    """The most probable joint outcomes of independent variables, in order; each one's chances fall."""
    best = tuple(0 for _ in chances)
    heap = [(-math.prod(options[0] for options in chances), best, 0)]
    for _ in range(most):
        if not heap:
            return
        minus, chosen, start = heapq.heappop(heap)
        yield -minus, chosen
        for i in range(start, len(chances)):  # each joint outcome has one parent, so none comes twice
            k = chosen[i] + 1
            if k < len(chances[i]) and chances[i][k - 1] > 0:
                weight = -minus * chances[i][k] / chances[i][k - 1]
                heapq.heappush(heap, (-weight, (*chosen[:i], k, *chosen[i + 1 :]), i))


def _build_scene(found: ParsedObjects, values: dict[int, tuple[int, ...]], places: Floats, name: str) -> Scene:
    attributes = found.schema.attributes
    positions = places @ SIDES
    objects = []
    for i, chosen in values.items():
        pairs = tuple((a.name, a.values[k]) for a, k in zip(attributes, chosen, strict=True))
        height = RADIUS.get(dict(pairs).get("size", ""), RADIUS["large"])
        x, y = positions[i].tolist()
        left, top, width, tall = found.boxes[i].tolist()
        objects.append(Object(pairs, position=(x, y, height), rotation=0.0, box=(left, top, width, tall)))
    return Scene(tuple(objects), directions=DIRECTIONS, schema=found.schema, size=found.size, id=name)
