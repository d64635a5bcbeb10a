"""Attack for so many minutes, or write what was found: `python -m campaign [--minutes 60] [--report FILE]`.

Parts take turns, the one that is furthest from its target first. Every trial is a line of OUT/trials.jsonl,
so that a campaign goes on where it was stopped; the folder of a trial that found a fault is kept.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from importlib import import_module
from pathlib import Path

from .report import write_report
from .trial import Journal, Part, Trial, latest, take

PARTS = ("kills", "fuzz", "calls", "hostile", "figures")
SHOWN = 20.0  # seconds between two lines that say how far it is


def main() -> None:
    options = argparse.ArgumentParser(
        prog="python -m campaign", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--minutes", type=float, default=10.0)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--out", type=Path, default=Path("build/campaign"))
    options.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    options.add_argument("--again", action="store_true", help="take the trials that found a fault again")
    options.add_argument("--report", type=Path, help="write this page of what the journal holds, and end")
    options.add_argument("--coverage", type=Path, help="for the page: what benchmarks.coverage printed")
    given = options.parse_args()
    parts = {name: load(name) for name in given.parts}
    journal = Journal(given.out / "trials.jsonl")
    if given.report:
        table = given.coverage.read_text("utf-8") if given.coverage else ""
        write_report(given.report, parts, list(journal.trials()), table)
        return
    if given.again:
        sys.exit(1 if take_again(parts, journal, given.out) else 0)
    faults = run(parts, journal, given.seed, given.minutes, given.out)
    sys.exit(1 if faults else 0)


def load(name: str) -> Part:
    made: Part = import_module(f"campaign.{name}")
    return made


def run(parts: dict[str, Part], journal: Journal, seed: int, minutes: float, out: Path) -> int:
    """Take trials until the time is over or every part has reached its target; the number of faults."""
    done: Counter[str] = Counter()
    numbers: Counter[str] = Counter()
    faults = 0
    for trial in journal.trials():
        if trial.seed == seed:
            done[trial.part] += trial.count
            numbers[trial.part] = max(numbers[trial.part], trial.number + 1)
    start = shown = time.monotonic()
    begun: set[str] = set()
    while time.monotonic() - start < 60 * minutes:
        left = {name: part for name, part in parts.items() if done[name] < part.TARGET}
        if not left:
            break
        name = min(left, key=lambda n: (n in begun, done[n] / left[n].TARGET, n))
        begun.add(name)
        trial = attempt(left[name], seed, numbers[name], out)
        journal.add(trial)
        done[name] += trial.count
        numbers[name] += 1
        if trial.fault:
            faults += 1
            print(f"{name} {trial.number}: {trial.what}: {trial.fault}", flush=True)
        if time.monotonic() - shown > SHOWN:
            shown = time.monotonic()
            print(told(parts, done, shown - start), flush=True)
    print(told(parts, done, time.monotonic() - start), f"{faults} faults", flush=True)
    return faults


def take_again(parts: dict[str, Part], journal: Journal, out: Path) -> int:
    """Take anew what found a fault, which may be mended now; the number of faults."""
    faults = 0
    for trial in latest(journal.trials()):
        if trial.fault and trial.part in parts:
            made = attempt(parts[trial.part], trial.seed, trial.number, out)
            journal.add(made)
            faults += bool(made.fault)
            print(f"{made.part} {made.number}: {made.what}: {made.fault or 'nothing'}", flush=True)
    return faults


def attempt(part: Part, seed: int, number: int, out: Path) -> Trial:
    """One trial in a folder of its own, which goes unless it found something."""
    folder = Path(tempfile.mkdtemp(prefix=f"{part.NAME}-"))
    trial = take(part, seed, number, folder)
    if trial.fault:
        kept = out / "faults" / f"{part.NAME}-{seed}-{number}"
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(kept, ignore_errors=True)
        shutil.move(folder, kept)
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return trial


def told(parts: dict[str, Part], done: Counter[str], seconds: float) -> str:
    listed = ", ".join(f"{done[n]:,} of {part.TARGET:,} {part.UNIT}" for n, part in parts.items())
    return f"{seconds / 60:.1f} min: {listed}"


if __name__ == "__main__":
    main()
