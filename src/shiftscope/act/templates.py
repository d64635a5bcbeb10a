"""Templates of questions about an outcome: CLEVR's own for the five kinds, and those with and, or, not.

What a question asks is what *would* be: the picture shows the scene before the action.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from ..ask.own import GROUPS
from ..ask.template import Template, check_template
from ..ask.templates._sketch import Sketch
from ..schema import Schema, Words
from ..schemas.clevr import SCHEMA
from .stage import RELATIONS

# Of the slots, those that are hardest to fill come first: an action that they can not be asked about goes.
KINDS = ("exist", "count", "query_attribute", "compare_attribute", "compare_integer")
SLOTS = (("and", "count"), ("and", "query_attribute"), ("or", "count"), ("not", "count"), ("not", "exist"))

AFTER: Schema = replace(SCHEMA, relations=RELATIONS)  # an outcome may have one object on another
SAID: Words = (("on", ("on top of",)), ("below", ("below", "underneath")))

WOULD = tuple(  # from what the picture shows to what there would be; patterns, tried in this order
    (re.compile(shown), supposed)
    for shown, supposed in (
        (r"\bdoes the picture show\b", "would there be"),
        (r"\bDoes the picture show\b", "Would there be"),
        (r"\b([Cc])an you find\b", r"\1ould you find"),
        (r"\bdo you have if you take\b", "would you have if you took"),
        (r"\bdo you (see|find|have|get)\b", r"would you \1"),
        (r"\bDo you (see|find)\b", r"Would you \1"),
        (r"\bwould you call\b", "would you then call"),
        (r"\bare there\?", "would there be?"),
        (r"^(Are|Is) there\b", "Would there be"),
        (r"^Is (the .+?) (the same|just as|made from|lower than|higher than)\b", r"Would \1 be \2"),
        (r"^(?:Do|Does)\b", "Would"),
        (r"^How many (.+?) lie\b", r"How many \1 would lie"),
        (r"^How many (.+?) are (<R>)", r"How many \1 would be \2"),
        (r"\bHow many of (.+?) are (<\w+>s?)\?", r"How many of \1 would be \2?"),
        (r"\bhas been used\b", "would have been used"),
        (r"\b([Ww]hich \w+|[Hh]ow large) is it\?", r"\1 would it be?"),
        (r"\b([Ww]hich \w+) does it\b", r"\1 would it"),
        (r"\bwhat is it made\b", "what would it be made"),
        (r"^(Which \w+|How large) is (the .+)\?$", r"\1 would \2 be?"),
    )
)
NOT = "negation.json"
NOT_COUNT = (
    "How many {1s} that are not {V} would there be?",
    "How many of the {1s} would not be {V}?",
)
NOT_EXIST = (
    "Would there be any {1s} that are not {V}?",
    "Would you see a {1} that is not {v}?",
)
NOT_COUNT_RELATED = ("How many {2s} that are not {V} would there be <R> the {1}?",)
NOT_EXIST_RELATED = ("Would there be any {2s} that are not {V} <R> the {1}?",)


@dataclass(frozen=True, slots=True)
class Family:
    """A template, the slot that its questions fill and what it is told by in a report."""

    template: Template
    slot: int
    kind: str
    logic: str = ""


@cache
def five_kinds() -> tuple[Family, ...]:
    """One slot for each kind of question."""
    found = []
    for template in _own():
        kind = _kind(template)
        if kind:
            found.append(Family(template, KINDS.index(kind), kind))
    return tuple(found)


@cache
def logical() -> tuple[Family, ...]:
    """Slots for questions with "and", "or" and "not"."""
    found = []
    for template in (*_own(), *(check_template(t) for t in _negations())):
        last = template.nodes[-1].meaning
        kind = {"count": "count", "exist": "exist", "query": "query_attribute"}.get(last.kind, "")
        logic = {"single_and.json": "and", "single_or.json": "or", NOT: "not"}.get(template.file, "")
        if logic:
            found.append(Family(template, SLOTS.index((logic, kind)), kind, logic))
    return tuple(found)


def _own() -> Iterator[Template]:
    for name in GROUPS.names():
        for template in GROUPS.load(name).templates(AFTER):
            yield check_template(replace(template, texts=tuple(map(would, template.texts))))


def would(text: str) -> str:
    """The text, asking about what would be."""
    for shown, supposed in WOULD:
        text = shown.sub(supposed, text)
    return text


def _kind(template: Template) -> str:
    """Which of the five kinds a template asks; nothing for those that join two things by and, or, same."""
    last = template.nodes[-1].meaning.kind
    if template.file.endswith("_hop.json"):
        return {"count": "count", "exist": "exist", "query": "query_attribute"}[last]
    if template.file == "compare_integer.json":
        return "compare_integer"
    if template.file == "comparison.json" or (template.file == "same_relate.json" and last == "exist"):
        return "compare_attribute"
    return ""


def _negations() -> Iterator[Template]:
    """Things of a description that do not have a value, in the scene or in a relation to another."""
    family = 0
    for end, plain, related in (
        ("count", NOT_COUNT, NOT_COUNT_RELATED),
        ("exist", NOT_EXIST, NOT_EXIST_RELATED),
    ):
        for attribute in AFTER.attributes:
            for hops, texts in enumerate((plain, related)):
                sketch = Sketch(AFTER)
                at = sketch.describe("filter" if hops == 0 else "filter_unique", 1)
                if hops:
                    at = sketch.related("relate_filter", 2, at, 1)
                value = sketch.slot(attribute.name, hops + 2)
                at = sketch.node(f"not_{attribute.name}", at, slots=[value])
                sketch.node(end, at)
                sketch.keep_empty(attribute.name, hops + 1)
                noun = attribute.name == sketch.noun
                said = {"{V}": f"{value}s" if noun else value, "{v}": f"a {value}" if noun else value}
                yield sketch.template(NOT, family, [_told(t, said) for t in texts])
                family += 1


def _told(text: str, said: dict[str, str]) -> str:
    for mark, words in said.items():
        text = text.replace(mark, words)
    return text
