"""Which of two attributes a thing has: "Is the man that is wearing a jersey running or looking up?".

The root has an attribute; the other one comes from a distractor in which something else is different as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....english.adjectives import is_predicative
from ....scene_graph.subgraph import root_attribute
from ..context_images import SubgraphCase
from ..draft import ContextImages, CovrDraft, QuestionType, find_choice
from ..phrases import phrase_attribute, phrase_short
from ..wording import ask_is, ask_with_pronoun

KIND: QuestionType = "or"


def propose(case: SubgraphCase) -> Iterator[CovrDraft]:
    value, node = case.subgraph.attribute, root_attribute(case.subgraph)
    if node is None or not is_predicative(case.spell_word(value)):
        return
    dice = case.make_dice("choose_attr")
    thing = case.subgraph.drop_attribute()
    found = find_choice(case, thing, node, (node,), dice, lambda other: is_predicative(case.spell_word(other)))
    sets = [one for one in found.sets if case.is_attribute_clear(thing, one.graphs[0], value)] if found else []
    if found is None or not sets:
        return
    this, that = dice.shuffle([value, found.other])
    builder = case.make_program_builder()
    builder.put("choose", builder.find_unique(thing), words=(builder.get_attribute(this), this, that))
    spelled = case.spell_subgraph(thing)
    second = phrase_attribute(case.spell_word(that))
    yield CovrDraft(
        template="choose_attr",
        text=f"{ask_is(spelled, case.spell_word(this))} or {second}?",
        program=builder.build(),
        slots=(("thing", spelled), ("this", case.spell_word(this)), ("that", case.spell_word(that))),
        about=(case.subgraph,),
        contexts=tuple(ContextImages(one.graphs, one.value) for one in sets),
    )


def reword(draft: CovrDraft) -> list[str]:
    thing, this, that = draft.slot("thing"), draft.slot("this"), draft.slot("that")
    question, second = ask_is(thing, this, phrase=phrase_short(thing)), phrase_attribute(that)
    return [
        f"{question} or {second}?",
        f"{question}, or {ask_with_pronoun(thing, lambda it, plural: ask_is(thing, that, plural, it))}?",
        f"which of these describes {phrase_short(thing)}: {phrase_attribute(this)} or {second}?",
    ]
