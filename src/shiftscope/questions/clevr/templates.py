"""CLEVR's templates in our own words: each group is a function of the schema.

Groups: "and", comparison of numbers, comparison of values, "or", zero to three hops, same attribute. In texts, `{1}`
stands for description 1 in the singular, `{1s}` in the plural, `<R>` for a relation, `{+1 that are}` for where the
relations stand that rd+ adds to it. Objects and parts share one
numbering of descriptions. The texts are in `english/data/clevr_questions.txt`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from ...english.inflection import plural
from ...english.synonyms import generic_noun, noun_attribute
from ...english.word_lists import word_table
from ...registry import SCHEMAS
from ...schema import Attribute, Schema
from .template import (
    APART,
    NAMED,
    NOUN,
    NULL,
    OUT_NEQ,
    OUTSIDE,
    UNLIKE,
    Template,
    TemplateConstraint,
    TemplateNode,
    TemplateSlot,
    check_template,
)

LETTERS = {"size": "Z", "color": "C", "material": "M", "shape": "S", "relation": "R"}
INHERITED_ATTRIBUTES = ("size",)  # what a part has from its object, and no description of it mentions
DESCRIPTION = re.compile(r"\{(\d)(s?)\}")
CLAUSE_PLACE, CLAUSE_START = re.compile(r" ?\{\+\d [^}]*\}"), re.compile(r"\{\+(\d) ")
AND_FILE, OR_FILE, SAME_FILE = "single_and.json", "single_or.json", "same_relate.json"
LONG_CHAIN = 3  # relations of a phrase that is long enough without "that is"
HOP_FILES = ("zero_hop.json", "one_hop.json", "two_hop.json", "three_hop.json")


def get_texts(section: str) -> dict[str, tuple[str, ...]]:
    return word_table("clevr_questions", section, "|")


VALUE_TEXTS, POINTED_TEXTS, COMPARISON_TEXTS = map(get_texts, ("value", "value of it", "comparison"))
SAMENESS = get_texts("sameness")


def fill_texts(texts: Iterable[str], **words: str) -> list[str]:
    """The texts with `{A}` replaced by what is given for A."""
    filled = list(texts)
    for name, word in words.items():
        filled = [text.replace(f"{{{name}}}", word) for text in filled]
    return filled


class TemplateBuilder:
    """Collects nodes, slots and constraints; `build_template` closes it."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.attributes = _order_noun_last(schema.attributes)
        self.part_attributes = [a for a in _order_noun_last(schema.part_attributes) if a not in INHERITED_ATTRIBUTES]
        self.noun = noun_attribute(schema.attributes)
        self.parts: set[int] = set()  # the numbers of descriptions that are of parts
        self.slots: dict[str, TemplateSlot] = {}
        self.nodes: list[TemplateNode] = []
        self.constraints: list[TemplateConstraint] = []

    def add_node(self, function: str, *inputs: int, slots: Sequence[str] = ()) -> int:
        """Add a node; its number."""
        self.nodes.append(TemplateNode(function, inputs, tuple(slots)))
        return len(self.nodes) - 1

    def add_slot(self, attribute: str, number: int) -> str:
        """The slot of an attribute in the description of that number, `<C2>`."""
        part_name = attribute == "name" and number in self.parts
        letter = "P" if part_name else LETTERS.get(attribute, attribute.upper())
        name = f"<{letter}{number if number > 1 else ''}>"
        self.slots.setdefault(name, TemplateSlot(name, "Partname" if part_name else attribute.capitalize()))
        return name

    def describe(self, function: str, number: int, on: int | None = None) -> int:
        """A description of the whole scene, or of what another node gives."""
        on = self.add_node("scene") if on is None else on
        return self.add_node(function, on, slots=[self.add_slot(a, number) for a in self.attributes])

    def describe_related(self, function: str, number: int, to: int, relation: int) -> int:
        words = [self.add_slot("relation", relation)]
        words += [self.add_slot(a, number) for a in self.attributes]
        return self.add_node(function, to, slots=words)

    def describe_parts_of(self, function: str, number: int, of: int) -> int:
        return self.describe_parts(function, number, self.add_node("object2part", of))

    def describe_parts(self, function: str, number: int, on: int) -> int:
        self.parts.add(number)
        return self.add_node(function, on, slots=[self.add_slot(a, number) for a in self.part_attributes])

    def query(self, attribute: str, number: int, on: int) -> int:
        """Ask for the value of what another node gives, which description `number` then does not mention."""
        self.keep_empty(attribute, number)
        if number in self.parts:
            return self.add_node(f"partquery_{'partname' if attribute == 'name' else attribute}", on)
        return self.add_node(f"query_{attribute}", on)

    def keep_empty(self, attribute: str, *numbers: int) -> None:
        """Descriptions of these numbers do not mention the attribute."""
        self.constraints += [TemplateConstraint(NULL, (self.add_slot(attribute, n),)) for n in numbers]

    def require_different(self, left: int, right: int) -> None:
        self.require(OUT_NEQ, left, right)

    def require_apart(self, left: int, right: int) -> None:
        self.require(APART, left, right)

    def require(self, constraint: str, *nodes: int) -> None:
        self.constraints.append(TemplateConstraint(constraint, nodes))

    def get_attribute_word(self, attribute: str) -> str:
        """What a question calls the attribute; a shape that has kinds is the model of a vehicle."""
        return "model" if attribute == self.noun and self.schema.attribute(attribute).kinds else attribute

    def list_value_questions(self, attribute: str, *subjects: str, pointed: bool = True) -> list[str]:
        """Questions for the value of one thing's attribute; a subject is a noun phrase with its article.

        `pointed`: also those that point at the thing first, and then ask about it.
        """
        word = self.get_attribute_word(attribute)
        texts = VALUE_TEXTS.get(word, VALUE_TEXTS["other"])
        texts += POINTED_TEXTS.get(word, POINTED_TEXTS["other"]) if pointed else ()
        return [text for subject in subjects for text in fill_texts(texts, X=subject, a=word)]

    def list_comparisons(self, attribute: str, left: str, right: str, pointed: bool = True) -> list[str]:
        """Questions whether two things have the same value of the attribute."""
        word = self.get_attribute_word(attribute)
        texts = COMPARISON_TEXTS["any"] + COMPARISON_TEXTS.get(word, ())
        texts += COMPARISON_TEXTS["of it"] if pointed else COMPARISON_TEXTS.get(f"long {word}", ())
        return fill_texts(self.fill_sameness(texts, attribute), X=left, Y=right)

    def fill_sameness(self, texts: Iterable[str], attribute: str) -> list[str]:
        word = self.get_attribute_word(attribute)
        return fill_texts(texts, same=SAMENESS.get(word, SAMENESS["other"])[0], a=word)

    def build_template(self, file: str, family: int, texts: Sequence[str]) -> Template:
        @cache
        def spell_slots(number: int) -> str:
            attributes = self.part_attributes if number in self.parts else self.attributes
            return " ".join([self.add_slot(a, number) for a in attributes])

        def spell_description(found: re.Match[str]) -> str:
            return spell_slots(int(found[1])) + found[2]

        def spell_noun(found: re.Match[str]) -> str:
            return f"{{+{self.add_slot(self.noun, int(found[1]))} "

        return Template(
            file=file,
            family=family,
            params=tuple(self.slots.values()),
            texts=tuple(DESCRIPTION.sub(spell_description, CLAUSE_PLACE.sub("", text)) for text in texts),
            nodes=tuple(self.nodes),
            constraints=tuple(self.constraints),
            long_texts=tuple(DESCRIPTION.sub(spell_description, CLAUSE_START.sub(spell_noun, text)) for text in texts),
        )


