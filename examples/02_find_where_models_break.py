"""A small study from nothing: make CLEVR, ask the reference models, write the page of where they break."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

MODELS = ("random", "majority", "majority_per_template", "question_only", "oracle")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=Path("out/demo"))
    options.add_argument("--images", type=int, default=400)
    given = options.parse_args()
    data, runs, report = given.out / "clevr", given.out / "runs", given.out / "report.html"
    shiftscope("make", "clevr", "--images", given.images, "--shard", 50, "--out", data)
    shiftscope("show", data, "--index", 3)
    for model in MODELS:
        shiftscope("run", "--model", model, "--data", data, "--split", "test", "--out", runs / model)
    shiftscope("report", *(runs / model for model in MODELS), "--data", data, "--out", report)
    print(f"\nthe report: {report.resolve()}")


def shiftscope(*words: object) -> None:
    """Run a command as a user would type it."""
    command = ["shiftscope", *map(str, words)]
    print(f"\n$ {' '.join(command)}", flush=True)
    subprocess.run([sys.executable, "-m", *command], check=True)


if __name__ == "__main__":
    main()
