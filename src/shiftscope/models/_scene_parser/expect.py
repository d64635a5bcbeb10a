"""Expecting: a trained parser gets used to what the images before it show. No label is looked at.

What it believes rests on how often it met each value, and is weighed by how much likelier each seems here.
That helps where other things are shown; where they only look otherwise, what is misread would be taken for
other things. The parser tells the two apart: it gets much surer in the first case, else it stays as it was.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import torch
from torch import nn

from ...lang.beliefs import Beliefs
from ...lang.calibration import Calibration
from ...lang.shares import Floats, odds_among, weighed
from .network import SceneParser

THERE = 0.5  # what is likelier counts as found
LEAST = 100  # things: of fewer, shares and doubt are chance
MUCH_SURER = 0.9  # what may be left of the doubt

Told = tuple[Any, Sequence[float], float]  # an attribute's chances [scene, thing, value], shares, temperature


def expecting(module: SceneParser, beliefs: Beliefs, calibration: Calibration) -> SceneParser:
    """A copy that expects values as often as what it believes of images says; of objects, then of parts.

    Its scores are shifted so that calibrated beliefs come out weighed. What a part has from its object is
    read from the object's scores, and shifts with them.
    """
    made, believed = copy.deepcopy(module), calibration.apply(beliefs)
    if calibration.shares:
        listed = zip(believed.attributes, calibration.shares, calibration.temperatures, strict=True)
        _shift(made.object.attributes, believed.exists, tuple(listed))
    if calibration.part_shares:
        shares, temperatures = calibration.part_shares, calibration.part_temperatures
        names = [a.name for a in module.config.schema.part_attributes]
        own = [names.index(a.name) for a in module.config.own]
        told = tuple((believed.part_attributes[k], shares[k], temperatures[k]) for k in own)
        _shift(made.part.attributes, believed.part_exists, told)
    return made


def _shift(heads: nn.ModuleList, exists: Any, told: Sequence[Told]) -> None:
    """Shift the scores of things of one sort, attribute by attribute, if that makes much surer of them."""
    there = exists > THERE
    if not told or there.sum() < LEAST:
        return
    weights = exists[there].astype(np.float64)
    before = [chances[there].astype(np.float64) for chances, _, _ in told]
    odds = [odds_among(p, weights, np.array(one[1])) for p, one in zip(before, told, strict=True)]
    after = [weighed(p, times) for p, times in zip(before, odds, strict=True)]
    if not entropy(after) < MUCH_SURER * entropy(before):
        return
    with torch.no_grad():
        for head, times, (_, _, temperature) in zip(heads, odds, told, strict=True):
            bias = cast(nn.Linear, head).bias
            bias.add_(torch.as_tensor(temperature * np.log(times), dtype=bias.dtype, device=bias.device))


def entropy(attributes: Sequence[Floats]) -> float:
    """Of beliefs [thing, value], over all attributes, a thing."""
    summed = sum(float(torch.special.entr(torch.from_numpy(chances)).sum()) for chances in attributes)
    return summed / len(attributes[0])
