"""Phrases: a subgraph in English, "the cup that is on a table that is in front of a man".

Nothing here is drawn: the same subgraph always gives the same words. What cannot be worded well is refused by
`fluency.is_sayable`; the functions here expect what it lets through. A subgraph of a closed schema is spelled out by
`spell_subgraph` first: suv → SUV, left → to the left of.
"""

from collections.abc import Sequence
from functools import lru_cache

from ...english import nouns
from ...english.adjectives import describe_attribute
from ...english.inflection import join_list
from ...english.inflection import plural as several
from ...english.relations import RelationPredicate, add_article, be_form, parse_relation
from ...english.synonyms import Lexicon
from ...english.word_lists import word_set
from ...scene_graph.subgraph import ObjectNode, Subgraph, SubgraphLink
from ...schema import Schema

ALONG, TOWARDS = (" down", " up", " across", " along", " off"), (" at", " for", " to", "facing")
FACED = word_set("nouns", "faced")
_get_lexicon = lru_cache(maxsize=8)(Lexicon)


def has_more_to_say(thing: ObjectNode) -> bool:
    """Whether there is more to say after the thing's noun."""
    phrase = describe_attribute(thing.attribute) if thing.attribute else None
    return bool(thing.relations) or (phrase is not None and not phrase.before)


# How a thing and its relations are put together: nouns with articles, and what follows "that".


@lru_cache(maxsize=512)
def build_phrase(thing: ObjectNode, plural: bool, pluralize: bool = False, inner: bool = False) -> str:
    """The noun with its full description: "sink that is below a towel"."""
    named = build_noun(thing, pluralize)
    phrase = build_predicates(thing, plural, inner)
    return f"{named} that {phrase}" if phrase else named


def build_noun(thing: ObjectNode, pluralize: bool) -> str:
    name = several(thing.name) if pluralize and nouns.grammatical_number(thing.name) == "one" else thing.name
    phrase = describe_attribute(thing.attribute) if thing.attribute else None
    return nouns.capitalize_name(f"{phrase.words} {name}" if phrase and phrase.before else name)


def get_postposed_attribute(thing: ObjectNode) -> str:
    """The attribute, if it cannot stand before the noun."""
    phrase = describe_attribute(thing.attribute) if thing.attribute else None
    return phrase.words if phrase and not phrase.before else ""


def _add_article(phrase: str, thing: ObjectNode, article: str) -> str:
    return add_article(phrase, thing.name, article, keep_the=not thing.relations or thing.name not in nouns.THE_OR_A)


@lru_cache(maxsize=512)
def build_predicates(thing: ObjectNode, plural: bool, inner: bool = False) -> str:
    """The description of a thing after "that"; "both" shows what belongs to it."""
    links = order_links(thing.relations)
    after = get_postposed_attribute(thing)
    parts = [f"{be_form(plural)} {after}"] if after else []
    if are_alike(links):
        predicate = get_predicate(links[0])
        targets = " and ".join(build_target(link, predicate, thing.name) for link in links)
        both = "both " if inner or not nouns.is_worn(links[0].thing.name) else ""  # behind a jet, and a bus besides?
        parts.append(f"{predicate.write_finite(plural)} {both}{targets}")
    else:
        parts += [phrase_clause(link, plural, thing.name) for link in links]
    if len(parts) != 2:
        return join_list(parts)
    start = f"{be_form(plural)} "
    if all(part.startswith(start) for part in parts):
        shared = " and ".join(part.removeprefix(start) for part in parts)
        if inner:
            return f"{start}both {shared}"
        alike = not any(get_predicate(link).manner or nouns.is_worn(link.thing.name) for link in links)
        if alike and not after:  # left of a bus and behind a jet
            return f"{start}{shared}"
    return f"{'both ' if inner else ''}{' and '.join(parts)}"


def build_short_tail(thing: ObjectNode) -> str | None:
    """The description straight after the noun; None if that could be misread."""
    after, links = get_postposed_attribute(thing), order_links(thing.relations)
    if after:
        plain = after.partition(" ")[0].endswith("ing") or after.startswith(("in ", "on ", "for "))
        return after if plain and not links else None
    if not links:
        return ""
    predicates = [get_predicate(link) for link in links]
    targets = [build_target(link, predicate, thing.name) for link, predicate in zip(links, predicates, strict=True)]
    if are_alike(links):
        both = "" if nouns.is_worn(links[0].thing.name) else "both "
        return f"{predicates[0].write_reduced()} {both}{' and '.join(targets)}"
    if len({predicate.manner for predicate in predicates}) > 1:
        return None
    return " and ".join(f"{predicate.write_reduced()} {to}" for predicate, to in zip(predicates, targets, strict=True))


def build_target(link: SubgraphLink, predicate: RelationPredicate, subject: str) -> str:
    return f"{build_object(link.thing, predicate, subject)}{build_modifiers(link)}"


def build_object(thing: ObjectNode, predicate: RelationPredicate, subject: str) -> str:
    """A noun phrase for what a relation leads to, with the article that goes there: in the water, a hat."""
    words = build_phrase(thing, nouns.is_plural_noun(thing.name), inner=True)
    if thing.name == subject and nouns.grammatical_number(subject) == "one":
        return f"another {words}"
    bare = not thing.attribute and not thing.relations
    if bare and predicate.rest == "playing" and thing.name in nouns.GAMES:
        return words
    if bare and predicate.rest == "playing" and thing.name in nouns.INSTRUMENTS:
        return f"the {words}"
    if bare and thing.name in nouns.THE_IN and predicate.rest.rpartition(" ")[2] == "in":
        return f"the {words}"
    if bare and thing.name in nouns.THE_AFTER and (predicate.is_place or predicate.rest.endswith(ALONG)):
        return f"the {words}"
    if bare and (predicate.is_spatial or predicate.rest.endswith(ALONG)) and _takes_the(thing.name):  # in the bushes
        return f"the {words}"
    if bare and thing.name in FACED and predicate.rest.endswith(TOWARDS):  # looking at the camera
        return f"the {words}"
    return _add_article(words, thing, "a")


