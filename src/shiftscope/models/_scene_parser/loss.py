"""What the scene parser is to make small: errors of maps, boxes, places and attributes, summed."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from .boxes import centres, overlap
from .config import Config
from .labels import Batch
from .network import COARSE, FINE, POINTED, Readings
from .targets import Targets, seats_of, targets_of

WEIGHTS = {"heat": 1.0, "part_heat": 1.0, "box": 1.0, "part_box": 0.5, "place": 1.0, "owner": 1.0}
ATTRIBUTES, PART_ATTRIBUTES = 2.0, 0.5  # nearly every question is about objects


def loss(
    module: nn.Module, batch: Batch, config: Config | None = None
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """The weighted sum, and each error by name: maps, boxes, places, `color`, …, `part_color`, ….

    The config is the module's own, unless it is wrapped and can not be asked.
    """
    config = config or config_of(module)
    size = (batch.images.shape[2], batch.images.shape[1])
    targets = targets_of(batch.labels, config, size)
    readings = module(batch.images, seats_of(batch.labels))
    with torch.autocast(batch.images.device.type, enabled=False):
        return errors_of(readings, batch, targets, config)


def errors_of(
    readings: Readings, batch: Batch, targets: Targets, config: Config
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """How far readings at the labels' seats lie from the labels."""
    labels, there, parts_there = batch.labels, targets.there, targets.parts_there
    errors = {
        "heat": focal(readings.heat, targets.heat, there),
        "box": box_error(readings.boxes, labels.boxes, there, COARSE),
        "place": place_error(readings.places, labels.places, there),
    }
    for k, attribute in enumerate(config.schema.attributes):
        errors[attribute.name] = _choice(readings.attributes[k], labels.attributes[..., k])
    if config.schema.part_attributes:
        errors["part_heat"] = focal(readings.part_heat, targets.part_heat, parts_there)
        errors["part_box"] = box_error(readings.part_boxes, labels.part_boxes, parts_there, FINE)
        errors["owner"] = owner_error(readings.pointed, labels.boxes, labels.owners, parts_there)
        names = [a.name for a in config.schema.part_attributes]
        for attribute, scores in zip(config.own, readings.part_attributes, strict=True):
            codes = labels.part_attributes[..., names.index(attribute.name)]
            errors[f"part_{attribute.name}"] = _choice(scores, codes)
    return torch.stack([_weight(name) * error for name, error in errors.items()]).sum(), errors


def weights() -> dict[str, float]:
    """How much each error counts; training with others makes another parser."""
    return {**WEIGHTS, "attributes": ATTRIBUTES, "part_attributes": PART_ATTRIBUTES}


def _weight(name: str) -> float:
    return WEIGHTS.get(name, PART_ATTRIBUTES if name.startswith("part_") else ATTRIBUTES)


def focal(scores: torch.Tensor, wanted: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of a map, where what is nearly right counts little, for each thing that is there.

    A cell near a middle is wrong the less, the nearer it lies.
    """
    sure, unsure = F.logsigmoid(scores), F.logsigmoid(-scores)
    chance = torch.sigmoid(scores)
    peak = wanted == 1
    hit = (1 - chance).square() * sure
    miss = chance.square() * unsure * (1 - wanted).pow(4)
    return -torch.where(peak, hit, miss).sum() / there.sum().clamp(min=1)


def box_error(boxes: torch.Tensor, true: torch.Tensor, there: torch.Tensor, stride: int) -> torch.Tensor:
    """How little boxes overlap, how many cells their middles lie off, and how far their sides differ."""
    middle = (centres(boxes) - centres(true)).abs().sum(-1) / stride
    sides = (boxes[..., 2:].log() - true[..., 2:].clamp(min=1).log()).abs().sum(-1)
    return _mean(1 - overlap(boxes, true, general=True) + 0.5 * middle + 0.5 * sides, there)


def place_error(places: torch.Tensor, true: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
    """World units off, along both directions; objects whose place is not known do not count."""
    known = there & true.isfinite().all(-1)
    off = (places - true.nan_to_num()).abs().sum(-1)
    return _mean(off, known)


def owner_error(
    pointed: torch.Tensor, boxes: torch.Tensor, owners: torch.Tensor, there: torch.Tensor
) -> torch.Tensor:
    """How far a part points beside the middle of its object."""
    if not owners.shape[1]:
        return pointed.sum()
    rows = owners.long().clamp(min=0)[..., None].expand(*owners.shape, 2)
    off = (pointed - centres(boxes).gather(1, rows)).abs().sum(-1) / POINTED
    return _mean(off, there)


def _choice(scores: torch.Tensor, codes: torch.Tensor) -> torch.Tensor:
    known = codes >= 0
    rows = F.cross_entropy(scores.flatten(0, 1), codes.long().clamp(min=0).flatten(), reduction="none")
    return _mean(rows, known.flatten())


def _mean(values: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
    """Over what is there; 0 where nothing is."""
    return torch.where(there, values, 0.0).sum() / there.sum().clamp(min=1)


def config_of(module: nn.Module) -> Config:
    """What a module was built from."""
    inner = getattr(module, "module", module)  # a module that is trained on several devices is wrapped
    config = inner.config
    assert isinstance(config, Config)
    return config
