"""To which of two things one is related: "Is the woman in a dress carrying a bottle or a purse?".

The root has a relation, neither to a part nor to clothes, to a thing that is not described further; or the
relation has a modifier: "Is the woman that is lighting a cigar lighting it using a candle or a lighter?". The
other name is that of a distractor in which something else is different as well; neither belongs to the other.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from ....english.inflection import lower_first
from ....english.nouns import (
    INSTRUMENTS,
    are_part_and_whole,
    classify_garment,
    is_alive,
    is_location,
    is_mass_noun,
    is_person,
    is_plural_noun,
    is_worn,
)
from ....rng import PathDice
from ....scene_graph import subgraph as subgraphs
from ....scene_graph.subgraph import ObjectNode, Subgraph, SubgraphBranch, SubgraphLink
from .. import wording
from ..alternatives import ALIKE, ALIKE_MODIFIERS, are_alternatives, are_both_on_ground, share_kind
from ..context_images import SubgraphCase
from ..draft import CovrDraft, QuestionType, draft_question, find_choice
from ..fluency import BETWEEN, is_ground
from ..phrases import is_mass, require_predicate
from ..program import name_modified_relation

KIND: QuestionType = "or"
LEAST_NODES = 3


def propose(case: SubgraphCase) -> Iterator[CovrDraft]:
    dice = case.make_dice("choose_object")
    for branch in subgraphs.split_branches(case.subgraph):
        if subgraphs.is_to_plain_thing(branch.link) and not subgraphs.is_relation_mentioned(branch.rest, branch.link):
            predicate = require_predicate(case.spell_word(branch.link.relation))
            if is_mass(case.spell_subgraph(branch.rest)) and not case.schema.closed:  # does the snow cover
                continue
            if is_ground(case.spell_word(case.subgraph.name), predicate) or predicate.rest in BETWEEN:
                continue
            yield from _propose_drafts(case, branch, branch.link.relation, dice)
    for branch in subgraphs.split_modifiers(case.subgraph):
        (modifier,) = branch.link.modifiers
        if modifier.thing.size == 1 and not _is_ambiguous(case, branch.link):
            yield from _propose_drafts(case, branch, name_modified_relation(branch.link, modifier), dice)


def _propose_drafts(case: SubgraphCase, branch: SubgraphBranch, relation: str, dice: PathDice) -> Iterator[CovrDraft]:
    thing, own = branch.rest, case.nodes[branch.thing].name
    predicate = require_predicate(case.spell_word(branch.link.relation))

    tests = ALIKE_MODIFIERS if branch.link.modifiers else ALIKE

    def fits(name: str) -> bool:
        if are_part_and_whole(own, name) or (branch.link.modifiers and name == branch.link.thing.name):
            return False
        if not are_alternatives(own, name, tests):  # holding a frisbee or hands, in the water or in a zoo
            return False
        if not (case.schema.closed or branch.link.modifiers or share_kind(own, name)):  # on a couch or a skateboard
            return False
        if (is_alive(own), is_person(own)) != (is_alive(name), is_person(name)):  # next to an elephant or a man
            return False
        if not predicate.is_place and is_mass_noun(own) != is_mass_noun(name):  # holding paper or a bat
            return False
        if not branch.link.modifiers and is_plural_noun(own) != is_plural_noun(name):
            return False  # on skateboards or on a bike
        if not branch.link.modifiers and is_worn(own) and classify_garment(own) != classify_garment(name):
            return False  # in a jacket or a dress
        if predicate.is_place and not are_both_on_ground(own, name):
            return False  # on a skateboard or on a street, on the side of a building or a road
        if predicate.rest == "playing" and (own in INSTRUMENTS) != (name in INSTRUMENTS):  # the piano or tennis
            return False
        if predicate.rest.rpartition(" ")[2] in ("in", "inside") and is_location(own) != is_location(name):
            return False  # in a flower pot or a bathroom
        if not branch.link.modifiers and not case.is_seen(thing.name, branch.link.relation, name):
            return False  # fog on mountains or on a wall
        return case.is_askable(case.subgraph.replace_nodes({branch.thing: name}))

    other, contexts = find_choice(case, thing, branch.thing, branch.nodes, dice, fits, case.is_only_name)
    if not contexts:
        return
    this, that = dice.shuffle([own, other])
    builder = case.make_program_builder()
    either = builder.put("union", builder.find_named(this), builder.find_named(that))
    reached = builder.put("related", builder.find_unique(thing), words=(relation, "object"))
    one = builder.put("unique", builder.put("intersect", either, reached))
    builder.put("choose", one, words=(builder.noun, this, that))
    link = branch.link  # with the first of the two at its end: its modifier's, where it has one
    if link.modifiers:
        link = replace(link, modifiers=(replace(link.modifiers[0], thing=ObjectNode(this)),))
    else:
        link = replace(link, thing=ObjectNode(this))
    spelled, word = case.spell_subgraph(thing), case.spell_word(that)
    (link,) = case.spell_subgraph(ObjectNode(thing.name, "", (link,))).relations
    apart = not link.modifiers and wording.is_ambiguous(spelled, link.relation)
    text = wording.ask_about(spelled, partial(_ask, spelled, link, word), apart)
    yield draft_question(case, "choose_object", text, builder, contexts, thing=spelled, link=link, other=word)


def _ask(thing: Subgraph, link: SubgraphLink, other: str, it: str, plural: bool) -> str:
    ask = wording.ask_either_modifier if link.modifiers else wording.ask_either_object
    return ask(thing, link, other, plural, it)


def _is_ambiguous(case: SubgraphCase, link: SubgraphLink) -> bool:
    """Whether "opening it with" could be misread, or one of two such modifiers would give an answer away."""
    (modifier,) = link.modifiers
    names = [node.name for node in case.nodes]
    relations = [one.relation for one in case.subgraph.relations]
    twice = names.count(modifier.name) > 1 or relations.count(link.relation) > 1
    return twice or modifier.thing.name == link.thing.name


def reword(draft: CovrDraft) -> list[str]:
    thing, link, other = draft.slot("thing"), draft.slot("link"), draft.slot("other")
    if link.modifiers:
        question = wording.ask_either_modifier(thing, link, other)
        return [
            f"which is it: {lower_first(question)}?",
            *wording.ask_after_naming(thing, partial(_ask, thing, link, other)),
        ]
    the = wording.phrase_clearly(thing, link.relation)
    return [
        f"{wording.ask_either_object(thing, link, other, phrase=the)}?",
        *wording.ask_after_naming(thing, partial(_ask, thing, link, other)),
        f"{wording.ask_what(thing, link.relation, phrase=the)}: {wording.phrase_two_objects(thing, link, other)}?",
    ]
