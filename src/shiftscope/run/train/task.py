"""Task: what the loop is given to train: a module, its loss and its measure, and examples by number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import torch
    from torch import nn

Rows = npt.NDArray[np.int64]
Counts = Mapping[str, tuple[Any, Any]]  # name → how many are right, of how many; numbers or tensors of one


class Examples(Protocol):
    """Examples that are made into a batch by their numbers; the batch lies on the device."""

    def __len__(self) -> int: ...

    def epoch(self, batch: int, random: np.random.Generator) -> Sequence[Rows]:
        """The rows of each batch of an epoch, in random order: as many whole batches as there are."""
        ...

    def batch(self, rows: torch.Tensor) -> Any: ...


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a module is trained: AdamW, a rate that rises and then falls as a cosine, averaged weights."""

    epochs: int
    batch: int  # over all devices
    lr: float  # at its highest
    weight_decay: float = 0.05  # not of biases and norms
    warmup: float = 0.05  # share of the steps in which the rate rises
    ema: float = 0.998  # what a step leaves of the moving average of the weights
    clip: float = 5.0  # longest gradient

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """A module to train; `better` makes of validation counts the one figure that epochs are chosen by."""

    name: str
    module: nn.Module
    loss: Callable[[Any, Any], tuple[torch.Tensor, Mapping[str, torch.Tensor]]]  # of module and batch
    measure: Callable[[Any, Any], Counts]
    better: Callable[[Mapping[str, float]], float]  # of the shares that are right
    train: Examples
    val: Examples
    recipe: Recipe
    check: int = 1000  # of the validation examples, by which an epoch is judged
    measured: int | None = None  # examples measured at once; else as many as a batch has


def shares(counts: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """What share is right, where there is any."""
    return {name: right / of for name, (right, of) in counts.items() if of}


def shuffled(size: int, batch: int, random: np.random.Generator) -> list[Rows]:
    """An epoch whose batches are drawn from all examples alike."""
    rows = random.permutation(size)[: size - size % batch]
    return list(rows.reshape(-1, batch))
