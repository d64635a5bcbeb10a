"""Decoding: from the network's output to a scene posterior, and how well that matches labelled images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from ....lang.scene_posterior import ScenePosterior, concatenate_posteriors
from ....picture import Picture, stack
from ....scene import Scene
from ....schema import Attribute
from ..labels import SceneLabels, label_scenes
from .config import SceneParserConfig
from .loss import SceneParserBatch, get_config
from .network import FINE, SceneParserOutput, box_iou, clip_boxes, gather_rows, is_repeated

if TYPE_CHECKING:
    from ..neuro_symbolic import NsvqaParsers

BESIDE = 2.0  # cells within which two parts of one object and one name are one part, found twice


def parse(module: nn.Module, images: Tensor) -> ScenePosterior:
    """The scene posterior that a trained module, in eval mode, gives images [image, height, width, 3] of uint8."""
    with torch.inference_mode():
        return decode_posterior(module(images), get_config(module))


def decode_posterior(readings: SceneParserOutput, config: SceneParserConfig) -> ScenePosterior:
    """The posterior of images that were read at their peaks; rows that stand for nothing have `exists` 0.

    A part belongs to the object that it points to; what follows the object, as size does, is the object's.
    """
    assert readings.scores is not None and readings.part_scores is not None, "read at seats, not at peaks"
    exists = _threshold_existence(readings.scores, config.least)
    attributes = tuple(scores.softmax(-1) for scores in readings.attributes)
    owners = readings.seats.owners
    part_scores = readings.part_scores.masked_fill(exists.gather(1, owners) == 0, -torch.inf)
    part_scores = part_scores.masked_fill(is_repeated(_is_same_part(readings, config)), -torch.inf)
    own = dict(zip((a.name for a in config.own_part_attributes), readings.part_attributes, strict=True))
    names = [a.name for a in config.schema.attributes]
    part_attributes = tuple(
        own[a.name].softmax(-1) if a.name in own else gather_rows(attributes[names.index(a.name)], owners)
        for a in config.schema.part_attributes
    )
    return ScenePosterior(
        schema=config.schema,
        size=readings.size,
        exists=exists,
        attributes=attributes,
        boxes=clip_boxes(readings.boxes, readings.size),
        part_exists=_threshold_existence(part_scores, config.least),
        part_owner=owners,
        part_attributes=part_attributes,
        places=readings.places,
    )


def _threshold_existence(scores: Tensor, least: float) -> Tensor:
    chance = torch.sigmoid(scores)
    return torch.where(chance > least, chance, 0.0)


def _is_same_part(readings: SceneParserOutput, config: SceneParserConfig) -> Tensor:
    """[image, part, part] whether two parts lie at one place, of one object, under one name."""
    points, owners = readings.seats.part_points, readings.seats.owners
    away = (points[:, :, None] - points[:, None]).abs().amax(-1)
    alike = (away < BESIDE * FINE) & (owners[:, :, None] == owners[:, None])
    names = [a.name for a in config.own_part_attributes]
    if "name" in names:
        name = readings.part_attributes[names.index("name")].argmax(-1)
        alike = alike & (name[:, :, None] == name[:, None])
    return alike


MATCH = 0.5  # boxes that overlap by as much may show one object
PART_MATCH = 0.3  # of parts: a box of three pixels has no better edges
SURE = 0.5  # what is likelier counts as found

Counts = dict[str, tuple[Tensor, Tensor]]


def measure(module: nn.Module, batch: SceneParserBatch) -> Counts:
    """How many are right, of how many: name → (right, of), both on the device, to be summed over batches.

    `recall` and `precision` of objects, each attribute among matched ones, `place` (within 0.2 along both
    directions), `exact` (scenes all of whose objects are right), and the same of parts as `part_…`;
    `part_owner` is whether a matched part belongs to what its true owner was matched with.
    """
    config = get_config(module)
    with torch.inference_mode():
        readings = module(batch.images)
        return compare_posterior(decode_posterior(readings, config), readings, batch.labels, config)


def compare_posterior(
    posterior: ScenePosterior, readings: SceneParserOutput, labels: SceneLabels, config: SceneParserConfig
) -> Counts:
    """The counts for the posterior of images whose labels are known."""
    there, found = labels.boxes[..., 2] > 0, posterior.exists > SURE
    match = match_boxes(posterior.boxes, found, labels.boxes, there, MATCH)  # [image, true object]
    of_objects = config.schema.attributes, posterior.attributes, labels.attributes
    counts, right = _compare_things(match, there, found, *of_objects)
    places = gather_rows(readings.places, match.clamp(min=0))
    known = (match >= 0) & labels.places.isfinite().all(-1)
    near = ((places - labels.places).abs() < 0.2).all(-1)
    counts["place"] = ((near & known).sum(), known.sum())
    exact = (right | ~there).all(1) & (found.sum(1) == there.sum(1))
    counts["exact"] = (exact.sum(), torch.ones_like(exact).sum())
    if config.schema.part_attributes and posterior.part_exists.shape[1]:
        any_parts = (labels.part_boxes[..., 2] > 0).any()  # images without parts do not count here
        parts = _measure_parts(posterior, readings, labels, match, exact, config)
        counts |= {f"part_{name}": (right * any_parts, of * any_parts) for name, (right, of) in parts.items()}
    return counts


def match_boxes(boxes: Tensor, found: Tensor, true: Tensor, there: Tensor, least: float) -> Tensor:
    """[image, true thing] which found thing it was matched with, or −1: the best pairs first, each once."""
    return assign_greedily(box_iou(true[:, :, None], boxes[:, None]), found, there, least)


def assign_greedily(likeness: Tensor, found: Tensor, there: Tensor, least: float) -> Tensor:
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


def _measure_parts(
    posterior: ScenePosterior,
    readings: SceneParserOutput,
    labels: SceneLabels,
    objects: Tensor,
    exact: Tensor,
    config: SceneParserConfig,
) -> Counts:
    there, found = labels.part_boxes[..., 2] > 0, posterior.part_exists > SURE
    likeness = box_iou(labels.part_boxes[:, :, None], readings.part_boxes[:, None])
    if config.split_attribute is not None:  # two parts at one place: the one that looks alike
        code = posterior.part_attributes[config.split_attribute].argmax(-1)
        alike = labels.part_attributes[..., config.split_attribute][:, :, None] == code[:, None]
        likeness = torch.where(likeness >= PART_MATCH, likeness + alike, likeness)
    match = assign_greedily(likeness, found, there, PART_MATCH)
    of_parts = config.schema.part_attributes, posterior.part_attributes, labels.part_attributes
    counts, right = _compare_things(match, there, found, *of_parts)
    owners = posterior.part_owner.gather(1, match.clamp(min=0))
    same = objects.gather(1, labels.owners.long().clamp(min=0)) == owners
    counts["owner"] = ((same & (match >= 0)).sum(), (match >= 0).sum())
    exact = exact & (right & same | ~there).all(1) & (found.sum(1) == there.sum(1))
    counts["exact"] = (exact.sum(), torch.ones_like(exact).sum())
    return counts


def _compare_things(
    match: Tensor, there: Tensor, found: Tensor, kinds: Sequence[Attribute], values: Sequence[Tensor], codes: Tensor
) -> tuple[Counts, Tensor]:
    """The counts of objects or parts, and [image, true thing] whether a matched one has all known values."""
    right, hits = match >= 0, (match >= 0).sum()
    counts = {"recall": (hits, there.sum()), "precision": (hits, found.sum())}
    for k, attribute in enumerate(kinds):
        same = values[k].argmax(-1).gather(1, match.clamp(min=0)) == codes[..., k]
        known = (match >= 0) & (codes[..., k] >= 0)
        counts[attribute.name] = ((same & known).sum(), known.sum())
        right = right & (same | (codes[..., k] < 0))
    return counts, right


ConfidenceRows = tuple[str, Any, Any]  # in what, confidence [row], whether it is so [row]
Figures = tuple[dict[str, tuple[int, int]], list[ConfidenceRows]]  # shares as (right, of how many) by name; confidences


def measure_scene_parser(
    parsers: NsvqaParsers, pictures: Sequence[Picture], scenes: Sequence[Scene], together: int
) -> Figures:
    """How good the parser is on images whose scenes are known, and what its confidence is worth.

    `together` images are parsed at once.
    """
    labels = label_scenes(scenes).to_tensors(parsers.device)
    counts: dict[str, tuple[int, int]] = {}
    found = []
    for start in range(0, len(pictures), together):
        rows = slice(start, start + together)
        images = stack(pictures[rows], parsers.device, parsers.trained.size)
        found.append(parsers.parse_images(images))
        for name, (right, of) in parsers.apply(measure, SceneParserBatch(images, labels.take(rows))).items():
            before = counts.get(name, (0, 0))
            counts[name] = before[0] + int(right), before[1] + int(of)
    shares = {name.replace("_", " "): share for name, share in counts.items()}
    return shares, list(_list_confidences(parsers, concatenate_posteriors(found), labels))


def _list_confidences(parsers: NsvqaParsers, posterior: ScenePosterior, labels: Any) -> Iterator[ConfidenceRows]:
    """That an object is there, and in the likeliest value of each of its attributes."""
    there, found = labels.boxes[..., 2] > 0, posterior.exists > 0
    match = match_boxes(posterior.boxes, found, labels.boxes, there, MATCH).cpu().numpy()  # [image, true object]
    image, thing = np.nonzero(match >= 0)
    seat = match[image, thing]
    exists = posterior.exists.float().cpu().numpy()
    real = np.zeros(exists.shape, np.bool_)
    real[image, seat] = True
    rows = exists > 0
    yield "object is there", exists[rows], real[rows]
    codes = labels.attributes.cpu().numpy()[image, thing]
    for suffix, held in (("", posterior), (", calibrated", parsers.trained.calibration.apply(posterior))):
        for k, attribute in enumerate(parsers.trained.schema.attributes):
            probabilities = held.attributes[k].float().cpu().numpy()[image, seat]
            known = codes[:, k] >= 0
            right = probabilities.argmax(-1) == codes[:, k]
            yield f"{attribute.name}{suffix}", probabilities.max(-1)[known], right[known]
