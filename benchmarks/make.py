"""Making a CLEVR dataset, everything included: sample, reject, render, masks, PNG, questions, Parquet."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time

from benchmarks.table import row

IMAGES = 600


def main() -> None:
    print("make clevr (all cores, 480×320, 10 questions per image)")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "shiftscope", "make", "clevr", "--shard", "50", "--out"]
        warm = [*command, f"{folder}/warm", "--images", "4"]
        subprocess.run(warm, check=True, capture_output=True)  # compiles
        start = time.perf_counter()
        subprocess.run([*command, f"{folder}/data", "--images", str(IMAGES)], check=True, capture_output=True)
        seconds = time.perf_counter() - start
    row(f"{IMAGES} images with questions, start-up included", f"{IMAGES / seconds:.1f} images/s", "40 images/s")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    row("  peak memory of a process", f"{peak:.0f} MB", "2,000 MB")


if __name__ == "__main__":
    main()
