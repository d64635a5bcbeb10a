"""CLEVR_HYP's examples a second here against another checkout, in turns on one core: ratios that noise spares.

`python -m benchmarks.clevr_hyp_duel OTHER [--scenes 60] [--turns 16]`, OTHER a worktree of another commit. Each has
a process of its own; they work in turns, and the order changes with each turn.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

SETS = ("original", "balanced", "two_actions", "two_parts")
HERE = Path(__file__).parents[1]


def serve(count: int) -> None:
    """Make what is asked, line by line: a set and a seed; tell how many examples, and the processor time."""
    from shiftscope.questions.hypothetical import partitions
    from shiftscope.suites.clevr_hyp.suite import OBJECTS
    from shiftscope.world import clevr

    rules = clevr.ClevrRules(objects=OBJECTS)
    scenes = [clevr.sample_scene(0, "bench", i, rules) for i in range(count)]
    for line in sys.stdin:
        name, seed = line.split()
        began = time.process_time()
        made = len(list(getattr(partitions, f"generate_{name}")(scenes, 0, int(seed), "bench", 20)))
        print(made, time.process_time() - began, flush=True)


class Side:
    """One of the two trees."""

    def __init__(self, tree: Path, count: int) -> None:
        known = {"PYTHONPATH": f"{tree}/src", "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", str(count)],
            env=os.environ | known,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def measure(self, name: str, seed: int) -> float:
        """Examples per second of processor time."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(name, seed, file=self.process.stdin, flush=True)
        made, spent = self.process.stdout.readline().split()
        return int(made) / float(spent)


def main() -> None:
    from benchmarks.table import table  # the other tree's process has no such module

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("other", type=Path)
    options.add_argument("--scenes", type=int, default=60)
    options.add_argument("--turns", type=int, default=16)
    given = options.parse_args()
    rows = []
    sides = [Side(tree, given.scenes) for tree in (given.other.resolve(), HERE)]
    for name in SETS:
        rates: tuple[list[float], list[float]] = ([], [])
        for turn in range(-1, given.turns):  # the first one compiles, and is not counted
            for k in (0, 1) if turn % 2 else (1, 0):
                rate = sides[k].measure(name, 999 + turn)
                if turn >= 0:
                    rates[k].append(rate)
        other, here = map(statistics.median, rates)
        each = statistics.quantiles([b / a for a, b in zip(*rates, strict=True)], n=4)
        middle = f"{each[1]:.2f} ({each[0]:.2f}–{each[2]:.2f})"
        rows.append((name, f"{other:,.0f}", f"{here:,.0f}", f"{here / other:.2f}", middle))
    for side in sides:
        side.process.kill()
    heads = ("set", "other", "here", "ratio of medians", "median ratio (quartiles)")
    table(f"examples per second of one core, {given.scenes} scenes, {given.turns} turns", heads, rows)


if __name__ == "__main__":
    serve(int(sys.argv[2])) if sys.argv[1:2] == ["--serve"] else main()
