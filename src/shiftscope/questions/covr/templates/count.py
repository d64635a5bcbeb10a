"""How many there are in all images: "How many people are erasing a mark from a paper?".

Any subgraph that can be counted; the images that do not contain it hold something much like it instead. No answer
is above 5.
"""

from collections.abc import Iterator

from ..context_images import SubgraphCase
from ..draft import MOST_COUNT, ContextImages, CovrDraft, QuestionType, draft_question, list_image_sets
from ..fluency import can_be_several
from ..phrases import phrase_short
from ..wording import ask_how_many

KIND: QuestionType = "how many"
LEAST_NODES = 3


def propose(case: SubgraphCase) -> Iterator[CovrDraft]:
    spelled = case.spell_subgraph(case.subgraph)
    found = list_image_sets(case) if can_be_several(spelled) else ()
    if not found:
        return
    builder = case.make_program_builder()
    builder.put("count", builder.find_described(case.subgraph))
    text = f"{ask_how_many(spelled)}?"
    contexts = [ContextImages(one.graphs, one.total) for one in found if one.total <= MOST_COUNT]
    if not contexts:
        return
    yield draft_question(case, "count", text, builder, contexts, thing=spelled)


def reword(draft: CovrDraft) -> list[str]:
    thing = draft.slot("thing")
    them = phrase_short(thing, plural=True)
    return [
        f"how many {them} can you see?",
        f"what is the number of {them}?",
        f"in all the images together, how many {them} are there?",
        f"{ask_how_many(thing)}?",
    ]