def _order_noun_last(attributes: tuple[Attribute, ...]) -> list[str]:
    noun = noun_attribute(attributes)
    return [a.name for a in attributes if a.name != noun] + ([noun] if noun else [])


TemplateSketches = Iterator[tuple[str, TemplateBuilder, Sequence[str]]]  # file, template, its texts


def build_templates(groups: Iterable[Callable[[Schema], TemplateSketches]], schema: Schema) -> Iterator[Template]:
    """The templates of all groups; families are numbered within their file.

    They are checked unless the schema is one of ours, for which a test does so.
    """
    ours = schema.name in SCHEMAS.names() and schema == SCHEMAS.load(schema.name).SCHEMA
    families: Counter[str] = Counter()
    for group in groups:
        for file, sketch, texts in group(schema):
            made = sketch.build_template(file, families[file], texts)
            yield made if ours else check_template(made)
            families[file] += 1


def build_chain_phrase(hops: int) -> str:
    """`the {3} [that is] <R2> the {2} that is <R> the {1}`: one thing, found over relations."""
    phrase = "the {1}"
    for hop in range(1, hops + 1):
        link = "that is " if hop < hops else "[that is] " if hops < LONG_CHAIN else ""
        phrase = f"the {{{hop + 1}}} {link}<R{hop if hop > 1 else ''}> {phrase}"
    return phrase


