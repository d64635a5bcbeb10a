"""Whether all, some or none of several are so: "No boys that are under a tree are wearing jeans.".

What is said of them is the root's attribute or one of its relations, unless to a part; the rest describes
them. Each of them is known to be so, or to be something else that excludes it; there are at least two.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ....english.adjectives import is_predicative
from ....english.nouns import is_countable
from ....lang.program import Program
from ....scene_graph.subgraph import ObjectNode, SubgraphLink, has_part, root_attribute, split_branches
from ...random_choices import PathDice
from ..context_images import SubgraphCase
from ..draft import ContextImages, CovrDraft, QuestionType, Slots, pick_two_answers
from ..phrases import phrase_clause, phrase_many, phrase_short, phrase_state
from ..wording import ask_does, ask_is, is_ambiguous

KIND: QuestionType = "true/false"
QUANTIFIERS = {"all": "all", "some": "some", "no": "none"}  # as said → the op


class QuantifiedPredicate(NamedTuple):
    """What is said of the things: an attribute or a relation."""

    scope: ObjectNode
    nodes: tuple[int, ...]
    attribute: str = ""
    link: SubgraphLink | None = None


def propose(case: SubgraphCase) -> Iterator[CovrDraft]:
    dice = case.make_dice("verify_quant")
    for predicate in _list_predicates(case):
        scope = case.spell_subgraph(predicate.scope)
        quantifier = dice.draw_one(tuple(QUANTIFIERS))
        contexts = (
            pick_two_answers(_build_contexts(case, predicate, quantifier, dice)) if is_countable(scope.name) else ()
        )
        if not contexts:
            continue
        filled, words = _phrase_predicate(case, predicate)
        yield CovrDraft(
            template="verify_quant",
            text=f"{quantifier.capitalize()} {phrase_many(scope)} {words}.",
            program=_build_program(case, predicate, quantifier),
            slots=(("quantifier", quantifier), ("thing", scope), *filled),
            about=(case.subgraph,),
            contexts=contexts,
        )


def _build_program(case: SubgraphCase, predicate: QuantifiedPredicate, quantifier: str) -> Program:
    builder = case.make_program_builder()
    among = builder.find_described(predicate.scope)
    it = builder.put("it")
    if predicate.link is None:
        body = builder.put("verify", it, words=(builder.get_attribute(predicate.attribute), predicate.attribute))
    else:
        body = builder.put("exist", builder.filter_related(it, predicate.link))
    builder.put(QUANTIFIERS[quantifier], among, body)
    return builder.build()


def _list_predicates(case: SubgraphCase) -> Iterator[QuantifiedPredicate]:
    subgraph = case.subgraph
    node = root_attribute(subgraph)
    if node is not None and is_predicative(case.spell_word(subgraph.attribute)):
        yield QuantifiedPredicate(subgraph.drop_attribute(), (node,), subgraph.attribute)
    for branch in split_branches(subgraph):
        if has_part(branch.link):
            continue
        yield QuantifiedPredicate(branch.rest, tuple(branch.nodes), "", branch.link)


def _phrase_predicate(case: SubgraphCase, predicate: QuantifiedPredicate) -> tuple[Slots, str]:
    if predicate.link is None:
        word = case.spell_word(predicate.attribute)
        return (("attribute", word),), phrase_state(word, plural=True)
    (link,) = case.spell_subgraph(ObjectNode(predicate.scope.name, "", (predicate.link,))).relations
    return (("link", link),), phrase_clause(link, plural=True)


def _build_contexts(
    case: SubgraphCase, predicate: QuantifiedPredicate, quantifier: str, dice: PathDice
) -> Iterator[ContextImages]:
    """Sets with so many images in which they are so, and so many in which they are not."""
    scope = predicate.scope
    true = [
        g for g in case.containing_images if case.count_instances(scope, g) == case.count_instances(case.subgraph, g)
    ]
    false = [
        one.graph for one in case.find_replacing_within(predicate.nodes) if case.count_instances(scope, one.graph) == 1
    ]
    true, false = (
        [
            g
            for g in graphs
            if case.has_no_lookalikes(scope, g) and case.is_attribute_clear(scope, g, predicate.attribute)
        ]
        for graphs in (true, false)
    )
    outside = case.find_replacing_others(predicate.nodes)
    for some, others in dice.shuffle([(1, 1), (2, 0), (0, 2), (3, 0), (0, 3), (2, 1), (1, 2)]):
        if some > len(true) or others > len(false):
            continue
        chosen = [*dice.shuffle(true)[:some], *dice.shuffle(false)[:others]]
        graphs = case.add_distractors(chosen, outside, [scope], dice)
        so, there = case.count_total(case.subgraph, graphs), case.count_total(scope, graphs)
        if there > 1:
            answers = {"all": so == there, "some": so > 0, "no": so == 0}
            yield ContextImages(graphs, answers[quantifier])


def reword(draft: CovrDraft) -> list[str]:
    thing, link = draft.slot("thing"), draft.slot("link")
    misread = link is not None and is_ambiguous(thing, link.relation)
    them = phrase_many(thing) if misread else phrase_short(thing, plural=True)
    each, they = _phrase_quantified(draft, plural=False), _phrase_quantified(draft, plural=True)
    return {
        "all": [
            f"{_ask_quantified(draft, f'all of the {them}')}?",
            f"is it true that all of the {them} {they}?",
            f"each of the {them} {each}.",
        ],
        "some": [
            f"{_ask_quantified(draft, f'any of the {them}')}?",
            f"{_ask_quantified(draft, f'some of the {them}')}?",
            f"at least one of the {them} {each}.",
        ],
        "no": [
            f"none of the {them} {they}.",
            f"not one of the {them} {each}.",
            f"is it true that none of the {them} {they}?",
        ],
    }[draft.slot("quantifier")]


def _phrase_quantified(draft: CovrDraft, plural: bool) -> str:
    """What a quantifier's question says of them: "is white", "are wearing a hat"."""
    link: SubgraphLink | None = draft.slot("link")
    return phrase_state(draft.slot("attribute"), plural) if link is None else phrase_clause(link, plural)


def _ask_quantified(draft: CovrDraft, them: str) -> str:
    link: SubgraphLink | None = draft.slot("link")
    if link is None:
        return ask_is(draft.slot("thing"), draft.slot("attribute"), plural=True, phrase=them)
    return ask_does(draft.slot("thing"), link, plural=True, phrase=them)
