"""Forms: the kinds of questions asked of one scene graph, each drawn at random for one of its things.

    query_attr   What color is the cat that is on the mat?
    verify_attr  Is the cat black?
    choose_attr  Is the cat black or white?
    query_rel    What is on the mat? Who is wearing the hat?
    choose_name  What is the man holding, a cup or a hat?
    verify_rel   Is the man wearing a hat?
    choose_rel   Is the cat on or under the mat?
    exist        Is there a black cat on the mat?
    logic_exist  Are there both a cat and a mat?
    logic_attr   Is the cat black or is the mat red?
    compare      Do the cat and the mat have the same color?

A question with the answer yes is asked only where one like it with the answer no could be, and the other way
round.
"""

from __future__ import annotations

from collections.abc import Callable

from ...lang.dialects._gqa_steps import VERIFY_REL
from ..ask._nouns import is_person
from ..overlap import THRESHOLD
from .described import Described, Link, Making
from .drawing import Drafted, Drawing
from .draws import (
    another,
    attribute,
    is_place,
    is_predicate,
    joined,
    kind_of,
    own,
    related,
    shuffled,
    there,
)

ASKED = ("color", "material", "shape", "pattern")  # attributes that are asked for, not only tested

Form = Callable[[Drawing], Drafted | None]


def query_attr(d: Drawing) -> Drafted | None:
    found = attribute(d, lambda word: word.attribute in ASKED)
    if found is None:
        return None
    thing, word, said = found
    if d.view.world.objects.value(thing, word.attribute) != word.value:
        return None
    making = Making()
    making.put("query", making.one(said), words=(word.attribute,))
    return Drafted(making.program(), word.value)


def verify_attr(d: Drawing) -> Drafted | None:
    found = attribute(d)
    if found is None:
        return None
    thing, word, said = found
    other = another(d, thing, word)
    if other is None:
        return None
    making = Making()
    making.put("verify", making.one(said), words=(word.attribute, word.value if d.holds else other))
    return Drafted(making.program(), d.holds)


def choose_attr(d: Drawing) -> Drafted | None:
    found = attribute(d)
    if found is None:
        return None
    thing, word, said = found
    options = d.words.values.get(word.attribute, {})
    other = d.rival("attribute", word.value, own(d, thing, word), options, is_predicate)
    if other is None:
        return None
    making = Making()
    making.put("choose", making.one(said), words=(word.attribute, *shuffled(d, word.value, other)))
    return Drafted(making.program(), word.value)


def query_rel(d: Drawing) -> Drafted | None:
    """What, or who, stands in a relation to a thing."""
    found = related(d, kind_of)
    if found is None:
        return None
    thing, said, _ = found
    making = Making()
    making.put("query", making.one(said), words=("name",))
    return Drafted(making.program(), d.view.names[thing])


def choose_name(d: Drawing) -> Drafted | None:
    found = related(d, lambda name: "person" if is_person(name) else "")
    if found is None:
        return None
    thing, said, tie = found
    name = d.view.names[thing]
    options = d.words.names.get((tie.relation, tie.subject), {})
    other = d.rival("object", name, d.view.names, options, lambda n: is_person(n) == is_person(name))
    if other is None:
        return None
    making = Making()
    making.put("choose", making.one(said), words=("name", *shuffled(d, name, other)))
    return Drafted(making.program(), name)


def verify_rel(d: Drawing) -> Drafted | None:
    """Whether a thing stands in a relation to such another."""
    thing = d.thing()
    tie = d.one_of([t for t in d.view.ties[thing] if t.subject]) if thing is not None else None
    if thing is None or tie is None:
        return None
    said = d.view.describe(d.draw, thing, away=frozenset({tie.other}))
    other = d.other("object", d.view.names, d.words.names.get((tie.relation, False), {}))
    if said is None or other is None:
        return None
    name = d.view.names[tie.other] if d.holds else other
    making = Making()
    at = making.set(Described(name, link=Link(tie.relation, said, subject=False)))
    making.put("exist", at, notes=(("said", VERIFY_REL),))
    return Drafted(making.program(), d.holds)


