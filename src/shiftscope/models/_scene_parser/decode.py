"""From readings to Beliefs: what may be there, and what it may be."""

from __future__ import annotations

import torch
from torch import nn

from ...lang.beliefs import Beliefs
from .boxes import inside
from .config import Config
from .loss import config_of
from .network import FINE, Readings, repeated

BESIDE = 2.0  # cells within which two parts of one object and one name are one part, found twice


def parse(module: nn.Module, images: torch.Tensor) -> Beliefs:
    """What a trained module, in eval mode, believes of images [image, height, width, 3] of uint8."""
    with torch.inference_mode():
        return decode(module(images), config_of(module))


def decode(readings: Readings, config: Config) -> Beliefs:
    """Beliefs of images that were read at their peaks; rows that stand for nothing have `exists` 0.

    A part belongs to the object that it points to; what follows the object, as size does, is the object's.
    """
    assert readings.scores is not None and readings.part_scores is not None, "read at seats, not at peaks"
    exists = _sure(readings.scores, config.least)
    attributes = tuple(scores.softmax(-1) for scores in readings.attributes)
    owners = readings.seats.owners
    part_scores = readings.part_scores.masked_fill(exists.gather(1, owners) == 0, -torch.inf)
    part_scores = part_scores.masked_fill(repeated(_same_part(readings, config)), -torch.inf)
    own = dict(zip((a.name for a in config.own), readings.part_attributes, strict=True))
    names = [a.name for a in config.schema.attributes]
    part_attributes = tuple(
        own[a.name].softmax(-1) if a.name in own else _rows(attributes[names.index(a.name)], owners)
        for a in config.schema.part_attributes
    )
    return Beliefs(
        schema=config.schema,
        size=readings.size,
        exists=exists,
        attributes=attributes,
        boxes=inside(readings.boxes, readings.size),
        part_exists=_sure(part_scores, config.least),
        part_owner=owners,
        part_attributes=part_attributes,
        places=readings.places,
    )


def _sure(scores: torch.Tensor, least: float) -> torch.Tensor:
    chance = torch.sigmoid(scores)
    return torch.where(chance > least, chance, 0.0)


def _rows(belief: torch.Tensor, owners: torch.Tensor) -> torch.Tensor:
    return belief.gather(1, owners[..., None].expand(*owners.shape, belief.shape[-1]))


def _same_part(readings: Readings, config: Config) -> torch.Tensor:
    """[image, part, part] whether two parts lie at one place, of one object, under one name."""
    points, owners = readings.seats.part_points, readings.seats.owners
    away = (points[:, :, None] - points[:, None]).abs().amax(-1)
    alike = (away < BESIDE * FINE) & (owners[:, :, None] == owners[:, None])
    names = [a.name for a in config.own]
    if "name" in names:
        name = readings.part_attributes[names.index("name")].argmax(-1)
        alike = alike & (name[:, :, None] == name[:, None])
    return alike
