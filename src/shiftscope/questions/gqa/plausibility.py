"""Plausibility: what one would ask, so that neither a question nor a wrong answer in it is a silly one.

What goes together in the graphs is counted in `scene_view.GqaVocabulary`; what words alone tell is in `commonplace`.
"""

from ...english.inflection import plural
from ...english.nouns import OWN_PARTS, THE, THE_AFTER, grammatical_number, is_kind, is_person, is_worn
from ...english.relations import PLACES, parse_relation
from ...english.word_lists import word_list, word_set
from .commonplace import is_about_body, is_always_so
from .scene_view import ObjectRelation, SceneView

NOT_EXCLUSIVE = word_set("gqa", "not exclusive")
UNTELLING = word_set("gqa", "untelling")  # no answers to who or what it is
_ENDING = word_set("gqa", "ending")
_NO_OPENING = word_set("gqa", "no opening")
_IMMOVABLE = ("place", "building", *word_list("gqa", "immovable"))
_VERTICAL = word_set("gqa", "vertical")
_LYING_ABOUT = word_set("gqa", "lying about")
_NO_LAST = word_set("gqa", "no last")
_NO_ENDING = word_set("gqa", "no ending")


def is_worth_asking(view: SceneView, thing: int, tie: ObjectRelation) -> bool:
    """Whether one would ask what stands there: not who has the arm, nor what the clouds are in."""
    name, other = view.names[thing], view.names[tie.other]
    predicate = parse_relation(tie.relation)
    heads = [one.rpartition(" ")[2] for one in (name, other)]
    if (
        predicate is None
        or predicate.rest in _NO_OPENING
        or is_always_so(name, other)
        or OWN_PARTS.intersection(heads)
        or plural(heads[0]) == plural(heads[1])
    ):
        return False
    if is_about_body(*((name, other) if tie.subject else (other, name)), predicate.rest):
        return False  # what is on the man; what he is in
    if tie.subject and predicate.rest in _VERTICAL and (is_kind(name, "place") or is_person(other) or other in THE):
        return False
    if tie.subject:  # not what is filled with the snow, nor what lines the street
        ends = tie.relation.endswith((" of", " with")) and tie.relation not in PLACES
        covers = predicate.verb in ("cover", "surround") and grammatical_number(name) != "one"
        return not ends and (covers or not predicate.verb)
    if predicate.verb or name in THE or other in THE or other in _LYING_ABOUT:
        return False
    if predicate.is_place and is_person(name) and not is_person(other):  # whom the skateboard is under
        return False
    if not _can_end(predicate.rest):
        return False
    if predicate.rest in ("on", "in", "at", "inside") and (
        is_kind(name, "place") or is_kind(name, "building") or name in THE_AFTER
    ):  # where, not what
        return False
    fixed = any(is_kind(other, kind) for kind in _IMMOVABLE) or grammatical_number(other) == "mass"
    if fixed and predicate.rest in NOT_EXCLUSIVE:
        return False
    return not is_wearing(tie.relation) or is_worn(name)


def _can_end(relation: str) -> bool:
    """Whether a question ends well in it: what is the dog sitting on; not what is the sign on the side of."""
    last = relation.rpartition(" ")[2]
    return relation in _ENDING or not (last in _NO_LAST or relation in _NO_ENDING or relation.endswith(" of"))


def is_wearing(relation: str) -> bool:
    predicate = parse_relation(relation)
    return predicate is not None and predicate.rest == "wearing"


def is_spatial_relation(relation: str) -> bool:
    """Whether it says where something is, and no more, so that it can be the answer: on, next to."""
    return relation in PLACES and parse_relation(relation) is not None


def is_state(relation: str) -> bool:
    """Whether it has a verb of its own: has, covers."""
    predicate = parse_relation(relation)
    return predicate is not None and bool(predicate.verb)
