"""Exam: a test in memory, images and questions, made from the world as `make` would write it.

Exams that were made are kept for the next model while there is memory for them.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ...answer import spell
from ...ask.own import own_part_templates
from ...question import Question
from ...render.gpu.pack import pack_one
from ...result import program_text
from ...scene import Scene
from ...schemas.superclevr import SCHEMA
from ..feed import Examples, SuiteSource, drawn
from .board import asked_order
from .cell import SORTS, Asked
from .matrix import Domain
from .scale import Scale

if TYPE_CHECKING:
    import torch

BATCH, BATCH_HERE = 250, 16  # images drawn together, on a GPU and without one
KEPT = 0.5  # share of the memory that exams may take


class Slips(NamedTuple):
    """Questions of one sort as they travel from the process that made them."""

    texts: list[str]
    truths: list[str]
    counts: list[int]  # [image] how many each has
    whole: list[Question]  # where more than the text is wanted


class Page(NamedTuple):
    """What travels with some images."""

    digests: str  # of the questions of each image, one after another
    slips: tuple[Slips, ...]  # by sort
    scenes: tuple[Scene, ...]  # where questions are whole


@lru_cache(maxsize=1)
def _part_files() -> frozenset[str]:
    return frozenset(t.file for t in own_part_templates(SCHEMA).templates)


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """All questions of one sort, image by image."""

    texts: tuple[str, ...]
    truths: tuple[str, ...]
    counts: npt.NDArray[np.int64]  # [image] how many each has
    id: str  # the same for the same texts
    questions: tuple[Question, ...] = ()  # whole, where they were wanted

    @classmethod
    def of(cls, slips: Iterable[Slips]) -> Sheet:
        listed = list(slips)
        texts = tuple(text for one in listed for text in one.texts)
        return cls(
            texts,
            tuple(truth for one in listed for truth in one.truths),
            np.array([count for one in listed for count in one.counts], np.int64),
            blake2b("\n".join(texts).encode(), digest_size=16).hexdigest(),
            tuple(question for one in listed for question in one.whole),
        )

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """[question] its image."""
        return np.repeat(np.arange(len(self.counts)), self.counts)


@dataclass(frozen=True, slots=True, eq=False)
class Exam:
    """A test: pixels in main memory, what they show, and what is asked."""

    asked: Asked
    pixels: torch.Tensor  # [image, height, width, 3] uint8
    scenes: tuple[Scene, ...]  # where questions are whole
    sheets: dict[str, Sheet]  # by sort
    seconds: float

    def bytes(self) -> int:
        """What it takes in memory, about: a question 0.7 kB, a scene 19."""
        asked = sum(map(len, self.sheets.values()))
        return int(self.pixels.numel()) + 700 * asked + 19_000 * len(self.scenes)


def make_exam(domain: Domain, scale: Scale, *, device: str, workers: int = 1, whole: bool = False) -> Exam:
    """Make the test split of a domain; `whole` keeps scenes, and questions with their programs."""
    import torch

    start = time.perf_counter()
    if workers > 1:
        _compile(scale)
    source = SuiteSource("superclevr", domain.order(scale), "test")
    batch = BATCH if device != "cpu" else BATCH_HERE
    pixels: list[torch.Tensor] = []
    pages: list[Page] = []
    with closing(drawn(source, partial(_page, whole), batch=batch, device=device, workers=workers)) as made:
        for images, page in made:
            assert images.rgb is not None
            pixels.append(images.rgb.cpu())
            pages.append(page)
    digest = blake2b("".join(page.digests for page in pages).encode(), digest_size=16)
    return Exam(
        Asked(domain, asked_order(domain, scale), digest.hexdigest()),
        torch.cat(pixels),
        tuple(scene for page in pages for scene in page.scenes),
        {sort: Sheet.of(page.slips[k] for page in pages) for k, sort in enumerate(SORTS)},
        time.perf_counter() - start,
    )


@lru_cache(maxsize=1)
def _compile(scale: Scale) -> None:
    """Make two images here, so that workers find compiled what each would else compile for itself."""
    few = SuiteSource("superclevr", Domain().order(replace(scale, images=12, shard=2)), "test")
    for scene, _ in few.block(0):
        pack_one(scene, scale.size)


def _page(whole: bool, some: Examples) -> Page:
    """What is kept of some images; made by the process that made them."""
    digests = []
    slips = tuple(Slips([], [], [], []) for _ in SORTS)
    for scene, questions in some:
        digest = blake2b(digest_size=16)
        for own in slips:
            own.counts.append(0)
        for q in questions:
            assert q.program is not None and q.answer is not None
            truth = spell(q.answer)
            digest.update(f"{scene.id}\t{q.text}\t{program_text(q.program)}\t{truth}\n".encode())
            own = slips[q.provenance.template in _part_files()]
            own.texts.append(q.text)
            own.truths.append(truth)
            own.counts[-1] += 1
            if whole:
                own.whole.append(q)
        digests.append(digest.hexdigest())
    return Page("".join(digests), slips, tuple(scene for scene, _ in some) if whole else ())


class Exams:
    """Exams by domain, made when first asked for; the longest unused go when memory is short."""

    def __init__(self, scale: Scale, *, device: str, workers: int = 1, whole: bool = False) -> None:
        self.scale, self.device, self.workers, self.whole = scale, device, workers, whole
        self._held: OrderedDict[Domain, Exam] = OrderedDict()
        self._lock = threading.Lock()
        self._room = KEPT * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    def get(self, domain: Domain) -> Exam:
        """One thread makes an exam, others wait for it."""
        with self._lock:
            if domain not in self._held:
                whole = self.whole or domain == Domain()  # the default is diagnosed
                self._held[domain] = make_exam(
                    domain, self.scale, device=self.device, workers=self.workers, whole=whole
                )
            self._held.move_to_end(domain)
            while len(self._held) > 1 and sum(e.bytes() for e in self._held.values()) > self._room:
                self._held.popitem(last=False)
            return self._held[domain]
