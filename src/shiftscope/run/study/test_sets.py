"""Test sets of a study: the images and questions that `make` would write, in memory and never on disk."""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from hashlib import blake2b
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...answer import spell
from ...lang.program import Program
from ...model import ADAPTATION_IMAGES, Prompt
from ...picture import Picture
from ...question import Question
from ...records import content_id
from ...render.gpu.pack import pack_batch
from ...result import QuestionRecord, build_question_record
from ...scene import Scene
from ...suites.study import Study, load_study
from ...train.feed import SceneQuestions, SuiteSource, render_source
from ..conditions import EvalExample
from .entries import StudyTestId
from .entry_store import hash_test_data

if TYPE_CHECKING:
    import torch


GPU_BATCH, CPU_BATCH = 250, 16  # images rendered together
MEMORY_SHARE = 0.5  # of the machine's memory, that test sets may take
QUESTION_BYTES, SCENE_BYTES = 2_000, 19_000  # about
TEST = "test"
ADAPTATION_SEED = 1000  # of the images that models are adapted to; no training and no test set of a study has it


class ImageQuestions(NamedTuple):
    """What is kept of an image, as it travels from the process that made it."""

    digest: str  # of its questions
    groups: dict[str, list[tuple[Question, QuestionRecord, Program | None]]]  # questions without answer and program
    scene: Scene | None  # this and the programs where wanted


