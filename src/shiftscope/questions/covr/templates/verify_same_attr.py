"""Whether two things are alike: "Do the pillow on a bed and the pillow on a couch have the same color?".

The root has an attribute of a kind that a thing has one value of; the second thing is described by what a
distractor holds instead, and is called the same or is of the same kind. Each description fits one thing in all images.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from ....english.nouns import is_person
from ....rng import PathDice
from ....scene_graph.related_images import Distractor
from ....scene_graph.subgraph import ObjectNode, root_attribute
from ....schema import Schema
from ..context_images import SubgraphCase
from ..draft import ContextImages, CovrDraft, QuestionType, draft_question, pick_two_answers
from ..phrases import is_sayable, phrase_one, phrase_short
from ..wording import be_form_of, phrase_same

KIND: QuestionType = "true/false"
LEAST_NODES = 3


def propose(case: SubgraphCase) -> Iterator[CovrDraft]:
    node, family = root_attribute(case.subgraph), case.queryable_attribute
    if node is None or not family:
        return
    dice = case.make_dice("verify_same_attr")
    thing = case.subgraph.drop_attribute()
    for second in dice.shuffle([*case.find_replacing_others((node,)), *case.find_replacing_also(node, (node,))]):
        other = second.subgraph.drop_attribute()
        if is_sayable(case.spell_subgraph(other)) and _are_comparable(case.schema, thing.name, other.name):
            break
    else:
        return
    contexts = pick_two_answers(_build_contexts(case, thing, other, (second, node), family, dice))
    if not contexts:
        return
    builder = case.make_program_builder()
    left = builder.put("query", builder.find_unique(thing), words=(family,))
    builder.put("equal", left, builder.put("query", builder.find_unique(other), words=(family,)))
    first, last = case.spell_subgraph(thing), case.spell_subgraph(other)
    text = f"Do {phrase_one(first)} and {phrase_one(last)} have the same {family}?"
    yield draft_question(
        case, "verify_same_attr", text, builder, contexts, (second.subgraph,), thing=first, other=last, family=family
    )


def _are_comparable(schema: Schema, name: str, other: str) -> bool:
    """Whether one would ask about both together: two dogs, a dog and a cat; not a sink and a letter, nor a person."""
    if is_person(other):
        return False
    return schema.closed or name == other or not _list_kinds(schema, name).isdisjoint(_list_kinds(schema, other))


@lru_cache(maxsize=4096)
def _list_kinds(schema: Schema, name: str) -> frozenset[str]:
    return frozenset(schema.kinds_of("name", name))


def _build_contexts(
    case: SubgraphCase, thing: ObjectNode, other: ObjectNode, where: tuple[Distractor, int], family: str, dice: PathDice
) -> Iterator[ContextImages]:
    near, node = where
    own = [*case.containing_images, *(one.graph for one in case.find_replacing_only(node))]
    firsts = [(g, v) for g in own if (v := _get_unique_value(case, thing, other, g, family))]
    held = (near.graph, *case.find_holding(other, near.distance))
    lasts = [(g, v) for g in held if (v := _get_unique_value(case, other, thing, g, family))]
    for alike in dice.shuffle([True, False]):
        for first, last in dice.shuffle(list(product(firsts, lasts))):
            if (first[1] == last[1]) == alike:
                graphs = case.add_distractors([first[0], last[0]], case.distractors, [thing, other], dice)
                yield ContextImages(graphs, alike)
                break


def _get_unique_value(case: SubgraphCase, thing: ObjectNode, absent: ObjectNode, graph: int, family: str) -> str:
    """The value of the one thing described in an image; "" where there is no such one."""
    found = case.find_things(thing, graph)
    alone = case.is_unique_in(thing, graph) and not case.count_instances(absent, graph)
    return case.get_value(found[0], family) if alone and case.has_no_lookalikes(absent, graph) else ""


def reword(draft: CovrDraft) -> list[str]:
    thing, family = draft.slot("thing"), draft.slot("family")
    first, second = phrase_short(thing), phrase_short(draft.slot("other"))
    ways = [
        f"do {first} and {second} share the same {family}?",
        f"is the {family} of {first} the same as that of {second}?",
    ]
    return [f"{be_form_of(thing)} {first} {same} as {second}?", *ways] if (same := phrase_same(family)) else ways
