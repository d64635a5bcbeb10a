"""Templates of questions about outcomes: the five question types, and those with "and", "or" and "not".

Both are made of things found over up to three relations. A template is listed as often as its weight says, so that
the mean length of questions is that of the paper's Table 2, by what they ask and not by filler.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

from ...english.word_lists import word_table
from ...schema import Schema
from ...schemas.clevr import SCHEMA
from ..clevr.template import NAMED, NOUN, Template, check_template
from ..clevr.templates import TemplateBuilder, fill_texts
from .scene_arrays import RELATIONS

OUTCOME_SCHEMA: Schema = replace(SCHEMA, relations=RELATIONS)  # an outcome may have one object on another
QUESTION_TYPES = ("exist", "count", "query_attribute", "compare_attribute", "compare_integer")
LOGIC_SLOTS = (
    *(("and", kind) for kind in ("query_attribute", "compare_attribute", "compare_integer", "count", "exist")),
    *(("or", kind) for kind in ("compare_integer", "count", "exist")),
    *(("not", kind) for kind in ("query_attribute", "compare_integer", "count", "exist")),
)
ATTRIBUTES = tuple(a.name for a in SCHEMA.attributes)
HOPS = ((0, 1), (1, 4), (2, 5), (3, 2))  # relations that lead to what is asked about, and weight
# Two attributes of one part of speech: yellow or small, balls or cubes.
ALTERNATIVES = (*combinations(("size", "color", "material"), 2), ("color", "color"), ("shape", "shape"))
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
LOGIC_FILES = {"and": "single_and.json", "or": "single_or.json", "not": "negation.json"}


def _list_hops() -> Iterator[Sketch]:
    for hops, weight in HOPS:
        for end in ("count", "exist"):
            sketch = OutcomeSketch()
            found = sketch.find_several(hops, end)
            texts = _fill(TEXTS["hop"][f"{end} related" if hops else end], found)
            yield HOP_FILES[hops], "", end, sketch, texts, weight
        for attribute in ATTRIBUTES:
            sketch = OutcomeSketch()
            one = sketch.find_one(hops)
            sketch.query(attribute, one.number, one.node)
            near = fill_texts(TEXTS["value"][attribute], X=one.text)
            texts = _fill(TEXTS["far value"]["any"], one, a=attribute) if hops == FAR else near
            yield HOP_FILES[hops], "", "query_attribute", sketch, texts, weight


def _fill(texts: tuple[str, ...], found: OutcomePhrase, **words: str) -> list[str]:
    """The texts with what is counted, and what it stands in a relation to."""
    anchor = found.anchor.text.replace("[that is]", "that is") if found.anchor else ""
    several, one = f"{{{found.number}s}}", f"{{{found.number}}}"
    words = {"Ts": several, "T": one, "P": found.place, "R": found.relation, "X": anchor} | words
    return fill_texts(texts, **words)


def _list_same() -> Iterator[Sketch]:
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
                texts = fill_texts(_get_texts("same", f"{end} of" if described else end, attribute), **words)
                yield SAME_FILE, "", kind, sketch, texts, 1


def _get_texts(section: str, key: str, attribute: str) -> tuple[str, ...]:
    """The texts for an attribute if it has its own, else those for any."""
    texts = TEXTS[section]
    return texts.get(f"{key} {attribute}") or texts[key]


def _list_comparisons() -> Iterator[Sketch]:
    for left, right, weight in ((0, 0, 1), (1, 0, 1), (0, 1, 1), (1, 1, 2), (2, 0, 1), (2, 1, 1)):
        for attribute in ATTRIBUTES:
            sketch = OutcomeSketch()
            texts = _compare(sketch, attribute, sketch.find_one(left), sketch.find_one(right))
            yield COMPARISON_FILE, "", "compare_attribute", sketch, texts, weight


def _compare(sketch: OutcomeSketch, attribute: str, one: OutcomePhrase, two: OutcomePhrase) -> list[str]:
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


def _list_numbers() -> Iterator[Sketch]:
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


def _list_and() -> Iterator[Sketch]:
    for end in ("count", "exist"):
        for hops in (0, 1):
            sketch = OutcomeSketch()
            node, left, right = sketch.join_places("intersect", hops)
            found = OutcomePhrase(0, sketch.count_description(), "")
            sketch.describe(f"filter_{end}", found.number, node)
            yield "", "and", end, sketch, _fill(TEXTS["and"][end], found, P=left.place, Q=right.place), 2
        for attribute in ATTRIBUTES:
            sketch = OutcomeSketch()
            place, other = sketch.find_place(), sketch.find_one(1)
            assert place.anchor and other.anchor
            sketch.require_different(place.anchor.node, other.node)
            sketch.require_different(place.anchor.node, other.anchor.node)
            same = sketch.add_node(f"same_{attribute}", other.node)
            sketch.keep_empty(attribute, other.number)
            number = sketch.count_description()
            alike = sketch.describe("filter", number, same)
            sketch.require(NAMED, alike, other.node)
            sketch.keep_empty(attribute, number)
            sketch.add_node(end, sketch.add_node("intersect", alike, place.node))
            words = {"Y": other.text.replace("[that is]", "that is"), "a": attribute}
            texts = _fill(_get_texts("and", f"{end} same", attribute), place._replace(number=number), **words)
            yield "", "and", end, sketch, texts, 1
    for attribute in ATTRIBUTES:
        sketch, one, _ = _find_in_both_places()
        sketch.query(attribute, one.number, one.node)
        yield "", "and", "query_attribute", sketch, fill_texts(TEXTS["value"][attribute], X=one.text), 1
        sketch, one, anchors = _find_in_both_places()
        two = sketch.find_one()
        for anchor in anchors:
            sketch.require_different(anchor, two.node)
        yield "", "and", "compare_attribute", sketch, _compare(sketch, attribute, one, two), 1
    for function in NUMBERS:
        sketch = OutcomeSketch()
        node, left, right = sketch.join_places("intersect")
        number = sketch.count_description()
        several = sketch.describe("filter_count", number, node)
        text = _spell_subject("all both", number, P=left.place, Q=right.place)
        two = sketch.find_several(0, "count")
        sketch.require_apart(several, two.node)
        sketch.add_node(function, several, two.node)
        yield "", "and", "compare_integer", sketch, fill_texts(TEXTS["number"][function], A=text, B=two.text), 1


def _find_in_both_places() -> tuple[OutcomeSketch, OutcomePhrase, tuple[int, int]]:
    """A thing told by two relations, and the nodes of what it stands in these to."""
    sketch = OutcomeSketch()
    node, left, right = sketch.join_places("intersect")
    assert left.anchor and right.anchor
    number = sketch.count_description()
    text = _spell_subject("both", number, P=left.place, Q=right.place)
    one = OutcomePhrase(sketch.describe("filter_unique", number, node), number, text)
    return sketch, one, (left.anchor.node, right.anchor.node)


def _spell_subject(key: str, number: int, **words: str) -> str:
    return fill_texts(TEXTS["subject"][key], Ts=f"{{{number}s}}", T=f"{{{number}}}", **words)[0]


def _list_or() -> Iterator[Sketch]:
    for end in ("count", "exist"):
        for hops in (0, 1):
            sketch = OutcomeSketch()
            node, left, right = sketch.join_places("union", hops)
            found = OutcomePhrase(0, sketch.count_description(), "")
            sketch.describe(f"filter_{end}", found.number, node)
            yield "", "or", end, sketch, _fill(TEXTS["or"][f"{end} related"], found, P=left.place, Q=right.place), 2
        for at, (left_name, right_name) in enumerate(ALTERNATIVES):
            sketch = OutcomeSketch()
            among = sketch.find_several(2 if at % 2 else 1)
            sketch.keep_empty(left_name, among.number)
            sketch.keep_empty(right_name, among.number)
            words, nodes = {}, []
            for gap, name in (("V", left_name), ("W", right_name)):
                number = sketch.count_description()
                words[gap] = sketch.spell_value(name, number)
                nodes.append(sketch.add_node(f"filter_{name}", among.node, slots=[sketch.add_slot(name, number)]))
            sketch.require_apart(*nodes)
            sketch.add_node(end, sketch.add_node("union", *nodes))
            yield "", "or", end, sketch, _fill(TEXTS["or"][f"{end} value"], among, **words), 1
    for hops in (0, 1):
        sketch = OutcomeSketch()
        place = sketch.find_place(hops)
        kinds = [sketch.count_description() for _ in range(2)]
        nodes = [sketch.describe("filter", number, place.node) for number in kinds]
        sketch.require_apart(*nodes)
        for node in nodes:  # no things that are large things
            sketch.require(NOUN, node)
        sketch.add_node("count", sketch.add_node("union", *nodes))
        words = {"A": f"{{{kinds[0]}s}}", "B": f"{{{kinds[1]}s}}"}
        yield "", "or", "count", sketch, _fill(TEXTS["or"]["count things"], place, **words), 2
    for function in NUMBERS:
        sketch = OutcomeSketch()
        node, left, right = sketch.join_places("union")
        number = sketch.count_description()
        several = sketch.describe("filter_count", number, node)
        two = sketch.find_several(0, "count")
        text = _spell_subject("all either", number, P=left.place, Q=right.place)
        sketch.require_apart(several, two.node)
        sketch.add_node(function, several, two.node)
        yield "", "or", "compare_integer", sketch, fill_texts(TEXTS["number"][function], A=text, B=two.text), 1


def _list_not() -> Iterator[Sketch]:
    for hops in (1, 2):
        for end in ("count", "exist"):
            for attribute in ATTRIBUTES:
                sketch = OutcomeSketch()
                among = sketch.find_several(hops)
                node, value = _exclude(sketch, among, attribute)
                sketch.add_node(end, node)
                yield "", "not", end, sketch, _fill(TEXTS["not"][end], among, V=value), 1
    for attribute, other in zip(ATTRIBUTES, (*ATTRIBUTES[1:], ATTRIBUTES[0]), strict=True):
        sketch = OutcomeSketch()
        among = sketch.find_several(2)
        node, value = _exclude(sketch, among, other, one=True)
        sketch.query(attribute, among.number, sketch.add_node("unique", node))
        text = _spell_subject("not", among.number, V=value, P=among.place)
        yield "", "not", "query_attribute", sketch, fill_texts(TEXTS["value"][attribute], X=text), 1
    for at, function in enumerate(NUMBERS):
        for shift in (0, 1):
            sketch = OutcomeSketch()
            counts, phrases, described = [], [], []
            for side, hops in enumerate((1, 0)):
                among = sketch.find_several(hops)
                attribute = ATTRIBUTES[(at + 2 * side + shift) % len(ATTRIBUTES)]
                node, value = _exclude(sketch, among, attribute)
                key = "all not" if hops else "all not anywhere"
                phrases.append(_spell_subject(key, among.number, V=value, P=among.place))
                counts.append(sketch.add_node("count", node))
                described.append(among.node)
            sketch.require_apart(*described)
            sketch.add_node(function, *counts)
            texts = fill_texts(TEXTS["number"][function], A=phrases[0], B=phrases[1])
            yield "", "not", "compare_integer", sketch, texts, 1


def _exclude(sketch: OutcomeSketch, among: OutcomePhrase, attribute: str, *, one: bool = False) -> tuple[int, str]:
    """Those of some things that do not have a value, and the value in words."""
    number = sketch.count_description()
    sketch.keep_empty(attribute, among.number)
    slot = sketch.add_slot(attribute, number)
    node = sketch.add_node(f"not_{attribute}", among.node, slots=[slot])
    return node, sketch.spell_value(attribute, number, one=one)


def list_question_type_templates() -> tuple[HypotheticalTemplate, ...]:
    """One slot for each question type."""
    return _build_all((_list_hops, _list_same, _list_comparisons, _list_numbers))


def list_logic_templates() -> tuple[HypotheticalTemplate, ...]:
    """Slots for questions with "and", "or" and "not" of several question types."""
    return _build_all((_list_and, _list_or, _list_not))


def _build_all(groups: tuple[Callable[[], Iterator[Sketch]], ...]) -> tuple[HypotheticalTemplate, ...]:
    families: Counter[str] = Counter()
    found: list[HypotheticalTemplate] = []
    for group in groups:
        for file, logic, kind, sketch, texts, weight in group():
            name = file or LOGIC_FILES[logic]
            slot = LOGIC_SLOTS.index((logic, kind)) if logic else QUESTION_TYPES.index(kind)
            template = check_template(sketch.build_template(name, families[name], texts))
            families[name] += 1
            found += [HypotheticalTemplate(template, slot, kind, logic)] * weight
    return tuple(found)
