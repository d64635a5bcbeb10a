"""View: one state of a scene, looked at to point out objects: which names are true of which alone."""

from __future__ import annotations

from functools import cached_property

from ..lang.world import World
from .ref import ATTRIBUTES, SUBSETS, Pairs


class View:
    """A world of one scene, and what can be said of its objects."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.scene = world.scenes[0]
        self.size = len(self.scene.objects)
        self.everything = (1 << self.size) - 1
        self._values = [dict(o.attributes) for o in self.scene.objects]
        self._names: dict[int, list[Pairs]] = {}

    def value(self, i: int, attribute: str) -> str:
        return self._values[i][attribute]

    def pairs(self, i: int, attributes: tuple[str, ...] = ATTRIBUTES) -> Pairs:
        """What the object is, as far as these attributes go."""
        values = self._values[i]
        return tuple([(a, values[a]) for a in attributes])

    def fits(self, pairs: Pairs) -> int:
        """The objects that all of this is true of."""
        found = self.everything
        for attribute, value in pairs:
            found &= self.world.objects.mask(attribute, value)
        return found

    def names(self, i: int) -> list[Pairs]:
        """Every description, short or long, that is true of this object alone."""
        if i not in self._names:
            described = (self.pairs(i, attributes) for attributes in SUBSETS)
            self._names[i] = [p for p in described if self.fits(p) == 1 << i]
        return self._names[i]

    @cached_property
    def nameable(self) -> int:
        """The objects that some description is true of alone."""
        return sum(1 << i for i in range(self.size) if self.fits(self.pairs(i)) == 1 << i)

    def rows(self, relation: str) -> tuple[int, ...]:
        """Which objects are in that relation to each; none, where the scene does not know it."""
        return self.world.rows(relation) or (0,) * self.size

    @cached_property
    def carried(self) -> int:
        """The objects that rest on another."""
        found = 0
        for row in self.rows("on"):
            found |= row
        return found

    @cached_property
    def carriers(self) -> int:
        """The objects that another rests on."""
        return sum(1 << i for i, row in enumerate(self.rows("on")) if row)
