"""How a question parser is trained, where nothing else is asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]
SHELF = 32  # batches that are sorted by length together


@dataclass(frozen=True, slots=True)
class Recipe:
    """AdamW on a one-cycle schedule; gradients are clipped."""

    epochs: int = 4
    batch: int = 1024
    rate: float = 4e-3  # at its highest
    warm_up: float = 0.1  # share of the steps in which the rate rises
    decay: float = 0.01
    clip: float = 1.0  # of the gradient's norm


def batches(lengths: npt.NDArray[np.integer], recipe: Recipe, random: np.random.Generator) -> list[Rows]:
    """One epoch: the rows of each batch, in random order, texts of like length together.

    The rows that do not fill a batch are left out, as others are in the next epoch.
    """
    size = min(recipe.batch, len(lengths))
    order = random.permutation(len(lengths))
    found: list[Rows] = []
    for start in range(0, len(order), size * SHELF):
        shelf = order[start : start + size * SHELF]
        shelf = shelf[np.argsort(lengths[shelf], kind="stable")]
        whole = len(shelf) - len(shelf) % size
        found += np.split(shelf[:whole], whole // size) if whole else []
    return [found[i] for i in random.permutation(len(found))]
