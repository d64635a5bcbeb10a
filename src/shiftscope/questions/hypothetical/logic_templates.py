"""Templates of questions with "and", "or" and "not", and the two sets of templates that questions are asked from.

Each of the three words also occurs in Original, by itself, with parts that one relation tells at most: "both behind
the ball and left of the cube", "either red or small", "not red and behind the ball". The two-hop questions put such a
step together with another: a further relation, a comparison, or a second "not". So everything that they combine occurs
singly where models learn, and no combination of theirs does (decision 047).
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations

from ..clevr.template import MANY, NAMED, NOUN, check_template
from ..clevr.templates import fill_texts
from .outcome_templates import (
    ATTRIBUTES,
    NUMBERS,
    QUESTION_TYPES,
    TEXTS,
    HypotheticalTemplate,
    OutcomePhrase,
    OutcomeSketch,
    Sketch,
    compare_things,
    fill_phrase,
    get_texts,
    list_comparisons,
    list_hops,
    list_numbers,
    list_same,
)

LOGIC_SLOTS = (
    *(("and", kind) for kind in ("query_attribute", "compare_attribute", "compare_integer", "count", "exist")),
    *(("or", kind) for kind in ("compare_integer", "count", "exist")),
    *(("not", kind) for kind in ("query_attribute", "compare_integer", "count", "exist")),
)
LOGIC_FILES = {"and": "single_and.json", "or": "single_or.json", "not": "negation.json"}
# Two attributes of one part of speech: yellow or small, balls or cubes.
ALTERNATIVES = (*combinations(("size", "color", "material"), 2), ("color", "color"), ("shape", "shape"))
# What Original asks with one of the words, of things anywhere and of those in one relation; fewer forms where fewer
# others compete.
PLAIN_ALTERNATIVES = {"count": (ALTERNATIVES[0], ALTERNATIVES[2], ALTERNATIVES[4]), "exist": (ALTERNATIVES[0],)}
RELATED_ALTERNATIVES = {"count": (ALTERNATIVES[1],), "exist": (ALTERNATIVES[2],)}
PLAIN_NEGATIONS = {"count": ATTRIBUTES, "exist": ATTRIBUTES[:1]}
RELATED_NEGATIONS = {"count": ATTRIBUTES[1::2], "exist": ATTRIBUTES[1:2]}
PLAIN_SAME = {"count": ATTRIBUTES[::2], "exist": ATTRIBUTES[1::2]}
ENDS = ("count", "exist")


# Original: one of the words, between parts that one relation tells at most.


def list_plain_logic() -> Iterator[Sketch]:
    for end in ENDS:
        yield _join_places("and", end, 0, 1)
        yield _join_places("or", end, 0, 1)
        for attribute in PLAIN_SAME[end]:
            yield _join_place_and_same(end, attribute, 0)
        for hops, pairs in enumerate((PLAIN_ALTERNATIVES[end], RELATED_ALTERNATIVES[end])):
            for pair in pairs:
                yield _choose_values(end, pair, hops)
        for hops, attributes in enumerate((PLAIN_NEGATIONS[end], RELATED_NEGATIONS[end])):
            for attribute in attributes:
                yield _negate(end, attribute, hops)
    yield _choose_things(None, 1)
    for attribute in ATTRIBUTES:
        yield _query_in_both_places(attribute, 0)
        for hops in (0, 1):
            yield _query_negated(attribute, hops)


# Two hops: the same steps after further relations, or in a comparison.


def list_and() -> Iterator[Sketch]:
    for end in ENDS:
        yield _join_places("and", end, 1, 4)
        for attribute in ATTRIBUTES:
            yield _join_place_and_same(end, attribute, 1)
    for attribute in ATTRIBUTES:
        yield _query_in_both_places(attribute, 1)
        sketch, one, anchors = _find_in_both_places()
        two = sketch.find_one()
        for anchor in anchors:
            sketch.require_different(anchor, two.node)
        yield "", "and", "compare_attribute", sketch, compare_things(sketch, attribute, one, two), 1
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


def list_or() -> Iterator[Sketch]:
    for end in ENDS:
        yield _join_places("or", end, 1, 4)
        for pair in ALTERNATIVES[:-1]:
            yield _choose_values(end, pair, 2)
    for hops in (0, 1):
        yield _choose_things(hops, 2)
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


def list_not() -> Iterator[Sketch]:
    for attribute in ATTRIBUTES:
        for end in ENDS:
            yield _negate(end, attribute, 2)
        yield _query_negated(attribute, 2)
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


# The steps; `hops` are relations besides those that "and" or "or" joins.


def _join_places(logic: str, end: str, hops: int, weight: int) -> Sketch:
    """`How many cubes would be both behind the ball and to the left of the cylinder?`"""
    sketch = OutcomeSketch()
    node, left, right = sketch.join_places({"and": "intersect", "or": "union"}[logic], hops)
    found = OutcomePhrase(0, sketch.count_description(), "")
    sketch.describe(f"filter_{end}", found.number, node)
    texts = TEXTS["and"][end] if logic == "and" else TEXTS["or"][f"{end} related"]
    return "", logic, end, sketch, fill_phrase(texts, found, P=left.place, Q=right.place), weight


def _join_place_and_same(end: str, attribute: str, hops: int) -> Sketch:
    """`Look at the red cube. How many other balls that share its size would be behind the cylinder?`"""
    sketch = OutcomeSketch()
    place, other = sketch.find_place(), sketch.find_one(hops)
    assert place.anchor
    for told in (other, other.anchor):
        if told is not None:
            sketch.require_different(place.anchor.node, told.node)
    same = sketch.add_node(f"same_{attribute}", other.node)
    sketch.keep_empty(attribute, other.number)
    number = sketch.count_description()
    alike = sketch.describe("filter", number, same)
    sketch.require(NAMED, alike, other.node)
    sketch.keep_empty(attribute, number)
    sketch.add_node(end, sketch.add_node("intersect", alike, place.node))
    words = {"Y": other.text.replace("[that is]", "that is"), "a": attribute}
    texts = fill_phrase(get_texts("and", f"{end} same", attribute), place._replace(number=number), **words)
    return "", "and", end, sketch, texts, 1


def _query_in_both_places(attribute: str, hops: int) -> Sketch:
    sketch, one, _ = _find_in_both_places(hops)
    sketch.query(attribute, one.number, one.node)
    return "", "and", "query_attribute", sketch, fill_texts(TEXTS["value"][attribute], X=one.text), 1


def _find_in_both_places(hops: int = 0) -> tuple[OutcomeSketch, OutcomePhrase, tuple[int, int]]:
    """A thing told by two relations, and the nodes of what it stands in these to."""
    sketch = OutcomeSketch()
    node, left, right = sketch.join_places("intersect", hops)
    assert left.anchor and right.anchor
    number = sketch.count_description()
    text = _spell_subject("both", number, P=left.place, Q=right.place)
    one = OutcomePhrase(sketch.describe("filter_unique", number, node), number, text)
    return sketch, one, (left.anchor.node, right.anchor.node)


def _choose_values(end: str, attributes: tuple[str, str], hops: int) -> Sketch:
    """`How many cubes behind the ball would be either red or small?`"""
    sketch = OutcomeSketch()
    among = _find_two_or_more(sketch, hops)
    words, nodes = {}, []
    if hops:  # what is read twice is a description here and in Original, never a relation alone
        sketch.require(NOUN, among.node)
    for name in attributes:
        sketch.keep_empty(name, among.number)
    for gap, name in zip("VW", attributes, strict=True):
        number = sketch.count_description()
        words[gap] = sketch.spell_value(name, number)
        nodes.append(sketch.add_node(f"filter_{name}", among.node, slots=[sketch.add_slot(name, number)]))
    sketch.require_apart(*nodes)
    sketch.add_node(end, sketch.add_node("union", *nodes))
    texts = TEXTS["or"][f"{end} value" if hops else f"{end} value anywhere"]
    return "", "or", end, sketch, fill_phrase(texts, among, **words), 1


def _choose_things(hops: int | None, weight: int) -> Sketch:
    """`How many things behind the ball would be either red cubes or small balls?`; None for those anywhere."""
    sketch = OutcomeSketch()
    place = OutcomePhrase(-1, 0, "") if hops is None else sketch.find_place(hops)
    if hops is not None:
        sketch.require(MANY, place.node)
    kinds = [sketch.count_description() for _ in range(2)]
    nodes = [sketch.describe("filter", n) for n in kinds]
    sketch.require_apart(*nodes)
    for node in nodes:  # no things that are large things
        sketch.require(NOUN, node)
    either = sketch.add_node("union", *nodes)
    sketch.add_node("count", either if hops is None else sketch.add_node("intersect", place.node, either))
    words = {"A": f"{{{kinds[0]}s}}", "B": f"{{{kinds[1]}s}}"}
    texts = TEXTS["or"]["count things anywhere" if hops is None else "count things"]
    return "", "or", "count", sketch, fill_phrase(texts, place, **words), weight


def _negate(end: str, attribute: str, hops: int) -> Sketch:
    """`How many cubes behind the ball would not be red?`"""
    sketch = OutcomeSketch()
    among = _find_two_or_more(sketch, hops)
    node, value = _exclude(sketch, among, attribute)
    sketch.add_node(end, node)
    texts = TEXTS["not"][end if hops else f"{end} anywhere"]
    return "", "not", end, sketch, fill_phrase(texts, among, V=value), 1


def _query_negated(attribute: str, hops: int) -> Sketch:
    """`What would be the size of the cube that is not red and is behind the ball?`"""
    other = ATTRIBUTES[(ATTRIBUTES.index(attribute) + 1) % len(ATTRIBUTES)]
    sketch = OutcomeSketch()
    among = _find_two_or_more(sketch, hops)
    node, value = _exclude(sketch, among, other, one=True)
    sketch.query(attribute, among.number, sketch.add_node("unique", node))
    text = _spell_subject("not" if hops else "not anywhere", among.number, V=value, P=among.place)
    return "", "not", "query_attribute", sketch, fill_texts(TEXTS["value"][attribute], X=text), 1


def _find_two_or_more(sketch: OutcomeSketch, hops: int) -> OutcomePhrase:
    """Things of which some are asked for: "of them" is said of two or more."""
    among = sketch.find_several(hops)
    sketch.require(MANY, among.node)
    return among


def _exclude(sketch: OutcomeSketch, among: OutcomePhrase, attribute: str, *, one: bool = False) -> tuple[int, str]:
    """Those of some things that do not have a value, and the value in words."""
    number = sketch.count_description()
    sketch.keep_empty(attribute, among.number)
    slot = sketch.add_slot(attribute, number)
    node = sketch.add_node(f"not_{attribute}", among.node, slots=[slot])
    return node, sketch.spell_value(attribute, number, one=one)


def _spell_subject(key: str, number: int, **words: str) -> str:
    return fill_texts(TEXTS["subject"][key], Ts=f"{{{number}s}}", T=f"{{{number}}}", **words)[0]


# The two sets of templates.


def list_one_hop_templates() -> tuple[HypotheticalTemplate, ...]:
    """One slot for each question type."""
    return _build_all((list_hops, list_same, list_comparisons, list_numbers, list_plain_logic), two_hop=False)


def list_two_hop_templates() -> tuple[HypotheticalTemplate, ...]:
    """Slots for questions with "and", "or" and "not" of several question types."""
    return _build_all((list_and, list_or, list_not), two_hop=True)


def _build_all(
    groups: tuple[Callable[[], Iterator[Sketch]], ...], *, two_hop: bool
) -> tuple[HypotheticalTemplate, ...]:
    families: Counter[str] = Counter()
    found: list[HypotheticalTemplate] = []
    for group in groups:
        for file, logic, kind, sketch, texts, weight in group():
            name = file or LOGIC_FILES[logic]
            slot = LOGIC_SLOTS.index((logic, kind)) if two_hop else QUESTION_TYPES.index(kind)
            template = check_template(sketch.build_template(name, families[name], texts))
            families[name] += 1
            found += [HypotheticalTemplate(template, slot, kind, logic)] * weight
    return tuple(found)
