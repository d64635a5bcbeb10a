"""Wording of COVR's questions about a subgraph: "Is the woman carrying a bottle or a purse".

Capitals are here, question marks are the template's. `plural` asks about all of them; `phrase` gives other words
for the subject, with the number of `plural` or of its own name.
"""

from collections.abc import Callable

from ...english.inflection import capitalize_first, lower_first
from ...english.nouns import OWN_PARTS, grammatical_number, is_alive, is_kind, is_person, is_plural_noun, pronoun
from ...english.relations import (
    PLACES,
    RelationPredicate,
    be_form,
    find_base_verb,
    helper_verb,
    parse_relation,
    phrase_number,
)
from ...english.word_lists import pair_words, word_set
from ...scene_graph.subgraph import ObjectNode, Subgraph, SubgraphLink
from . import phrases

POSTURES = frozenset({"", "sitting", "standing", "lying", "resting"})  # which a thing has none of
MEASURES = ("color", "size", "shape", "height", "length", "width", "age")  # one is the same color
UNDER, FACING = frozenset({"under", "below", "beneath"}), frozenset({"in front of", "behind"})
BOTH_AT_ONCE = pair_words("relations", "both at once")
NO_ALTERNATIVES = word_set("relations", "no alternatives")
ALSO_ADJECTIVES = word_set("nouns", "also adjectives")
INTO = frozenset({"in", "on", "on top of", "inside"})  # of water or grass, hard to tell apart


def ask_is(subject: Subgraph, attribute: str, plural: bool = False, phrase: str = "") -> str:
    """Whether it is so: "Is the sink that is below a towel white", "Are the trees green"."""
    verb = be_form(plural or is_plural_noun(subject.name)).capitalize()
    return f"{verb} {phrase or phrases.phrase_definite(subject, plural)} {phrases.phrase_attribute(attribute)}"


def ask_how_many(subject: Subgraph) -> str:
    """How many there are: "How many boys are wearing a hat and are sitting on a bench", "How many boys are there"."""
    predicates = phrases.build_predicates(subject, True)
    return f"How many {phrases.build_noun(subject, True)} {predicates or 'are there'}"


def ask_what(subject: Subgraph, relation: str, plural: bool = False, phrase: str = "") -> str:
    """What it is related to: "What is the woman that is wearing glasses holding", "What does it have"."""
    verb = phrases.require_predicate(relation)
    helper = helper_verb(verb, plural or is_plural_noun(subject.name))
    return f"What {helper} {phrase or phrases.phrase_definite(subject, plural)} {verb.write_bare()}"


def ask_does(subject: Subgraph, link: SubgraphLink, plural: bool = False, phrase: str = "") -> str:
    """Whether it is so related: "Is the woman carrying a bottle", "Do all of the dogs have a tail"."""
    verb = phrases.get_predicate(link)
    start = _start_question(verb, subject, plural, phrase)
    return f"{start} {verb.write_bare()} {phrases.build_target(link, verb, subject.name)}"


def ask_either_object(subject: Subgraph, link: SubgraphLink, other: str, plural: bool = False, phrase: str = "") -> str:
    """Which of two things: "Is the woman that is wearing a dress carrying a bottle or a purse"."""
    verb = phrases.get_predicate(link)
    start = _start_question(verb, subject, plural, phrase)
    return f"{start} {verb.write_bare()} {phrase_two_objects(subject, link, other)}"


def phrase_two_objects(subject: Subgraph, link: SubgraphLink, other: str) -> str:
    """The two things to choose from: "a bottle or a purse"."""
    verb = phrases.get_predicate(link)
    first, second = (phrases.build_object(thing, verb, subject.name) for thing in (link.thing, ObjectNode(other)))
    if _get_article(first) != _get_article(second) and (again := _find_preposition(verb.rest)):
        second = f"{again} {second}"  # in the sky or in an airport, on a board or on broccoli
    return f"{first} or {second}{phrases.build_modifiers(link)}"


def _get_article(phrase: str) -> str:
    word = phrase.partition(" ")[0]
    return {"the": "the", "a": "a", "an": "a", "another": "a"}.get(word, "")


def _find_preposition(words: str) -> str:
    """The preposition that a predicate ends in: sitting on top of → on top of."""
    rest = words.split()
    return next((at for k in range(len(rest)) if (at := " ".join(rest[k:])) in PLACES), "")


