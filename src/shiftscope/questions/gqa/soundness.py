"""Soundness: whether a question, read as a whole, is one that somebody would ask.

Refused are what its own words answer ("what is the man skiing on?"), one who is named by a sport beside the things of
sports ("is the skateboarder riding a horse?"), the same verb twice, a place right after another ("is the man who is
holding the snake on a bed?") and parts and clothes of nobody. Asked where questions are drafted, shortened and changed.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

from ...answer import Answer
from ...english.adjectives import count_colors
from ...english.inflection import list_singulars, plural
from ...english.nouns import ALWAYS_SEVERAL, OWN_PARTS, THE, grammatical_number, is_alive, is_kind, is_worn
from ...english.relations import PLACES, find_base_verb, parse_relation
from ...english.word_lists import word_set, word_table
from ...lang.notations.gqa.steps import VERIFY_REL
from ...lang.program import Node, Program
from .commonplace import FIXED
from .wording import ABOUT_THINGS, DescriptionLink, ObjectDescription, read_description

OF_SOMETHING = (OWN_PARTS - word_set("gqa", "told by color")) | word_set("gqa", "of something")
_TOLD_BY = {word: frozenset(answers) for word, answers in word_table("gqa", "told by").items()}
_SPORTS_PEOPLE = {name: sport for sport, names in word_table("gqa", "sports people").items() for name in names}
_SPORTS_THINGS = {name: sport for sport, names in word_table("gqa", "sports things").items() for name in names}
_ENDING_BARE = word_set("gqa", "ending bare")
_VAGUE = word_set("gqa", "vague")
OF_ATTRIBUTES = ("verify", "alike", "differ")


def is_sound(program: Program, text: str, answer: Answer | None) -> bool:
    """Whether it is asked well; `text` is the question in words."""
    words = text.lower().rstrip("?").replace(",", "").split()
    verbs = [word for word in words if word.endswith("ing") and find_base_verb(word)]
    root = program.root
    if any(one == other for one, other in pairwise(words)):  # is the light light green?
        return False
    if len(set(verbs)) < len(verbs) and root.op not in ("and", "or"):
        return False
    if root.op in ("query", "choose") and answer in (THE if root.params[0] == "name" else _VAGUE):
        return False
    parts = [program.nodes[i] for i in root.inputs] if root.op in ("and", "or") else [root]
    for part in parts:
        things = [read_description(program, i) for i in part.inputs] if part.op in ABOUT_THINGS else []
        known = [thing for thing in things if thing is not None]
        said = _list_said(part, known, answer)
        if any(told & said for word in words if (told := _TOLD_BY.get(word))):
            return False
        if not _is_part_sound(part, known, answer, alone=len(parts) == 1):
            return False
    return True


def _list_said(part: Node, things: list[ObjectDescription], answer: Answer | None) -> frozenset[str]:
    """What is the answer, or is asked to be so."""
    if part.op == "verify":
        return frozenset(part.params[1:])
    if part.op == "exist" and part.note("said") == VERIFY_REL:
        return frozenset(thing.name for thing in things)
    return frozenset({answer} if isinstance(answer, str) else ())


def _is_part_sound(part: Node, things: list[ObjectDescription], answer: Answer | None, alone: bool) -> bool:
    of_attributes = part.op in OF_ATTRIBUTES or (part.op in ("query", "choose") and part.params[0] != "name")
    if of_attributes and part.params[:1] == ("color",) and any(count_colors(w.value) for t in things for w in t.words):
        return False  # the light gray truck
    if of_attributes and any(not thing.link and _is_of_another(thing.name, alone) for thing in things):
        return False
    names = [name for thing in things for name in _list_names(thing)]
    if part.op in ("query", "choose") and not of_attributes:
        names += [*part.params[1:], str(answer)]
        if not all(thing.link is None or _can_end(thing.link) for thing in things):
            return False
    people, gear = (_find_sports(names, table) for table in (_SPORTS_PEOPLE, _SPORTS_THINGS))
    if people and (len(people) > 1 or gear - people or (gear and not of_attributes)):
        return False
    if part.op == "choose_relation":
        return not any(thing.link for thing in things)
    if part.op == "exist":
        return all(thing.link is None or _can_be_followed(part, thing.name, thing.link) for thing in things)
    return True


def _is_of_another(name: str, alone: bool) -> bool:
    """Whether one would ask whose it is: a stripe; and a shirt, where the question is not about it alone."""
    return name.rpartition(" ")[2] in OF_SOMETHING or (not alone and is_worn(name))


def _can_end(link: DescriptionLink) -> bool:
    """Whether one asks so where a thing is: what the cup is on; neither what the man is on, nor the tree, nor at."""
    other = link.other.name
    if link.subject or link.alike or link.relation not in PLACES:
        return True
    fixed = is_alive(other) or any(is_kind(other, kind) for kind in ("place", "building", "plant")) or other in FIXED
    return link.relation in _ENDING_BARE and not fixed


def _can_be_followed(part: Node, name: str, link: DescriptionLink) -> bool:
    """Whether what is said of the other thing can follow it: not where a clause ends in a place already, nor trees."""
    predicate = parse_relation(link.relation)
    said, bare = part.note("said") == VERIFY_REL, predicate is not None and predicate.manner == 0
    if said and bare and grammatical_number(name) == "several":
        if grammatical_number(link.other.name) == "one":
            return name in ALWAYS_SEVERAL or name == "skis"  # but not in trees
        if is_kind(name, "plant") or any(is_kind(one, "plant") for one in list_singulars(name)):  # weeds in bushes
            return False
    if link.subject or link.other.link is None:
        return True
    # Whose place it is: "the man who has the computer sitting on a chair".
    apart = predicate is None or not predicate.is_place or is_kind(link.other.link.other.name, "place")
    return said and not bare and apart


def _list_names(thing: ObjectDescription) -> Iterator[str]:
    if thing.name:
        yield thing.name
    if thing.link is not None:
        yield from _list_names(thing.link.other)


def _find_sports(names: Iterable[str], table: dict[str, str]) -> set[str]:
    return {sport for name in names if (sport := _find_sport(name, table is _SPORTS_PEOPLE))}


@lru_cache(maxsize=16_384)
def _find_sport(name: str, people: bool) -> str:
    """The sport that it is named by, or is a thing of."""
    table = _SPORTS_PEOPLE if people else _SPORTS_THINGS
    for one, sport in table.items():
        if any(name == form or name.endswith(f" {form}") for form in (one, plural(one))):
            return sport
    return ""
