"""CLEVR-shaped scenes and well-founded programs to measure on: about ten nodes each, as in the release."""

from __future__ import annotations

import numpy as np

from shiftscope.lang.exec.exact import execute
from shiftscope.lang.execution_world import ExecutionWorld
from shiftscope.lang.program import Program
from shiftscope.lang.text import parse_program
from shiftscope.rng import derive
from shiftscope.scene import Object, Relation, Scene
from shiftscope.schemas.clevr import SCHEMA

DIRECTIONS = (
    ("left", (-0.6563, -0.7545, 0.0)),
    ("right", (0.6563, 0.7545, 0.0)),
    ("front", (0.7545, -0.6563, 0.0)),
    ("behind", (-0.7545, 0.6563, 0.0)),
)


def scenes(n: int) -> list[Scene]:
    """Scenes with CLEVR's vocabulary and number of objects; layouts are free, there is nothing to render."""
    made = []
    for k in range(n):
        rng = derive("benchmark scene", k)
        objects = tuple(
            Object(
                attributes=tuple((a.name, a.values[rng.integers(len(a.values))]) for a in SCHEMA.attributes),
                position=(float(rng.uniform(-3, 3)), float(rng.uniform(-3, 3)), 0.7),
                rotation=float(rng.uniform(0, 360)),
            )
            for _ in range(rng.integers(3, 11))
        )
        plain = Scene(objects, directions=DIRECTIONS, schema=SCHEMA, id=f"bench_{k:06d}")
        rows = tuple(Relation(name, plain.relation(name) or ()) for name, _ in DIRECTIONS)
        notes = (("image_index", k), ("image_filename", f"bench_{k:06d}.png"), ("split", "bench"))
        made.append(Scene(objects, rows, DIRECTIONS, schema=SCHEMA, id=plain.id, notes=notes))
    return made


def programs(n: int, worlds: list[ExecutionWorld]) -> tuple[list[Program], np.ndarray]:
    """Well-founded programs and the scene each is about."""
    rng = derive("benchmark programs")
    made: list[Program] = []
    rows: list[int] = []
    while len(made) < n:
        program = parse_program(_text(rng))
        for k in rng.integers(0, len(worlds), 8).tolist():
            if execute(program, worlds[k]).is_defined:
                made.append(program)
                rows.append(k)
                break
    return made, np.array(rows)


def _text(rng: np.random.Generator) -> str:
    def pick(options: tuple[str, ...]) -> str:
        return options[rng.integers(len(options))]

    def described(text: str) -> str:
        for a in SCHEMA.attributes:
            if rng.random() < 0.5:
                text = f"filter({text}, {a.name}={pick(a.values)})"
        return text

    def hops(n: int) -> str:
        text = described("scene()")
        for _ in range(n):
            text = described(f"relate(unique({text}), {pick(SCHEMA.relations)})")
        return text

    attribute = pick(tuple(a.name for a in SCHEMA.attributes))
    few, more = int(rng.integers(2)), int(rng.integers(4))
    match int(rng.integers(7)):
        case 0:
            return f"count({hops(more)})"
        case 1:
            return f"exist({hops(more)})"
        case 2:
            return f"query(unique({hops(more)}), {attribute})"
        case 3:
            return f"{pick(('less', 'greater', 'equal'))}(count({hops(few)}), count({hops(few)}))"
        case 4:
            return f"equal(query(unique({hops(few)}), {attribute}), query(unique({hops(few)}), {attribute}))"
        case 5:
            return f"count({described(f'same(unique({hops(0)}), {attribute})')})"
        case _:
            return f"count({pick(('intersect', 'union'))}({hops(1)}, {hops(1)}))"
