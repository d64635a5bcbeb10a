"""Templates of questions about outcomes: the five question types, and what those with "and", "or" and "not" share.

All are made of things found over up to three relations. A template is listed as often as its weight says, so that
the mean length of questions is that of the paper's Table 2, by what they ask and not by filler.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from ...english.word_lists import word_table
from ...schema import Schema
from ...schemas.clevr import SCHEMA
from ..clevr.template import NAMED, Template
from ..clevr.templates import TemplateBuilder, fill_texts
from .scene_arrays import RELATIONS

OUTCOME_SCHEMA: Schema = replace(SCHEMA, relations=RELATIONS)  # an outcome may have one object on another
QUESTION_TYPES = ("exist", "count", "query_attribute", "compare_attribute", "compare_integer")
ATTRIBUTES = tuple(a.name for a in SCHEMA.attributes)
HOPS = ((0, 1), (1, 4), (2, 5), (3, 2))  # relations that lead to what is asked about, and weight
TEXTS = {
    section: word_table("outcome_questions", section, "|")
    for section in ("value", "far value", "comparison", "number", "hop", "same", "and", "or", "not", "subject")
}
FAR = 3  # relations that lead to what is asked about in two steps
BARE = " bare"  # after the name of texts for things that are told by no relation
NUMBERS = tuple(name for name in TEXTS["number"] if not name.endswith(BARE))


@dataclass(frozen=True, slots=True)
class HypotheticalTemplate:
    """A template, the slot that its questions fill and what a report calls it."""

    template: Template
    slot: int
    kind: str
    logic: str = ""


class OutcomePhrase(NamedTuple):
    """Things found by the nodes so far."""

    node: int
    number: int  # of their description
    text: str
    place: str = ""  # where they are: `<R> the {1}`
    relation: str = ""
    anchor: "OutcomePhrase | None" = None


class OutcomeSketch(TemplateBuilder):
    """A template in the making; descriptions and relations are numbered as they come."""

    def __init__(self) -> None:
        super().__init__(OUTCOME_SCHEMA)
        self.described = self.related = 0

    def find_one(self, hops: int = 0) -> OutcomePhrase:
        """`the {2} that is <R> the {1}`"""
        return self.find("unique", hops, "the {N}", "that is" if hops > 1 else "[that is]")

    def find_several(self, hops: int = 0, tail: str = "") -> OutcomePhrase:
        """`{2s} [that are] <R> the {1}`"""
        return self.find(tail, hops, "{Ns}", "[that are]")

    def find(self, tail: str, hops: int, noun: str, link: str) -> OutcomePhrase:
        function = f"filter_{tail}" if tail else "filter"
        if hops == 0:
            number = self.count_description()
            return OutcomePhrase(self.describe(function, number), number, noun.replace("N", str(number)))
        anchor = self.find_one(hops - 1)
        number, relation = self.count_description(), self.count_relation()
        node = self.describe_related(f"relate_{function}", number, anchor.node, relation)
        passed = anchor.anchor
        while passed is not None and tail == "unique":  # the way to a thing does not go round in a circle
            self.require_different(node, passed.node)
            passed = passed.anchor
        slot = self.add_slot("relation", relation)
        place = f"{slot} {anchor.text.replace('[that is]', 'that is')}"
        return OutcomePhrase(node, number, f"{noun.replace('N', str(number))} {link} {place}", place, slot, anchor)

    def find_place(self, hops: int = 0) -> OutcomePhrase:
        """Whatever stands in a relation to one thing."""
        anchor, relation = self.find_one(hops), self.count_relation()
        slot = self.add_slot("relation", relation)
        node = self.add_node("relate", anchor.node, slots=[slot])
        place = f"{slot} {anchor.text.replace('[that is]', 'that is')}"
        return OutcomePhrase(node, 0, place, place, slot, anchor)

    def count_description(self) -> int:
        self.described += 1
        return self.described

    def count_relation(self) -> int:
        self.related += 1
        return self.related

    def join_places(self, function: str, hops: int = 0) -> tuple[int, OutcomePhrase, OutcomePhrase]:
        """The node for what is in both places, or in either; the second is told by more relations."""
        left, right = self.find_place(), self.find_place(hops)
        assert left.anchor and right.anchor
        for told in (right.anchor, right.anchor.anchor):  # nothing is said twice
            if told is not None:
                self.require_different(left.anchor.node, told.node)
        return self.add_node(function, left.node, right.node), left, right

    def spell_value(self, attribute: str, number: int, *, one: bool = False) -> str:
        """A value as something is or is not: red, cubes, a cube."""
        slot = self.add_slot(attribute, number)
        if attribute != self.noun:
            return slot
        return f"a {slot}" if one else f"{slot}s"


Sketch = tuple[str, str, str, OutcomeSketch, list[str], int]  # file, logic, question type, template, texts, weight
HOP_FILES = ("zero_hop.json", "one_hop.json", "two_hop.json", "three_hop.json")
SAME_FILE, COMPARISON_FILE, NUMBER_FILE = "same_relate.json", "comparison.json", "compare_integer.json"


def list_hops() -> Iterator[Sketch]:
    for hops, weight in HOPS:
        for end in ("count", "exist"):
            sketch = OutcomeSketch()
            found = sketch.find_several(hops, end)
            texts = fill_phrase(TEXTS["hop"][f"{end} related" if hops else end], found)
            yield HOP_FILES[hops], "", end, sketch, texts, weight
        for attribute in ATTRIBUTES:
            sketch = OutcomeSketch()
            one = sketch.find_one(hops)
            sketch.query(attribute, one.number, one.node)
            near = fill_texts(TEXTS["value"][attribute], X=one.text)
            texts = fill_phrase(TEXTS["far value"]["any"], one, a=attribute) if hops == FAR else near
            yield HOP_FILES[hops], "", "query_attribute", sketch, texts, weight


def fill_phrase(texts: tuple[str, ...], found: OutcomePhrase, **words: str) -> list[str]:
    """The texts with what is counted, and what it stands in a relation to."""
    anchor = found.anchor.text.replace("[that is]", "that is") if found.anchor else ""
    several, one = f"{{{found.number}s}}", f"{{{found.number}}}"
    words = {"Ts": several, "T": one, "P": found.place, "R": found.relation, "X": anchor} | words
    return fill_texts(texts, **words)


def list_same() -> Iterator[Sketch]:
    """Things of the same value as one; a count is a count, and whether there are any compares attributes."""
    for end, kind in (("exist", "compare_attribute"), ("count", "count")):
        for attribute in ATTRIBUTES:
            for hops, described in ((1, False), (1, True), (2, False)):
                sketch = OutcomeSketch()
                one = sketch.find_one(hops)
                same = sketch.add_node(f"same_{attribute}", one.node)
                sketch.keep_empty(attribute, one.number)
                words = {"X": one.text.replace("[that is]", "that is"), "a": attribute}
                if described:
                    number = sketch.count_description()
                    sketch.require(NAMED, sketch.describe(f"filter_{end}", number, same), one.node)
                    sketch.keep_empty(attribute, number)
                    words |= {"Ts": f"{{{number}s}}", "T": f"{{{number}}}"}
                else:
                    sketch.add_node(end, same)
                texts = fill_texts(get_texts("same", f"{end} of" if described else end, attribute), **words)
                yield SAME_FILE, "", kind, sketch, texts, 1


def get_texts(section: str, key: str, attribute: str) -> tuple[str, ...]:
    """The texts for an attribute if it has its own, else those for any."""
    texts = TEXTS[section]
    return texts.get(f"{key} {attribute}") or texts[key]


def list_comparisons() -> Iterator[Sketch]:
    for left, right, weight in ((0, 0, 1), (1, 0, 1), (0, 1, 1), (1, 1, 2), (2, 0, 1), (2, 1, 1)):
        for attribute in ATTRIBUTES:
            sketch = OutcomeSketch()
            texts = compare_things(sketch, attribute, sketch.find_one(left), sketch.find_one(right))
            yield COMPARISON_FILE, "", "compare_attribute", sketch, texts, weight


def compare_things(sketch: OutcomeSketch, attribute: str, one: OutcomePhrase, two: OutcomePhrase) -> list[str]:
    """Whether two things have the same value; neither is what the other is pointed out by, nor is that one thing."""
    sketch.require_different(one.node, two.node)
    if one.anchor is not None and two.anchor is not None:
        sketch.require_different(one.anchor.node, two.anchor.node)
    for here, there in ((one, two), (two, one)):
        if here.anchor is not None:
            sketch.require_different(here.anchor.node, there.node)
    values = [sketch.query(attribute, thing.number, thing.node) for thing in (one, two)]
    sketch.add_node(f"equal_{attribute}", *values)
    texts = TEXTS["comparison"]
    key = attribute if attribute in texts else "any"
    bare = one.number == 1  # nothing was described before it
    return fill_texts(texts[key] + (texts[key + BARE] if bare else ()), X=one.text, Y=two.text, a=attribute)


def list_numbers() -> Iterator[Sketch]:
    for left, right, weight in ((0, 0, 1), (1, 0, 2), (1, 1, 3), (2, 0, 2), (2, 1, 2)):
        for function in NUMBERS:
            sketch = OutcomeSketch()
            one, two = (sketch.find_several(hops, "count") for hops in (left, right))
            if one.anchor and two.anchor:
                sketch.require_different(one.anchor.node, two.anchor.node)
            else:
                sketch.require_apart(one.node, two.node)
            sketch.add_node(function, one.node, two.node)
            worded = TEXTS["number"][function] + (() if left else TEXTS["number"][function + BARE])
            texts = fill_texts(worded, A=one.text, B=two.text)
            yield NUMBER_FILE, "", "compare_integer", sketch, texts, weight
