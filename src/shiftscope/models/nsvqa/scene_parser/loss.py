"""Loss of the scene parser: batches, mirror augmentation, heatmap targets, and the weighted sum of errors.

Targets are on the labels' device and of a size known beforehand, so that nothing waits for the device.
"""

import re
from dataclasses import dataclass, replace
from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ....batch_mean import divide_by_batch
from ....schema import Schema
from ..labels import SceneLabels
from . import network
from .config import SceneParserConfig
from .network import COARSE, FINE, QueryLocations, SceneParserOutput, box_centres, box_iou, gather_rows


@dataclass(frozen=True, slots=True, eq=False)
class SceneParserBatch:
    """What a step learns from, or is measured on: images and labels on one device."""

    images: Tensor  # [image, height, width, 3] uint8
    labels: SceneLabels  # of tensors


FLIP = True  # whether training mirrors every other image

MirrorTables = tuple[Tensor | None, ...]  # for each part attribute [value] what it is in a mirror

_SIDE = re.compile(r"(?<![a-z])(left|right)(?![a-z])")


@cache
def mirror_names(schema: Schema) -> tuple[tuple[int, ...], ...]:
    """For each part attribute, what each value is in a mirror: left_mirror is right_mirror."""
    tables = []
    for attribute in schema.part_attributes:
        number = {value: k for k, value in enumerate(attribute.values)}
        swapped = [_SIDE.sub(lambda side: "right" if side[0] == "left" else "left", value) for value in number]
        tables.append(tuple(number.get(name, k) for k, name in enumerate(swapped)))
    return tuple(tables)


@cache
def make_mirror_tables(schema: Schema, device: torch.device) -> MirrorTables:
    """The same as tensors; None where a mirror changes nothing."""
    return tuple(
        None if table == tuple(range(len(table))) else torch.tensor(table, dtype=torch.int16, device=device)
        for table in mirror_names(schema)
    )


def mirror_batch(batch: SceneParserBatch, names: MirrorTables, which: Tensor) -> SceneParserBatch:
    """The batch with the images of `which` ([image] bool, on the batch's device) mirrored."""
    labels, width = batch.labels, batch.images.shape[2]
    images = torch.where(which[:, None, None, None], batch.images.flip(2), batch.images)
    codes = labels.part_attributes
    if codes.shape[1]:
        columns = []
        for column, table in enumerate(names):
            old = codes[..., column]
            new = old if table is None else table[old.clamp(min=0).long()]
            columns.append(torch.where(which[:, None] & (old >= 0), new, old))
        codes = torch.stack(columns, -1)
    sign = torch.where(which, -1.0, 1.0)[:, None]
    return SceneParserBatch(
        images,
        replace(
            labels,
            boxes=_mirror_boxes(labels.boxes, width, which),
            places=torch.stack([labels.places[..., 0] * sign, labels.places[..., 1]], -1),
            part_boxes=_mirror_boxes(labels.part_boxes, width, which),
            part_attributes=codes,
        ),
    )


def _mirror_boxes(boxes: Tensor, width: int, which: Tensor) -> Tensor:
    """Boxes from the other side; those of no width stand for nothing and stay."""
    left, top, across, down = boxes.unbind(-1)
    turned = torch.where(which[:, None] & (across > 0), width - left - across, left)
    return torch.stack([turned, top, across, down], -1)


BREADTH = 1 / 12  # a blob's spread, in sides of the box it stands for
NARROWEST = {COARSE: 0.5, FINE: 0.4}  # in cells
BORDER = 0.2  # cells: a middle that lies as near to the next cell is in both, for nobody could tell
POINT_JITTER = {COARSE: 6.0, FINE: 3.0}  # pixels: how far from the middle a point may lie, as peaks do
EDGE_JITTER = 0.08  # sides of a box: how far each edge may lie off, as those of predicted boxes do,
EDGE_JITTER_PIXELS = {COARSE: 2.0, FINE: 1.5}  # and pixels besides


@dataclass(frozen=True, slots=True, eq=False)
class HeatmapTargets:
    """Maps from 0 to 1, 1 where something's middle lies; and which rows of the labels are real."""

    heat: Tensor  # [image, 1, y, x] at stride 8
    part_heat: Tensor  # [image, map, y, x] at stride 4
    there: Tensor  # [image, object] bool
    parts_there: Tensor  # [image, part] bool