def list_and_templates(schema: Schema) -> TemplateSketches:
    """How many there are, and each attribute of a single one."""
    if not schema.relations:
        return
    texts = get_texts("and")
    yield AND_FILE, _build_intersection(schema, "count"), texts["count"]
    for attribute in schema.attributes:
        sketch = _build_intersection(schema, "unique")
        sketch.query(attribute.name, 3, len(sketch.nodes) - 1)
        yield AND_FILE, sketch, sketch.list_value_questions(attribute.name, *texts["subject"])


def _build_intersection(schema: Schema, end: str) -> TemplateBuilder:
    sketch = TemplateBuilder(schema)
    first = sketch.describe("filter_unique", 1)
    left = sketch.add_node("relate", first, slots=[sketch.add_slot("relation", 1)])
    second = sketch.describe("filter_unique", 2)
    right = sketch.add_node("relate", second, slots=[sketch.add_slot("relation", 2)])
    sketch.require_different(first, second)
    sketch.describe(f"filter_{end}", 3, sketch.add_node("intersect", left, right))
    return sketch


# Two descriptions, either of which may be of what stands in a relation to a thing.


class RelatedDescription(NamedTuple):
    node: int
    number: int  # of the description
    referent: int | None  # the node of what it stands in a relation to
    phrase: str


def _describe_two(
    schema: Schema, function: str, left: bool, right: bool, noun: str, link: str
) -> tuple[TemplateBuilder, RelatedDescription, RelatedDescription]:
    """`left`, `right`: whether the first and the second stand in a relation, worded after `link`.

    `noun` is their phrase, with N for the number of the description.
    """
    sketch = TemplateBuilder(schema)

    def describe(number: int, relation: int, related: bool) -> RelatedDescription:
        if not related:
            return RelatedDescription(sketch.describe(function, number), number, None, noun.replace("N", str(number)))
        referent = sketch.describe("filter_unique", number)
        node = sketch.describe_related(f"relate_{function}", number + 1, referent, relation)
        phrase = f"{noun.replace('N', str(number + 1))} {link}{sketch.add_slot('relation', relation)} the {{{number}}}"
        return RelatedDescription(node, number + 1, referent, phrase)

    one = describe(1, 1, left)
    return sketch, one, describe(one.number + 1, 2 if left else 1, right)


def _tell_apart(sketch: TemplateBuilder, one: RelatedDescription, two: RelatedDescription) -> None:
    if one.referent is not None and two.referent is not None:
        sketch.require_different(one.referent, two.referent)
    else:
        sketch.require_apart(one.node, two.node)
    for counted, other in ((one, two), (two, one)):  # as many cubes left of the red ball as red balls?
        if other.referent is not None:
            sketch.require(OUTSIDE, counted.node, other.referent)


