"""CLEVR's templates in our own words: each group is a function of the schema.

Groups: "and", comparison of numbers, comparison of values, "or", zero to three hops, same attribute.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...english.inflection import plural
from ...english.synonyms import generic_noun
from ...schema import Schema
from .template import Template
from .template_builder import (
    TemplateBuilder,
    attribute_word,
    build_chain_phrase,
    list_comparisons,
    list_value_questions,
)

AND_FILE = "single_and.json"
AND_COUNT = (
    "How many {3s} are <R> the {1} and also <R2> the {2}?",
    "How many {3s} lie both <R> the {1} and <R2> the {2}?",
)
AND_SUBJECTS = (
    "the {3} that is <R> the {1} and also <R2> the {2}",
    "the {3} that lies both <R> the {1} and <R2> the {2}",
)


def build_and_templates(schema: Schema) -> Iterator[Template]:
    """How many there are, and each attribute of a single one."""
    if not schema.relations:
        return
    yield _build_intersection(schema, "count").build_template(AND_FILE, 0, AND_COUNT)
    for number, attribute in enumerate(schema.attributes, 1):
        sketch = _build_intersection(schema, "unique")
        sketch.add_node(f"query_{attribute.name}", len(sketch.nodes) - 1)
        sketch.keep_empty(attribute.name, 3)
        texts = [t for s in AND_SUBJECTS for t in list_value_questions(attribute.name, s, schema)]
        yield sketch.build_template(AND_FILE, number, texts)


def _build_intersection(schema: Schema, end: str) -> TemplateBuilder:
    sketch = TemplateBuilder(schema)
    first = sketch.describe("filter_unique", 1)
    left = sketch.add_node("relate", first, slots=[sketch.add_slot("relation", 1)])
    second = sketch.describe("filter_unique", 2)
    right = sketch.add_node("relate", second, slots=[sketch.add_slot("relation", 2)])
    sketch.require_different(first, second)
    sketch.describe(f"filter_{end}", 3, sketch.add_node("intersect", left, right))
    return sketch


# Whether there are as many, fewer or more of one thing than of another.

NUMBER_FILE = "compare_integer.json"
NUMBER_COMPARISONS = {
    "equal_integer": (
        "Are there exactly as many {A} as {B}?",
        "Does the picture show just as many {A} as {B}?",
        "Does the count of {A} equal the count of {B}?",
    ),
    "less_than": (
        "Does the picture show fewer {A} than {B}?",
        "Is the count of {A} lower than the count of {B}?",
        "Do {B} outnumber {A}?",
    ),
    "greater_than": (
        "Does the picture show more {A} than {B}?",
        "Is the count of {A} higher than the count of {B}?",
        "Do {A} outnumber {B}?",
    ),
}


def build_number_templates(schema: Schema) -> Iterator[Template]:
    """Two descriptions; the first, or both, standing in a relation to a thing."""
    family = 0
    for left, right in ((False, False), (True, False), (True, True)):
        if left and not schema.relations:
            continue
        for function, texts in NUMBER_COMPARISONS.items():
            yield _build_number_comparison(schema, function, texts, left, right, family)
            family += 1


def _build_number_comparison(
    schema: Schema, function: str, texts: tuple[str, ...], left: bool, right: bool, family: int
) -> Template:
    sketch = TemplateBuilder(schema)
    one, first, referent, text = _describe_counted(sketch, 1, 1, left)
    two, _, other, other_text = _describe_counted(sketch, first + 1, 2, right)
    if referent is not None and other is not None:
        sketch.require_different(referent, other)
    else:
        sketch.require_apart(one, two)
    sketch.add_node(function, one, two)
    return sketch.build_template(
        NUMBER_FILE, family, [t.replace("{A}", text).replace("{B}", other_text) for t in texts]
    )


def _describe_counted(
    sketch: TemplateBuilder, number: int, relation: int, related: bool
) -> tuple[int, int, int | None, str]:
    """(node, number of its description, what it is related to, plural phrase) of what is counted."""
    if not related:
        return sketch.describe("filter_count", number), number, None, f"{{{number}s}}"
    referent = sketch.describe("filter_unique", number)
    node = sketch.describe_related("relate_filter_count", number + 1, referent, relation)
    link = f"[that are] <R{relation if relation > 1 else ''}>"
    return node, number + 1, referent, f"{{{number + 1}s}} {link} the {{{number}}}"


# Whether two things have the same value of an attribute.

COMPARISON_FILE = "comparison.json"


def build_comparison_templates(schema: Schema) -> Iterator[Template]:
    """For each attribute: two things by description; one, the other, or both found over a relation."""
    family = 0
    for left, right in ((False, False), (True, False), (False, True), (True, True)):
        if (left or right) and not schema.relations:
            continue
        for attribute in schema.attributes:
            yield _build_value_comparison(schema, attribute.name, left, right, family)
            family += 1


def _build_value_comparison(schema: Schema, attribute: str, left: bool, right: bool, family: int) -> Template:
    sketch = TemplateBuilder(schema)
    one, first, first_text = _describe_compared(sketch, 1, 1, left)
    two, second, second_text = _describe_compared(sketch, first + 1, 2 if left else 1, right)
    sketch.require_different(one, two)
    if left:  # "is the cube left of the ball as large as the ball?" reads like a riddle
        sketch.require_different(sketch.nodes[one].inputs[0], two)
    if right:
        sketch.require_different(one, sketch.nodes[two].inputs[0])
    sketch.keep_empty(attribute, first, second)
    values = [sketch.add_node(f"query_{attribute}", one), sketch.add_node(f"query_{attribute}", two)]
    sketch.add_node(f"equal_{attribute}", *values)
    return sketch.build_template(COMPARISON_FILE, family, list_comparisons(attribute, first_text, second_text, schema))


def _describe_compared(sketch: TemplateBuilder, number: int, relation: int, related: bool) -> tuple[int, int, str]:
    """(node, number of the description that names it, noun phrase) of one thing to be compared."""
    node = sketch.describe("filter_unique", number)
    if not related:
        return node, number, f"the {{{number}}}"
    node = sketch.describe_related("relate_filter_unique", number + 1, node, relation)
    link = f"[that is] <R{relation if relation > 1 else ''}>"
    return node, number + 1, f"the {{{number + 1}}} {link} the {{{number}}}"


# Things that fit one description or another: "or".

OR_FILE = "single_or.json"
OR_COUNT = (
    "Counting {A} and {B} once, how many {things} do you get?",
    "How many {things} do you have if you take {A} and {B}, each only once?",
    "Take {A} and {B}, each only once. How many {things} do you have?",
)
OR_COUNT_OF_VALUE = (
    "How many of the {1s} and of the {2s} are {V}?",
    "Take every {1} and every {2}. How many of them are {V}?",
)


def build_or_templates(schema: Schema) -> Iterator[Template]:
    """Two descriptions joined: as they are, of one value, and with relations on either or both."""
    sketch = _build_union(schema)
    sketch.add_node("count", len(sketch.nodes) - 1)
    yield sketch.build_template(OR_FILE, 0, _fill_or_texts("every {1}", "every {2}", schema))
    for number, attribute in enumerate(schema.attributes, 1):
        sketch = _build_union(schema)
        value = sketch.add_slot(attribute.name, 3)
        union = len(sketch.nodes) - 1
        sketch.add_node("count", sketch.add_node(f"filter_{attribute.name}", union, slots=[value]))
        sketch.keep_empty(attribute.name, 1, 2)
        said = f"{value}s" if attribute.name == sketch.noun else value
        yield sketch.build_template(OR_FILE, number, [t.replace("{V}", said) for t in OR_COUNT_OF_VALUE])
    if schema.relations:
        last = len(schema.attributes)
        for number, (left, right) in enumerate(((True, True), (True, False), (False, True)), last + 1):
            sketch, (first, second) = _build_union_of_related(schema, left, right)
            yield sketch.build_template(OR_FILE, number, _fill_or_texts(first, second, schema))


def _fill_or_texts(left: str, right: str, schema: Schema) -> list[str]:
    things = plural(generic_noun(schema))
    return [t.replace("{A}", left).replace("{B}", right).replace("{things}", things) for t in OR_COUNT]


def _build_union(schema: Schema) -> TemplateBuilder:
    sketch = TemplateBuilder(schema)
    left, right = sketch.describe("filter", 1), sketch.describe("filter", 2)
    sketch.require_apart(left, right)
    sketch.add_node("union", left, right)
    return sketch


def _build_union_of_related(schema: Schema, left: bool, right: bool) -> tuple[TemplateBuilder, list[str]]:
    """Two descriptions, of which one or both stand in a relation, and their phrases."""
    sketch = TemplateBuilder(schema)
    described, referents, texts = [], [], []
    number = 0
    for related in (left, right):
        number += 1
        if related:
            referents.append(sketch.describe("filter_unique", number))
            described.append(sketch.describe_related("relate_filter", number + 1, referents[-1], len(referents)))
            link = f"<R{len(referents) if len(referents) > 1 else ''}>"
            texts.append(f"every {{{number + 1}}} {link} the {{{number}}}")
            number += 1
        else:
            described.append(sketch.describe("filter", number))
            texts.append(f"every {{{number}}}")
    if len(referents) == 2:
        sketch.require_different(*referents)
    else:
        sketch.require_apart(*described)
    sketch.add_node("count", sketch.add_node("union", *described))
    return sketch, texts


# Counting, existence and attributes of things found over zero to three relations.

HOP_FILES = ("zero_hop.json", "one_hop.json", "two_hop.json", "three_hop.json")
HOP_COUNT = ("How many {1s} does the picture show?", "How many {1s} can you find?", "How many {1s} do you see?")
HOP_EXIST = ("Does the picture show any {1s}?", "Can you find a {1}?", "Do you see any {1s}?")
# {T} is what is counted, {X} what it stands in relation {R} to
HOP_RELATED_COUNT = (
    "How many {Ts} lie {R} {X}?",
    "How many {Ts} do you see {R} {X}?",
    "Looking {R} {X}, how many {Ts} do you find?",
)
HOP_RELATED_EXIST = ("Do any {Ts} lie {R} {X}?", "Do you see a {T} {R} {X}?", "Does the picture show any {Ts} {R} {X}?")


def build_hop_templates(schema: Schema) -> Iterator[Template]:
    """For each number of relations: how many, is there any, and each attribute."""
    for hops, file in enumerate(HOP_FILES[: 4 if schema.relations else 1]):
        yield _build_chain(schema, hops, "count").build_template(
            file, 0, _fill_hop_texts(hops, HOP_COUNT, HOP_RELATED_COUNT)
        )
        yield _build_chain(schema, hops, "exist").build_template(
            file, 1, _fill_hop_texts(hops, HOP_EXIST, HOP_RELATED_EXIST)
        )
        for number, attribute in enumerate(schema.attributes, 2):
            sketch = _build_chain(schema, hops, "unique")
            sketch.add_node(f"query_{attribute.name}", len(sketch.nodes) - 1)
            sketch.keep_empty(attribute.name, hops + 1)
            yield sketch.build_template(
                file, number, list_value_questions(attribute.name, build_chain_phrase(hops), schema)
            )


def _build_chain(schema: Schema, hops: int, end: str) -> TemplateBuilder:
    """A chain of single things, whose last description ends in count, exist or unique."""
    sketch = TemplateBuilder(schema)
    at = sketch.describe(f"filter_{end if hops == 0 else 'unique'}", 1)
    for hop in range(1, hops + 1):
        at = sketch.describe_related(f"relate_filter_{end if hop == hops else 'unique'}", hop + 1, at, hop)
    return sketch


def _fill_hop_texts(hops: int, plain: tuple[str, ...], related: tuple[str, ...]) -> list[str]:
    if hops == 0:
        return list(plain)
    relation = f"<R{hops if hops > 1 else ''}>"
    subject = build_chain_phrase(hops - 1).replace("[that is]", "that is")
    return [
        text.replace("{Ts}", f"{{{hops + 1}s}}")
        .replace("{T}", f"{{{hops + 1}}}")
        .replace("{R}", relation)
        .replace("{X}", subject)
        for text in related
    ]


# Other things that share an attribute with a given one.

SAME_FILE = "same_relate.json"
SAME_EXIST = (
    "Does anything else match the {1} in {a}?",
    "Does the {1} share its {a} with anything else?",
    "Do any other {things} match the {1} in {a}?",
)
SAME_COUNT = (
    "How many other {things} match the {1} in {a}?",
    "How many other {things} share the {a} of the {1}?",
    "With how many other {things} does the {1} share its {a}?",
)
SAME_EXIST_OF = (
    "Does any other {2} match the {1} in {a}?",
    "Do any other {2s} share the {a} of the {1}?",
    "Does the {1} share its {a} with another {2}?",
)
SAME_COUNT_OF = (
    "How many other {2s} match the {1} in {a}?",
    "How many other {2s} share the {a} of the {1}?",
    "With how many other {2s} does the {1} share its {a}?",
)
SAME_SUBJECTS = ("the other {2} that matches the {1} in {a}", "the other {2} that shares the {a} of the {1}")
SAME_MODEL_TEXTS = {
    "Does anything else match the {1} in {a}?": "Is anything else the same model as the {1}?",
    "Do any other {things} match the {1} in {a}?": "Are any other {things} the same model as the {1}?",
    "How many other {things} match the {1} in {a}?": "How many other {things} are the same model as the {1}?",
    "Does any other {2} match the {1} in {a}?": "Is any other {2} the same model as the {1}?",
    "How many other {2s} match the {1} in {a}?": "How many other {2s} are the same model as the {1}?",
    "the other {2} that matches the {1} in {a}": "the other {2} that is the same model as the {1}",
}


def build_same_templates(schema: Schema) -> Iterator[Template]:
    """Is there another, how many others, with and without a description, and what the other one is like."""
    family = 0
    for end, texts in (("exist", SAME_EXIST), ("count", SAME_COUNT)):
        for attribute in schema.attributes:
            sketch = _build_same(schema, attribute.name)
            sketch.add_node(end, len(sketch.nodes) - 1)
            yield sketch.build_template(SAME_FILE, family, _fill_same_texts(texts, attribute.name, schema))
            family += 1
    for end, texts in (("exist", SAME_EXIST_OF), ("count", SAME_COUNT_OF)):
        for attribute in schema.attributes:
            sketch = _build_same(schema, attribute.name)
            sketch.describe(f"filter_{end}", 2, len(sketch.nodes) - 1)
            sketch.keep_empty(attribute.name, 2)
            yield sketch.build_template(SAME_FILE, family, _fill_same_texts(texts, attribute.name, schema))
            family += 1
    for shared in schema.attributes:
        for queried in schema.attributes:
            if queried.name != shared.name:
                sketch = _build_same(schema, shared.name)
                other = sketch.describe("filter_unique", 2, len(sketch.nodes) - 1)
                sketch.add_node(f"query_{queried.name}", other)
                sketch.keep_empty(shared.name, 2)
                sketch.keep_empty(queried.name, 2)
                subjects = _fill_same_texts(SAME_SUBJECTS, shared.name, schema)
                asking = [t for s in subjects for t in list_value_questions(queried.name, s, schema)]
                yield sketch.build_template(SAME_FILE, family, asking)
                family += 1


def _build_same(schema: Schema, attribute: str) -> TemplateBuilder:
    sketch = TemplateBuilder(schema)
    sketch.add_node(f"same_{attribute}", sketch.describe("filter_unique", 1))
    sketch.keep_empty(attribute, 1)
    return sketch


def _fill_same_texts(texts: tuple[str, ...], attribute: str, schema: Schema) -> list[str]:
    things, word = plural(generic_noun(schema)), attribute_word(attribute, schema)
    if word == "model":  # nothing matches in model
        texts = tuple(SAME_MODEL_TEXTS.get(t, t) for t in texts)
    return [t.replace("{a}", word).replace("{things}", things) for t in texts]


TEMPLATE_GROUPS = (
    build_and_templates,
    build_number_templates,
    build_comparison_templates,
    build_or_templates,
    build_hop_templates,
    build_same_templates,
)  # the order decides which question a seed gives
