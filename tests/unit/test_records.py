"""to_json and from_json: what a record's fields say, and one sentence where the JSON says something else."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from shiftscope.errors import UserError
from shiftscope.records import AS_OBJECT, from_json, to_json


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Leaf:
    name: str
    weight: float = 1.0

    def to_json(self) -> list[Any]:
        return [self.name, self.weight]

    @classmethod
    def from_json(cls, data: Any) -> Leaf:
        return cls(*data)


@dataclass(frozen=True, slots=True)
class Stem:
    length: int
    leaves: tuple[Leaf, ...] = ()


@dataclass(frozen=True, slots=True)
class Plant:
    name: str
    size: tuple[int, int]
    stem: Stem | None = None
    stems: tuple[Stem, ...] = ()
    colour: Colour = Colour.RED
    kind: Literal["tree", "herb"] = "tree"
    notes: Annotated[tuple[tuple[str, tuple[int, ...]], ...], AS_OBJECT] = ()
    counts: dict[str, int] = field(default_factory=dict)
    answer: bool | int | str | None = None
    file: Path | None = None
    tags: frozenset[str] = frozenset()
    total: int = field(init=False, default=0)


OAK = Plant(
    "oak", (3, 4), Stem(5, (Leaf("a"),)), (Stem(1), Stem(2)), Colour.BLUE, "herb", (("n", (1, 2)),), {"x": 1},
    True, Path("a/b"), frozenset("ba"),
)  # fmt: skip
OAK_JSON = {
    "name": "oak",
    "size": [3, 4],
    "stem": {"length": 5, "leaves": [["a", 1.0]]},
    "stems": [{"length": 1, "leaves": []}, {"length": 2, "leaves": []}],
    "colour": "blue",
    "kind": "herb",
    "notes": {"n": [1, 2]},
    "counts": {"x": 1},
    "answer": True,
    "file": "a/b",
    "tags": ["a", "b"],
}


def test_a_record_is_its_fields_in_their_order():
    assert to_json(OAK) == OAK_JSON
    assert list(to_json(OAK)) == list(OAK_JSON)


@pytest.mark.parametrize("plant", [OAK, Plant("fern", (0, 1))])
def test_a_record_goes_through_json(plant):
    data = json.loads(json.dumps(to_json(plant)))
    assert from_json(Plant, data) == plant


def test_a_field_with_a_default_may_be_missing():
    assert from_json(Plant, {"name": "fern", "size": [0, 1]}) == Plant("fern", (0, 1))


def test_a_whole_number_is_read_as_the_float_it_was():
    @dataclass(frozen=True)
    class Weight:
        value: float

    globals()["Weight"] = Weight
    assert type(from_json(Weight, {"value": 2}).value) is float


FERN = {"name": "fern", "size": [0, 1]}


@pytest.mark.parametrize(
    "data, message",
    [
        (FERN | {"sise": 1}, "no field 'sise' in Plant; did you mean 'size'?"),
        ({"name": "fern"}, "Plant: there is no 'size' in it"),
        ([], "Plant: expected an object, got []"),
        (FERN | {"name": 3}, "Plant: name: expected text, got 3"),
        (FERN | {"size": [1]}, "Plant: size: expected 2 values, got [1]"),
        (FERN | {"size": [1, True]}, "Plant: size: expected a whole number, got True"),
        (FERN | {"stem": {"length": 1.5}}, "Plant: stem: Stem: length: expected a whole number, got 1.5"),
        (FERN | {"colour": "green"}, "Plant: colour: expected one of 'red', 'blue', got 'green'"),
        (FERN | {"kind": ["tree"]}, "Plant: kind: expected one of 'tree', 'herb', got ['tree']"),
        (FERN | {"notes": [1]}, "Plant: notes: expected an object, got [1]"),
        (FERN | {"stems": "x"}, "Plant: stems: expected a list, got 'x'"),
        (FERN | {"file": 1}, "Plant: file: expected a path, got 1"),
    ],
)
def test_what_does_not_fit_is_named(data, message):
    with pytest.raises(UserError) as error:
        from_json(Plant, data)
    assert str(error.value) == message


def test_the_record_may_be_named_in_errors():
    with pytest.raises(UserError, match="no field 'b' in the plant's file"):
        from_json(Plant, FERN | {"b": 1}, "the plant's file")
