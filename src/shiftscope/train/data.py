"""Data to train on: a dataset's folder, or a suite's world whose images are drawn and never stored.

All images and questions of a split are gathered once; then batches are picked from memory.
"""

import os
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ..errors import UserError, did_you_mean
from ..executor import LocalExecutor
from ..picture import Picture, Pixels
from ..question import Question
from ..registry import SUITES
from ..render import Renderer, open_renderer
from ..scene import Scene
from ..schema import Schema
from ..shortcuts import audit_folder
from ..store.dataset import Dataset, data_id, find_schema, has_grounding, refuse_study
from ..store.image import StoredImage
from ..store.question_part import QuestionPart
from ..store.shard import read_images, read_questions, read_shard_scenes
from ..suites import load_suite
from ..trainable import ANSWERS, GROUNDING, IMAGES, PROGRAMS, ProgressCallback, SplitData, TrainStage
from ..url_path import parse_path
from ..world import load_world
from .feed import SceneQuestions, SuiteSource, list_trainable_suites, render_source, summarize_source
from .process_group import ALONE, ProcessGroup
from .question_files import QuestionFilesData, open_audit_questions, open_question_files

TRAIN, VAL = "train", "val"
USUAL_IMAGES = 20_000  # to train on, where a suite makes them
Stages = Sequence[TrainStage]


