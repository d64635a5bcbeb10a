"""Test sets of a study: images and questions as `make` would write them, in memory and never on disk."""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...answer import spell
from ...lang.program import Program
from ...model import Prompt
from ...picture import Picture
from ...question import Question
from ...render.gpu.pack import pack_scene
from ...result import QuestionRecord, build_question_record
from ...scene import Scene
from ...train.feed import SceneQuestions, SuiteSource, render_source
from ..conditions import EvalExample
from .definition import Study, load_study
from .entries import StudyTestId
from .transfer_matrix import hash_test_data

if TYPE_CHECKING:
    import torch

GPU_BATCH, CPU_BATCH = 250, 16  # images rendered together
MEMORY_SHARE = 0.5  # of the machine's memory, that test sets may take
QUESTION_BYTES, SCENE_BYTES = 2_000, 19_000  # about


class GroupQuestions(NamedTuple):
    """Questions of one group, image by image, as they travel from the process that made them."""

    questions: list[Question]  # without answer and program
    records: list[QuestionRecord]
    programs: list[Program]  # where wanted
    counts: list[int]  # [image] how many each has


class RenderedQuestions(NamedTuple):
    """What travels with some images."""

    digests: str  # of the questions of each image, one after another
    groups: tuple[GroupQuestions, ...]
    scenes: tuple[Scene, ...]  # where wanted


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

    def count_bytes(self) -> int:
        """What it takes in memory, about."""
        block = self.pictures[0].block
        questions = sum(map(len, self.groups.values()))
        return int(block.nbytes) + QUESTION_BYTES * questions + SCENE_BYTES * len(self.scenes)


def make_testset(
    study: Study, domain: Any, scale: Any, *, device: str, workers: int = 1, whole: bool = False
) -> StudyTestSet:
    """Make the test split of a domain; `whole` keeps scenes and true programs, for oracles."""
    import torch

    start = time.perf_counter()
    spec = domain.build_spec(scale)
    if workers > 1:
        _warm_up(study.SUITE, replace(spec, images=12, shard=2))
    source = SuiteSource(study.SUITE, spec, "test")
    batch = GPU_BATCH if device != "cpu" else CPU_BATCH
    pixels: list[torch.Tensor] = []
    made: list[RenderedQuestions] = []
    collect = partial(_collect_questions, study.SUITE, whole)
    with closing(render_source(source, collect, batch=batch, device=device, workers=workers)) as rendered:
        for images, questions in rendered:
            assert images.rgb is not None
            pixels.append(images.rgb.cpu())
            made.append(questions)
    spec_id = hash_test_data(domain, scale)
    digest = blake2b("".join(some.digests for some in made).encode(), digest_size=16)
    block = torch.cat(pixels)
    pictures = tuple(Picture(block=block, row=k, id=f"{spec_id}/{k}") for k in range(len(block)))
    return StudyTestSet(
        StudyTestId(domain, spec_id, digest.hexdigest()),
        pictures,
        tuple(scene for some in made for scene in some.scenes),
        {
            group: _join_questions([some.groups[k] for some in made], pictures)
            for k, group in enumerate(study.QUESTION_GROUPS)
        },
        time.perf_counter() - start,
    )


@lru_cache(maxsize=1)
def _warm_up(suite: str, spec: Any) -> None:
    """Make two images here, so that workers find compiled what each would else compile for itself."""
    for scene, _ in SuiteSource(suite, spec, "test").block(0):
        pack_scene(scene, spec.size)


def _collect_questions(suite: str, whole: bool, some: SceneQuestions) -> RenderedQuestions:
    """What is kept of some images; called by the process that made them."""
    study = load_study(suite)
    digests = []
    groups = {group: GroupQuestions([], [], [], []) for group in study.QUESTION_GROUPS}
    for scene, questions in some:
        digest = blake2b(digest_size=16)
        for own in groups.values():
            own.counts.append(0)
        for q in questions:
            assert q.program is not None and q.answer is not None
            group = study.find_group(q)
            record = build_question_record(q, [scene], facts=(("about", group),))
            digest.update(f"{scene.id}\t{q.text}\t{record.program}\t{spell(q.answer)}\n".encode())
            own = groups[group]
            own.questions.append(replace(q, answer=None, answers=(), program=None))
            own.records.append(record)
            own.counts[-1] += 1
            if whole:
                own.programs.append(q.program)
        digests.append(digest.hexdigest())
    return RenderedQuestions(
        "".join(digests), tuple(groups.values()), tuple(scene for scene, _ in some) if whole else ()
    )


def _join_questions(some: list[GroupQuestions], pictures: tuple[Picture, ...]) -> StudyQuestions:
    counts = np.array([count for one in some for count in one.counts], np.int64)
    shown = [(pictures[k],) for k in np.repeat(np.arange(len(counts)), counts).tolist()]
    questions = [question for one in some for question in one.questions]
    return StudyQuestions(
        tuple(Prompt(q, q.text, picture) for q, picture in zip(questions, shown, strict=True)),
        tuple(record for one in some for record in one.records),
        counts,
        tuple(program for one in some for program in one.programs),
    )


class StudyTestSets:
    """Test sets by domain, made when first needed; the longest unused are dropped when memory is short."""

    def __init__(self, study: Study, scale: Any, *, device: str, workers: int = 1, whole: Collection[Any] = ()) -> None:
        """`whole` are the domains whose scenes and programs are wanted."""
        self.study, self.scale, self.device, self.workers, self.whole = study, scale, device, workers, whole
        self._held: OrderedDict[Any, StudyTestSet] = OrderedDict()
        self._lock = threading.Lock()
        self._room = MEMORY_SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    def get_or_make(self, domain: Any) -> StudyTestSet:
        """One thread makes a test set, others wait for it."""
        with self._lock:
            if domain not in self._held:
                whole = domain in self.whole
                self._held[domain] = make_testset(
                    self.study, domain, self.scale, device=self.device, workers=self.workers, whole=whole
                )
            self._held.move_to_end(domain)
            while len(self._held) > 1 and sum(e.count_bytes() for e in self._held.values()) > self._room:
                self._held.popitem(last=False)
            return self._held[domain]
