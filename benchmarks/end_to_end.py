"""End-to-end models trained in turn on one set of images, and tested in-domain: objects and parts apart.

`python -m benchmarks.end_to_end --out build/end_to_end --results "$OUT" --minutes 7.5`. What is finished is kept
in --results at once; the same command again, on the same --out, resumes where it paused. --set film.width=192
changes a setting of one model, --model film@wide --set film@wide.width=192 trains it as a row of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.table import table
from shiftscope.models.end_to_end.questions import list_answers
from shiftscope.train.accelerator import make_accelerator
from shiftscope.train.data import TRAIN, VAL, TrainValData, gather_split, open_training_data
from shiftscope.train.loop import TrainingPaused
from shiftscope.train.train import TrainSpec, train_on
from shiftscope.trainable import SplitData
from shiftscope.trained_folder import TRAINING_FOLDER

MODELS = ("lstm", "cnn_lstm", "film", "vit_lm")
HEADS = ("model", "object questions", "part questions", "all", "epoch", "questions/s", "seconds", "rise, last quarter")


def list_options(description: str | None) -> argparse.ArgumentParser:
    """What the benchmarks of trained models take."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--results", type=Path)
    options.add_argument("--data", default="superclevr")
    options.add_argument("--images", type=int, default=20_000)
    options.add_argument("--model", action="append")
    options.add_argument("--set", action="append", default=[], metavar="MODEL.NAME=VALUE")
    options.add_argument("--epochs", type=int)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--minutes", type=float, default=1e6)
    options.add_argument("--device", default="auto")
    options.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    return options


def main() -> None:
    """Print a line per epoch, then a row per model."""
    given = list_options(__doc__).parse_args()
    start = time.monotonic()
    rows = list(given.model or MODELS)
    kinds = {row: row.partition("@")[0] for row in rows}
    specs = {
        row: TrainSpec(
            kinds[row],
            given.data,
            images=given.images,
            seed=given.seed,
            epochs=given.epochs,
            settings=read_settings(row, given.set),
            device=given.device,
        )
        for row in rows
    }
    data = open_training_data(given.data, images=given.images)
    device = make_accelerator(given.device).device
    stage = next(s.trainable.stages[0] for s in specs.values() if "images" in s.trainable.stages[0].supervision)
    splits: dict[str, SplitData] = {}
    for split in (TRAIN, VAL, "test"):
        splits[split] = gather_split(data, split, [stage], device=str(device), workers=given.workers)
        print(f"{split}: {len(splits[split].supervision[stage.name]):,} questions, {time.monotonic() - start:.1f} s")
    made = TrainValData(splits[TRAIN], splits[VAL], time.monotonic() - start)
    learned = splits[TRAIN].supervision[stage.name]
    chance = f"{100 / len(list_answers(data.schema, learned.answer_words)):.2f}"
    found: list[Sequence[object]] = [
        ("random, any answer", chance, chance, chance, "", "", "", ""),
        _count_majority(splits[TRAIN], splits["test"], stage.name),
    ]
    for row, spec in specs.items():
        try:
            left = given.minutes - (time.monotonic() - start) / 60
            if left <= 0:
                raise TrainingPaused
            trained = train_on(data, replace(spec, minutes=left), given.out / row, splits=made, bar=ProgressLines)
        except TrainingPaused:
            print(f"{row} is paused; resume with the same command")
            keep_results(given.out / row, given.results)
            break
        entry = trained.about[stage.name]
        counts = _test(spec, trained, splits["test"], str(device))
        result = {"test_counts": counts, "seconds": entry["seconds"], "rise": entry["rise"], "val": entry["val"]}
        (given.out / row / "test.json").write_text(json.dumps(result) + "\n")
        keep_results(given.out / row, given.results)
        speed = find_median_speeds(given.out / row)[stage.name]
        shares = [f"{100 * counts[name][0] / max(1, counts[name][1]):.2f}" for name in COUNTED]
        epoch = f"{entry['epoch']} of {count_epochs(given.out / row)[stage.name]}"
        found.append((row, *shares, epoch, f"{speed:,.0f}", entry["seconds"], f"{100 * entry['rise']:.2f}"))
    test = splits["test"].supervision[stage.name]
    table(f"{data.name}: test, {len(test):,} questions; {time.monotonic() - start:.0f} s in all", HEADS, found)


def read_settings(row: str, settings: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Those of one model: film.width=192 is (width, 192)."""
    mine = [s.removeprefix(f"{row}.").partition("=") for s in settings if s.startswith(f"{row}.")]
    return tuple((name, value) for name, _, value in mine)


COUNTED = ("object_questions", "part_questions", "right")


def _test(spec: TrainSpec, trained: Any, test: SplitData, device: str) -> dict[str, list[int]]:
    """The counts on the test split, by the weights that were written."""
    import torch

    stage = spec.trainable.stages[0]
    config = stage.read_config(trained.config(stage.name))
    module = trained.load(stage.name, stage.build(config, {})).to(device)
    examples = stage.make_examples(test, config, device)
    sums = dict.fromkeys(COUNTED, np.zeros(2))
    with torch.no_grad(), torch.autocast("cuda", torch.bfloat16, enabled=device.startswith("cuda")):
        for rows in torch.arange(len(examples)).split(2048):
            for name, pair in stage.measure(module, examples.batch(rows)).items():
                sums[name] = sums[name] + [float(x) for x in pair]
    return {name: [int(x) for x in pair] for name, pair in sums.items()}


def _count_majority(train: SplitData, test: SplitData, name: str) -> Sequence[object]:
    """What the commonest training answer scores."""
    learned, asked = train.supervision[name], test.supervision[name]
    best = learned.answer_words[int(np.bincount(learned.answers).argmax())]
    right = np.array([word == best for word in asked.answer_words])[asked.answers]
    groups = (right[~asked.about_parts], right[asked.about_parts], right)
    return ("majority", *(f"{100 * group.mean():.2f}" if len(group) else "" for group in groups), "", "", "", "")


def find_median_speeds(folder: Path) -> dict[str, float]:
    """By stage, questions per second in the middle one of its epochs; checkpoints are counted in, validation is not."""
    speeds: dict[str, list[float]] = {}
    for line in (folder / "training.jsonl").open():
        row = json.loads(line)
        speeds.setdefault(row["part"], []).append(row["examples_per_second"])
    return {name: statistics.median(some) for name, some in speeds.items()}


def count_epochs(folder: Path) -> dict[str, int]:
    """By stage, those that were trained: a recipe with patience names only the most."""
    return dict(Counter(json.loads(line)["part"] for line in (folder / "training.jsonl").open()))


def keep_results(folder: Path, results: Path | None) -> None:
    """Copy all but the checkpoints."""
    if results is not None and folder.exists():
        ignored = shutil.ignore_patterns(TRAINING_FOLDER)
        shutil.copytree(folder, results / folder.name, ignore=ignored, dirs_exist_ok=True)


class ProgressLines:
    """A line now and then."""

    def __init__(self, name: str) -> None:
        self.name, self.told = name, 0.0

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def __call__(self, done: int, total: int, words: str) -> None:
        if time.monotonic() - self.told > 15:
            self.told = time.monotonic()
            print(f"{self.name}: {done:,} of {total:,}, {words}", flush=True)


if __name__ == "__main__":
    main()
