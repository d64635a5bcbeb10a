"""Phrases: a subgraph in English, "the cup that is on a table that is in front of a man".

Nothing here is drawn: the same subgraph always gives the same words. What cannot be worded well is refused by
`is_sayable`; the other functions expect what it lets through. A subgraph of a closed schema is spelled out by
`spell_subgraph` first: suv → SUV, left → to the left of.
"""

from collections.abc import Sequence
from functools import lru_cache

from ...english import nouns
from ...english.adjectives import describe_attribute
from ...english.inflection import join_list
from ...english.inflection import plural as several
from ...english.relations import AFTER_VERBS, RelationPredicate, add_article, be_form, can_take, parse_relation
from ...english.synonyms import Lexicon
from ...english.word_lists import pair_words, word_list, word_set, word_table
from ...scene_graph.relation_exclusivity import classify_target
from ...scene_graph.subgraph import ObjectNode, Subgraph, SubgraphLink
from ...schema import Schema
from ...schemas.gqa import SCHEMA

SIDES = frozenset({"both", "either", "each"})
BETWEEN = ("between", "among", "amongst", "in between")  # of several things
BESIDE = ("behind", "in front of", "near", "next to", "beside", "by", "above", "below", "under", "over")
FULL_OF = ("made of", "filled with", "full of")  # of some, or of several
HARDLY_HAD = ("number", "numbers", "name", "letter", "letters", "word", "words")
ALONG, TOWARDS = (" down", " up", " across", " along", " off"), (" at", " for", " to", "facing")
FACED = word_set("nouns", "faced")
ON = ("on", "on top of", "above", "over", "under", "around")
_get_lexicon = lru_cache(maxsize=8)(Lexicon)
FACIAL_HAIR = word_set("nouns", "facial hair")
NOT_IN = word_set("nouns", "not in")
PICTURES = word_set("nouns", "pictures")
EVERY_ONE_HAS = {kind: frozenset(parts) for kind, parts in word_table("nouns", "every one has").items()}
WHERE_ELSE = pair_words("nouns", "where else")
NO_SAYING = pair_words("nouns", "goes without saying")
VAGUE = word_set("nouns", "vague")
OWNED = nouns.OWN_PARTS - {"trunk"}  # places that one does not name without whose they are
ONE_OF_SEVERAL = word_set("nouns", "one of several")  # and what everything has
FEATURES = word_set("nouns", "features")
ANY_GARMENT = word_set("nouns", "garments of any kind")
ONE_TO_A_PICTURE = word_set("nouns", "one to a picture")
ENCOMPASSING = word_set("nouns", "encompassing")
GROUNDS = word_set("nouns", "grounds").union(ONE_TO_A_PICTURE, *EVERY_ONE_HAS.values())
HANDLING = ("holding", "carrying", "throwing", "catching", "wearing")
BENEATH = ("under", "below", "beneath", "underneath", "behind")
OF_THE_LIVING = word_set("relations", "of the living")
SYMMETRIC = tuple(f" {word}" for word in word_list("relations", "symmetric"))
KNOWN = frozenset(kind for kind, _ in SCHEMA.attribute("name").kinds)  # nouns of which we know what is alive
LIKENESSES = ("bear", "doll", "statue", "sculpture", "snowman", "mannequin", "figurine", "toy", "puppet", "figure")


def is_fluent(thing: ObjectNode, above: tuple[str, ...] = ()) -> bool:
    """Whether the thing's attribute and relations can be worded; `above` are the names on the way to it."""
    if thing.attribute:
        sideless = thing.attribute in ("left", "right") and thing.name not in nouns.SIDED
        repeated = set(thing.attribute.split()) & set(thing.name.split())
        if describe_attribute(thing.attribute) is None or sideless or repeated:
            return False
        if (thing.attribute, thing.name) in NO_SAYING:
            return False
    if thing.name in VAGUE:
        return False
    names = [link.thing.name for link in thing.relations]
    if len(set(names)) < len(names):  # on a chair and next to a chair: one of them or two?
        return False
    if sum(has_more_to_say(link.thing) for link in thing.relations) > 1:  # no telling what the last one is about
        return False
    if not all(_is_link_fluent(thing, link, (*above, thing.name)) for link in thing.relations):
        return False
    return len(names) < 2 or _go_together(_order_links(thing.relations))


def has_more_to_say(thing: ObjectNode) -> bool:
    """Whether there is more to say after the thing's noun."""
    phrase = describe_attribute(thing.attribute) if thing.attribute else None
    return bool(thing.relations) or (phrase is not None and not phrase.before)


