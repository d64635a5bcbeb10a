"""Whether a thing has an attribute: "Is the sink that is below a towel white?".

The root has an attribute. What is described without it is in one image alone; in the others the attribute and
something else are different, so that neither "white" nor "sink" by itself gives the answer away.
"""

from collections.abc import Iterator

from ....english.nouns import is_plural_noun
from ....scene_graph.subgraph import root_attribute
from ..context_images import SubgraphCase
from ..draft import ContextImages, CovrDraft, QuestionType, draft_question, find_references
from ..phrases import phrase_short, phrase_state
from ..wording import ask_about, ask_after_naming, ask_is, is_read_on

KIND: QuestionType = "true/false"
LEAST_NODES = 3


def propose(case: SubgraphCase) -> Iterator[CovrDraft]:
    value, node = case.subgraph.attribute, root_attribute(case.subgraph)
    if node is None or not case.can_be_asked(value):
        return
    thing = case.subgraph.drop_attribute()
    sets = find_references(case, thing, node, (node,), case.make_dice("verify_attr"))
    found = [one for one in sets if case.is_attribute_clear(thing, one.graphs[0], value)]
    if not found:
        return
    builder = case.make_program_builder()
    builder.put("verify", builder.find_unique(thing), words=(builder.get_attribute(value), value))
    spelled, word = case.spell_subgraph(thing), case.spell_word(value)
    text = ask_about(spelled, lambda it, plural: ask_is(spelled, word, plural, it), is_read_on(spelled, word))
    contexts = [ContextImages(one.graphs, one.answer == value) for one in found]
    yield draft_question(case, "verify_attr", text, builder, contexts, thing=spelled, attribute=word)


def reword(draft: CovrDraft) -> list[str]:
    thing, attribute = draft.slot("thing"), draft.slot("attribute")
    the, state = phrase_short(thing), phrase_state(attribute, is_plural_noun(thing.name))
    return [
        *([] if is_read_on(thing, attribute) else [f"{ask_is(thing, attribute, phrase=the)}?"]),
        f"would you say that {the} {state}?",
        f"is it true that {the} {state}?",
        *ask_after_naming(thing, lambda it, plural: ask_is(thing, attribute, plural, it)),
    ]
