"""Fluency: which subgraphs one would put into words, count or compare.

Refused is what cannot be worded well, what goes without saying, and what annotators did not mean.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations

from ...english import nouns
from ...english.adjectives import count_colors, describe_attribute, is_predicative
from ...english.relations import AFTER_VERBS, RelationPredicate, can_take, parse_relation
from ...english.word_lists import pair_words, word_list, word_set, word_table
from ...scene_graph.relation_exclusivity import classify_target
from ...scene_graph.subgraph import ObjectNode, Subgraph, SubgraphLink
from ...schemas.gqa import SCHEMA
from .phrases import are_alike, get_postposed_attribute, get_predicate, has_more_to_say, order_links

SIDES = frozenset({"both", "either", "each"})
BETWEEN = ("between", "among", "amongst", "in between")  # of several things
BESIDE = ("behind", "in front of", "near", "next to", "beside", "by", "above", "below", "under", "over")
FULL_OF = ("made of", "filled with", "full of")  # of some, or of several
HARDLY_HAD = ("number", "numbers", "name", "letter", "letters", "word", "words")
ON = ("on", "on top of", "above", "over", "under", "around")
FACIAL_HAIR = word_set("nouns", "facial hair")
NOT_IN = word_set("nouns", "not in")
PICTURES = word_set("nouns", "pictures")
EVERY_ONE_HAS = {kind: frozenset(parts) for kind, parts in word_table("nouns", "every one has").items()}
EACH_HAS = {kind: frozenset(parts) for kind, parts in word_table("nouns", "each has").items()}
WHERE_ELSE = pair_words("nouns", "where else")
ANYBODY = ("person", "people", "human", "humans")
HARDLY_SO = pair_words("nouns", "hardly so")
NO_SAYING = pair_words("nouns", "goes without saying")
VAGUE = word_set("nouns", "vague")
OWNED = nouns.OWN_PARTS - {"trunk"}  # places that one does not name without whose they are
ONE_OF_SEVERAL = word_set("nouns", "one of several")  # and what everything has
FEATURES = word_set("nouns", "features")
ONE_OF_A_PAIR = word_set("nouns", "one of a pair")
ANY_GARMENT = word_set("nouns", "garments of any kind")
ONE_TO_A_PICTURE = word_set("nouns", "one to a picture")
MANY_TO_A_PICTURE = word_set("nouns", "many to a picture")
MADE_UP_OF = pair_words("nouns", "made up of")
NEVER_ALONE = word_set("nouns", "never alone")
NEVER_ASKED = word_set("nouns", "never asked")
DEFAULT_PLACES = {kind: frozenset(places) for kind, places in word_table("nouns", "default places").items()}
MEASURES = word_set("adjectives", "measures")
OF_HAIR = word_set("adjectives", "of hair")
SHIRTLESS = word_set("nouns", "seen without a shirt")
IMPLIES = pair_words("nouns", "implies")
COLORED_PARTS = word_set("nouns", "colored parts")
GEAR = {game: frozenset(held) for game, held in word_table("relations", "gear").items()}
EVERYDAY = word_set("nouns", "everyday garments")
EATEN = word_set("nouns", "eaten animals")
SAYS_NOTHING = pair_words("relations", "says nothing")
SIZES = frozenset(SCHEMA.attribute("size").values)
MOUNTED = ("on", "on top of", "sitting on", "standing on")
RIDDEN = ("riding", "driving", "sitting in", "surfing")
ENCOMPASSING = word_set("nouns", "encompassing")
GROUNDS = word_set("nouns", "grounds").union(ONE_TO_A_PICTURE, *EVERY_ONE_HAS.values())
HANDLING = ("holding", "carrying", "throwing", "catching", "wearing")
BENEATH = ("under", "below", "beneath", "underneath", "behind")
HARDLY_DONE = pair_words("relations", "hardly done by")
OF_THE_LIVING = word_set("relations", "of the living")
NO_QUESTION = word_list("relations", "never asked")
SYMMETRIC = tuple(f" {word}" for word in word_list("relations", "symmetric"))
KNOWN = frozenset(kind for kind, _ in SCHEMA.attribute("name").kinds)  # nouns of which we know what is alive
LIKENESSES = ("bear", "doll", "statue", "sculpture", "snowman", "mannequin", "figurine", "toy", "puppet", "figure")


def is_sayable(subgraph: Subgraph) -> bool:
    """Whether it reads as sensible English: no odd names, attributes or relations, nothing repeated."""
    if not nouns.is_thing(subgraph.name) or not is_fluent(subgraph):
        return False
    if not subgraph.relations and subgraph.name.rpartition(" ")[2] in NEVER_ALONE:  # a long sleeve
        return False
    if subgraph.name.rpartition(" ")[2] in NEVER_ASKED:  # a face: a clock's or a man's?
        return False
    return not (subgraph.relations and subgraph.name in nouns.THE_OR_A)  # there is one sky, above a train or not


def is_fluent(thing: ObjectNode, above: tuple[str, ...] = ()) -> bool:
    """Whether the thing's attribute and relations can be worded; `above` are the names on the way to it."""
    if thing.attribute:
        sideless = thing.attribute in ("left", "right") and thing.name not in nouns.SIDED
        repeated = set(thing.attribute.split()) & set(thing.name.split())
        if describe_attribute(thing.attribute) is None or sideless or repeated:
            return False
        if (thing.attribute, thing.name) in NO_SAYING or thing.attribute.endswith((" colored", "-colored")):
            return False  # what is orange colored is orange, and not to be told from it
        if thing.attribute in OF_HAIR and not _has_hair(thing.name):
            return False
        if thing.attribute in SIZES and nouns.grammatical_number(thing.name) == "mass":  # large grass
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
    everyday = sum(map(is_everyday, thing.relations))
    worn = names != ["shirt"] or thing.name not in SHIRTLESS  # some do go without a shirt
    if everyday and worn and (everyday == len(names) or not are_alike(thing.relations)):  # riding a bike, wearing pants
        return False
    return len(names) < 2 or _go_together(order_links(thing.relations))


