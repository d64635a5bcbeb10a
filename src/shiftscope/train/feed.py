"""Feed: training batches straight from a world, nothing on disk.

Worker processes make scenes and questions, this one draws them, on a GPU where there is one. What a batch
holds depends on the source and its place alone, never on the number of workers. `render_source` is for
callers that want little besides the images.
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

from ..errors import UserError, unknown
from ..executor import LocalExecutor
from ..geometry.body import bodies_of
from ..question import Question
from ..registry import SUITES
from ..render.gpu.pack import GpuScenes, join_packs, pack_scene
from ..render.gpu.raster import GpuImages
from ..scene import Scene
from ..schema import Attribute
from ..suites import load_suite, load_suites

if TYPE_CHECKING:
    import torch

T = TypeVar("T")
SceneQuestions = tuple[tuple[Scene, tuple[Question, ...]], ...]
BLOCKS_AHEAD = 2  # blocks made ahead for each worker


class SceneSource(Protocol):
    """Scenes with their questions, block by block; each block a function of its number alone. Picklable."""

    @property
    def size(self) -> tuple[int, int]: ...  # of the images
    def blocks(self) -> int: ...
    def block(self, k: int) -> SceneQuestions: ...


@dataclass(frozen=True, slots=True)
class SuiteSource:
    """A split of a suite: the scenes and questions that `make` would write for the same spec."""

    suite: str  # one that can be trained on
    spec: Any  # the suite's own
    split: str = "train"

    def __post_init__(self) -> None:
        if self.suite not in SUITES.names() or not load_suite(self.suite).trainable:
            raise unknown("suite", self.suite, list_trainable_suites(), "those that can be fed from")
        if self.split not in self.spec.splits():
            raise unknown("split", self.split, sorted(self.spec.splits()), f"this {self.suite}")

    @property
    def size(self) -> tuple[int, int]:
        size: tuple[int, int] = self.spec.size
        return size

    def blocks(self) -> int:
        return int(self.spec.jobs()[self.split])

    def block(self, k: int) -> SceneQuestions:
        plan = load_suite(self.suite).sample(self.spec, self.split, k)
        by_scene: dict[str, list[Question]] = {s.id: [] for s in plan.scenes}
        for question in plan.questions:
            by_scene[question.scenes[0]].append(question)
        return tuple((s, tuple(by_scene[s.id])) for s in plan.scenes)


def list_trainable_suites() -> list[str]:
    """The suites that can be sampled straight into training."""
    return [name for name, suite in load_suites().items() if suite.trainable]


@dataclass(frozen=True, slots=True, eq=False)
class FeedBatch:
    """Images on the device, and what they show; codes count a schema's values, −1 where there is none.

    Codes are looked up on access.
    """

    images: GpuImages
    scenes: tuple[Scene, ...]
    questions: tuple[tuple[Question, ...], ...]  # [image]

    @property
    def attributes(self) -> torch.Tensor:
        """[image, object, attribute] int64."""
        wanted = self.scenes[0].schema.attributes
        return self._make_table(
            [[_encode_values(o.attributes, wanted) for o in s.objects] for s in self.scenes], len(wanted)
        )

    @property
    def owners(self) -> torch.Tensor:
        """[image, listed part] int64, the object it belongs to."""
        return self._make_table([[i for i, o in enumerate(s.objects) for _ in o.parts] for s in self.scenes])

    @property
    def part_attributes(self) -> torch.Tensor:
        """[image, listed part, attribute] int64, in the order of the schema's `part_attributes`."""
        wanted = self.scenes[0].schema.part_attributes
        listed = [[p for o in s.objects for p in o.parts] for s in self.scenes]
        rows = [[_encode_values((("name", p.name), *p.attributes), wanted) for p in parts] for parts in listed]
        return self._make_table(rows, len(wanted))

    def _make_table(self, rows: Sequence[Sequence[Any]], *shape: int) -> torch.Tensor:
        import torch

        return torch.from_numpy(_pad_table(rows, shape)).to(self.images.mask.device)


class Feed:
    """Batches in order, once through the source; `device` is "cuda", "cuda:1" or "cpu".

    The last batch may be smaller. Leaving the loop ends the workers.
    """

    def __init__(self, source: SceneSource, batch: int = 256, device: str = "cuda", workers: int = 1) -> None:
        _check_batch(batch, device)
        self.source, self.batch, self.device, self.workers = source, batch, device, workers

    def __iter__(self) -> Iterator[FeedBatch]:
        with closing(_send_pieces(self.source, _keep_all, 1, self.device, self.workers)) as pieces:
            while some := tuple(islice(pieces, self.batch)):
                scenes, questions = zip(*(row for piece in some for row in piece.rows), strict=True)
                yield FeedBatch(_render_pieces(some, self.source.size, self.device), scenes, questions)


