"""Targets: the maps that the network should paint for labelled images, and the seats where it learns to look.

Everything is on the labels' device and of a size known beforehand, so that nothing waits for the device.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from .boxes import centres, far_corners
from .config import Config
from .labels import Labels
from .network import COARSE, DEEPEST, FINE, Seats

BREADTH = 1 / 12  # a blob's spread, in sides of the box it stands for
NARROWEST = {COARSE: 0.5, FINE: 0.4}  # in cells
BORDER = 0.2  # cells: a middle that lies as near to the next cell is in both, for nobody could tell
ASTRAY = {COARSE: 6.0, FINE: 3.0}  # pixels: how far from the middle a point may lie, as peaks do
JITTER = 0.08  # sides of a box: how far each edge may lie off, as those of predicted boxes do,
SLIP = {COARSE: 2.0, FINE: 1.5}  # and pixels besides


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """Maps from 0 to 1, 1 where something's middle lies; and which rows of the labels are real."""

    heat: torch.Tensor  # [image, 1, y, x] at stride 8
    part_heat: torch.Tensor  # [image, map, y, x] at stride 4
    there: torch.Tensor  # [image, object] bool
    parts_there: torch.Tensor  # [image, part] bool


def targets_of(labels: Labels, config: Config, size: tuple[int, int]) -> Targets:
    """For images of that width and height; the maps cover whole cells of the deepest stride."""
    width, height = (side + -side % DEEPEST for side in size)
    there, parts_there = labels.boxes[..., 2] > 0, labels.part_boxes[..., 2] > 0
    heat = blobs(labels.boxes, there, COARSE, (width, height)).amax(1, keepdim=True)
    images = len(labels)
    shape = (images, config.maps, height // FINE, width // FINE)
    if not config.schema.part_attributes:
        part_heat = heat[:, :0]
    elif not labels.part_boxes.shape[1]:
        part_heat = heat.new_zeros(shape)
    else:
        found = blobs(labels.part_boxes, parts_there, FINE, (width, height))
        if config.split is None:
            part_heat = found.amax(1, keepdim=True)
        else:
            code = labels.part_attributes[..., config.split, None, None]
            part_heat = torch.stack([(found * (code == k)).amax(1) for k in range(config.maps)], 1)
    return Targets(heat, part_heat, there, parts_there)


def blobs(boxes: torch.Tensor, there: torch.Tensor, stride: int, size: tuple[int, int]) -> torch.Tensor:
    """[image, thing, y, x] a bump for each box, exactly 1 in the cell of its middle; 0 without a box."""
    middle = centres(boxes) / stride
    breadth = (boxes[..., 2:] / stride * BREADTH).clamp(min=NARROWEST[stride])

    def bump(axis: int) -> torch.Tensor:
        cells = torch.arange(size[axis] // stride, device=boxes.device) + 0.5
        away = ((cells - middle[..., axis, None]).abs() - (0.5 + BORDER)).clamp(min=0)
        beyond = torch.where(away > 0, away + BORDER, 0.0)  # from the edge of the cell on
        return torch.exp(-(beyond / breadth[..., axis, None]).square() / 2)

    return bump(1)[..., :, None] * bump(0)[..., None, :] * there[..., None, None]


def seats_of(labels: Labels, *, astray: bool = True) -> Seats:
    """Where to look while learning: the true places, or with `astray` a little beside, as found ones are."""

    def near(boxes: torch.Tensor, stride: int) -> tuple[torch.Tensor, torch.Tensor]:
        points = centres(boxes)
        if not astray:
            return points, boxes
        points = points + (torch.rand_like(points) * 2 - 1) * ASTRAY[stride]
        sides = boxes[..., 2:].repeat(1, 1, 2)
        off = (torch.rand_like(boxes) * 2 - 1) * (JITTER * sides + SLIP[stride])
        first = boxes[..., :2] + off[..., :2]
        return points, torch.cat([first, (far_corners(boxes) + off[..., 2:] - first).clamp(min=1)], -1)

    points, boxes = near(labels.boxes, COARSE)
    part_points, part_boxes = near(labels.part_boxes, FINE)
    return Seats(points, boxes, part_points, part_boxes, labels.owners.long().clamp(min=0))
