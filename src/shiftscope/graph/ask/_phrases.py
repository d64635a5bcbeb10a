"""How a thing and its relations are put together: nouns with articles, and what is said after "that"."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ...ask.english import article as a_or_an
from ...ask.english import plural as several
from ..subgraph import Link, Modifier, Thing
from ._adjectives import described
from ._fits import goes_on
from ._nouns import (
    BARE,
    GAMES,
    THE,
    THE_AFTER,
    THE_OR_A,
    is_alive,
    is_inside,
    is_several,
    is_where,
    number,
    spelled,
)
from ._relations import Predicate, predicate


@lru_cache(maxsize=512)
def phrase(thing: Thing, plural: bool, pluralize: bool = False, inner: bool = False) -> str:
    """The noun and all that is said of it: "sink that is below a towel"."""
    named = noun(thing, pluralize)
    said = predicates(thing, plural, inner)
    return f"{named} that {said}" if said else named


def noun(thing: Thing, pluralize: bool) -> str:
    """The noun with the attribute that stands before it."""
    name = several(thing.name) if pluralize and number(thing.name) == "one" else thing.name
    said = described(thing.attribute) if thing.attribute else None
    return spelled(f"{said.words} {name}" if said and said.before else name)


def after_noun(thing: Thing) -> str:
    """The attribute, if it cannot stand before the noun."""
    said = described(thing.attribute) if thing.attribute else None
    return said.words if said and not said.before else ""


def with_article(said: str, thing: Thing, article: str) -> str:
    """`a` gives a, an or what the noun wants."""
    if article == "a":
        article = "" if number(thing.name) != "one" or thing.name in BARE else a_or_an(said)
        if thing.name in THE and (not thing.relations or thing.name not in THE_OR_A):
            article = "the"
    return f"{article} {said}" if article else said


@lru_cache(maxsize=512)
def predicates(thing: Thing, plural: bool, inner: bool = False) -> str:
    """All that is said of a thing after "that"; of an inner thing, "both" shows what belongs to it."""
    links = _ordered(thing.relations)
    after = after_noun(thing)
    parts = [f"{be(plural)} {after}"] if after else []
    if _alike(links):
        said = predicate_of(links[0])
        targets = " and ".join(target(link, said, thing.name) for link in links)
        parts.append(f"{said.finite(plural)} {targets}")
    else:
        parts += [clause_of(link, plural, thing.name) for link in links]
    if not inner or len(parts) != 2:
        return _listed(parts)
    start = f"{be(plural)} "
    if all(part.startswith(start) for part in parts):
        return f"{start}both {' and '.join(part.removeprefix(start) for part in parts)}"
    return f"both {' and '.join(parts)}"


def shortened(thing: Thing) -> str | None:
    """What is said of a thing, straight after its noun; None if that could be misread."""
    after, links = after_noun(thing), _ordered(thing.relations)
    if after:
        plain = after.partition(" ")[0].endswith("ing") or after.startswith(("in ", "on ", "for "))
        return after if plain and not links else None
    if not links:
        return ""
    saids = [predicate_of(link) for link in links]
    targets = [target(link, said, thing.name) for link, said in zip(links, saids, strict=True)]
    if _alike(links):
        return f"{saids[0].reduced()} {' and '.join(targets)}"
    if len({said.manner for said in saids}) > 1:
        return None
    return " and ".join(f"{said.reduced()} {to}" for said, to in zip(saids, targets, strict=True))


def clause_of(link: Link, plural: bool, subject: str) -> str:
    said = predicate_of(link)
    return f"{said.finite(plural)} {target(link, said, subject)}"


def target(link: Link, said: Predicate, subject: str) -> str:
    """What a relation leads to, and its modifiers."""
    return f"{object_of(link.thing, said, subject)}{modifiers_of(link)}"


def object_of(thing: Thing, said: Predicate, subject: str) -> str:
    """A noun phrase for what a relation leads to, with the article that goes there: in the water, a hat."""
    words = phrase(thing, is_several(thing.name), inner=True)
    if thing.name == subject and number(subject) == "one":
        return f"another {words}"
    bare = not thing.attribute and not thing.relations
    if bare and said.rest == "playing" and thing.name in GAMES:
        return words
    if bare and thing.name in THE_AFTER and said.is_place:
        return f"the {words}"
    return with_article(words, thing, "a")


def modifiers_of(link: Link) -> str:
    """Where something is done comes last: "cutting bread with a knife in a kitchen"."""
    ordered = sorted(link.modifiers, key=_is_where)
    return "".join(f" {modifier_of(modifier)}" for modifier in ordered)


def modifier_of(modifier: Modifier) -> str:
    said = "in" if modifier.name == "at" and is_inside(modifier.thing.name) else modifier.name
    return f"{said} {object_of(modifier.thing, Predicate('', said), '')}"


def _is_where(modifier: Modifier) -> bool:
    return modifier.name in ("at", "in", "inside", "outside") and is_where(modifier.thing.name)


def predicate_of(link: Link) -> Predicate:
    """One is *with* somebody, but *has* something."""
    accompanied = link.relation == "with" and is_alive(link.thing.name)
    return Predicate("", "with") if accompanied else known(link.relation)


def known(relation: str) -> Predicate:
    said = predicate(relation)
    if said is None:
        raise ValueError(f"no words for the relation {relation!r}")
    return said


def being(attribute: str) -> str:
    said = described(attribute)
    if said is None or not said.after:
        raise ValueError(f"no words for being {attribute!r}")
    return said.words


def be(plural: bool) -> str:
    return "are" if plural else "is"


def _alike(links: Sequence[Link]) -> bool:
    """Whether two relations are one and can be said once: wearing a hat and a coat."""
    return (
        len(links) == 2
        and predicate_of(links[0]) == predicate_of(links[1])
        and not any(k.modifiers for k in links)
    )


def _ordered(links: Sequence[Link]) -> list[Link]:
    """What goes on further comes last, so that what follows "and" is about the first noun."""
    return sorted(
        links, key=lambda link: (goes_on(link.thing), bool(link.modifiers), predicate_of(link).manner)
    )


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
