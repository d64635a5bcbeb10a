"""To what a thing is related: "What is the woman that is wearing glasses holding?".

The root has a relation, neither to a part nor to clothes, and in its image to one thing only; distractors
differ in that thing and in something else. What the question names already is no answer, nor is a person, for whom
one asks "who"; and nobody asks what the grass is in, or what the windows are on.
"""

from collections.abc import Iterator
from functools import partial

from ....english.inflection import plural
from ....english.nouns import is_location, is_person, is_thing, is_worn
from ....english.relations import RelationPredicate
from ....english.word_lists import word_set
from ....scene_graph.relation_exclusivity import classify_target
from ....scene_graph.subgraph import Subgraph, is_relation_mentioned, is_to_plain_thing, split_branches
from ..context_images import SubgraphCase
from ..draft import CovrDraft, QuestionType, draft_question, find_references
from ..fluency import BESIDE, ENCOMPASSING, ONE_TO_A_PICTURE, SAYS_NOTHING, is_askable_place, is_ground
from ..phrases import is_mass, phrase_relation, require_predicate
from ..wording import ask_about, ask_after_naming, ask_what, is_ambiguous, phrase_clearly

KIND: QuestionType = "open"
LEAST_NODES = 3
SWITCHED_ON = word_set("nouns", "switched on")
HAVING = ("have", "has")
WITHIN = ("in", "inside")


def propose(case: SubgraphCase) -> Iterator[CovrDraft]:
    dice = case.make_dice("query_object")
    for branch in split_branches(case.subgraph):
        link, thing = branch.link, branch.rest
        if not is_to_plain_thing(link) or is_relation_mentioned(thing, link):
            continue
        spelled, relation = case.spell_subgraph(thing), case.spell_word(link.relation)
        predicate = require_predicate(relation)
        if is_ground(spelled.name, predicate) or not is_askable_place(predicate):
            continue
        if is_mass(spelled) and not case.schema.closed:  # what does the snow cover
            continue
        if predicate.write_reduced() in ("on", "on top of", *WITHIN) and is_person(spelled.name):  # what is he on
            continue
        if predicate.write_reduced() == "on" and spelled.name in SWITCHED_ON:
            continue
        sets = find_references(case, thing, branch.thing, branch.nodes, dice)
        words = {word for kind, name in thing.nodes() if kind == "object" for word in name.split()}
        named = words.union(map(plural, words))  # the red car is next to another car, the ceiling fan on the ceiling
        fits = partial(_fits, case, branch.thing, predicate)
        contexts = tuple(one for one in sets if named.isdisjoint(str(one.answer).split()) and fits(str(one.answer)))
        if not contexts:
            continue
        builder = case.make_program_builder()
        reached = builder.put("related", builder.find_unique(thing), words=(link.relation, "object"))
        builder.put("query", builder.put("unique", reached), words=(builder.noun,))
        text = ask_about(spelled, partial(_ask, spelled, relation), is_ambiguous(spelled, relation))
        yield draft_question(case, "query_object", text, builder, contexts, thing=spelled, relation=relation)


def _fits(case: SubgraphCase, node: int, predicate: RelationPredicate, answer: str) -> bool:
    """Whether one would ask for it: for no person, no whole that has such parts, nothing that is all around."""
    if is_person(answer) or not is_thing(case.spell_word(answer)):
        return False
    if (answer, predicate.rest) in SAYS_NOTHING or (predicate.rest == "in" and is_worn(answer)):  # playing a game
        return False
    if predicate.rest.rpartition(" ")[2] in WITHIN and (is_location(answer) or answer in ENCOMPASSING):
        return False  # walking in a city, in a line
    if predicate.rest in WITHIN and classify_target(answer) == "ground":
        return False  # where is it, in a kitchen
    everywhere = answer in ONE_TO_A_PICTURE or classify_target(answer) == "ground"  # next to a wall
    around = predicate.rest in (*BESIDE, "against", "around") and everywhere
    if case.schema.closed:
        return True
    if around or not case.is_askable(case.subgraph.replace_nodes({node: answer})):
        return False
    return not any(case.is_seen(answer, verb, case.subgraph.name) for verb in HAVING)


def _ask(thing: Subgraph, relation: str, it: str, plural: bool) -> str:
    return ask_what(thing, relation, plural, it)


def reword(draft: CovrDraft) -> list[str]:
    thing, relation = draft.slot("thing"), draft.slot("relation")
    the = phrase_clearly(thing, relation)
    question = ask_what(thing, relation, phrase=the)
    return [
        f"{question}?",
        *ask_after_naming(thing, partial(_ask, thing, relation)),
        f"what is it that {the} {phrase_relation(thing, relation)}?",
    ]
