"""Pipeline: a study's two parsers and three ways to execute, asked about a whole exam at once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...answer import spell
from ...lang.beliefs import Beliefs, joined
from ...lang.program import Program
from ...models._model import Reply
from ...models._neuro_symbolic import Execute
from ...models._weights import QUESTIONS, SCENE, Trained
from ...result import Bools, Floats
from ...scenetable import SceneTable
from .exam import Exam, Sheet
from .outcome import Outcome

if TYPE_CHECKING:
    import torch

BATCH, BATCH_HERE = 256, 16  # images parsed together, on a GPU and without one
BLOCK = 100  # scenes whose possible worlds are gone through by one thread


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """A model's answers to the questions of a sheet, spelled; None where it found none."""

    answers: tuple[str | None, ...]
    belief: Floats | None  # [question]; not a number where there is none

    def right(self, sheet: Sheet) -> Bools:
        return np.array([a == t for a, t in zip(self.answers, sheet.truths, strict=True)], np.bool_)

    def outcome(self, sheet: Sheet) -> Outcome:
        undefined = sum(a is None for a in self.answers)
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

        from ...lang.calibration import Calibration
        from ...models._scene_parser import Config, build

        self.trained, self.device = trained, device
        self.config = Config.from_json(trained.config(SCENE))
        module = trained.load(SCENE, build(self.config)).to(device)
        self.module = module.to(memory_format=torch.channels_last)  # as it was trained
        kept = trained.about.get("calibration")
        schema = self.config.schema
        self.calibration = Calibration.from_json(kept) if kept else Calibration.none(schema)

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

    def precision(self) -> Any:
        """As in training: bfloat16 on a GPU."""
        import torch

        if self.device == "cpu":
            return nullcontext()
        return torch.autocast("cuda", torch.bfloat16)


class Reader:
    """A trained question parser; what it has read is remembered, since twins ask the same."""

    def __init__(self, trained: Trained, device: str) -> None:
        from ...models._question_parser import Config, build

        config = Config.from_json(trained.config(QUESTIONS))
        self.module = trained.load(QUESTIONS, build(config)).to(device)
        self._read: dict[str, tuple[list[Program], float]] = {}

    def read(self, sheet: Sheet) -> list[Program]:
        return self._known(sheet)[0]

    def seconds(self, sheet: Sheet) -> float:
        """That reading it took, whenever that was."""
        return self._known(sheet)[1]

    def _known(self, sheet: Sheet) -> tuple[list[Program], float]:
        from ...models._question_parser import parse

        if sheet.id not in self._read:
            start = time.perf_counter()
            programs = parse(self.module, sheet.texts) if len(sheet) else []
            self._read[sheet.id] = programs, time.perf_counter() - start
        return self._read[sheet.id]


def executor(model: str, eyes: Eyes) -> Execute:
    """How a model runs programs on what is believed, as it does wherever it is used."""
    from ...models import nsvqa, p_nsvqa, p_nsvqa_exact

    if model == "nsvqa":
        return nsvqa.execute
    return p_nsvqa.execute if model == "p_nsvqa" else _in_blocks(p_nsvqa_exact.executor(eyes.trained))


def _in_blocks(execute: Execute) -> Execute:
    """Run on so many scenes at a time, in threads; the blocks are the same on every machine.

    The rows must not fall.
    """

    def run(programs: Sequence[Program], beliefs: Beliefs, rows: Any) -> list[Reply]:
        held = beliefs.numpy()
        edges = np.searchsorted(rows, np.arange(0, len(held) + BLOCK, BLOCK))

        def block(k: int) -> list[Reply]:
            scenes = slice(k * BLOCK, (k + 1) * BLOCK)
            here = slice(edges[k], edges[k + 1])
            return execute(programs[here], held.take(scenes), rows[here] - k * BLOCK)

        there = [k for k in range(len(edges) - 1) if edges[k] < edges[k + 1]]
        with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
            return [reply for made in threads.map(block, there) for reply in made]

    return run


def answers(
    execute: Callable[[Sequence[Program], Any, Any], list[Reply]],
    programs: Sequence[Program],
    scenes: Beliefs | SceneTable,
    rows: npt.NDArray[np.int64],
) -> Said:
    """What is said of programs, each about the scene of its row."""
    replies = execute(programs, scenes, rows) if len(programs) else []
    belief = np.array([np.nan if r.belief is None else r.belief for r in replies], np.float64)
    return Said(
        tuple(None if r.answer is None else spell(r.answer) for r in replies),
        None if np.isnan(belief).all() else belief,
    )


def ask(
    models: Sequence[str], exam: Exam, beliefs: Beliefs, reader: Reader, eyes: Eyes, clock: Clock
) -> dict[str, dict[str, Said]]:
    """Every model's answers to every question of an exam, by model and sort."""
    made: dict[str, dict[str, Said]] = {model: {} for model in models}
    for sort, sheet in exam.sheets.items():
        programs = reader.read(sheet)
        clock.seconds["read"] = clock.seconds.get("read", 0.0) + reader.seconds(sheet)
        for model in models:
            with clock.stage(model):
                made[model][sort] = answers(executor(model, eyes), programs, beliefs, sheet.rows)
    return made
