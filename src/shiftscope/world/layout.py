"""Placement on the ground: one object after another, at random until it keeps clear of those before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..geometry.angle import unit_circle
from ..geometry.footprint import first_clear
from ..scene import Vector

CLEARANCE = 0.03  # between two surfaces, in world units
RULES = ("distance", "margin", "overlap")  # in the order they are checked


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be placed: the outline it stands on, and its turn."""

    radius: float  # what the minimum distance is measured from
    half: float  # half the side of the square under it; 0 for a round one
    round: float  # how far the outline reaches beyond that square
    rotation: float  # degrees


@dataclass(frozen=True, slots=True)
class Spacing:
    """The rules of placement, in world units."""

    reach: float  # positions lie within ± this, along x and y
    distance: float  # least distance between two, beyond their radii
    margin: float  # least offset between two along each of the four directions
    tries: int  # positions tried for one object before the whole layout is given up


def place(
    plans: Sequence[Plan],
    spacing: Spacing,
    axes: tuple[Vector, Vector],  # right and front
    generator: np.random.Generator,
) -> list[tuple[float, float]] | str:
    """Positions that keep every rule; else the name of the rule that turned most positions down."""
    rows = np.array([(0.0, 0.0, p.half, p.half, p.round, *unit_circle(p.rotation)) for p in plans])
    radii = np.array([p.radius for p in plans])
    level = np.array([axis[:2] for axis in axes])
    refused = np.zeros(len(RULES), np.int64)
    for k in range(len(plans)):
        candidates = spacing.reach * (2.0 * generator.random((spacing.tries, 2)) - 1.0)
        room = (spacing.distance, spacing.margin, CLEARANCE)
        if not first_clear(rows, radii, k, candidates, level, *room, refused):
            return RULES[int(refused.argmax())]
    return [(x, y) for x, y in rows[:, :2].tolist()]
