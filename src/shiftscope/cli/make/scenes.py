"""Make scenes and their images, without questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    out: Annotated[Path, typer.Option(help="The dataset's folder; an unfinished one is resumed.")],
    world: Annotated[str, typer.Option(help="Which world to sample from (shiftscope list worlds).")] = "clevr",
    n: Annotated[int, typer.Option("-n", min=1, help="How many scenes, over train, val and test.")] = 1000,
    seed: Annotated[int, typer.Option(help="Another seed makes other scenes.")] = 0,
    size: Annotated[str, typer.Option(help="Width and height in pixels.")] = "480x320",
    shard: Annotated[int, typer.Option(min=1, help="Images per shard; part of the spec.")] = 250,
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0 for one per core.")] = 0,
    repair: Annotated[bool, typer.Option("--repair", help="Remake shards whose files were damaged.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make scenes with images and masks alone."""
    from ...geometry.camera import read_size
    from ...suites import describe_splits, load_world_suite
    from .._console import shard_bar
    from . import print_report

    suite = load_world_suite(world)
    none = dict.fromkeys(suite.spec.question_fields, 0)
    spec = suite.spec(images=n, seed=seed, size=read_size(size), shard=shard, **none)
    made = suite.make(spec, out, workers=workers or None, repair=repair, bar=shard_bar)
    print_report(describe_splits(made.dataset), as_json)
