"""Examples: all images and questions of a split, gathered once; then batches are picked from memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import UserError
from ..executor import LocalExecutor
from ..picture import Picture, Pixels
from ..question import Question
from ..render.gpu.pack import pack_scene
from ..scene import Scene
from ..store.image import StoredImage
from ..store.shard import read_images, read_questions
from ..trainable import ANSWERS, IMAGES, PROGRAMS, ProgressCallback, SplitData, TrainStage
from .data import TRAIN, DatasetTrainingData, SuiteTrainingData
from .feed import BLOCKS_AHEAD, SceneQuestions, SuiteSource, render_source

if TYPE_CHECKING:
    import torch

GPU_BATCH = 256  # images drawn together on a GPU
CPU_BATCH = 16  # and without one
WARM = 8  # images of the block that is made first, in one process
FREE = 0.6  # share of the free memory that the images may take


@dataclass(frozen=True, slots=True)
class SourceShare:
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


class RenderedExamples(NamedTuple):
    """What travels with some images from the process that made them."""

    images: int
    scenes: tuple[Scene, ...]
    supervision: dict[str, Any]  # by stage


@dataclass(frozen=True, slots=True, eq=False)
class TrainValData:
    """What stages learn from and are chosen by, gathered ahead."""

    train: SplitData
    val: SplitData
    seconds: float  # that it took, though something else may have been trained meanwhile


def gather_split(
    data: SuiteTrainingData | DatasetTrainingData,
    split: str,
    stages: Sequence[TrainStage],
    *,
    device: str,
    workers: int = 1,
    share: tuple[int, int] = (0, 1),
    tell: ProgressCallback = lambda done, total, words: None,
) -> SplitData:
    """Everything of a split that the stages learn from; `share` is (number, of how many) of several processes.

    Shares of the train split are of one length, so that the processes stay in step.
    """
    size = _count_share(data, split, share)
    if isinstance(data, SuiteTrainingData):
        source = SourceShare(data.source(split, _want_questions(stages)), *share)
        if not _want(stages, IMAGES):
            return _generate_questions(source, size, stages, workers, tell)
        return _render_split(replace(source, most=size), size, stages, split != TRAIN, device, workers, tell)
    return _read_stored(data, split, size, stages, device, workers, share, tell)


def _want(stages: Sequence[TrainStage], what: str) -> bool:
    return any(what in stage.supervision for stage in stages)


def _want_questions(stages: Sequence[TrainStage]) -> bool:
    return _want(stages, PROGRAMS) or _want(stages, ANSWERS)


def _collect(stages: Sequence[TrainStage], scenes: Sequence[Scene], questions: Sequence[Question]) -> dict[str, Any]:
    return {stage.name: stage.collect(scenes, questions) for stage in stages}


def _join(stages: Sequence[TrainStage], pieces: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {stage.name: stage.join([piece[stage.name] for piece in pieces]) for stage in stages}


def _count_share(data: SuiteTrainingData | DatasetTrainingData, split: str, share: tuple[int, int]) -> int:
    """How many images a share has; of the train split as many as the smallest share."""
    total, (index, of) = data.count(split), share
    step = data.order.shard if isinstance(data, SuiteTrainingData) else 1
    sizes = [min(step, total - start) for start in range(0, total, step)]
    each = [sum(sizes[k::of]) for k in range(of)]
    if not min(each):
        raise UserError(f"{total} images of {split} are too few for {of} processes; start fewer")
    return min(each) if split == TRAIN else each[index]


# --- from a suite's world -------------------------------------------------------------------------------


def _render_split(
    source: SourceShare,
    size: int,
    stages: Sequence[TrainStage],
    scenes: bool,
    device: str,
    workers: int,
    tell: ProgressCallback,
) -> SplitData:
    """Images and supervision, and scenes if they are wanted."""
    workers = min(workers, source.blocks())
    _compile_first(source, device, workers)
    pixels = _allocate_pixels(size, source.size, device)
    found: list[RenderedExamples] = []
    done = 0
    batch = GPU_BATCH if device != "cpu" else CPU_BATCH
    pieces = render_source(
        source, partial(_collect_examples, stages, scenes), batch=batch, device=device, workers=workers
    )
    with closing(pieces):
        for images, piece in pieces:
            assert images.rgb is not None
            pixels[done : done + piece.images] = images.rgb.to(pixels.device)
            found.append(piece)
            done += piece.images
            tell(done, size, "images")
    return SplitData(
        pixels,
        tuple(scene for piece in found for scene in piece.scenes),
        _join(stages, [piece.supervision for piece in found]),
    )


def _collect_examples(stages: Sequence[TrainStage], scenes: bool, some: SceneQuestions) -> RenderedExamples:
    shown = tuple(scene for scene, _ in some)
    supervision = _collect(stages, shown, [question for _, asked in some for question in asked])
    return RenderedExamples(len(some), shown if scenes else (), supervision)


def _generate_questions(
    source: SourceShare, size: int, stages: Sequence[TrainStage], workers: int, tell: ProgressCallback
) -> SplitData:
    workers = min(workers, source.blocks())
    _compile_first(source, "cpu", workers)
    found: list[RenderedExamples] = []
    done = 0
    make = partial(_generate_block, source, stages)
    blocks = LocalExecutor(workers).map(make, range(source.blocks()), BLOCKS_AHEAD * workers)
    with closing(blocks):
        for made in blocks:
            found.append(made)
            done += made.images
            tell(min(done, size), size, "images asked about")
    return SplitData(None, (), _join(stages, [made.supervision for made in found]))


def _generate_block(source: SourceShare, stages: Sequence[TrainStage], k: int) -> RenderedExamples:
    return _collect_examples(stages, False, source.block(k))


def _compile_first(source: SourceShare, device: str, workers: int) -> None:
    """Compile in one process what all workers would else compile at once, each for itself."""
    if workers > 1:
        first = replace(source.source, order=replace(source.source.order, shard=WARM))
        for scene, _ in first.block(0):
            if device != "cpu":
                pack_scene(scene, source.size)


# --- from a folder --------------------------------------------------------------------------------------


def _read_stored(
    data: DatasetTrainingData,
    split: str,
    size: int,
    stages: Sequence[TrainStage],
    device: str,
    workers: int,
    share: tuple[int, int],
    tell: ProgressCallback,
) -> SplitData:
    index, of = share
    mine = islice(islice(_read_stored_images(data, split), index, None, of), size)
    scenes: list[Scene] = []
    pixels: Any = None
    if not _want(stages, IMAGES):
        scenes = [image.scene for image in mine]
    with ThreadPoolExecutor(max(1, workers)) as threads:
        while some := list(islice(mine, GPU_BATCH)):
            arrays = list(threads.map(_decode_pixels, some))
            height, width = arrays[0].shape[:2]
            if pixels is None:
                pixels = _allocate_pixels(size, (width, height), device)
            for image, array in zip(some, arrays, strict=True):
                if array.shape != tuple(pixels.shape[1:]):
                    raise UserError(
                        f"image {image.id} is {array.shape[1]}×{array.shape[0]} pixels, the first "
                        f"{pixels.shape[2]}×{pixels.shape[1]}: training needs images of one size"
                    )
            pixels[len(scenes) : len(scenes) + len(some)] = _to_tensor(np.stack(arrays)).to(pixels.device)
            scenes += [image.scene for image in some]
            tell(len(scenes), size, "images")
    asked = _read_stored_questions(data, split, {scene.id for scene in scenes}) if _want_questions(stages) else ()
    kept = tuple(scenes) if split != TRAIN and pixels is not None else ()
    return SplitData(pixels, kept, _collect(stages, scenes, list(asked)))


def _read_stored_images(data: DatasetTrainingData, split: str) -> Iterator[StoredImage]:
    found = (
        image
        for shard in data.dataset.shards(split)
        if shard.images
        for image in read_images(data.dataset.folder / shard.images.path)
    )
    return islice(found, data.count(split))


def _decode_pixels(image: StoredImage) -> Pixels:
    if not image.png:
        raise UserError(f"image {image.id} has no picture, and training needs one")
    return Picture(image.png, name=image.id).pixels()


def _read_stored_questions(data: DatasetTrainingData, split: str, names: set[str]) -> Iterator[Question]:
    for shard in data.dataset.shards(split):
        if shard.questions:
            asked = read_questions(data.dataset.folder / shard.questions.path)
            asked = data.part.select(split, asked) if data.part else asked
            yield from (q for q in asked if q.scenes and q.scenes[0] in names)


def _to_tensor(array: npt.NDArray[np.uint8]) -> torch.Tensor:
    import torch

    return torch.from_numpy(array)


def _allocate_pixels(images: int, size: tuple[int, int], device: str) -> Any:
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
