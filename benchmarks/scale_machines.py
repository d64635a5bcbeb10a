"""The part of `docs/results/scale.md` about more than one machine, from what two benchmarks measured.

`python -m benchmarks.cluster --json > cluster.json`, `python -m benchmarks.audit_stream --nodes 3 --json > audit.json`,
then `python -m benchmarks.scale_machines cluster.json audit.json` keeps both in `docs/results/machines.json`, from
which `python -m benchmarks.scale` writes the page.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

KEPT = Path(__file__).parents[1] / "docs" / "results" / "machines.json"
BILLION = 10**9
MACHINES, CORES = 100, 2  # such as were measured
# How many tasks a pass of a streamed audit can have at once, however many cores there are; other passes have one for
# each part of the samples, except those of the driver alone.
TASKS = {"merging words": 2, "grouping": 9}
DRIVER = ("comparing ids", "joining sets")
PICTURE_BYTES = 180_000


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("cluster", type=Path, help="what benchmarks.cluster --json printed")
    parser.add_argument("audit", type=Path, help="what benchmarks.audit_stream --nodes 3 --json printed")
    given = parser.parse_args()
    found = {"cluster": json.loads(given.cluster.read_text()), "audit": json.loads(given.audit.read_text())}
    text = "".join(describe_machines(found))
    KEPT.write_text(json.dumps(found, indent=1) + "\n")
    print(text)


def read_machines() -> dict[str, Any]:
    """What was kept; empty where nothing was measured."""
    found: dict[str, Any] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    return found


def describe_machines(found: Mapping[str, Any]) -> Iterator[str]:
    if not found:
        return
    made, audit = found["cluster"], found["audit"]
    there = audit["cluster"]
    memory = f"{there['peak_gb']:.2f}, of which Ray had {there['idle_gb']:.2f} before any work"
    local, ray, over = made["local"], made["ray"], made["overhead"]
    yield f"""
## More than one machine

`python -m benchmarks.cluster` and `python -m benchmarks.audit_stream --nodes 3`: clusters of Ray whose nodes have one
CPU each, on one machine of {made["cores"]} cores, so that more nodes than cores cannot be faster.

| `make clevr`, 480×320 | images/s | speed-up |
|---|---|---|
"""
    rates = made["images_per_second"]
    for nodes, rate in rates.items():
        yield f"| {nodes} {'node' if nodes == '1' else 'nodes'} | {rate:.1f} | {rate / rates['1']:.2f} |\n"
    yield f"""
{made["images"]:,} images take two local processes {local["seconds"]:.0f} s and a cluster of two worker CPUs
{ray["seconds"]:.0f} s, its start of {made["start_seconds"]:.0f} s apart: {over["seconds"]:+.1%} of the time and \
{over["cpu"]:+.1%} of the CPU
time. The files are the same to the byte.

| audit of {audit["samples"]:,} samples, streamed | seconds | peak memory of all processes, GB |
|---|---|---|
| {audit["workers"]} local processes | {audit["seconds"]:.0f} | {audit["peak_gb"]:.2f} |
| {there["nodes"]} nodes | {there["seconds"]:.0f} | {memory} |

The figures are the same to the last digit. {audit.get("about", "")}

### A billion samples on {MACHINES} machines

An extrapolation by the rates above, to machines of {CORES} such cores; nothing of it was run.

"""
    yield from _extrapolate_audit(audit)
    cores = MACHINES * CORES
    each = local["cpu"] / made["images"]
    hours = BILLION * each / cores / 3600
    traffic = cores / each * PICTURE_BYTES / 1e6
    yield f"""
A billion pictures with ten questions each would be {hours:,.0f} hours on these {cores} cores, and \
{BILLION * PICTURE_BYTES / 1e12:,.0f} TB.

**What breaks first.** In an audit, the passes that have few tasks: however many machines there are, nine work while
groups are counted, and one joins the sets. Memory comes second: vocabularies of all words and answers are in every
worker, which is why it is the number of groups and answers that counts. In `make`, the driver, since all files pass it
(docs/decisions/038): {cores} such cores send it {traffic:,.0f} MB each second, which a disk can still write; ten times
as many would have to wait. Then the folder, which lists every shard in one manifest.
"""


def _extrapolate_audit(audit: Mapping[str, Any]) -> Iterator[str]:
    factor = BILLION / audit["samples"]
    spent: dict[str, float] = {}
    for (name, began), (_, ended) in zip(audit["passes"], audit["passes"][1:], strict=False):
        spent[name] = spent.get(name, 0.0) + ended - began
    yield f"| pass | measured, {audit['workers']} cores, s | tasks at once | a billion, min |\n|---|---|---|---|\n"
    total = 0.0
    for name, seconds in spent.items():
        tasks = 1 if name in DRIVER else min(TASKS.get(name, MACHINES * CORES), MACHINES * CORES)
        before = 1 if name in DRIVER else min(audit["workers"], tasks)
        minutes = seconds * factor * before / tasks / 60
        total += minutes
        yield f"| {name} | {seconds:.1f} | {tasks} | {minutes:.1f} |\n"
    yield f"| all | {sum(spent.values()):.0f} | | {total:.0f} |\n"


if __name__ == "__main__":
    main()
