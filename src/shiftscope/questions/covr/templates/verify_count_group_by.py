"""Whether so many images contain so many: "There is at least 1 image that contains exactly 2 women.".

As for counting such images; the number of images is smaller than in any context that it is asked about, so that
"at most" can be wrong; nor does one say "at most 1 image that contains at most 2".
"""

from collections.abc import Iterator
from typing import Any

from ....english.relations import be_form, phrase_number
from ..context_images import SubgraphCase
from ..draft import TESTS, ContextImages, CovrDraft, QuestionType, draft_question, draw_image_condition, passes_test
from ..fluency import can_be_counted
from ..wording import phrase_short_quantity

KIND: QuestionType = "true/false"
LEAST_NODES = 1


def propose(case: SubgraphCase) -> Iterator[CovrDraft]:
    spelled = case.spell_subgraph(case.subgraph)
    dice = case.make_dice("verify_count_group_by")
    found = draw_image_condition(case, dice) if can_be_counted(spelled) else None
    if found is None:
        return
    test = dice.draw_one([one for one in TESTS if one != "at most" or found.test != one])
    numbers = range(1, max(len(graphs) for graphs, _ in found.image_sets))
    contexts_by_number = {}
    for n in numbers:  # for each, the sets of more images than that
        sets = [(graphs, many) for graphs, many in found.image_sets if n < len(graphs)]
        contexts_by_number[n] = [ContextImages(graphs, passes_test(test, many, n)) for graphs, many in sets]
    telling = [n for n, contexts in contexts_by_number.items() if len({one.answer for one in contexts}) > 1]
    some = [n for n, contexts in contexts_by_number.items() if contexts]
    if not some:
        return
    number = dice.draw_one(telling or some)
    builder = case.make_program_builder()
    images = builder.put("count", found.build_images_node(builder, case.subgraph))
    builder.put(TESTS[test], images, builder.add_number(number))
    contain = "image that contains" if number == 1 else "images that contain"
    text = f"There {be_form(number != 1)} {test} {number} {contain} {found.describe(spelled)}."
    slots: dict[str, Any] = {"thing": spelled, "test": found.test, "number": found.number}
    slots |= {"images_test": test, "images": number}
    yield draft_question(case, "verify_count_group_by", text, builder, contexts_by_number[number], **slots)


def reword(draft: CovrDraft) -> list[str]:
    there = phrase_short_quantity(draft.slot("thing"), draft.slot("test"), draft.slot("number"))
    images = draft.slot("images")
    those = phrase_number(draft.slot("images_test"), images)
    verb, noun, do, show = ("is", "image", "does", "shows") if images == 1 else ("are", "images", "do", "show")
    return [
        f"{verb} there {those} {noun} with {there}?",
        f"{do} {those} of the images show {there}?",
        f"is it true that {those} of the images {show} {there}?",
    ]
