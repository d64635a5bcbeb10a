"""Attuning: a trained parser gets used to the images it will be asked about. No label is looked at.

To how they look, first. Its batch norms hold what is usual in the images it learned from; once attuned, what
is usual in those before it. That mends textures, for one; where it is other things that are shown it
misleads, and the parser, less sure of what it sees, sees as it did. Then to what they show (expect.py).
"""

from __future__ import annotations

import copy
import math
from typing import NamedTuple

import torch
from torch.nn.modules.batchnorm import _BatchNorm

from ...lang.beliefs import Beliefs, joined
from ...lang.calibration import Calibration
from .decode import parse
from .expect import THERE, entropy, expecting
from .network import SceneParser

PRIOR = 16  # images that the norms as they were learned count for
TOGETHER = 32  # images looked at together
SURER = 0.95  # what may be left of the doubt: less of a difference is chance
AS_MANY = 0.9  # what must be found again: who is surer since much is no longer seen is not attuned


class Attuned(NamedTuple):
    """A parser used to images, and whether to their look: to what they show it is by itself."""

    module: SceneParser
    look: bool


def attuned(module: SceneParser, images: torch.Tensor, calibration: Calibration) -> Attuned:
    """A parser used to images [image, height, width, 3] of uint8, on its device."""
    if not len(images):
        return Attuned(module, False)
    made = with_averages_of(module, images)
    before, after = seen(module, images), seen(made, images)
    (doubted, found), (doubts, finds) = doubt(before), doubt(after)
    if doubts < SURER * doubted and finds >= AS_MANY * found:
        return Attuned(expecting(made, after, calibration), True)
    return Attuned(expecting(module, before, calibration), False)


def with_averages_of(module: SceneParser, images: torch.Tensor) -> SceneParser:
    """A copy whose batch norms hold the averages of these images, and a little of those they learned."""
    made = copy.deepcopy(module).eval()
    parts = zip(module.modules(), made.modules(), strict=True)
    norms = [(learned, norm) for learned, norm in parts if isinstance(norm, _BatchNorm)]
    for _, norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # all batches count alike
        norm.train()
    with torch.no_grad():
        for some in _batches(images):
            made(some)
        share = PRIOR / (len(images) + PRIOR)
        for learned, norm in norms:
            norm.eval()
            for name in ("running_mean", "running_var"):
                getattr(norm, name).lerp_(getattr(learned, name), share)
    return made


def seen(module: SceneParser, images: torch.Tensor) -> Beliefs:
    """What a parser believes of images, as NumPy arrays."""
    return joined([parse(module, some) for some in _batches(images)]).numpy()


def doubt(beliefs: Beliefs) -> tuple[float, int]:
    """The mean entropy of what is believed of an object's attributes, and how many objects are found."""
    there = beliefs.exists > THERE
    found = int(there.sum())
    return entropy([p[there].astype(float) for p in beliefs.attributes]) if found else math.inf, found


def _batches(images: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return images.chunk(-(-len(images) // TOGETHER))
