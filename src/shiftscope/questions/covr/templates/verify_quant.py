"""Whether all, some or none of several are so: "None of the boys that are under a tree are wearing jeans.".

The predicate is the root's attribute or one of its relations, unless to a part; the rest describes
them. Each of them is known to be so, or to be something else that excludes it; there are at least two.
"""

from collections.abc import Callable, Iterator

from ....rng import PathDice
from ....scene_graph.subgraph import ObjectNode, SubgraphLink, has_part, root_attribute, split_branches
from ..context_images import SubgraphCase
from ..draft import ContextImages, CovrDraft, QuestionType, Slot, draft_question, pick_two_answers
from ..fluency import can_be_several, is_everyday, is_one_each
from ..phrases import phrase_clause, phrase_many, phrase_short, phrase_state
from ..wording import ask_does, ask_is, is_ambiguous

KIND: QuestionType = "true/false"
LEAST_NODES = 2
QUANTIFIERS = {"all": "all", "some": "some", "no": "none"}  # word → the op, which the text names too: None of the


def propose(case: SubgraphCase) -> Iterator[CovrDraft]:
    dice, subgraph, node = case.make_dice("verify_quant"), case.subgraph, root_attribute(case.subgraph)
    # The things, the nodes of the predicate, and the predicate as an attribute or as a relation.
    predicates: list[tuple[ObjectNode, tuple[int, ...], str, SubgraphLink | None]] = [
        (branch.rest, tuple(branch.nodes), "", branch.link)
        for branch in split_branches(subgraph)
        if not has_part(branch.link)
        and branch.link.thing.name != subgraph.name
        and not is_one_each(branch.link)
        and not is_everyday(branch.link)
    ]
    if node is not None and case.can_be_asked(subgraph.attribute):
        predicates.insert(0, (subgraph.drop_attribute(), (node,), subgraph.attribute, None))
    for scope, nodes, attribute, link in predicates:
        thing = case.spell_subgraph(scope)
        quantifier = dice.draw_one(tuple(QUANTIFIERS))
        drawn = _build_contexts(case, scope, nodes, attribute, quantifier, dice)
        contexts = pick_two_answers(drawn) if can_be_several(thing) else ()
        if not contexts:
            continue
        builder = case.make_program_builder()
        among, it = builder.find_described(scope), builder.put("it")
        if link is None:
            slots: dict[str, Slot] = {"attribute": case.spell_word(attribute)}
            predicate = phrase_state(case.spell_word(attribute), plural=True)
            body = builder.put("verify", it, words=(builder.get_attribute(attribute), attribute))
        else:
            (spelled,) = case.spell_subgraph(ObjectNode(scope.name, "", (link,))).relations
            slots, predicate = {"link": spelled}, phrase_clause(spelled, plural=True)
            body = builder.put("exist", builder.filter_related(it, link))
        builder.put(QUANTIFIERS[quantifier], among, body)
        text = f"{QUANTIFIERS[quantifier].capitalize()} of the {phrase_many(thing)} {predicate}."
        slots |= {"quantifier": quantifier, "thing": thing}
        yield draft_question(case, "verify_quant", text, builder, contexts, **slots)


def _build_contexts(
    case: SubgraphCase, scope: ObjectNode, nodes: tuple[int, ...], attribute: str, quantifier: str, dice: PathDice
) -> Iterator[ContextImages]:
    """Sets with so many images in which they are so, and so many in which they are not."""

    def is_clear(graph: int) -> bool:
        return case.has_no_lookalikes(scope, graph) and case.is_attribute_clear(scope, graph, attribute)

    every, whole = case.containing_images, case.subgraph
    true = [g for g in every if case.count_instances(scope, g) == case.count_instances(whole, g)]
    false = [one.graph for one in case.find_replacing_within(nodes) if case.count_instances(scope, one.graph) == 1]
    true, false = list(filter(is_clear, true)), list(filter(is_clear, false))
    outside = case.find_replacing_others(nodes)
    for some, others in dice.shuffle([(1, 1), (2, 0), (0, 2), (3, 0), (0, 3), (2, 1), (1, 2)]):
        if some > len(true) or others > len(false):
            continue
        chosen = [*dice.shuffle(true)[:some], *dice.shuffle(false)[:others]]
        graphs = case.add_distractors(chosen, outside, [scope], dice)
        so, there = case.count_total(whole, graphs), case.count_total(scope, graphs)
        if there > 1:
            answers = {"all": so == there, "some": so > 0, "no": so == 0}
            yield ContextImages(graphs, answers[quantifier])


def reword(draft: CovrDraft) -> list[str]:
    thing, link, attribute = draft.slot("thing"), draft.slot("link"), draft.slot("attribute")
    misread = link is not None and is_ambiguous(thing, link.relation)
    them = phrase_many(thing) if misread else phrase_short(thing, plural=True)
    say: Callable[..., str] = phrase_state if link is None else phrase_clause  # "is white", "are wearing a hat"
    ask: Callable[..., str] = ask_is if link is None else ask_does
    what = attribute if link is None else link
    each, they = say(what), say(what, plural=True)
    return {
        "all": [
            f"{ask(thing, what, plural=True, phrase=f'all of the {them}')}?",
            f"is it true that all of the {them} {they}?",
            f"each of the {them} {each}.",
        ],
        "some": [
            f"{ask(thing, what, plural=True, phrase=f'any of the {them}')}?",
            f"{ask(thing, what, plural=True, phrase=f'some of the {them}')}?",
            f"at least one of the {them} {each}.",
        ],
        "no": [
            f"none of the {them} {they}.",
            f"not one of the {them} {each}.",
            f"is it true that none of the {them} {they}?",
        ],
    }[draft.slot("quantifier")]
