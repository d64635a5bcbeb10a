"""How the layers of a narrow transformer begin that is trained from nothing."""

from __future__ import annotations

import torch
from torch import nn

SPREAD = 0.02  # of new embeddings, which norms scale
BRANCH = 0.4  # what is left of a layer's branches where they begin small; DeepNet's (8 · layers)^(−1/4) is 0.38 of six
BRANCHES = ("value.weight", "intermediate.dense.weight", "output.dense.weight")  # as layers of transformers name them


def draw_weights(part: nn.Module) -> None:
    """Begin with maps that keep the size of what they are given (Glorot and Bengio, 2010).

    BERT's own spread of 0.02 fits its width of 768. In layers of 64 to 256 it leaves next to nothing of what is
    seen at the token that answers, and a training from nothing stays long at what the question alone tells.
    """
    if isinstance(part, nn.Embedding):
        nn.init.normal_(part.weight, std=SPREAD)
    if isinstance(part, nn.Linear):
        nn.init.xavier_uniform_(part.weight)
        if part.bias is not None:
            nn.init.zeros_(part.bias)


def shrink_branches(module: nn.Module) -> None:
    """Let layers begin closer to what they are given: what each adds to it is small (Wang et al., 2022, DeepNet).

    Where a layer norms its sum, half of every sum is else new, and what a region shows is lost among its layers.
    """
    with torch.no_grad():
        for name, weight in module.named_parameters():
            if name.endswith(BRANCHES):
                weight.mul_(BRANCH)


def centre_places(place: nn.Linear) -> None:
    """Let a map of corners from 0 to 1 begin as if they were from −2 to 2.

    A norm behind it would else leave little but what all regions have in common: that they are somewhere.
    """
    with torch.no_grad():
        place.bias.copy_(-2 * place.weight.sum(1))
        place.weight.mul_(4)
