"""Which of two attributes a thing has: "Is the man that is wearing a jersey running or looking up?".

The root has an attribute; the other one comes from a distractor in which something else is different as well, and
some such thing has it: no clock is young or old.
"""

from collections.abc import Iterator

from ....english.adjectives import count_colors
from ....scene_graph.subgraph import root_attribute
from ..context_images import SubgraphCase, list_families
from ..draft import CovrDraft, QuestionType, draft_question, find_choice
from ..phrases import phrase_attribute, phrase_short
from ..wording import ask_about, ask_after_naming, ask_is, ask_with_pronoun, is_read_on

KIND: QuestionType = "or"
LEAST_NODES = 3


def propose(case: SubgraphCase) -> Iterator[CovrDraft]:
    value, node = case.subgraph.attribute, root_attribute(case.subgraph)
    if node is None or not case.can_be_asked(value):
        return
    dice = case.make_dice("choose_attr")
    thing = case.subgraph.drop_attribute()

    def fits(name: str) -> bool:
        if not case.can_be_asked(name) or not case.is_said_of(name, thing.name):
            return False
        families = list_families(case.schema, value)
        if list_families(case.schema, name) != families:  # rusty or glass
            return False
        if not families and not (count_colors(name) and count_colors(value)):  # rusty or leafless
            return False
        return case.is_askable(case.subgraph.replace_nodes({node: name}))

    def is_clear(graph: int, _: str) -> bool:
        return case.is_attribute_clear(thing, graph, value)

    other, contexts = find_choice(case, thing, node, (node,), dice, fits, is_clear)
    if not contexts:
        return
    this, that = dice.shuffle([value, other])
    builder = case.make_program_builder()
    builder.put("choose", builder.find_unique(thing), words=(builder.get_attribute(this), this, that))
    spelled, first, second = case.spell_subgraph(thing), case.spell_word(this), case.spell_word(that)

    def ask(it: str, plural: bool) -> str:
        return f"{ask_is(spelled, first, plural, it)} or {phrase_attribute(second)}"

    text = ask_about(spelled, ask, is_read_on(spelled, first))
    yield draft_question(case, "choose_attr", text, builder, contexts, thing=spelled, this=first, that=second)


def reword(draft: CovrDraft) -> list[str]:
    thing, this, that = draft.slot("thing"), draft.slot("this"), draft.slot("that")
    second = phrase_attribute(that)
    ways = ask_after_naming(thing, lambda it, plural: f"{ask_is(thing, this, plural, it)} or {second}")
    if not is_read_on(thing, this):
        question = ask_is(thing, this, phrase=phrase_short(thing))
        again = ask_with_pronoun(thing, lambda it, plural: ask_is(thing, that, plural, it))
        ways = [f"{question} or {second}?", f"{question}, or {again}?"]
    return [*ways, f"which of these describes {phrase_short(thing)}: {phrase_attribute(this)} or {second}?"]
