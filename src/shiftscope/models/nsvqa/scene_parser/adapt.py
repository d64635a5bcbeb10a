"""Test-time adaptation to unlabelled images: batch-norm statistics, then label-shift (prior) correction.

Re-estimating batch-norm statistics helps where images look different (textures, for one); correcting the
class priors helps where they show different things. Either is kept only if it makes the parser surer.
"""

import copy
import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from ....lang.posterior_calibration import Calibration, Floats, correct_prior, estimate_label_shift
from ....lang.scene_posterior import ScenePosterior, concatenate_posteriors
from .decode import parse
from .network import SceneParser

THERE = 0.5  # what is likelier counts as found
LEAST = 100  # things: of fewer, shares and entropy are chance
MUCH_SURER = 0.9  # of the entropy, what may be left

# Of an attribute: its probabilities [scene, thing, value], shares in training, temperature.
AttributePosterior = tuple[Any, Sequence[float], float]


def correct_priors(
    module: SceneParser, posterior: ScenePosterior, calibration: Calibration
) -> tuple[SceneParser, tuple[str, ...]]:
    """A copy that expects values as often as its posterior of images says, and of what: objects, parts, or neither.

    Its scores are shifted so that calibrated probabilities come out weighed. What a part has from its object is
    read from the object's scores, and shifts with them.
    """
    corrected, calibrated = copy.deepcopy(module), calibration.apply(posterior)
    kept = []
    if calibration.shares:
        objects = zip(calibrated.attributes, calibration.shares, calibration.temperatures, strict=True)
        if _shift_scores(corrected.object.attributes, calibrated.exists, tuple(objects)):
            kept.append("object priors")
    if calibration.part_shares:
        shares, temperatures = calibration.part_shares, calibration.part_temperatures
        names = [a.name for a in module.config.schema.part_attributes]
        own = [names.index(a.name) for a in module.config.own_part_attributes]
        parts = tuple((calibrated.part_attributes[k], shares[k], temperatures[k]) for k in own)
        if _shift_scores(corrected.part.attributes, calibrated.part_exists, parts):
            kept.append("part priors")
    return corrected, tuple(kept)


def _shift_scores(heads: nn.ModuleList, exists: Any, attributes: Sequence[AttributePosterior]) -> bool:
    """Shift the scores of objects, or of parts, attribute by attribute, if that makes much surer of them."""
    there = exists > THERE
    if not attributes or there.sum() < LEAST:
        return False
    weights = exists[there].astype(np.float64)
    before = [chances[there].astype(np.float64) for chances, _, _ in attributes]
    odds = [estimate_label_shift(p, weights, np.array(one[1])) for p, one in zip(before, attributes, strict=True)]
    after = [correct_prior(p, times) for p, times in zip(before, odds, strict=True)]
    if not mean_entropy(after) < MUCH_SURER * mean_entropy(before):
        return False
    with torch.no_grad():
        for head, times, (_, _, temperature) in zip(heads, odds, attributes, strict=True):
            bias = cast(nn.Linear, head).bias
            bias.add_(torch.as_tensor(temperature * np.log(times), dtype=bias.dtype, device=bias.device))
    return True


def mean_entropy(attributes: Sequence[Floats]) -> float:
    """Of probabilities [thing, value], over all attributes, per thing."""
    summed = sum(float(torch.special.entr(torch.from_numpy(chances)).sum()) for chances in attributes)
    return summed / len(attributes[0])


PRIOR = 16  # images that the learned statistics count for
TOGETHER = 32  # images parsed together
SURER = 0.95  # of the entropy, what may be left: less of a difference is chance
AS_MANY = 0.9  # of the objects, what must be found again: a parser that misses them is surer of the rest


def adapt_parser(
    module: SceneParser, images: Tensor, calibration: Calibration, steps: Sequence[str] = ("norm", "prior")
) -> tuple[SceneParser, tuple[str, ...]]:
    """A parser adapted to images [image, height, width, 3] of uint8, and what was kept of these steps."""
    kept: tuple[str, ...] = ()
    if not len(images):
        return module, kept
    found = parse_all(module, images)
    if "norm" in steps:
        other = adapt_normalisation(module, images)
        again = parse_all(other, images)
        (entropy, count), (entropy_now, count_now) = measure_uncertainty(found), measure_uncertainty(again)
        if entropy_now < SURER * entropy and count_now >= AS_MANY * count:
            module, found, kept = other, again, ("norm",)
    if "prior" in steps:
        corrected, priors = correct_priors(module, found, calibration)
        module, kept = corrected if priors else module, (*kept, *priors)
    return module, kept


def adapt_normalisation(module: SceneParser, images: Tensor) -> SceneParser:
    """A copy whose batch norms hold the averages of these images, and a little of those they learned."""
    made = copy.deepcopy(module).eval()
    parts = zip(module.modules(), made.modules(), strict=True)
    norms = [(learned, norm) for learned, norm in parts if isinstance(norm, _BatchNorm)]
    for _, norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # all batches count alike
        norm.train()
    with torch.no_grad():
        for some in _split_batches(images):
            made(some)
        share = PRIOR / (len(images) + PRIOR)
        for learned, norm in norms:
            norm.eval()
            for name in ("running_mean", "running_var"):
                getattr(norm, name).lerp_(getattr(learned, name), share)
    return made


def parse_all(module: SceneParser, images: Tensor) -> ScenePosterior:
    """The scene posterior of images, as NumPy arrays."""
    return concatenate_posteriors([parse(module, some) for some in _split_batches(images)]).to_numpy()


def measure_uncertainty(posterior: ScenePosterior) -> tuple[float, int]:
    """The mean entropy of an object's attributes, and how many objects are found."""
    there = posterior.exists > THERE
    found = int(there.sum())
    return mean_entropy([p[there].astype(float) for p in posterior.attributes]) if found else math.inf, found


def _split_batches(images: Tensor) -> tuple[Tensor, ...]:
    return images.chunk(-(-len(images) // TOGETHER))
