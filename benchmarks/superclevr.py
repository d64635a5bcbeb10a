"""Super-CLEVR: scenes, questions and whole images a second, and what the issue's budgets make of them.

`python -m benchmarks.superclevr [--full]`: a sample, or all 30,000 given scenes and all 30,000 images.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.table import row
from shiftscope.formats.clevr import write_scenes
from shiftscope.world.superclevr import sample_scene

WHOLE = 30_000  # images of the default dataset
SCENES = 300
GIVEN = 4_000  # scenes asked about in the sample
IMAGES = 600


def main() -> None:
    full = "--full" in sys.argv
    print("superclevr (480×320, 3–10 vehicles)")
    sample_scene(0, "bench", 0)  # compiles
    start = time.process_time()
    for i in range(SCENES):
        sample_scene(0, "bench", i)
    row("scenes sampled, a core", f"{SCENES / (time.process_time() - start):.0f} scenes/s", "60 scenes/s")
    with tempfile.TemporaryDirectory() as folder:
        _questions(Path(folder), WHOLE if full else GIVEN)
        _images(Path(folder), WHOLE if full else IMAGES)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    row("peak memory of a process", f"{peak:,.0f} MB", "1,500 MB (3 GB on two cores)")


def _questions(folder: Path, count: int) -> None:
    """20 questions about each of so many given scenes, without images; all cores."""
    for name, size in (("few", 4), ("scenes", count)):
        write_scenes(folder / f"{name}.json", [sample_scene(0, "given", i) for i in range(size)])
    idle = _timed(folder / "idle", ["--scenes", str(folder / "few.json"), "--no-images"])
    took = _timed(folder / "asked", ["--scenes", str(folder / "scenes.json"), "--no-images"])
    rate = f"{20 * count / took.wall:,.0f}/s"
    row(f"{20 * count:,} questions about given scenes, start-up included", rate, "3,333/s")
    _whole(f"  {WHOLE:,} scenes × 20, at that rate after start-up", idle, took, count, "3 min")


def _images(folder: Path, count: int) -> None:
    """The default dataset: sample, reject, render, masks, PNG, questions, Parquet; all cores."""
    idle = _timed(folder / "warm", ["--images", "4", "--shard", "2"])
    took = _timed(folder / "data", ["--images", str(count), "--shard", str(min(250, count // 12))])
    row(f"{count:,} images with 20 questions each", f"{count / took.wall:.1f} images/s", "25 images/s")
    _whole(f"  {WHOLE:,} images, at that rate after start-up", idle, took, count, "20 min")


class Took(NamedTuple):
    """Seconds by the clock, and of all processors together."""

    wall: float
    processor: float


def _whole(what: str, idle: Took, took: Took, count: int, budget: str) -> None:
    """How long all 30,000 would take; by processor time too, which other work on the machine spoils less."""
    wall, processor = (a + (b - a) * WHOLE / count for a, b in zip(idle, took, strict=True))
    row(what, f"{wall / 60:.1f} min", budget)
    row("    CPU time over two cores", f"{processor / 120:.1f} min", budget)


def _timed(out: Path, words: list[str]) -> Took:
    command = [sys.executable, "-m", "shiftscope", "make", "superclevr", "--out", str(out), *words]
    start, before = time.perf_counter(), _processor()
    subprocess.run(command, check=True, capture_output=True)
    return Took(time.perf_counter() - start, _processor() - before)


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
