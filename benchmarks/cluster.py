"""A Ray cluster on one machine: what it costs over local processes, and how much faster more nodes are.

`python -m benchmarks.cluster [--images 20000] [--json]`. First the same dataset by two local processes and by a
cluster of two worker CPUs, whose start is not counted; the bytes have to be the same. Then a third of the images by
one, two and three nodes of one CPU, as far as the machine has cores. With 20,000 images on two quiet cores of 100
images per second in all it takes about 15 minutes. CPU seconds are those of every process of the job or of the cluster.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import Any

from benchmarks.table import row
from shiftscope.files import file_digest

MOST_OVERHEAD = 0.15  # of the time that local processes take
LEAST_SECONDS = 180  # of a job whose overhead says something
NODES = (1, 2, 3)
TICK = os.sysconf("SC_CLK_TCK")
LOOK_SECONDS = 0.2  # between looks at what processes have taken
STORE = 500 << 20  # bytes of each node's object store


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=20_000, help="enough for three minutes on two cores")
    parser.add_argument("--shard", type=int, default=100)
    parser.add_argument("--size", default="480x320")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    lines = redirect_stdout(sys.stderr) if given.json else nullcontext()
    with tempfile.TemporaryDirectory() as name, lines:
        found = measure(Path(name), given.images, given.shard, given.size)
    if given.json:
        print(json.dumps(found))


def measure(folder: Path, images: int, shard: int, size: str) -> dict[str, Any]:
    words = ("make", "clevr", "--shard", str(shard), "--size", size)
    run_command(*words, "--images", "40", "--out", str(folder / "warm"))  # compiles what is not compiled yet
    jobs = (*words, "--images", str(images))
    local = run_command(*jobs, "--workers", "2", "--out", str(folder / "local"))
    began = time.perf_counter()
    with open_cluster([2]) as address:
        start = time.perf_counter() - began
        there = run_command(*jobs, "--cluster", f"ray:{address}", "--out", str(folder / "ray"))
    assert digest_files(folder / "local") == digest_files(folder / "ray"), "the bytes differ"
    over = {name: there[name] / local[name] - 1 for name in local}
    row("two local processes", f"{local['seconds']:.0f} s, {local['cpu']:.0f} CPU s", f"≥ {LEAST_SECONDS} s")
    row("Ray, two worker CPUs", f"{there['seconds']:.0f} s, {there['cpu']:.0f} CPU s", "-")
    row("start of the cluster, not counted", f"{start:.1f} s", "-")
    row("overhead of Ray", f"{over['seconds']:+.1%}, CPU {over['cpu']:+.1%}", f"≤ {MOST_OVERHEAD:.0%}")
    rates = {}
    part = max(1, images // 3)
    for nodes in NODES:
        with open_cluster([1] * nodes) as address:
            out = str(folder / f"nodes-{nodes}")
            took = run_command(*words, "--images", str(part), "--cluster", f"ray:{address}", "--out", out)
        rates[nodes] = part / took["seconds"]
        row(f"{nodes} nodes of one CPU", f"{rates[nodes]:.1f} images/s, {rates[nodes] / rates[1]:.2f} ×", "-")
    row("cores of this machine", str(os.cpu_count()), "-")
    return {
        "images": images,
        "local": local,
        "ray": there,
        "overhead": over,
        "start_seconds": start,
        "images_per_second": rates,
        "cores": os.cpu_count(),
    }


@contextmanager
def open_cluster(cpus: list[int]) -> Iterator[str]:
    """The address of a cluster whose nodes have so many CPUs; the head, where the driver is, lends none."""
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for count in cpus:
            cluster.add_node(num_cpus=count, object_store_memory=STORE)
        cluster.wait_for_nodes()
        yield cluster.address
    finally:
        cluster.shutdown()


def run_command(*words: str) -> dict[str, float]:
    """Wall and CPU seconds of a command, with whatever works for it among this process's descendants.

    These are looked at again and again: Ray does not wait for its workers, so what they took is gone when they end.
    """
    before, began = read_cpu_ticks(), time.perf_counter()
    seen = dict(before)
    with subprocess.Popen([sys.executable, "-m", "shiftscope", *words], stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            seen |= read_cpu_ticks()
            time.sleep(LOOK_SECONDS)
    took = time.perf_counter() - began
    if process.returncode:
        sys.exit(f"shiftscope {' '.join(words)} ended with {process.returncode}")
    return {"seconds": took, "cpu": (sum(seen.values()) - sum(before.values())) / TICK}


def read_cpu_ticks() -> dict[tuple[int, str], int]:
    """Of each descendant of this process, by its number and when it began."""
    parents, ticks = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has just ended
                continue
            parents[int(entry.name)] = int(fields[1])
            ticks[int(entry.name), fields[19]] = int(fields[11]) + int(fields[12])

    def descends(process: int) -> bool:
        while process in parents and process != os.getpid():
            process = parents[process]
        return process == os.getpid()

    return {key: count for key, count in ticks.items() if descends(key[0]) and key[0] != os.getpid()}


def digest_files(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): file_digest(p) for p in sorted(folder.rglob("*")) if p.is_file()}


if __name__ == "__main__":
    main()
