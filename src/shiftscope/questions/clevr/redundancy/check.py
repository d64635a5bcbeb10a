"""Checks that a question says no more than it must, or all that it may. Brute force, one change at a time.

Nothing here is shared with what makes the questions: every single deletion or addition is made on the program
and run. A change does not count if it makes no question: one that says nothing of a set but that it is there,
or one whose words alone give the answer.
"""

from collections.abc import Iterator
from typing import NamedTuple

from ....question import Question
from ....scene import Scene
from .program_run import RELATION_OPS, SET_OPS, WORD_OPS, ProgramRun, insert_chain, remove_node

MOST_HOPS = 3


class RelationScope(NamedTuple):
    """What an added relation may lead to."""

    queried: int  # not to these things
    sought: tuple[int, ...]  # nor to one of these sets, by relation, if the words tell that it is one

    def words_tell(self, case: ProgramRun, thing: int, start: int = 0, by: int = 0) -> bool:
        """Whether they do; nodes from `start` on have moved by so many."""
        places = [at + by if at >= start else at for at in self.sought]
        return any(case.values[at] >> thing & 1 and case.words_imply_member(at) for at in places)


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
    """Words that could still be added, or should not have been; `base` is the question as it came (level rd)."""
    case, plain = ProgramRun.from_question(scene, question), ProgramRun.from_question(scene, base)
    pairs, anchors, trouble = _align_descriptions(case, plain)
    sought = tuple(  # the sets that are counted or looked for among what stands in a relation
        at for at, beside in pairs if plain.ops[plain.find_origin(beside)] in RELATION_OPS and plain.is_subject(beside)
    )
    reach = RelationScope(plain.compute_queried_objects(), sought)
    for at, beside in pairs:
        silent = _list_silent_attributes(case, at)
        new = [a for a in case.list_words(at) if a not in plain.list_words(beside)]
        trouble += [f"{a} is asked or compared" for a in new if a in silent]
        origin = case.ops[case.find_origin(at)]
        if origin == "same" and not plain.list_words(beside) and case.is_subject(at):
            trouble += [f"node {at}: {a} is said where nothing was" for a in new]
        elif not case.values[at] and origin != "union":
            trouble += list(_check_empty_description(case, at, plain, beside, silent, reach))
        else:
            trouble += list(_list_unsaid_words(case, at, silent))
            trouble += list(_list_unsaid_relations(case, at, case.values[at], reach))
    for at in anchors:
        trouble += [f"node {at}: {what}" for what in _check_anchor(case, at, reach)]
    return tuple(trouble)


def check_twin(scene: Scene, question: Question, base: Question) -> tuple[str, ...]:
    """Where the twin is not the same question about the same scene with the same answer."""
    case, plain = ProgramRun.from_question(scene, question), ProgramRun.from_question(scene, base)
    trouble = []
    if question.scenes != base.scenes or question.kind != base.kind:
        trouble.append("it is about another scene, or of another kind")
    if not question.answer == base.answer == case.run.answer == plain.run.answer:
        trouble.append(f"answers {question.answer!r}, {case.run.answer!r} for {base.answer!r}")
    if not case.is_a_question() and plain.is_a_question():
        trouble.append("it gives its answer away")
    longer, shorter = (case, plain) if len(case.nodes) >= len(plain.nodes) else (plain, case)
    pairs, _, unlike = _align_descriptions(longer, shorter)
    for i, j in pairs:
        if longer.values[i] != shorter.values[j]:
            unlike.append(f"node {i} refers to other things")
    return (*trouble, *unlike)


def _align_descriptions(longer: ProgramRun, shorter: ProgramRun) -> tuple[list[tuple[int, int]], list[int], list[str]]:
    """The descriptions of one program beside those of another that says less of the same.

    Also what the longer one's added relations lead to, and how it is more than a longer version.
    """
    pairs: list[tuple[int, int]] = []
    anchors: list[int] = []
    trouble: list[str] = []
    todo = [(len(longer.nodes) - 1, len(shorter.nodes) - 1)]
    while todo:
        i, j = todo.pop()
        if longer.ops[i] in SET_OPS:
            if i in longer.list_described_nodes():
                pairs.append((i, j))
            more, less = longer.list_words(i), shorter.list_words(j)
            if not less.items() <= more.items():
                trouble.append(f"node {i} does not say all of {less}")
            i, j = longer.find_origin(i), shorter.find_origin(j)
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


