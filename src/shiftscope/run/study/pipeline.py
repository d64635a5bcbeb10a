"""Pipeline: a study's two parsers and three ways to execute, asked about a whole exam at once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...answer import spell
from ...lang.beliefs import Beliefs, joined
from ...lang.exec.packed import Answers, Lowering, Prepared, distinct
from ...lang.exec.soft import SoftAnswers, execute_soft
from ...models._weights import QUESTIONS, SCENE, Trained
from ...result import Bools, Floats
from ...scenetable import SceneTable
from .exam import Exam, Sheet
from .matrix import EXACT
from .outcome import Outcome

if TYPE_CHECKING:
    import torch

BATCH, BATCH_HERE = 256, 16  # images parsed together, on a GPU and without one
BLOCK = 100  # scenes whose possible worlds are gone through by one thread
NONE = -1  # the number of no answer
SEE, ATTUNED_SEE = "see", "see, attuned"  # stages of a clock

Ints = npt.NDArray[np.int64]
Answering = Callable[[Prepared, Beliefs, Ints], Answers | SoftAnswers]


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """A model's answers to the questions of a sheet, spelled; few of them differ."""

    texts: tuple[str, ...]  # the different ones
    number: Ints  # [question] which of them; NONE where it found none
    belief: Floats | None  # [question]; not a number where there is none

    @classmethod
    def of(cls, answers: Sequence[str | None], belief: Floats | None = None) -> Said:
        """From one answer a question, None for none."""
        numbers: dict[str, int] = {}
        found = [NONE if a is None else numbers.setdefault(a, len(numbers)) for a in answers]
        return cls(tuple(numbers), np.array(found, np.int64), belief)

    @classmethod
    def read(cls, found: Answers | SoftAnswers) -> Said:
        """From what programs came to; an answer is believed from 0 to 1."""
        if isinstance(found, Answers):
            defined, belief = found.reason == 0, np.full(len(found), np.nan)
        else:
            defined, belief = np.ones(len(found), np.bool_), found.belief.astype(np.float64).clip(0, 1)
        value = np.where(defined, found.value, 0)
        given, number = distinct(value, found.kinds, found.terms, found.part_terms)
        numbers: dict[str, int] = {}
        same = np.array([numbers.setdefault(spell(a), len(numbers)) for a in given], np.int64)
        told = None if np.isnan(belief).all() else belief
        return cls(tuple(numbers), np.where(defined, same[number], NONE), told)

    @property
    def answers(self) -> tuple[str | None, ...]:
        """[question] None where it found none."""
        texts = (*self.texts, None)  # which is the one at NONE
        return tuple([texts[k] for k in self.number.tolist()])

    def right(self, sheet: Sheet) -> Bools:
        numbers = {text: k for k, text in enumerate(self.texts)}
        never = len(numbers)  # said of no question
        truth = np.array([numbers.get(t, never) for t in sheet.truths], np.int64)
        if len(truth) != len(self.number):
            raise ValueError(f"{len(self.number)} answers to {len(truth)} questions")
        found: Bools = self.number == truth
        return found

    def outcome(self, sheet: Sheet) -> Outcome:
        undefined = int((self.number == NONE).sum())
        return Outcome.of(self.right(sheet), sheet.counts, undefined, self.belief)


