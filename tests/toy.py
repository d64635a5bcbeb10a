"""Toy scenes, small enough to read."""

from __future__ import annotations

from shiftscope.scene import Object, Part, Scene, mask_of
from shiftscope.schema import Schema
from shiftscope.schemas import clevr, superclevr

ATTRIBUTES = ("size", "color", "material", "shape")
DIRECTIONS = (
    ("left", (-1.0, 0.0, 0.0)),
    ("right", (1.0, 0.0, 0.0)),
    ("front", (0.0, -1.0, 0.0)),
    ("behind", (0.0, 1.0, 0.0)),
)
RADIUS = {"small": 0.35, "large": 0.7}


def thing(words: str, x: float = 0.0, y: float = 0.0, *parts: Part) -> Object:
    """`thing("small red rubber cube", x, y)`."""
    values = words.split()
    return Object(
        attributes=tuple(zip(ATTRIBUTES, values, strict=True)),
        position=(x, y, RADIUS[values[0]]),
        rotation=0.0,
        parts=parts,
    )


def scene(*objects: Object, schema: Schema = clevr.SCHEMA, name: str = "toy") -> Scene:
    """Objects on a plane, x to the right and y away; relations follow from the positions."""
    return Scene(tuple(objects), directions=DIRECTIONS, schema=schema, id=name)


# From left to right: a red cube, a blue sphere, a red sphere; the cylinder stands behind them all.
THREE_AND_ONE = scene(
    thing("small red rubber cube", -2),
    thing("large blue metal sphere", 0),
    thing("small red metal sphere", 2),
    thing("large green rubber cylinder", 1, 2),
)

TRAFFIC = scene(
    thing(
        "large red metal sedan", -2, 0,
        Part("roof", (("size", "large"), ("color", "blue"), ("material", "rubber"))),
        Part("front_left_wheel", (("size", "large"), ("color", "cyan"), ("material", "metal"))),
    ),
    thing(
        "small gray rubber school", 2, 0,
        Part("roof", (("size", "small"), ("color", "blue"), ("material", "metal"))),
    ),
    thing("small red rubber tandem", 0, 2),
    schema=superclevr.SCHEMA,
    name="traffic",
)  # fmt: skip


def objects(*numbers: int) -> int:
    """The set of these objects."""
    return mask_of(numbers)


def template_to_json(template):
    """A question template as the official files have it."""
    return {
        "params": [{"type": p.type, "name": p.name} for p in template.params],
        "text": list(template.texts),
        "nodes": [
            {"type": n.function, "inputs": list(n.inputs)} | ({"side_inputs": list(n.slots)} if n.slots else {})
            for n in template.nodes
        ],
        "constraints": [{"type": c.type, "params": list(c.params)} for c in template.constraints],
    }