def choose_rel(d: Drawing) -> Drafted | None:
    """In which of two relations a thing stands to another, "on or under"."""
    thing = d.thing()
    tie = d.one_of([t for t in d.view.ties[thing] if t.subject]) if thing is not None else None
    if thing is None or tie is None:
        return None
    name = d.view.names[tie.other]
    held = [t.relation for t in d.view.ties[thing] if t.subject and t.other == tie.other]
    other = d.rival("relation", tie.relation, held, d.words.relations, is_place)
    said = d.view.describe(d.draw, thing, away=frozenset({tie.other}))
    if said is None or other is None or not is_place(tie.relation) or d.view.names.count(name) != 1:
        return None
    making = Making()
    one = making.one(said)
    words = (*shuffled(d, tie.relation, other), "object")
    making.put("choose_relation", one, making.set(Described(name)), words=words)
    return Drafted(making.program(), tie.relation)


def exist(d: Drawing) -> Drafted | None:
    said = there(d, d.holds)
    if said is None:
        return None
    making = Making()
    making.put("exist", making.set(said))
    return Drafted(making.program(), d.holds)


def logic_exist(d: Drawing) -> Drafted | None:
    """Two that may be there, joined by and, or."""
    op, hold = joined(d)
    first, second = (there(d, h) for h in hold)
    if first is None or second is None or not first.names().isdisjoint(second.names()):
        return None
    making = Making()
    making.put(op, *[making.put("exist", making.set(said)) for said in (first, second)])
    return Drafted(making.program(), d.holds)


def logic_attr(d: Drawing) -> Drafted | None:
    """What two things may be, joined by and, or."""
    op, hold = joined(d)
    first = attribute(d)
    second = attribute(d, away=frozenset({first[0]})) if first else None
    if first is None or second is None or not first[2].names().isdisjoint(second[2].names()):
        return None
    making = Making()
    tested = []
    for (thing, word, said), holds in zip((first, second), hold, strict=True):
        other = another(d, thing, word)
        if other is None:
            return None
        value = word.value if holds else other
        tested.append(making.put("verify", making.one(said), words=(word.attribute, value)))
    making.put(op, *tested)
    return Drafted(making.program(), d.holds)


def compare(d: Drawing) -> Drafted | None:
    """Whether two things have the same value of an attribute."""
    first = attribute(d, lambda word: word.attribute in ASKED)
    if first is None:
        return None
    thing, word, said = first
    value_of = d.view.world.objects.value
    other = d.one_of([i for i in d.view.things if i != thing and value_of(i, word.attribute)])
    if other is None or value_of(thing, word.attribute) is None:
        return None
    beside = d.view.describe(d.draw, other, silent=frozenset({word.attribute}), away=frozenset({thing}))
    value = value_of(other, word.attribute)
    same = value == word.value
    if beside is None or value is None or not said.names().isdisjoint(beside.names()):
        return None
    if not same and d.overlap.exclusive("attribute", word.value, value) <= THRESHOLD:
        return None
    making = Making()
    making.put("alike", making.set(said), making.set(beside), words=(word.attribute,))
    return Drafted(making.program(), same)


FORMS: dict[str, tuple[str, Form]] = {  # by name: GQA's structural type, and how it is drawn
    "query_attr": ("query", query_attr),
    "verify_attr": ("verify", verify_attr),
    "choose_attr": ("choose", choose_attr),
    "query_rel": ("query", query_rel),
    "choose_name": ("choose", choose_name),
    "verify_rel": ("verify", verify_rel),
    "choose_rel": ("choose", choose_rel),
    "exist": ("verify", exist),
    "logic_exist": ("logical", logic_exist),
    "logic_attr": ("logical", logic_attr),
    "compare": ("compare", compare),
}