def list_number_templates(schema: Schema) -> TemplateSketches:
    """Whether there are as many, fewer or more of one description; the first, or both, may be related."""
    for left, right in ((False, False), (True, False), (True, True)):
        if left and not schema.relations:
            continue
        for function, texts in get_texts("number").items():
            link = "that are " if left and not right else "[that are] "  # or the place could be that of both
            sketch, one, two = _describe_two(schema, "filter_count", left, right, "{Ns}", link)
            _tell_apart(sketch, one, two)
            sketch.add_node(function, one.node, two.node)
            yield "compare_integer.json", sketch, fill_texts(texts, A=one.phrase, B=two.phrase)


def list_comparison_templates(schema: Schema) -> TemplateSketches:
    """Whether two things have the same value of an attribute; one, the other, or both found over a relation."""
    for left, right in ((False, False), (True, False), (False, True), (True, True)):
        if (left or right) and not schema.relations:
            continue
        for name in (a.name for a in schema.attributes):
            sketch, one, two = _describe_two(schema, "filter_unique", left, right, "the {N}", "[that is] ")
            # "is the cube left of the ball as large as the ball?" reads like a riddle
            for first in (one.node, one.referent):
                for second in (two.node, two.referent):
                    if first is not None and second is not None:
                        sketch.require_different(first, second)
            values = [sketch.query(name, thing.number, thing.node) for thing in (one, two)]
            sketch.add_node(f"equal_{name}", *values)
            subject = one.phrase.replace("[that is]", "that is")  # not "is the cube left of the ball as large as"
            texts = sketch.list_comparisons(name, subject, two.phrase, pointed=not (left and right))
            yield "comparison.json", sketch, texts


def list_or_templates(schema: Schema) -> TemplateSketches:
    """How many fit one description or another: as they are, of one value, with relations on either or both."""
    texts = get_texts("or")
    yield _build_or_count(schema, False, False)
    for attribute in schema.attributes:
        sketch, _, _ = _build_union(schema, False, False)
        value = sketch.add_slot(attribute.name, 3)
        chosen = sketch.add_node(f"filter_{attribute.name}", len(sketch.nodes) - 1, slots=[value])
        sketch.add_node("count", chosen)
        sketch.keep_empty(attribute.name, 1, 2)
        word = f"{value}s" if attribute.name == sketch.noun else value
        yield OR_FILE, sketch, fill_texts(texts["count value"], V=word)
    for left, right in ((True, True), (True, False), (False, True)) if schema.relations else ():
        yield _build_or_count(schema, left, right)


def _build_or_count(schema: Schema, left: bool, right: bool) -> tuple[str, TemplateBuilder, list[str]]:
    sketch, one, two = _build_union(schema, left, right)
    sketch.add_node("count", len(sketch.nodes) - 1)
    for described in (one, two):  # how many things are either small things or …
        sketch.require(NOUN, described.node)
    things = plural(generic_noun(schema))
    if right and not left:  # in "either cubes or balls left of the cone" both could be left of it
        one, two = two, one
    return OR_FILE, sketch, fill_texts(get_texts("or")["count"], A=one.phrase, B=two.phrase, things=things)


def _build_union(
    schema: Schema, left: bool, right: bool
) -> tuple[TemplateBuilder, RelatedDescription, RelatedDescription]:
    sketch, one, two = _describe_two(schema, "filter", left, right, "{Ns}", "")
    _tell_apart(sketch, one, two)
    for described in (one, two):  # not "either ones left of the ball or …"
        sketch.require(UNLIKE, described.node, 0)
    sketch.require_different(sketch.add_node("union", one.node, two.node), 0)  # nor everything there is
    return sketch, one, two


# Counting, existence and attributes of things found over zero to three relations.


