"""Make a CLEVR_HYP dataset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._console import json_line, shard_bar, table
from .._size import read_size
from .clevr import done

if TYPE_CHECKING:
    from ...store.dataset import Dataset


def command(
    out: Annotated[Path, typer.Option(help="The dataset's folder; an unfinished one is gone on with.")],
    images: Annotated[
        int | None,
        typer.Option(
            min=1,
            show_default="7000, as in the paper, or all of --scenes",
            help="How many, over train, val and test (5 : 1 : 1); from 7 on there are all three.",
        ),
    ] = None,
    scenes: Annotated[
        Path | None, typer.Option(help="Suppose actions on these CLEVR scenes instead of new ones.")
    ] = None,
    placements: Annotated[
        int,
        typer.Option(
            min=1,
            help="Where words leave a place open, in so many places taken at random an answer must be the "
            "same; 1 takes one place, as the paper does.",
        ),
    ] = 20,
    no_images: Annotated[
        bool, typer.Option("--no-images", help="Keep the scenes, and draw no pictures of them.")
    ] = False,
    paraphraser: Annotated[
        str, typer.Option(help="A transformers seq2seq model, a folder or a name, that rewords the texts.")
    ] = "",
    seed: Annotated[int, typer.Option(help="Another seed makes other data.")] = 0,
    size: Annotated[str, typer.Option(help="Width and height in pixels.")] = "480x320",
    shard: Annotated[int, typer.Option(min=1, help="Images a shard; part of what is made.")] = 250,
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0 for one a core.")] = 0,
    repair: Annotated[bool, typer.Option("--repair", help="Remake shards whose files were damaged.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make a CLEVR_HYP dataset: scenes, images, actions told in words, and questions about what would be."""
    from ...run.make import make, make_supposed
    from ...suites.clevr_hyp import Order

    count = images or Order().images
    order = Order(count, seed, read_size(size), placements, not no_images, paraphraser, shard)
    with shard_bar("making clevr_hyp") as progress:
        if scenes is None:
            made, left_out = (
                make("clevr_hyp", order, out, workers=workers or None, repair=repair, progress=progress),
                0,
            )
        else:
            made, left_out = make_supposed(
                order, scenes, out, workers=workers or None, repair=repair, progress=progress, most=images
            )
    _tell(made, left_out, as_json)


def _tell(dataset: Dataset, left_out: int, as_json: bool) -> None:
    """The statistics of what was made."""
    from ...suites._hyp_statistics import HEADER, figures, missing, shares

    found = figures(dataset)
    if as_json:
        json_line(
            {
                "folder": str(dataset.folder),
                "shards_made": dataset.made,
                "scenes_left_out": left_out,
                "splits": {f.split: f.to_json() for f in found},
            }
        )
        return
    table(HEADER, [f.row() for f in found], "statistics, as in the paper's Table 2")
    for title, name in (("actions", "kinds"), ("question types", "types"), ("answers", "answers")):
        print(f"\ndistribution of {title}")
        for f in found:
            print(f"  {f.split:<18} {shares(getattr(f, name))}")
    for line in missing(found):
        print(line)
    if left_out:
        print(f"\n{left_out:,} scenes do not have 4 to 10 objects and were left out")
    print(f"\n{done(dataset)}")
