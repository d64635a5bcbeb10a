"""The scene that a model took an action to lead to: one line of JSON in a run, and whether it is the true one."""

import json
from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations, permutations
from typing import Any

from ...edit import ON
from ...scene import RELATION_MARGIN, Relation, Scene
from .parsed_scenes import DIRECTIONS

SIDES = ("right", "front")
MOST_ALIKE = 6  # objects that look the same, of which every pairing is tried

Place = tuple[float, ...]  # how far right and front


def describe_outcome(scene: Scene) -> str:
    """Its objects with their places, as far right and front as they stand, and what rests on what."""
    directions = dict(scene.directions or DIRECTIONS)
    axes = [directions[side] for side in SIDES if side in directions]
    objects = []
    for thing in scene.objects:
        told: dict[str, Any] = dict(thing.attributes)
        if thing.position is not None and None not in axes:
            told["place"] = [
                round(sum(a * b for a, b in zip(thing.position, axis or (), strict=True)), 3) for axis in axes
            ]
        objects.append(told)
    stacked = next((r for r in scene.relations if r.name == ON), Relation(ON, ()))
    return json.dumps({"objects": objects, ON: [list(pair) for pair in stacked.triples()]}, separators=(",", ":"))


def match_outcome(found: str, true: str) -> bool:
    """Whether two outcomes, as `describe_outcome` gives them, have the same objects and no relation turned around.

    After CLEVR_HYP, section 5: attributes exactly, places by relations. Those that look alike are paired as fits best.
    """
    if not found or not true:
        return False
    mine, theirs = (_group(json.loads(text)["objects"]) for text in (found, true))
    if {looks: len(places) for looks, places in mine.items()} != {k: len(places) for k, places in theirs.items()}:
        return False
    pairs: list[tuple[Place, Place]] = []
    for looks, places in mine.items():
        others = theirs[looks]
        orders = permutations(others) if len(others) <= MOST_ALIKE else [tuple(sorted(others))]
        best = min(orders, key=lambda order: sum(map(_distance, places, order)))
        pairs += list(zip(places, best, strict=True))
    return not any(_is_turned(one, other) for one, other in combinations(pairs, 2))


def _group(objects: Sequence[dict[str, Any]]) -> dict[tuple[Any, ...], list[Place]]:
    """The places of the objects of each look."""
    found: dict[tuple[Any, ...], list[Place]] = defaultdict(list)
    for thing in objects:
        looks = tuple(sorted((k, v) for k, v in thing.items() if k != "place"))
        found[looks].append(tuple(thing.get("place", (0.0, 0.0))))
    return dict(found)


def _distance(one: Place, other: Place) -> float:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def _is_turned(one: tuple[Place, Place], other: tuple[Place, Place]) -> bool:
    """Whether one object is beyond the other in one outcome and before it in the other, along either side."""
    for axis in range(len(SIDES)):
        ahead = [other[k][axis] - one[k][axis] for k in range(2)]
        if min(ahead) < -RELATION_MARGIN and max(ahead) > RELATION_MARGIN:
            return True
    return False
