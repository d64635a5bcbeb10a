"""Start-up: what a command takes on a tiny input, once everything it needs is compiled.

`python -m benchmarks.start_up [--json] [--runs 7] [--against CHECKOUT]`: each command in a new process, the median of
some runs after one that warms up; with another checkout the two take turns, so that other jobs disturb both alike.

Told are the whole of a command and its overhead: the whole less what the same command takes in a process that did it
before (*work*: three images of 240×160 drawn, three questions asked). CPU time is that of the process and all its
children. Python may keep compiled files (`PYTHONDONTWRITEBYTECODE` is not passed on), as it may wherever the package
is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parents[1]
BUDGET = 1.0  # seconds of a command, less its work
WORK = """
import contextlib, io, shutil, sys, time
from shiftscope.cli import main
sys.argv = ["shiftscope", *sys.argv[1:]]
for _ in range(4):
    shutil.rmtree("new", ignore_errors=True)
    began = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main()
    seconds = time.perf_counter() - began
print(seconds)
"""
IMAGES = ("--images", "3", "--size", "240x160")
COMMANDS = {  # in an order in which each finds what it reads
    "help": ("--help",),
    "make clevr, 3 images": ("make", "clevr", *IMAGES, "--out", "new"),
    "make superclevr, 3 images": ("make", "superclevr", *IMAGES, "--out", "new"),
    "answer, 10 questions": (
        *("answer", "--questions", "official/questions/CLEVR_test_questions.json"),
        *("--scenes", "official/scenes/CLEVR_test_scenes.json"),
    ),
    "run majority, 3 questions": ("run", "--model", "majority", "--data", "data", "--limit", "3", "--out", "new"),
    "run oracle, 3 questions": ("run", "--model", "oracle", "--data", "data", "--limit", "3", "--out", "new"),
    "score": ("score", "log"),
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", action="store_true", help="one JSON object per command and checkout")
    options.add_argument("--runs", type=int, default=7)
    options.add_argument("--against", type=Path, help="another checkout, measured in turn with this one")
    given = options.parse_args()
    trees = [HERE, *([given.against.resolve()] if given.against else [])]
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        for name, command in COMMANDS.items():
            measured = measure(command, trees, given.runs, Path(folder))
            for tree in trees:
                print_figures(name, tree, measured[tree], measure_work(command, tree, Path(folder)), given.json)


def prepare(folder: Path) -> None:
    """A dataset of ten images, its official files, and a run of three questions."""
    run_command(("make", "clevr", "--images", "10", "--size", "240x160", "--out", "data"), HERE, folder)
    run_command(("export", "data", "--to", "clevr", "--out", "official"), HERE, folder)
    run_command(("run", "--model", "majority", "--data", "data", "--limit", "3", "--out", "log"), HERE, folder)


def measure(
    command: Sequence[str], trees: Sequence[Path], runs: int, folder: Path
) -> dict[Path, list[tuple[float, float]]]:
    """Wall and CPU seconds of each run of a command, by checkout; the first run of each is not told."""
    found: dict[Path, list[tuple[float, float]]] = {tree: [] for tree in trees}
    for _ in range(runs + 1):
        for tree in trees:
            found[tree].append(run_command(command, tree, folder))
            shutil.rmtree(folder / "new", ignore_errors=True)
    return {tree: times[1:] for tree, times in found.items()}


def run_command(command: Sequence[str], tree: Path, folder: Path) -> tuple[float, float]:
    """Wall seconds, and CPU seconds of the process and its children."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run_python(("-m", "shiftscope"), command, tree, folder)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, sum(after[:2]) - sum(before[:2])


def measure_work(command: Sequence[str], tree: Path, folder: Path) -> float:
    """Seconds of the same command in a process that has loaded all that it needs."""
    seconds = float(run_python(("-c", WORK), command, tree, folder).splitlines()[-1])
    shutil.rmtree(folder / "new", ignore_errors=True)
    return seconds


def run_python(script: Sequence[str], command: Sequence[str], tree: Path, folder: Path) -> str:
    """What it printed."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    given = [sys.executable, *script, *command]
    done = subprocess.run(
        given, cwd=folder, env=kept | {"PYTHONPATH": str(tree / "src")}, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"shiftscope {' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def print_figures(name: str, tree: Path, times: Sequence[tuple[float, float]], work: float, as_json: bool) -> None:
    wall, cpu = (statistics.median(column) for column in zip(*times, strict=True))
    least_wall, least_cpu = map(min, zip(*times, strict=True))
    if as_json:
        figures = {"wall": wall, "cpu": cpu, "least_wall": least_wall, "least_cpu": least_cpu, "work": work}
        rounded = {key: round(value, 3) for key, value in figures.items()}
        print(json.dumps({"command": name, "checkout": str(tree), "runs": len(times), "budget": BUDGET} | rounded))
        return
    print(
        f"{name:<28} {tree.name:<10} wall {wall:.2f} s (least {least_wall:.2f}), "
        f"CPU {cpu:.2f} s (least {least_cpu:.2f}), work {work:.2f} s: overhead {wall - work:.2f} s, "
        f"budget {BUDGET:.0f} s",
        flush=True,
    )


if __name__ == "__main__":
    main()
