"""Regions: the boxes that a trained scene parser finds, and what its backbone sees in them; not what it makes of that.

For models that learn for themselves what things are. Regions are found once per image.
"""

from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from .config import SceneParserConfig
from .decode import SURE, decode_posterior
from .network import COARSE, FINE, SceneParser, normalise_pixels, sample_features, spread_points, widen_boxes

GRID, PART_GRID = 6, 4  # places across and down a box
MOST, MOST_PARTS = 12, 32  # regions of an image, the surest; ten vehicles have thirty coloured parts
TOGETHER = 128  # images looked at at once


@dataclass(frozen=True, slots=True, eq=False)
class Regions:
    """What may be there, in some images; rows of nothing have `exists` 0."""

    size: tuple[int, int]  # width and height of the images
    exists: Tensor  # [image, object] probability
    boxes: Tensor  # [image, object, left top width height] in pixels
    features: Tensor  # [image, object, number]
    part_exists: Tensor  # [image, part]
    part_boxes: Tensor
    part_features: Tensor  # [image, part, number]
    owner: Tensor  # [image, part] int64, the object it belongs to

    def __len__(self) -> int:
        return len(self.exists)

    def take(self, rows: Tensor) -> "Regions":
        return self._map(lambda tensor: tensor.index_select(0, rows.to(tensor.device)))

    def to(self, device: str | torch.device) -> "Regions":
        return self._map(lambda tensor: tensor.to(device, non_blocking=True))

    def _map(self, change: Any) -> "Regions":
        return replace(self, **{f.name: change(getattr(self, f.name)) for f in fields(self) if f.name != "size"})


def count_numbers(config: SceneParserConfig) -> tuple[int, int]:
    """How many numbers stand for the region of an object, and of a part."""
    channels = 3 + config.fine + config.coarse
    return channels * GRID**2, channels * PART_GRID**2


@torch.inference_mode()
def find_regions(parser: SceneParser, images: Tensor) -> Regions:
    """The regions of images [image, height, width, 3] of uint8 on the parser's device, features as float16."""
    pixels, size = normalise_pixels(images)
    fine, coarse, _ = parser.extract_pyramid(pixels)
    output = parser.read_maps(pixels, size, fine, coarse)
    found = decode_posterior(output, parser.config)
    maps = ((pixels, 1), (fine.float(), FINE), (coarse.float(), COARSE))

    def look(boxes: Tensor, grid: int) -> Tensor:
        points = spread_points(boxes, grid)
        seen = torch.cat([sample_features(features, points, stride) for features, stride in maps], 1)
        return seen.transpose(1, 2).flatten(2).half()

    boxes, part_boxes = found.boxes[:, :MOST], output.part_boxes[:, :MOST_PARTS]
    owner = found.part_owner[:, :MOST_PARTS]
    return _pad_regions(
        Regions(
            size=size,
            exists=found.exists[:, :MOST].float(),
            boxes=boxes,
            features=look(widen_boxes(boxes, 1.1, 16.0), GRID),
            part_exists=torch.where(owner < MOST, found.part_exists[:, :MOST_PARTS].float(), 0.0),
            part_boxes=part_boxes,
            part_features=look(widen_boxes(part_boxes, 1.4, 10.0), PART_GRID),
            owner=owner.clamp(max=MOST - 1),
        )
    )


@torch.inference_mode()
def describe_objects(parser: SceneParser, images: Tensor) -> Tensor:
    """[image, MOST, hidden + 5] of each object that is found what stands for it, its corners and whether it is there.

    What stands for it is what its attributes are read from, as the usual region features of a detector are; corners
    are from 0 to 1. In float16, one tensor for all that is computed once per image.
    """
    output = parser(images)
    found = decode_posterior(output, parser.config)
    assert output.known is not None
    width, height = output.size
    near, far = found.boxes[..., :2], found.boxes[..., :2] + found.boxes[..., 2:]
    corners = torch.cat([near, far], -1) / near.new_tensor([width, height, width, height])
    there = (found.exists > SURE)[..., None]
    rows = torch.cat([output.known, corners, there.to(corners.dtype)], -1).where(there, 0.0)[:, :MOST]
    return F.pad(rows, (0, 0, 0, MOST - rows.shape[1])).half()


def describe_all_objects(parser: SceneParser, pixels: Tensor, device: str) -> Tensor:
    """The same of many images, wherever these lie; on the device."""
    gpu = device != "cpu"
    parser = parser.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    with torch.autocast("cuda", torch.bfloat16, enabled=gpu):
        return torch.cat([describe_objects(parser, some.to(device)) for some in torch.split(pixels, TOGETHER)])


def _pad_regions(found: Regions) -> Regions:
    """With as many rows of objects and of parts as other images have: a small image has fewer peaks."""

    def pad(tensor: Tensor, rows: int) -> Tensor:
        return F.pad(tensor, (0, 0) * (tensor.ndim - 2) + (0, rows - tensor.shape[1]))

    padded: dict[str, Any] = {name: pad(getattr(found, name), MOST) for name in ("exists", "boxes", "features")}
    names = ("part_exists", "part_boxes", "part_features", "owner")
    return replace(found, **padded | {name: pad(getattr(found, name), MOST_PARTS) for name in names})


def find_all_regions(parser: SceneParser, pixels: Tensor, device: str) -> Regions:
    """The regions of many images, wherever these lie; the regions lie on the device."""
    gpu = device != "cpu"
    parser = parser.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    with torch.autocast("cuda", torch.bfloat16, enabled=gpu):
        pieces = [find_regions(parser, some.to(device)) for some in torch.split(pixels, TOGETHER)]
    joined = {
        f.name: torch.cat([getattr(piece, f.name) for piece in pieces]) for f in fields(Regions) if f.name != "size"
    }
    return Regions(size=pieces[0].size, **joined)