def ask_either_modifier(
    subject: Subgraph, link: SubgraphLink, other: str, plural: bool = False, phrase: str = ""
) -> str:
    """With which of two things: "Is the woman that is lighting a cigar lighting it using a match or a lamp".

    The link has one modifier, which the question asks for.
    """
    verb, (modifier,) = phrases.get_predicate(link), link.modifiers
    led = RelationPredicate("", modifier.name)
    first, second = (phrases.build_object(thing, led, subject.name) for thing in (modifier.thing, ObjectNode(other)))
    start, it = _start_question(verb, subject, plural, phrase), pronoun(link.thing.name)
    return f"{start} {verb.write_bare()} {it} {modifier.name} {first} or {second}"


def ask_either_relation(
    subject: Subgraph, link: SubgraphLink, other: str, plural: bool = False, phrase: str = ""
) -> str:
    """Which of two relations: "Is the sitting man holding a hat or wearing it"; see `are_comparable`."""
    # With "be": surrounding, where it would be "surrounds".
    both = phrases.get_predicate(link), phrases.require_predicate(other)
    first, second = (RelationPredicate("", predicate.write_reduced()) for predicate in both)
    thing, it = phrases.build_object(link.thing, first, subject.name), pronoun(link.thing.name)
    start = _start_question(first, subject, plural, phrase)
    return f"{start} {first.rest} {thing} or {second.rest} {it}{phrases.build_modifiers(link)}"


def has_alternatives(link: SubgraphLink) -> bool:
    """Whether another relation may be asked beside this one.

    Not where the object is described further: "on a bed that is in a room or under it" has two meanings; nor
    "in a hand or under it".
    """
    if parse_relation(link.relation) is None or phrases.has_more_to_say(link.thing) or link.thing.name in OWN_PARTS:
        return False
    predicate = phrases.get_predicate(link)
    return predicate.verb != "have" and NO_ALTERNATIVES.isdisjoint(_split_predicate(predicate))


def are_told_apart(one: str, other: str) -> bool:
    """Whether who does the one is plainly not doing the other: not walking on the ground and looking at it."""
    first, second = map(parse_relation, (one, other))
    if first is None or second is None:
        return False
    (doing, place), (doing_too, other_place) = _split_predicate(first), _split_predicate(second)
    if not BOTH_AT_ONCE.isdisjoint(((doing, doing_too), (doing_too, doing))):
        return False
    if "eating" in (doing, doing_too) and place != other_place:  # running on the grass or eating it
        return False
    return {place, other_place} != {"in", "on"} and NO_ALTERNATIVES.isdisjoint((doing, place, doing_too, other_place))


def are_comparable(link: SubgraphLink, other: str, subject: str = "") -> bool:
    """Whether `ask_either_relation` can set the two side by side: not "have" beside "wearing", nor "in" beside either.

    Nor can it where both may be true of one thing: a cup "sitting on" or "standing on", a boat "in" or "on" water.
    """
    second = parse_relation(other)
    if second is None or not has_alternatives(link):
        return False
    first = phrases.get_predicate(link)
    if second.verb == "have" or first.write_reduced() == second.write_reduced():
        return False
    if _starts_with_verb(first) != _starts_with_verb(second):  # painted on a vase or in it
        return False
    (doing, place), (doing_too, other_place) = _split_predicate(first), _split_predicate(second)
    if {doing, doing_too} == {"sitting", "lying"} and not is_person(subject):  # as cows do
        return False
    places = {place, other_place}
    if places & UNDER and places & FACING:  # a desk under a window is in front of it
        return False
    if not are_told_apart(link.relation, other) or (place == other_place and not (doing and doing_too)):
        return False
    if place == other_place and subject and (not is_alive(subject) or is_kind(subject, "bird")):
        return not {doing, doing_too} <= POSTURES
    into = places <= INTO and grammatical_number(link.thing.name) == "mass"
    return not (into and (doing == doing_too or not doing or not doing_too))


def _starts_with_verb(predicate: RelationPredicate) -> bool:
    """Whether it says what one does or what was done to it, and not only where it is."""
    words = predicate.write_reduced()
    first = words.partition(" ")[0]
    return first.endswith(("ing", "ed")) or (words not in PLACES and bool(find_base_verb(first)))