@dataclass(frozen=True, slots=True, eq=False)
class StudyQuestions:
    """All questions of one group, image by image, as models get them."""

    prompts: tuple[Prompt, ...]
    records: tuple[QuestionRecord, ...]
    counts: npt.NDArray[np.int64]  # [image] how many each has
    programs: tuple[Program, ...] = ()  # the true ones, where wanted

    def __len__(self) -> int:
        return len(self.prompts)

    @property
    def image_rows(self) -> npt.NDArray[np.int64]:
        """[question] its image."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def iter_examples(self) -> Iterator[EvalExample]:
        for prompt in self.prompts:
            yield EvalExample(prompt.question, prompt.scenes, prompt)


@dataclass(frozen=True, slots=True, eq=False)
class StudyTestSet:
    """A test set: pictures in main memory, and the questions about them."""

    test: StudyTestId
    pictures: tuple[Picture, ...]
    scenes: tuple[Scene, ...]  # where wanted
    groups: dict[str, StudyQuestions]
    seconds: float
    unlabelled: tuple[Picture, ...] = ()  # of the same domain, of another seed: to adapt to, never scored

    def count_bytes(self) -> int:
        """What it takes in memory, about."""
        block = self.pictures[0].block
        questions = sum(map(len, self.groups.values()))
        return int(block.nbytes) + QUESTION_BYTES * questions + SCENE_BYTES * len(self.scenes)


def make_testset(
    study: Study,
    domain: Any,
    scale: Any,
    *,
    device: str,
    split: str = TEST,
    workers: int = 1,
    whole: bool = False,
    adapted: bool = False,
) -> StudyTestSet:
    """Make a split of a domain; `whole` keeps scenes and true programs, for oracles; `adapted` adds images for that."""
    import torch

    start = time.perf_counter()
    spec = domain.build_spec(scale)
    if workers > 1:
        _warm_up(study.suite, replace(spec, images=12, shard=2))
    source = SuiteSource(study.suite, spec, split)
    batch = GPU_BATCH if device != "cpu" else CPU_BATCH
    pixels: list[torch.Tensor] = []
    images: list[ImageQuestions] = []
    collect = partial(_collect_questions, study.suite, whole)
    with closing(render_source(source, collect, batch=batch, device=device, workers=workers)) as rendered:
        for drawn, questions in rendered:
            assert drawn.rgb is not None
            pixels.append(drawn.rgb.cpu())
            images += questions
    spec_id = hash_test_data(domain, scale)
    digest = blake2b("".join(image.digest for image in images).encode(), digest_size=16)
    block = torch.cat(pixels)
    pictures = tuple(Picture(block=block, row=k, id=f"{spec_id}/{split}/{k}") for k in range(len(block)))
    return StudyTestSet(
        StudyTestId(domain, spec_id, digest.hexdigest(), split),
        pictures,
        tuple(image.scene for image in images if image.scene),
        {group: _join_questions(images, group, pictures) for group in study.question_groups},
        time.perf_counter() - start,
        _make_unlabelled(study, spec, device) if adapted else (),
    )


def _make_unlabelled(study: Study, spec: Any, device: str) -> tuple[Picture, ...]:
    """Images of the same domain that no test set of the study shows: those of another seed."""
    import torch

    none = dict.fromkeys(spec.question_fields, 0)
    other = replace(spec, seed=spec.seed + ADAPTATION_SEED, shard=ADAPTATION_IMAGES, **none)
    sizes = (replace(other, images=images) for images in count(ADAPTATION_IMAGES))
    other = next(sized for sized in sizes if sized.splits()[TEST] == ADAPTATION_IMAGES)
    source = SuiteSource(study.suite, other, TEST)
    batch = GPU_BATCH if device != "cpu" else CPU_BATCH
    with closing(render_source(source, len, batch=batch, device=device, workers=1)) as rendered:
        block = torch.cat([drawn.rgb.cpu() for drawn, _ in rendered if drawn.rgb is not None])
    name = content_id(other.spec() | other.identify())
    return tuple(Picture(block=block, row=k, id=f"{name}/{k}") for k in range(len(block)))


@lru_cache(maxsize=1)
def _warm_up(suite: str, spec: Any) -> None:
    """Make two images here, so that workers find compiled what each would else compile for itself."""
    for scene, _ in SuiteSource(suite, spec, "test").block(0):
        pack_batch([scene], spec.size)


def _collect_questions(suite: str, whole: bool, some: SceneQuestions) -> list[ImageQuestions]:
    """What is kept of some images; called by the process that made them."""
    study = load_study(suite)
    images = []
    for scene, questions in some:
        digest = blake2b(digest_size=16)
        image = ImageQuestions("", {group: [] for group in study.question_groups}, scene if whole else None)
        for q in questions:
            assert q.program is not None and q.answer is not None
            group = study.find_group(q)
            record = build_question_record(q, [scene], facts=(("about", group),))
            digest.update(f"{scene.id}\t{q.text}\t{record.program}\t{spell(q.answer)}\n".encode())
            bare = replace(q, answer=None, answers=(), program=None, grounding=())
            image.groups[group].append((bare, record, q.program if whole else None))
        images.append(image._replace(digest=digest.hexdigest()))
    return images


def _join_questions(images: Sequence[ImageQuestions], group: str, pictures: Sequence[Picture]) -> StudyQuestions:
    rows = [(picture, *row) for image, picture in zip(images, pictures, strict=True) for row in image.groups[group]]
    return StudyQuestions(
        tuple(Prompt(question, question.text, (picture,)) for picture, question, _, _ in rows),
        tuple(record for _, _, record, _ in rows),
        np.array([len(image.groups[group]) for image in images], np.int64),
        tuple(program for *_, program in rows if program is not None),
    )


class StudyTestSets:
    """Test sets by domain, made when first needed; the longest unused are dropped when memory is short."""

    def __init__(
        self,
        study: Study,
        scale: Any,
        *,
        device: str,
        workers: int = 1,
        whole: Collection[Any] = (),
        adapted: bool = False,
    ) -> None:
        """`whole` are the domains whose scenes and programs are wanted; `adapted`: whether images to adapt to are."""
        self.study, self.scale, self.whole = study, scale, whole
        self._make = partial(make_testset, study, scale=scale, device=device, workers=workers, adapted=adapted)
        self._held: OrderedDict[Any, StudyTestSet] = OrderedDict()
        self._lock = threading.Lock()
        self._room = MEMORY_SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    def get_or_make(self, domain: Any, split: str = TEST) -> StudyTestSet:
        """One thread makes a test set, others wait for it."""
        key = domain, split
        with self._lock:
            if key not in self._held:
                self._held[key] = self._make(domain, split=split, whole=split == TEST and domain in self.whole)
            self._held.move_to_end(key)
            while len(self._held) > 1 and sum(e.count_bytes() for e in self._held.values()) > self._room:
                self._held.popitem(last=False)
            return self._held[key]
