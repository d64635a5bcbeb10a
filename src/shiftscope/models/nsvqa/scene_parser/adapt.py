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


def correct_priors(module: SceneParser, posterior: ScenePosterior, calibration: Calibration) -> SceneParser:
    """A copy that expects values as often as its posterior of images says; of objects, then of parts.

    Its scores are shifted so that calibrated probabilities come out weighed. What a part has from its object is
    read from the object's scores, and shifts with them.
    """
    corrected, calibrated = copy.deepcopy(module), calibration.apply(posterior)
    if calibration.shares:
        objects = zip(calibrated.attributes, calibration.shares, calibration.temperatures, strict=True)
        _shift_scores(corrected.object.attributes, calibrated.exists, tuple(objects))
    if calibration.part_shares:
        shares, temperatures = calibration.part_shares, calibration.part_temperatures
        names = [a.name for a in module.config.schema.part_attributes]
        own = [names.index(a.name) for a in module.config.own_part_attributes]
        parts = tuple((calibrated.part_attributes[k], shares[k], temperatures[k]) for k in own)
        _shift_scores(corrected.part.attributes, calibrated.part_exists, parts)
    return corrected


def _shift_scores(heads: nn.ModuleList, exists: Any, attributes: Sequence[AttributePosterior]) -> None:
    """Shift the scores of objects, or of parts, attribute by attribute, if that makes much surer of them."""
    there = exists > THERE
    if not attributes or there.sum() < LEAST:
        return
    weights = exists[there].astype(np.float64)
    before = [chances[there].astype(np.float64) for chances, _, _ in attributes]
    odds = [estimate_label_shift(p, weights, np.array(one[1])) for p, one in zip(before, attributes, strict=True)]
    after = [correct_prior(p, times) for p, times in zip(before, odds, strict=True)]
    if not mean_entropy(after) < MUCH_SURER * mean_entropy(before):
        return
    with torch.no_grad():
        for head, times, (_, _, temperature) in zip(heads, odds, attributes, strict=True):
            bias = cast(nn.Linear, head).bias
            bias.add_(torch.as_tensor(temperature * np.log(times), dtype=bias.dtype, device=bias.device))


def mean_entropy(attributes: Sequence[Floats]) -> float:
    """Of probabilities [thing, value], over all attributes, per thing."""
    summed = sum(float(torch.special.entr(torch.from_numpy(chances)).sum()) for chances in attributes)
    return summed / len(attributes[0])


PRIOR = 16  # images that the learned statistics count for
TOGETHER = 32  # images parsed together
SURER = 0.95  # of the entropy, what may be left: less of a difference is chance
AS_MANY = 0.9  # of the objects, what must be found again: a parser that misses them is surer of the rest


def adapt_parser(
    module: SceneParser, images: Tensor, calibration: Calibration, kind: str = "normalisation+label_shift"
) -> tuple[SceneParser, bool]:
    """A parser adapted to images [image, height, width, 3] of uint8, and whether its batch-norm statistics are.

    `kind` names what is adapted; priors are corrected where that helps.
    """
    if not len(images):
        return module, False
    kinds = kind.split("+")
    found, adapted = parse_all(module, images), False
    if "normalisation" in kinds:
        other = adapt_normalisation(module, images)
        again = parse_all(other, images)
        (entropy, count), (entropy_now, count_now) = measure_uncertainty(found), measure_uncertainty(again)
        if entropy_now < SURER * entropy and count_now >= AS_MANY * count:
            module, found, adapted = other, again, True
    if "label_shift" in kinds:
        module = correct_priors(module, found, calibration)
    return module, adapted


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
