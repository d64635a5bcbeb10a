"""Plausibility: what one would ask, so that neither a question nor a wrong answer in it is a silly one.

What goes together in the graphs is counted in `scene_view.GqaVocabulary`; what words alone tell is in `commonplace`.
"""

from ...english.nouns import THE, is_person, is_worn
from ...english.relations import PLACES, parse_relation
from ...english.word_lists import word_set
from .commonplace import is_always_so
from .scene_view import ObjectRelation, SceneView
from .wording import PEOPLE

UNTELLING = (*PEOPLE, "animal", "animals", "human", "humans")  # no answers to who or what animal it is
_ENDING = word_set("gqa", "ending")
_ON_A_BODY = word_set("gqa", "on a body")


def is_worth_asking(view: SceneView, thing: int, tie: ObjectRelation) -> bool:
    """Whether one would ask what stands there: not who has the arm, nor what the clouds are in."""
    name, other = view.names[thing], view.names[tie.other]
    predicate = parse_relation(tie.relation)
    if predicate is None or is_always_so(name, other):
        return False
    one, another = (name, other) if tie.subject else (other, name)
    if predicate.rest in _ON_A_BODY and ((is_person(another) and not is_person(one)) or is_worn(another)):
        return False  # what is on the man; what he is in
    if tie.subject:  # not what is filled with the snow, nor what lines the street
        ends = tie.relation.endswith((" of", " with")) and tie.relation not in PLACES
        return not ends and predicate.verb in ("", "cover", "surround")
    if predicate.verb or name in THE or other in THE:
        return False
    if predicate.rest.endswith(" of") and predicate.rest not in _ENDING:
        return False
    return not is_wearing(tie.relation) or is_worn(name)


def is_wearing(relation: str) -> bool:
    predicate = parse_relation(relation)
    return predicate is not None and predicate.rest == "wearing"


def is_spatial_relation(relation: str) -> bool:
    """Whether it says where something is, and no more, so that it can be the answer: on, next to."""
    return relation in PLACES and parse_relation(relation) is not None