def make_targets(labels: SceneLabels, config: SceneParserConfig, size: tuple[int, int]) -> HeatmapTargets:
    """For images of that width and height; the maps cover whole cells of the deepest stride."""
    width, height = (side + -side % network.DEEPEST for side in size)
    there, parts_there = labels.boxes[..., 2] > 0, labels.part_boxes[..., 2] > 0
    heat = draw_blobs(labels.boxes, there, COARSE, (width, height)).amax(1, keepdim=True)
    images = len(labels)
    shape = (images, config.part_maps, height // FINE, width // FINE)
    if not config.schema.part_attributes:
        part_heat = heat[:, :0]
    elif not labels.part_boxes.shape[1]:
        part_heat = heat.new_zeros(shape)
    else:
        found = draw_blobs(labels.part_boxes, parts_there, FINE, (width, height))
        if config.split_attribute is None:
            part_heat = found.amax(1, keepdim=True)
        else:
            code = labels.part_attributes[..., config.split_attribute, None, None]
            part_heat = torch.stack([(found * (code == k)).amax(1) for k in range(config.part_maps)], 1)
    return HeatmapTargets(heat, part_heat, there, parts_there)


def draw_blobs(boxes: Tensor, there: Tensor, stride: int, size: tuple[int, int]) -> Tensor:
    """[image, thing, y, x] a bump for each box, exactly 1 in the cell of its middle; 0 without a box."""
    middle = box_centres(boxes) / stride
    breadth = (boxes[..., 2:] / stride * BREADTH).clamp(min=NARROWEST[stride])

    def draw_bump(axis: int) -> Tensor:
        cells = torch.arange(size[axis] // stride, device=boxes.device) + 0.5
        away = ((cells - middle[..., axis, None]).abs() - (0.5 + BORDER)).clamp(min=0)
        beyond = torch.where(away > 0, away + BORDER, 0.0)  # from the edge of the cell on
        return torch.exp(-(beyond / breadth[..., axis, None]).square() / 2)

    return draw_bump(1)[..., :, None] * draw_bump(0)[..., None, :] * there[..., None, None]


def make_locations(labels: SceneLabels, *, astray: bool = True) -> QueryLocations:
    """Where to look while learning: the true places, or with `astray` a little beside, as found ones are."""

    def jitter_boxes(boxes: Tensor, stride: int) -> tuple[Tensor, Tensor]:
        points = box_centres(boxes)
        if not astray:
            return points, boxes
        points = points + (torch.rand_like(points) * 2 - 1) * POINT_JITTER[stride]
        sides = boxes[..., 2:].repeat(1, 1, 2)
        off = (torch.rand_like(boxes) * 2 - 1) * (EDGE_JITTER * sides + EDGE_JITTER_PIXELS[stride])
        first = boxes[..., :2] + off[..., :2]
        return points, torch.cat([first, (network.box_far_corners(boxes) + off[..., 2:] - first).clamp(min=1)], -1)

    points, boxes = jitter_boxes(labels.boxes, COARSE)
    part_points, part_boxes = jitter_boxes(labels.part_boxes, FINE)
    return QueryLocations(points, boxes, part_points, part_boxes, labels.owners.long().clamp(min=0))


# How much each error counts; training with others makes another parser.
WEIGHTS = {"heat": 1.0, "part_heat": 1.0, "box": 1.0, "part_box": 0.5, "place": 1.0, "owner": 1.0}
ATTRIBUTES, PART_ATTRIBUTES = 2.0, 0.5  # nearly every question is about objects


def compute_loss(module: nn.Module, batch: SceneParserBatch) -> tuple[Tensor, dict[str, Tensor]]:
    """The weighted sum, and each error by name: maps, boxes, places, `color`, …, `part_color`, …."""
    config = get_config(module)
    size = (batch.images.shape[2], batch.images.shape[1])
    targets = make_targets(batch.labels, config, size)
    readings = module(batch.images, make_locations(batch.labels))
    with torch.autocast(batch.images.device.type, enabled=False):
        return compute_errors(readings, batch, targets, config)


def compute_augmented_loss(
    module: nn.Module, batch: SceneParserBatch, flip: bool = FLIP
) -> tuple[Tensor, dict[str, Tensor]]:
    """The same on a batch whose images are mirrored at random."""
    if flip:
        device = batch.images.device
        which = torch.rand(len(batch.images), device=device) < 0.5
        batch = mirror_batch(batch, make_mirror_tables(get_config(module).schema, device), which)
    return compute_loss(module, batch)


def compute_errors(
    readings: SceneParserOutput, batch: SceneParserBatch, targets: HeatmapTargets, config: SceneParserConfig
) -> tuple[Tensor, dict[str, Tensor]]:
    """How far readings at the labels' seats lie from the labels."""
    labels, there, parts_there = batch.labels, targets.there, targets.parts_there
    errors = {
        "heat": focal_loss(readings.heat, targets.heat, there),
        "box": box_error(readings.boxes, labels.boxes, there, COARSE),
        "place": place_error(readings.places, labels.places, there),
    }
    for k, attribute in enumerate(config.schema.attributes):
        errors[attribute.name] = _attribute_error(readings.attributes[k], labels.attributes[..., k])
    if config.schema.part_attributes:
        errors["part_heat"] = focal_loss(readings.part_heat, targets.part_heat, parts_there)
        errors["part_box"] = box_error(readings.part_boxes, labels.part_boxes, parts_there, FINE)
        errors["owner"] = owner_error(readings.pointed, labels.boxes, labels.owners, parts_there)
        names = [a.name for a in config.schema.part_attributes]
        for attribute, scores in zip(config.own_part_attributes, readings.part_attributes, strict=True):
            codes = labels.part_attributes[..., names.index(attribute.name)]
            errors[f"part_{attribute.name}"] = _attribute_error(scores, codes)
    others = {name: PART_ATTRIBUTES if name.startswith("part_") else ATTRIBUTES for name in errors}
    weights = others | WEIGHTS
    return torch.stack([weights[name] * error for name, error in errors.items()]).sum(), errors


def focal_loss(scores: Tensor, wanted: Tensor, there: Tensor) -> Tensor:
    """Cross-entropy of a map, where what is nearly right counts little, for each thing that is there.

    A cell near a middle is wrong the less, the nearer it lies.
    """
    sure, unsure = F.logsigmoid(scores), F.logsigmoid(-scores)
    chance = torch.sigmoid(scores)
    peak = wanted == 1
    hit = (1 - chance).square() * sure
    miss = chance.square() * unsure * (1 - wanted).pow(4)
    return divide_by_batch(-torch.where(peak, hit, miss).sum(), there.sum())


def box_error(boxes: Tensor, true: Tensor, there: Tensor, stride: int) -> Tensor:
    """How little boxes overlap, how many cells their middles lie off, and how far their sides differ."""
    middle = (box_centres(boxes) - box_centres(true)).abs().sum(-1) / stride
    sides = (boxes[..., 2:].log() - true[..., 2:].clamp(min=1).log()).abs().sum(-1)
    return _mean_where(1 - box_iou(boxes, true, general=True) + 0.5 * middle + 0.5 * sides, there)


def place_error(places: Tensor, true: Tensor, there: Tensor) -> Tensor:
    """World units off, along both directions; objects whose place is not known do not count."""
    return _mean_where((places - true.nan_to_num()).abs().sum(-1), there & true.isfinite().all(-1))


def owner_error(pointed: Tensor, boxes: Tensor, owners: Tensor, there: Tensor) -> Tensor:
    """How far a part points beside the middle of its object."""
    if not owners.shape[1]:
        return pointed.sum()
    middles = gather_rows(box_centres(boxes), owners.long().clamp(min=0))
    return _mean_where((pointed - middles).abs().sum(-1) / network.POINTED, there)


def _attribute_error(scores: Tensor, codes: Tensor) -> Tensor:
    rows = F.cross_entropy(scores.flatten(0, 1), codes.long().clamp(min=0).flatten(), reduction="none")
    return _mean_where(rows, (codes >= 0).flatten())


def _mean_where(values: Tensor, there: Tensor) -> Tensor:
    """Over what is there; 0 where nothing is."""
    return divide_by_batch(torch.where(there, values, 0.0).sum(), there.sum())


def get_config(module: nn.Module) -> SceneParserConfig:
    """What a module was built from."""
    inner = getattr(module, "module", module)  # a module that is trained on several devices is wrapped
    config = inner.config
    assert isinstance(config, SceneParserConfig)
    return config
