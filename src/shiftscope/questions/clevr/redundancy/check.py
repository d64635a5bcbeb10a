"""Checks that a question says no more than it must, or all that it may. Brute force, one change at a time.

Nothing here is shared with what makes the questions: every single deletion or addition is made on the program
and run. A change does not count if it makes no question: one that says nothing of a set but that it is there,
or one whose words alone give the answer. Nor does a word that would make what is counted or looked for something
that the question singles out already, or a relation that is said where the same thing is described again.
"""

from collections.abc import Iterator
from typing import NamedTuple

from ....english.synonyms import noun_attribute
from ....question import Question
from ....scene import Scene
from .program_run import RELATION_OPS, SET_OPS, WORD_OPS, ProgramRun, insert_chain, insert_relation, remove_node


class DescriptionPair(NamedTuple):
    """A description in one program beside that of the same set in another that says less."""

    at: int
    beside: int
    added: tuple[int, ...]  # the nodes of the relations that only the first has


def check_minimal(scene: Scene, question: Question) -> tuple[str, ...]:
    """What could be dropped with every set referred to, and the answer, staying as they are; best nothing."""
    case = ProgramRun.from_question(scene, question)
    found = []
    for i, n in enumerate(case.nodes):
        if n.op not in (*WORD_OPS, *RELATION_OPS) and (n.op != "same" or case.is_subject(i)):
            continue
        shorter, place = remove_node(case.program, i)
        other = ProgramRun(shorter, case.world)
        kept = [at for at in case.list_described_nodes() if at in place]
        same = other.run.is_defined and other.run.answer == case.run.answer
        if same and all(other.values[place[at]] == case.values[at] for at in kept) and other.is_a_question():
            found.append(f"node {i} ({n.op} {' '.join(n.params)}) could be dropped")
    return tuple(found)


def check_saturated(scene: Scene, question: Question, base: Question) -> tuple[str, ...]:
    """What could still be added, or should not have been; `base` is the question as it came (level rd)."""
    case, plain = ProgramRun.from_question(scene, question), ProgramRun.from_question(scene, base)
    pairs, trouble = _align_descriptions(case, plain)
    spoken = case.spoken = plain.compute_spoken_objects()
    for at, beside, added in pairs:
        silent = _list_silent_attributes(case, at)
        new = [a for a in case.list_words(at) if a not in plain.list_words(beside)]
        trouble += [f"{a} is asked or compared" for a in new if a in silent]
        if new and case.names_referent(at, case.list_words(at)):
            trouble.append(f"node {at}: it is something that the question singles out already")
        again = {leaf for mention in case.list_mentions(at)[1:] for leaf in case.list_leaves(mention)}
        for leaf in added:
            twice = [k for k in again if case.nodes[k] == case.nodes[leaf]]
            trouble += [f"node {leaf}: said of the same thing by node {k}" for k in twice]
            trouble += [f"node {leaf}: {what}" for what in _check_added_relation(case, leaf, spoken)]
        anything = plain.ops[plain.find_origin(beside)] == "same" and not plain.list_words(beside)
        if anything and plain.is_subject(beside):
            trouble += [f"node {at}: {a} is said where nothing was" for a in (*new, *("a relation" for _ in added))]
        elif plain.ops[plain.find_origin(beside)] == "union":  # described by the sets that it joins
            trouble += [f"node {at}: a union of its own relations" for _ in added]
        elif not case.values[at]:
            trouble += list(_check_empty_description(case, DescriptionPair(at, beside, added), plain, silent, spoken))
        else:
            trouble += list(_list_unsaid_words(case, at, silent))
            trouble += list(_list_unsaid_relations(case, at, case.values[at], spoken))
    return tuple(trouble)


def check_twin(scene: Scene, question: Question, base: Question) -> tuple[str, ...]:
    """Where the twin is not the same question about the same scene with the same answer."""
    case, plain = ProgramRun.from_question(scene, question), ProgramRun.from_question(scene, base)
    case.spoken = plain.compute_spoken_objects()
    trouble = []
    if question.scenes != base.scenes or question.kind != base.kind:
        trouble.append("it is about another scene, or of another kind")
    if not question.answer == base.answer == case.run.answer == plain.run.answer:
        trouble.append(f"answers {question.answer!r}, {case.run.answer!r} for {base.answer!r}")
    if not case.is_a_question() and plain.is_a_question():
        trouble.append("it gives its answer away")
    longer, shorter = (case, plain) if len(case.nodes) >= len(plain.nodes) else (plain, case)
    pairs, unlike = _align_descriptions(longer, shorter)
    for i, j, _ in pairs:
        if longer.values[i] != shorter.values[j]:
            unlike.append(f"node {i} refers to other things")
    return (*trouble, *unlike)


