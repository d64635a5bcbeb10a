"""Examples: all images and questions of a split, gathered once; then batches are picked from memory."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from ..errors import UserError
from ..picture import Picture, Pixels
from ..question import Question
from ..render import open_renderer
from ..scene import Scene
from ..store.image import StoredImage
from ..store.shard import read_images, read_questions
from ..trainable import ANSWERS, IMAGES, PROGRAMS, ProgressCallback, SplitData, TrainStage
from .data import TRAIN, DatasetTrainingData, SuiteTrainingData, TrainingData
from .feed import SceneQuestions, SuiteSource, render_source, summarize_source

WARM = 8  # images of the block that is made first, in one process
DECODED = 256  # images decoded together
FREE = 0.6  # share of the free memory that the images may take

# What travels with some images from the process that made them: how many, their scenes if wanted, supervision by stage.
MadeExamples = tuple[int, tuple[Scene, ...], dict[str, Any]]


@dataclass(frozen=True, slots=True, eq=False)
class TrainValData:
    """What stages learn from and are chosen by, gathered ahead."""

    train: SplitData
    val: SplitData
    seconds: float  # that it took, though something else may have been trained meanwhile


def gather_split(
    data: TrainingData,
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
    total, (index, of) = data.count(split), share
    sizes = [min(data.shard, total - start) for start in range(0, total, data.shard)]
    each = [sum(sizes[k::of]) for k in range(of)]
    if not min(each):
        raise UserError(f"{total} images of {split} are too few for {of} processes; start fewer")
    size = min(each) if split == TRAIN else each[index]
    if not isinstance(data, SuiteTrainingData):
        return _read_stored(data, split, size, stages, device, workers, share, tell)
    most = size if _want(stages, IMAGES) else None
    source = replace(data.source(split, _want(stages, PROGRAMS, ANSWERS)), index=index, of=of, most=most)
    return _make_split(source, size, stages, split != TRAIN, device, workers, tell)


def _want(stages: Sequence[TrainStage], *kinds: str) -> bool:
    return any(kind in stage.supervision for stage in stages for kind in kinds)


def _collect(stages: Sequence[TrainStage], scenes: Sequence[Scene], questions: Sequence[Question]) -> dict[str, Any]:
    return {stage.name: stage.collect(scenes, questions) for stage in stages}


# --- from a suite's world -------------------------------------------------------------------------------


def _make_split(
    source: SuiteSource,
    size: int,
    stages: Sequence[TrainStage],
    scenes: bool,
    device: str,
    workers: int,
    tell: ProgressCallback,
) -> SplitData:
    """Images if they are wanted, supervision, and scenes if they are wanted."""
    workers = min(workers, source.blocks())
    drawn = _want(stages, IMAGES)
    _compile_first(source, device if drawn else "cpu", workers)
    collect = partial(_collect_examples, stages, scenes and drawn)
    pixels: Any = None
    blocks: Any  # generators of images and examples
    if drawn:
        pixels = _allocate_pixels(size, source.size, device)
        blocks = render_source(source, collect, device=device, workers=workers)
    else:
        blocks = summarize_source(source, collect, workers=workers)
    pieces: list[MadeExamples] = []
    done = 0
    with closing(blocks):
        for images, piece in blocks:
            if drawn:
                pixels[done : done + piece[0]] = images.rgb.to(pixels.device)
            pieces.append(piece)
            done += piece[0]
            tell(min(done, size), size, "images" if drawn else "images asked about")
    supervision = {stage.name: stage.join([held[stage.name] for _, _, held in pieces]) for stage in stages}
    return SplitData(pixels, tuple(scene for _, kept, _ in pieces for scene in kept), supervision)


def _collect_examples(stages: Sequence[TrainStage], keep_scenes: bool, some: SceneQuestions) -> MadeExamples:
    scenes = tuple(scene for scene, _ in some)
    supervision = _collect(stages, scenes, [question for _, questions in some for question in questions])
    return len(some), scenes if keep_scenes else (), supervision


def _compile_first(source: SuiteSource, device: str, workers: int) -> None:
    """Compile in one process what all workers would else compile at once, each for itself."""
    if workers > 1:
        for scene, _ in SuiteSource(source.suite, replace(source.spec, shard=WARM), source.split).block(0):
            open_renderer(device).pack([scene], source.size)


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
    import torch

    files = (shard.images for shard in data.dataset.shards(split) if shard.images)
    stored = (image for file in files for image in read_images(data.dataset.folder / file.path))
    mine = islice(islice(stored, share[0], data.count(split), share[1]), size)
    scenes: list[Scene] = []
    pixels: Any = None
    if not _want(stages, IMAGES):
        scenes = [image.scene for image in mine]
    with ThreadPoolExecutor(max(1, workers)) as threads:
        while some := list(islice(mine, DECODED)):
            arrays = list(threads.map(_decode_pixels, some))
            if pixels is None:
                height, width = arrays[0].shape[:2]
                pixels = _allocate_pixels(size, (width, height), device)
            for image, array in zip(some, arrays, strict=True):
                if array.shape != tuple(pixels.shape[1:]):
                    raise UserError(
                        f"image {image.id} is {array.shape[1]}×{array.shape[0]} pixels, the first "
                        f"{pixels.shape[2]}×{pixels.shape[1]}: training needs images of one size"
                    )
            pixels[len(scenes) : len(scenes) + len(some)] = torch.from_numpy(np.stack(arrays)).to(pixels.device)
            scenes += [image.scene for image in some]
            tell(len(scenes), size, "images")
    names = {scene.id for scene in scenes}
    questions = list(_read_stored_questions(data, split, names)) if _want(stages, PROGRAMS, ANSWERS) else []
    kept = tuple(scenes) if split != TRAIN and pixels is not None else ()
    return SplitData(pixels, kept, _collect(stages, scenes, questions))


def _decode_pixels(image: StoredImage) -> Pixels:
    if not image.png:
        raise UserError(f"image {image.id} has no picture, and training needs one")
    return Picture(image.png, name=image.id).pixels()


def _read_stored_questions(data: DatasetTrainingData, split: str, names: set[str]) -> Iterator[Question]:
    for shard in data.dataset.shards(split):
        if shard.questions:
            questions = read_questions(data.dataset.folder / shard.questions.path)
            questions = data.part.select(split, questions) if data.part else questions
            yield from (q for q in questions if q.scenes and q.scenes[0] in names)


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
