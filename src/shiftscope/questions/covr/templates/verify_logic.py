"""Whether there are both, or either, of two: "Are there both people packing tea and people packing salt?".

The other is what a distractor holds instead of the subgraph.
"""

from collections.abc import Iterator
from operator import or_

from ....english.nouns import THE, is_plural_noun
from ....rng import PathDice
from ....scene_graph.subgraph import Subgraph
from ..context_images import MOST_IMAGES, RivalSubgraph, SubgraphCase
from ..draft import ContextImages, CovrDraft, QuestionType, draft_question, pick_two_answers
from ..fluency import can_be_counted, is_one_each
from ..phrases import get_postposed_attribute, is_mass, phrase_many, phrase_one, phrase_short
from ..wording import be_form_of

KIND: QuestionType = "true/false"
LEAST_NODES = 3
LOGIC = {"both": "and", "either": "or"}  # word → the op, and the word between


def propose(case: SubgraphCase) -> Iterator[CovrDraft]:
    rival = case.rival
    if rival is None:
        return
    dice = case.make_dice("verify_logic")
    logic = dice.draw_one(tuple(LOGIC))
    thing, other = case.spell_subgraph(case.subgraph), case.spell_subgraph(rival.subgraph)
    text = _phrase_two(logic, thing, other)
    contexts = pick_two_answers(_build_contexts(case, rival, logic, dice)) if text else ()
    if not contexts:
        return
    builder = case.make_program_builder()
    left = builder.put("exist", builder.find_described(case.subgraph))
    builder.put(LOGIC[logic], left, builder.put("exist", builder.find_described(rival.subgraph)))
    yield draft_question(
        case, "verify_logic", text, builder, contexts, (rival.subgraph,), thing=thing, other=other, logic=logic
    )


def _phrase_two(logic: str, *two: Subgraph) -> str:
    """Both: several and several, or some and some; either: of one "a" is enough. "" where they do not go together.

    Nor do they where the first goes on: "both jets behind a bus and a sedan and bikes behind it".
    """
    if two[0].depth > 1 or len(two[0].relations) + bool(get_postposed_attribute(two[0])) > 1:
        return ""
    some = [is_mass(one) and one.name not in THE for one in two]  # water, but not the rain
    if logic == "both" and any(is_one_each(link) for one in two for link in one.relations):  # people on a surfboard
        return ""
    plural = [can_be_counted(one) or is_plural_noun(one.name) for one in two]
    if logic == "both":
        verb = "Is" if all(some) else "Are" if all(plural) else ""
        return f"{verb} there both {' and '.join(map(phrase_many, two))}?" if verb else ""
    if not all(map(or_, plural, some)) or is_plural_noun(two[0].name) != is_plural_noun(two[1].name):
        return ""  # a man or boys
    verb = "Are" if is_plural_noun(two[0].name) else "Is"
    return f"{verb} there either {phrase_one(two[0], 'a')} or {phrase_one(two[1], 'a')}?"


def _build_contexts(case: SubgraphCase, rival: RivalSubgraph, logic: str, dice: PathDice) -> Iterator[ContextImages]:
    both = case.subgraph, rival.subgraph
    for some, others in dice.shuffle([(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (2, 2)]):
        chosen = [*dice.shuffle(case.containing_images)[:some], *dice.shuffle(rival.graphs)[:others]]
        graphs = case.add_distractors(tuple(dict.fromkeys(chosen))[:MOST_IMAGES], case.distractors, both, dice)
        there = [case.count_total(each, graphs) > 0 for each in both]
        sure = all(
            any_ or all(case.has_no_lookalikes(each, g) for g in graphs) for each, any_ in zip(both, there, strict=True)
        )
        if len(graphs) > 1 and sure:
            yield ContextImages(graphs, all(there) if logic == "both" else any(there))


def reword(draft: CovrDraft) -> list[str]:
    thing = draft.slot("thing")
    first, second = phrase_short(thing, "a"), phrase_short(draft.slot("other"), "a")
    if draft.slot("logic") == "both":
        return [
            f"{be_form_of(thing)} there {first} and also {second}?",
            f"can you see both {first} and {second}?",
            f"do the images show {first} as well as {second}?",
        ]
    return [
        f"{be_form_of(thing)} there {first} or {second}?",
        f"can you see either {first} or {second}?",
        f"do the images show at least one of these: {first} or {second}?",
    ]
