"""Whether there are more of one than of another: "There are more tables in a room than couches in a room.".

The other is what a distractor holds instead of the subgraph; each is there at least once in some image. Half of the
questions compare numbers of images: "There are more images with a table in a room than images with a couch in a room.".
"""

from collections.abc import Iterator
from itertools import product

from ....rng import PathDice
from ....scene_graph.subgraph import Subgraph
from ..context_images import MOST_IMAGES, RivalSubgraph, SubgraphCase
from ..draft import ContextImages, CovrDraft, QuestionType, Slot, draft_question, pick_two_answers
from ..fluency import can_be_counted, can_be_several
from ..phrases import phrase_many, phrase_one, phrase_short

KIND: QuestionType = "true/false"
LEAST_NODES = 3
COMPARATIVES = {"more": "greater", "fewer": "less", "same": "equal"}
COUNTED = ("objects", IMAGES := "images")
MOST_OF_ONE = 3  # images chosen because they contain the one, or the other
WORDS = {
    "more": "There are more {} than {}.",
    "fewer": "There are fewer {} than {}.",
    "same": "There are exactly as many {} as {}.",
}


def propose(case: SubgraphCase) -> Iterator[CovrDraft]:
    rival = case.rival
    if rival is None:
        return
    thing, other = case.spell_subgraph(case.subgraph), case.spell_subgraph(rival.subgraph)
    dice = case.make_dice("compare_count")
    word, counted = dice.draw_one(tuple(COMPARATIVES)), dice.draw_one(COUNTED)
    if not all(map(can_be_counted if counted == IMAGES else can_be_several, (thing, other))):
        return
    contexts = pick_two_answers(_build_contexts(case, rival, word, counted, dice))
    if not contexts:
        return
    builder = case.make_program_builder()
    sides = []
    for subgraph in (case.subgraph, rival.subgraph):
        found = builder.find_described(subgraph)
        sides.append(builder.put("count", builder.put("images", found) if counted == IMAGES else found))
    builder.put(COMPARATIVES[word], *sides)
    text = WORDS[word].format(*(_phrase_counted(one, counted) for one in (thing, other)))
    slots: dict[str, Slot] = {"thing": thing, "other": other, "comparative": word, "counted": counted}
    yield draft_question(case, "compare_count", text, builder, contexts, (rival.subgraph,), **slots)


def _phrase_counted(thing: Subgraph, counted: str) -> str:
    return f"images with {phrase_one(thing, 'a')}" if counted == IMAGES else phrase_many(thing)


def _build_contexts(
    case: SubgraphCase, rival: RivalSubgraph, comparative: str, counted: str, dice: PathDice
) -> Iterator[ContextImages]:
    thing, other = case.subgraph, rival.subgraph
    for some, others in dice.shuffle(list(product(range(MOST_OF_ONE + 1), repeat=2))):
        chosen = [*dice.shuffle(case.containing_images)[:some], *dice.shuffle(rival.graphs)[:others]]
        chosen = list(dict.fromkeys(chosen))[:MOST_IMAGES]
        graphs = case.add_distractors(chosen, case.distractors, [thing, other], dice)
        count = case.count_images if counted == IMAGES else case.count_total
        left, right = count(thing, graphs), count(other, graphs)
        if len(graphs) < 2 or not left or not right:
            continue
        if all(case.is_countable_in(each, graph) for each in (thing, other) for graph in graphs):
            answers = {"more": left > right, "fewer": left < right, "same": left == right}
            yield ContextImages(graphs, answers[comparative])


def reword(draft: CovrDraft) -> list[str]:
    both = draft.slot("thing"), draft.slot("other")
    if draft.slot("counted") == IMAGES:
        first, second = (f"images with {phrase_short(one, 'a')}" for one in both)
    else:
        first, second = (phrase_short(one, plural=True) for one in both)
    numbers = f"the number of {first}", f"the number of {second}"
    return {
        "more": [
            f"are there more {first} than {second}?",
            f"do {first} outnumber {second}?",
            f"is {numbers[0]} greater than {numbers[1]}?",
        ],
        "fewer": [f"are there fewer {first} than {second}?", f"is {numbers[0]} smaller than {numbers[1]}?"],
        "same": [
            f"is {numbers[0]} the same as {numbers[1]}?",
            f"is {numbers[0]} equal to {numbers[1]}?",
            f"are there just as many {first} as {second}?",
        ],
    }[draft.slot("comparative")]
