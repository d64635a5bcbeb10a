"""CLEVR_HYP: how many examples a core makes in a second, twenty placements and second opinion included.

`python -m benchmarks.clevr_hyp [SCENES]`; processor time, the median of runs with seeds of their own.
The first run of a process still type-checks every new shape of program.
"""

from __future__ import annotations

import statistics
import sys
import time

from benchmarks.table import row
from shiftscope.questions.hypothetical import partitions
from shiftscope.suites.clevr_hyp.suite import OBJECTS
from shiftscope.world import clevr

SCENES = 250  # a shard
RUNS = 5
BUDGET = 2000  # examples a second, whatever the partition
ORIGINAL = 175_000  # examples of the paper's Original partition
PARTITIONS = ("original", "balanced", "two_actions", "two_parts")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else SCENES
    rules = clevr.ClevrRules(objects=OBJECTS)
    print("clevr_hyp (one core, no images)")
    began = time.process_time()
    scenes = [clevr.sample_scene(0, "bench", i, rules) for i in range(count)]
    each = (time.process_time() - began) / count
    rates = {}
    for name in PARTITIONS:
        ask = getattr(partitions, f"generate_{name}")
        list(ask(scenes[:2], 0, 0, "bench", 20))
        runs, made = [], 0
        for seed in range(RUNS):
            began = time.process_time()
            made = len(list(ask(scenes, 0, seed, "bench", 20)))
            runs.append(made / (time.process_time() - began))
        rates[name] = statistics.median(runs), made
        row(f"{name}, {made:,} examples about {count} scenes", f"{rates[name][0]:,.0f}/s", f"{BUDGET:,}/s")
        row("  the first run", f"{runs[0]:,.0f}/s", "-")
    rate, made = rates["original"]
    whole = ORIGINAL / rate + ORIGINAL / (made / count) * each
    row(f"{ORIGINAL:,} examples on two cores, scenes included", f"{whole / 2:,.0f} s", "300 s")


if __name__ == "__main__":
    main()
