"""Examples: all images and questions of a split, gathered once; then batches are picked from memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...errors import UserError
from ...lang.program import Program
from ...models._labels import Labels, joined, labels_of
from ...models._picture import Pixels, decoded
from ...render.gpu.pack import pack_one
from ...scene import Scene
from ...store.image import StoredImage
from ...store.shard import read_images, read_questions
from ...store.workers import in_order
from ..feed import HELD, Examples, SuiteSource, drawn
from .data import TRAIN, Folder, World
from .task import Rows, shuffled

if TYPE_CHECKING:
    import torch

    from ...models._scene_parser import Batch

DRAWN = 256  # images drawn together on a GPU
DRAWN_HERE = 16  # and without one
WARM = 8  # images of the block that is made first, in one process
FREE = 0.6  # share of the free memory that the images may take

Pair = tuple[str, Program]
Tell = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Share:
    """Every so-manieth block of a source: what one of several processes trains on. Picklable."""

    source: SuiteSource
    index: int = 0
    of: int = 1
    most: int | None = None  # images

    @property
    def size(self) -> tuple[int, int]:
        return self.source.size

    def blocks(self) -> int:
        all_blocks = len(range(self.index, self.source.blocks(), self.of))
        return all_blocks if self.most is None else min(all_blocks, -(-self.most // self.source.order.shard))

    def block(self, k: int) -> Any:
        left = None if self.most is None else self.most - k * self.source.order.shard  # those before are full
        return self.source.block(self.index + k * self.of)[:left]


@dataclass(frozen=True, slots=True, eq=False)
class Gathered:
    """A split in memory: images with what they show, questions with what they mean, or either."""

    pixels: torch.Tensor | None  # [image, height, width, 3] uint8, on the device if they fit
    labels: Labels | None
    scenes: tuple[Scene, ...]  # with the images of any split but train, whose labels are enough
    questions: tuple[Pair, ...]


class Told(NamedTuple):
    """What travels with some images from the process that made them."""

    images: int
    labels: Labels
    scenes: tuple[Scene, ...]
    questions: list[Pair]


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """What a parser learns from and is chosen by, gathered ahead."""

    train: Gathered
    val: Gathered
    seconds: float  # that it took, though something else may have been trained meanwhile


def gather(
    data: World | Folder,
    split: str,
    *,
    pictures: bool,
    questions: bool,
    device: str,
    workers: int = 1,
    share: tuple[int, int] = (0, 1),
    tell: Tell = lambda done, total, words: None,
) -> Gathered:
    """Everything of a split that is wanted; `share` is (number, of how many) where several processes train.

    Shares of the train split are of one length, so that the processes stay in step.
    """
    size = _share_size(data, split, share)
    if isinstance(data, World):
        source = Share(data.source(split, questions), *share)
        if not pictures:
            return _only_asked(source, size, workers, tell)
        return _drawn(replace(source, most=size), size, split != TRAIN, device, workers, tell)
    return _stored(data, split, size, pictures, questions, device, workers, share, tell)


def _share_size(data: World | Folder, split: str, share: tuple[int, int]) -> int:
    """How many images a share has; of the train split as many as the smallest share."""
    total, (index, of) = data.count(split), share
    step = data.order.shard if isinstance(data, World) else 1
    sizes = [min(step, total - start) for start in range(0, total, step)]
    each = [sum(sizes[k::of]) for k in range(of)]
    if not min(each):
        raise UserError(f"{total} images of {split} are too few for {of} processes; start fewer")
    return min(each) if split == TRAIN else each[index]


# --- from a suite's world -------------------------------------------------------------------------------


def _drawn(source: Share, size: int, scenes: bool, device: str, workers: int, tell: Tell) -> Gathered:
    """Images, labels and questions, and scenes if they are wanted. Everything that knows the feed is here."""
    workers = min(workers, source.blocks())
    _warm(source, device, workers)
    pixels = _room(size, source.size, device)
    found: list[Told] = []
    done = 0
    batch = DRAWN if device != "cpu" else DRAWN_HERE
    pieces = drawn(source, partial(_told, scenes), batch=batch, device=device, workers=workers)
    with closing(pieces):
        for images, told in pieces:
            assert images.rgb is not None
            pixels[done : done + told.images] = images.rgb.to(pixels.device)
            found.append(told)
            done += told.images
            tell(done, size, "images")
    return Gathered(
        pixels,
        joined([told.labels for told in found]),
        tuple(scene for told in found for scene in told.scenes),
        tuple(pair for told in found for pair in told.questions),
    )


def _told(scenes: bool, some: Examples) -> Told:
    shown = tuple(scene for scene, _ in some)
    pairs = [pair for _, asked in some for pair in _pairs(asked)]
    return Told(len(some), labels_of(shown), shown if scenes else (), pairs)


def _only_asked(source: Share, size: int, workers: int, tell: Tell) -> Gathered:
    workers = min(workers, source.blocks())
    _warm(source, "cpu", workers)
    pairs: list[Pair] = []
    done = 0
    blocks = in_order(partial(_asked, source), range(source.blocks()), workers, HELD * workers)
    with closing(blocks):
        for count, asked in blocks:
            done += count
            pairs += asked
            tell(min(done, size), size, "images asked about")
    return Gathered(None, None, (), tuple(pairs))


def _asked(source: Share, k: int) -> tuple[int, list[Pair]]:
    """The questions of a block, and of how many images."""
    block = source.block(k)
    return len(block), [pair for _, asked in block for pair in _pairs(asked)]


def _warm(source: Share, device: str, workers: int) -> None:
    """Compile in one process what all workers would else compile at once, each for itself."""
    if workers > 1:
        first = replace(source.source, order=replace(source.source.order, shard=WARM))
        for scene, _ in first.block(0):
            if device != "cpu":
                pack_one(scene, source.size)


# --- from a folder --------------------------------------------------------------------------------------


def _stored(
    data: Folder,
    split: str,
    size: int,
    pictures: bool,
    questions: bool,
    device: str,
    workers: int,
    share: tuple[int, int],
    tell: Tell,
) -> Gathered:
    index, of = share
    mine = islice(islice(_images(data, split), index, None, of), size)
    if not pictures:
        names = {image.id for image in mine}
        return Gathered(None, None, (), tuple(_stored_pairs(data, split, names)) if questions else ())
    scenes: list[Scene] = []
    pixels: Any = None
    with ThreadPoolExecutor(max(1, workers)) as threads:
        while some := list(islice(mine, DRAWN)):
            arrays = list(threads.map(_pixels, some))
            height, width = arrays[0].shape[:2]
            if pixels is None:
                pixels = _room(size, (width, height), device)
            for image, array in zip(some, arrays, strict=True):
                if array.shape != tuple(pixels.shape[1:]):
                    raise UserError(
                        f"image {image.id} is {array.shape[1]}×{array.shape[0]} pixels, the first "
                        f"{pixels.shape[2]}×{pixels.shape[1]}: scene parsers are trained on one size"
                    )
            pixels[len(scenes) : len(scenes) + len(some)] = _tensor(np.stack(arrays)).to(pixels.device)
            scenes += [image.scene for image in some]
            tell(len(scenes), size, "images")
    names = {scene.id for scene in scenes}
    pairs = tuple(_stored_pairs(data, split, names)) if questions else ()
    return Gathered(pixels, labels_of(scenes), tuple(scenes) if split != TRAIN else (), pairs)


def _images(data: Folder, split: str) -> Iterator[StoredImage]:
    found = (
        image
        for shard in data.dataset.shards(split)
        if shard.images
        for image in read_images(data.dataset.folder / shard.images.path)
    )
    return islice(found, data.count(split))


def _pixels(image: StoredImage) -> Pixels:
    if not image.png:
        raise UserError(f"image {image.id} has no picture; a scene parser is trained on pictures")
    return decoded(image.png, image.id)


def _stored_pairs(data: Folder, split: str, names: set[str]) -> Iterator[Pair]:
    for shard in data.dataset.shards(split):
        if shard.questions:
            asked = read_questions(data.dataset.folder / shard.questions.path)
            asked = data.part.of(split, asked) if data.part else asked
            yield from _pairs(q for q in asked if q.scenes and q.scenes[0] in names)


# --- batches --------------------------------------------------------------------------------------------


class PictureExamples:
    """Images with their labels, picked by number where they lie."""

    def __init__(self, found: Gathered, device: str) -> None:
        assert found.pixels is not None and found.labels is not None
        self.pixels, self.labels, self.device = found.pixels, found.labels.tensors(device), device

    def __len__(self) -> int:
        return len(self.pixels)

    def epoch(self, batch: int, random: np.random.Generator) -> list[Rows]:
        return shuffled(len(self), batch, random)

    def batch(self, rows: torch.Tensor) -> Batch:
        from ...models._scene_parser import Batch

        images = self.pixels[rows.to(self.pixels.device)].to(self.device, non_blocking=True)
        return Batch(images, self.labels.take(rows.to(self.device)))


def _pairs(questions: Any) -> Iterator[Pair]:
    return ((q.text, q.program) for q in questions if q.program is not None)


def _tensor(array: npt.NDArray[np.uint8]) -> torch.Tensor:
    import torch

    return torch.from_numpy(array)


def _room(images: int, size: tuple[int, int], device: str) -> Any:
    """An empty [image, height, width, 3]: on the GPU if it fits, else in memory, else in a file."""
    import torch

    width, height = size
    shape = (images, height, width, 3)
    wanted = images * height * width * 3
    if device != "cpu":
        free, _ = torch.cuda.mem_get_info(device)
        if wanted < FREE * free:
            return torch.empty(shape, dtype=torch.uint8, device=device)
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if wanted < FREE * free:
        return torch.empty(shape, dtype=torch.uint8)
    with tempfile.TemporaryFile() as file:  # it is gone once nothing reads it
        return torch.from_numpy(np.memmap(file, np.uint8, "w+", shape=shape))
