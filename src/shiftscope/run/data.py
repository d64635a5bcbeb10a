"""Data by name: a folder, or a suite whose default dataset is made once and kept."""

from __future__ import annotations

from pathlib import Path

from ..canonical import content_id
from ..catalog import SUITES
from ..errors import UserError, did_you_mean
from ..store.build import Progress
from ..store.manifest import NAME as MANIFEST
from ..store.shard import Damaged
from .make import make
from .memory import default_folder


def data_folder(name: str, progress: Progress | None = None) -> Path:
    """The folder itself, or the suite's dataset, made in the user's cache if it is not there yet."""
    folder = Path(name)
    refuse_study(folder)
    if folder.exists() or "/" in name:
        return folder
    suites = SUITES.names()
    if name not in suites:
        raise UserError(f"{name}: no such folder, nor a suite of that name{did_you_mean(name, suites)}")
    order = SUITES.load(name).Order()
    target = default_folder() / "data" / f"{name}-{content_id(order.spec())[:12]}"
    try:
        make(name, order, target, progress=progress)
    except Damaged:  # it is ours alone, and whoever asks for it by its name has no --repair to give
        make(name, order, target, repair=True, progress=progress)
    return target


def refuse_study(folder: Path) -> None:
    """Refuse a folder of datasets, such as a study, with the names of those in it."""
    if (folder / MANIFEST).exists() or not folder.is_dir():
        return
    found = sorted(p.parent.name for p in folder.glob(f"*/{MANIFEST}"))
    if found:
        raise UserError(
            f"{folder} holds several datasets; name one of them, as in {folder / found[0]} "
            f"(there are {', '.join(found)})"
        )
