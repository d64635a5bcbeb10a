"""Exam: a test in memory, images and questions, made from the world as `make` would write it.

Exams that were made are kept for the next model while there is memory for them.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...answer import spell
from ...ask.own import own_part_templates
from ...question import Question
from ...render.gpu.pack import pack_one
from ...result import program_text
from ...scene import Scene
from ...schemas.superclevr import SCHEMA
from ..feed import Feed, SuiteSource
from .board import asked_order
from .cell import SORTS, Asked
from .matrix import Domain
from .scale import Scale

if TYPE_CHECKING:
    import torch

BATCH, BATCH_HERE = 250, 16  # images drawn together, on a GPU and without one
KEPT = 0.5  # share of the memory that exams may take


class Slip(NamedTuple):
    """A question as it travels from the process that made it."""

    text: str
    truth: str
    sort: str
    whole: Question | None  # where more than the text is wanted


@dataclass(frozen=True, slots=True)
class ExamSource:
    """Blocks of a test; of each image its scene, a digest of its questions, and these as slips. Picklable."""

    source: SuiteSource
    whole: bool

    @property
    def size(self) -> tuple[int, int]:
        return self.source.size

    def blocks(self) -> int:
        return self.source.blocks()

    def block(self, k: int) -> Any:
        made = []
        for scene, questions in self.source.block(k):
            digest = blake2b(digest_size=16)
            slips: list[Any] = []
            for q in questions:
                assert q.program is not None and q.answer is not None
                truth = spell(q.answer)
                digest.update(f"{scene.id}\t{q.text}\t{program_text(q.program)}\t{truth}\n".encode())
                sort = SORTS[q.provenance.template in _part_files()]
                slips.append(Slip(q.text, truth, sort, q if self.whole else None))
            made.append((scene, (digest.hexdigest(), *slips)))
        return tuple(made)


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
    scenes: tuple[Scene, ...]
    sheets: dict[str, Sheet]  # by sort
    seconds: float

    def bytes(self) -> int:
        return int(self.pixels.numel()) + 200 * sum(map(len, self.sheets.values()))


def make_exam(domain: Domain, scale: Scale, *, device: str, workers: int = 1, whole: bool = False) -> Exam:
    """Make the test split of a domain; `whole` keeps questions with their programs, for who needs these."""
    import torch

    start = time.perf_counter()
    if workers > 1:
        _compile(scale)
    source = ExamSource(SuiteSource("superclevr", domain.order(scale), "test"), whole)
    pixels: list[torch.Tensor] = []
    scenes: list[Scene] = []
    digest = blake2b(digest_size=16)
    slips: dict[str, list[list[Slip]]] = {sort: [] for sort in SORTS}
    feed = Feed(source, BATCH if device != "cpu" else BATCH_HERE, device, workers)
    with closing(iter(feed)) as batches:  # type: ignore[type-var]
        for batch in batches:
            assert batch.images.rgb is not None
            pixels.append(batch.images.rgb.cpu())
            scenes += batch.scenes
            for asked in _slips(batch.questions):
                digest.update(asked[0].encode())
                for sort in SORTS:
                    slips[sort].append([s for s in asked[1] if s.sort == sort])
    sheets = {sort: _sheet(own) for sort, own in slips.items()}
    described = Asked(domain, asked_order(domain, scale), digest.hexdigest())
    return Exam(described, torch.cat(pixels), tuple(scenes), sheets, time.perf_counter() - start)


@lru_cache(maxsize=1)
def _compile(scale: Scale) -> None:
    """Make two images here, so that workers find compiled what each would else compile for itself."""
    few = SuiteSource("superclevr", Domain().order(replace(scale, images=12, shard=2)), "test")
    for scene, _ in few.block(0):
        pack_one(scene, scale.size)


def _slips(rows: Any) -> Iterator[tuple[str, list[Slip]]]:
    """Of each image the digest and the slips."""
    for first, *rest in rows:
        yield first, rest


def _sheet(images: list[list[Slip]]) -> Sheet:
    flat = [slip for image in images for slip in image]
    texts = tuple(s.text for s in flat)
    counts = np.array([len(image) for image in images], np.int64)
    whole = tuple(s.whole for s in flat if s.whole is not None)
    return Sheet(texts, tuple(s.truth for s in flat), counts, _id(texts), whole)


def _id(texts: tuple[str, ...]) -> str:
    return blake2b("\n".join(texts).encode(), digest_size=16).hexdigest()


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