def _align_descriptions(longer: ProgramRun, shorter: ProgramRun) -> tuple[list[DescriptionPair], list[str]]:
    """The descriptions of one program beside those of another that says less of the same; how it is more than that."""
    pairs: list[DescriptionPair] = []
    trouble: list[str] = []
    todo = [(len(longer.nodes) - 1, len(shorter.nodes) - 1)]
    while todo:
        i, j = todo.pop()
        if longer.ops[i] not in SET_OPS or shorter.ops[j] not in SET_OPS:
            a, b = longer.nodes[i], shorter.nodes[j]
            if (a.op, a.params) == (b.op, b.params):
                todo += list(zip(a.inputs, b.inputs, strict=True))
            else:
                trouble.append(f"node {i} ({a.op}) stands where {b.op} did")
            continue
        more, less = longer.list_words(i), shorter.list_words(j)
        if not less.items() <= more.items():
            trouble.append(f"node {i} does not say all of {less}")
        added = longer.list_leaves(i)
        for leaf in shorter.list_leaves(j):
            n = shorter.nodes[leaf]
            same = [k for k in added if _crosses_alike(longer, k, shorter, leaf)]
            if not same:
                trouble.append(f"node {i} does not cross {n.op} {' '.join(n.params)}".rstrip())
                continue
            added.remove(same[0])
            todo += list(zip(longer.nodes[same[0]].inputs, n.inputs, strict=True))
        trouble += [
            f"node {k} ({longer.ops[k]}) is more than a relation" for k in added if longer.ops[k] not in RELATED
        ]
        if i in longer.list_described_nodes():
            pairs.append(DescriptionPair(i, j, tuple(added)))
    return pairs, trouble


RELATED = (*RELATION_OPS, "same")


def _crosses_alike(one: ProgramRun, i: int, two: ProgramRun, j: int) -> bool:
    """Whether two sets are found in the same way, from things that are the same."""
    a, b = one.nodes[i], two.nodes[j]
    if (a.op, a.params) != (b.op, b.params):
        return False
    return a.op == "union" or [one.values[k] for k in a.inputs] == [two.values[k] for k in b.inputs]


def _list_silent_attributes(case: ProgramRun, at: int) -> set[str]:
    """The attributes that the question asks or compares of what is described here, or says of it later."""
    found = {case.nodes[leaf].params[0] for leaf in case.list_leaves(at) if case.ops[leaf] == "same"}
    todo = list(case.readers[at])
    while todo:
        i = todo.pop()
        if case.ops[i] == "unique":
            asking = [n for n in case.nodes if n.op in ("query", "verify", "choose", "same")]
            thing = case.values[i]
            found |= {n.params[0] for n in asking if case.values[n.inputs[0]] == thing}
        elif case.ops[i] in ("union", *WORD_OPS):
            found |= {case.nodes[i].params[0]} if case.ops[i] in WORD_OPS else set()
            todo += case.readers[i]
    return found


def _list_unsaid_words(case: ProgramRun, at: int, silent: set[str]) -> Iterator[str]:
    things, value = case.world.objects, case.values[at]
    for attribute in case.schema.attributes:
        if attribute.name in silent or attribute.name in case.list_words(at):
            continue
        for term in attribute.terms:
            if not value & ~things.mask(attribute.name, term):
                if case.names_referent(at, case.list_words(at) | {attribute.name: term}):
                    continue
                longer = insert_chain(case.program, at, [("filter", (attribute.name, term))])
                if ProgramRun(longer, case.world, case.spoken).is_a_question():
                    yield f"node {at}: {attribute.name} {term} could be said"


