"""nscl and mdetr trained in turn on one set of images, and tested in-domain: objects and parts apart.

`python -m benchmarks.region_models --out build/region_models --results "$OUT" --minutes 7.5`. What is finished is
kept in --results at once; the same command again, on the same --out, resumes where it paused. Only the last stage of
nscl is trained: its parsers are those of --parsers, a trained neuro-symbolic model, by default the one that is shipped.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.end_to_end import (
    COUNTED,
    ProgressLines,
    count_epochs,
    find_median_speeds,
    keep_results,
    list_options,
    read_settings,
)
from benchmarks.table import table
from shiftscope.models.nsvqa.trained_model import SHIPPED
from shiftscope.train.accelerator import make_accelerator
from shiftscope.train.data import TRAIN, VAL, TrainValData, gather_split, open_training_data
from shiftscope.train.loop import TrainingPaused
from shiftscope.train.train import TrainSpec, train_on
from shiftscope.trainable import SplitData

HEADS = ("model", "stage", "object questions", "part questions", "all", "epoch", "questions/s", "seconds", "rise")
TEST = "test"


def main() -> None:
    """Print a line now and then, last a row per stage."""
    options = list_options(__doc__)
    options.add_argument("--parsers", type=Path)
    given = options.parse_args()
    start = time.monotonic()
    data = open_training_data(given.data, images=given.images)
    parsers = given.parsers or SHIPPED / data.schema.name
    specs = {}
    for row in given.model or ("nscl", "mdetr"):
        how: dict[str, Any] = {"images": given.images, "seed": given.seed, "epochs": given.epochs}
        if row.startswith("nscl"):
            how |= {"only": "concepts", "other": parsers}
        elif given.parsers:
            how["settings"] = (("backbone", str(given.parsers)),)
        how["settings"] = (*how.get("settings", ()), *read_settings(row, given.set))
        specs[row] = TrainSpec(row.partition("@")[0], given.data, device=given.device, **how)
    stages = list({stage.name: stage for spec in specs.values() for stage in spec.stages}.values())
    device = str(make_accelerator(given.device).device)
    splits: dict[str, SplitData] = {}
    for split in (TRAIN, VAL, TEST):
        splits[split] = gather_split(data, split, stages, device=device, workers=given.workers)
        print(
            f"{split}: {len(splits[split].supervision[stages[0].name]):,} questions, {time.monotonic() - start:.1f} s"
        )
    made = TrainValData(splits[TRAIN], splits[VAL], time.monotonic() - start)
    found: list[Sequence[object]] = []
    for row, spec in specs.items():
        out = given.out / row
        try:
            left = given.minutes - (time.monotonic() - start) / 60
            if left <= 0:
                raise TrainingPaused
            trained = train_on(data, replace(spec, minutes=left), out, splits=made, bar=ProgressLines)
        except TrainingPaused:
            print(f"{row} is paused; resume with the same command")
            keep_results(out, given.results)
            break
        counts = count_answers(spec, trained, splits[TEST], device)
        (out / "test.json").write_text(json.dumps({"test_counts": counts}) + "\n")
        keep_results(out, given.results)
        speeds, epochs = find_median_speeds(out), count_epochs(out)
        for stage in spec.stages:
            entry, last = trained.about[stage.name], stage.name == spec.stages[-1].name
            shares = [f"{100 * counts[name][0] / max(1, counts[name][1]):.2f}" if last else "" for name in COUNTED]
            epoch, rise = f"{entry['epoch']} of {epochs[stage.name]}", f"{100 * entry['rise']:.2f}"
            found.append((row, stage.name, *shares, epoch, f"{speeds[stage.name]:,.0f}", entry["seconds"], rise))
    asked = len(splits[TEST].supervision[stages[0].name])
    table(f"{data.name}: test, {asked:,} questions; {time.monotonic() - start:.0f} s in all", HEADS, found)


def count_answers(spec: TrainSpec, trained: Any, test: SplitData, device: str) -> dict[str, list[int]]:
    """The counts of the last stage on the test split, by the weights that were written."""
    import torch

    trainable = spec.trainable
    stage = trainable.stages[-1]

    def load(name: str) -> Any:
        one = trainable.stage(name)
        config = one.read_config(trained.config(name))
        return trained.load(name, one.build(config, {need: load(need) for need in one.needs})).to(device)

    config, parts = stage.read_config(trained.config(stage.name)), {name: load(name) for name in stage.needs}
    module, sums = load(stage.name), dict.fromkeys(COUNTED, np.zeros(2))
    examples = stage.make_examples(stage.encode(test, parts, device), config, device)
    with torch.no_grad(), torch.autocast("cuda", torch.bfloat16, enabled=device.startswith("cuda")):
        for rows in torch.arange(len(examples)).split(2048):
            for name, pair in stage.measure(module, examples.batch(rows)).items():
                sums[name] = sums[name] + [float(x) for x in pair]
    return {name: [int(x) for x in pair] for name, pair in sums.items()}


if __name__ == "__main__":
    main()
