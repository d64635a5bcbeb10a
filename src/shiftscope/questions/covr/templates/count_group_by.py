"""How many images contain so many: "How many images contain exactly 2 men that are in water?".

Any subgraph that can be counted; a number that some of the images have. "At most" is asked only of images all of which
contain one, and some more: to the program an image without any is no group, in English it does contain at most 2.
"""

from collections.abc import Iterator

from ....english.nouns import is_plural_noun
from ....english.relations import be_form
from ..context_images import SubgraphCase
from ..draft import ContextImages, CovrDraft, QuestionType, draft_question, draw_image_condition
from ..fluency import can_be_counted
from ..wording import phrase_short_quantity

KIND: QuestionType = "how many"
LEAST_NODES = 1


def propose(case: SubgraphCase) -> Iterator[CovrDraft]:
    spelled = case.spell_subgraph(case.subgraph)
    found = draw_image_condition(case, case.make_dice("count_group_by")) if can_be_counted(spelled) else None
    if found is None:
        return
    builder = case.make_program_builder()
    builder.put("count", found.build_images_node(builder, case.subgraph))
    text = f"How many images contain {found.describe(spelled)}?"
    contexts = map(ContextImages._make, found.image_sets)
    yield draft_question(
        case, "count_group_by", text, builder, contexts, thing=spelled, test=found.test, number=found.number
    )


def reword(draft: CovrDraft) -> list[str]:
    thing, number = draft.slot("thing"), draft.slot("number")
    there = phrase_short_quantity(thing, draft.slot("test"), number)
    verb = be_form(number > 1 or (number == 0 and is_plural_noun(thing.name)))
    return [
        f"in how many of the images {verb} there {there}?",
        f"how many of the images show {there}?",
        f"what is the number of images that show {there}?",
    ]
