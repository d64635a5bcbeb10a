"""The scene parser: a residual network that finds objects and parts as peaks of maps, and looks at each.

Objects are found at stride 8 and parts at stride 4, by the middle of what is visible of them. What stands at
a peak is read in two steps: the point tells the box, and a grid of points in the box tells the rest. A part
is read together with the object it points to. Under autocast, maps, boxes and places stay float32.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from ...errors import UserError
from .boxes import centres, look, overlap, shares, spread, widened
from .config import Config

COARSE, FINE, DEEPEST = 8, 4, 32  # strides
SMALLEST = 32  # pixels of an image's side
UNIT = {COARSE: 32.0, FINE: 12.0}  # pixels: a usual side of an object's box, and of a part's
POINTED = 32.0  # pixels: how far a part usually lies from the middle of its object
TWICE = 0.6  # boxes that overlap by more show one object, found twice: the visible boxes of two never do
RARE = -4.0  # the score a map starts from, before it learns: most cells hold nothing


@dataclass(frozen=True, slots=True, eq=False)
class Seats:
    """Where to look, instead of at the peaks, while learning; points and boxes in pixels."""

    points: torch.Tensor  # [image, object, x y]
    boxes: torch.Tensor  # [image, object, 4]
    part_points: torch.Tensor  # [image, part, x y]
    part_boxes: torch.Tensor  # [image, part, 4]
    owners: torch.Tensor  # [image, part] int64


@dataclass(frozen=True, slots=True, eq=False)
class Readings:
    """What the network makes of images: maps of scores, and what stands at each seat. Scores are logits."""

    size: tuple[int, int]  # of the images
    heat: torch.Tensor  # [image, 1, y, x] at stride 8
    part_heat: torch.Tensor  # [image, map, y, x] at stride 4; no map without part attributes
    seats: Seats
    scores: torch.Tensor | None  # [image, object] of the peaks; None where seats were given
    part_scores: torch.Tensor | None  # [image, part]
    boxes: torch.Tensor  # [image, object, 4] as told by the points
    part_boxes: torch.Tensor
    pointed: torch.Tensor  # [image, part, x y] where a part supposes the middle of its object
    places: torch.Tensor  # [image, object, 2] how far right and front, world units
    attributes: tuple[torch.Tensor, ...]  # for each attribute [image, object, value]
    part_attributes: tuple[torch.Tensor, ...]  # for each of Config.own [image, part, value]


class SceneParser(nn.Module):
    """`forward(images)` reads images; random weights until it is trained or loaded."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.backbone = _backbone(config)
        c2, c3, c4, c5 = config.widths
        coarse, fine = config.coarse, config.fine
        self.from_c5, self.from_c4 = _conv(c5, coarse, 1), _conv(c4, coarse, 1)
        self.from_c3, self.from_c2 = _conv(c3, coarse, 1), _conv(c2, fine, 1)
        self.narrow = _conv(coarse, fine, 1)
        self.at_16, self.at_8 = _conv(coarse, coarse, 3), _conv(coarse, coarse, 3)
        self.at_4 = _conv(fine, fine, 3)
        self.before_heat, self.heat = _conv(coarse, coarse // 2, 3), _map(coarse // 2, 1)
        self.point = _dense(coarse, coarse, 4)
        self.object = ObjectHead(config)
        if config.schema.part_attributes:
            self.part_heat = _map(fine, config.maps)
            self.part_point = _dense(fine + coarse, coarse, 6)
            self.part = PartHead(config)

    def forward(self, images: torch.Tensor, seats: Seats | None = None) -> Readings:
        """Read images [image, height, width, 3] of uint8, at the peaks of the maps or at the seats given."""
        pixels, size = _pixels(images)
        fine, coarse = self._features(pixels)
        around = self.before_heat(coarse)
        fine, coarse = fine.float(), coarse.float()
        parted = len(self.config.schema.part_attributes) > 0
        with torch.autocast(images.device.type, enabled=False):
            heat = self.heat(around.float())
            part_heat = self.part_heat(fine) if parted else heat[:, :0]
        scores = part_scores = None
        if seats is None:
            scores, points = peaks(heat, self.config.objects, COARSE, size)
            part_scores, part_points = peaks(part_heat, self.config.parts, FINE, size)
        else:
            points, part_points = seats.points, seats.part_points
        boxes = boxes_at(points, self.point(_rows(look(coarse, points, COARSE))), COARSE)
        if scores is not None:
            scores = once(scores, boxes)
        seen = seats.boxes if seats else boxes
        known, attributes, places = self.object(pixels, fine, coarse, seen, size)

        pointed, part_boxes = part_points, part_points.repeat(1, 1, 2)
        if part_points.shape[1]:
            near = torch.cat([look(fine, part_points, FINE), look(coarse, part_points, COARSE)], 1)
            told = self.part_point(_rows(near)).float()
            part_boxes = boxes_at(part_points, told[..., :4], FINE)
            pointed = part_points + told[..., 4:] * POINTED
        if seats is None:
            assert scores is not None
            there = torch.sigmoid(scores) > self.config.least
            seats = Seats(points, boxes, part_points, part_boxes, nearest(pointed, boxes, there))
        part_attributes: tuple[torch.Tensor, ...] = ()
        if parted:
            part_attributes = self.part(pixels, fine, coarse, seats, known)
        return Readings(
            size=size,
            heat=heat,
            part_heat=part_heat,
            seats=seats,
            scores=scores,
            part_scores=part_scores,
            boxes=boxes,
            part_boxes=part_boxes,
            pointed=pointed,
            places=places,
            attributes=attributes,
            part_attributes=part_attributes,
        )

    def _features(self, pixels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """At strides 4 and 8, with what the deeper strides know handed down."""
        c2, c3, c4, c5 = self.backbone(pixels).feature_maps
        p4 = self.at_16(self.from_c4(c4) + _twice(self.from_c5(c5)))
        p3 = self.at_8(self.from_c3(c3) + _twice(p4))
        p2 = self.at_4(self.from_c2(c2) + _twice(self.narrow(p3)))
        return p2, p3


class ObjectHead(nn.Module):
    """Looks at an object, down to the pixels, through a grid in its box: what it is, and where it stands."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.grid = config.grid
        hidden, left = config.hidden, (config.grid + 1) // 2
        self.first = _grouped(3 + config.fine + config.coarse, config.patch, 1)
        self.second = _grouped(config.patch, config.patch, 2)
        self.embed = _normed(config.patch * left * left + 3 * config.grid**2 + 4, hidden)
        self.attributes = nn.ModuleList(nn.Linear(hidden, len(a.values)) for a in config.schema.attributes)
        self.place = _dense(hidden + 4, hidden // 2, 2)

    def forward(
        self,
        pixels: torch.Tensor,
        fine: torch.Tensor,
        coarse: torch.Tensor,
        boxes: torch.Tensor,
        size: tuple[int, int],
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, ...], torch.Tensor]:
        """[image, object, hidden] what stands for each object, then its attributes and its place."""
        points = spread(widened(boxes, 1.1, 16.0), self.grid)
        seen = _seen(self.first, self.second, pixels, fine, coarse, points)
        frame = torch.cat([shares(centres(boxes), size) - 0.5, shares(boxes[..., 2:], size)], -1) * 4
        known = self.embed(torch.cat([seen, frame.to(seen.dtype)], -1)).float()
        with torch.autocast(boxes.device.type, enabled=False):
            attributes = tuple(head(known) for head in self.attributes)
            return known, attributes, self.place(torch.cat([known, frame], -1))


class PartHead(nn.Module):
    """Looks at a part, down to the pixels, beside what stands for the object it belongs to."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.grid = config.part_grid
        hidden, left = config.part_hidden, (config.part_grid + 1) // 2
        self.first = _grouped(3 + config.fine + config.coarse, config.part_patch, 1)
        self.second = _grouped(config.part_patch, config.part_patch, 2)
        self.embed = _normed(config.part_patch * left * left + 3 * config.part_grid**2, hidden)
        self.values = [len(a.values) for a in config.own]
        self.joined = _normed(hidden + config.hidden + 4, hidden)
        self.attributes = nn.ModuleList(nn.Linear(hidden * 2, len(a.values)) for a in config.own)

    def forward(
        self,
        pixels: torch.Tensor,
        fine: torch.Tensor,
        coarse: torch.Tensor,
        seats: Seats,
        known: torch.Tensor,  # [image, object, hidden]
    ) -> tuple[torch.Tensor, ...]:
        """For each attribute that parts have of their own [image, part, value]."""
        boxes = seats.part_boxes
        if not boxes.shape[1]:
            return tuple(boxes.new_zeros(len(boxes), 0, count) for count in self.values)
        points = spread(widened(boxes, 1.4, 10.0), self.grid)
        part = self.embed(_seen(self.first, self.second, pixels, fine, coarse, points)).float()
        frame = _gather(seats.boxes, seats.owners)
        sides = frame[..., 2:].clamp(min=4.0) / 2
        where = torch.cat([(centres(boxes) - centres(frame)) / sides, boxes[..., 2:] / sides], -1).clamp(
            -4, 4
        )
        both = self.joined(torch.cat([part, _gather(known, seats.owners), where], -1)).float()
        return tuple(head(torch.cat([part, both], -1)).float() for head in self.attributes)


def peaks(
    heat: torch.Tensor, most: int, stride: int, size: tuple[int, int]
) -> tuple[torch.Tensor, torch.Tensor]:
    """[image, seat] the highest peaks' scores, best first, and [image, seat, x y] the middles of their cells.

    A peak is higher than its eight neighbours on its map. Where there are fewer, or one lies beyond the
    image, the score is −inf.
    """
    images, maps, height, width = heat.shape
    most = min(most, maps * height * width)
    if not most:
        return heat.new_zeros(images, 0), heat.new_zeros(images, 0, 2)
    top = F.max_pool2d(heat, 3, 1, 1) == heat
    inside_y = (torch.arange(height, device=heat.device) + 0.5) * stride < size[1]
    inside_x = (torch.arange(width, device=heat.device) + 0.5) * stride < size[0]
    kept = heat.masked_fill(~(top & inside_y[:, None] & inside_x), -torch.inf)
    scores, at = kept.flatten(1).topk(most)
    cell = at % (height * width)
    points = torch.stack([cell % width, cell // width], -1).float() + 0.5
    return scores, points * stride


def boxes_at(points: torch.Tensor, told: torch.Tensor, stride: int) -> torch.Tensor:
    """Boxes from how far their middle lies from a point, in cells, and how large they are, as logarithms."""
    told = told.float()
    middle = points + told[..., :2] * stride
    sides = torch.exp(told[..., 2:].clamp(-4, 4)) * UNIT[stride]
    return torch.cat([middle - sides / 2, sides], -1)


def once(scores: torch.Tensor, boxes: torch.Tensor) -> torch.Tensor:
    """Scores, best first, where an object that was found before, by its box, has −inf."""
    return scores.masked_fill(repeated(overlap(boxes[:, :, None], boxes[:, None]) > TWICE), -torch.inf)


def repeated(alike: torch.Tensor) -> torch.Tensor:
    """[image, row] whether a row is like one before it: rows come best first."""
    return (alike & torch.ones(alike.shape[-2:], dtype=torch.bool, device=alike.device).tril(-1)).any(-1)


def nearest(pointed: torch.Tensor, boxes: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
    """[image, part] the object, of those that are there, whose middle lies nearest to where a part points.

    A large object reaches further: the distance is divided by the root of its side.
    """
    away = (pointed[:, :, None] - centres(boxes)[:, None]).abs().sum(-1)
    away = away / boxes[:, None, :, 2:].mean(-1).clamp(min=8.0).sqrt()
    return away.masked_fill(~there[:, None], torch.inf).argmin(-1)


def _backbone(config: Config) -> Any:
    """transformers' residual network, whose four stages are all of use."""
    from transformers import ResNetBackbone, ResNetConfig

    sizes: dict[str, Any] = {"hidden_sizes": list(config.widths), "depths": list(config.depths)}
    stages: dict[str, Any] = {"out_features": [f"stage{k}" for k in range(1, 5)]}
    backbone: Any = ResNetBackbone
    return backbone(ResNetConfig(embedding_size=config.stem, layer_type="basic", **sizes, **stages))


def _pixels(images: torch.Tensor) -> tuple[torch.Tensor, tuple[int, int]]:
    """[image, 3, height, width] around 0, padded on the right and below to whole cells; and the true size."""
    if images.ndim != 4 or images.shape[3] != 3 or images.dtype != torch.uint8:
        raise UserError(
            f"a scene parser reads images [image, height, width, 3] of uint8, not {list(images.shape)} of "
            f"{str(images.dtype).removeprefix('torch.')}"
        )
    height, width = images.shape[1:3]
    if min(height, width) < SMALLEST:
        raise UserError(
            f"an image of {width}×{height} is too small to parse: a side has {SMALLEST} pixels or more"
        )
    pixels = images.permute(0, 3, 1, 2).float().mul(1 / 64).sub(2.0)
    pixels = F.pad(pixels, (0, -width % DEEPEST, 0, -height % DEEPEST))
    return pixels.contiguous(memory_format=torch.channels_last), (width, height)


def _conv(inside: int, outside: int, side: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(inside, outside, side, padding=side // 2, bias=False), nn.BatchNorm2d(outside), nn.ReLU()
    )


def _grouped(inside: int, outside: int, stride: int) -> nn.Module:
    """A convolution of patches; patches that stand for nothing must not sway the others, so no batch norm."""
    groups = next(g for g in (8, 4, 2, 1) if outside % g == 0)
    return nn.Sequential(
        nn.Conv2d(inside, outside, 3, stride, 1, bias=False), nn.GroupNorm(groups, outside), nn.ReLU()
    )


def _dense(inside: int, hidden: int, outside: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inside, hidden), nn.ReLU(), nn.Linear(hidden, outside))


def _normed(inside: int, outside: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inside, outside), nn.LayerNorm(outside), nn.ReLU())


def _map(inside: int, outside: int) -> nn.Module:
    conv = nn.Conv2d(inside, outside, 1)
    nn.init.normal_(conv.weight, std=0.01)
    nn.init.constant_(conv.bias, RARE)  # type: ignore[arg-type]
    return conv


def _twice(features: torch.Tensor) -> torch.Tensor:
    return F.interpolate(features, scale_factor=2.0, mode="nearest")


def _rows(features: torch.Tensor) -> torch.Tensor:
    """[image, channel, seat] → [image, seat, channel]"""
    return features.transpose(1, 2)


def _seen(
    first: nn.Module,
    second: nn.Module,
    pixels: torch.Tensor,
    fine: torch.Tensor,
    coarse: torch.Tensor,
    points: torch.Tensor,
) -> torch.Tensor:
    """[image, seat, …] what two convolutions make of the grids of points, and the colours there as they are.

    The norms of the convolutions hide how bright and how colourful a patch is; its pixels tell.
    """
    colors = look(pixels, points, 1)
    found = torch.cat([colors, look(fine, points, FINE), look(coarse, points, COARSE)], 1)
    made = second(first(found.transpose(1, 2).flatten(0, 1)))  # [image · seat, channel, y, x]
    plain = colors.transpose(1, 2).flatten(2)
    return torch.cat([made.reshape(*plain.shape[:2], -1), plain.to(made.dtype)], -1)


def _gather(rows: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    """[image, part, …] the row of each number."""
    return rows.gather(1, numbers[..., None].expand(*numbers.shape, rows.shape[-1]))
