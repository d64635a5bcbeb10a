"""Speed and memory of an audit that streams: synthetic samples in Parquet shards, all nine shortcuts, sets and marks.

`python -m benchmarks.audit_stream [--samples 20000000] [--workers 2] [--nodes 3] [--folder DIR] [--json]` makes the
samples (a seeded generator over columns, 100,000 rows a shard), then runs `audit_stream` in a process of its own, and
watches the memory of that process and of all that it starts. The questions are of the lengths and frequencies of VQA's,
from a pool of 200,000; two in five get another last word. An image has five questions, and one to six kinds of objects.

With `--nodes N` it runs once more, on a Ray cluster of N nodes of one CPU on this machine, and must find the same
figures. The memory is then that of every process of the cluster, Ray's own included, which is also told apart.

Needs about 1.4 kB of disk a sample, half of it while the sets are put together.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.cluster import open_cluster
from benchmarks.memory import list_tree, read_resident, watch_memory
from benchmarks.table import row
from shiftscope.formats.vqa import question_types
from shiftscope.rng import derive
from shiftscope.schemas.coco import NAMES

SAMPLES = 20_000_000
SHARD = 100_000
POOL = 200_000
WORDS, ANSWERS = 20_000, 20_000
LONGEST = 6  # words after the type
NEW_WORD = 0.4  # share of the questions that get another last word
QUESTIONS_PER_IMAGE = 5
BUDGET_SECONDS, BUDGET_GB = 15 * 60, 3.0

MEASURED = """
import json, resource, sys, time
from pathlib import Path
from shiftscope.executor import open_executor
from shiftscope.run.audit import AuditFiles
from shiftscope.run.stream_audit import audit_stream
if __name__ == "__main__":
    passes, start = [], time.perf_counter()
    def now():
        return time.perf_counter() - start
    def tell(what, done, total):
        if not passes or passes[-1][0] != what:
            passes.append([what, now()])
    made = audit_stream(AuditFiles((Path(sys.argv[1]),)), Path(sys.argv[2]), tell=tell,
                        executor=open_executor(int(sys.argv[3]), sys.argv[4]))
    end = now()
    passes.append(["", end])
    cpu = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(json.dumps({"seconds": end, "cpu": cpu, "passes": passes, "samples": made.figures.samples,
                      "lines": [[n.shortcut, n.train_groups, n.test_groups, n.imbalanced, n.head, n.tail]
                                for n in made.figures.shortcuts]}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Stream an audit of synthetic samples.")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--nodes", type=int, default=0, help="of a Ray cluster on this machine; none by default")
    parser.add_argument("--folder", type=Path, default=None, help="for samples and audit; else a temporary one")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        start = time.perf_counter()
        make_shards(folder / "shards", given.samples)
        making = time.perf_counter() - start
        told = measure(folder, given.workers) | {"making": making, "workers": given.workers}
        if given.nodes:
            with open_cluster([1] * given.nodes) as address:
                there = measure(folder, 0, f"ray:{address}") | {"nodes": given.nodes}
            assert there["lines"] == told["lines"], "the cluster's figures differ"
            told["cluster"] = there
    if given.json:
        print(json.dumps(told))
        return
    budget = given.samples == SAMPLES
    row(f"make {told['samples']:,} samples", f"{making:.1f} s", "-")
    for (what, began), (_, ended) in zip(told["passes"], told["passes"][1:], strict=False):
        row(f"  {what}", f"{ended - began:.1f} s", "-")
    row("audit, streamed", f"{told['seconds']:.1f} s", f"{BUDGET_SECONDS} s" if budget else "-")
    row("CPU time of that", f"{told['cpu']:.1f} s", "-")
    row("samples a second", f"{told['samples'] / told['seconds']:,.0f}", "-")
    row("peak memory of all processes", f"{told['peak_gb']:.2f} GB", f"{BUDGET_GB:g} GB")
    if given.nodes:
        row(
            f"on {given.nodes} nodes of a cluster",
            f"{there['seconds']:.1f} s",
            f"{BUDGET_SECONDS} s" if budget else "-",
        )
        row("  peak memory, the cluster's included", f"{there['peak_gb']:.2f} GB", f"{BUDGET_GB:g} GB")
        row("  of the cluster before any work", f"{there['idle_gb']:.2f} GB", "-")
    for line in told["lines"]:
        print(f"{line[0]:<10}" + "".join(f"{n:>14,}" for n in line[1:]))


def measure(folder: Path, workers: int, cluster: str = "") -> dict[str, Any]:
    """In a process of its own, whose memory is watched; with a cluster, whatever this process has started."""
    script = folder / "measured.py"  # spawned workers import it
    script.write_text(MEASURED, "utf-8")
    command = [sys.executable, str(script), str(folder / "shards"), str(folder / f"out{cluster[:3]}")]
    command += [str(workers), cluster]
    idle = sum(map(read_resident, list_tree(os.getpid()))) if cluster else 0
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process,
        watch_memory(os.getpid() if cluster else process.pid) as seen,
    ):
        output, _ = process.communicate()
    if process.returncode:
        raise SystemExit(process.returncode)
    told: dict[str, Any] = json.loads(output)
    return told | {"peak_gb": max(seen) / 1e9, "idle_gb": idle / 1e9}


