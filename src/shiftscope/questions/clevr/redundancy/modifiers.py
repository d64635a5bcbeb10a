"""Modifiers of what a question refers to: all that hold are added (rd+), all it does without dropped (rd-).

Both are in docs/decisions/010. Adding: each set gets every attribute that its members share, and every relation that
they all stand in to an object that the question does not speak of and that its attributes single out. What is counted
or looked for gets no word that would make it what the question singles out already ("how many red cars are left of
the red car …"); an object that is described twice gets its relations once, where it comes first. An empty set gets
what its stand-in shares (the things that fit a description with the same attributes), lest a long description mean
"yes". Dropping: every set stays as it is. What goes is a filter, or a relation with all that only led to it, in a
fixed order: relations from the answer backwards, then words by attribute (`rank_attribute`), those nearest the answer
first.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from ....english.synonyms import noun_attribute
from ....lang.execution_world import ExecutionWorld, Things
from ....lang.program import Program
from ....rng import seed_of
from ....scene import mask_members
from ....schema import Attribute, Schema
from .program_tree import (
    FILTERS,
    RELATIONS,
    FilterWord,
    FullDescription,
    TreeStep,
    gives_itself_away,
    list_referents,
    list_steps,
    list_suspects,
    names_any,
    select_suspects,
)

SETS = frozenset(("scene", "relate", "same", "intersect"))  # that a noun phrase of their own describes
READS_ATTRIBUTE = frozenset(("query", "verify", "choose", "same"))


@lru_cache(maxsize=64)
def order_attributes(schema: Schema) -> tuple[Attribute, ...]:
    """The attributes in the order of dropping: as worded, size first, and the noun last."""
    noun = noun_attribute(schema.attributes)
    return tuple(sorted(schema.attributes, key=lambda a: a.name == noun))


@lru_cache(maxsize=1024)
def rank_attribute(schema: Schema, attribute: str) -> int:
    """The place of an attribute in that order; what the schema does not know goes first, a name last."""
    names = [a.name for a in order_attributes(schema)]
    return names.index(attribute) if attribute in names else len(names) if attribute == "name" else -1


def list_relations(last: TreeStep) -> list[TreeStep]:
    """The sets that stand in a relation, from the answer backwards; `same` where it only says which are meant."""
    return [
        s for s in list_steps(last) if s.op in RELATIONS or (s.op == "same" and not s.on_parts and not s.is_subject)
    ]


def list_words(last: TreeStep, schema: Schema) -> list[tuple[TreeStep, FilterWord]]:
    """The words of all sets, each with its set, in the order in which they are dropped."""
    found = [(step, word) for step in list_steps(last) for word in step.words]
    return sorted(found, key=lambda pair: rank_attribute(schema, pair[1].attribute))


def may_drop_relation(program: Program, trace: Sequence[Any], world: ExecutionWorld) -> bool:
    """Whether some set is the same without the relation it stands in; if not, `drop_all` drops none.

    Most questions need all of theirs, and are spared a tree. What is half of a description counts as the same.
    """
    everything, masks = world.objects.everything, world.objects.masks
    free: dict[int, int] = {}  # by node: what its words alone leave of the scene
    for i, n in enumerate(program.nodes):
        op = n.op
        if op in FILTERS:
            left = free.get(n.inputs[0])
            if left is not None:
                mask = masks[n.params[0], n.params[1]]
                free[i] = left & (mask if op == "filter" else ~mask)
        elif op in RELATIONS or op == "same":
            free[i] = everything
        elif op == "intersect":
            return True
    return any(trace[i] == left for i, left in free.items())


def drop_element(
    step: TreeStep, word: FilterWord | None, last: TreeStep, world: ExecutionWorld, schema: Schema
) -> bool:
    """Drop a word of a set, or (None) the relation it stands in; False, and nothing changed, where it is needed.

    It is also needed where the question would otherwise lose its last word, or give its answer away.
    """
    things = world.parts if step.on_parts else world.objects
    left = narrow_set(step, step.root if word else things.everything, things, word)
    part, value = step, left  # it is needed unless the whole description still fits the same things
    while part.is_half and part.above is not None:
        whole = part.above
        value &= next(s for s in whole.inputs if s is not part).value
        part, value = whole, narrow_set(whole, value, world.parts if whole.on_parts else world.objects)
    if value != part.value:
        return False
    kept = (step.op, step.params, step.inputs, list(step.words), step.root, step.value)
    if word is None:
        if step.is_half:
            return _drop_half_of_intersection(step, last, world, schema)
        everything = world.objects.everything
        step.op, step.params, step.inputs, step.root, step.value = "scene", (), [], everything, left
    else:
        step.words.remove(word)
        step.value = left
    # Only `how many things are there?` goes without a word.
    says_something = step.words or step.op != "scene" or (step.above is last and last.op == "count")
    if says_something and not gives_itself_away(list_suspects(last), schema):
        _update_intersections(step)
        return True
    step.op, step.params, step.inputs, step.words, step.root, step.value = kept
    return False


def drop_all(last: TreeStep, world: ExecutionWorld, schema: Schema, relations_only: bool = False) -> int:
    """Drop elements in order until no single one can go; how many went."""
    gone = 0
    while True:
        before = gone
        while any(drop_element(step, None, last, world, schema) for step in list_relations(last)):
            gone += 1
        if not relations_only:
            gone += sum(drop_element(step, word, last, world, schema) for step, word in list_words(last, schema))
        if gone == before or not list_suspects(last):
            return gone  # else a word that had to stay may go now that another has gone


def narrow_set(step: TreeStep, among: int, things: Things, without: FilterWord | None = None) -> int:
    """What the words of a step, all but one, leave of a set."""
    for word in step.words:
        if word is not without:
            mask = things.mask(word.attribute, word.value)
            among &= mask if word.op == "filter" else ~mask
    return among


def _drop_half_of_intersection(step: TreeStep, last: TreeStep, world: ExecutionWorld, schema: Schema) -> bool:
    """Drop one of the two relations of a description: the other, with all the words, is left."""
    whole = step.above
    assert whole is not None
    other = next(s for s in whole.inputs if s is not step)
    kept = (whole.op, whole.params, whole.inputs, whole.words, whole.root, whole.value)
    whole.op, whole.params, whole.inputs = other.op, other.params, other.inputs
    whole.words = other.words + step.words + whole.words
    whole.root = other.root
    whole.value = narrow_set(whole, whole.root, world.parts if whole.on_parts else world.objects)
    if not gives_itself_away(list_suspects(last), schema):
        for below in whole.inputs:
            below.above = whole
        _update_intersections(whole)
        return True
    whole.op, whole.params, whole.inputs, whole.words, whole.root, whole.value = kept
    return False


def _update_intersections(step: TreeStep) -> None:
    """Half of a description may have changed where the whole has not."""
    while step.is_half and step.above is not None:
        step = step.above
        step.root = step.inputs[0].value & step.inputs[1].value


def list_stand_ins(step: TreeStep, world: ExecutionWorld, schema: Schema, seed: str) -> Iterator[int]:
    """For each thing that the set starts from (or of the scene, if it starts from nothing) those like it."""
    things, words = world.objects, step.words  # as they are now: they may change while this goes on
    pool = step.root or things.everything
    listed = list(mask_members(pool))
    kinds = {a.name: a.kinds for a in schema.attributes}
    first = seed_of("like", seed) % len(listed) if listed else 0
    for thing in listed[first:] + listed[:first]:
        like = pool
        for word in words:
            value = things.value(thing, word.attribute)
            known = kinds.get(word.attribute, ())
            if any(word.value == kind for kind, _ in known):
                value = next((kind for kind, values in known if value in values), None)
            like &= 0 if value is None else things.mask(word.attribute, value)
        if like:
            yield like


class SharedWords:
    """What the objects of a world share, worked out once for all questions about it."""

    def __init__(self, world: ExecutionWorld, schema: Schema) -> None:
        attributes = order_attributes(schema)
        self.rank = {a.name: rank for rank, a in enumerate(attributes)}
        members = list(mask_members(world.objects.everything))
        self._values = [(a, {1 << i: world.objects.value(i, a.name) for i in members}) for a in attributes]
        self._words: dict[int, list[tuple[str, list[str]]]] = {}
        self.things = _describe_unique_objects(world, attributes)
        self.rows = [(relation, rows) for relation in schema.relations if (rows := world.rows(relation))]

    def list_words(self, these: int) -> list[tuple[str, list[str]]]:
        """By attribute the words that all of these share, narrowest first: their value, or a kind that all are of."""
        found = self._words.get(these)
        if found is None:
            found = self._words[these] = []
            for attribute, by_thing in self._values:
                values = {value for thing, value in by_thing.items() if thing & these}
                around = sorted([(len(inside), kind) for kind, inside in attribute.kinds if values.issubset(inside)])
                own = [v for v in values if v is not None and len(values) == 1]
                if own or around:
                    found.append((attribute.name, own + [kind for _, kind in around]))
        return found


get_shared_words = lru_cache(maxsize=2)(SharedWords)  # for the other questions about the same scene


def _describe_unique_objects(world: ExecutionWorld, attributes: tuple[Attribute, ...]) -> dict[int, FullDescription]:
    """The objects that all their attributes together fit alone, each with these, in the order of wording."""
    things = world.objects
    names = [a.name for a in attributes]
    found = {}
    for i in mask_members(things.everything):
        full = tuple([(n, v) for n in names if (v := things.value(i, n)) is not None])
        fits = things.everything
        for name, value in full:
            fits &= things.mask(name, value)
        if full and fits == 1 << i:
            found[i] = full
    return found


def add_all(steps: list[TreeStep], world: ExecutionWorld, schema: Schema, seed: str) -> int:
    """Add, in place, until nothing more can be added; how many additions there were.

    `steps` are those of the whole tree. `seed` decides between stand-ins that would do.
    """
    adding = _Saturation(steps, world, schema, seed)
    total = 0
    while True:
        added = sum([adding.add_words(n) for n in range(len(adding.own))])
        added += sum([adding.add_relations(n) for n in range(len(adding.own))])
        total += added
        if not adding.refused or not added:
            return total


class _Saturation:
    def __init__(self, listed: list[TreeStep], world: ExecutionWorld, schema: Schema, seed: str) -> None:
        self.world, self.schema, self.seed = world, schema, seed
        self.shared = get_shared_words(world, schema)
        described = [s for s in listed if s.several and not s.is_half and not s.on_parts]
        own = [s for s in described if s.op in SETS and (s.op != "same" or s.words or not s.is_subject)]
        own.sort(key=lambda s: s.is_subject)  # what is counted may not say all that a referent does
        self.own = own
        self.silent = _list_silent_attributes(listed, self.own)
        self.suspected = select_suspects(listed)
        self.refused = False  # something that would have given the answer away; it may be added after something else
        self.referents = [s.inputs[0] for s in listed if s.op == "unique"]
        self.like = [s.value for s in self.own]  # what is described, or what stands in for it; 0: not yet
        spoken = 0  # what the question is about: a relation to it would go round in a circle, or tell what is asked
        for step in described:
            spoken |= step.value
        self.free = [i for i in self.shared.things if not spoken >> i & 1]

    def add_words(self, n: int) -> int:
        """Add to set n what its members share; how many words came."""
        step = self.own[n]
        if not step.value:
            return 0 if self.like[n] else self.add_words_for_nothing(n)
        kept, silent = step.words, self.silent[n]
        added = self.add_shared_words(n, step.value, False)
        if added and not self.is_fine():
            step.words, self.silent[n] = kept, silent
            added = self.add_shared_words(n, step.value, True)
        return added

    def add_words_for_nothing(self, n: int) -> int:
        """Add to the empty set n what the first stand-in shares that will do; how many words came."""
        step = self.own[n]
        kept, silent = step.words, self.silent[n]
        for like in list_stand_ins(step, self.world, self.schema, f"{self.seed} {n}"):
            added = self.add_shared_words(n, like, False)
            if self.is_fine():
                self.like[n] = like
                return added
            step.words, self.silent[n] = kept, silent
        return 0

    def add_shared_words(self, n: int, these: int, each: bool) -> int:
        """Add to set n what these share; `each` word is left out if it would give the answer away."""
        step, silent = self.own[n], self.silent[n]
        referents = list_referents(step, self.referents)
        words = step.words = list(step.words)
        new: list[str] = []
        for attribute, values in self.shared.list_words(these):
            for value in () if attribute in silent else values:
                words.append(FilterWord("filter", attribute, value))
                if not (referents and names_any(step, referents, self.schema)) and not (each and not self.is_fine()):
                    new.append(attribute)
                    break
                words.pop()
        if new:
            words.sort(key=lambda w: self.shared.rank[w.attribute])
            self.silent[n] = silent.union(new)
        return len(new)

    def add_relations(self, n: int) -> int:
        """Add to set n every relation that all its members stand in; how many came."""
        step, like = self.own[n], self.like[n]
        if not like or self.is_related_elsewhere(step):
            return 0
        kept = step.relations
        new = [(relation, i) for i in self.free for relation, rows in self.shared.rows if not like & ~rows[i]]
        new = [pair for pair in new if pair not in kept] if kept else new
        step.relations = kept + new
        if not new or self.is_fine():
            return len(new)
        step.relations = kept
        for pair in new:
            step.relations = [*step.relations, pair]
            if not self.is_fine():
                step.relations = step.relations[:-1]
        return len(step.relations) - len(kept)

    def is_related_elsewhere(self, step: TreeStep) -> bool:
        """Whether the set is one thing, and another description of it has its relations."""
        if step not in self.referents:
            return False
        return any(s.relations for s in self.referents if s is not step and s.value == step.value)

    def is_fine(self) -> bool:
        if not self.suspected or not gives_itself_away(self.suspected, self.schema, self.shared.things):
            return True
        self.refused = True
        return False


def _list_silent_attributes(listed: list[TreeStep], own: list[TreeStep]) -> list[set[str]]:
    """For each set the attributes not to add: they are queried, compared, or mentioned already."""
    asked: dict[int, set[str]] = {}  # by the object whose they are, however it is described
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