def _list_silent_attributes(case: ProgramRun, at: int) -> set[str]:
    """The attributes that the question asks or compares of what is described here, or says of it later."""
    found: set[str] = set()
    origin = case.nodes[case.find_origin(at)]
    if origin.op == "same":
        found.add(origin.params[0])
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
    if case.ops[case.find_origin(at)] == "union":  # its words are those of the sets it joins
        return
    things, value = case.world.objects, case.values[at]
    for attribute in case.schema.attributes:
        if attribute.name in silent or attribute.name in case.list_words(at):
            continue
        for term in attribute.terms:
            if not value & ~things.mask(attribute.name, term):
                longer = insert_chain(case.program, at, [("filter", (attribute.name, term))])
                if ProgramRun(longer, case.world).is_a_question():
                    yield f"node {at}: {attribute.name} {term} could be said"


def _check_empty_description(
    case: ProgramRun, at: int, plain: ProgramRun, beside: int, silent: set[str], reach: RelationScope
) -> Iterator[str]:
    """Whether a set of nothing is described otherwise than a set of something that is described as far.

    Such a set is what a thing that the base's description starts from is like in the attributes it names.
    """
    words, origin = plain.list_words(beside), plain.find_origin(beside)
    related = case.nodes[case.find_origin(at)] if case.ops[case.find_origin(at)] != plain.ops[origin] else None
    could_be_said = False
    for like in _list_stand_ins(plain, words, plain.values[origin]):
        new = _find_narrowest_words(case, like, silent | set(words))
        if case.list_words(at) == words | new:
            if related is None and not any(_list_unsaid_relations(case, at, like, reach)):
                return
            rows = related and case.world.rows(related.params[0])
            if related and rows and not like & ~rows[case.values[related.inputs[0]].bit_length() - 1]:
                return
        longer = insert_chain(case.program, at, [("filter", pair) for pair in new.items()])
        could_be_said = could_be_said or ProgramRun(longer, case.world).is_a_question()
    if could_be_said or related or case.list_words(at) != words:
        yield f"node {at}: nothing is described like no set of the scene"


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


def _find_narrowest_words(case: ProgramRun, these: int, besides: set[str]) -> dict[str, str]:
    """For each attribute the word of the fewest things, if any, that all of these fit."""
    found: dict[str, str] = {}
    for attribute in case.schema.attributes:
        sizes = dict(attribute.kinds)
        fits = [t for t in attribute.terms if not these & ~case.world.objects.mask(attribute.name, t)]
        if fits and attribute.name not in besides:
            found[attribute.name] = min(fits, key=lambda t: (len(sizes.get(t, (t,))), t))
    return found


def _list_unsaid_relations(case: ProgramRun, at: int, these: int, reach: RelationScope) -> Iterator[str]:
    """The relations that all of these stand in and that could be added to the set."""
    origin = case.find_origin(at)
    if case.ops[origin] != "scene" or case.count_hops(at) >= MOST_HOPS:
        return
    for relation in case.schema.relations:
        rows = case.world.rows(relation) or ()
        for i, row in enumerate(rows):
            full = _describe_fully(case, i)
            if reach.queried >> i & 1 or these & ~row or not full:
                continue
            chain = [("filter", pair) for pair in full] + [("unique", ()), ("relate", (relation,))]
            longer = ProgramRun(insert_chain(case.program, origin, chain), case.world)
            if longer.run.is_defined and longer.is_a_question() and not reach.words_tell(longer, i, origin, len(chain)):
                yield f"node {at}: {relation} of object {i} could be said"


def _check_anchor(case: ProgramRun, at: int, reach: RelationScope) -> Iterator[str]:
    """What is wrong with the thing that an added relation leads to."""
    thing = case.values[at].bit_length() - 1
    if reach.queried >> thing & 1 or reach.words_tell(case, thing):
        yield "a relation to something that the question asks about"
    if dict(_describe_fully(case, thing)) != case.list_words(at):
        yield "not described in full"
    if case.ops[case.find_origin(at)] != "scene" or case.count_hops(at) > MOST_HOPS:
        yield f"a relation of its own, or one of more than {MOST_HOPS}"
    if any(case.ops[k] == "same" for r in case.readers[at] for k in case.readers[r]):
        yield "being the same in something is not added"


def _describe_fully(case: ProgramRun, thing: int) -> tuple[tuple[str, str], ...]:
    pairs = [(a.name, case.world.objects.value(thing, a.name)) for a in case.schema.attributes]
    return tuple((name, value) for name, value in pairs if value is not None)
