"""Making datasets, everything included: sample, reject, render, masks, PNG, questions, Parquet.

`python -m benchmarks.make`: first the core milliseconds of each stage per image, which other jobs on the machine
disturb least, then whole commands on all cores: 200 images with start-up, and the throughput after these.
"""

from __future__ import annotations

import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.table import row
from shiftscope.render import open_renderer
from shiftscope.render.png import encode_png
from shiftscope.store.image import encode_mask
from shiftscope.store.shard import write_shard
from shiftscope.suites import load_suite

BUDGETS = {"superclevr": 60, "clevr": 100}  # images per second on two cores
FEW, MANY, SHARD = 200, 1000, 50
PIECE, PIECES = 8, 12


def main() -> None:
    for name in BUDGETS:
        measure_stages(name)
    for name, budget in BUDGETS.items():
        measure_commands(name, budget)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    row("peak memory of a process", f"{peak:.0f} MB", "2,000 MB")


def measure_stages(name: str) -> None:
    """CPU time per image of what a worker does, over pieces of eight images, each met once: repeated ones are warm.

    The first piece loads what is compiled, and is left out.
    """
    suite: Any = load_suite(name)
    spec = suite.spec(images=1000)
    split = next(iter(spec.jobs()))
    layers = ("rgb", "mask", "parts", "listed") if suite.parts else ("rgb", "mask")
    renderer = open_renderer("cpu", workers=1)
    spent: dict[str, list[float]] = {}

    def take_time(stage: str, work: Callable[[], Any]) -> Any:
        began = time.process_time()
        made = work()
        spent.setdefault(stage, []).append(time.process_time() - began)
        return made

    with tempfile.TemporaryDirectory() as folder:
        for piece in range(1 + PIECES):
            places = range(PIECE * piece, PIECE * (piece + 1))
            scenes = take_time("sample", lambda p=places: suite.sample_scenes(spec, split, 0, p))
            shown = take_time("render", lambda s=scenes: list(renderer.render(s, layers, spec.size)))
            take_time("PNG", lambda r=shown: [encode_png(one.rgb) for one in r])
            masks = [m for one in shown for m in (one.mask, one.parts, one.listed) if m is not None]
            take_time("masks", lambda ms=masks: [encode_mask(m) for m in ms])
        for shard in range(2):  # of which the first is left out; as many images as all pieces
            images = suite.make_images(spec.spec(), split, shard, range(PIECE * PIECES))
            scenes = [image.scene for image in images]
            questions = take_time("ask", lambda k=shard, s=scenes: suite.ask(spec, split, k, s, grounding=True))
            out = (Path(folder), split, shard, images, questions, None)
            take_time("Parquet", lambda o=out: write_shard(*o))
            take_time("between processes", lambda made=images: pickle.loads(pickle.dumps(made)))
    stages = {stage: 1e3 * sum(seconds[1:]) / PIECE / PIECES for stage, seconds in spent.items()}
    print(f"{name}: core ms per image at 480×320, {len(questions) / len(images):.0f} questions per image")
    for stage, ms in stages.items():
        row(f"  {stage}", f"{ms:.2f} ms", "-")
    row("  all", f"{sum(stages.values()):.2f} ms", f"{2000 / BUDGETS[name]:.0f} ms")


def measure_commands(name: str, budget: int) -> None:
    """By the clock, and by CPU time, as if every core were busy with nothing else: other jobs disturb that less."""
    with tempfile.TemporaryDirectory() as folder:

        def take_time(images: int, *more: str) -> tuple[float, float]:
            command = [sys.executable, "-m", "shiftscope", "make", name, "--images", str(images), *more]
            began, spent = time.perf_counter(), sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
            subprocess.run([*command, "--out", f"{folder}/{images}"], check=True, capture_output=True)
            cpu = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - spent
            return time.perf_counter() - began, cpu / len(os.sched_getaffinity(0))

        take_time(4)  # compiles
        row(f"make {name}: 3 images", f"{take_time(3)[0]:.2f} s", "1 s")
        few, part, whole = (
            take_time(FEW),
            take_time(FEW + 1, "--shard", str(SHARD)),
            take_time(MANY, "--shard", str(SHARD)),
        )
    for k, by in enumerate(("", ", by CPU time")):
        row(f"make {name}: {FEW} images with start-up{by}", f"{FEW / few[k]:.1f} images/s", "40 images/s")
        after = (MANY - FEW - 1) / (whole[k] - part[k])
        row(f"make {name}: after the first {FEW}{by}", f"{after:.1f} images/s", f"{budget} images/s")


if __name__ == "__main__":
    main()