def _takes_the(name: str) -> bool:
    """Whether several, or some of a mass, are meant as those of the picture: not "in jeans" nor "behind giraffes"."""
    several = nouns.grammatical_number(name) != "one"
    return several and name not in nouns.NEVER_THE and not nouns.is_worn(name) and not nouns.is_alive(name)


def build_modifiers(link: SubgraphLink) -> str:
    """Where something is done comes last: "cutting bread with a knife in a kitchen"."""
    places = ("at", "in", "inside", "outside")
    words = ""
    for one in sorted(link.modifiers, key=lambda m: m.name in places and nouns.is_location(m.thing.name)):
        phrase = "in" if one.name == "at" and nouns.is_interior(one.thing.name) else one.name
        words += f" {phrase} {build_object(one.thing, RelationPredicate('', phrase), '')}"
    return words


def get_predicate(link: SubgraphLink) -> RelationPredicate:
    """One is *with* somebody, but *has* something."""
    accompanied = link.relation == "with" and nouns.is_alive(link.thing.name)
    return RelationPredicate("", "with") if accompanied else require_predicate(link.relation)


def require_predicate(relation: str) -> RelationPredicate:
    predicate = parse_relation(relation)
    if predicate is None:
        raise ValueError(f"no words for the relation {relation!r}")
    return predicate


def phrase_attribute(attribute: str) -> str:
    phrase = describe_attribute(attribute)
    if phrase is None or not phrase.after:
        raise ValueError(f"no words for being {attribute!r}")
    return phrase.words


def are_alike(links: Sequence[SubgraphLink]) -> bool:
    """Whether two relations share one verb: wearing a hat and a coat."""
    return len(links) == 2 and len(set(map(get_predicate, links))) == 1 and not any(k.modifiers for k in links)


def order_links(links: Sequence[SubgraphLink]) -> list[SubgraphLink]:
    """What goes on further comes last, so that what follows "and" is about the first noun."""
    return sorted(
        links,
        key=lambda k: (has_more_to_say(k.thing), bool(k.modifiers), get_predicate(k).manner, bool(k.thing.attribute)),
    )


def is_mass(subgraph: Subgraph) -> bool:
    """Whether there is some of it, not one or several: water."""
    return nouns.grammatical_number(subgraph.name) == "mass"


def spell_name(name: str, schema: Schema) -> str:
    """A name of a closed schema in plain English: suv → SUV, double → double-decker bus."""
    return name if not schema.closed else _get_lexicon(schema).get_forms(name).one[0]


def spell_subgraph(subgraph: Subgraph, schema: Schema) -> Subgraph:
    """The subgraph with its schema's names in plain English; one of an open vocabulary is left as it is."""
    if not schema.closed:
        return subgraph
    return subgraph.replace_nodes({k: spell_name(node.name, schema) for k, node in enumerate(subgraph.nodes())})


def phrase_one(subgraph: Subgraph, article: str = "the") -> str:
    """A noun phrase for one: "the sink that is below a towel"; `a` gives a, an or what the noun wants."""
    return _add_article(build_phrase(subgraph, nouns.is_plural_noun(subgraph.name)), subgraph, article)


def phrase_many(subgraph: Subgraph) -> str:
    """A noun phrase for any number of them: "men that are in the water"; a mass noun stays as it is."""
    return build_phrase(subgraph, not is_mass(subgraph), pluralize=True)


def phrase_definite(subject: Subgraph, plural: bool = False) -> str:
    """The one meant, or all of them: "the sink that is below a towel", "the dogs that are on a bed"."""
    return f"the {phrase_many(subject) if plural else phrase_one(subject, '')}"


def phrase_short(subgraph: Subgraph, article: str = "the", plural: bool = False) -> str:
    """A noun phrase that leaves out "that is" where it can: "the man wearing a hat", "cups on a table"."""
    named = build_noun(subgraph, plural)
    if (tail := build_short_tail(subgraph)) is not None:
        phrase = f"{named} {tail}".rstrip()
    else:
        who = "who" if nouns.is_person(subgraph.name) else "that"
        phrase = f"{named} {who} {build_predicates(subgraph, plural or nouns.is_plural_noun(subgraph.name))}"
    return phrase if plural else _add_article(phrase, subgraph, article)


def phrase_clause(link: SubgraphLink, plural: bool = False, subject: str = "") -> str:
    """The predicate of a subject: "is wearing a jersey", "are on a table", "has a tail"."""
    predicate = get_predicate(link)
    return f"{predicate.write_finite(plural)} {build_target(link, predicate, subject)}"


def phrase_state(attribute: str, plural: bool = False) -> str:
    """What an attribute says of a subject: "is white", "are looking up"."""
    return f"{be_form(plural)} {phrase_attribute(attribute)}"


def phrase_relation(subject: Subgraph, relation: str) -> str:
    """The relation of the subject without its object: "is holding", "has"."""
    return require_predicate(relation).write_finite(nouns.is_plural_noun(subject.name))
