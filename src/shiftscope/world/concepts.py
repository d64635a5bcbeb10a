"""Concepts: how often vehicles are of each shape, colour and material, and which go together.

A scene's concepts are drawn through the inverse of the cumulative distribution, always in the order below, so
that two distributions given the same random numbers differ as little as they can.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..schemas.superclevr import CATEGORIES, SCHEMA

# From the commonest to the rarest of the long-tailed distribution, as the official files list them.
SHAPES = (
    *("jet", "fighter", "suv", "articulated", "biplane", "wagon", "airliner", "minivan", "regular"),
    *("chopper", "double", "sedan", "dirtbike", "road", "school", "truck", "scooter", "utility"),
    *("mountain", "cruiser", "tandem"),
)
COLORS = SCHEMA.attribute("color").values  # gray first, yellow last
MATERIALS = SCHEMA.attribute("material").values  # rubber, metal
NAMES = {"shape": SHAPES, "color": COLORS, "material": MATERIALS}

Shares = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Concepts:
    """Shares in the order of SHAPES, COLORS and MATERIALS; `together` gives each shape its own colours."""

    shape: Shares = (1 / len(SHAPES),) * len(SHAPES)
    color: Shares = (1 / len(COLORS),) * len(COLORS)
    material: Shares = (1 / len(MATERIALS),) * len(MATERIALS)
    together: tuple[Shares, ...] | None = None  # [shape, color]

    def drawn(self, shape: float, color: float, material: float) -> tuple[str, str, str]:
        """The concepts three numbers from 0 to 1 stand for."""
        k = place_of(self.shape, shape)
        colors = self.color if self.together is None else self.together[k]
        return SHAPES[k], COLORS[place_of(colors, color)], MATERIALS[place_of(self.material, material)]

    def drawn_shape(self, number: float) -> str:
        """The first of these."""
        return SHAPES[place_of(self.shape, number)]

    def own_color(self, of: str, first: float, second: float) -> str:
        """A part's colour: as often as colours are, but never that of its vehicle.

        The second number is used only where the first hits the vehicle's colour, so that a vehicle of another
        colour keeps the colours of its parts wherever it can. Where there is no other colour, all are even.
        """
        found = COLORS[place_of(self.color, first)]
        if found != of:
            return found
        rest = [0.0 if name == of else share for name, share in zip(COLORS, self.color, strict=True)]
        if not sum(rest):
            rest = [0.0 if name == of else 1.0 for name in COLORS]
        total = sum(rest)
        return COLORS[place_of([share / total for share in rest], second)]

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = {
            name: dict(zip(NAMES[name], getattr(self, name), strict=True)) for name in NAMES
        }
        if self.together is not None:
            data["together"] = {
                shape: dict(zip(COLORS, row, strict=True))
                for shape, row in zip(SHAPES, self.together, strict=True)
            }
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Concepts:
        found = {name: tuple(data[name][value] for value in NAMES[name]) for name in NAMES}
        rows = data.get("together")
        together = rows and tuple(tuple(rows[s][c] for c in COLORS) for s in SHAPES)
        return cls(**found, together=together)

    def asked(self) -> dict[str, dict[str, float]]:
        """How often each value is asked for; a colour over all shapes where shapes have their own."""
        found = {name: dict(zip(NAMES[name], getattr(self, name), strict=True)) for name in NAMES}
        if self.together is not None:
            found["color"] = {
                color: sum(share * row[k] for share, row in zip(self.shape, self.together, strict=True))
                for k, color in enumerate(COLORS)
            }
        return found


BALANCED = Concepts()


def place_of(shares: Sequence[float], at: float) -> int:
    """Where a number from 0 to 1 falls when the shares are laid side by side; never on a share of 0."""
    reached, last = 0.0, 0
    for k, share in enumerate(shares):
        if share > 0.0:
            reached += share
            last = k
            if at < reached:
                break
    return last


def category_of(shape: str) -> tuple[str, int]:
    """The category of a shape, and its place there."""
    return next((category, models.index(shape)) for category, models in CATEGORIES if shape in models)
