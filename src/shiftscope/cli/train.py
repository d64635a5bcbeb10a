"""Train a model: it learns from a dataset or straight from a suite's world."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ..errors import UserError
from . import _console as shared
from ._console import print_json, print_table, shard_bar

if TYPE_CHECKING:
    from ..trained_folder import TrainedFolder

CONVERGED = 0.003  # of validation examples: a training that rises by more over its last quarter is not at its end


def command(
    model: Annotated[str, typer.Option(help="A trainable model, as nsvqa; models of the same parts share one folder.")],
    data: Annotated[str, typer.Option(help="The folder of a dataset, SUITE[:VARIANT], or questions without pictures.")],
    visual: Annotated[
        Literal["easy", "mid", "hard"] | None, typer.Option(help="Another visual level of the suite's variant.")
    ] = None,
    images: Annotated[
        int,
        typer.Option(min=0, help="Training images; 0 for all of a dataset, or 20,000 of a suite and a quarter more."),
    ] = 0,
    device: Annotated[
        Literal["auto", "cuda", "cpu"], typer.Option(help="A GPU trains in bfloat16 and draws the images too.")
    ] = "auto",
    seed: Annotated[int, typer.Option(help="Of weights and order; the data stay the same.")] = 0,
    out: Annotated[Path | None, typer.Option(help="The model's folder; an unfinished training resumes.")] = None,
    only: Annotated[str, typer.Option(help="Train these parts alone, such as scene; commas between several.")] = "",
    other: Annotated[Path | None, typer.Option("--from", help="Take the parts not trained from this folder.")] = None,
    part: Annotated[str, typer.Option(help="Only these: FOLDER:PART of shiftscope split, or a JSON file of ids.")] = "",
    epochs: Annotated[int, typer.Option(min=0, help="Of each part; 0 for the default.")] = 0,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE: a size of the network, its batch, lr or backbone.")
    ] = None,
    minutes: Annotated[float, typer.Option(min=0, help="Pause after so many; the same command resumes.")] = 0,
    keep_epochs: Annotated[
        bool, typer.Option("--keep-epochs", help="Keep every epoch's weights under epochs/, to select one later.")
    ] = False,
    workers: Annotated[int, typer.Option(min=0, help="Processes that make data; 0 for one per core.")] = 0,
    processes: Annotated[int, typer.Option(min=1, help="Train in so many processes, one per GPU; see below.")] = 1,
    beside: Annotated[
        bool, typer.Option("--beside", help="Train parts that see no picture at the same time as the others.")
    ] = False,
    as_json: shared.AsJson = False,
) -> None:
    """Train a model and choose the best epoch on validation data; the same command again resumes.

    On several GPUs: --processes N, or accelerate launch --num_processes N -m shiftscope train …; batches, data and
    order of examples are those of one process.
    """
    from ..store.question_part import read_part
    from ..train.loop import TrainingPaused
    from ..train.train import TrainSpec, train

    pairs = []
    for setting in settings or ():
        name, equals, value = setting.partition("=")
        if not (name and equals and value):
            raise UserError(f"--set {setting}: write NAME=VALUE, such as --set backbone=scratch")
        pairs.append((name, value))
    chosen = read_part(part) if part else None
    workers = workers or max(1, (os.cpu_count() or 1) // int(os.environ.get("WORLD_SIZE", "1")))
    line = shlex.join(["shiftscope", *sys.argv[1:]])
    spec = TrainSpec(
        *(model, data, visual or "", images or None, seed, only, other, epochs or None, chosen, tuple(pairs)),
        *(device, workers, processes, minutes or None),
        keep_epochs=keep_epochs,
        beside=beside,
        command=line,
    )
    try:
        trained = train(spec, out, bar=shard_bar)
    except TrainingPaused:
        trained = None
    if int(os.environ.get("RANK", "0")) > 0:  # one of several that accelerate launch started
        return
    if trained is None:
        print(f"paused after {minutes:g} minutes; resume with the same command")
    else:
        _print_training(trained, model, as_json)


def _tell_epochs(recipe: Mapping[str, Any]) -> str:
    """How many a training has, or may have: with patience it may end before, with a tail go on."""
    most = int(recipe["epochs"]) + int(recipe.get("tail", 0))
    return f"at most {most}" if recipe.get("patience") or recipe.get("tail") else str(most)


def _print_training(trained: TrainedFolder, model: str, as_json: bool) -> None:
    about, parts = trained.about, trained.parts
    if as_json:
        plain = {part: {k: v for k, v in about[part].items() if k != "config"} for part in parts}
        rest = {key: about.get(key) for key in ("device", "seconds", "command")}
        print_json({"folder": str(trained.folder), "new": trained.new, **plain, **rest})
        return
    for part in parts:
        entry = about[part]
        print_table(
            ["", "right %", "of"],
            [
                [name.replace("_", " "), f"{100 * share:.2f}", f"{entry['val_counts'][name][1]:,}"]
                for name, share in entry["val"].items()
            ],
            f"{part.replace('_', ' ')}: trained on {entry['trained_on']}, {entry['examples']:,} examples an "
            f"epoch, epoch {entry['epoch']} of {_tell_epochs(entry['recipe'])}, seed {entry['seed']}; on val:",
        )
        if entry.get("rise", 0.0) > CONVERGED:
            points = f"{100 * entry['rise']:.1f} points"
            print(f"it still rose by {points} over the last quarter of its epochs; give more with --epochs")
    seconds = ", ".join(f"{name} {value:,.1f} s" for name, value in about["seconds"].items())
    print(f"{seconds}; on {about['device']}")
    folder = shlex.quote(str(trained.folder))
    lacking = [word for part, word in trained.PARTS.items() if part not in parts]
    step = (
        f"shiftscope train --model {model} --only {lacking[0]} --from {folder} --data DATA --out DIR"
        if lacking
        else f"shiftscope run --model {model}:{folder} --data DATA --out RUN"
    )
    done = f"wrote {folder}" if trained.new else f"nothing to do: {folder} was trained already"
    print(f"{done}; next: {step}")
