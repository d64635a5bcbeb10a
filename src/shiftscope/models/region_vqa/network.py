"""Networks over regions: their features as tables on the device, their encoder, and what joins them with a question.

Regions of one sort have features of one length and form a group: the objects and the parts that our scene parser
finds, the 36 regions of a bottom-up file, or labels and boxes. A table has a row per image; batches pick rows of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...errors import UserError
from ...files import digest_of, write_whole
from ...trainable import SplitData
from ..end_to_end.network import AnswerBatch, Answerer, AnswerStates, QuestionEncoder, pick_rows
from ..end_to_end.questions import AnswererConfig
from ..nsvqa.scene_parser.config import SceneParserConfig
from ..nsvqa.scene_parser.network import SceneParser
from ..nsvqa.scene_parser.regions import Regions, count_numbers, find_all_regions, find_regions
from .feature_files import list_images, normalise_id, read_regions

CORNERS = 4  # numbers that say where a region lies
PLACE = CORNERS + 1  # and whether there is one
ALIGNED = 8  # numbers: a GPU multiplies matrices faster whose rows are a multiple of it long


@dataclass(frozen=True, slots=True, eq=False)
class RegionGroup:
    """Regions of one sort in some images."""

    features: Tensor  # [image, region, number] float16, on a GPU bfloat16
    corners: Tensor  # [image, region, left top right bottom] from 0 to 1
    exists: Tensor  # [image, region] bool

    def take(self, rows: Tensor) -> RegionGroup:
        return RegionGroup(*(table.index_select(0, rows) for table in (self.features, self.corners, self.exists)))


@dataclass(frozen=True, slots=True, eq=False)
class RegionTable:
    """The regions of some images, group by group."""

    groups: tuple[RegionGroup, ...]

    def __len__(self) -> int:
        return len(self.groups[0].exists)

    def take(self, rows: Tensor) -> RegionTable:
        return RegionTable(tuple(group.take(rows) for group in self.groups))


def group_regions(regions: Regions, parts: bool) -> RegionTable:
    """What a scene parser finds, as a table."""
    scale = torch.tensor([*regions.size, *regions.size], dtype=torch.float32, device=regions.boxes.device)

    def build_group(features: Tensor, boxes: Tensor, exists: Tensor) -> RegionGroup:
        corners = torch.cat([boxes[..., :2], boxes[..., :2] + boxes[..., 2:]], -1).float() / scale
        return RegionGroup(round_features(align_rows(features)), corners, exists > 0)

    groups = [build_group(regions.features, regions.boxes, regions.exists)]
    if parts:
        groups.append(build_group(regions.part_features, regions.part_boxes, regions.part_exists))
    return RegionTable(tuple(groups))


@dataclass(frozen=True, slots=True, eq=False)
class PickedRegions:
    """The regions of some images of a table, which are read from it when they are looked at.

    A captured step then reads the table, which is one for a whole training, where it lies: no batch has a copy of it.
    """

    pick: Callable[[Tensor], RegionTable]  # of numbers of images
    rows: Tensor  # [question] the number of its image

    def take(self, rows: Tensor) -> PickedRegions:
        return PickedRegions(self.pick, self.rows.index_select(0, rows))

    def read(self) -> RegionTable:
        return self.pick(self.rows)


def align_rows(table: Tensor) -> Tensor:
    """On a GPU, rows with so many zeros behind them that their length is a multiple of ALIGNED."""
    return F.pad(table, (0, -table.shape[-1] % ALIGNED)) if table.is_cuda else table


def round_features(features: Tensor) -> Tensor:
    """On a GPU, in the numbers that autocast would make of them in every step."""
    return features.bfloat16() if features.is_cuda else features


class AlignedLinear(nn.Linear):
    """A linear map that takes no notice of what `align_rows` put behind its input."""

    def forward(self, given: Tensor) -> Tensor:
        more = given.shape[-1] - self.in_features
        return F.linear(given, F.pad(self.weight, (0, more)) if more else self.weight, self.bias)


_tables: Any = None  # of the scene parser's regions, by their images: models trained in turn share them


def find_region_table(parser: SceneParser, origin: str, data: SplitData, device: str) -> RegionTable:
    """The regions of images, found once for as long as the images are held; `origin` says which weights found them."""
    from torch.utils.weak import WeakIdKeyDictionary

    global _tables
    _tables = WeakIdKeyDictionary() if _tables is None else _tables
    pixels = data.pixels
    assert pixels is not None
    held = _tables.setdefault(pixels, {})
    key = (origin, device)
    if key not in held:

        def find() -> RegionTable:
            regions = find_all_regions(parser, pixels, device)
            return group_regions(regions, bool(parser.config.schema.part_attributes))

        held[key] = find() if data.kept is None else _share_table(find, data.kept, origin, device)
    found: RegionTable = held[key]
    return found


def _share_table(find: Callable[[], RegionTable], folder: Path, origin: str, device: str) -> RegionTable:
    """The table that one of several processes finds and the others, which wait for it, read."""
    import fcntl

    from safetensors.torch import load_file, save

    path = folder / f"regions-{digest_of(origin.encode())[:16]}-{torch.device(device).type}.safetensors"
    names = [f.name for f in fields(RegionGroup)]
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if path.exists():
            tensors = load_file(path, device)
            groups = range(len(tensors) // len(names))
            return RegionTable(tuple(RegionGroup(*(tensors[f"{k} {name}"] for name in names)) for k in groups))
        found = find()
        own = {f"{k} {n}": getattr(g, n).contiguous() for k, g in enumerate(found.groups) for n in names}
        write_whole(path, save(own), durable=False)
        return found


def load_region_table(about: Mapping[str, Any], images: Sequence[str], device: str) -> RegionTable:
    """The regions of images as a file has them; what was read last is held, as models trained in turn share it."""
    path = Path(about["file"])
    changed = path.stat().st_mtime_ns if path.exists() else 0
    return _load_table(json.dumps(dict(about), sort_keys=True), changed, tuple(images), device)


@lru_cache(maxsize=2)
def _load_table(about: str, changed: int, images: tuple[str, ...], device: str) -> RegionTable:
    found = read_regions(json.loads(about), images)
    arrays = (found.features, found.corners, found.exists)
    return RegionTable((RegionGroup(*(torch.from_numpy(array).to(device) for array in arrays)),))


class RegionLookup:
    """The regions of images by their names, each read from the file once."""

    def __init__(self, about: Mapping[str, Any]) -> None:
        self.about = about
        self._table: RegionTable | None = None
        self._place: dict[str, int] = {}

    def __call__(self, images: Sequence[str], device: str) -> RegionTable:
        if self._table is None:
            names = list_images(self.about)
            self._table, self._place = load_region_table(self.about, names, device), {n: k for k, n in enumerate(names)}
        lacking = [name for name in images if normalise_id(name) not in self._place]
        if lacking:
            raise UserError(
                f"{self.about['file']} lacks {len(lacking):,} of the images asked about, such as {lacking[0]}"
            )
        return self._table.take(torch.tensor([self._place[normalise_id(name)] for name in images], device=device))


class RegionProjection(nn.Module):
    """Brings each group's features to one width, and says where each region lies and whether there is one."""

    def __init__(self, features: Mapping[str, Any], width: int) -> None:
        super().__init__()
        self.width = width
        self.parser: SceneParser | None = None
        if "scene_parser" in features:
            config = SceneParserConfig.from_json(features["scene_parser"])
            self.parser = SceneParser(config).requires_grad_(False)
        numbers = list_feature_sizes(features)
        self.looks = nn.ModuleList(nn.Sequential(AlignedLinear(n, width), nn.LayerNorm(width)) for n in numbers)

    def train(self, mode: bool = True) -> RegionProjection:
        """The scene parser keeps its statistics."""
        super().train(mode)
        if self.parser is not None:
            self.parser.eval()
        return self

    def encode_images(self, images: Tensor) -> Tensor:
        """[image, region, width + 5] of pixels of uint8."""
        assert self.parser is not None
        parts = bool(self.parser.config.schema.part_attributes)
        encoded: Tensor = self(group_regions(find_regions(self.parser, images), parts))
        return encoded

    def forward(self, table: RegionTable) -> Tensor:
        """[image, region, width + 5]: what stands for each region, its corners, and 1 where there is one."""
        rows = []
        for look, group in zip(self.looks, table.groups, strict=True):
            features = group.features if group.features.is_cuda else group.features.float()
            there = group.exists.float()[..., None]
            rows.append(torch.cat([look(features).float() * there, group.corners.float() * there, there], -1))
        return torch.cat(rows, 1)