def _go_together(links: Sequence[SubgraphLink]) -> bool:
    """Whether two relations can be said in a row: not "walking on a road and walking with a dog".

    Nor with an attribute of the first thing that would be read of the second too: a white shirt and shorts.
    """
    if not _are_alike(links):
        doing = [head for link in links if (head := get_predicate(link).rest.partition(" ")[0]).endswith("ing")]
        return len(set(doing)) == len(doing)
    first, last = (link.thing for link in links)
    return not first.attribute or bool(last.attribute) or nouns.grammatical_number(last.name) == "one"


def _is_link_fluent(thing: ObjectNode, link: SubgraphLink, above: tuple[str, ...]) -> bool:
    predicate, target = parse_relation(link.relation), link.thing
    if predicate is None or target.name in above[:-1] or not can_take(predicate, target.name):
        return False
    if not nouns.is_noun(target.name) and (target.relations or not nouns.is_scene_region(target.name, predicate.rest)):
        return False
    if thing.attribute and predicate.rest.startswith(thing.attribute):  # a walking dog that is walking on a road
        return False
    if target.name == thing.name:  # next to another man, not wearing another man
        worn = predicate.verb == "have" or predicate.rest.startswith("wearing")
        plain = not target.relations and not target.attribute
        symmetric = f" {predicate.write_reduced()}".endswith(SYMMETRIC)
        if symmetric or worn or nouns.grammatical_number(thing.name) != "one" or not plain:
            return False
    if predicate.rest in BETWEEN and nouns.grammatical_number(target.name) != "several":
        return False
    if nouns.grammatical_number(thing.name) == "one" and not SIDES.isdisjoint(predicate.rest.split()):
        return False  # one lamp on both sides of a bed
    if predicate.rest in FULL_OF and nouns.grammatical_number(target.name) == "one":
        return False
    lifeless = link.relation == "with" and nouns.is_alive(target.name) and not nouns.is_alive(thing.name)
    if lifeless or not _is_sensible(thing, predicate, target):  # the bowl that is with a bear
        return False
    if link.modifiers and has_more_to_say(target):
        return False
    for modifier in link.modifiers:
        named, used = modifier.name in AFTER_VERBS or modifier.name in ("using", "by"), modifier.thing
        if not named or not nouns.is_noun(used.name) or used.relations or not is_fluent(used):
            return False
    return is_fluent(target, above)


@lru_cache(maxsize=16384)
def _has_always(whole: str, part: str) -> bool:
    """Whether everything of this name has such a part."""
    return any(part in parts and nouns.is_kind(whole, kind) for kind, parts in EVERY_ONE_HAS.items())


def _is_feature(thing: ObjectNode, target: ObjectNode) -> bool:
    """Whether a thing has it as its own: a house a door; not a plate food, which is on it."""
    if target.relations or nouns.is_kind(target.name, "food") or nouns.is_kind(target.name, "tableware"):
        return False
    if target.name in FEATURES or target.name.rpartition(" ")[2] in FEATURES:
        return True
    return nouns.are_part_and_whole(target.name, thing.name)