def _check_empty_description(
    case: ProgramRun, pair: DescriptionPair, plain: ProgramRun, silent: set[str], spoken: int
) -> Iterator[str]:
    """Whether a set of nothing is described otherwise than a set of something that is described as far.

    Such a set is what a thing that the base's description starts from is like in the attributes it names.
    """
    at, words = pair.at, plain.list_words(pair.beside)
    start = plain.values[plain.find_origin(pair.beside)]
    could_be_said = False
    for like in _list_stand_ins(plain, words, start):
        new = _find_narrowest_words(case, at, like, words, silent)
        holds = all(not like & ~_get_row(case, leaf) for leaf in pair.added)
        if case.list_words(at) == words | new and holds and not any(_list_unsaid_relations(case, at, like, spoken)):
            return
        longer = insert_chain(case.program, at, [("filter", word) for word in new.items()])
        could_be_said = could_be_said or ProgramRun(longer, case.world, case.spoken).is_a_question()
    if could_be_said or pair.added or case.list_words(at) != words:
        yield f"node {at}: nothing is described like no set of the scene"


def _get_row(case: ProgramRun, leaf: int) -> int:
    """All that stand in the relation of a node to its thing."""
    n = case.nodes[leaf]
    rows = case.world.rows(n.params[0]) if n.op == "relate" else None
    return rows[case.values[n.inputs[0]].bit_length() - 1] if rows else 0


def _list_stand_ins(plain: ProgramRun, words: dict[str, str], start: int) -> Iterator[int]:
    things = plain.world.objects
    pool = start or things.everything
    for i in range(pool.bit_length()):
        like = pool if pool >> i & 1 else 0
        for name, word in words.items():
            attribute = plain.schema.attribute(name)
            value = things.value(i, name)
            if word not in attribute.values:
                value = next((kind for kind, inside in attribute.kinds if value in inside), None)
            like &= things.mask(name, value) if value else 0
        if like:
            yield like


def _find_narrowest_words(
    case: ProgramRun, at: int, these: int, said: dict[str, str], silent: set[str]
) -> dict[str, str]:
    """For each attribute, the noun last, the word of the fewest things, if any, that all of these fit and that may be
    said of the set beside the others."""
    found: dict[str, str] = {}
    for attribute in sorted(case.schema.attributes, key=lambda a: a.name == noun_attribute(case.schema.attributes)):
        sizes = dict(attribute.kinds)
        fits = [t for t in attribute.terms if not these & ~case.world.objects.mask(attribute.name, t)]
        fits = [t for t in fits if not case.names_referent(at, said | found | {attribute.name: t})]
        if fits and attribute.name not in silent | set(said):
            found[attribute.name] = min(fits, key=lambda t: (len(sizes.get(t, (t,))), t))
    return found


def _list_unsaid_relations(case: ProgramRun, at: int, these: int, spoken: int) -> Iterator[str]:
    """The relations that all of these stand in and that could be added to the set."""
    leaves = [case.nodes[leaf] for mention in case.list_mentions(at) for leaf in case.list_leaves(mention)]
    said = {(n.params[0], case.values[n.inputs[0]]) for n in leaves if n.op == "relate"}
    for relation in case.schema.relations:
        for i, row in enumerate(case.world.rows(relation) or ()):
            full = _describe_fully(case, i)
            if spoken >> i & 1 or these & ~row or not full or (relation, 1 << i) in said:
                continue
            more = insert_relation(case.program, case.find_origin(at), full, relation)
            longer = ProgramRun(more, case.world, spoken)
            if longer.run.is_defined and longer.is_a_question():
                yield f"node {at}: {relation} of object {i} could be said"


def _check_added_relation(case: ProgramRun, leaf: int, spoken: int) -> Iterator[str]:
    """What is wrong with a relation that was added, and the thing that it leads to."""
    n = case.nodes[leaf]
    if n.op != "relate":
        yield "being the same in something is not added"
        return
    described = case.nodes[n.inputs[0]].inputs[0]
    thing = case.values[described].bit_length() - 1
    if spoken >> thing & 1:
        yield "a relation to something that the question speaks of"
    if dict(_describe_fully(case, thing)) != case.list_words(described):
        yield "not described in full"
    if case.list_leaves(described):
        yield "a relation of its own"


def _describe_fully(case: ProgramRun, thing: int) -> tuple[tuple[str, str], ...]:
    pairs = [(a.name, case.world.objects.value(thing, a.name)) for a in case.schema.attributes]
    return tuple((name, value) for name, value in pairs if value is not None)
