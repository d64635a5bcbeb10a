"""Feed: training batches straight from a world, nothing on disk.

Worker processes make scenes and questions, this one draws them, on a GPU where there is one. What a batch
holds depends on the source and its place alone, never on the number of workers. `drawn` is for who wants
little besides the images.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from ..catalog import SUITES
from ..errors import UserError, unknown
from ..geometry.body import bodies_of
from ..question import Question
from ..render.gpu.images import GpuImages
from ..render.gpu.pack import Packed, joined, pack_one
from ..scene import Scene
from ..schema import Attribute
from ..store.workers import in_order

if TYPE_CHECKING:
    import torch

T = TypeVar("T")
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
    """Images on the device, and what they show; codes count a schema's values, −1 where there is none.

    Codes are looked up when they are asked for.
    """

    images: GpuImages
    scenes: tuple[Scene, ...]
    questions: tuple[tuple[Question, ...], ...]  # [image]

    @property
    def attributes(self) -> torch.Tensor:
        """[image, object, attribute] int64."""
        wanted = self.scenes[0].schema.attributes
        return self._table(
            [[_code(o.attributes, wanted) for o in s.objects] for s in self.scenes], len(wanted)
        )

    @property
    def owners(self) -> torch.Tensor:
        """[image, listed part] int64, the object it belongs to."""
        return self._table([[i for i, o in enumerate(s.objects) for _ in o.parts] for s in self.scenes])

    @property
    def part_attributes(self) -> torch.Tensor:
        """[image, listed part, attribute] int64, in the order of the schema's `part_attributes`."""
        wanted = self.scenes[0].schema.part_attributes
        listed = [[p for o in s.objects for p in o.parts] for s in self.scenes]
        rows = [[_code((("name", p.name), *p.attributes), wanted) for p in parts] for parts in listed]
        return self._table(rows, len(wanted))

    def _table(self, rows: Sequence[Sequence[Any]], *cell: int) -> torch.Tensor:
        import torch

        return torch.from_numpy(_table(rows, cell)).to(self.images.mask.device)


class Feed:
    """Batches in order, once through the source; `device` is "cuda", "cuda:1" or "cpu".

    The last batch may be smaller. Leaving the loop ends the workers.
    """

    def __init__(self, source: Source, batch: int = 256, device: str = "cuda", workers: int = 1) -> None:
        _check(batch, device)
        self.source, self.batch, self.device, self.workers = source, batch, device, workers

    def __iter__(self) -> Iterator[FeedBatch]:
        with closing(_sent(self.source, _all_of_it, 1, self.device, self.workers)) as pieces:
            while some := tuple(islice(pieces, self.batch)):
                scenes, questions = zip(*(row for piece in some for row in piece.told), strict=True)
                yield FeedBatch(_drawn(some, self.source.size, self.device), scenes, questions)


def drawn(
    source: Source, tell: Callable[[Examples], T], *, batch: int, device: str, workers: int
) -> Generator[tuple[GpuImages, T], None, None]:
    """All images of a source in order, and what `tell` makes of them; a batch is of one block.

    Workers call `tell`, which must be picklable, and only what it returns comes from them: a scene that
    nobody here wants stays where it was made.
    """
    _check(batch, device)
    with closing(_sent(source, tell, batch, device, workers)) as pieces:
        for piece in pieces:
            yield _drawn([piece], source.size, device), piece.told


def _check(batch: int, device: str) -> None:
    if batch < 1:
        raise UserError(f"a batch of {batch} images can not be drawn; give at least 1")
    if device != "cpu":
        from ..render.gpu.raster import check_device

        check_device(device)


@dataclass(frozen=True, slots=True, eq=False)
class _Piece(Generic[T]):
    """Some images of a block on their way to where they are drawn: packed for a GPU, else as scenes."""

    told: T
    packed: Packed | None  # without meshes, which do not travel
    cast: Scene | None  # the meshes, as objects: one for each
    scenes: tuple[Scene, ...]


def _sent(
    source: Source, tell: Callable[[Examples], T], most: int, device: str, workers: int
) -> Generator[_Piece[T], None, None]:
    task = partial(_made, source, tell, most, device != "cpu")
    with closing(in_order(task, range(source.blocks()), workers, HELD * workers)) as blocks:
        for block in blocks:
            yield from block


def _made(source: Source, tell: Callable[[Examples], T], most: int, pack: bool, k: int) -> list[_Piece[T]]:
    """A block in pieces of at most so many images, as workers send it."""
    block = source.block(k)
    pieces = []
    for start in range(0, len(block), most):
        some = block[start : start + most]
        scenes = tuple(scene for scene, _ in some)
        if pack:
            packed = joined([pack_one(scene, source.size) for scene in scenes])
            pieces.append(_Piece(tell(some), replace(packed, meshes=()), _cast(packed, scenes), ()))
        else:
            pieces.append(_Piece(tell(some), None, None, scenes))
    return pieces


def _cast(packed: Packed, scenes: Sequence[Scene]) -> Scene:
    """An object for each mesh, in the order of the meshes."""
    objects = [thing for scene in scenes for thing in scene.objects]
    _, first = np.unique(packed.mesh_of, return_index=True)
    return Scene(tuple(objects[i] for i in first), schema=scenes[0].schema)


def _all_of_it(some: Examples) -> Examples:
    return some


def _drawn(pieces: Sequence[_Piece[Any]], size: tuple[int, int], device: str) -> GpuImages:
    if device == "cpu":
        from ..render.gpu.host import host_batch

        return host_batch([scene for piece in pieces for scene in piece.scenes], size)
    from ..render.gpu.raster import render_batch

    whole = [_complete(piece) for piece in pieces]
    return render_batch(whole[0] if len(whole) == 1 else joined(whole), device=device)


def _complete(piece: _Piece[Any]) -> Packed:
    """The packed images with their meshes as this process holds them."""
    assert piece.packed is not None and piece.cast is not None
    return replace(piece.packed, meshes=tuple(body.mesh for body in bodies_of(piece.cast)))


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
