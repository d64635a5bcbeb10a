"""Make scenes and their images, without questions."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .._size import read_size
from .clevr import finish


class World(StrEnum):
    CLEVR = "clevr"
    SUPERCLEVR = "superclevr"


def command(
    out: Annotated[Path, typer.Option(help="The dataset's folder; an unfinished one is gone on with.")],
    world: Annotated[World, typer.Option(help="Which world to sample from.")] = World.CLEVR,
    n: Annotated[int, typer.Option("-n", min=1, help="How many scenes, over train, val and test.")] = 1000,
    seed: Annotated[int, typer.Option(help="Another seed makes other scenes.")] = 0,
    size: Annotated[str, typer.Option(help="Width and height in pixels.")] = "480x320",
    shard: Annotated[int, typer.Option(min=1, help="Images a shard; part of what is made.")] = 250,
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0 for one a core.")] = 0,
    repair: Annotated[bool, typer.Option("--repair", help="Remake shards whose files were damaged.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Make scenes with images and masks alone."""
    order: object
    if world is World.CLEVR:
        from ...suites.clevr import Order

        order = Order(n, seed, read_size(size), 0, shard)
    else:
        from ...suites import superclevr

        order = superclevr.Order(
            images=n, seed=seed, size=read_size(size), questions=0, part_questions=0, shard=shard
        )
    finish(world.value, order, out, workers, repair, as_json)