def _split_predicate(predicate: RelationPredicate) -> tuple[str, str]:
    """What one is doing, and where: "sitting", "on"."""
    head, _, rest = predicate.write_reduced().partition(" ")
    return (head, rest) if head.endswith("ing") else ("", predicate.write_reduced())


def _start_question(verb: RelationPredicate, subject: Subgraph, plural: bool, phrase: str) -> str:
    helper = helper_verb(verb, plural or is_plural_noun(subject.name)).capitalize()
    return f"{helper} {phrase or phrases.phrase_definite(subject, plural)}"


# Pieces of paraphrases that several templates share.


def ask_after_naming(thing: Subgraph, ask: Callable[[str, bool], str]) -> list[str]:
    """The question after what it is about, if that takes many words: "look at the man in a hat. Is he running?"."""
    if not thing.relations:
        return []
    return [f"look at {phrases.phrase_short(thing)}. {capitalize_first(ask_with_pronoun(thing, ask))}?"]


def ask_about(thing: Subgraph, ask: Callable[[str, bool], str], apart: bool) -> str:
    """The question, with what it is about set apart where the sentence could be misread.

    "Look at the truck that is in front of a bus. What is it behind?", not "What is the truck in front of a bus
    behind?".
    """
    if not apart:
        return f"{ask('', False)}?"
    return f"Look at {phrases.phrase_one(thing)}. {capitalize_first(ask_with_pronoun(thing, ask))}?"


def ask_with_pronoun(thing: Subgraph, ask: Callable[[str, bool], str]) -> str:
    """A question about it, once it was named: "is he running"."""
    it = pronoun(thing.name, subject=True)
    named = (one.name for link in thing.relations for one in link.thing.things())
    had = it == "it" and any(phrases.get_predicate(link).verb == "have" for link in thing.relations)
    if had or (it == "they" and any(map(is_plural_noun, named))):  # that have white legs: are they black
        return lower_first(ask(f"the {phrases.build_noun(ObjectNode(thing.name), False)}", is_plural_noun(thing.name)))
    return lower_first(ask(it, it == "they"))


def is_ambiguous(thing: Subgraph, relation: str) -> bool:
    """Whether few words could be misread: "the cup on a table under it", "the man wearing a hat sitting on it"."""
    predicate = phrases.require_predicate(relation)
    return bool(thing.relations) and (predicate.manner == 0 or " " in predicate.rest)


def is_read_on(thing: Subgraph, attribute: str = "") -> bool:
    """Whether an attribute after the description could be read of its last noun: "to the left of a rubber jet metal".

    So it could after a list, after what is itself an adjective ("under a light silver"), and of what is alive.
    """
    if len(thing.relations) != 1:
        return bool(thing.relations)
    (link,) = thing.relations
    last = link.thing.name.rpartition(" ")[2]
    described = link.modifiers or link.thing.attribute or link.thing.relations
    described = described or phrases.get_predicate(link).verb  # that has a roof red
    if described or " " in attribute or not ALSO_ADJECTIVES.isdisjoint((last, attribute)):
        return True
    if grammatical_number(last) == "mass":  # that has trim white
        return True
    return is_alive(link.thing.name) and attribute.partition(" ")[0].endswith("ing")


def phrase_clearly(thing: Subgraph, relation: str) -> str:
    """The one meant in few words; in more where "the cup on a table under it" could be misread."""
    return phrases.phrase_one(thing) if is_ambiguous(thing, relation) else phrases.phrase_short(thing)


def phrase_same(family: str) -> str:
    """Of two things that are alike: "the same color"; "" where English has no such phrase."""
    if family == "material":
        return "made of the same material"
    return f"the same {family}" if family in MEASURES else ""


def be_form_of(thing: Subgraph) -> str:
    return be_form(is_plural_noun(thing.name))


def phrase_quantity(spelled: Subgraph, test: str, number: int) -> str:
    """A number of things: "at most 1 cup that is behind a man"."""
    things = phrases.phrase_one(spelled, "") if number == 1 else phrases.phrase_many(spelled)
    return f"{test} {number} {things}"


def phrase_short_quantity(thing: Subgraph, test: str, number: int) -> str:
    """two or more dogs on a bed; with no number, "a dog on a bed"."""
    if number == 0:
        return phrases.phrase_short(thing, "a")
    return f"{phrase_number(test, number)} {phrases.phrase_short(thing, '', plural=number != 1)}"
