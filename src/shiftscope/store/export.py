"""Export: a dataset in the form another tool reads; one file in `exports/` for each form."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from ..catalog import Catalog
from ..errors import UserError
from ..whole import PARTIAL, writing
from .dataset import Dataset
from .lock import locked_name

EXPORTS = Catalog("export", "shiftscope.store.exports")
Progress = Callable[[int, int, str], None]  # done, of how many, what was counted


def export(folder: Path, to: str, out: Path, *, progress: Progress | None = None) -> Path:
    """Write the dataset in `folder` as `to` into the new folder `out`, which appears when it is whole."""
    module = EXPORTS.load(to)
    dataset = Dataset.open(folder)
    if to != "clevr" and not len(dataset):
        raise UserError(f"{folder}: there are no questions in it; scenes and images alone go --to clevr")
    out = out.absolute()
    if out.is_relative_to(folder.absolute()):
        raise UserError(f"{out} is inside the dataset; choose another folder")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UserError(f"{out} is already there; choose another folder, or delete it")
    partial = out.with_name(f".{out.name}{PARTIAL}")
    with locked_name(out), writing(out):
        if partial.exists():  # left by an export that was killed
            shutil.rmtree(partial)
        try:
            partial.mkdir()
            module.write(dataset, partial, progress or _silent)
            partial.rename(out)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
    return out


def _silent(done: int, total: int, what: str) -> None:
    pass
