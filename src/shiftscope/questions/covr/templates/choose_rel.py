"""In which of two relations one is to a thing: "Is the sitting man holding a hat or wearing it?".

The root has a relation, the only one to that thing; the other one comes from a distractor in which something else is
different as well.
"""

from collections.abc import Iterator
from functools import partial

from ....english.inflection import lower_first
from ....english.nouns import are_part_and_whole, is_plural_noun
from ....scene_graph.subgraph import ObjectNode, Subgraph, SubgraphLink, split_branches
from ..context_images import SubgraphCase
from ..draft import CovrDraft, QuestionType, draft_question, find_choice
from ..fluency import is_ground, is_one_each
from ..phrases import require_predicate
from ..wording import (
    are_comparable,
    ask_about,
    ask_after_naming,
    ask_either_relation,
    has_alternatives,
    is_ambiguous,
    phrase_clearly,
)

KIND: QuestionType = "or"
LEAST_NODES = 3


def propose(case: SubgraphCase) -> Iterator[CovrDraft]:
    dice = case.make_dice("choose_rel")
    for branch in split_branches(case.subgraph):
        link, thing = branch.link, branch.rest
        if link.modifiers or any(k.thing.name == link.thing.name for k in thing.relations):
            continue
        if are_part_and_whole(thing.name, link.thing.name):  # a roof on a building or behind it
            continue
        if is_ground(case.spell_word(thing.name), require_predicate(case.spell_word(link.relation))):
            continue
        (told,) = case.spell_subgraph(ObjectNode(thing.name, "", (link,))).relations
        if not has_alternatives(told) or (is_plural_noun(case.spell_word(thing.name)) and is_one_each(told)):
            continue  # people on a surfboard or carrying it
        fits = partial(_is_comparable, case, link, branch.relation)
        is_clear = partial(_is_only_relation, case, thing, link.thing)
        other, contexts = find_choice(case, thing, branch.relation, branch.nodes, dice, fits, is_clear)
        if not contexts:
            continue
        that, this = dice.shuffle([link.relation, other])
        builder = case.make_program_builder()
        one, others = builder.find_unique(thing), builder.find_described(link.thing)
        builder.put("choose_relation", one, others, words=(this, that, "object"))
        spelled, word = case.spell_subgraph(thing), case.spell_word(that)
        (first,) = case.spell_subgraph(ObjectNode(thing.name, "", (SubgraphLink(this, link.thing),))).relations
        apart = is_ambiguous(spelled, first.relation) or is_ambiguous(spelled, word)
        text = ask_about(spelled, partial(_ask, spelled, first, word), apart)
        yield draft_question(case, "choose_rel", text, builder, contexts, thing=spelled, link=first, other=word)


def _is_only_relation(case: SubgraphCase, thing: Subgraph, other: Subgraph, graph: int, _: str) -> bool:
    return case.is_only_relation(thing, other, graph)


def _is_comparable(case: SubgraphCase, link: SubgraphLink, node: int, other: str) -> bool:
    if not case.is_seen(case.subgraph.name, other, link.thing.name) or not case.exclude_each_other(node, other):
        return False  # who swings a racket holds it
    if not case.is_askable(case.subgraph.replace_nodes({node: other})):
        return False
    (spelled,) = case.spell_subgraph(ObjectNode(link.thing.name, "", (link,))).relations
    return are_comparable(spelled, case.spell_word(other), case.spell_word(case.subgraph.name))


def _ask(thing: Subgraph, link: SubgraphLink, other: str, it: str, plural: bool) -> str:
    return ask_either_relation(thing, link, other, plural, it)


def reword(draft: CovrDraft) -> list[str]:
    thing, link, other = draft.slot("thing"), draft.slot("link"), draft.slot("other")
    question = ask_either_relation(thing, link, other, phrase=phrase_clearly(thing, link.relation))
    return [
        f"{question}?",
        f"which is it: {lower_first(question)}?",
        *ask_after_naming(thing, partial(_ask, thing, link, other)),
    ]
