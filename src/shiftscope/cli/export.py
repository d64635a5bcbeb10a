"""Convert a dataset to another tool's form."""

from pathlib import Path
from typing import Annotated

import typer

from . import _console as shared
from ._console import print_json, shard_bar


def command(
    folder: Annotated[Path, typer.Argument(help="A dataset made by shiftscope make.")],
    to: Annotated[str, typer.Option(help="clevr, coco, covr, covr_compositional, hf, mdetr or webdataset.")],
    out: Annotated[Path | None, typer.Option(help="New folder; FOLDER-FORM by default.")] = None,
    as_json: shared.AsJson = False,
) -> None:
    """Convert a dataset: clevr and covr (official files), coco (boxes and masks of objects and parts), hf (flat
    Parquet), mdetr (questions with their grounding), webdataset (tar shards)."""
    from ..store.exports import export_dataset

    target = out or folder.with_name(f"{folder.absolute().name}-{to}")
    with shard_bar(f"exporting to {to}") as progress:
        made = export_dataset(folder, to, target, progress=progress)
    if as_json:
        print_json({"folder": str(made), "form": to})
    else:
        print(f"wrote {made}")
