"""The concept space: regions of an image and the concepts of a schema, embedded so that likeness is probability."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...lang.arrays import Array
from ...lang.execution_world import PAPER, SIDES, SoftSceneTables, SoftThingTables
from ...lang.scene_posterior import ScenePosterior
from ...schema import Attribute, Schema
from ...trained_folder import read_schema
from ..nsvqa.scene_parser.network import box_centres, box_far_corners, gather_rows, normalise_points
from ..nsvqa.scene_parser.regions import Regions
from .execution import ConceptSchedule, SceneConcepts, ThingConcepts, execute_concepts

SHARPNESS = 10.0  # what a cosine is multiplied with, before it learns
FRAME = 5  # numbers that say where a box lies
DOUBT = 0.01  # share of a distribution that is spread over all values, so that no answer is out of reach


@dataclass(frozen=True, slots=True)
class ConceptConfig:
    """The sizes of the network, and the words that it learns."""

    schema: Schema
    region: int  # numbers that stand for an object's region
    part_region: int
    hidden: int = 256
    concept: int = 64  # numbers that stand for a concept
    place: int = 8  # numbers that stand for where a thing stands
    pair: int = 64

    @property
    def relations(self) -> tuple[str, ...]:
        return tuple(name for name in self.schema.relations if name in SIDES)

    def to_json(self) -> dict[str, Any]:
        sizes = {name: value for name, value in asdict(self).items() if name != "schema"}
        return {"schema": self.schema.to_json(), **sizes}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(read_schema(data["schema"]), **{name: value for name, value in data.items() if name != "schema"})


@dataclass(frozen=True, slots=True, eq=False)
class ConceptPosterior(ScenePosterior):
    """A scene posterior whose relations are learned."""

    relations: Array = None  # [scene, relation, object, object] that the second stands in the relation to the first

    def map_fields(self, names: Sequence[str], change: Callable[[Array], Array]) -> "ConceptPosterior":
        """The relations change with the objects."""
        named = (*names, "relations") if "exists" in names else names
        return cast(ConceptPosterior, ScenePosterior.map_fields(self, named, change))

    def list_arrays(self) -> list[Array]:
        found: list[Array] = []

        def keep(array: Array) -> Array:
            found.append(array)
            return array

        self.map_arrays(keep)
        return found


class ConceptSpace(nn.Module):
    """`forward(regions)` says what is in them; random weights until it is trained or loaded."""

    def __init__(self, config: ConceptConfig) -> None:
        super().__init__()
        self.config = config
        schema, hidden = config.schema, config.hidden
        self.object = RegionEncoder(config.region + FRAME, hidden, schema.attributes, config.concept)
        if schema.part_attributes:
            inside = config.part_region + hidden + FRAME
            self.part = RegionEncoder(inside, hidden, schema.part_attributes, config.concept)
        self.place = nn.Linear(hidden, config.place)
        sides = 3 * (config.place + FRAME)
        self.pair = nn.Sequential(nn.Linear(sides, config.pair), nn.ReLU(), nn.Linear(config.pair, config.pair))
        self.relations = nn.Parameter(torch.randn(len(config.relations), config.pair) / config.pair**0.5)

    def forward(self, regions: Regions) -> ConceptPosterior:
        frame = describe_boxes(regions.boxes, regions.size)
        known = self.object.encode(torch.cat([regions.features.float(), frame], -1))
        attributes = self.object.recognise(known)
        part_attributes: tuple[Tensor, ...] = ()
        if self.config.schema.part_attributes:
            owned = [gather_rows(known, regions.owner), describe_boxes(regions.part_boxes, regions.size)]
            part_known = self.part.encode(torch.cat([regions.part_features.float(), *owned], -1))
            part_attributes = self.part.recognise(part_known)
        place = torch.cat([self.place(known).float(), frame], -1)
        return ConceptPosterior(
            schema=self.config.schema,
            size=regions.size,
            exists=regions.exists,
            attributes=attributes,
            boxes=regions.boxes,
            part_exists=regions.part_exists,
            part_owner=regions.owner,
            part_attributes=part_attributes,
            relations=self._relate(place, regions.exists),
        )

    def _relate(self, place: Tensor, exists: Tensor) -> Tensor:
        """[image, relation, object, object] for things that are there and are two."""
        count = place.shape[1]
        one, other = place[:, :, None].expand(-1, -1, count, -1), place[:, None].expand(-1, count, -1, -1)
        pairs = self.pair(torch.cat([one, other, other - one], -1)).float()
        likely = torch.sigmoid(torch.einsum("bijd,rd->brij", pairs, self.relations.float()))
        there = (exists > PAPER.detected).float()[:, None, None, :]
        return likely * there * (1 - torch.eye(count, device=place.device))


class RegionEncoder(nn.Module):
    """From regions to what stands for each, and from there to the values of each attribute, by their embeddings."""

    def __init__(self, inside: int, hidden: int, attributes: tuple[Attribute, ...], concept: int) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Linear(inside, hidden), nn.LayerNorm(hidden), nn.ReLU())
        self.second = nn.Sequential(nn.Linear(hidden, hidden), nn.LayerNorm(hidden), nn.ReLU())
        self.views = nn.ModuleList(nn.Linear(hidden, concept) for _ in attributes)  # a space for each attribute
        self.concepts = nn.ParameterList(torch.randn(len(a.values), concept) for a in attributes)
        self.sharpness = nn.Parameter(torch.full((len(attributes),), math.log(SHARPNESS)))

    def encode(self, inputs: Tensor) -> Tensor:
        found: Tensor = self.second(self.first(inputs))
        return found

    def recognise(self, known: Tensor) -> tuple[Tensor, ...]:
        """For each attribute [image, thing, value] the probabilities."""
        found = []
        for view, concepts, sharp in zip(self.views, self.concepts, self.sharpness, strict=True):
            likeness = F.normalize(view(known).float(), dim=-1) @ F.normalize(concepts.float(), dim=-1).T
            chance = (likeness * sharp.exp()).softmax(-1)
            found.append(chance * (1 - DOUBT) + DOUBT / len(concepts))
        return tuple(found)


def describe_boxes(boxes: Tensor, size: tuple[int, int]) -> Tensor:
    """[…, FRAME] the middle, the lower edge and the sides, around 0."""
    middle, far = normalise_points(box_centres(boxes), size), normalise_points(box_far_corners(boxes), size)
    return torch.cat([middle - 0.5, far[..., 1:] - 0.5, normalise_points(boxes[..., 2:], size)], -1) * 4


def lay_out_concepts(posterior: ConceptPosterior) -> SceneConcepts:
    """The posterior as programs read it."""
    tables = SoftSceneTables(posterior, PAPER)

    def lay_out(things: SoftThingTables) -> ThingConcepts:
        wide = max((p.shape[-1] for p in things.attributes), default=1)
        if not things.attributes:
            empty = things.there.new_zeros(len(things.there), 1, things.width, 1)
            return ThingConcepts(things.there, empty, empty[..., 0])
        values = torch.stack([F.pad(p, (0, wide - p.shape[-1])) for p in things.attributes], 1)
        return ThingConcepts(things.there, values, things.term_probabilities.reshape(len(values), -1, things.width))

    return SceneConcepts(lay_out(tables.objects), lay_out(tables.parts), tables.owner, posterior.relations)


def answer_programs(posterior: Any, programs: ConceptSchedule) -> Tensor:
    """[program, answer] as `execute_concepts` gives it, in float32 whatever the network computes in."""
    with torch.autocast(posterior.exists.device.type, enabled=False):
        return execute_concepts(programs, lay_out_concepts(posterior))
