"""Plausibility: what one would ask, so that neither a question nor a wrong answer in it is a silly one.

What goes together in the graphs is counted in `scene_view.GqaVocabulary`; here is what words alone tell.
"""

from functools import lru_cache

from ...english.nouns import OWN_PARTS, THE, are_part_and_whole, is_alive, is_location, is_person, is_worn
from ...english.relations import PLACES, parse_relation
from .scene_view import ObjectRelation, SceneView, is_having
from .wording import PEOPLE


@lru_cache(maxsize=65_536)
def has_always(whole: str, part: str) -> bool:
    """Whether such a thing has such a part even where the graph does not say so: a boy has eyes, a plane windows."""
    return is_bodily(whole, part) if is_alive(whole) else are_part_and_whole(whole, part)


def is_bodily(whole: str, part: str) -> bool:
    return part.rpartition(" ")[2] in OWN_PARTS and is_alive(whole)


UNTELLING = (*PEOPLE, "animal", "animals")  # no answers to who or what animal it is


def is_worth_asking(view: SceneView, thing: int, tie: ObjectRelation) -> bool:
    """Whether one would ask what stands there: not who has the arm, nor what is on the man if that is a foot."""
    name, other = view.names[thing], view.names[tie.other]
    if is_bodily(name, other) or is_bodily(other, name):
        return False
    if not is_having(tie.relation):
        if tie.subject:  # not what is filled with the snow
            return not tie.relation.endswith((" of", " with")) or tie.relation in PLACES
        return other not in THE and (not is_wearing(tie.relation) or is_worn(name))
    return not tie.subject and (are_part_and_whole(name, other) or (is_person(other) and not is_location(name)))


def is_wearing(relation: str) -> bool:
    predicate = parse_relation(relation)
    return predicate is not None and predicate.rest == "wearing"


def is_spatial_relation(relation: str) -> bool:
    """Whether it says where something is, and no more, so that it can be the answer: on, next to."""
    return relation in PLACES and parse_relation(relation) is not None
