"""Shelf: stored images found by id, a few kept in memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ..errors import UserError
from .image import StoredImage
from .shard import IMAGES_IN_GROUP, Shard, ShardFile, groups, reading
from .tables import images_of

KEPT = 8  # row groups in memory


class Shelf:
    """The images of a dataset. Looks near the question first: most shards hold the images they ask about.

    `check` is called for each file before it is read.
    """

    def __init__(
        self,
        folder: Path,
        shards: Iterable[Shard],
        check: Callable[[ShardFile], None] = lambda file: None,
    ) -> None:
        self._folder = folder
        self._shards = tuple(s for s in shards if s.images)
        self._files = {s.images.path: s.images for s in self._shards if s.images}
        self._check = check
        self._ids: dict[str, dict[str, int]] = {}  # file → image id → row
        self._groups: OrderedDict[tuple[str, int], tuple[StoredImage, ...]] = OrderedDict()

    def get(self, image_id: str, near: Shard) -> StoredImage:
        """The image of that id: in the shard given, else in its split, else anywhere."""
        for path in self._paths(near):
            row = self._rows(path).get(image_id)
            if row is not None:
                return self._group(path, row // IMAGES_IN_GROUP)[row % IMAGES_IN_GROUP]
        raise UserError(f"{self._folder}: no image {image_id!r} in it")

    def _paths(self, near: Shard) -> Iterator[str]:
        if near.images:
            yield near.images.path
        for same in (True, False):
            yield from (s.images.path for s in self._shards if s.images and (s.split == near.split) is same)

    def _rows(self, path: str) -> dict[str, int]:
        if path not in self._ids:
            self._check(self._files[path])
            ids = [i for t in groups(self._folder / path, ["image_id"]) for i in t["image_id"].to_pylist()]
            self._ids[path] = {image_id: row for row, image_id in enumerate(ids)}
        return self._ids[path]

    def _group(self, path: str, k: int) -> tuple[StoredImage, ...]:
        key = (path, k)
        if key not in self._groups:
            with reading(self._folder / path) as file:
                self._groups[key] = tuple(images_of(file.read_row_group(k, use_threads=False)))
        self._groups.move_to_end(key)
        while len(self._groups) > KEPT:
            self._groups.popitem(last=False)
        return self._groups[key]
