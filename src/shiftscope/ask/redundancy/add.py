"""Adding: all that is true of what a question refers to, short of what it asks.

Each set gets every attribute that its members share and that the question neither asks nor compares; each
set taken from the whole scene gets one relation that all its members stand in, to a thing that all its
attributes together single out and that is not asked about: nothing is asked or compared of it, and the words
do not tell that it is among what is counted or looked for. A set of nothing gets what its stand-in shares
(`stand_in.py`), lest a long description mean "yes". "Anything else" that is like a given thing, where that is
what the question is about, stays without a description: with one it would be another question.
"""

from __future__ import annotations

from functools import lru_cache

from ...bits import members
from ...lang.world import World
from ...rng import seed_of
from ...schema import Schema
from .drop import in_order, rank
from .stand_in import shared, stand_ins
from .step import RELATIONS, Step, Word, hops, is_subject, steps
from .told import gives_itself_away, suspects, told_there

MOST_HOPS = 3
SETS = frozenset(("scene", "relate", "same", "intersect"))  # that a noun phrase of their own describes
TIED = RELATIONS | {"same"}  # sets that a thing may be of without its words telling
READS_ATTRIBUTE = frozenset(("query", "verify", "choose", "same"))

Option = tuple[str, int, tuple[tuple[str, str], ...], int]  # relation, thing, its attributes, its row


def add_all(last: Step, world: World, schema: Schema, seed: str) -> int:
    """Add, in place, until nothing more can be added; how many additions there were.

    `seed` decides between relations, and between stand-ins, that would do.
    """
    adding = _Adding(last, world, schema, seed)
    total = 0
    while True:
        added = sum([adding.words(n) for n in range(len(adding.own))])
        added += sum([adding.relation(n) for n in range(len(adding.own))])
        total += added
        if not adding.suspected or not added:
            return total


class _Adding:
    """A question that is being added to."""

    def __init__(self, last: Step, world: World, schema: Schema, seed: str) -> None:
        self.world, self.schema, self.seed = world, schema, seed
        listed = steps(last)
        described = [s for s in listed if s.several and not s.loose and not s.on_parts]
        self.own = [s for s in described if s.op in SETS and (s.op != "same" or s.words or not is_subject(s))]
        self.silent = _silent(listed, self.own)
        self.suspected = suspects(last)
        self.like = [s.value for s in self.own]  # what is described, or what stands in for it; 0: not yet
        self.sought = [s for s in described if s.op in RELATIONS and is_subject(s)]
        self.asked = self.mentioned = 0  # what no relation may lead to, and what it leads to only if need be
        for step in described:
            if _serves(step) or (step.op in TIED and is_subject(step)):
                self.mentioned |= step.value
            elif step.op != "union":
                self.asked |= step.value

    def words(self, n: int) -> int:
        """Add to set n what its members share; how many words came."""
        step, silent = self.own[n], self.silent[n]
        if not step.value:
            return 0 if self.like[n] else self.words_for_nothing(n)
        added = 0
        for attribute in in_order(self.schema):
            if attribute.name in silent:
                continue
            for value in shared(step.value, attribute, self.world):
                step.words.append(Word("filter", attribute.name, value))
                if self.fine():
                    silent.add(attribute.name)
                    added += 1
                    break
                step.words.pop()
        if added:
            step.words.sort(key=lambda w: rank(self.schema, w.attribute))
        return added

    def words_for_nothing(self, n: int) -> int:
        """Add to the empty set n what the first stand-in shares that will do; how many words came."""
        step = self.own[n]
        kept = step.words
        for like in stand_ins(step, self.world, self.schema, f"{self.seed} {n}"):
            new = [
                Word("filter", attribute.name, values[0])
                for attribute in in_order(self.schema)
                if attribute.name not in self.silent[n] and (values := shared(like, attribute, self.world))
            ]
            step.words = sorted(kept + new, key=lambda w: rank(self.schema, w.attribute))
            if self.fine():
                self.like[n] = like
                return len(new)
        step.words = kept
        return 0

    def relation(self, n: int) -> bool:
        """Add a relation to set n, unless it has one; whether one was found."""
        step, world, like = self.own[n], self.world, self.like[n]
        if step.op != "scene" or not like or hops(step) >= MOST_HOPS:
            return False
        options: tuple[list[Option], list[Option]] = ([], [])
        for relation in self.schema.relations:
            rows = world.rows(relation) or ()
            for i, full in singled_out(world, self.schema) if rows else ():
                if not self.asked >> i & 1 and not like & ~rows[i]:
                    options[self.mentioned >> i & 1].append((relation, i, full, rows[i]))
        for listed in options:
            first = seed_of("related", self.seed, n) % len(listed) if len(listed) > 1 else 0
            for option in listed[first:] + listed[:first]:
                if self.related(step, option):
                    return True
        return False

    def related(self, step: Step, option: Option) -> bool:
        """Put the set in the relation; False, and nothing changed, where that gives the answer away."""
        relation, i, full, row = option
        described = Step("scene", (), [], self.world.objects.everything)
        described.words = [Word("filter", name, value) for name, value in full]
        described.value, described.several, described.added = 1 << i, True, True
        kept = (step.op, step.params, step.inputs, step.root)
        step.inputs = [Step("unique", (), [described], 1 << i)]
        step.op, step.params, step.root = "relate", (relation,), row
        if self.fine() and not self.tells(i):
            step.inputs[0].above = step
            self.mentioned |= 1 << i
            return True
        step.op, step.params, step.inputs, step.root = kept
        return False

    def tells(self, thing: int) -> bool:
        """Whether the words tell that the thing is among what is counted or looked for."""
        return any(s.value >> thing & 1 and told_there(s, self.schema) for s in self.sought)

    def fine(self) -> bool:
        return not self.suspected or not gives_itself_away(self.suspected, self.schema)


def _serves(step: Step) -> bool:
    """Whether it is there only for others to stand in a relation to; nothing is asked about it."""
    above = step.above
    if above is not None and above.op == "unique":
        above = above.above
    return above is not None and above.op in RELATIONS


def _silent(listed: list[Step], own: list[Step]) -> list[set[str]]:
    """For each set the attributes not to be said of it: they are asked, compared, or said already."""
    asked: dict[int, set[str]] = {}  # by the thing they are asked of, however it is described
    for step in listed:
        if step.op in READS_ATTRIBUTE and step.inputs[0].op == "unique":
            asked.setdefault(step.inputs[0].value, set()).add(step.params[0])
    found = []
    for step in own:
        above = step.above
        names = {w.attribute for w in step.words}
        if above is not None and above.op == "unique":
            names |= asked.get(step.value, set())
        if step.op == "same":
            names.add(step.params[0])
        while above is not None and above.op == "union":
            names |= {w.attribute for w in above.words}
            above = above.above
        found.append(names)
    return found


@lru_cache(maxsize=2)  # for the other questions about the same scene
def singled_out(world: World, schema: Schema) -> list[tuple[int, tuple[tuple[str, str], ...]]]:
    """The objects that all their attributes together fit alone, each with these, in the order of wording."""
    things = world.objects
    names = [a.name for a in in_order(schema)]
    found = []
    for i in members(things.everything):
        full = tuple([(n, v) for n in names if (v := things.value(i, n)) is not None])
        fits = things.everything
        for name, value in full:
            fits &= things.mask(name, value)
        if full and fits == 1 << i:
            found.append((i, full))
    return found
