"""Draft: a question worded and programmed, and the sets of images that it can be asked about.

What a template filled in is kept in slots, from which its `reword` says the question in other words.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, NamedTuple

from ...answer import Answer
from ...lang.ops.images import SIZE_TESTS as OPS
from ...lang.program import Program
from ...rng import PathDice
from ...scene_graph.related_images import Distractor
from ...scene_graph.subgraph import ObjectNode, Subgraph, SubgraphLink
from .context_images import MOST_IMAGES, SubgraphCase
from .phrases import phrase_one
from .program import CovrProgramBuilder
from .wording import phrase_quantity

QuestionType = Literal["true/false", "or", "how many", "open"]
Slot = ObjectNode | SubgraphLink | str | int
Slots = tuple[tuple[str, Slot], ...]


class ContextImages(NamedTuple):
    """Images in no order yet, and the answer that the template means the question to have there."""

    graphs: tuple[int, ...]
    answer: Answer


def pick_two_answers(contexts: Iterable[ContextImages]) -> tuple[ContextImages, ...]:
    """The first context and the first with another answer; what comes after is not made."""
    found: list[ContextImages] = []
    for context in contexts:
        if not found or context.answer != found[0].answer:
            found.append(context)
        if len(found) == 2:
            break
    return tuple(found)


@dataclass(frozen=True, slots=True)
class CovrDraft:
    template: str
    text: str
    program: Program
    slots: Slots
    about: tuple[Subgraph, ...]  # what it was made from, the subgraph of the source image first
    contexts: tuple[ContextImages, ...]  # the better ones first

    def slot(self, name: str) -> Any:
        """What was filled in; None where this question has no such slot."""
        return next((value for key, value in self.slots if key == name), None)


def draft_question(
    case: SubgraphCase,
    template: str,
    text: str,
    builder: CovrProgramBuilder,
    contexts: Iterable[ContextImages],
    others: tuple[Subgraph, ...] = (),
    /,
    **slots: Slot,
) -> CovrDraft:
    """A draft about the subgraph of the case, and about others that the question compares it with."""
    about = (case.subgraph, *others)
    return CovrDraft(template, text, builder.build(), tuple(slots.items()), about, tuple(contexts))


# Numbers in questions: which of them occur, how they are phrased and tested.

MOST_COUNT = 5  # no count is asked for, or about, that is larger
TESTS = {"at least": "at_least", "at most": "at_most", "exactly": "equal"}  # words → the op


def passes_test(test: str, count: int, number: int) -> bool:
    return bool(OPS[TESTS[test]](count, number))


# Sets of images with few or many instances of the subgraph, for questions that count.


class ImageSetCounts(NamedTuple):
    """Images, and how often the subgraph is in each."""

    graphs: tuple[int, ...]
    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        return sum(self.counts)


def list_image_sets(case: SubgraphCase) -> tuple[ImageSetCounts, ...]:
    """Sets with none, one, two, … images that contain the subgraph, in a drawn order; one for all templates.

    The rest are distractors, and there is at least one of them.
    """
    if case.image_sets is None:
        dice, counted, sets = case.make_dice("tallies"), list(count_per_image(case)), []
        for many in dice.shuffle(range(min(len(counted), MOST_IMAGES) + 1)):
            graphs = tuple(dice.shuffle(counted)[:many])
            if many < MOST_IMAGES:
                graphs = case.add_distractors(graphs, case.distractors, [case.subgraph], dice)
                if len(graphs) == many:
                    continue
            if len(graphs) > 1:
                there = case.find_roots(case.subgraph)
                sets.append(ImageSetCounts(graphs, tuple(len(there[graph]) for graph in graphs)))
        case.image_sets = tuple(sets)
    found: tuple[ImageSetCounts, ...] = case.image_sets
    return found


def count_per_image(case: SubgraphCase) -> dict[int, int]:
    """The images with the subgraph in which its instances can be counted, and how many each has."""
    there = case.find_roots(case.subgraph)
    return {g: len(there[g]) for g in case.containing_images if case.is_countable_in(case.subgraph, g)}


# Images that contain so many instances of a subgraph: the condition, and sets with few or many.

ANY_NUMBER = 0  # as a number: an image contains one, or more
UNTESTED = 10  # one in so many names no number


class ImageCondition(NamedTuple):
    """A condition on an image, and sets of images with how many of them meet it."""

    test: str
    number: int
    image_sets: tuple[tuple[tuple[int, ...], int], ...]

    def build_images_node(self, builder: CovrProgramBuilder, subgraph: Subgraph) -> int:
        found = builder.find_described(subgraph)
        if self.number == ANY_NUMBER:
            return builder.put("images", found)
        return builder.put("keep", builder.put("group", found), words=(TESTS[self.test], str(self.number)))

    def describe(self, subgraph: Subgraph) -> str:
        if self.number == ANY_NUMBER:
            return phrase_one(subgraph, "a")
        return phrase_quantity(subgraph, self.test, self.number)


def draw_image_condition(case: SubgraphCase, dice: PathDice) -> ImageCondition | None:
    """A drawn condition, with a number that images of the case have.

    Other images than those that contain one share nothing with a bare noun; "at most" could be said of them too.
    """
    bare = case.subgraph.size == 1
    test = dice.draw_one(tuple(TESTS)) if bare or dice.draw_below(UNTESTED) else ""
    if bare or test == "at most":
        return _draw_among_containing(case, test, dice)
    found = list_image_sets(case)
    seen = sorted({count for one in found for count in one.counts if count})
    if not seen:
        return None
    number = dice.draw_one(seen) if test else ANY_NUMBER
    sets = tuple(
        (one.graphs, sum(1 for count in one.counts if count and (not test or passes_test(test, count, number))))
        for one in found
    )
    return ImageCondition(test, number, sets)


def _draw_among_containing(case: SubgraphCase, test: str, dice: PathDice) -> ImageCondition | None:
    """A number that tells images apart all of which contain one; at least one of a set does not meet the condition."""
    counts = count_per_image(case)
    most = test == "at most"
    least = 2 if most and not case.schema.closed else 1  # nobody counts images with at most 1 pizza box
    numbers = [n for n in range(least, max(counts.values(), default=0) + 1) if n in counts.values() or most]
    telling = [n for n in numbers if not all(passes_test(test, count, n) for count in counts.values())]
    if not telling:
        return None
    number = dice.draw_one(telling)
    passing = dice.shuffle([graph for graph, count in counts.items() if passes_test(test, count, number)])
    failing = dice.shuffle([graph for graph, count in counts.items() if not passes_test(test, count, number)])
    sets = tuple(
        ((*passing[:some], *failing[:others]), some)
        for some, others in dice.shuffle(list(product(range(len(passing) + 1), range(1, len(failing) + 1))))
        if 2 <= some + others <= MOST_IMAGES
    )
    return ImageCondition(test, number, sets) if sets else None


# Images in which a description refers to one thing alone, for questions about one of its nodes.


def find_references(
    case: SubgraphCase, thing: Subgraph, node: int, queried: Sequence[int], dice: PathDice
) -> list[ContextImages]:
    """Sets of images with one such thing: first as in the subgraph, then with something else at the node.

    The answer is what stands at the node there. `queried` are the nodes that the description leaves out. All other
    images are distractors that differ in the node and in the description: were they to differ in the node alone,
    the description would fit them too.
    """
    holders = case.filter_unique(thing, case.containing_images)
    if not holders:
        return []
    far = case.find_replacing_also(node, queried)
    found = [ContextImages(case.add_distractors(holders[:1], far, [thing], dice), case.nodes[node].name)]
    for near in case.find_replacing_only(node):
        if case.is_unique_in(thing, near.graph):
            value = get_replacement(near, node)
            rest = [*case.find_replacing_others(queried), *(one for one in far if get_replacement(one, node) != value)]
            found.append(ContextImages(case.add_distractors([near.graph], rest, [thing], dice), value))
    return [one for one in found if len(one.graphs) > 1]


def find_choice(
    case: SubgraphCase,
    thing: Subgraph,
    node: int,
    queried: Sequence[int],
    dice: PathDice,
    fits: Callable[[str], bool],
    is_clear: Callable[[int, str], bool],
) -> tuple[str, tuple[ContextImages, ...]]:
    """A name that fits beside the node's own, and images as for `find_references` with one of the two; or none.

    Preferred is a name that the thing itself has at the node in some image: then both answers can be had. `is_clear`
    says whether the thing in an image has this name at the node and no other.
    """
    own = case.nodes[node].name
    holders = [g for g in case.filter_unique(thing, case.containing_images) if is_clear(g, own)]
    if not holders:
        return "", ()
    near: dict[str, list[int]] = {}
    for one in case.find_replacing_only(node):
        value = get_replacement(one, node)
        if case.is_unique_in(thing, one.graph) and fits(value) and is_clear(one.graph, value):
            near.setdefault(value, []).append(one.graph)
    for other in dice.shuffle(list(near)):
        graphs = case.add_distractors(holders[:1], case.find_beside(thing, node, other)[:2], [thing], dice)
        if len(graphs) > 1:
            far = case.find_replacing_also(node, queried)
            first = ContextImages(case.add_distractors(graphs, far, [thing], dice), own)
            rest = case.find_replacing_others(queried)
            more = (ContextImages(case.add_distractors([g], rest, [thing], dice), other) for g in near[other])
            return other, (first, *(one for one in more if len(one.graphs) > 1))
    absent = [one for one in case.find_replacing_also(node, queried) if not case.count_instances(thing, one.graph)]
    for other in dice.shuffle(list(dict.fromkeys(get_replacement(one, node) for one in absent))):
        if fits(other):
            return other, (ContextImages(case.add_distractors(holders[:1], absent, [thing], dice), own),)
    return "", ()


def get_replacement(one: Distractor, node: int) -> str:
    """What stands at the node in a distractor; "" where the node is as it was."""
    return next((change.after for change in one.changes if change.node == node), "")