def _go_together(links: Sequence[SubgraphLink]) -> bool:
    """Whether two relations can be said in a row: not "walking on a road and walking with a dog".

    Nor with an attribute of the first thing that would be read of the second too: a white shirt and shorts.
    """
    if sum(map(_is_support, links)) > 1:  # on a blanket and riding a snowboard
        return False
    if not are_alike(links):
        doing = [head for link in links if (head := get_predicate(link).rest.partition(" ")[0]).endswith("ing")]
        return len(set(doing)) == len(doing) and not _is_gear_told(links)
    garments = {nouns.classify_garment(link.thing.name) for link in links}
    if len(garments) == 1 and garments != {""} and get_predicate(links[0]).rest == "wearing":  # a shirt and a t-shirt
        return False
    pairs = ((one.thing.name, other.thing.name) for one, other in permutations(links) if other.thing.size == 1)
    if not IMPLIES.isdisjoint(pairs):  # a suit and a shirt
        return False
    first, last = (link.thing for link in links)
    return not first.attribute or bool(last.attribute) or nouns.grammatical_number(last.name) == "one"


def _is_gear_told(links: Sequence[SubgraphLink]) -> bool:
    """Whether one plays a game and holds what everyone holds who plays it."""
    played = next((link.thing.name for link in links if get_predicate(link).rest == "playing"), "")
    held = GEAR.get(played) or GEAR.get(played.rpartition(" ")[2], frozenset())
    return any(link.thing.name in held for link in links)


def _is_support(link: SubgraphLink) -> bool:
    """Whether it says what carries one, and nothing else can at once."""
    rest = get_predicate(link).rest
    return rest in RIDDEN or (rest in MOUNTED and classify_target(link.thing.name) != "ground")


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


def _has_hair(name: str) -> bool:
    return nouns.is_person(name) or name.rpartition(" ")[2] == "hair"


@lru_cache(maxsize=16384)
def _is_always_at(name: str, place: str) -> bool:
    """Whether everything of this name is in or on such a place."""
    return any(place in places and nouns.is_kind(name, kind) for kind, places in DEFAULT_PLACES.items())


