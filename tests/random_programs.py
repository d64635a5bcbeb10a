"""Random typed programs over a schema, for property tests and benchmarks."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from shiftscope.lang.op import BOOL, INT, PART, PARTS, SET_OF, VALUE, Op, Signature, Type, all_ops, fits
from shiftscope.lang.program import Node, Program, node
from shiftscope.schema import Attribute, Schema

ANSWERS = (INT, BOOL, VALUE)


def generate_random_program(rng: np.random.Generator, schema: Schema, ops: tuple[str, ...], depth: int = 5) -> Program:
    """A well-typed program of the given ops, at most about `depth` deep, ending in an answer."""
    grower = _ProgramGrower(rng, schema, ops)
    grower.grow(ANSWERS[grower.draw_below(len(ANSWERS))], depth, "")
    return Program(tuple(grower.nodes))


class _ProgramGrower:
    def __init__(self, rng: np.random.Generator, schema: Schema, ops: tuple[str, ...]) -> None:
        self.schema, self.ops = schema, ops
        self.nodes: list[Node] = []
        self.rng = rng
        self.dice: list[float] = []

    def draw_below(self, n: int) -> int:
        """A number under n; draws are taken in bulk, singly they would take most of the time."""
        if not self.dice:
            self.dice = self.rng.random(64).tolist()
        return int(self.dice.pop() * n)

    def grow(self, wanted: Type, depth: int, attribute: str) -> int:
        """Append nodes that give `wanted` (a Value: of `attribute`, when named); the number of the last."""
        options = _list_options(self.ops, wanted, depth <= 0, bool(attribute))
        op, signature = options[self.draw_below(len(options))]
        on_parts = bool(signature.inputs) and signature.inputs[0] in (PART, PARTS)
        if op.name == "equal" and signature.inputs[0] == VALUE:
            attribute = self.pick(_list_comparable(self.schema))
        inputs = tuple(self.grow(t, depth - 1, attribute if t == VALUE else "") for t in signature.inputs)
        self.nodes.append(node(op.name, inputs, self.draw_words(op, on_parts, attribute)))
        return len(self.nodes) - 1

    def draw_words(self, op: Op, on_parts: bool, wanted: str) -> tuple[str, ...]:
        attributes = self.schema.part_attributes if on_parts else self.schema.attributes
        named = [a for a in attributes if a.name == wanted]
        attribute = named[0] if named else attributes[self.draw_below(len(attributes))]
        return tuple(self.draw_word(param, attribute) for param in op.params)

    def draw_word(self, param: str, attribute: Attribute) -> str:
        match param:
            case "attribute":
                return attribute.name
            case "value" | "this" | "that":
                return self.pick(attribute.terms)
            case "relation":
                return self.pick(self.schema.relations)
            case "role":
                return self.pick(("subject", "object"))
            case "number":
                return str(self.draw_below(11))
        raise ValueError(f"no random word for {param}")

    def pick(self, options: tuple[str, ...] | list[str]) -> str:
        return options[self.draw_below(len(options))]


def _list_comparable(schema: Schema) -> list[str]:
    """Attributes that whatever a value may come from, object or part, has."""
    of_parts = {a.name for a in schema.part_attributes} or {a.name for a in schema.attributes}
    return [a.name for a in schema.attributes if a.name in of_parts]


@lru_cache
def _list_options(
    names: tuple[str, ...], wanted: Type, shallow: bool, of_attribute: bool
) -> list[tuple[Op, Signature]]:
    """The ops that give the type; only those nearest to an end when `shallow`."""
    heights = _compute_heights(names)
    options = [
        (op, s)
        for op in (all_ops()[name] for name in names)
        for s in op.signatures
        if fits(s.output, wanted)
        and all(t in heights for t in s.inputs)
        and (not of_attribute or "attribute" in op.params)
    ]
    if shallow:
        rise = [max((heights[t] for t in s.inputs), default=0) for _, s in options]
        options = [option for option, r in zip(options, rise, strict=True) if r == min(rise)]
    return options


@lru_cache
def _compute_heights(names: tuple[str, ...]) -> dict[Type, int]:
    """How deep the shallowest program of each type is; a type that cannot be made is left out."""
    signatures = [s for name in names for s in all_ops()[name].signatures]
    heights: dict[Type, int] = {}
    while True:
        found = dict(heights)
        for s in signatures:
            if all(t in heights for t in s.inputs):
                height = 1 + max((heights[t] for t in s.inputs), default=0)
                for made in {s.output, SET_OF.get(s.output, s.output)}:
                    found[made] = min(height, found.get(made, height))
        if found == heights:
            return heights
        heights = found
