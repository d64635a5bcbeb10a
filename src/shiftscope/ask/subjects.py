"""Subjects: scenes ready to be asked about, packed and opened once for all that ask about them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from ..lang.world import World
from ..scene import Scene
from ..scenetable import SceneTable, pack
from .layout import Layout, lay_out


class Subjects:
    """Scenes of one schema, in order; nothing is worked out before it is needed, and nothing twice."""

    def __init__(self, scenes: SceneTable | Iterable[Scene]) -> None:
        self._scenes = scenes if isinstance(scenes, SceneTable) else tuple(scenes)
        self.table = scenes if isinstance(scenes, SceneTable) else pack(self._scenes)
        self._worlds: dict[int, World] = {}

    @classmethod
    def of(cls, scenes: Subjects | SceneTable | Iterable[Scene]) -> Subjects:
        return scenes if isinstance(scenes, Subjects) else cls(scenes)

    def __len__(self) -> int:
        return len(self.table)

    def world(self, k: int) -> World:
        """Scene k as the plain executor sees it."""
        found = self._worlds.get(k)
        if found is None:
            found = self._worlds[k] = World((self._scenes[k],))
        return found

    @cached_property
    def layout(self) -> Layout:
        """The scenes as the search sees them."""
        return lay_out(self.table)