def list_hop_templates(schema: Schema) -> TemplateSketches:
    """For each number of relations: how many, is there any, and each attribute."""
    texts = get_texts("hop")
    for hops, file in enumerate(HOP_FILES[: 4 if schema.relations else 1]):
        subject = build_chain_phrase(hops - 1).replace("[that is]", "that is")
        words = {"Ts": f"{{{hops + 1}s}}", "T": f"{{{hops + 1}}}", "R": f"<R{hops if hops > 1 else ''}>", "X": subject}
        for end in ("count", "exist"):
            worded = fill_texts(texts[f"{end} related"], **words) if hops else texts[end]
            yield file, _build_chain(schema, hops, end), worded
        for attribute in schema.attributes:
            sketch = _build_chain(schema, hops, "unique")
            sketch.query(attribute.name, hops + 1, len(sketch.nodes) - 1)
            phrase = build_chain_phrase(hops)
            yield file, sketch, sketch.list_value_questions(attribute.name, phrase, pointed=hops < LONG_CHAIN)


def _build_chain(schema: Schema, hops: int, end: str) -> TemplateBuilder:
    """A chain of single things, whose last description ends in count, exist or unique."""
    sketch = TemplateBuilder(schema)
    first = at = sketch.describe(f"filter_{end if hops == 0 else 'unique'}", 1)
    related: list[int] = []
    for hop in range(1, hops + 1):
        at = sketch.describe_related(f"relate_filter_{end if hop == hops else 'unique'}", hop + 1, at, hop)
        for before in related:  # the cube that is left of the cube that is …
            sketch.require(UNLIKE, at, before)
        related.append(at)
    if hops and end == "exist":  # is there a thing?
        sketch.require(UNLIKE, at, 0)
    if hops > 1 and end != "unique":
        sketch.require(OUTSIDE, at, first)
    return sketch


# Other things that share an attribute with a given one.


def list_same_templates(schema: Schema) -> TemplateSketches:
    """Is there another, how many others, with and without a description, and what the other one is like."""
    names = [a.name for a in schema.attributes]
    for end in ("exist", "count"):
        for name in names:
            sketch, same = _build_same(schema, name)
            sketch.add_node(end, same)
            yield SAME_FILE, sketch, _fill_same_texts(sketch, end, name)
    for end in ("exist", "count"):
        for name in names:
            sketch, same = _build_same(schema, name)
            sketch.require(NAMED, sketch.describe(f"filter_{end}", 2, same), same - 1)
            sketch.keep_empty(name, 2)
            yield SAME_FILE, sketch, _fill_same_texts(sketch, f"{end} of", name)
    for shared in names:
        for queried in names:
            if queried != shared:
                sketch, same = _build_same(schema, shared)
                other = sketch.describe("filter_unique", 2, same)
                sketch.require(NAMED, other, same - 1)
                sketch.keep_empty(shared, 2)
                sketch.query(queried, 2, other)
                subjects = _fill_same_texts(sketch, "subject", shared)
                yield SAME_FILE, sketch, sketch.list_value_questions(queried, *subjects)


def _build_same(schema: Schema, attribute: str) -> tuple[TemplateBuilder, int]:
    sketch = TemplateBuilder(schema)
    same = sketch.add_node(f"same_{attribute}", sketch.describe("filter_unique", 1))
    sketch.keep_empty(attribute, 1)
    return sketch, same


def _fill_same_texts(sketch: TemplateBuilder, key: str, attribute: str) -> list[str]:
    texts = get_texts("same")
    own = texts.get(f"{key} {sketch.get_attribute_word(attribute)}", ())
    return fill_texts(sketch.fill_sameness(texts[key] + own, attribute), things=plural(generic_noun(sketch.schema)))


TEMPLATE_GROUPS = (
    list_and_templates,
    list_number_templates,
    list_comparison_templates,
    list_or_templates,
    list_hop_templates,
    list_same_templates,
)  # the order decides which question a seed gives
