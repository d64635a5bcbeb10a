"""Random scenes of any closed schema, for property tests: no pictures, any layout."""

from __future__ import annotations

from shiftscope.rng import derive
from shiftscope.scene import Object, Part, Scene
from shiftscope.schema import Schema

PLANE = (
    ("left", (-0.6, -0.8, 0.0)),
    ("right", (0.6, 0.8, 0.0)),
    ("front", (0.8, -0.6, 0.0)),
    ("behind", (-0.8, 0.6, 0.0)),
)


def random_scene(schema: Schema, k: int) -> Scene:
    """Scene k: 0 to 10 objects, now and then without an attribute."""
    rng = derive("test scene", schema.name, k)

    def pairs(attributes):
        return tuple(
            (a.name, a.values[rng.integers(len(a.values))])
            for a in attributes
            if a.name != "name" and rng.random() < 0.97
        )

    names = next((a.values for a in schema.part_attributes if a.name == "name"), ())
    objects = []
    for _ in range(rng.integers(0, 11)):
        chosen = rng.choice(len(names), size=rng.integers(0, 4), replace=False) if names else ()
        objects.append(
            Object(
                attributes=pairs(schema.attributes),
                position=tuple(rng.uniform(-3, 3, 3).tolist()),
                rotation=float(rng.uniform(0, 360)),
                parts=tuple(Part(names[i], pairs(schema.part_attributes)) for i in chosen),
            )
        )
    return Scene(tuple(objects), directions=PLANE, schema=schema, id=str(k), notes=(("image_index", k),))
