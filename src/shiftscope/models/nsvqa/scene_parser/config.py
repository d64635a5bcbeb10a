"""Config: the size of the scene parser, and the words it describes scenes in."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from ....errors import UserError, unknown
from ....registry import SCHEMAS
from ....scene import load_schema
from ....schema import Attribute, Schema

FOLLOWS = ("size",)  # part attributes that are the whole object's: nothing of their own to see


@dataclass(frozen=True, slots=True)
class SceneParserConfig:
    """The sizes of the network; widths and depths have one number a stage, at strides 4, 8, 16 and 32."""

    schema: Schema
    stem: int = 32
    widths: tuple[int, ...] = (32, 80, 144, 208)
    depths: tuple[int, ...] = (2, 2, 2, 2)
    coarse: int = 96  # channels at stride 8, where objects are found
    fine: int = 48  # channels at stride 4, where parts are found
    grid: int = 8  # places across and down a box at which an object is looked at
    part_grid: int = 5
    patch: int = 96  # channels of what is seen through a grid
    part_patch: int = 80
    hidden: int = 256  # numbers that stand for an object
    part_hidden: int = 160
    objects: int = 16  # most that are found in an image
    parts: int = 48
    least: float = 0.1  # peaks below are nothing at all
    apart: str = "color"  # parts that differ in it may stand as close as they like: each value has its map

    def __post_init__(self) -> None:
        if not self.schema.closed or not self.schema.attributes:
            raise UserError(f"a scene parser needs a closed schema with attributes, not {self.schema.name!r}")
        if len(self.widths) != 4 or len(self.depths) != 4:
            raise UserError("a scene parser has four stages: give four widths and four depths")
        sizes = [self.stem, self.coarse, self.fine, self.grid, self.part_grid, self.patch, self.part_patch]
        sizes += [*self.widths, *self.depths, self.hidden, self.part_hidden, self.objects, self.parts]
        if min(sizes) < 1:
            raise UserError("the sizes of a scene parser are whole numbers from 1 up")
        if not 0 <= self.least < 1:
            raise UserError(f"least must be a score from 0 to below 1, not {self.least:g}")

    @property
    def own_part_attributes(self) -> tuple[Attribute, ...]:
        """The part attributes that are looked at, in the schema's order; the others follow the object."""
        mine = {a.name: a for a in self.schema.attributes}
        follow = [n for n in FOLLOWS if n in mine]
        return tuple(a for a in self.schema.part_attributes if a.name not in follow or mine[a.name].values != a.values)

    @property
    def part_maps(self) -> int:
        """How many maps parts are found on."""
        return len(self.schema.part_attributes[self.split_attribute].values) if self.split_attribute is not None else 1

    @property
    def split_attribute(self) -> int | None:
        """Which part attribute says on which map a part is found; None where one map holds all."""
        names = [a.name for a in self.schema.part_attributes]
        return names.index(self.apart) if self.apart in names else None

    def to_json(self) -> dict[str, Any]:
        named = {f.name: getattr(self, f.name) for f in fields(self)}
        known = self.schema.name in SCHEMAS.names() and load_schema(self.schema.name) == self.schema
        named["schema"] = self.schema.name if known else self.schema.to_json()
        return {k: list(v) if isinstance(v, tuple) else v for k, v in named.items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        known = {f.name for f in fields(cls)}
        for name in data:
            if name not in known:
                raise unknown("setting", name, known, "the scene parser's config")
        if "schema" not in data:
            raise UserError("the scene parser's config names no schema")
        schema = data["schema"]
        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items() if k != "schema"}
        return cls(load_schema(schema) if isinstance(schema, str) else Schema.from_json(schema), **values)
