"""The network: a residual network that finds objects and parts as peaks of heatmaps and classifies each.

Boxes are (left, top, width, height) and points (x, y), in pixels.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ....errors import UserError
from .config import SceneParserConfig


def box_centres(boxes: Tensor) -> Tensor:
    """[…, x y] the middles."""
    return boxes[..., :2] + boxes[..., 2:] / 2


def box_far_corners(boxes: Tensor) -> Tensor:
    """[…, x y] right and bottom."""
    return boxes[..., :2] + boxes[..., 2:]


def widen_boxes(boxes: Tensor, times: float, least: float) -> Tensor:
    """Boxes with the same middle, so many times as large and of at least that side."""
    sides = (boxes[..., 2:] * times).clamp(min=least)
    return torch.cat([box_centres(boxes) - sides / 2, sides], -1)


def clip_boxes(boxes: Tensor, size: tuple[int, int]) -> Tensor:
    """What of the boxes lies in an image of that width and height."""
    corners = torch.cat([boxes[..., :2], box_far_corners(boxes)], -1).clamp(min=0)
    left, right = corners[..., 0::2].clamp(max=size[0]).unbind(-1)
    top, bottom = corners[..., 1::2].clamp(max=size[1]).unbind(-1)
    return torch.stack([left, top, right - left, bottom - top], -1)


def normalise_points(points: Tensor, size: tuple[int, int]) -> Tensor:
    """Points, or pairs of sides, as shares of the width and height of an image."""
    return torch.stack([points[..., 0] / size[0], points[..., 1] / size[1]], -1)


def box_iou(boxes: Tensor, others: Tensor, *, general: bool = False) -> Tensor:
    """Intersection over union; `general` goes below 0 as boxes part, so that those apart attract."""
    near = torch.maximum(boxes[..., :2], others[..., :2])
    far = torch.minimum(box_far_corners(boxes), box_far_corners(others))
    both = _multiply_sides((far - near).clamp(min=0))
    either = (_multiply_sides(boxes[..., 2:]) + _multiply_sides(others[..., 2:]) - both).clamp(min=1e-6)
    if not general:
        return both / either
    low = torch.minimum(boxes[..., :2], others[..., :2])
    high = torch.maximum(box_far_corners(boxes), box_far_corners(others))
    hull = _multiply_sides(high - low).clamp(min=1e-6)
    return both / either - (hull - either) / hull


def _multiply_sides(sides: Tensor) -> Tensor:
    """Areas; `prod` would make its backward pass wait to see whether anything is 0."""
    return sides[..., 0] * sides[..., 1]


def spread_points(boxes: Tensor, count: int) -> Tensor:
    """[…, box, count, count, x y] points spread evenly over boxes, row by row."""
    steps = (torch.arange(count, device=boxes.device, dtype=boxes.dtype) + 0.5) / count
    x = boxes[..., 0, None] + boxes[..., 2, None] * steps
    y = boxes[..., 1, None] + boxes[..., 3, None] * steps
    shape = (*boxes.shape[:-1], count, count)
    return torch.stack([x[..., None, :].expand(shape), y[..., :, None].expand(shape)], -1)


def sample_features(features: Tensor, points: Tensor, stride: int) -> Tensor:
    """[image, channel, …] what lies at [image, …, x y] of a map of that stride, between cells by nearness.

    Both are float32: halves of it could not tell neighbouring pixels apart.
    """
    height, width = features.shape[-2:]
    flat = (normalise_points(points, (width * stride, height * stride)) * 2 - 1).reshape(len(points), -1, 1, 2)
    found = F.grid_sample(features, flat, align_corners=False, padding_mode="border")
    return found.reshape(*found.shape[:2], *points.shape[1:-1])


# Objects are found at stride 8 and parts at stride 4, by the middle of what is visible of them. What stands
# at a peak is read in two steps: the point gives the box, and a grid of points in the box the rest. A
# part is read together with the object it points to. Under autocast, maps, boxes and places stay float32.

COARSE, FINE, DEEPEST = 8, 4, 32  # strides
SMALLEST = 32  # pixels of an image's side
UNIT = {COARSE: 32.0, FINE: 12.0}  # pixels: a usual side of an object's box, and of a part's
POINTED = 32.0  # pixels: how far a part usually lies from the middle of its object
TWICE = 0.6  # boxes that overlap by more show one object, found twice: the visible boxes of two never do
CHANNELS = 8  # a GPU's matrix units take channels in multiples of it
RARE = -4.0  # the score a map starts from, before it learns: most cells hold nothing


@dataclass(frozen=True, slots=True, eq=False)
class QueryLocations:
    """Where to look, instead of at the peaks, while learning; points and boxes in pixels."""

    points: Tensor  # [image, object, x y]
    boxes: Tensor  # [image, object, 4]
    part_points: Tensor  # [image, part, x y]
    part_boxes: Tensor  # [image, part, 4]
    owners: Tensor  # [image, part] int64


@dataclass(frozen=True, slots=True, eq=False)
class SceneParserOutput:
    """The network's output for some images: maps of scores, and what stands at each seat. Scores are logits."""

    size: tuple[int, int]  # of the images
    heat: Tensor  # [image, 1, y, x] at stride 8
    part_heat: Tensor  # [image, map, y, x] at stride 4; no map without part attributes
    seats: QueryLocations
    scores: Tensor | None  # [image, object] of the peaks; None where seats were given
    part_scores: Tensor | None  # [image, part]
    boxes: Tensor  # [image, object, 4] as predicted at the points
    part_boxes: Tensor
    pointed: Tensor  # [image, part, x y] where a part supposes the middle of its object
    places: Tensor  # [image, object, 2] how far right and front, world units
    attributes: tuple[Tensor, ...]  # for each attribute [image, object, value]
    part_attributes: tuple[Tensor, ...]  # for each of Config.own_part_attributes [image, part, value]
    known: Tensor | None = None  # [image, object, hidden] what stands for each object, of which its attributes are read