def render_source(
    source: SceneSource, summarize: Callable[[SceneQuestions], T], *, batch: int, device: str, workers: int
) -> Generator[tuple[GpuImages, T], None, None]:
    """All images of a source in order, and what `summarize` makes of them; a batch is of one block.

    Workers call `summarize`, which must be picklable, and only what it returns comes from them: a scene that
    nobody here wants stays where it was made.
    """
    _check_batch(batch, device)
    with closing(_send_pieces(source, summarize, batch, device, workers)) as pieces:
        for piece in pieces:
            yield _render_pieces([piece], source.size, device), piece.rows


def _check_batch(batch: int, device: str) -> None:
    if batch < 1:
        raise UserError(f"a batch of {batch} images cannot be drawn; give at least 1")
    if device != "cpu":
        from ..render.gpu.raster import check_device

        check_device(device)


@dataclass(frozen=True, slots=True, eq=False)
class _FeedPiece(Generic[T]):
    """Some images of a block on their way to where they are drawn: packed for a GPU, else as scenes."""

    rows: T  # what `summarize` made of them
    packed: GpuScenes | None  # without meshes, which do not travel
    cast: Scene | None  # the meshes, as objects: one for each
    scenes: tuple[Scene, ...]


def _send_pieces(
    source: SceneSource, summarize: Callable[[SceneQuestions], T], most: int, device: str, workers: int
) -> Generator[_FeedPiece[T], None, None]:
    task = partial(_make_block, source, summarize, most, device != "cpu")
    with closing(LocalExecutor(workers).map(task, range(source.blocks()), BLOCKS_AHEAD * workers)) as blocks:
        for block in blocks:
            yield from block


def _make_block(
    source: SceneSource, summarize: Callable[[SceneQuestions], T], most: int, pack: bool, k: int
) -> list[_FeedPiece[T]]:
    """A block in pieces of at most so many images, as workers send it."""
    block = source.block(k)
    pieces = []
    for start in range(0, len(block), most):
        some = block[start : start + most]
        scenes = tuple(scene for scene, _ in some)
        if pack:
            packed = join_packs([pack_scene(scene, source.size) for scene in scenes])
            pieces.append(
                _FeedPiece(summarize(some), replace(packed, meshes=()), _collect_mesh_objects(packed, scenes), ())
            )
        else:
            pieces.append(_FeedPiece(summarize(some), None, None, scenes))
    return pieces


def _collect_mesh_objects(packed: GpuScenes, scenes: Sequence[Scene]) -> Scene:
    """An object for each mesh, in the order of the meshes."""
    objects = [thing for scene in scenes for thing in scene.objects]
    _, first = np.unique(packed.mesh_of, return_index=True)
    return Scene(tuple(objects[i] for i in first), schema=scenes[0].schema)


def _keep_all(some: SceneQuestions) -> SceneQuestions:
    return some


def _render_pieces(pieces: Sequence[_FeedPiece[Any]], size: tuple[int, int], device: str) -> GpuImages:
    if device == "cpu":
        from ..render.gpu.raster import render_batch_on_cpu

        return render_batch_on_cpu([scene for piece in pieces for scene in piece.scenes], size)
    from ..render.gpu.raster import render_batch

    whole = [_attach_meshes(piece) for piece in pieces]
    return render_batch(whole[0] if len(whole) == 1 else join_packs(whole), device=device)


def _attach_meshes(piece: _FeedPiece[Any]) -> GpuScenes:
    """The packed images with their meshes as this process holds them."""
    assert piece.packed is not None and piece.cast is not None
    return replace(piece.packed, meshes=tuple(body.mesh for body in bodies_of(piece.cast)))


def _encode_values(pairs: Sequence[tuple[str, str]], attributes: Sequence[Attribute]) -> list[int]:
    """The place of each attribute's value among those it can have."""
    own = dict(pairs)
    return [a.values.index(own[a.name]) if own.get(a.name) in a.values else -1 for a in attributes]


def _pad_table(rows: Sequence[Sequence[Any]], shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """[image, …]: lists of different lengths as one array, −1 at their ends."""
    out = np.full((len(rows), max(map(len, rows)), *shape), -1, np.int64)
    for i, row in enumerate(rows):
        if row:
            out[i, : len(row)] = row
    return out
