"""Feed: training batches straight from a world, nothing on disk.

Worker processes make scenes and questions, this one draws them, on a GPU where there is one. What a batch
holds depends on the source and its place alone, never on the number of workers. `render_source` is for
callers that want little besides the images.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, islice
from math import gcd
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ..errors import UserError, unknown
from ..executor import LocalExecutor, Sealed
from ..question import Question, QuestionColumns, join_columns, split_columns
from ..registry import SUITES
from ..render import CPU, Renderer, open_renderer
from ..scene import Scene
from ..suites import load_suite, load_suites

if TYPE_CHECKING:
    from ..render.gpu.raster import GpuImages

T = TypeVar("T")
P = TypeVar("P")
SceneQuestions = tuple[tuple[Scene, tuple[Question, ...]], ...]
Summarize = Callable[[SceneQuestions], T]
SealedRows = Sealed[tuple[list[Scene], list[int], QuestionColumns]]  # and how many questions each scene has
PackedPiece = tuple[Any, int, SealedRows]  # as the renderer packs it, how many images, what they show
BLOCKS_AHEAD = 2  # blocks made ahead for each worker


class SceneSource(Protocol):
    """Scenes with their questions, block by block; each block a function of its number alone. Picklable.

    All blocks but the last are of one length.
    """

    @property
    def size(self) -> tuple[int, int]: ...  # of the images
    def blocks(self) -> int: ...
    def block(self, k: int) -> SceneQuestions: ...


@dataclass(frozen=True, slots=True)
class SuiteSource:
    """A split as `make` would write it for the same spec; each of several processes takes every so-manieth block."""

    suite: str  # one that can be trained on
    spec: Any  # the suite's
    split: str = "train"
    index: int = 0  # of the process
    of: int = 1  # processes
    most: int | None = None  # images
    device: str = CPU  # that looks at layouts: scenes are the same on every one
    grounding: bool = False  # whether questions say what their phrases refer to, which takes time

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
        mine = len(range(self.index, int(self.spec.jobs()[self.split]), self.of))
        return mine if self.most is None else min(mine, -(-self.most // self.spec.shard))

    def block(self, k: int) -> SceneQuestions:
        left = None if self.most is None else self.most - k * self.spec.shard  # the blocks before are full
        suite, place = load_suite(self.suite), (self.spec, self.split, self.index + k * self.of)
        on: dict[str, Any] = {} if self.device == CPU else {"device": self.device}
        scenes = suite.sample_scenes(*place, range(suite.count_images(*place)), **on)
        by_scene: dict[str, list[Question]] = {s.id: [] for s in scenes}
        grounded: dict[str, Any] = {"grounding": True} if self.grounding else {}
        for question in suite.ask(*place, scenes, **grounded):
            by_scene[question.scenes[0]].append(question)
        return tuple((s, tuple(by_scene[s.id])) for s in scenes[:left])


def list_trainable_suites() -> list[str]:
    """The suites that can be sampled straight into training."""
    return [name for name, suite in load_suites().items() if suite.trainable]


class FeedBatch:
    """Images on the device, and what they show, which is unpacked when somebody asks for it."""

    def __init__(self, images: GpuImages, packed: Sequence[SealedRows]) -> None:
        self.images, self._packed = images, packed

    @cached_property
    def _rows(self) -> list[tuple[Scene, tuple[Question, ...]]]:
        return [row for rows in self._packed for row in _open_rows(rows)]

    @property
    def scenes(self) -> tuple[Scene, ...]:
        return tuple(scene for scene, _ in self._rows)

    @property
    def questions(self) -> tuple[tuple[Question, ...], ...]:  # [image]
        return tuple(questions for _, questions in self._rows)


class Feed:
    """Batches in order, once through the source; `device` is "cuda", "cuda:1" or "cpu".

    The last batch may be smaller. Leaving the loop ends the workers.
    """

    def __init__(self, source: SceneSource, batch: int = 256, device: str = "cuda", workers: int = 1) -> None:
        _check_batch(batch)
        self.source, self.batch, self.renderer, self.workers = source, batch, open_renderer(device), workers

    def __iter__(self) -> Iterator[FeedBatch]:
        task = partial(_pack_aligned, self.source, self.batch, self.renderer)
        waiting: list[PackedPiece] = []
        with closing(_send_packs(task, self.source.blocks(), self.workers)) as sent:
            for piece in chain(sent, (None,)):
                if piece is not None:
                    waiting.append(piece)
                if waiting and (piece is None or sum(count for _, count, _ in waiting) == self.batch):
                    packs, _, rows = zip(*waiting, strict=True)
                    waiting = []
                    yield FeedBatch(self.renderer.render_packs(packs, self.source.size), rows)


def render_source(
    source: SceneSource, summarize: Summarize[T], *, batch: int | None = None, device: str, workers: int
) -> Generator[tuple[GpuImages, T], None, None]:
    """All images of a source in order, and what `summarize` makes of them; a batch is of one block.

    Workers call `summarize`, which must be picklable, and only what it returns comes from them: a scene that
    nobody here wants stays where it was made. Without `batch` as many are drawn together as the renderer draws best.
    """
    renderer = open_renderer(device)
    batch = renderer.batch if batch is None else batch
    _check_batch(batch)
    task = partial(_pack_block, source, summarize, batch, renderer)
    with closing(_send_packs(task, source.blocks(), workers)) as sent:
        for pack, summary in sent:
            yield renderer.render_packs([pack], source.size), summary


def summarize_source(
    source: SceneSource, summarize: Summarize[T], *, workers: int
) -> Generator[tuple[None, T], None, None]:
    """The same without images, block by block."""
    return _send_packs(partial(_summarize_block, source, summarize), source.blocks(), workers)


def _check_batch(batch: int) -> None:
    if batch < 1:
        raise UserError(f"a batch of {batch} images cannot be drawn; give at least 1")


def _send_packs(task: Callable[[int], list[P]], blocks: int, workers: int) -> Generator[P, None, None]:
    """What a task makes of each block, in order."""
    with closing(LocalExecutor(workers).map(task, range(blocks), BLOCKS_AHEAD * workers)) as made:
        for block in made:
            yield from block


def _pack_block(
    source: SceneSource, summarize: Summarize[T], most: int, renderer: Renderer, k: int
) -> list[tuple[Any, T]]:
    """A block as the renderer packs it, in pieces of at most so many images, each with its summary."""
    return [(renderer.pack([s for s, _ in some], source.size), summarize(some)) for some in _cut(source.block(k), most)]


def _pack_aligned(source: SceneSource, batch: int, renderer: Renderer, k: int) -> list[PackedPiece]:
    """The same in pieces that fill batches without a rest; all blocks but the last are of one length."""
    block = source.block(k)
    most = 1 if k == source.blocks() - 1 else gcd(batch, len(block))
    pieces = _cut(block, most)
    return [(renderer.pack([s for s, _ in some], source.size), len(some), _seal_rows(some)) for some in pieces]


def _seal_rows(rows: SceneQuestions) -> SealedRows:
    questions = split_columns([question for _, own in rows for question in own])
    return Sealed(([scene for scene, _ in rows], [len(own) for _, own in rows], questions))


def _open_rows(rows: SealedRows) -> Iterator[tuple[Scene, tuple[Question, ...]]]:
    scenes, counts, columns = rows.open()
    questions = iter(join_columns(columns))
    for scene, count in zip(scenes, counts, strict=True):
        yield scene, tuple(islice(questions, count))


def _summarize_block(source: SceneSource, summarize: Summarize[T], k: int) -> list[tuple[None, T]]:
    return [(None, summarize(source.block(k)))]


def _cut(block: SceneQuestions, most: int) -> list[SceneQuestions]:
    return [block[start : start + most] for start in range(0, len(block), most)]
