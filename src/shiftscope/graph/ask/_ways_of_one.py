"""Other wordings of questions about one thing, or two that are alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..subgraph import Subgraph
from ._filled import MEASURES, Filled, be_of, same_as, unclear
from ._nouns import pronoun
from ._phrases import be
from .inquire import either_modifier, either_object, either_relation, is_it, two_objects, what_of
from .say import one, related, several_of, short, state


def _verify_attr(draft: Filled) -> list[str]:
    thing, attribute = draft.slot("thing"), draft.slot("attribute")
    the = short(thing)
    return [
        f"{is_it(thing, attribute, said=the)}?",
        f"would you say that {the} {state(attribute, several_of(thing.name))}?",
        f"is it true that {the} {state(attribute, several_of(thing.name))}?",
        *_named_first(thing, lambda it, plural: is_it(thing, attribute, plural, it)),
    ]


def _choose_attr(draft: Filled) -> list[str]:
    thing, this, that = draft.slot("thing"), draft.slot("this"), draft.slot("that")
    asked, second = is_it(thing, this, said=short(thing)), _stated(that)
    return [
        f"{asked} or {second}?",
        f"{asked}, or {_of_it(thing, lambda it, plural: is_it(thing, that, plural, it))}?",
        f"which of these describes {short(thing)}: {_stated(this)} or {second}?",
    ]


def _query_attr(draft: Filled) -> list[str]:
    thing, family = draft.slot("thing"), draft.slot("family")
    the, verb, do = short(thing), be_of(thing), _do(thing)
    made = f"what {verb} {the} made of?", f"what material {verb} {the} made of?"
    if family == "material":
        return [*made, *_named_first(thing, lambda it, plural: f"what {be(plural)} {it} made of")]
    if family in MEASURES:
        return [
            f"what {family} {verb} {the}?",
            f"which {family} {do} {the} have?",
            *_named_first(thing, lambda it, plural: f"what {family} {be(plural)} {it}"),
        ]
    return [f"which {family} {do} {the} have?", f"what {family} can be seen on {the}?"]


def _verify_same_attr(draft: Filled) -> list[str]:
    thing, family = draft.slot("thing"), draft.slot("family")
    first, second = short(thing), short(draft.slot("other"))
    ways = [
        f"do {first} and {second} share the same {family}?",
        f"is the {family} of {first} the same as that of {second}?",
    ]
    return [f"{be_of(thing)} {first} {same} as {second}?", *ways] if (same := same_as(family)) else ways


def _choose_object(draft: Filled) -> list[str]:
    thing, link, other = draft.slot("thing"), draft.slot("link"), draft.slot("other")
    if link.modifiers:
        asked = either_modifier(thing, link, other)
        return [
            f"which is it: {asked[:1].lower()}{asked[1:]}?",
            *_named_first(thing, lambda it, plural: either_modifier(thing, link, other, plural, it)),
        ]
    the = _the(thing, link.relation)
    return [
        f"{either_object(thing, link, other, said=the)}?",
        *_named_first(thing, lambda it, plural: either_object(thing, link, other, plural, it)),
        f"{what_of(thing, link.relation, said=the)}: {two_objects(thing, link, other)}?",
    ]


def _query_object(draft: Filled) -> list[str]:
    thing, relation = draft.slot("thing"), draft.slot("relation")
    the = _the(thing, relation)
    asked = what_of(thing, relation, said=the)
    return [
        f"{asked}?",
        *_named_first(thing, lambda it, plural: what_of(thing, relation, plural, it)),
        f"what is it that {the} {related(thing, relation)}?",
    ]


def _choose_rel(draft: Filled) -> list[str]:
    thing, link, other = draft.slot("thing"), draft.slot("link"), draft.slot("other")
    asked = either_relation(thing, link, other, said=_the(thing, link.relation))
    return [
        f"{asked}?",
        f"which is it: {asked[:1].lower()}{asked[1:]}?",
        *_named_first(thing, lambda it, plural: either_relation(thing, link, other, plural, it)),
    ]


WAYS: Mapping[str, Callable[[Filled], list[str]]] = {
    "verify_attr": _verify_attr,
    "choose_attr": _choose_attr,
    "query_attr": _query_attr,
    "verify_same_attr": _verify_same_attr,
    "choose_object": _choose_object,
    "query_object": _query_object,
    "choose_rel": _choose_rel,
}


def _named_first(thing: Subgraph, ask: Callable[[str, bool], str]) -> list[str]:
    """The question after what it is about, if that takes many words: "the man in a hat: is he running?"."""
    return [f"{short(thing)}: {_of_it(thing, ask)}?"] if thing.relations else []


def _of_it(thing: Subgraph, ask: Callable[[str, bool], str]) -> str:
    """A question about it, once it was named: "is he running"."""
    it = pronoun(thing.name, subject=True)
    asked = ask(it, it == "they")
    return asked[:1].lower() + asked[1:]


def _the(thing: Subgraph, relation: str) -> str:
    """The one meant in few words; in more where "the cup on a table under it" could be misread."""
    return one(thing) if unclear(thing, relation) else short(thing)


def _stated(attribute: str) -> str:
    return state(attribute).removeprefix("is ")


def _do(thing: Subgraph) -> str:
    return "do" if several_of(thing.name) else "does"
