"""Whether there are so many: "There is at most 1 cup that is behind a man that is wearing a jacket.".

Any subgraph that can be counted, and a number near how many there are: at least, at most or exactly so many.
"""

from collections.abc import Iterator

from ....english.relations import be_form
from ..context_images import SubgraphCase
from ..draft import (
    MOST_COUNT,
    TESTS,
    ContextImages,
    CovrDraft,
    QuestionType,
    draft_question,
    list_image_sets,
    passes_test,
)
from ..fluency import can_be_several
from ..wording import phrase_quantity, phrase_short_quantity

KIND: QuestionType = "true/false"
LEAST_NODES = 3


def propose(case: SubgraphCase) -> Iterator[CovrDraft]:
    spelled = case.spell_subgraph(case.subgraph)
    found = list_image_sets(case) if can_be_several(spelled) else ()
    if not found:
        return
    dice = case.make_dice("verify_count")
    totals = sorted({one.total for one in found})
    numbers = range(1, min(MOST_COUNT, totals[-1] + 1) + 1)
    test = dice.draw_one(tuple(TESTS))
    telling = [n for n in numbers if {True, False} <= {passes_test(test, total, n) for total in totals}]
    number = dice.draw_one(telling or numbers)
    builder = case.make_program_builder()
    builder.put(TESTS[test], builder.put("count", builder.find_described(case.subgraph)), builder.add_number(number))
    text = f"There {be_form(number != 1)} {phrase_quantity(spelled, test, number)}."
    contexts = [ContextImages(one.graphs, passes_test(test, one.total, number)) for one in found]
    yield draft_question(case, "verify_count", text, builder, contexts, thing=spelled, test=test, number=number)


def reword(draft: CovrDraft) -> list[str]:
    number = draft.slot("number")
    there = phrase_short_quantity(draft.slot("thing"), draft.slot("test"), number)
    verb = be_form(number != 1)
    return [f"{verb} there {there}?", f"is it right that there {verb} {there}?", f"in total, {verb} there {there}?"]
