"""Pace: how fast whole tests were answered, and how long a row's training took, from what records say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .cell import Cell, Training


class Pace(NamedTuple):
    """Images seen, questions read and programs run a second; and questions through all three in turn."""

    seen: float
    read: float
    run: float
    answered: float


def pace(cells: Iterable[Cell]) -> Pace | None:
    """The median over cells, start-up and compilation included; None where no cell tells."""
    found = [one for cell in cells if (one := _pace(cell))]
    return Pace(*np.median(np.array(found), axis=0).tolist()) if found else None


def _pace(cell: Cell) -> Pace | None:
    took = dict(cell.seconds)
    asked = sum(outcome.asked for _, outcome in cell.outcomes)
    see, read, run = (took.get(stage, 0.0) for stage in ("see", "read", "execute"))
    if not (see and read and run):
        return None
    return Pace(cell.origin.scale.tested / see, asked / read, asked / run, asked / (see + read + run))


def training_seconds(one: Training) -> float | None:
    """Both parsers with their data, as if nothing ran side by side; None where the record does not tell."""
    took = dict(one.seconds)
    scenes, questions = took.get("scenes, all"), took.get("questions, all")
    return None if scenes is None or questions is None else scenes + questions
