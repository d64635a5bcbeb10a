"""Feed: training batches straight from a world, nothing on disk.

Worker processes make scenes and questions, this one draws them, on a GPU where there is one. What a batch
holds depends on the source and its place alone, never on the number of workers. `render_source` is for
callers that want little besides the images.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from ..errors import UserError, unknown
from ..executor import LocalExecutor
from ..question import Question
from ..registry import SUITES
from ..render import Renderer, open_renderer
from ..scene import Scene
from ..suites import load_suite, load_suites

if TYPE_CHECKING:
    from ..render.gpu.raster import GpuImages

T = TypeVar("T")
SceneQuestions = tuple[tuple[Scene, tuple[Question, ...]], ...]
Summarize = Callable[[SceneQuestions], T]
BLOCKS_AHEAD = 2  # blocks made ahead for each worker


class SceneSource(Protocol):
    """Scenes with their questions, block by block; each block a function of its number alone. Picklable."""

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
        plan = load_suite(self.suite).sample(self.spec, self.split, self.index + k * self.of)
        by_scene: dict[str, list[Question]] = {s.id: [] for s in plan.scenes}
        for question in plan.questions:
            by_scene[question.scenes[0]].append(question)
        return tuple((s, tuple(by_scene[s.id])) for s in plan.scenes[:left])


def list_trainable_suites() -> list[str]:
    """The suites that can be sampled straight into training."""
    return [name for name, suite in load_suites().items() if suite.trainable]


class FeedBatch(NamedTuple):
    """Images on the device, and what they show."""

    images: GpuImages
    scenes: tuple[Scene, ...]
    questions: tuple[tuple[Question, ...], ...]  # [image]


class Feed:
    """Batches in order, once through the source; `device` is "cuda", "cuda:1" or "cpu".

    The last batch may be smaller. Leaving the loop ends the workers.
    """

    def __init__(self, source: SceneSource, batch: int = 256, device: str = "cuda", workers: int = 1) -> None:
        _check_batch(batch)
        self.source, self.batch, self.renderer, self.workers = source, batch, open_renderer(device), workers

    def __iter__(self) -> Iterator[FeedBatch]:
        with closing(_send_packs(self.source, tuple, 1, self.renderer, self.workers)) as sent:
            while some := list(islice(sent, self.batch)):
                scenes, questions = zip(*(row for _, rows in some for row in rows), strict=True)
                images = self.renderer.render_packs([pack for pack, _ in some], self.source.size)
                yield FeedBatch(images, scenes, questions)


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
    with closing(_send_packs(source, summarize, batch, renderer, workers)) as sent:
        for pack, summary in sent:
            yield renderer.render_packs([pack], source.size), summary


def summarize_source(
    source: SceneSource, summarize: Summarize[T], *, workers: int
) -> Generator[tuple[None, T], None, None]:
    """The same without images, block by block."""
    return _send_packs(source, summarize, 0, None, workers)


def _check_batch(batch: int) -> None:
    if batch < 1:
        raise UserError(f"a batch of {batch} images cannot be drawn; give at least 1")


def _send_packs(
    source: SceneSource, summarize: Summarize[T], most: int, renderer: Renderer | None, workers: int
) -> Generator[tuple[Any, T], None, None]:
    """Images on their way to where they are drawn, as the renderer packs them, each pack with its summary.

    Without a renderer, the summary of each block.
    """
    task = partial(_pack_block, source, summarize, most, renderer)
    with closing(LocalExecutor(workers).map(task, range(source.blocks()), BLOCKS_AHEAD * workers)) as blocks:
        for block in blocks:
            yield from block


def _pack_block(
    source: SceneSource, summarize: Summarize[T], most: int, renderer: Renderer | None, k: int
) -> list[tuple[Any, T]]:
    """A block in packs of at most so many images."""
    block = source.block(k)
    if renderer is None:
        return [(None, summarize(block))]
    pieces = [block[start : start + most] for start in range(0, len(block), most)]
    return [(renderer.pack([scene for scene, _ in some], source.size), summarize(some)) for some in pieces]