@dataclass(frozen=True, slots=True)
class SuiteTrainingData:
    """A suite's world: the train and val splits that `make` would write for the same spec."""

    suite: str
    spec: Any  # the suite's

    @property
    def name(self) -> str:
        variant = getattr(self.spec, "name", "")
        return f"{self.suite}:{variant}" if variant else self.suite

    @property
    def variant(self) -> str:
        """As reports name it."""
        return str(getattr(self.spec, "name", "") or self.suite)

    @property
    def schema(self) -> Schema:
        return load_world(load_suite(self.suite).world).schema

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the images."""
        size: tuple[int, int] = self.spec.size
        return size

    def to_json(self) -> dict[str, Any]:
        spec: dict[str, Any] = self.spec.spec()
        return spec

    def count(self, split: str) -> int:
        return int(self.spec.splits()[split])

    def source(self, split: str, questions: bool) -> SuiteSource:
        none = {} if questions else dict.fromkeys(self.spec.question_fields, 0)
        return SuiteSource(self.suite, replace(self.spec, **none), split)


@dataclass(frozen=True, slots=True)
class DatasetTrainingData:
    """The train and val splits of a dataset; of train at most so many images, the first, or all.

    A part leaves out questions, not images: what is held out is a property of questions.
    """

    size: ClassVar[tuple[int, int]] = (0, 0)  # known once images are read
    dataset: Dataset
    images: int | None = None
    part: QuestionPart | None = None

    @property
    def name(self) -> str:
        spec = self.dataset.manifest.spec
        parts = [str(spec[key]) for key in ("suite", "variant") if spec.get(key)]
        return ":".join(parts) or self.dataset.folder.resolve().name

    @property
    def variant(self) -> str:
        spec = self.dataset.manifest.spec
        return str(spec.get("variant") or spec.get("suite") or self.dataset.folder.resolve().name)

    @property
    def schema(self) -> Schema:
        return find_schema(self.dataset)

    def to_json(self) -> dict[str, Any]:
        part = {"part": self.part.spec()} if self.part else {}
        return {"data_id": data_id(self.dataset), "images": self.count(TRAIN)} | part

    def count(self, split: str) -> int:
        there = self.dataset.count(split)[0]
        return there if split != TRAIN or self.images is None else min(there, self.images)


TrainingData: TypeAlias = SuiteTrainingData | DatasetTrainingData | QuestionFilesData


def open_training_data(
    text: str, *, visual: str = "", images: int | None = None, part: QuestionPart | None = None
) -> TrainingData:
    """What `--data` names: DIR, or SUITE[:VARIANT] with so many training images, and a quarter for val.

    Without a number these are all of a dataset, and `USUAL_IMAGES` of a suite. DIR is a dataset, or an audit of VQA
    files; files themselves stand between commas. Of these, only words are learned.
    """
    if images is not None and images < 1:
        raise UserError(f"{images} images are too few to train on; give at least 1")
    if "," in text:
        return _refuse_options(open_question_files(text), text, visual, part)
    path = parse_path(text)
    refuse_study(path)
    if audit_folder.has_audit_traces(path) and not (path / audit_folder.DATASET_MANIFEST).exists():
        return _refuse_options(open_audit_questions(path), text, visual, part)
    if path.exists() or "/" in text:
        if visual:
            raise UserError(f"{text} is made already: --visual is for a suite, as in --data superclevr")
        if part is not None and images is not None:
            raise UserError(f"--part names questions, and some are about images that --images {images} leaves out")
        return _open_dataset(path, images, part)
    if part is not None:
        raise UserError(f"{text} is a suite, whose questions are made while training; --part takes a dataset")
    suite, _, variant = text.partition(":")
    if suite not in SUITES.names() or not load_suite(suite).trainable:
        known = list_trainable_suites()
        raise UserError(
            f"{text}: no such folder, nor a suite that can be trained on{did_you_mean(suite, known)} "
            f"({', '.join(known)})"
        )
    images = images or USUAL_IMAGES
    usual = load_suite(suite).spec.from_variant(variant, visual)
    sizes = usual.splits()
    if TRAIN not in sizes:
        raise UserError(f"{suite}:{variant} is for testing alone; train on another variant")
    near = round(images * usual.images / sizes[TRAIN])
    for total in sorted(range(max(1, near - 12), near + 13), key=lambda total: (abs(total - near), total)):
        spec = replace(usual, images=total)
        if spec.splits().get(TRAIN) == images and spec.splits().get(VAL):
            return SuiteTrainingData(suite, spec)
    raise UserError(f"{images} training images leave none to choose by; train on at least 4")


def _refuse_options(data: QuestionFilesData, text: str, visual: str, part: QuestionPart | None) -> QuestionFilesData:
    if visual or part is not None:
        raise UserError(f"{text}: --{'visual' if visual else 'part'} is not for questions without pictures")
    return data


def _open_dataset(path: Path, images: int | None, part: QuestionPart | None) -> DatasetTrainingData:
    data = DatasetTrainingData(Dataset.open(path), images, part)
    for split in (TRAIN, VAL):
        if split not in data.dataset.splits or not data.dataset.count(split)[0]:
            raise UserError(
                f"{path} has no images in a split {split!r}: training needs {TRAIN} to learn from and "
                f"{VAL} to be chosen by"
            )
        for file in (file for shard in data.dataset.shards(split) for file in shard.files):
            data.dataset.check_file(file)
    if part is not None:
        part.check(data_id(data.dataset), TRAIN, (q.id for q in data.dataset.questions(TRAIN)))
    return data


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
    stages: Stages,
    *,
    device: str,
    workers: int = 1,
    group: ProcessGroup = ALONE,
    tell: ProgressCallback = lambda done, total, words: None,
) -> SplitData:
    """Everything of a split that the stages learn from.

    Several processes make a part each, and then all of them have everything.
    """
    if isinstance(data, QuestionFilesData):
        refuse_blind(data, stages)
        return SplitData(None, (), _collect(stages, *data.read(split)))
    if not isinstance(data, SuiteTrainingData):
        draws = _want(stages, IMAGES) and data.dataset.manifest.spec.get("pictured") is False
        return (_draw_stored if draws else _read_stored)(data, split, stages, device, workers, group, tell)
    asked, drawn = _want(stages, PROGRAMS, ANSWERS), _want(stages, IMAGES)
    how: dict[str, Any] = {"device": device} if drawn else {}
    where: dict[str, Any] = {"index": group.index, "of": group.of, "grounding": _want(stages, GROUNDING)}
    source = replace(data.source(split, asked), **where, **how)
    return _make_split(source, data.count(split), stages, split != TRAIN, device, workers, group, tell)


def refuse_blind(data: TrainingData, stages: Stages) -> None:
    """Refuse to train on questions without pictures what looks at these."""
    if isinstance(data, QuestionFilesData) and _want(stages, IMAGES):
        raise UserError(
            f"{data.name} has no pictures, and this model looks at them; train one that reads the question alone "
            "(MODEL+language), or name a file of region features with --set features=FILE"
        )


def _want(stages: Stages, *kinds: str) -> bool:
    return any(kind in stage.supervision for stage in stages for kind in kinds)


def _collect(stages: Stages, scenes: Sequence[Scene], questions: Sequence[Question]) -> dict[str, Any]:
    return {stage.name: stage.collect(scenes, questions) for stage in stages}


def _make_split(
    source: SuiteSource,
    size: int,
    stages: Stages,
    scenes: bool,
    device: str,
    workers: int,
    group: ProcessGroup,
    tell: ProgressCallback,
) -> SplitData:
    """Images if they are wanted, supervision, and scenes if they are wanted."""
    workers = max(1, min(workers, source.blocks()))
    drawn = _want(stages, IMAGES)
    if workers > 1:  # compile in one process what all workers would else compile at once, each for itself
        for scene, _ in SuiteSource(source.suite, replace(source.spec, shard=WARM), source.split).block(0):
            open_renderer(device if drawn else "cpu").pack([scene], source.size)
    collect = partial(_collect_examples, stages, scenes and drawn)
    pixels: Any = None
    blocks: Any  # generators of images and examples
    if drawn:
        pixels = _allocate_pixels(size, source.size, device, group.on_machine)
        blocks = render_source(source, collect, device=device, workers=workers)
    else:
        blocks = summarize_source(source, collect, workers=workers)
    made: list[tuple[int, MadeExamples]] = []  # with the number of the first image
    done, shard = 0, source.spec.shard
    with closing(blocks):
        for images, piece in blocks:
            start = (source.index + done // shard * source.of) * shard + done % shard
            if drawn:
                pixels[start : start + piece[0]] = images.rgb.to(pixels.device)
            made.append((start, piece))
            done += piece[0]
            tell(min(done * group.of, size), size, "images" if drawn else "images asked about")
    if drawn:
        group.exchange_blocks(pixels, shard)
    pieces = [piece for _, piece in sorted(group.gather(made), key=lambda one: one[0])]
    supervision = {stage.name: stage.join([held[stage.name] for _, _, held in pieces]) for stage in stages}
    return SplitData(pixels, tuple(scene for _, kept, _ in pieces for scene in kept), supervision)


def _collect_examples(stages: Stages, keep_scenes: bool, some: SceneQuestions) -> MadeExamples:
    scenes = tuple(scene for scene, _ in some)
    supervision = _collect(stages, scenes, [question for _, questions in some for question in questions])
    return len(some), scenes if keep_scenes else (), supervision


def _read_stored(
    data: DatasetTrainingData,
    split: str,
    stages: Stages,
    device: str,
    workers: int,
    group: ProcessGroup,
    tell: ProgressCallback,
) -> SplitData:
    """Every process reads all scenes and questions, and decodes some of the pictures."""
    import torch

    files, size = (shard.images for shard in data.dataset.shards(split) if shard.images), data.count(split)
    stored = islice((image for file in files for image in read_images(data.dataset.folder / file.path)), size)
    scenes: list[Scene] = []
    pixels: Any = None
    if not _want(stages, IMAGES):
        scenes = [image.scene for image in stored]
    with ThreadPoolExecutor(max(1, workers)) as threads:
        for block in count():
            if not (some := list(islice(stored, DECODED))):
                break
            if pixels is None:
                height, width = _decode_pixels(some[0]).shape[:2]
                pixels = _allocate_pixels(size, (width, height), device, group.on_machine)
            if not group.owns(block):
                scenes += [image.scene for image in some]
                continue
            arrays = list(threads.map(_decode_pixels, some))
            for image, array in zip(some, arrays, strict=True):
                if array.shape != tuple(pixels.shape[1:]):
                    raise UserError(
                        f"image {image.id} is {array.shape[1]}×{array.shape[0]} pixels, the first "
                        f"{pixels.shape[2]}×{pixels.shape[1]}: training needs images of one size"
                    )
            pixels[len(scenes) : len(scenes) + len(some)] = torch.from_numpy(np.stack(arrays)).to(pixels.device)
            scenes += [image.scene for image in some]
            tell(len(scenes), size, "images")
    if pixels is not None:
        group.exchange_blocks(pixels, DECODED)
    if _want(stages, GROUNDING) and not has_grounding(data.dataset):
        raise UserError(f"{data.dataset.folder}: its questions have no grounding; make it again with this version")
    names = {scene.id for scene in scenes}
    questions = list(_read_stored_questions(data, split, names)) if _want(stages, PROGRAMS, ANSWERS) else []
    kept = tuple(scenes) if split != TRAIN and pixels is not None else ()
    return SplitData(pixels, kept, _collect(stages, scenes, questions))


def _draw_stored(
    data: DatasetTrainingData,
    split: str,
    stages: Stages,
    device: str,
    workers: int,
    group: ProcessGroup,
    tell: ProgressCallback,
) -> SplitData:
    """Scenes that are stored without pictures are drawn here, packed by other processes; every process draws all."""
    width, height = data.dataset.manifest.spec["size"]
    most, renderer = data.count(split), open_renderer(device)
    pixels = _allocate_pixels(most, (width, height), device, group.on_machine)
    files = [data.dataset.folder / shard.images.path for shard in data.dataset.shards(split) if shard.images]
    scenes: list[Scene] = []
    if workers > 1 and files:  # compile in one process what all workers would else compile at once, each for itself
        renderer.pack(list(islice(read_shard_scenes(files[0]), WARM)), (width, height))
    task = partial(_pack_scenes, renderer, (width, height))
    with closing(LocalExecutor(max(1, workers)).map(task, files, 2 * max(1, workers))) as made:
        for pieces in made:
            for pack, some in pieces:
                start, some = len(scenes), some[: most - len(scenes)]
                if some:
                    drawn = renderer.render_packs([pack], (width, height)).rgb
                    assert drawn is not None
                    pixels[start : start + len(some)] = drawn[: len(some)].to(pixels.device)
                    scenes += some
            tell(len(scenes), most, "images")
    names = {scene.id for scene in scenes}
    questions = list(_read_stored_questions(data, split, names)) if _want(stages, PROGRAMS, ANSWERS) else []
    return SplitData(pixels, tuple(scenes) if split != TRAIN else (), _collect(stages, scenes, questions))


def _pack_scenes(renderer: Renderer, size: tuple[int, int], file: Path) -> list[tuple[Any, list[Scene]]]:
    """The scenes of a file as the renderer packs them, as many together as it draws best."""
    scenes = list(read_shard_scenes(file))
    cut = [scenes[start : start + renderer.batch] for start in range(0, len(scenes), renderer.batch)]
    return [(renderer.pack(some, size), some) for some in cut]


def _decode_pixels(image: StoredImage) -> Pixels:
    if not image.png:
        raise UserError(f"image {image.id} has no picture, and training needs one")
    return Picture(image.png, name=image.id).pixels()


def _read_stored_questions(data: DatasetTrainingData, split: str, names: set[str]) -> Iterator[Question]:
    for shard in data.dataset.shards(split):
        if shard.questions:
            questions = read_questions(data.dataset.folder / shard.questions.path)
            questions = data.part.select(split, questions) if data.part else questions
            yield from (q for q in questions if q.scenes and names.issuperset(q.scenes))


def _allocate_pixels(images: int, size: tuple[int, int], device: str, processes: int) -> Any:
    """An empty [image, height, width, 3]: on the GPU if it fits, else in memory, else in a file.

    As many processes allocate the same here, each for itself.
    """
    import torch

    width, height = size
    shape = (images, height, width, 3)
    wanted = images * height * width * 3
    if device != "cpu":
        free, _ = torch.cuda.mem_get_info(device)
        if wanted < FREE * free:
            return torch.empty(shape, dtype=torch.uint8, device=device)
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if wanted * processes < FREE * free:
        return torch.empty(shape, dtype=torch.uint8)
    with tempfile.TemporaryFile() as file:  # it is gone once nothing reads it
        return torch.from_numpy(np.memmap(file, np.uint8, "w+", shape=shape))
