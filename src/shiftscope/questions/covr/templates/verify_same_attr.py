"""Whether two things are alike: "Is the pillow on a bed the same color as the pillow on a couch?".

The root has an attribute of a kind that a thing has one value of; the second thing is described by what a
distractor holds instead, and is called the same or is of the same kind. Each description fits one thing in all images.
"""

from collections.abc import Iterator
from itertools import product

from ....english.nouns import THE, are_other_words, are_part_and_whole, is_alive, is_person, is_plural_noun
from ....english.relations import do_form
from ....rng import PathDice
from ....scene_graph.related_images import Distractor
from ....scene_graph.subgraph import ObjectNode, root_attribute
from ....schema import Schema
from ..context_images import SubgraphCase, list_kinds
from ..draft import ContextImages, CovrDraft, QuestionType, draft_question, pick_two_answers
from ..phrases import phrase_one, phrase_short
from ..wording import be_form_of, phrase_same

KIND: QuestionType = "true/false"
LEAST_NODES = 3
LONGEST = 4  # nodes of the shorter description: no "behind a bus in front of a van the same size as …"


def propose(case: SubgraphCase) -> Iterator[CovrDraft]:
    node, family = root_attribute(case.subgraph), case.queryable_attribute
    if node is None or not family or case.subgraph.name in THE:  # the sky is one
        return
    dice = case.make_dice("verify_same_attr")
    thing = case.subgraph.drop_attribute()
    for second in dice.shuffle([*case.find_replacing_others((node,)), *case.find_replacing_also(node, (node,))]):
        other = second.subgraph.drop_attribute()
        if _are_comparable(case.schema, thing, other) and case.is_askable(other):
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
    text = f"{_ask(phrase_one(first), phrase_one(last), first, family)}?"
    yield draft_question(
        case, "verify_same_attr", text, builder, contexts, (second.subgraph,), thing=first, other=last, family=family
    )


def _ask(one: str, other: str, thing: ObjectNode, family: str) -> str:
    """Is the one the same color as the other; where English has no such phrase, has it the same flavor.

    Nor is it "behind a bus made of the same material".
    """
    if family == "material" and thing.relations:
        return f"Is the {family} of {one} the same as that of {other}"
    if same := phrase_same(family):
        return f"{be_form_of(thing).capitalize()} {one} {same} as {other}"
    return f"{do_form(is_plural_noun(thing.name)).capitalize()} {one} have the same {family} as {other}"


def _are_comparable(schema: Schema, thing: ObjectNode, other: ObjectNode) -> bool:
    """Whether one would ask about both together: two dogs, a dog and a cat; not a sink and a letter, nor a person.

    Nor "the bag next to a man" and "the hat next to a man": one man or two?
    """
    if min(thing.size, other.size) > LONGEST:
        return False
    if schema.closed:
        return True
    beside, beside_too = ({link.thing.name for link in one.relations} for one in (thing, other))
    if is_person(other.name) or any(map(is_alive, beside & beside_too)):
        return False
    both = [(one, another) for one in beside for another in beside_too]
    if any(are_part_and_whole(*two) or (are_other_words(*two) and two[0] != two[1]) for two in both):
        return False  # on a table, on a table cloth, on a desk
    if beside and beside == beside_too:
        return False  # on a window, over a window; the sheets on a bed, the comforter on a bed: one bed or two?
    return thing.name == other.name or not list_kinds(schema, thing.name).isdisjoint(list_kinds(schema, other.name))


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
    return [f"{_ask(first, second, thing, family)}?", *ways]
