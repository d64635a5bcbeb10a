"""Other things that share an attribute with a given one."""

from __future__ import annotations

from collections.abc import Iterator

from ...schema import Schema
from ..english import plural
from ..lexicon import thing_word
from ..template import Template
from ._phrases import value_questions, word_for
from ._sketch import Sketch

FILE = "same_relate.json"
EXIST = (
    "Does anything else match the {1} in {a}?",
    "Does the {1} share its {a} with anything else?",
    "Do any other {things} match the {1} in {a}?",
)
COUNT = (
    "How many other {things} match the {1} in {a}?",
    "How many other {things} share the {a} of the {1}?",
    "With how many other {things} does the {1} share its {a}?",
)
EXIST_OF = (
    "Does any other {2} match the {1} in {a}?",
    "Do any other {2s} share the {a} of the {1}?",
    "Does the {1} share its {a} with another {2}?",
)
COUNT_OF = (
    "How many other {2s} match the {1} in {a}?",
    "How many other {2s} share the {a} of the {1}?",
    "With how many other {2s} does the {1} share its {a}?",
)
SUBJECTS = (
    "the other {2} that matches the {1} in {a}",
    "the other {2} that shares the {a} of the {1}",
)
OF_ONE_MODEL = {
    "Does anything else match the {1} in {a}?": "Is anything else the same model as the {1}?",
    "Do any other {things} match the {1} in {a}?": "Are any other {things} the same model as the {1}?",
    "How many other {things} match the {1} in {a}?": "How many other {things} are the same model as the {1}?",
    "Does any other {2} match the {1} in {a}?": "Is any other {2} the same model as the {1}?",
    "How many other {2s} match the {1} in {a}?": "How many other {2s} are the same model as the {1}?",
    "the other {2} that matches the {1} in {a}": "the other {2} that is the same model as the {1}",
}


def templates(schema: Schema) -> Iterator[Template]:
    """Is there another, how many others, with and without a description, and what the other one is like."""
    family = 0
    for end, texts in (("exist", EXIST), ("count", COUNT)):
        for attribute in schema.attributes:
            sketch = _sharing(schema, attribute.name)
            sketch.node(end, len(sketch.nodes) - 1)
            yield sketch.template(FILE, family, _named(texts, attribute.name, schema))
            family += 1
    for end, texts in (("exist", EXIST_OF), ("count", COUNT_OF)):
        for attribute in schema.attributes:
            sketch = _sharing(schema, attribute.name)
            sketch.describe(f"filter_{end}", 2, len(sketch.nodes) - 1)
            sketch.keep_empty(attribute.name, 2)
            yield sketch.template(FILE, family, _named(texts, attribute.name, schema))
            family += 1
    for shared in schema.attributes:
        for asked in schema.attributes:
            if asked.name != shared.name:
                sketch = _sharing(schema, shared.name)
                other = sketch.describe("filter_unique", 2, len(sketch.nodes) - 1)
                sketch.node(f"query_{asked.name}", other)
                sketch.keep_empty(shared.name, 2)
                sketch.keep_empty(asked.name, 2)
                subjects = _named(SUBJECTS, shared.name, schema)
                asking = [t for s in subjects for t in value_questions(asked.name, s, schema)]
                yield sketch.template(FILE, family, asking)
                family += 1


def _sharing(schema: Schema, attribute: str) -> Sketch:
    sketch = Sketch(schema)
    sketch.node(f"same_{attribute}", sketch.describe("filter_unique", 1))
    sketch.keep_empty(attribute, 1)
    return sketch


def _named(texts: tuple[str, ...], attribute: str, schema: Schema) -> list[str]:
    things, word = plural(thing_word(schema)), word_for(attribute, schema)
    if word == "model":  # nothing matches in model
        texts = tuple(OF_ONE_MODEL.get(t, t) for t in texts)
    return [t.replace("{a}", word).replace("{things}", things) for t in texts]