@dataclass(slots=True, eq=False)
class Clock:
    """Seconds by stage."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


class Eyes:
    """A trained scene parser, and what was learned about its beliefs on validation data."""

    def __init__(self, trained: Trained, device: str) -> None:
        import torch

        from ...models._scene_parser import Config, build

        self.trained, self.device = trained, device
        self.config = Config.from_json(trained.config(SCENE))
        module = trained.load(SCENE, build(self.config)).to(device)
        self.module = module.to(memory_format=torch.channels_last)  # as it was trained
        self.calibration = trained.calibration

    def see(self, pixels: torch.Tensor) -> Beliefs:
        """What is believed of images, as tensors on the device."""
        from ...models._scene_parser import parse

        size = BATCH if self.device != "cpu" else BATCH_HERE
        made = []
        for start in range(0, len(pixels), size):
            some = pixels[start : start + size].to(self.device, non_blocking=True)
            with self.precision():
                made.append(parse(self.module, some))
        return joined(made).each(lambda array: array.float() if array.is_floating_point() else array)

    def attuned(self, pixels: torch.Tensor) -> tuple[Eyes, bool]:
        """The same parser, used to images as p_nsvqa_exact is beforehand; and whether to their look."""
        from ...models._scene_parser import attuned
        from ...models.p_nsvqa_exact import ATTUNED

        made = copy(self)
        with self.precision():
            used = attuned(self.module, pixels[:ATTUNED].to(self.device), self.calibration)
        made.module = used.module
        return made, used.look

    def precision(self) -> Any:
        """As in training: bfloat16 on a GPU."""
        import torch

        if self.device == "cpu":
            return nullcontext()
        return torch.autocast("cuda", torch.bfloat16)


class Read(NamedTuple):
    """The programs of a sheet, lowered once for all models, and how long reading and lowering took."""

    prepared: Prepared
    seconds: float


class Reader:
    """A trained question parser; what it has read is remembered, since twins ask the same."""

    def __init__(self, trained: Trained, device: str) -> None:
        from ...models._question_parser import Config, build

        config = Config.from_json(trained.config(QUESTIONS))
        self.module = trained.load(QUESTIONS, build(config)).to(device)
        self.lowering = Lowering(trained.schema)
        self._read: dict[str, Read] = {}

    def read(self, sheet: Sheet) -> Read:
        from ...models._question_parser import parse

        if sheet.id not in self._read:
            start = time.perf_counter()
            programs = parse(self.module, sheet.texts) if len(sheet) else []
            prepared = self.lowering.prepare(programs)
            self._read[sheet.id] = Read(prepared, time.perf_counter() - start)
        return self._read[sheet.id]


class Seen(NamedTuple):
    """What a model believes of images."""

    beliefs: Beliefs
    attuned: bool | None = None  # whether its parser got used to their look; None: it does not try


def look(models: Sequence[str], pixels: torch.Tensor, eyes: Eyes, clock: Clock) -> dict[str, Seen]:
    """What each model believes of the images of an exam."""
    seen: dict[str, Seen] = {}
    for stage in dict.fromkeys(map(stage_of, models)):
        with clock.stage(stage):
            own, attuned = eyes.attuned(pixels) if stage == ATTUNED_SEE else (eyes, None)
            beliefs = own.see(pixels)
            wait(eyes.device)
        seen |= {model: Seen(beliefs, attuned) for model in models if stage_of(model) == stage}
    return seen


def stage_of(model: str) -> str:
    """The stage in which a model sees."""
    return ATTUNED_SEE if model == EXACT else SEE


def wait(device: str) -> None:
    """For what a GPU still does, so that seconds are of the stage that took them."""
    if device != "cpu":
        import torch

        torch.cuda.current_stream().synchronize()  # not the device, which may be drawing the next images


def answering(model: str, eyes: Eyes) -> Answering:
    """How a model runs programs on what is believed, as it does wherever it is used."""
    from ...models import nsvqa, p_nsvqa_exact

    if model == "nsvqa":
        return nsvqa.answers
    return execute_soft if model == "p_nsvqa" else in_blocks(p_nsvqa_exact.answering(eyes.trained))


def in_blocks(answer: Callable[[Prepared, Beliefs, Ints], SoftAnswers]) -> Answering:
    """Run on so many scenes at a time, in threads; the blocks are the same on every machine.

    The rows must not fall.
    """

    def run(programs: Prepared, beliefs: Beliefs, rows: Ints) -> SoftAnswers:
        held = beliefs.numpy()
        edges = np.searchsorted(rows, np.arange(0, len(held) + BLOCK, BLOCK))

        def block(k: int) -> SoftAnswers:
            scenes = slice(k * BLOCK, (k + 1) * BLOCK)
            here = slice(edges[k], edges[k + 1])
            return answer(programs.take(here), held.take(scenes), rows[here] - k * BLOCK)

        there = [k for k in range(len(edges) - 1) if edges[k] < edges[k + 1]]
        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            made = list(threads.map(block, there))
        return SoftAnswers(
            np.concatenate([m.value for m in made]),
            np.concatenate([m.belief for m in made]),
            np.concatenate([m.settled for m in made]),
            programs.kinds,
            made[0].terms,
            made[0].part_terms,
        )

    return run


def answers(
    answer: Callable[[Prepared, Any, Ints], Answers | SoftAnswers],
    programs: Prepared,
    scenes: Beliefs | SceneTable,
    rows: Ints,
) -> Said:
    """What is said of programs, each about the scene of its row."""
    return Said.read(answer(programs, scenes, rows)) if len(programs) else Said.of(())


def ask(
    exam: Exam, seen: Mapping[str, Seen], reader: Reader, eyes: Eyes, clock: Clock
) -> dict[str, dict[str, Said]]:
    """The answers of each model that saw an exam to all of its questions, by model and sort."""
    made: dict[str, dict[str, Said]] = {model: {} for model in seen}
    for sort, sheet in exam.sheets.items():
        found = reader.read(sheet)
        clock.seconds["read"] = clock.seconds.get("read", 0.0) + found.seconds
        for model, one in seen.items():
            with clock.stage(model):
                made[model][sort] = answers(answering(model, eyes), found.prepared, one.beliefs, sheet.rows)
    return made
