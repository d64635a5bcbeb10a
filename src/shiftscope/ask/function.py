"""Function: what a node of a template does, going by its official name.

`relate_filter_unique` is relate, then a description of up to one filter per attribute, then unique.
Attributes are read off the name, so that `query_texture` works wherever a schema has a texture.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ..errors import did_you_mean

Takes = Literal["nothing", "relation", "one", "many", "relation and many"]

PLAIN = {  # official name → our op, number of inputs
    "scene": ("scene", 0),
    "unique": ("unique", 1),
    "uniquepart": ("unique", 1),
    "union": ("union", 2),
    "intersect": ("intersect", 2),
    "count": ("count", 1),
    "exist": ("exist", 1),
    "equal_integer": ("equal", 2),
    "equal_object": ("equal", 2),
    "less_than": ("less", 2),
    "greater_than": ("greater", 2),
    "object2part": ("parts", 1),
    "part2object": ("owners", 1),
}
OF_ATTRIBUTE = {"query": 1, "same": 1, "equal": 2, "partquery": 1}
TAILS = ("unique", "count", "exist")
DESCRIPTIONS = tuple(
    f"{head}{tail}"
    for head in ("filter", "relate_filter", "partfilter")
    for tail in ("", *(f"_{t}" for t in TAILS))
)


@dataclass(frozen=True, slots=True)
class Function:
    """One template function, taken apart."""

    op: str  # of our language; "describe" for the template-only ones and single filters
    inputs: int
    takes: Takes = "nothing"  # what its side inputs are
    attribute: str = ""  # that the name fixes
    relate: bool = False  # a description that starts with a relation
    tail: str = ""  # what a description ends with: unique, count, exist or nothing
    on_parts: bool = False  # filters or queries parts

    @property
    def kind(self) -> str:
        """The type of a question that ends here, without its attribute: count, query, equal, …"""
        return self.tail or self.op


def attribute_named(word: str) -> str:
    """The attribute that a parameter's type, or the end of a function's name, stands for."""
    lowered = word.lower()
    return "name" if lowered == "partname" else lowered


@lru_cache(maxsize=512)
def function_named(name: str) -> Function | None:
    """What the function does; None for a name that says nothing."""
    if name == "relate":
        return Function("relate", 1, "relation")
    if name in DESCRIPTIONS:
        head, _, tail = name.rpartition("filter")
        relate = head == "relate_"
        takes: Takes = "relation and many" if relate else "many"
        return Function("describe", 1, takes, relate=relate, tail=tail.strip("_"), on_parts=head == "part")
    if name in PLAIN:
        op, inputs = PLAIN[name]
        return Function(op, inputs)
    head, _, attribute = name.partition("_")
    if not attribute:
        return None
    on_parts = head.startswith("part")
    if head in ("filter", "partfilter"):
        return Function("describe", 1, "one", attribute_named(attribute), on_parts=on_parts)
    if head == "not":
        return Function("exclude", 1, "one", attribute_named(attribute))
    if head in OF_ATTRIBUTE:
        op = head.removeprefix("part")
        return Function(op, OF_ATTRIBUTE[head], "nothing", attribute_named(attribute), on_parts=on_parts)
    return None


def nearest(name: str) -> str:
    """`; did you mean 'filter_unique'?` for a name that is close to a known one."""
    return did_you_mean(name, (*PLAIN, *DESCRIPTIONS, "relate", "query_color", "same_color", "equal_color"))


def nearest_description(name: str) -> str:
    """The same for `filter_uniq`, which reads like a filter by an attribute `uniq`."""
    return did_you_mean(name, DESCRIPTIONS) if did_you_mean(name.rpartition("_")[2], TAILS) else ""


def official_kind(name: str) -> str:
    """What the official files call a question that ends in this function: its last executable op."""
    found = function_named(name)
    return found.tail if found and found.tail else name
