"""Make the sheets of one world or of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from ...errors import unknown
from ...store.lock import locked
from ...whole import write_whole
from .sheet import encoded

WORLDS = ("clevr", "superclevr")


def gallery(out: Path, seed: int = 0, worlds: Sequence[str] = WORLDS) -> list[Path]:
    """Write the sheets into `out`: those that the file named after each world lists."""
    for world in worlds:
        if world not in WORLDS:
            raise unknown("world", world, WORLDS)
    written = []
    with locked(out):
        for world in worlds:
            for name, sheet in import_module(f".{world}", __package__).sheets(seed).items():
                write_whole(out / name, encoded(sheet))
                written.append(out / name)
    return written
