"""Whether several are alike: "Are all of the dogs that are on a bed the same color?".

The root has an attribute of a kind that a thing has one value of; of each of them that value is known, and
there are at least two.
"""

from collections.abc import Iterator

from ....rng import PathDice
from ....scene_graph.subgraph import ObjectNode, root_attribute
from ..context_images import SubgraphCase
from ..draft import ContextImages, CovrDraft, QuestionType, draft_question, pick_two_answers
from ..fluency import can_be_counted
from ..phrases import phrase_many, phrase_short
from ..wording import phrase_same

KIND: QuestionType = "true/false"
LEAST_NODES = 2


def propose(case: SubgraphCase) -> Iterator[CovrDraft]:
    node, family = root_attribute(case.subgraph), case.queryable_attribute
    thing = case.subgraph.drop_attribute()
    spelled = case.spell_subgraph(thing)
    if node is None or not family or not can_be_counted(spelled):
        return
    if family == "material" and spelled.relations:  # behind a bus made of the same material
        return
    contexts = pick_two_answers(_build_contexts(case, thing, node, family, case.make_dice("verify_quant_attr")))
    if not contexts:
        return
    builder = case.make_program_builder()
    found = builder.find_described(thing)
    builder.put("alike", found, found, words=(family,))
    them = f"all of the {phrase_many(spelled)}"
    text = f"Are {them} {same}?" if (same := phrase_same(family)) else f"Do {them} have the same {family}?"
    yield draft_question(case, "verify_quant_attr", text, builder, contexts, thing=spelled, family=family)


def _build_contexts(
    case: SubgraphCase, thing: ObjectNode, node: int, family: str, dice: PathDice
) -> Iterator[ContextImages]:
    own = [g for g in case.containing_images if all(_list_values(case, thing, g, family))]
    other = [one.graph for one in case.find_replacing_only(node) if all(_list_values(case, thing, one.graph, family))]
    for some, others in dice.shuffle([(1, 1), (2, 0), (2, 1), (1, 2), (3, 0)]):
        if some > len(own) or others > len(other):
            continue
        chosen = [*dice.shuffle(own)[:some], *dice.shuffle(other)[:others]]
        graphs = case.add_distractors(chosen, case.find_replacing_others((node,)), [thing], dice)
        values = [value for graph in graphs for value in _list_values(case, thing, graph, family)]
        if len(values) > 1:
            yield ContextImages(graphs, len(set(values)) == 1)


def _list_values(case: SubgraphCase, thing: ObjectNode, graph: int, family: str) -> list[str]:
    """The value of each, or "" where it is not known, or one of them may be called otherwise."""
    if not case.has_no_lookalikes(thing, graph):
        return [""]
    return [case.get_value(one, family) for one in case.find_things(thing, graph)]


def reword(draft: CovrDraft) -> list[str]:
    family, them = draft.slot("family"), phrase_short(draft.slot("thing"), plural=True)
    ways = [f"do all of the {them} share the same {family}?", f"is the {family} of all the {them} the same?"]
    return [f"are all of the {them} {same}?", *ways] if (same := phrase_same(family)) else ways
