"""Packed scenes: all sets of a scene in one row of words, all its values in another; packed once."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...lang.execution_world import ExecutionWorld
from ...scene import Scene
from ...scene_table import ABSENT, WORD, SceneTable, pack_scenes

# A row of sets holds, after a word for each term: all objects, all parts, and from EXTRA on blocks of 64
# words for the parts of each object, for the owner of each part, and, one a relation, for its rows.
ALL_OBJECTS, ALL_PARTS, EXTRA = 0, 1, 2
PARTS_OF, OWNER_OF, ROWS = 0, WORD, 2 * WORD

SetLayout = tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.bool_]]


def _number_things(start: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of each thing, its scene and its number there."""
    scene = np.repeat(np.arange(len(start) - 1), np.diff(start))
    return scene, np.arange(int(start[-1])) - start[scene]


class PackedScenes:
    """Scenes of one schema, in order; nothing is worked out before it is needed, and nothing twice."""

    def __init__(self, scenes: SceneTable | Iterable[Scene]) -> None:
        self._scenes = scenes if isinstance(scenes, SceneTable) else tuple(scenes)
        self.table = scenes if isinstance(scenes, SceneTable) else pack_scenes(self._scenes)
        self._worlds: dict[int, ExecutionWorld] = {}

    @classmethod
    def from_scenes(cls, scenes: PackedScenes | SceneTable | Iterable[Scene]) -> PackedScenes:
        return scenes if isinstance(scenes, PackedScenes) else cls(scenes)

    def __len__(self) -> int:
        return len(self.table)

    def get_world(self, k: int) -> ExecutionWorld:
        """Scene k as the plain executor sees it."""
        if k not in self._worlds:
            self._worlds[k] = ExecutionWorld((self._scenes[k],))
        return self._worlds[k]

    @cached_property
    def layout(self) -> SetLayout:
        """The scenes as the search sees them: sets [scene, word]; codes [scene, object or 64 + part, column]; and
        which relations a scene knows. A file may know more relations than its schema; questions use the schema's.
        """
        table = self.table
        scenes, relations = len(table), len(table.schema.relations)
        own, others = table.masks.shape[1], table.part_masks.shape[1]
        columns, part_columns = table.codes.shape[1], table.part_codes.shape[1]
        scene, number = _number_things(table.start)
        part_scene, part_number = _number_things(table.part_start)
        sets = np.zeros((scenes, own + others + EXTRA + ROWS + WORD * relations), np.uint64)
        sets[:, :own] = table.masks
        sets[:, own : own + others] = table.part_masks
        extra = own + others
        sets[:, extra + ALL_OBJECTS] = table.everything
        np.bitwise_or.at(sets[:, extra + ALL_PARTS], part_scene, np.uint64(1) << part_number.astype(np.uint64))
        extra += EXTRA
        sets[scene, extra + PARTS_OF + number] = table.parts_of
        sets[part_scene, extra + OWNER_OF + part_number] = np.uint64(1) << table.owner.astype(np.uint64)
        for r in range(relations):
            sets[scene, extra + ROWS + WORD * r + number] = table.rows[:, r]
        codes = np.full((scenes, 2 * WORD, columns + part_columns), ABSENT, np.int64)
        codes[scene, number, :columns] = table.codes
        part_codes = table.part_codes.astype(np.int64)
        codes[part_scene, WORD + part_number, columns:] = np.where(part_codes >= 0, part_codes + own, ABSENT)
        return sets, codes, np.ascontiguousarray(table.knows[:, :relations])
