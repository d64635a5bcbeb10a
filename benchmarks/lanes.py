"""Several studies side by side on one GPU, for so many minutes; the same command again resumes.

`python -m benchmarks.lanes benchmarks/several_images.toml --out build/lanes --results "$OUT" --minutes 9.5`. A lane
is a list of commands that run one after the other, each as `python -m …` with `{out}`, `{results}` and `{minutes}`
filled in: the lane's own folders, and what is left of the time. `shared` is run first, and the data that it has
finished are linked into each lane's folder. `taken` names trained folders that lanes take from each other, once one has
finished them: what several trainings begin from. What every command says is in RESULTS/LANE.log, too. With --mps the
lanes share the GPU by NVIDIA's multi-process service instead of by turns. With --gather few files are left in RESULTS:
the records of all lanes in one for each suite, and an archive of what was said and of every epoch.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import threading
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from shiftscope.train.train import LOG
from shiftscope.trained_folder import MODEL_FILE

LEAST_MINUTES = 0.5  # with less left, no further command begins
DATA = "data"  # the folder that lanes share
OWN = ("*.lock", "*.partial")  # what is not shared of it


@dataclass(frozen=True, slots=True)
class LanesPlan:
    """What runs side by side."""

    shared: tuple[str, ...]  # commands that come first
    lanes: dict[str, tuple[str, ...]]
    taken: tuple[str, ...] = ()  # patterns of trained folders of a lane, which the others need not make again

    @classmethod
    def read(cls, path: Path) -> LanesPlan:
        told = tomllib.loads(path.read_text("utf-8"))
        lanes = {name: tuple(steps) for name, steps in told["lanes"].items()}
        return cls(tuple(told.get("shared", ())), lanes, tuple(told.get("taken", ())))


@dataclass(frozen=True, slots=True)
class LanesRun:
    """One piece of it: where things go, and until when."""

    out: Path
    results: Path
    deadline: float
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self, plan: LanesPlan) -> int:
        """How many commands failed; lanes begin only when what they share is finished."""
        if failed := self.run_lane("shared", plan.shared):
            return failed
        if self.is_over():  # what they share may not have been begun, or have been paused
            print("the time is over before any lane began; the same command resumes", flush=True)
            return 0
        for name in plan.lanes:
            link_data(self.out / "shared" / DATA, self.out / name / DATA)
        with ThreadPoolExecutor(max(1, len(plan.lanes))) as threads:
            running = [threads.submit(self.run_lane, name, steps, plan.taken) for name, steps in plan.lanes.items()]
            try:
                return sum(lane.result() for lane in running)
            finally:  # Ctrl-C reaches the commands as well, and nothing begins after them
                self.stopped.set()

    def run_lane(self, name: str, steps: Sequence[str], taken: Sequence[str] = ()) -> int:
        (self.results / name).mkdir(parents=True, exist_ok=True)
        failed = 0
        with (self.results / f"{name}.log").open("a", encoding="utf-8") as log:
            for step in steps:
                if self.is_over():
                    break
                self.take_trained(name, taken)
                left = (self.deadline - time.monotonic()) / 60
                where = {"out": self.out / name, "results": self.results / name, "minutes": f"{left:.2f}"}
                failed += self.run_step(name, [word.format(**where) for word in shlex.split(step)], log)
        return failed

    def take_trained(self, name: str, taken: Sequence[str]) -> None:
        for pattern in taken:
            for folder in sorted(self.out.glob(f"*/{pattern}")):
                if (folder / MODEL_FILE).exists():
                    link_data(folder, self.out / name / Path(*folder.relative_to(self.out).parts[1:]))

    def is_over(self) -> bool:
        return self.stopped.is_set() or time.monotonic() > self.deadline - 60 * LEAST_MINUTES

    def run_step(self, name: str, words: Sequence[str], log: TextIO) -> bool:
        """Whether it failed; all that it says goes to the log, all but tables to the screen as well."""
        began = time.monotonic()
        print(f"{name}: {' '.join(words)}", flush=True)
        command = [sys.executable, "-m", *words]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                log.write(line)
                log.flush()
                if line.strip() and not line.startswith("|"):
                    print(f"{name}: {line.rstrip()}", flush=True)
        print(f"{name}: ended with {process.returncode} after {time.monotonic() - began:.0f} s", flush=True)
        return process.returncode != 0


def link_data(shared: Path, own: Path) -> None:
    """The same files under another name, once: none of finished data is written in place."""
    if shared.exists() and not own.exists():
        partial = own.with_name(f"{own.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(shared, partial, copy_function=os.link, ignore=shutil.ignore_patterns(*OWN))
        partial.rename(own)


def keep_whole(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Without a last one that was cut short; it is made again by the piece that resumes."""
    return (line for line in lines if line.endswith(b"\n"))


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Under another name first."""
    partial = path.with_name(f"{path.name}.partial")
    write(partial)
    partial.replace(path)


def gather(out: Path, results: Path) -> None:
    """Few files of many: records once each, whole lines of them, and the logs of this piece and of earlier ones."""
    for name in sorted({path.name for path in results.glob("*/*.jsonl")}):
        parts = [path for path in (results / name, *sorted(results.glob(f"*/{name}"))) if path.exists()]
        lines = (line for part in parts for line in part.read_bytes().splitlines(keepends=True))
        write_whole(
            results / name, lambda path, lines=lines: path.write_bytes(b"".join(dict.fromkeys(keep_whole(lines))))
        )
        for part in parts[(parts[0] == results / name) :]:
            part.unlink()
    logs = sorted(results.glob("*.log"))

    def archive_logs(path: Path) -> None:
        with tarfile.open(path, "w:gz") as archive:
            for log in logs:
                archive.add(log, log.name)
            for log in sorted(out.glob(f"*/models/*/{LOG}")):
                archive.add(log, log.relative_to(out))

    write_whole(results / f"logs-{1 + len([*results.glob('logs-*.tgz')])}.tgz", archive_logs)
    for log in logs:
        log.unlink()
    for folder in (one for one in results.iterdir() if one.is_dir() and not any(one.iterdir())):
        folder.rmdir()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plan", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--mps", action="store_true")
    parser.add_argument("--gather", action="store_true")
    given = parser.parse_args()
    deadline = time.monotonic() + 60 * given.minutes
    plan = LanesPlan.read(given.plan)
    service = shutil.which("nvidia-cuda-mps-control") or "" if given.mps else ""
    if given.mps and not service:
        parser.error("--mps: nvidia-cuda-mps-control is not installed here")
    begun = bool(service) and subprocess.run([service, "-d"], check=False).returncode == 0  # else it runs already
    try:
        return int(LanesRun(given.out, given.results, deadline).run(plan) > 0)
    except KeyboardInterrupt:
        print("interrupted; the same command resumes", file=sys.stderr)
        return 130
    finally:
        if begun:
            subprocess.run([service], input="quit\n", text=True, check=False)
        if given.gather:
            gather(given.out, given.results)


if __name__ == "__main__":
    sys.exit(main())
