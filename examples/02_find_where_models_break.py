"""Where do the shipped models break? Diagnose each with a small budget, then put them side by side in one report.

The neuro-symbolic models come trained, on Super-CLEVR as it is by default. The diagnostic set shifts one factor at a
time: textures they never saw, questions that say more than they need to, rare concepts, colours that go with shapes.
Each diagnosis ends with a verdict: which factor costs most, how surely, and in which stage the loss arises.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

MODELS = ("nsvqa", "p_nsvqa", "p_nsvqa_exact")
NOTE = """
A quarter of these questions are about parts of vehicles, which are harder, so that the figures are lower than
those of the README about whole vehicles; the report has both apart. A larger --budget shows smaller drops."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=Path("out/demo"))
    options.add_argument("--budget", type=int, default=500)
    options.add_argument("--models", nargs="+", default=MODELS)
    given = options.parse_args()
    folders = [given.out / model for model in given.models]
    for model, folder in zip(given.models, folders, strict=True):
        shiftscope("diagnose", model, "--budget", given.budget, "--out", folder)
    report = given.out / "report.html"
    shiftscope("report", *(run for folder in folders for run in sorted((folder / "runs").iterdir())), "--out", report)
    print(NOTE)
    print(f"\nthe report: {report.resolve()}")


def shiftscope(*words: object) -> None:
    """Run a command as a user would type it."""
    command = ["shiftscope", *map(str, words)]
    print(f"\n$ {' '.join(command)}", flush=True)
    subprocess.run([sys.executable, "-m", *command], check=True)


if __name__ == "__main__":
    main()
