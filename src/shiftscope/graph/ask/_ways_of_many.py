"""Other wordings of questions about how many there are, or about all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..subgraph import Link, Subgraph
from ._filled import Filled, be_of, same_as, unclear
from ._phrases import be
from .inquire import does_it, how_many, is_it
from .say import clause, many, several_of, short, state

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def _count(draft: Filled) -> list[str]:
    thing = draft.slot("thing")
    them = short(thing, plural=True)
    return [
        f"how many {them} can you see?",
        f"what is the number of {them}?",
        f"in all the images together, how many {them} are there?",
        f"{how_many(thing)}?",
    ]


def _verify_count(draft: Filled) -> list[str]:
    number = draft.slot("number")
    there = _so_many(draft.slot("thing"), draft.slot("test"), number)
    verb = be(number != 1)
    return [
        f"{verb} there {there}?",
        f"is it right that there {verb} {there}?",
        f"{verb} there {there} in all?",
    ]


def _count_group_by(draft: Filled) -> list[str]:
    thing, number = draft.slot("thing"), draft.slot("number")
    there = _so_many(thing, draft.slot("test"), number)
    verb = be(number > 1 or (number == 0 and several_of(thing.name)))
    return [
        f"in how many of the images {verb} there {there}?",
        f"how many of the images show {there}?",
        f"what is the number of images that show {there}?",
    ]


def _verify_count_group_by(draft: Filled) -> list[str]:
    there = _so_many(draft.slot("thing"), draft.slot("test"), draft.slot("number"))
    images = draft.slot("images")
    those = _numbered(draft.slot("images_test") or "exactly", images)
    if images == 1:
        return [
            f"is there {those} image with {there}?",
            f"does {those} of the images show {there}?",
            f"is it true that {those} of the images shows {there}?",
        ]
    return [
        f"are there {those} images with {there}?",
        f"do {those} of the images show {there}?",
        f"is it true that {those} of the images show {there}?",
    ]


def _compare_count(draft: Filled) -> list[str]:
    first, second = (short(draft.slot(name), plural=True) for name in ("thing", "other"))
    numbers = f"the number of {first}", f"the number of {second}"
    return {
        "more": [
            f"are there more {first} than {second}?",
            f"do {first} outnumber {second}?",
            f"is {numbers[0]} greater than {numbers[1]}?",
        ],
        "fewer": [
            f"are there fewer {first} than {second}?",
            f"is {numbers[0]} smaller than {numbers[1]}?",
        ],
        "same": [
            f"is {numbers[0]} the same as {numbers[1]}?",
            f"is {numbers[0]} equal to {numbers[1]}?",
            f"are there just as many {first} as {second}?",
        ],
    }[draft.slot("comparative")]


def _verify_logic(draft: Filled) -> list[str]:
    thing = draft.slot("thing")
    first, second = short(thing, "a"), short(draft.slot("other"), "a")
    if draft.slot("logic") == "both":
        return [
            f"{be_of(thing)} there {first} and also {second}?",
            f"can you see both {first} and {second}?",
            f"do the images show {first} as well as {second}?",
        ]
    return [
        f"{be_of(thing)} there {first} or {second}?",
        f"can you see either {first} or {second}?",
        f"do the images show at least one of these: {first} or {second}?",
    ]


def _verify_quant(draft: Filled) -> list[str]:
    thing, link = draft.slot("thing"), draft.slot("link")
    misread = link is not None and unclear(thing, link.relation)
    them = many(thing) if misread else short(thing, plural=True)
    each, they = _said_of_it(draft, plural=False), _said_of_it(draft, plural=True)
    return {
        "all": [
            f"{_asked_of(draft, f'all of the {them}')}?",
            f"is it true that all of the {them} {they}?",
            f"each of the {them} {each}.",
        ],
        "some": [
            f"{_asked_of(draft, f'any of the {them}')}?",
            f"{_asked_of(draft, f'some of the {them}')}?",
            f"at least one of the {them} {each}.",
        ],
        "no": [
            f"none of the {them} {they}.",
            f"not one of the {them} {each}.",
            f"is it true that none of the {them} {they}?",
        ],
    }[draft.slot("quantifier")]


def _verify_quant_attr(draft: Filled) -> list[str]:
    family, them = draft.slot("family"), short(draft.slot("thing"), plural=True)
    ways = [f"do all of the {them} share the same {family}?", f"is the {family} of all the {them} the same?"]
    return [f"are all of the {them} {same}?", *ways] if (same := same_as(family)) else ways


WAYS: Mapping[str, Callable[[Filled], list[str]]] = {
    "count": _count,
    "verify_count": _verify_count,
    "count_group_by": _count_group_by,
    "verify_count_group_by": _verify_count_group_by,
    "compare_count": _compare_count,
    "verify_logic": _verify_logic,
    "verify_quant": _verify_quant,
    "verify_quant_attr": _verify_quant_attr,
}


def _so_many(thing: Subgraph, test: str, number: int) -> str:
    """two or more dogs on a bed; with no number, "a dog on a bed"."""
    if number == 0:
        return short(thing, "a")
    return f"{_numbered(test, number)} {short(thing, '') if number == 1 else short(thing, plural=True)}"


def _numbered(test: str, number: int) -> str:
    word = NUMBERS[number] if number < len(NUMBERS) else str(number)
    if test == "at least" and number > 1:
        return f"{word} or more"
    return f"no more than {word}" if test == "at most" else f"{test} {word}".lstrip()


def _said_of_it(draft: Filled, plural: bool) -> str:
    """What a quantifier's question says of them: "is white", "are wearing a hat"."""
    link: Link | None = draft.slot("link")
    return state(draft.slot("attribute"), plural) if link is None else clause(link, plural)


def _asked_of(draft: Filled, them: str) -> str:
    link: Link | None = draft.slot("link")
    if link is None:
        return is_it(draft.slot("thing"), draft.slot("attribute"), plural=True, said=them)
    return does_it(draft.slot("thing"), link, plural=True, said=them)
