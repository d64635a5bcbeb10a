"""Recipe: how the scene parser is trained."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recipe:
    """For some 20,000 images; with fewer, more epochs make up for it."""

    epochs: int = 20
    batch: int = 128
    lr: float = 3e-3  # the highest, of AdamW
    weight_decay: float = 0.02
    warmup: float = 0.1  # share of all steps
    ema: float = 0.998  # of the weights that are kept; 0 keeps the last ones
    clip: float = 5.0  # largest length of a gradient
    flip: bool = True  # mirror every other image
