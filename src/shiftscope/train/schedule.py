"""Schedule: the learning rate of each step, and when a training is over.

Without patience the rate falls as half a cosine over all epochs; with a tail it then stays low until the last quarter
of the epochs has brought nothing. With patience the rate stays at its highest until validation is flat, falls, and
stays low until the last quarter has brought nothing. Then the training is over. All depend on the recipe, the step and
the figures of the epochs before, so that a training that was stopped goes on as one that was not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..trainable import TrainRecipe

FLAT = 0.003  # a rise of the validation figure below this is none: 0.3 points
FLOOR = 0.02  # share of the highest rate that is left once it has fallen
SHORTEST = 2  # epochs in which it falls, at least; else a quarter of those before


def scale_rate(recipe: TrainRecipe, step: int, steps: int, figures: Sequence[float]) -> float:
    """The rate at a step, as a share of the highest; an epoch has so many steps, those that are done have figures."""
    if not recipe.patience:
        whole = steps * recipe.epochs
        fallen = scale_learning_rate(min(step, whole), whole, recipe.warmup)
        return max(fallen, FLOOR) if recipe.tail and step >= whole * recipe.warmup else fallen
    rising = max(1, round(recipe.warmup * steps * recipe.epochs))
    first, last = find_fall(recipe, figures)
    fallen = min(1.0, max(0.0, (step / steps - first) / (last - first)))
    return min(1.0, (step + 1) / rising) * (1 - (1 - FLOOR) * fallen)


def find_fall(recipe: TrainRecipe, figures: Sequence[float]) -> tuple[int, int]:
    """How many epochs are over when the rate begins to fall, and when it has fallen, as far as is known by now."""
    fifth = recipe.epochs // 5  # flat before this, it may only not have begun to learn
    latest, earliest = max(0, recipe.epochs - max(SHORTEST, fifth)), max(recipe.patience + 1, fifth)
    flat = (n for n in range(earliest, len(figures) + 1) if _is_flat(figures[:n], recipe.patience))
    first = min(latest, next(flat, latest))
    return first, min(recipe.epochs, first + max(SHORTEST, first // 4))


def is_over(recipe: TrainRecipe, figures: Sequence[float]) -> bool:
    """Whether there is no further epoch."""
    if len(figures) >= recipe.epochs:
        return len(figures) >= recipe.epochs + recipe.tail or compute_rise(figures) < FLAT
    return bool(recipe.patience) and len(figures) >= find_fall(recipe, figures)[1] and compute_rise(figures) < FLAT


def compute_rise(figures: Sequence[float]) -> float:
    """By how much the best figure rose over the last quarter of the epochs."""
    before = figures[: len(figures) * 3 // 4]
    return max(figures) - max(before, default=0.0)


def scale_learning_rate(step: int, steps: int, warmup: float) -> float:
    """The learning rate at a step as a share of the highest: up in a line, down as half a cosine."""
    rising = max(1, round(warmup * steps))
    if step < rising:
        return (step + 1) / rising
    return 0.5 * (1 + math.cos(math.pi * (step - rising) / max(1, steps - rising)))


def _is_flat(figures: Sequence[float], patience: int) -> bool:
    return max(figures) - max(figures[:-patience]) < FLAT
