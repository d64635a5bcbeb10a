"""Soft execution and inference over possible scenes: programs a second, on NumPy, torch and a GPU if any."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.table import row
from shiftscope.lang.exec import possible_worlds as possible
from shiftscope.lang.exec.possible_worlds import build_most_likely_scenes
from shiftscope.lang.exec.soft import SoftLowering, build_schedule, run_schedule
from shiftscope.lang.execution_world import PAPER, SoftSceneTables
from shiftscope.lang.scene_posterior import ScenePosterior, build_certain_posterior
from shiftscope.scene_table import pack_scenes
from shiftscope.suites.superclevr.suite import SuperclevrSpec
from shiftscope.train.feed import SuiteSource

SCENES = 250  # with 10 questions about vehicles and 10 about parts each
TIMES = 20  # how often each question is asked


def main() -> None:
    print("soft (Super-CLEVR questions; CPU time of one core, wall time on a GPU)")
    examples = SuiteSource("superclevr", SuperclevrSpec(images=6 * SCENES, shard=SCENES), "val").block(0)
    beliefs = doubtful(build_certain_posterior(pack_scenes([scene for scene, _ in examples])))
    asked = [(q.program, k, i < 10) for k, (_, qs) in enumerate(examples) for i, q in enumerate(qs)]
    programs = [program for program, _, _ in asked if program is not None]
    rows = np.array([k for _, k, _ in asked])
    many, many_rows = programs * TIMES, np.tile(rows, TIMES)

    lower = SoftLowering(beliefs.schema)
    lowered = lower(many, many_rows)
    row("lowering Program objects", _rate(len(many), lambda: lower(many, many_rows)), "100,000/s")
    waves = build_schedule(lowered)
    row("scheduling the lowered programs", _rate(len(many), lambda: build_schedule(lowered)), "100,000/s")

    def soft(kind: ScenePosterior, clock: Callable[[], float] = time.process_time) -> str:
        arranged, tables = waves.move_to(kind.exists), SoftSceneTables(kind, PAPER)
        return _rate(len(many), lambda: _wait(run_schedule(arranged, tables).value), clock)

    row("soft execution once lowered, NumPy", soft(beliefs), "20,000/s")
    try:
        import torch
    except ImportError:
        torch = None  # type: ignore[assignment]
    if torch:
        torch.set_num_threads(1)
        row("  torch on the CPU", soft(beliefs.to("cpu")), "20,000/s")
        if torch.cuda.is_available():
            row("  torch on the GPU", soft(beliefs.to("cuda"), time.perf_counter), "1,000,000/s")
    row("most likely scene of each image", _rate(len(beliefs), lambda: build_most_likely_scenes(beliefs)), "5,000/s")
    for what, chosen in (("vehicles", True), ("parts", False)):
        some = [p for p, _, objects in asked if objects == chosen and p is not None]
        some_rows = np.array([k for _, k, objects in asked if objects == chosen])
        possible.infer_answers(some[:1], beliefs, some_rows[:1])  # compiles
        rate = _rate(len(some), lambda p=some, r=some_rows: possible.infer_answers(p, beliefs, r))  # type: ignore[misc]
        row(f"possible scenes, {possible.MAX_WORLDS} per question, about {what}", rate, "5,000/s")


def doubtful(beliefs: ScenePosterior) -> ScenePosterior:
    """The true scenes, each value believed at 0.97."""

    def spread(p: Any) -> Any:
        return (0.97 * p + 0.03 / (p.shape[-1] - 1) * (1 - p)).astype(np.float32)

    from dataclasses import replace

    return replace(
        beliefs,
        attributes=tuple(map(spread, beliefs.attributes)),
        part_attributes=tuple(map(spread, beliefs.part_attributes)),
    )


def _wait(array: Any) -> None:
    if not isinstance(array, np.ndarray) and array.is_cuda:
        array[:1].cpu()


def _rate(count: int, work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> str:
    work()
    times = []
    for _ in range(3):
        start = clock()
        work()
        times.append(clock() - start)
    return f"{count / min(times):,.0f}/s"


if __name__ == "__main__":
    main()
