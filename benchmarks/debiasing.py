"""The eleven models of VQA-VS's Tables 2 and 3, trained in turn on one set of images and asked after every epoch.

`python -m benchmarks.debiasing --out build/debiasing --results "$OUT" --minutes 8`. What is finished is kept in
--results at once; the same command again, on the same --out, resumes where it paused, and --before DIR, the results of
an earlier call on another machine, says what need not be done again. --data is any suite or dataset, as
`shiftscope train --data` takes it; --field NAME=VALUE changes a field of the suite's spec (a planted shortcut). All
splits of the data but train are asked; `right.npz` says of every question which epochs answered it rightly, so that
any part of a split can be scored afterwards.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.end_to_end import ProgressLines, list_options
from benchmarks.table import table
from shiftscope.errors import UserError
from shiftscope.train.accelerator import make_accelerator
from shiftscope.train.data import TRAIN, VAL, TrainValData, gather_split, open_training_data
from shiftscope.train.epochs import answer_by_epochs, remove_epochs
from shiftscope.train.loop import TrainingPaused
from shiftscope.train.train import TrainSpec, find_trainable, train_on
from shiftscope.trainable import SplitData

# By the name of a row: the model and its settings.
ROWS: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "s_mrl": ("s_mrl", ()),
    "s_mrl+rubi": ("s_mrl+rubi", ()),
    "updn": ("updn", ()),
    "updn+lmh": ("updn+lmh", ()),
    "updn+lmh_l": ("updn+lmh_l", ()),
    "updn+lmh_v": ("updn+lmh_v", ()),
    "updn+ssl": ("updn+ssl", ()),
    "updn+lpf gamma=1": ("updn+lpf", (("gamma", "1"),)),
    "updn+lpf gamma=5": ("updn+lpf", (("gamma", "5"),)),
    "ban": ("ban", ()),
    "lxmert": ("lxmert", ()),
}
RESULTS, RIGHT = "debiasing.jsonl", "right.npz"


def main() -> None:
    """Print a line now and then, last a row per model."""
    options = list_options(__doc__)
    options.add_argument("--seeds", type=int, default=4)
    options.add_argument("--field", action="append", default=[], metavar="NAME=VALUE")
    options.add_argument("--before", type=Path)
    given = options.parse_args()
    start = time.monotonic()
    results = given.results or given.out / "results"
    lines, right = read_results(given.before, results)
    rows = list(given.model or ROWS)
    todo = [(row, seed) for seed in range(given.seeds) for row in rows if (row, seed) not in lines]
    if todo:
        run_all(given, start, todo, lines, right, results)
    print_results(lines, rows, f"{time.monotonic() - start:.0f} s in all")


def run_all(
    given: Any,
    start: float,
    todo: Sequence[tuple[str, int]],
    lines: dict[tuple[str, int], dict[str, Any]],
    right: dict[str, Any],
    results: Path,
) -> None:
    """Train and ask what is left, as far as the time goes."""
    data = open_training_data(given.data, images=given.images)
    if given.field:
        data = replace(data, spec=replace(data.spec, **dict(pair.split("=", 1) for pair in given.field)))  # type: ignore[call-arg]
    described = json.loads(json.dumps(data.to_json()))
    if any(line["data"] != described for line in lines.values()):
        raise UserError(f"the results in {given.before or results} are of other data; omit --before, or name others")
    device = str(make_accelerator(given.device).device)
    names = sorted({stage.name for row in ROWS.values() for stage in find_trainable(row[0]).stages})
    stage = find_trainable("updn").stages[-1]
    splits: dict[str, SplitData] = {}
    for split in list_splits(data):
        gathered = gather_split(data, split, [stage], device=device, workers=given.workers)
        questions = gathered.supervision[stage.name]
        splits[split] = replace(gathered, supervision=dict.fromkeys(names, questions))
        right.setdefault(f"{split} ids", np.array(questions.ids))
        if right[f"{split} ids"].tolist() != list(questions.ids):
            raise UserError(f"{given.before}: its results are of other questions in {split}; omit --before")
        print(f"{split}: {len(questions):,} questions, {time.monotonic() - start:.1f} s", flush=True)
    made = TrainValData(splits[TRAIN], splits[VAL], time.monotonic() - start)
    asked = {split: some for split, some in splits.items() if split != TRAIN}
    for row, seed in todo:
        model, settings = ROWS.get(row, (row, ()))
        spec = TrainSpec(
            *(model, given.data),
            images=given.images,
            seed=seed,
            epochs=given.epochs,
            settings=settings,
            device=given.device,
            keep_epochs=True,
        )
        out = given.out / f"{row.replace(' ', '-')}-{seed}"
        left = given.minutes - (time.monotonic() - start) / 60
        try:
            if left <= 0:
                raise TrainingPaused
            trained = train_on(data, replace(spec, minutes=left), out, splits=made, bar=ProgressLines)
        except TrainingPaused:
            print(f"{row}, seed {seed} is paused; resume with the same command", flush=True)
            return
        answered = list(answer_by_epochs(spec.trainable, out, asked, device))
        for split in asked:
            right[f"{row} {seed} {split}"] = np.packbits(np.stack([one.right[split] for one in answered]), axis=1)
        log = [json.loads(line) for line in (out / "training.jsonl").open()]
        lines[row, seed] = {
            "row": row,
            "seed": seed,
            "data": described,
            "accuracy": {split: [round(float(one.right[split].mean()), 6) for one in answered] for split in asked},
            "questions": {split: len(some.supervision[stage.name]) for split, some in splits.items()},
            "samples_per_second": max(one["examples_per_second"] for one in log if one["part"] == stage.name),
            "seconds": trained.about["seconds"],
            "device": trained.about["device"],
            "epochs": len(answered),
        }
        keep_results(results, lines, right)
        remove_epochs(out)
        print(f"{row}, seed {seed}: {time.monotonic() - start:.0f} s", flush=True)


def list_splits(data: Any) -> list[str]:
    """All that the data have, train and val first."""
    held = data.spec.splits() if hasattr(data, "spec") else data.dataset.splits
    return [TRAIN, VAL, *(split for split in held if split not in (TRAIN, VAL))]


def read_results(*folders: Path | None) -> tuple[dict[tuple[str, int], dict[str, Any]], dict[str, Any]]:
    """What is finished by row and seed, and which questions were answered rightly."""
    lines: dict[tuple[str, int], dict[str, Any]] = {}
    right: dict[str, Any] = {}
    for folder in folders:
        if folder is not None and (folder / RESULTS).is_file():
            for line in map(json.loads, (folder / RESULTS).open()):
                lines[line["row"], line["seed"]] = line
            with np.load(folder / RIGHT, allow_pickle=False) as held:
                right |= {name: held[name] for name in held.files}
    return lines, right


def keep_results(folder: Path, lines: Mapping[Any, Mapping[str, Any]], right: Mapping[str, Any]) -> None:
    """Both files anew, each whole."""
    folder.mkdir(parents=True, exist_ok=True)
    new = folder / f"new-{RIGHT}"
    np.savez_compressed(new, **right)
    new.replace(folder / RIGHT)
    text = folder / f"new-{RESULTS}"
    text.write_text("".join(f"{json.dumps(line)}\n" for line in lines.values()))
    text.replace(folder / RESULTS)


def print_results(lines: Mapping[tuple[str, int], Mapping[str, Any]], rows: Sequence[str], title: str) -> None:
    """Per row: its accuracy with the epoch that was best on val, and on each other set with the epoch best there."""
    sets = list(next(iter(lines.values()))["accuracy"]) if lines else []
    heads = [
        "model",
        "seeds",
        *(f"{name} (by val)" for name in sets),
        *(f"best on {name}" for name in sets if name != VAL),
    ]
    listed: list[list[object]] = []
    for row in rows:
        mine = [line for (name, _), line in lines.items() if name == row]
        cells: list[object] = [row, len(mine)]
        for name in sets:
            chosen = [line["accuracy"][name][int(np.argmax(line["accuracy"][VAL]))] for line in mine]
            cells.append(format_mean(chosen))
        cells += [format_mean([max(line["accuracy"][name]) for line in mine]) for name in sets if name != VAL]
        speed = max((line["samples_per_second"] for line in mine), default=0.0)
        seconds = [line["seconds"]["all"] - line["seconds"].get("data", 0.0) for line in mine]
        listed.append([*cells, f"{speed:,.0f}" if mine else "", f"{np.mean(seconds):.0f}" if mine else ""])
    table(f"{title}; % right, mean over seeds ± standard deviation", [*heads, "samples/s", "seconds"], listed)


def format_mean(shares: Sequence[float]) -> str:
    """Empty where nothing is measured."""
    if not shares:
        return ""
    spread = f" ± {100 * np.std(shares, ddof=1):.2f}" if len(shares) > 1 else ""
    return f"{100 * np.mean(shares):.2f}{spread}"


if __name__ == "__main__":
    main()
