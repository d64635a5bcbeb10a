"""Make a CLEVR dataset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._console import json_line, shard_bar
from .._size import read_size

if TYPE_CHECKING:
    from ...store.dataset import Dataset


def command(
    out: Annotated[Path, typer.Option(help="The dataset's folder; an unfinished one is gone on with.")],
    images: Annotated[
        int, typer.Option(min=1, help="How many images, over train, val and test (70/15/15).")
    ] = 1000,
    seed: Annotated[int, typer.Option(help="Another seed makes other data.")] = 0,
    questions: Annotated[int, typer.Option(min=0, help="Questions an image.")] = 10,
    size: Annotated[str, typer.Option(help="Width and height in pixels.")] = "480x320",
    shard: Annotated[int, typer.Option(min=1, help="Images a shard; part of what is made.")] = 250,
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0 for one a core.")] = 0,
    repair: Annotated[bool, typer.Option("--repair", help="Remake shards whose files were damaged.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make a CLEVR dataset: scenes, images, masks, and questions with programs and answers."""
    from ...suites.clevr import Order

    finish("clevr", Order(images, seed, read_size(size), questions, shard), out, workers, repair, as_json)


def finish(suite: str, order: object, out: Path, workers: int, repair: bool, as_json: bool) -> None:
    """Make it, with a bar, and say what is there."""
    from ...run.make import make

    with shard_bar(f"making {suite}") as progress:
        dataset = make(suite, order, out, workers=workers or None, repair=repair, progress=progress)
    counts = {split: dataset.count(split) for split in dataset.splits}
    if as_json:
        splits = {s: {"images": i, "questions": q} for s, (i, q) in counts.items()}
        json_line({"folder": str(out), "shards_made": dataset.made, "splits": splits})
        return
    for split, (pictures, asked) in counts.items():
        print(f"{split:<6} {pictures:>8,} images {asked:>10,} questions")
    print(done(dataset))


def done(dataset: Dataset) -> str:
    """What a command did, which may be nothing."""
    what = f"wrote {dataset.folder}" if dataset.made else f"nothing to do: {dataset.folder} was whole already"
    return f"{what} (README.md there says what is in it)"
