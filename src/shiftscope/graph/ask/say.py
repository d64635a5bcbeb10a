"""Say: a subgraph in English, "the cup that is on a table that is in front of a man".

Nothing here is drawn: the same subgraph always gives the same words. What cannot be said well is refused by
`sayable`; the other functions expect what it lets through. A subgraph of a closed schema is put into words by
`worded` first: suv → SUV, left → to the left of.
"""

from __future__ import annotations

from functools import lru_cache

from ...ask.lexicon import Lexicon
from ...schema import Schema
from ..subgraph import Link, Subgraph
from ._adjectives import described
from ._fits import fits
from ._nouns import THE_OR_A, is_countable, is_person, is_several, is_thing, number
from ._phrases import (
    be,
    being,
    clause_of,
    known,
    noun,
    phrase,
    predicate_of,
    predicates,
    shortened,
    target,
    with_article,
)


def sayable(subgraph: Subgraph) -> bool:
    """Whether it reads as sensible English: no odd names, attributes or relations, nothing said twice."""
    if not is_thing(subgraph.name) or not fits(subgraph):
        return False
    had = any(predicate_of(link).verb == "have" for link in subgraph.relations)
    return not (had and subgraph.name in THE_OR_A)  # there is one sky, with clouds or without


def countable(subgraph: Subgraph) -> bool:
    """Whether one can ask how many there are: not of water, nor of trees annotated as one thing."""
    return is_countable(subgraph.name)


def predicative(attribute: str) -> bool:
    """Whether one can ask if something is that: white, standing, looking up; not "baseball"."""
    said = described(attribute)
    return said is not None and said.after


def is_place(relation: str) -> bool:
    """Whether the relation says where something is, with no verb: on, to the left of."""
    return known(relation).manner == 0


def several_of(name: str) -> bool:
    """Whether the name itself is plural: trees, people, pants."""
    return is_several(name)


def is_mass(subgraph: Subgraph) -> bool:
    """Whether there is some of it, not one or several: water."""
    return number(subgraph.name) == "mass"


def word(name: str, schema: Schema) -> str:
    """A name of a closed schema in plain English: suv → SUV, double → double-decker bus."""
    return name if not schema.closed else _lexicon(schema).said(name).one[0]


def worded(subgraph: Subgraph, schema: Schema) -> Subgraph:
    """The subgraph with its schema's names in plain English; one of an open vocabulary is left as it is."""
    if not schema.closed:
        return subgraph
    return subgraph.replaced({k: word(node.name, schema) for k, node in enumerate(subgraph.nodes())})


def one(subgraph: Subgraph, article: str = "the") -> str:
    """A noun phrase for one: "the sink that is below a towel"; `a` gives a, an or what the noun wants."""
    return with_article(phrase(subgraph, is_several(subgraph.name)), subgraph, article)


def many(subgraph: Subgraph) -> str:
    """A noun phrase for any number of them: "men that are in the water"; a mass noun stays as it is."""
    return phrase(subgraph, not is_mass(subgraph), pluralize=True)


def the(subject: Subgraph, plural: bool = False) -> str:
    """The one meant, or all of them: "the sink that is below a towel", "the dogs that are on a bed"."""
    return f"the {many(subject) if plural else one(subject, '')}"


def short(subgraph: Subgraph, article: str = "the", plural: bool = False) -> str:
    """A noun phrase that leaves out "that is" where it can: "the man wearing a hat", "cups on a table"."""
    named = noun(subgraph, plural)
    if (tail := shortened(subgraph)) is not None:
        said = f"{named} {tail}".rstrip()
    else:
        who = "who" if is_person(subgraph.name) else "that"
        said = f"{named} {who} {predicates(subgraph, plural or is_several(subgraph.name))}"
    return said if plural else with_article(said, subgraph, article)


def clause(link: Link, plural: bool = False) -> str:
    """What is said of a subject: "is wearing a jersey", "are on a table", "has a tail"."""
    return clause_of(link, plural, "")


def state(attribute: str, plural: bool = False) -> str:
    """What an attribute says of a subject: "is white", "are looking up"."""
    return f"{be(plural)} {being(attribute)}"


def reduced(link: Link) -> str:
    """The relation after a noun, without "that is": "wearing a hat", "on a table", "with a tail"."""
    said = predicate_of(link)
    return f"{said.reduced()} {target(link, said, '')}"


def related(subject: Subgraph, relation: str) -> str:
    """The relation said of the subject, less its object: "is holding", "has"."""
    return known(relation).finite(is_several(subject.name))


@lru_cache(maxsize=8)
def _lexicon(schema: Schema) -> Lexicon:
    return Lexicon(schema)