def _is_sensible(thing: ObjectNode, predicate: RelationPredicate, target: ObjectNode) -> bool:
    """Annotators' slips, and what is true of everyone."""
    alive = nouns.is_alive(thing.name)
    last = thing.name.rpartition(" ")[2]
    inanimate = not alive and thing.name in KNOWN and last not in LIKENESSES
    if inanimate and predicate.rest.partition(" ")[0] in OF_THE_LIVING:
        return False
    plain = not target.attribute and not target.relations
    if plain and predicate.is_place and _has_always(target.name, thing.name):
        return False  # the roof that is on a building
    if (thing.name, target.name) in WHERE_ELSE or (thing.name, target.name.rpartition(" ")[2]) in WHERE_ELSE:
        return False
    if (f"{target.attribute} {target.name}", thing.name) in NO_SAYING:
        return False
    if predicate.verb == "have" and target.name in ONE_OF_SEVERAL:  # a shirt that has a long sleeve
        return False
    own_part = thing.name in nouns.OWN_PARTS
    if (own_part or thing.name in FACIAL_HAIR) and predicate.is_place and nouns.is_alive(target.name):
        return False  # the hair that is on a man
    if target.name in OWNED and (predicate.is_place or predicate.rest in ON):
        return False  # the pizza that is in a hand
    if thing.name in FACIAL_HAIR and target.name in KNOWN and not nouns.is_alive(target.name):
        return target.name in nouns.OWN_PARTS or target.name.rpartition(" ")[2] in LIKENESSES
    if predicate.rest in ("in", "inside", "on") and target.name in PICTURES:
        return False
    if nouns.is_person(target.name) and predicate.rest in ON and nouns.is_worn(thing.name):
        return False  # the shirt that is on a man
    if inanimate and predicate.verb == "have" and not _is_feature(thing, target):
        return False
    if predicate.rest.rpartition(" ")[2] == "in" and target.name in NOT_IN:  # a bottle in a table, unlike a drawer
        return nouns.are_part_and_whole(thing.name, target.name)
    if alive and any(link.thing.name in nouns.OWN_PARTS for link in target.relations):
        return False  # glasses that are on a face, where else
    if alive and predicate.rest in HANDLING:
        told = (parse_relation(link.relation) for link in target.relations)
        if not all(one and not one.is_place for one in told):
            return False  # carrying flowers that are on a bike
    if predicate.rest.startswith("wearing"):
        dull = target.name in ANY_GARMENT and not target.attribute  # as everyone is
        return not dull and not nouns.is_alive(target.name) and not nouns.is_kind(target.name, "food")
    if predicate.verb == "have" and plain and (target.name in HARDLY_HAD or _has_always(thing.name, target.name)):
        return False  # as all of them do
    if target.name == "sky" and predicate.rest in ("under", "below", "beneath"):  # as everything is
        return False
    human = alive or last in LIKENESSES
    if human and not predicate.is_place and target.name in nouns.OWN_PARTS:  # has hair, is touching lips
        return bool(target.attribute)
    if alive and predicate.verb == "have":
        return not nouns.is_kind(target.name, "clothing")  # which one wears
    if own_part and nouns.is_worn(target.name) and predicate.rest in BESIDE:  # a face behind a shirt
        return False
    if not human and target.name in nouns.FLESH and predicate.verb == "have":  # a train that has a head
        return False
    numbers = nouns.grammatical_number(thing.name), nouns.grammatical_number(target.name)
    if predicate.rest == "in" and numbers == ("mass", "several"):
        return False  # the grass that is in fields
    if predicate.verb == "have" and nouns.is_person(target.name):
        return nouns.is_person(thing.name)
    return not (alive and predicate.rest in ON and nouns.is_worn(target.name))


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
    links = _order_links(thing.relations)
    after = get_postposed_attribute(thing)
    parts = [f"{be_form(plural)} {after}"] if after else []
    if _are_alike(links):
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
    after, links = get_postposed_attribute(thing), _order_links(thing.relations)
    if after:
        plain = after.partition(" ")[0].endswith("ing") or after.startswith(("in ", "on ", "for "))
        return after if plain and not links else None
    if not links:
        return ""
    predicates = [get_predicate(link) for link in links]
    targets = [build_target(link, predicate, thing.name) for link, predicate in zip(links, predicates, strict=True)]
    if _are_alike(links):
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
    if bare and thing.name in nouns.THE_AFTER and (predicate.is_place or predicate.rest.endswith(ALONG)):
        return f"the {words}"
    if bare and thing.name in FACED and predicate.rest.endswith(TOWARDS):  # looking at the camera
        return f"the {words}"
    return _add_article(words, thing, "a")


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


def _are_alike(links: Sequence[SubgraphLink]) -> bool:
    """Whether two relations share one verb: wearing a hat and a coat."""
    return len(links) == 2 and len(set(map(get_predicate, links))) == 1 and not any(k.modifiers for k in links)


def _order_links(links: Sequence[SubgraphLink]) -> list[SubgraphLink]:
    """What goes on further comes last, so that what follows "and" is about the first noun."""
    return sorted(
        links,
        key=lambda k: (has_more_to_say(k.thing), bool(k.modifiers), get_predicate(k).manner, bool(k.thing.attribute)),
    )


def is_sayable(subgraph: Subgraph) -> bool:
    """Whether it reads as sensible English: no odd names, attributes or relations, nothing repeated."""
    if not nouns.is_thing(subgraph.name) or not is_fluent(subgraph):
        return False
    had = any(get_predicate(link).verb == "have" for link in subgraph.relations)
    return not (had and subgraph.name in nouns.THE_OR_A)  # there is one sky, with clouds or without


def can_be_counted(subgraph: Subgraph) -> bool:
    """Whether "how many" goes with it: not with water, nor with rivers, nor with tails of whatever it may be."""
    if not nouns.is_countable(subgraph.name) or subgraph.name in ONE_TO_A_PICTURE:
        return False
    return bool(subgraph.relations) or subgraph.name not in nouns.OWN_PARTS


def is_dressed(link: SubgraphLink) -> bool:
    """Whether it says what one is in: not of several, who are not in one suit."""
    return parse_relation(link.relation) == ("", "in") and nouns.is_worn(link.thing.name)


def is_ground(name: str, predicate: RelationPredicate) -> bool:
    """Whether such a place is not asked for: what other things are in or on, a part, a bed that is under a cat."""
    if not predicate.is_place:
        return False
    if nouns.grammatical_number(name) == "mass" or name in GROUNDS or classify_target(name) in ("ground", "part"):
        return True
    return predicate.rest in BENEATH and nouns.is_kind(name, "furniture")


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
