"""Worlds: scenes from nothing, one file or folder each; it holds a `World` named WORLD.

A world with a vocabulary of its own is named like its schema.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..geometry.body import Body
from ..registry import WORLDS
from ..scene import Object, Scene
from ..schema import Schema


@dataclass(frozen=True, slots=True)
class World:
    """A scene is a function of (rules, seed, split, index) alone, the same on every machine."""

    schema: Schema
    rules: type  # frozen: what a scene must satisfy; `size` is that of the image
    sample_scene: Callable[..., Scene]  # (seed, split, index, rules)
    body: Callable[[Object], Body]  # an object's mesh, placed and coloured

    @property
    def shapes(self) -> tuple[str, ...]:
        """Every shape that a scene of it may hold."""
        return next(a.values for a in self.schema.attributes if a.name == "shape")

    def sample(self, rules: Any, seed: int, split: str, index: int) -> Scene:
        return self.sample_scene(seed, split, index, rules)


def load_world(name: str) -> World:
    """A world by its name."""
    world: World = WORLDS.load(name).WORLD
    return world