def list_feature_sizes(features: Mapping[str, Any]) -> Sequence[int]:
    """How long the features of each group are."""
    if not features:
        return ()
    if "scene_parser" in features:
        config = SceneParserConfig.from_json(features["scene_parser"])
        return count_numbers(config)[: 2 if config.schema.part_attributes else 1]
    return (int(features["numbers"]),)


class RegionAnswerer(Answerer):
    """`join` makes of words and regions the state that the classifier reads."""

    def __init__(self, config: AnswererConfig) -> None:
        nn.Module.__init__(self)
        self.config = config
        hidden, self.seen = self.size("hidden"), self.size("visual") + PLACE
        self.features = RegionProjection(config.features, self.size("visual"))
        self.question = QuestionEncoder(config.tokens, self.size("words"), hidden, nn.GRU)
        self.question_size = hidden

    def train(self, mode: bool = True) -> RegionAnswerer:
        nn.Module.train(self, mode)
        return self

    def encode_images(self, images: Tensor) -> Tensor:
        encoded: Tensor = self.features.encode_images(images)
        return encoded

    def see(self, batch: AnswerBatch) -> tuple[Tensor, Tensor]:
        """[question, region, visual + 5, aligned], and which regions there are; one that is nothing where none are."""
        given: Any = batch.images
        if given is None:
            seen = torch.zeros(len(batch), 1, self.seen, device=batch.words.device)
        elif isinstance(given, RegionTable):
            seen = pick_rows(self.features(given), batch.rows)
        else:
            seen = pick_rows(self.encode_images(given) if given.dtype == torch.uint8 else given, batch.rows)
        there = seen[..., -1] > 0
        return align_rows(seen), there | ~there.any(1, keepdim=True)  # attention needs something to attend to

    def read_states(self, batch: AnswerBatch) -> AnswerStates:
        if isinstance(batch.images, PickedRegions):
            batch = replace(batch, images=batch.images.read())
        seen, there = self.see(batch)
        states = self.question.scan(batch.words)
        question = self.question.pick_last(states, batch.lengths)
        scores, joint = self.join(states, question, batch, seen, there)
        return AnswerStates(scores, joint, question)

    def join(
        self, states: Tensor, question: Tensor, batch: AnswerBatch, seen: Tensor, there: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Scores of answers, and what the classifier reads; `states` are the question's at each word."""
        raise NotImplementedError


class Perceptron(nn.Sequential):
    """A linear map and a ReLU, dropout before it."""

    def __init__(self, inside: int, outside: int, dropout: float = 0.0) -> None:
        super().__init__(nn.Dropout(dropout), AlignedLinear(inside, outside), nn.ReLU())


class AnswerClassifier(nn.Module):
    """A hidden layer and the scores of answers."""

    def __init__(self, inside: int, hidden: int, answers: int, dropout: float) -> None:
        super().__init__()
        self.hidden, self.dropout = Perceptron(inside, hidden), nn.Dropout(dropout)
        self.last = nn.Linear(hidden, answers)

    def forward(self, joint: Tensor) -> Tensor:
        scores: Tensor = self.last(self.dropout(self.hidden(joint)))
        return scores
