"""How well images are read: what is found is matched with the truth by its box, and compared."""

from __future__ import annotations

import torch
from torch import nn

from ...lang.beliefs import Beliefs
from .boxes import overlap
from .config import Config
from .decode import decode
from .labels import Batch, Labels
from .loss import config_of
from .network import Readings

MATCH = 0.5  # boxes that overlap by as much may show one object
PART_MATCH = 0.3  # of parts: a box of three pixels has no better edges
SURE = 0.5  # what is likelier counts as found

Counts = dict[str, tuple[torch.Tensor, torch.Tensor]]


def measure(module: nn.Module, batch: Batch, config: Config | None = None) -> Counts:
    """How many are right, of how many: name → (right, of), both on the device, to be summed over batches.

    `recall` and `precision` of objects, each attribute among matched ones, `place` (within 0.2 along both
    directions), `exact` (scenes all of whose objects are right), and the same of parts as `part_…`;
    `part_owner` is whether a matched part belongs to what its true owner was matched with.
    """
    config = config or config_of(module)
    with torch.inference_mode():
        readings = module(batch.images)
        return compare(decode(readings, config), readings, batch.labels, config)


def compare(beliefs: Beliefs, readings: Readings, labels: Labels, config: Config) -> Counts:
    """The counts for beliefs about images whose labels are known."""
    there, found = labels.boxes[..., 2] > 0, beliefs.exists > SURE
    match = matched(beliefs.boxes, found, labels.boxes, there, MATCH)  # [image, true object]
    counts = _found(match, there, found)
    right = match >= 0
    for k, attribute in enumerate(config.schema.attributes):
        same = _same(beliefs.attributes[k], match, labels.attributes[..., k])
        known = (match >= 0) & (labels.attributes[..., k] >= 0)
        counts[attribute.name] = ((same & known).sum(), known.sum())
        right = right & (same | (labels.attributes[..., k] < 0))
    places = _pick(readings.places, match)
    known = (match >= 0) & labels.places.isfinite().all(-1)
    near = ((places - labels.places).abs() < 0.2).all(-1)
    counts["place"] = ((near & known).sum(), known.sum())
    exact = (right | ~there).all(1) & (found.sum(1) == there.sum(1))
    counts["exact"] = (exact.sum(), torch.ones_like(exact).sum())
    if config.schema.part_attributes and beliefs.part_exists.shape[1]:
        said = (labels.part_boxes[..., 2] > 0).any()  # of images without parts nothing is said of these
        parts = _parts(beliefs, readings, labels, match, exact, config)
        counts |= {f"part_{name}": (right * said, of * said) for name, (right, of) in parts.items()}
    return counts


def matched(
    boxes: torch.Tensor, found: torch.Tensor, true: torch.Tensor, there: torch.Tensor, least: float
) -> torch.Tensor:
    """[image, true thing] which found thing it was matched with, or −1: the best pairs first, each once."""
    return assign(overlap(true[:, :, None], boxes[:, None]), found, there, least)


def assign(likeness: torch.Tensor, found: torch.Tensor, there: torch.Tensor, least: float) -> torch.Tensor:
    """The greedy matching of [image, true thing, found thing]: again and again the likest pair left."""
    images, things, seats = likeness.shape
    likeness = likeness.masked_fill(~(there[:, :, None] & found[:, None]), -1.0).clone()
    match = torch.full((images, things), -1, dtype=torch.int64, device=likeness.device)
    rows = torch.arange(images, device=likeness.device)
    for _ in range(min(things, seats)):
        best, at = likeness.flatten(1).max(1)
        true, seat = at // seats, at % seats
        match[rows, true] = torch.where(best >= least, seat, match[rows, true])
        likeness[rows, true] = -1.0
        likeness[rows, :, seat] = -1.0
    return match


def _parts(
    beliefs: Beliefs,
    readings: Readings,
    labels: Labels,
    objects: torch.Tensor,
    exact: torch.Tensor,
    config: Config,
) -> Counts:
    there, found = labels.part_boxes[..., 2] > 0, beliefs.part_exists > SURE
    likeness = overlap(labels.part_boxes[:, :, None], readings.part_boxes[:, None])
    if config.split is not None:  # two parts at one place: the one that looks alike
        code = beliefs.part_attributes[config.split].argmax(-1)
        alike = labels.part_attributes[..., config.split][:, :, None] == code[:, None]
        likeness = torch.where(likeness >= PART_MATCH, likeness + alike, likeness)
    match = assign(likeness, found, there, PART_MATCH)
    counts = _found(match, there, found)
    right = match >= 0
    for k, attribute in enumerate(config.schema.part_attributes):
        codes = labels.part_attributes[..., k]
        same, known = _same(beliefs.part_attributes[k], match, codes), (match >= 0) & (codes >= 0)
        counts[attribute.name] = ((same & known).sum(), known.sum())
        right = right & (same | (codes < 0))
    owners = beliefs.part_owner.gather(1, match.clamp(min=0))
    same = objects.gather(1, labels.owners.long().clamp(min=0)) == owners
    counts["owner"] = ((same & (match >= 0)).sum(), (match >= 0).sum())
    right = right & same
    exact = exact & (right | ~there).all(1) & (found.sum(1) == there.sum(1))
    counts["exact"] = (exact.sum(), torch.ones_like(exact).sum())
    return counts


def _found(match: torch.Tensor, there: torch.Tensor, found: torch.Tensor) -> Counts:
    hits = (match >= 0).sum()
    return {"recall": (hits, there.sum()), "precision": (hits, found.sum())}


def _same(belief: torch.Tensor, match: torch.Tensor, codes: torch.Tensor) -> torch.Tensor:
    return belief.argmax(-1).gather(1, match.clamp(min=0)) == codes


def _pick(rows: torch.Tensor, match: torch.Tensor) -> torch.Tensor:
    return rows.gather(1, match.clamp(min=0)[..., None].expand(*match.shape, rows.shape[-1]))