def make_shards(folder: Path, samples: int) -> None:
    """Sample rows in Parquet; shard k is a function of k."""
    folder.mkdir(parents=True)
    draw = derive("benchmark", "audit_stream", "pool")
    words = pa.array([f"word{k}" for k in range(WORDS)])
    kinds = np.minimum(draw.pareto(0.6, POOL).astype(np.int64), len(question_types()) - 2)
    lengths = draw.integers(1, LONGEST + 1, POOL)
    spoken = np.minimum(draw.pareto(0.35, (POOL, LONGEST)), WORDS - 1).astype(np.int64)
    answers = np.minimum(draw.pareto(0.5, POOL), ANSWERS - 1).astype(np.int64)
    for k, first in enumerate(range(0, samples, SHARD)):
        size = min(SHARD, samples - first)
        draw = derive("benchmark", "audit_stream", k)
        chosen = draw.integers(0, POOL, size)
        said, length = spoken[chosen], lengths[chosen]
        new = np.flatnonzero(draw.random(size) < NEW_WORD)
        said[new, length[new] - 1] = np.minimum(draw.pareto(0.35, len(new)), WORDS - 1).astype(np.int64)
        answer = np.where(draw.random(size) < 0.3, np.minimum(draw.pareto(0.5, size), ANSWERS - 1), answers[chosen])
        at = np.concatenate([[0], np.cumsum(length)])
        flat = said[np.arange(LONGEST) < length[:, None]]
        rest = pc.binary_join(pa.ListArray.from_arrays(pa.array(at, pa.int32()), words.take(pa.array(flat))), " ")
        types = pa.array(question_types()).take(pa.array(kinds[chosen]))
        image = (first + np.arange(size)) // QUESTIONS_PER_IMAGE
        table = {
            "question_id": pa.array(first + np.arange(size)),
            "image_id": pa.array(image),
            "question": pc.binary_join_element_wise(types, rest, " "),
            "answer": pc.binary_join_element_wise("answer ", pc.cast(pa.array(answer.astype(np.int64)), "string"), ""),
            "question_type": types,
            "objects": make_objects(image),
        }
        pq.write_table(pa.table(table), folder / f"part-{k:05}.parquet", compression="zstd")


def make_objects(image: np.ndarray[Any, np.dtype[np.int64]]) -> Any:
    """The kinds of objects of each image, a function of its number: a few kinds are in most images."""
    mixed = (image.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    many = (mixed % np.uint64(6)).astype(np.int64) + 1
    bits = (mixed[:, None] >> (np.arange(6, dtype=np.uint64) * np.uint64(9) + np.uint64(3))) & np.uint64(511)
    share = bits.astype(np.float64) / 512
    codes = (len(NAMES) * share * share * share).astype(np.int64)
    flat = codes[np.arange(6) < many[:, None]]
    at = np.concatenate([[0], np.cumsum(many)])
    return pa.ListArray.from_arrays(pa.array(at, pa.int32()), pa.array(NAMES).take(pa.array(flat)))


if __name__ == "__main__":
    main()
