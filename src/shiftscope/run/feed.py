"""Feed: training batches straight from a world, nothing on disk.

Worker processes make scenes and questions, this one draws them, on a GPU where there is one. What a batch
holds depends on the source and its place alone, never on the number of workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from ..catalog import SUITES
from ..errors import UserError, unknown
from ..geometry.body import bodies_of
from ..geometry.mesh import Mesh
from ..question import Question
from ..render.gpu.images import GpuImages
from ..render.gpu.pack import Packed, joined, pack_one
from ..scene import Scene
from ..schema import Attribute
from ..store.workers import in_order

if TYPE_CHECKING:
    import torch

Examples = tuple[tuple[Scene, tuple[Question, ...]], ...]
HELD = 2  # blocks made ahead for each worker


class Source(Protocol):
    """Scenes with their questions, block by block; each block a function of its number alone. Picklable."""

    @property
    def size(self) -> tuple[int, int]: ...  # of the images
    def blocks(self) -> int: ...
    def block(self, k: int) -> Examples: ...


@dataclass(frozen=True, slots=True)
class SuiteSource:
    """A split of a suite: the scenes and questions that `make` would write for the same order."""

    suite: str  # clevr or superclevr
    order: Any  # the suite's Order
    split: str = "train"

    def __post_init__(self) -> None:
        if self.suite not in SHARDS:
            raise unknown("suite", self.suite, sorted(SHARDS), "those that can be fed from")
        if self.split not in self.order.splits():
            raise unknown("split", self.split, sorted(self.order.splits()), f"this {self.suite}")

    @property
    def size(self) -> tuple[int, int]:
        size: tuple[int, int] = self.order.size
        return size

    def blocks(self) -> int:
        return int(self.order.jobs()[self.split])

    def block(self, k: int) -> Examples:
        first = k * self.order.shard
        last = min(first + self.order.shard, self.order.splits()[self.split])
        scenes, questions = SHARDS[self.suite](self.order, self.split, k, range(first, last))
        asked: dict[str, list[Question]] = {s.id: [] for s in scenes}
        for question in questions:
            asked[question.scenes[0]].append(question)
        return tuple((s, tuple(asked[s.id])) for s in scenes)


def _clevr(order: Any, split: str, k: int, which: range) -> tuple[list[Scene], list[Question]]:
    from ..ask.own import own_templates
    from ..ask.questions import ask
    from ..schemas.clevr import SCHEMA
    from ..world import clevr

    rules = clevr.Rules(size=order.size)
    scenes = [clevr.scene(order.seed, split, i, rules) for i in which]
    if not order.questions:
        return scenes, []
    rest = {"per_image": order.questions, "seed": order.seed, "split": split, "shard": k}
    return scenes, ask(scenes, own_templates(SCHEMA), start=which.start * order.questions, **rest)


def _superclevr(order: Any, split: str, k: int, which: range) -> tuple[list[Scene], list[Question]]:
    from ..world import superclevr

    rules = order.rules()
    scenes = [superclevr.scene(order.seed, split, i, rules) for i in which]
    return scenes, SUITES.load("superclevr").questions_of(order, scenes, split, k)


SHARDS = {"clevr": _clevr, "superclevr": _superclevr}


@dataclass(frozen=True, slots=True, eq=False)
class FeedBatch:
    """Images on the device, and what they show; codes count a schema's values, −1 where there is none."""

    images: GpuImages
    scenes: tuple[Scene, ...]
    questions: tuple[tuple[Question, ...], ...]  # [image]
    attributes: torch.Tensor  # [image, object, attribute] int64
    owners: torch.Tensor  # [image, listed part] int64, the object it belongs to
    part_attributes: torch.Tensor  # [image, listed part, attribute] int64, in the order of `part_attributes`


class Feed:
    """Batches in order, once through the source; `device` is "cuda", "cuda:1" or "cpu".

    The last batch may be smaller. Leaving the loop ends the workers.
    """

    def __init__(self, source: Source, batch: int = 256, device: str = "cuda", workers: int = 1) -> None:
        if batch < 1:
            raise UserError(f"a batch of {batch} images can not be drawn; give at least 1")
        if device != "cpu":
            from ..render.gpu.raster import check_device

            check_device(device)
        self.source, self.batch, self.device, self.workers = source, batch, device, workers
        self._meshes: dict[tuple[str, str], Mesh] = {}

    def __iter__(self) -> Iterator[FeedBatch]:
        task = partial(_made, self.source, self.device != "cpu")
        blocks = in_order(task, range(self.source.blocks()), self.workers, HELD * self.workers)
        with closing(blocks):
            rows = (row for block in blocks for row in block)
            while made := tuple(islice(rows, self.batch)):
                yield self._drawn(made)

    def _drawn(self, made: Sequence[_Row]) -> FeedBatch:
        scenes, questions, packs = zip(*made, strict=True)
        if self.device == "cpu":
            from ..render.gpu.host import host_batch

            images = host_batch(scenes, self.source.size)
        else:
            from ..render.gpu.raster import render_batch

            whole = [self._complete(*pair) for pair in zip(scenes, packs, strict=True)]
            images = render_batch(joined(whole), device=self.device)
        return FeedBatch(images, scenes, questions, *self._codes(scenes))

    def _complete(self, scene: Scene, sent: tuple[Packed, tuple[str, ...]]) -> Packed:
        """The packed scene with its meshes, which did not travel, as this process holds them."""
        packed, names = sent
        keys = [(scene.schema.name, name) for name in names]
        if any(key not in self._meshes for key in keys):
            for body in bodies_of(scene):
                self._meshes.setdefault((scene.schema.name, body.mesh.name), body.mesh)
        return replace(packed, meshes=tuple(self._meshes[key] for key in keys))

    def _codes(self, scenes: Sequence[Scene]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        import torch

        things = [[_code(o.attributes, s.schema.attributes) for o in s.objects] for s in scenes]
        owners = [[i for i, o in enumerate(s.objects) for _ in o.parts] for s in scenes]
        parts = [
            [
                _code((("name", p.name), *p.attributes), s.schema.part_attributes)
                for o in s.objects
                for p in o.parts
            ]
            for s in scenes
        ]
        wide = (len(scenes[0].schema.attributes), len(scenes[0].schema.part_attributes))
        tables = (_table(things, (wide[0],)), _table(owners, ()), _table(parts, (wide[1],)))
        a, b, c = (torch.from_numpy(table).to(self.device) for table in tables)
        return a, b, c


_Row = tuple[Scene, tuple[Question, ...], tuple[Packed, tuple[str, ...]] | None]


def _made(source: Source, pack: bool, k: int) -> list[_Row]:
    """A block as workers send it: meshes by name."""
    rows: list[_Row] = []
    for scene, questions in source.block(k):
        packed = pack_one(scene, source.size) if pack else None
        sent = (replace(packed, meshes=()), tuple(m.name for m in packed.meshes)) if packed else None
        rows.append((scene, questions, sent))
    return rows


def _code(pairs: Sequence[tuple[str, str]], attributes: Sequence[Attribute]) -> list[int]:
    """The place of each attribute's value among those it can have."""
    own = dict(pairs)
    return [a.values.index(own[a.name]) if own.get(a.name) in a.values else -1 for a in attributes]


def _table(rows: Sequence[Sequence[Any]], cell: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """[image, …]: lists of different lengths as one array, −1 at their ends."""
    out = np.full((len(rows), max(map(len, rows)), *cell), -1, np.int64)
    for i, row in enumerate(rows):
        if row:
            out[i, : len(row)] = row
    return out