@lru_cache(maxsize=16384)
def _has_always(whole: str, part: str) -> bool:
    """Whether everything of this name has such a part."""
    last, heads = whole.rpartition(" ")[2], {part, part.rpartition(" ")[2]}  # a park bench, a front window
    tables = (*EACH_HAS.items(), *EVERY_ONE_HAS.items())
    return any(heads & parts and (nouns.is_kind(whole, k) or nouns.is_kind(last, k)) for k, parts in tables)


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
    act = predicate.rest.partition(" ")[0]
    if (inanimate and act in OF_THE_LIVING) or (last, act) in HARDLY_DONE:
        return False
    plain = not target.attribute and not target.relations
    if plain and predicate.is_place and _has_always(target.name, thing.name):
        return False  # the roof that is on a building
    if plain and predicate.is_place and _is_always_at(thing.name, target.name):
        return False  # the bench that is on the ground
    if (thing.name, target.name) in WHERE_ELSE or (thing.name, target.name.rpartition(" ")[2]) in WHERE_ELSE:
        return False
    if (thing.name, target.name) in HARDLY_SO:  # a man in a dress
        return False
    if plain and target.name in ANYBODY and nouns.is_person(thing.name):  # a man that is next to a person
        return False
    if (f"{target.attribute} {target.name}".strip(), thing.name) in NO_SAYING:
        return False
    if plain and (target.name, predicate.rest) in SAYS_NOTHING and predicate.rest != "playing":  # eating food
        return False
    if thing.name in EATEN and any(nouns.is_kind(target.name, kind) for kind in ("food", "tableware")):
        return False
    if predicate.verb == "have" and target.name in ONE_OF_SEVERAL:  # a shirt that has a long sleeve
        return False
    if predicate.verb == "have" and get_postposed_attribute(target):  # a ram that has a head that is up
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
    if nouns.is_alive(target.name) and predicate.rest in ON and nouns.is_worn(thing.name):
        return False  # the shirt that is on a man
    if not alive and predicate.verb == "have" and any(nouns.is_kind(target.name, kind) for kind in ("food", "drink")):
        return False  # a glass that has wine
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
        if nouns.grammatical_number(thing.name) == "one" and nouns.is_worn_alone(target.name):
            return False  # a player that is wearing white uniforms
        if target.name in ONE_OF_A_PAIR:  # a boy that is wearing a shoe
            return False
        return not dull and not nouns.is_alive(target.name) and not nouns.is_kind(target.name, "food")
    if predicate.verb == "have" and plain and (target.name in HARDLY_HAD or _has_always(thing.name, target.name)):
        return False  # as all of them do
    if target.name == "sky" and predicate.rest in ("under", "below", "beneath"):  # as everything is
        return False
    human = alive or last in LIKENESSES
    if human and not predicate.is_place and target.name in nouns.OWN_PARTS:  # has hair, is touching lips
        gray = nouns.is_person(thing.name) and target.name not in COLORED_PARTS and count_colors(target.attribute)
        return bool(target.attribute) and not gray
    if alive and predicate.verb == "have":
        return not nouns.is_kind(target.name, "clothing")  # which one wears
    if own_part and nouns.is_worn(target.name) and predicate.rest in BESIDE:  # a face behind a shirt
        return False
    if not human and target.name in nouns.FLESH and predicate.verb == "have":  # a train that has a head
        return False
    numbers = nouns.grammatical_number(thing.name), nouns.grammatical_number(target.name)
    if predicate.rest == "in" and numbers == ("mass", "several"):
        return False  # the grass that is in fields
    if predicate.rest in BENEATH and numbers[0] == "mass":  # the water behind a bird
        return False
    if predicate.rest in BENEATH and predicate.rest != "behind" and not alive and nouns.is_alive(target.name):
        return False  # the couch under a woman
    ridden = nouns.is_animal(target.name) or nouns.is_kind(target.name, "vehicle")
    if numbers == ("one", "several") and ridden and predicate.rest in (*MOUNTED, *RIDDEN):
        return False  # a person that is on horses
    if predicate.verb == "have" and nouns.is_person(target.name):
        return nouns.is_person(thing.name)
    return not (alive and predicate.rest in ON and nouns.is_worn(target.name))


# What is counted, set side by side or asked for.


def can_be_asked(attribute: str, name: str, closed: bool) -> bool:
    """Whether one asks if a thing is so; unless of a closed schema, not its size, nor of what color a person is."""
    if not is_predicative(attribute) or closed:
        return is_predicative(attribute)
    colored = nouns.is_person(name) and count_colors(attribute) and attribute not in OF_HAIR
    return attribute not in MEASURES and not colored


def can_be_counted(subgraph: Subgraph) -> bool:
    """Whether "how many" goes with it: not with water, nor rivers, nor tails of whatever, nor trees in a forest."""
    if not nouns.is_countable(subgraph.name) or subgraph.name in ONE_TO_A_PICTURE | MANY_TO_A_PICTURE:
        return False
    if any((subgraph.name, link.thing.name.rpartition(" ")[2]) in MADE_UP_OF for link in subgraph.relations):
        return False
    return bool(subgraph.relations) or subgraph.name not in nouns.OWN_PARTS


def can_be_several(subgraph: Subgraph) -> bool:
    """Whether several of them can be counted in one phrase: not "women that are on a bike", who each have their own."""
    return can_be_counted(subgraph) and not any(map(is_one_each, subgraph.relations))


def is_one_each(link: SubgraphLink) -> bool:
    """Whether it says what one is in or on, and nobody else: a suit, a bike."""
    predicate = parse_relation(link.relation)
    if predicate is None or nouns.grammatical_number(link.thing.name) != "one":
        return predicate == ("", "in") and nouns.is_worn(link.thing.name)
    ridden = predicate.rest in MOUNTED and classify_target(link.thing.name) == "ride"
    return ridden or (predicate == ("", "in") and nouns.is_worn(link.thing.name))


def is_everyday(link: SubgraphLink) -> bool:
    """Whether it says what everyone does: wearing a shirt."""
    return link.thing.name in EVERYDAY and link.thing.size == 1 and get_predicate(link).rest == "wearing"


def is_askable_place(predicate: RelationPredicate) -> bool:
    """Whether one asks what it leads to: not "what is the road between", "what is it on the side of"."""
    return not any(predicate.rest == words or predicate.rest.startswith(f"{words} ") for words in NO_QUESTION)


def is_ground(name: str, predicate: RelationPredicate) -> bool:
    """Whether such a place is not asked for: what other things are in or on, a part, a bed that is under a cat."""
    if not predicate.is_place:
        return False
    if nouns.grammatical_number(name) == "mass" or name in GROUNDS or classify_target(name) in ("ground", "part"):
        return True
    return predicate.rest in BENEATH and nouns.is_kind(name, "furniture")
