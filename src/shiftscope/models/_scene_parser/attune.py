"""Attuning: a trained parser gets used to the images it will be asked about. No label is looked at.

Its batch norms hold what is usual in the images it learned from; once attuned, what is usual in those before
it. Its weights stay as they are. That mends how things look, textures for one; where it is other things that
are shown it misleads, and the parser, less sure of what it sees, stays as it was.
"""

from __future__ import annotations

import copy
import math

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from .decode import parse

PRIOR = 16  # images that the norms as they were learned count for
TOGETHER = 32  # images looked at together
THERE = 0.5  # what is likelier counts as found
SURER = 0.95  # what must be left of the doubt: less of a difference is chance
AS_MANY = 0.9  # what must be found again: who is surer since much is no longer seen is not attuned


def attuned(module: nn.Module, images: torch.Tensor) -> nn.Module:
    """A parser used to images ([image, height, width, 3] uint8, on its device), if that makes it surer."""
    if not len(images):
        return module
    made = with_averages_of(module, images)
    (doubted, found), (doubts, finds) = doubt(module, images), doubt(made, images)
    return made if doubts < SURER * doubted and finds >= AS_MANY * found else module


def with_averages_of(module: nn.Module, images: torch.Tensor) -> nn.Module:
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


def doubt(module: nn.Module, images: torch.Tensor) -> tuple[float, int]:
    """The mean entropy of what is believed of an object's attributes, and how many objects are found."""
    doubts, found = 0.0, 0
    for some in _batches(images):
        beliefs = parse(module, some)
        there = beliefs.exists > THERE
        entropy = sum(torch.special.entr(chances.float()).sum(-1) for chances in beliefs.attributes)
        doubts += float(entropy[there].sum())
        found += int(there.sum())
    return doubts / found if found else math.inf, found


def _batches(images: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return images.chunk(-(-len(images) // TOGETHER))
