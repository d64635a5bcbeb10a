"""Which color, material, … a thing has: "What is the color of the cat that is on a black floor?".

The root has an attribute of a kind that a thing has one value of; distractors differ in it and in something else.
"""

from collections.abc import Iterator

from ....english.nouns import is_plural_noun
from ....english.relations import be_form, do_form
from ....scene_graph.subgraph import root_attribute
from ..context_images import SubgraphCase
from ..draft import CovrDraft, QuestionType, draft_question, find_references
from ..phrases import phrase_one, phrase_short
from ..wording import MEASURES, ask_after_naming, be_form_of

KIND: QuestionType = "open"
LEAST_NODES = 3


def propose(case: SubgraphCase) -> Iterator[CovrDraft]:
    node, family = root_attribute(case.subgraph), case.queryable_attribute
    if node is None or not family:
        return
    thing = case.subgraph.drop_attribute()
    contexts = tuple(
        one
        for one in find_references(case, thing, node, (node,), case.make_dice("query_attr"))
        if [case.get_value(k, family) for k in case.find_things(thing, one.graphs[0])] == [one.answer]
    )
    if not contexts:
        return
    builder = case.make_program_builder()
    builder.put("query", builder.find_unique(thing), words=(family,))
    spelled = case.spell_subgraph(thing)
    text = f"What is the {family} of {phrase_one(spelled)}?"
    yield draft_question(case, "query_attr", text, builder, contexts, thing=spelled, family=family)


def reword(draft: CovrDraft) -> list[str]:
    thing, family = draft.slot("thing"), draft.slot("family")
    the, verb, do = phrase_short(thing), be_form_of(thing), do_form(is_plural_noun(thing.name))
    made = f"what {verb} {the} made of?", f"what material {verb} {the} made of?"
    if family == "material":
        return [*made, *ask_after_naming(thing, lambda it, plural: f"what {be_form(plural)} {it} made of")]
    if family in MEASURES:
        return [
            f"what {family} {verb} {the}?",
            f"which {family} {do} {the} have?",
            *ask_after_naming(thing, lambda it, plural: f"what {family} {be_form(plural)} {it}"),
        ]
    return [f"which {family} {do} {the} have?", f"what {family} can be seen on {the}?"]