class StemConvolution(nn.Module):
    """The first convolution, of 7×7 pixels in steps of two.

    GPUs are slow with three channels. There two by two pixels become one of twelve channels, filled up to sixteen, on
    which 4×4 in steps of one do the same.
    """

    def __init__(self, weight: nn.Parameter) -> None:
        super().__init__()
        self.weight = weight  # [feature, channel, 7, 7]

    def forward(self, pixels: Tensor) -> Tensor:
        if pixels.is_cuda:
            return convolve_blocks(pixels, self.weight)
        return F.conv2d(pixels, self.weight, stride=2, padding=3)


def convolve_blocks(pixels: Tensor, weight: Tensor) -> Tensor:
    """What 7×7 in steps of two make of [image, channel, height, width] of even sides, by blocks of 2×2 pixels."""
    images, channels, height, width = pixels.shape
    kind = pixels.device.type
    dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else pixels.dtype
    wide = 4 * channels
    full = wide + -wide % CHANNELS
    # Place 2y + k − 3 of a column is place b of block y + a − 2, where 2a + b = k + 1: two blocks before, one behind.
    blocks = pixels.new_zeros(images, height // 2 + 3, width // 2 + 3, full, dtype=dtype)
    inside = blocks[:, 2:-1, 2:-1, :wide].view(images, height // 2, width // 2, 2, 2, channels)
    inside.copy_(pixels.permute(0, 2, 3, 1).reshape(images, height // 2, 2, width // 2, 2, channels).transpose(2, 3))
    pairs = F.pad(weight, (1, 0, 1, 0)).reshape(len(weight), channels, 4, 2, 4, 2)
    small = pairs.permute(0, 3, 5, 1, 2, 4).flatten(1, 3)
    small = F.pad(small, (0, 0, 0, 0, 0, full - wide)).contiguous(memory_format=torch.channels_last)
    return F.conv2d(blocks.permute(0, 3, 1, 2), small)


class FeaturePyramid(nn.Module):
    """A residual network whose deeper maps are handed down to the finer ones."""

    def __init__(self, config: SceneParserConfig) -> None:
        from transformers import ResNetBackbone, ResNetConfig

        super().__init__()
        self.config = config
        backbone: Any = ResNetBackbone  # transformers' residual network, whose four stages are all of use
        sizes: Any = {"hidden_sizes": list(config.widths), "depths": list(config.depths)}
        sizes["out_features"] = [f"stage{k}" for k in range(1, 5)]
        self.backbone = backbone(ResNetConfig(embedding_size=config.stem, layer_type="basic", **sizes))
        stem = self.backbone.embedder.embedder
        stem.convolution = StemConvolution(stem.convolution.weight)
        c2, c3, c4, c5 = config.widths
        coarse, fine = config.coarse, config.fine
        self.from_c5, self.from_c4 = _build_conv(c5, coarse, 1), _build_conv(c4, coarse, 1)
        self.from_c3, self.from_c2 = _build_conv(c3, coarse, 1), _build_conv(c2, fine, 1)
        self.narrow = _build_conv(coarse, fine, 1)
        self.at_16, self.at_8 = _build_conv(coarse, coarse, 3), _build_conv(coarse, coarse, 3)
        self.at_4 = _build_conv(fine, fine, 3)

    def extract_pyramid(self, pixels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The maps at strides 4, 8 and 16."""
        c2, c3, c4, c5 = self.backbone(pixels).feature_maps
        p4 = self.at_16(self.from_c4(c4) + _upsample(self.from_c5(c5)))
        p3 = self.at_8(self.from_c3(c3) + _upsample(p4))
        p2 = self.at_4(self.from_c2(c2) + _upsample(self.narrow(p3)))
        return p2, p3, p4


class SceneParser(FeaturePyramid):
    """`forward(images)` reads images; random weights until it is trained or loaded."""

    def __init__(self, config: SceneParserConfig) -> None:
        super().__init__(config)
        coarse, fine = config.coarse, config.fine
        self.before_heat, self.heat = _build_conv(coarse, coarse // 2, 3), _build_map_head(coarse // 2, 1)
        self.point = _build_dense(coarse, coarse, 4)
        self.object = ObjectHead(config)
        if config.schema.part_attributes:
            self.part_heat = _build_map_head(fine, config.part_maps)
            self.part_point = _build_dense(fine + coarse, coarse, 6)
            self.part = PartHead(config)

    def forward(self, images: Tensor, seats: QueryLocations | None = None) -> SceneParserOutput:
        """Read images [image, height, width, 3] of uint8, at the peaks of the maps or at the seats given."""
        pixels, size = normalise_pixels(images)
        fine, coarse, _ = self.extract_pyramid(pixels)
        return self.read_maps(pixels, size, fine, coarse, seats)

    def read_maps(
        self, pixels: Tensor, size: tuple[int, int], fine: Tensor, coarse: Tensor, seats: QueryLocations | None = None
    ) -> SceneParserOutput:
        """The same of images whose maps at strides 4 and 8 are known."""
        around = self.before_heat(coarse)
        fine, coarse = fine.float(), coarse.float()
        parted = len(self.config.schema.part_attributes) > 0
        with torch.autocast(pixels.device.type, enabled=False):
            heat = self.heat(around.float())
            part_heat = self.part_heat(fine) if parted else heat[:, :0]
        scores = part_scores = None
        if seats is None:
            scores, points = find_peaks(heat, self.config.objects, COARSE, size)
            part_scores, part_points = find_peaks(part_heat, self.config.parts, FINE, size)
        else:
            points, part_points = seats.points, seats.part_points
        boxes = decode_boxes(points, self.point(sample_features(coarse, points, COARSE).transpose(1, 2)), COARSE)
        if scores is not None:
            scores = suppress_duplicates(scores, boxes)
        seen = seats.boxes if seats else boxes
        known, attributes, places = self.object(pixels, fine, coarse, seen, size)

        pointed, part_boxes = part_points, part_points.repeat(1, 1, 2)
        if part_points.shape[1]:
            near = torch.cat(
                [sample_features(fine, part_points, FINE), sample_features(coarse, part_points, COARSE)], 1
            )
            offsets = self.part_point(near.transpose(1, 2)).float()
            part_boxes = decode_boxes(part_points, offsets[..., :4], FINE)
            pointed = part_points + offsets[..., 4:] * POINTED
        if seats is None:
            assert scores is not None
            there = torch.sigmoid(scores) > self.config.least
            seats = QueryLocations(points, boxes, part_points, part_boxes, find_nearest_object(pointed, boxes, there))
        part_attributes = self.part(pixels, fine, coarse, seats, known) if parted else ()
        peaks = (heat, part_heat, seats, scores, part_scores)
        return SceneParserOutput(size, *peaks, boxes, part_boxes, pointed, places, attributes, part_attributes, known)


class PatchHead(nn.Module):
    """Looks at a box, down to the pixels, through a grid of points."""

    def __init__(self, config: SceneParserConfig, grid: int, patch: int, hidden: int, frame: int = 0) -> None:
        super().__init__()
        self.grid = grid
        self.first = _build_group_conv(3 + config.fine + config.coarse, patch, 1)
        self.second = _build_group_conv(patch, patch, 2)
        self.embed = _build_normed_layer(patch * ((grid + 1) // 2) ** 2 + 3 * grid**2 + frame, hidden)

    def encode_patches(self, pixels: Tensor, fine: Tensor, coarse: Tensor, boxes: Tensor) -> Tensor:
        """[image, seat, …] what two convolutions make of the grids of points, and the colours there as they are.

        The norms of the convolutions hide how bright and how colourful a patch is; its pixels do not.
        """
        points = spread_points(boxes, self.grid)
        colors = sample_features(pixels, points, 1)
        found = torch.cat([colors, sample_features(fine, points, FINE), sample_features(coarse, points, COARSE)], 1)
        patches = self.second(self.first(found.transpose(1, 2).flatten(0, 1)))  # [image · seat, channel, y, x]
        plain = colors.transpose(1, 2).flatten(2)
        return torch.cat([patches.reshape(*plain.shape[:2], -1), plain.to(patches.dtype)], -1)


class ObjectHead(PatchHead):
    """What an object is, and where it stands."""

    def __init__(self, config: SceneParserConfig) -> None:
        hidden = config.hidden
        super().__init__(config, config.grid, config.patch, hidden, frame=4)
        self.attributes = nn.ModuleList(nn.Linear(hidden, len(a.values)) for a in config.schema.attributes)
        self.place = _build_dense(hidden + 4, hidden // 2, 2)

    def forward(
        self, pixels: Tensor, fine: Tensor, coarse: Tensor, boxes: Tensor, size: tuple[int, int]
    ) -> tuple[Tensor, tuple[Tensor, ...], Tensor]:
        """[image, object, hidden] what stands for each object, then its attributes and its place."""
        seen = self.encode_patches(pixels, fine, coarse, widen_boxes(boxes, 1.1, 16.0))
        middles, sides = normalise_points(box_centres(boxes), size), normalise_points(boxes[..., 2:], size)
        frame = torch.cat([middles - 0.5, sides], -1) * 4
        known = self.embed(torch.cat([seen, frame.to(seen.dtype)], -1)).float()
        with torch.autocast(boxes.device.type, enabled=False):
            attributes = tuple(head(known) for head in self.attributes)
            return known, attributes, self.place(torch.cat([known, frame], -1))


class PartHead(PatchHead):
    """What a part is, beside what stands for the object it belongs to."""

    def __init__(self, config: SceneParserConfig) -> None:
        hidden = config.part_hidden
        super().__init__(config, config.part_grid, config.part_patch, hidden)
        self.values = [len(a.values) for a in config.own_part_attributes]
        self.joined = _build_normed_layer(hidden + config.hidden + 4, hidden)
        self.attributes = nn.ModuleList(nn.Linear(hidden * 2, count) for count in self.values)

    def forward(
        self, pixels: Tensor, fine: Tensor, coarse: Tensor, seats: QueryLocations, known: Tensor
    ) -> tuple[Tensor, ...]:
        """For each attribute that parts have of their own [image, part, value]; `known` is [image, object, hidden]."""
        boxes = seats.part_boxes
        if not boxes.shape[1]:
            return tuple(boxes.new_zeros(len(boxes), 0, count) for count in self.values)
        part = self.embed(self.encode_patches(pixels, fine, coarse, widen_boxes(boxes, 1.4, 10.0))).float()
        frame = gather_rows(seats.boxes, seats.owners)
        sides = frame[..., 2:].clamp(min=4.0) / 2
        where = torch.cat([(box_centres(boxes) - box_centres(frame)) / sides, boxes[..., 2:] / sides], -1).clamp(-4, 4)
        both = self.joined(torch.cat([part, gather_rows(known, seats.owners), where], -1)).float()
        return tuple(head(torch.cat([part, both], -1)).float() for head in self.attributes)


def find_peaks(heat: Tensor, most: int, stride: int, size: tuple[int, int]) -> tuple[Tensor, Tensor]:
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


def decode_boxes(points: Tensor, offsets: Tensor, stride: int) -> Tensor:
    """Boxes from how far their middle lies from a point, in cells, and how large they are, as logarithms."""
    offsets = offsets.float()
    middle = points + offsets[..., :2] * stride
    sides = torch.exp(offsets[..., 2:].clamp(-4, 4)) * UNIT[stride]
    return torch.cat([middle - sides / 2, sides], -1)


def suppress_duplicates(scores: Tensor, boxes: Tensor) -> Tensor:
    """Scores, best first, where an object that was found before, by its box, has −inf."""
    return scores.masked_fill(is_repeated(box_iou(boxes[:, :, None], boxes[:, None]) > TWICE), -torch.inf)


def is_repeated(alike: Tensor) -> Tensor:
    """[image, row] whether a row is like one before it: rows come best first."""
    return (alike & torch.ones(alike.shape[-2:], dtype=torch.bool, device=alike.device).tril(-1)).any(-1)


def find_nearest_object(pointed: Tensor, boxes: Tensor, there: Tensor) -> Tensor:
    """[image, part] the object, of those that are there, whose middle lies nearest to where a part points.

    A large object reaches further: the distance is divided by the root of its side.
    """
    away = (pointed[:, :, None] - box_centres(boxes)[:, None]).abs().sum(-1)
    away = away / boxes[:, None, :, 2:].mean(-1).clamp(min=8.0).sqrt()
    return away.masked_fill(~there[:, None], torch.inf).argmin(-1)


def normalise_pixels(images: Tensor) -> tuple[Tensor, tuple[int, int]]:
    """[image, 3, height, width] around 0, padded on the right and below to whole cells; and the true size."""
    if images.ndim != 4 or images.shape[3] != 3 or images.dtype != torch.uint8:
        raise UserError(
            f"a scene parser reads images [image, height, width, 3] of uint8, not {list(images.shape)} of "
            f"{str(images.dtype).removeprefix('torch.')}"
        )
    height, width = images.shape[1:3]
    if min(height, width) < SMALLEST:
        raise UserError(f"an image of {width}×{height} is too small to parse: a side has {SMALLEST} pixels or more")
    pixels = images.permute(0, 3, 1, 2).float().mul(1 / 64).sub(2.0)
    pixels = F.pad(pixels, (0, -width % DEEPEST, 0, -height % DEEPEST))
    return pixels.contiguous(memory_format=torch.channels_last), (width, height)


def _build_conv(inside: int, outside: int, side: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(inside, outside, side, padding=side // 2, bias=False), nn.BatchNorm2d(outside), nn.ReLU()
    )


def _build_group_conv(inside: int, outside: int, stride: int) -> nn.Module:
    """A convolution of patches; patches that stand for nothing must not sway the others, so no batch norm."""
    groups = next(g for g in (8, 4, 2, 1) if outside % g == 0)
    return nn.Sequential(nn.Conv2d(inside, outside, 3, stride, 1, bias=False), nn.GroupNorm(groups, outside), nn.ReLU())


def _build_dense(inside: int, hidden: int, outside: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inside, hidden), nn.ReLU(), nn.Linear(hidden, outside))


def _build_normed_layer(inside: int, outside: int) -> nn.Module:
    return nn.Sequential(nn.Linear(inside, outside), nn.LayerNorm(outside), nn.ReLU())


def _build_map_head(inside: int, outside: int) -> nn.Module:
    conv = nn.Conv2d(inside, outside, 1)
    nn.init.normal_(conv.weight, std=0.01)
    nn.init.constant_(conv.bias, RARE)  # type: ignore[arg-type]
    return conv


def _upsample(features: Tensor) -> Tensor:
    return F.interpolate(features, scale_factor=2.0, mode="nearest")


def gather_rows(rows: Tensor, numbers: Tensor) -> Tensor:
    """[image, part, …] the row of each of [image, part] numbers."""
    return rows.gather(1, numbers[..., None].expand(*numbers.shape, rows.shape[-1]))
