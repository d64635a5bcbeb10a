"""Super-CLEVR's templates about parts: each group is a function of the schema.

A scene knows the parts that have attributes of their own, while a picture shows every wheel of every vehicle.
So texts speak of *repainted* parts wherever a plain description would take in others; `wording.py` leaves the
word out where the part of one vehicle is named outright.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...english.inflection import plural
from ...english.synonyms import generic_noun
from ...schema import Schema
from .template import Template
from .template_builder import TemplateBuilder, list_comparisons, list_value_questions
from .templates import NUMBER_COMPARISONS

COMPARISON_FILE = "part_comparison.json"
PART, OTHER_PART = "the repainted {2} of the {1}", "the repainted {4} of the {3}"


def build_part_comparison_templates(schema: Schema) -> Iterator[Template]:
    """For each attribute that objects have too; names are spelled in too many ways to compare."""
    own = [a.name for a in schema.attributes]
    family = 0
    for other in ("part", "own", "thing"):
        for attribute in TemplateBuilder(schema).part_attributes:
            if attribute in own:
                texts = _list_comparison_texts(schema, attribute, other)
                yield _build_comparison(schema, attribute, other).build_template(COMPARISON_FILE, family, texts)
                family += 1


def _list_comparison_texts(schema: Schema, attribute: str, other: str) -> list[str]:
    if other != "own":
        return list_comparisons(attribute, PART, OTHER_PART if other == "part" else "the {3}", schema)
    texts = list_comparisons(attribute, "the repainted {2}", "the repainted {3}", schema)
    return [f"On the {{1}}, {text[0].lower()}{text[1:]}" for text in texts]


def _build_comparison(schema: Schema, attribute: str, other: str) -> TemplateBuilder:
    sketch = TemplateBuilder(schema)
    vehicle = sketch.describe("filter_unique", 1)
    parts = sketch.add_node("object2part", vehicle)
    left = sketch.describe_parts("partfilter_unique", 2, parts)
    sketch.keep_empty(attribute, 2)
    values = [sketch.add_node(f"partquery_{attribute}", left)]
    if other == "own":
        right = sketch.describe_parts("partfilter_unique", 3, parts)
        sketch.require_different(left, right)
        sketch.keep_empty(attribute, 3)
    else:
        right = sketch.describe("filter_unique", 3)
        sketch.require_different(vehicle, right)
    if other == "part":
        right = sketch.describe_parts_of("partfilter_unique", 4, right)
        sketch.keep_empty(attribute, 4)
    elif other == "thing":
        sketch.keep_empty(attribute, 3)
    query = "query" if other == "thing" else "partquery"
    values.append(sketch.add_node(f"{query}_{attribute}", right))
    sketch.add_node(f"equal_{attribute}", *values)
    return sketch


# How many repainted parts there are, and whether there is any: in the picture, on a vehicle, on some.

COUNT_FILE = "part_counts.json"
COUNT_TEXTS = {
    "count": (
        "How many repainted {1s} does the picture show?",
        "How many repainted {1s} can you find?",
        "How many repainted {1s} do you see?",
    ),
    "exist": (
        "Does the picture show any repainted {1s}?",
        "Can you find a repainted {1}?",
        "Do you see any repainted {1s}?",
    ),
}
COUNT_TEXTS_OF_ONE = {
    "count": (
        "How many repainted {P}s does {X} have?",
        "How many repainted {P}s do you see on {X}?",
        "Look at {X}. How many repainted {P}s does it have?",
    ),
    "exist": (
        "Does {X} have a repainted {P}?",
        "Do you see any repainted {P}s on {X}?",
        "Look at {X}. Does it have a repainted {P}?",
    ),
}
COUNT_ON_SEVERAL = (
    "How many repainted {2s} do you see on {1s}?",
    "Looking only at {1s}, how many repainted {2s} can you find?",
)


def build_part_count_templates(schema: Schema) -> Iterator[Template]:
    """In the whole picture, on one vehicle, on one found over a relation, on all of a description."""
    family = 0
    for end, texts in COUNT_TEXTS.items():
        sketch = TemplateBuilder(schema)
        sketch.describe_parts_of(f"partfilter_{end}", 1, sketch.add_node("scene"))
        yield sketch.build_template(COUNT_FILE, family, texts)
        family += 1
    for related in (False, True) if schema.relations else (False,):
        for end in COUNT_TEXTS_OF_ONE:
            yield _build_count_of_one(schema, end, related, family)
            family += 1
    sketch = TemplateBuilder(schema)
    sketch.describe_parts_of("partfilter_count", 2, sketch.describe("filter", 1))
    yield sketch.build_template(COUNT_FILE, family, COUNT_ON_SEVERAL)


def _build_count_of_one(schema: Schema, end: str, related: bool, family: int) -> Template:
    sketch = TemplateBuilder(schema)
    at, vehicle = sketch.describe("filter_unique", 1), "the {1}"
    if related:
        at = sketch.describe_related("relate_filter_unique", 2, at, 1)
        vehicle = "the {2} that is <R> the {1}"
    number = 3 if related else 2
    sketch.describe_parts_of(f"partfilter_{end}", number, at)
    texts = [t.replace("{P}s", f"{{{number}s}}").replace("{P}", f"{{{number}}}") for t in COUNT_TEXTS_OF_ONE[end]]
    return sketch.build_template(COUNT_FILE, family, [t.replace("{X}", vehicle) for t in texts])


# Whether there are as many, fewer or more repainted parts of one sort than another, or on two vehicles.

NUMBER_FILE = "part_numbers.json"
NUMBERS_ON_TWO = {
    "equal_integer": (
        "Does the {1} have exactly as many repainted parts as the {2}?",
        "Do the {1} and the {2} have equally many repainted parts?",
    ),
    "less_than": (
        "Does the {1} have fewer repainted parts than the {2}?",
        "Is the count of repainted parts lower on the {1} than on the {2}?",
    ),
    "greater_than": (
        "Does the {1} have more repainted parts than the {2}?",
        "Is the count of repainted parts higher on the {1} than on the {2}?",
    ),
}


def build_part_number_templates(schema: Schema) -> Iterator[Template]:
    """Two descriptions of parts in the picture; then all the parts of two vehicles."""
    family = 0
    for function, texts in NUMBER_COMPARISONS.items():
        sketch = TemplateBuilder(schema)
        parts = sketch.add_node("object2part", sketch.add_node("scene"))
        one, two = (sketch.describe_parts("partfilter_count", n, parts) for n in (1, 2))
        sketch.require_apart(one, two)
        sketch.add_node(function, one, two)
        said = [t.replace("{A}", "repainted {1s}").replace("{B}", "repainted {2s}") for t in texts]
        yield sketch.build_template(NUMBER_FILE, family, said)
        family += 1
    for function, on_two in NUMBERS_ON_TWO.items():
        sketch = TemplateBuilder(schema)
        one, two = (sketch.describe("filter_unique", n) for n in (1, 2))
        sketch.require_different(one, two)
        counts = [sketch.add_node("count", sketch.add_node("object2part", one))]
        counts.append(sketch.add_node("count", sketch.add_node("object2part", two)))
        sketch.add_node(function, *counts)
        yield sketch.build_template(NUMBER_FILE, family, on_two)
        family += 1


# Vehicles found by a part of theirs: what they are like, what stands beside them, how many there are.

OWNER_FILE = "part_owners.json"
OWNER = "the {1} with a repainted {2}"
OWNER_COUNT = (
    "How many {1s} have a repainted {2}?",
    "How many {1s} with a repainted {2} do you see?",
    "On how many {1s} can you find a repainted {2}?",
)
OWNER_COUNT_ANY = (
    "How many {things} have a repainted {2}?",
    "On how many {things} do you see a repainted {2}?",
    "How many {things} with a repainted {2} does the picture show?",
)
OWNER_EXIST = (
    "Does any {1} have a repainted {2}?",
    "Do you see a {1} with a repainted {2}?",
    "Can you find a repainted {2} on any {1}?",
)


def build_part_owner_templates(schema: Schema) -> Iterator[Template]:
    """Each attribute of the vehicle, each of one in a relation to it; how many have the part, does any."""
    family = 0
    for related in (False, True) if schema.relations else (False,):
        for attribute in schema.attributes:
            yield _build_owner_query(schema, attribute.name, related, family)
            family += 1
    sketch = TemplateBuilder(schema)
    sketch.add_node("count", _add_owners(sketch, sketch.describe("filter", 1)))
    yield sketch.build_template(OWNER_FILE, family, OWNER_COUNT)
    sketch = TemplateBuilder(schema)
    sketch.add_node("count", _add_owners(sketch, sketch.add_node("scene")))
    things = plural(generic_noun(schema))
    yield sketch.build_template(OWNER_FILE, family + 1, [t.replace("{things}", things) for t in OWNER_COUNT_ANY])
    sketch = TemplateBuilder(schema)
    sketch.describe_parts_of("partfilter_exist", 2, sketch.describe("filter", 1))
    yield sketch.build_template(OWNER_FILE, family + 2, OWNER_EXIST)


def _build_owner_query(schema: Schema, attribute: str, related: bool, family: int) -> Template:
    sketch = TemplateBuilder(schema)
    at, subject = sketch.add_node("unique", _add_owners(sketch, sketch.describe("filter", 1))), OWNER
    if related:
        at = sketch.describe_related("relate_filter_unique", 3, at, 1)
        subject = f"the {{3}} [that is] <R> {OWNER}"
    sketch.add_node(f"query_{attribute}", at)
    sketch.keep_empty(attribute, 3 if related else 1)
    return sketch.build_template(OWNER_FILE, family, list_value_questions(attribute, subject, schema))


def _add_owners(sketch: TemplateBuilder, among: int) -> int:
    return sketch.add_node("part2object", sketch.describe_parts_of("partfilter", 2, among))


# Attributes of a part: of a vehicle described, found over a relation, or known by another of its parts.

VALUE_FILE = "part_values.json"
VALUE_SUBJECT = "the repainted {P} of {X}"
VALUE_BESIDE = "the repainted {2} on the same {thing} as the repainted {1}"


def build_part_value_templates(schema: Schema) -> Iterator[Template]:
    """For each way to the vehicle, each attribute of its part.

    Its name is not asked: files spell one place in two ways, so that the answer would be a spelling.
    """
    family = 0
    queried = [a for a in TemplateBuilder(schema).part_attributes if a != "name"]
    for related in (False, True) if schema.relations else (False,):
        for attribute in queried:
            yield _build_value_of_vehicle(schema, attribute, related, family)
            family += 1
    for attribute in queried:
        yield _build_value_beside(schema, attribute, family)
        family += 1


def _build_value_of_vehicle(schema: Schema, attribute: str, related: bool, family: int) -> Template:
    sketch = TemplateBuilder(schema)
    at, vehicle = sketch.describe("filter_unique", 1), "the {1}"
    if related:
        at = sketch.describe_related("relate_filter_unique", 2, at, 1)
        vehicle = "the {2} [that is] <R> the {1}"
    number = 3 if related else 2
    sketch.add_node(f"partquery_{attribute}", sketch.describe_parts_of("partfilter_unique", number, at))
    sketch.keep_empty(attribute, number)
    subject = VALUE_SUBJECT.replace("{P}", f"{{{number}}}").replace("{X}", vehicle)
    return sketch.build_template(VALUE_FILE, family, list_value_questions(attribute, subject, schema))


def _build_value_beside(schema: Schema, attribute: str, family: int) -> Template:
    sketch = TemplateBuilder(schema)
    known = sketch.describe_parts_of("partfilter_unique", 1, sketch.add_node("scene"))
    part = sketch.describe_parts_of("partfilter_unique", 2, sketch.add_node("part2object", known))
    sketch.add_node(f"partquery_{attribute}", part)
    sketch.require_different(known, part)
    sketch.keep_empty(attribute, 2)
    subject = VALUE_BESIDE.replace("{thing}", generic_noun(schema))
    return sketch.build_template(VALUE_FILE, family, list_value_questions(attribute, subject, schema))


PART_TEMPLATE_GROUPS = (
    build_part_comparison_templates,
    build_part_count_templates,
    build_part_number_templates,
    build_part_owner_templates,
    build_part_value_templates,
)  # the order decides which question a seed gives
