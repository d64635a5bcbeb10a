"""Checking: that a question says no more than it must, or all that it may. Brute force, one change at a time.

Nothing here is shared with what makes the questions: every single deletion or addition is made on the program
and run. A change does not count if it makes no question: one that says nothing of a set but that it is there,
or one whose words alone give the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...lang.world import World
from ...question import Question
from ...scene import Scene
from ...schema import Schema
from ._case import RELATION_OPS, SET_OPS, WORD_OPS, Case, is_a_question, told_there, with_chain, without

MOST_HOPS = 3


class Reach(NamedTuple):
    """What an added relation may lead to."""

    schema: Schema
    asked: int  # not to these things
    sought: tuple[int, ...]  # nor to one of these sets, by relation, if the words tell that it is one

    def told(self, case: Case, thing: int, start: int = 0, by: int = 0) -> bool:
        """Whether they do; nodes from `start` on have moved by so many."""
        places = [at + by if at >= start else at for at in self.sought]
        return any(case.run.values[at] >> thing & 1 and told_there(case, at) for at in places)


def check_minimal(scene: Scene, question: Question) -> tuple[str, ...]:
    """What could be dropped with every set referred to, and the answer, staying as they are; best nothing."""
    case = _case(scene, question)
    found = []
    for i, n in enumerate(case.nodes):
        if n.op not in (*WORD_OPS, *RELATION_OPS) and (n.op != "same" or case.is_subject(i)):
            continue
        shorter, place = without(case.program, i)
        other = Case.of(shorter, case.world)
        same = other.run.defined and other.run.answer == case.run.answer
        for at in case.referred():
            if same and at in place:
                same = other.run.values[place[at]] == case.run.values[at]
        if same and is_a_question(other):
            found.append(f"node {i} ({n.op} {' '.join(n.params)}) could be dropped")
    return tuple(found)


def check_saturated(scene: Scene, question: Question, base: Question) -> tuple[str, ...]:
    """What could still be said, or should not have been; `base` is the question as it came (level rd)."""
    case, plain = _case(scene, question), _case(scene, base)
    pairs, anchors, trouble = _beside(case, plain)
    reach = Reach(scene.schema, plain.asked(), _sought(pairs, plain))
    for at, beside in pairs:
        silent = _silent(case, at)
        new = [a for a in case.words(at) if a not in plain.words(beside)]
        trouble += [f"{a} is asked or compared" for a in new if a in silent]
        origin = case.nodes[case.origin(at)].op
        if origin == "same" and not plain.words(beside) and case.is_subject(at):
            trouble += [f"node {at}: {a} is said where nothing was" for a in new]
        elif not case.run.values[at] and origin != "union":
            trouble += list(_unlike_anything(case, at, plain, beside, silent, reach))
        else:
            trouble += list(_unsaid(case, at, silent, scene.schema))
            trouble += list(_unrelated(case, at, case.run.values[at], reach))
    for at in anchors:
        trouble += [f"node {at}: {what}" for what in _no_anchor(case, at, reach)]
    return tuple(trouble)


def check_twin(scene: Scene, question: Question, base: Question) -> tuple[str, ...]:
    """Where the twin is not the same question about the same scene with the same answer."""
    case, plain = _case(scene, question), _case(scene, base)
    trouble = []
    if question.scenes != base.scenes or question.kind != base.kind:
        trouble.append("it is about another scene, or of another kind")
    if not question.answer == base.answer == case.run.answer == plain.run.answer:
        trouble.append(f"answers {question.answer!r}, {case.run.answer!r} for {base.answer!r}")
    if not is_a_question(case) and is_a_question(plain):
        trouble.append("it gives its answer away")
    longer, shorter = (case, plain) if len(case.nodes) >= len(plain.nodes) else (plain, case)
    pairs, _, unlike = _beside(longer, shorter)
    for i, j in pairs:
        if longer.run.values[i] != shorter.run.values[j]:
            unlike.append(f"node {i} refers to other things")
    return (*trouble, *unlike)


def _sought(pairs: list[tuple[int, int]], plain: Case) -> tuple[int, ...]:
    """The sets that are counted or looked for among what stands in a relation."""
    return tuple(
        at
        for at, beside in pairs
        if plain.nodes[plain.origin(beside)].op in RELATION_OPS and plain.is_subject(beside)
    )


def _case(scene: Scene, question: Question) -> Case:
    if question.program is None:
        raise ValueError(f"question {question.id} has no program")
    return Case.of(question.program, World((scene,)))


def _beside(longer: Case, shorter: Case) -> tuple[list[tuple[int, int]], list[int], list[str]]:
    """The descriptions of one program beside those of another that says less of the same.

    Also what the longer one's added relations lead to, and how it is more than a longer version.
    """
    pairs: list[tuple[int, int]] = []
    anchors: list[int] = []
    trouble: list[str] = []
    todo = [(len(longer.nodes) - 1, len(shorter.nodes) - 1)]
    while todo:
        i, j = todo.pop()
        if longer.nodes[i].op in SET_OPS:
            if i in longer.referred():
                pairs.append((i, j))
            more, less = longer.words(i), shorter.words(j)
            if not less.items() <= more.items():
                trouble.append(f"node {i} does not say all of {less}")
            i, j = longer.origin(i), shorter.origin(j)
        a, b = longer.nodes[i], shorter.nodes[j]
        if (a.op, a.params) == (b.op, b.params):
            todo += list(zip(a.inputs, b.inputs, strict=True))
        elif a.op in (*RELATION_OPS, "same") and b.op == "scene":
            anchors.append(longer.nodes[a.inputs[0]].inputs[0])
        elif a.op == "intersect" and b.op in RELATION_OPS:
            half = next((k for k in a.inputs if longer.nodes[k].params == b.params), a.inputs[0])
            todo.append((half, j))
        else:
            trouble.append(f"node {i} ({a.op}) stands where {b.op} did")
    return pairs, anchors, trouble


def _silent(case: Case, at: int) -> set[str]:
    """The attributes that the question asks or compares of what is described here, or says of it later."""
    found: set[str] = set()
    origin = case.nodes[case.origin(at)]
    if origin.op == "same":
        found.add(origin.params[0])
    todo = case.readers(at)
    while todo:
        i = todo.pop()
        if case.nodes[i].op == "unique":
            asking = [n for n in case.nodes if n.op in ("query", "verify", "choose", "same")]
            thing = case.run.values[i]
            found |= {n.params[0] for n in asking if case.run.values[n.inputs[0]] == thing}
        elif case.nodes[i].op in ("union", *WORD_OPS):
            found |= {case.nodes[i].params[0]} if case.nodes[i].op in WORD_OPS else set()
            todo += case.readers(i)
    return found


def _unsaid(case: Case, at: int, silent: set[str], schema: Schema) -> Iterator[str]:
    if case.nodes[case.origin(at)].op == "union":  # said by what is joined
        return
    things, value = case.world.objects, case.run.values[at]
    for attribute in schema.attributes:
        if attribute.name in silent or attribute.name in case.words(at):
            continue
        for term in attribute.terms:
            if not value & ~things.mask(attribute.name, term):
                longer = with_chain(case.program, at, [("filter", (attribute.name, term))])
                if is_a_question(Case.of(longer, case.world)):
                    yield f"node {at}: {attribute.name} {term} could be said"


def _unlike_anything(
    case: Case, at: int, plain: Case, beside: int, silent: set[str], reach: Reach
) -> Iterator[str]:
    """Whether a set of nothing is described otherwise than a set of something that is described as far.

    Such a set is what a thing that the base's description starts from is like in the attributes it names.
    """
    words, origin = plain.words(beside), plain.origin(beside)
    related = (
        case.nodes[case.origin(at)] if case.nodes[case.origin(at)].op != plain.nodes[origin].op else None
    )
    could_be_said = False
    for like in _things_like(plain, words, plain.run.values[origin], reach.schema):
        new = _narrowest(case, like, silent | set(words), reach.schema)
        if case.words(at) == words | new:
            if related is None and not any(_unrelated(case, at, like, reach)):
                return
            rows = related and case.world.rows(related.params[0])
            if related and rows and not like & ~rows[case.run.values[related.inputs[0]].bit_length() - 1]:
                return
        longer = with_chain(case.program, at, [("filter", pair) for pair in new.items()])
        could_be_said = could_be_said or is_a_question(Case.of(longer, case.world))
    if could_be_said or related or case.words(at) != words:
        yield f"node {at}: nothing is described like no set of the scene"


def _things_like(plain: Case, words: dict[str, str], start: int, schema: Schema) -> Iterator[int]:
    things = plain.world.objects
    pool = start or things.everything
    for i in range(pool.bit_length()):
        like = pool if pool >> i & 1 else 0
        for name, word in words.items():
            attribute = schema.attribute(name)
            value = things.value(i, name)
            if word not in attribute.values:
                value = next((kind for kind, inside in attribute.kinds if value in inside), None)
            like &= things.mask(name, value) if value else 0
        if like:
            yield like


def _narrowest(case: Case, these: int, besides: set[str], schema: Schema) -> dict[str, str]:
    """For each attribute the word of the fewest things, if any, that all of these fit."""
    found: dict[str, str] = {}
    for attribute in schema.attributes:
        sizes = dict(attribute.kinds)
        fits = [t for t in attribute.terms if not these & ~case.world.objects.mask(attribute.name, t)]
        if fits and attribute.name not in besides:
            found[attribute.name] = min(fits, key=lambda t: (len(sizes.get(t, (t,))), t))
    return found


def _unrelated(case: Case, at: int, these: int, reach: Reach) -> Iterator[str]:
    """The relations that all of these stand in and that could be said of the set."""
    origin = case.origin(at)
    if case.nodes[origin].op != "scene" or _hops(case, at) >= MOST_HOPS:
        return
    for relation in reach.schema.relations:
        rows = case.world.rows(relation) or ()
        for i, row in enumerate(rows):
            full = _full(case.world, i, reach.schema)
            if reach.asked >> i & 1 or these & ~row or not full:
                continue
            chain = [("filter", pair) for pair in full] + [("unique", ()), ("relate", (relation,))]
            longer = Case.of(with_chain(case.program, origin, chain), case.world)
            if longer.run.defined and is_a_question(longer) and not reach.told(longer, i, origin, len(chain)):
                yield f"node {at}: {relation} of object {i} could be said"


def _no_anchor(case: Case, at: int, reach: Reach) -> Iterator[str]:
    """What is wrong with the thing that an added relation leads to."""
    thing = case.run.values[at].bit_length() - 1
    if reach.asked >> thing & 1 or reach.told(case, thing):
        yield "a relation to something that the question asks about"
    if dict(_full(case.world, thing, reach.schema)) != case.words(at):
        yield "not described in full"
    if case.nodes[case.origin(at)].op != "scene" or _hops(case, at) > MOST_HOPS:
        yield f"a relation of its own, or one of more than {MOST_HOPS}"
    if any(case.nodes[k].op == "same" for r in case.readers(at) for k in case.readers(r)):
        yield "being the same in something is not added"


def _hops(case: Case, at: int) -> int:
    """The most relations on the way to the answer."""
    return max((_hops(case, r) + (case.nodes[r].op in RELATION_OPS) for r in case.readers(at)), default=0)


def _full(world: World, thing: int, schema: Schema) -> tuple[tuple[str, str], ...]:
    pairs = [(a.name, world.objects.value(thing, a.name)) for a in schema.attributes]
    return tuple((name, value) for name, value in pairs if value is not None)
