"""GQA's question templates, each drawn at random for one object of a scene graph.

    query_attr   What color is the cat that is on the mat?
    verify_attr  Is the cat black?
    choose_attr  Is the cat black or white?
    query_rel    What is on the mat? Who is wearing the hat?
    choose_name  What is the man holding, a cup or a hat?
    verify_rel   Is the man wearing a hat?
    choose_rel   Is the cat on or under the mat?
    exist        Is there a black cat on the mat?
    logic_exist  Are there both a cat and a mat?
    logic_attr   Is the cat black or is the mat red?
    compare      Do the cat and the mat have the same color?

A question with the answer yes is generated only where a similar one with the answer no exists, and vice versa.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from ... import rng
from ...answer import Answer
from ...english.adjectives import is_predicative
from ...english.nouns import OWN_PARTS, THE, are_part_and_whole, is_animal, is_countable, is_person, is_worn
from ...lang.exec.exact import execute
from ...lang.notations.gqa.steps import VERIFY_REL
from ...lang.program import Program
from ...question import Provenance, Question
from ...scene import Scene
from ...scene_graph.exclusivity import THRESHOLD, MutualExclusivity
from ...scene_graph.subgraph import NodeKind
from .plausibility import UNTELLING, has_always, is_bodily, is_spatial_relation, is_wearing, is_worth_asking
from .scene_view import DEEPEST, GqaVocabulary, ObjectRelation, SceneView, WordCounts, find_kind
from .wording import DescriptionLink, DescriptionWord, GqaProgramBuilder, ObjectDescription, Unsayable, question_text

T = TypeVar("T")
GqaDraft = tuple[Program, Answer]  # a question's program, and the answer that it was made to have


class NothingToDraw(Exception):
    """A scene has nothing that a template could ask about, or not this time."""


def attempt(draw: Callable[[], T]) -> T | None:
    """What is drawn, or None; for where more is drawn in either case, which stored datasets depend on."""
    try:
        return draw()
    except NothingToDraw:
        return None


class GqaSampler(NamedTuple):
    view: SceneView
    words: GqaVocabulary
    overlap: MutualExclusivity
    draw: np.random.Generator
    holds: bool = True  # the answer wanted of a template that asks for yes or no
    luck: float = 1.0  # from 0 to 1, of a template that asks which; see `draw_rival_word`

    def draw_one(self, options: Sequence[T]) -> T:
        if not options:
            raise NothingToDraw
        return options[int(self.draw.integers(len(options)))]

    def find_fitting_names(self, relation: str, subject: bool, other: str) -> WordCounts:
        """The names that stand in such a relation to such things, as its subject or object, and need not always."""
        found = self.words.fitting_names.get((relation, subject, self._find_kind(other, wide=True)), {})
        worn = not subject and is_wearing(relation)  # not "a coat or a number"
        fitting = ((name, n) for name, n in found.items() if name not in OWN_PARTS and (not worn or is_worn(name)))
        return {name: n for name, n in fitting if not has_always(other, name) and not has_always(name, other)}

    def find_fitting_values(self, attribute: str, name: str) -> WordCounts:
        """The values of an attribute that such things have; people have no color."""
        if attribute == "color" and is_person(name):
            return {}
        return self.words.fitting_values.get((attribute, self._find_kind(name, wide=False)), {})

    def _find_kind(self, name: str, wide: bool) -> str:
        return find_kind(self.view.scene.schema, name, wide)

    def shuffle_pair(self, one: str, other: str) -> tuple[str, str]:
        return (one, other) if self.draw.integers(2) else (other, one)

    def draw_false_word(
        self, kind: NodeKind, truths: Iterable[str], options: WordCounts, fits: Callable[[str], bool] = bool
    ) -> str:
        """A word that surely does not hold where the true ones do.

        Common ones are drawn more often, as they are also true more often: to be rare tells nothing.
        """
        left = [word for word in options if fits(word)]
        for truth in truths:
            scores = self.overlap.score_exclusivity(kind, truth, left)
            left = [word for word, m in zip(left, scores, strict=True) if m > THRESHOLD]
        if not left:
            raise NothingToDraw
        ends = np.cumsum([options[word] for word in left])
        return left[int(np.searchsorted(ends, self.draw.integers(ends[-1]), side="right"))]

    def draw_rival_word(
        self, kind: NodeKind, truth: str, truths: Iterable[str], options: WordCounts, fits: Callable[[str], bool] = bool
    ) -> str:
        """Such a word to choose from beside the true one.

        A true word is passed over the more often the commoner it is; else, of "on or under", it would be on.
        """
        fitting = sum(n for word, n in options.items() if fits(word))
        if not fitting or self.luck < options.get(truth, 0) / fitting:
            raise NothingToDraw
        return self.draw_false_word(kind, truths, options, fits)


# Draws that several templates make: a thing with a word of it, one with a relation, something that is there.

_OTHERWISE = ((False, False), (True, False), (False, True))  # how two do not both hold


def draw_attribute(
    d: GqaSampler, fits: Callable[[DescriptionWord], bool] = lambda word: True, away: frozenset[int] = frozenset()
) -> tuple[int, DescriptionWord, ObjectDescription]:
    """A thing, one of its attributes to ask for, and a description that does not mention it."""
    thing = d.draw_one([i for i in d.view.things if i not in away])
    word = d.draw_one([w for w in d.view.words[thing] if fits(w) and is_predicative(w.value)])
    description = d.view.describe(d.draw, thing, silent=frozenset({word.attribute}), away=away)
    if description is None:
        raise NothingToDraw
    return thing, word, description


def draw_other_value(d: GqaSampler, thing: int, word: DescriptionWord) -> str:
    """A value that the thing surely does not have, of the same attribute."""
    options = d.find_fitting_values(word.attribute, d.view.names[thing])
    return d.draw_false_word("attribute", list_own_values(d, thing, word), options, is_predicative)


def list_own_values(d: GqaSampler, thing: int, word: DescriptionWord) -> list[str]:
    return [w.value for w in d.view.words[thing] if w.attribute == word.attribute]


def draw_subject(d: GqaSampler) -> tuple[int, ObjectRelation]:
    """A thing, and a relation whose subject it is; nobody asks where the sky is."""
    thing = d.draw_one([i for i in d.view.things if d.view.names[i] not in THE])
    names = d.view.names
    return thing, d.draw_one(
        [t for t in d.view.ties[thing] if t.subject and not is_bodily(names[thing], names[t.other])]
    )


def draw_related(d: GqaSampler, kind: Callable[[str], str]) -> tuple[int, ObjectDescription, ObjectRelation]:
    """A thing that is the only one, of a kind, that stands in some relation to another."""
    thing = d.draw_one([i for i in d.view.things if d.view.names[i] not in UNTELLING])
    tie = d.draw_one([t for t in d.view.ties[thing] if is_worth_asking(d.view, thing, t)])
    depth = DEEPEST if tie.subject else 0  # a verb or preposition follows: not "what is the cat on the mat on?"
    other = d.view.describe(d.draw, tie.other, away=frozenset({thing}), depth=depth)
    if other is None:
        raise NothingToDraw
    description = ObjectDescription(kind(d.view.names[thing]), link=DescriptionLink(tie.relation, other, tie.subject))
    if d.view.find_matches(description) != 1 << thing:
        raise NothingToDraw
    return thing, description, tie


def draw_existing(d: GqaSampler, holds: bool) -> ObjectDescription:
    """A description of something that is there; or of what is not, by another word or another name.

    There is one only where there is the other, so that neither answer is likelier for some things.
    """
    thing = d.draw_one([i for i in d.view.things if d.view.names[i] not in THE])
    description = d.view.describe(d.draw, thing, alone=False)
    if description is None:
        raise NothingToDraw
    if d.draw.integers(2) and description.words:
        value = draw_other_value(d, thing, description.words[0])
        absent = replace(description, words=(DescriptionWord(description.words[0].attribute, value),))
    else:
        link = description.link
        options: WordCounts = {}
        if link is not None:
            options = d.find_fitting_names(link.relation, link.subject, link.other.name)
        elif d.view.ties[thing]:
            tie = d.draw_one(d.view.ties[thing])
            options = d.words.names.get((tie.relation, tie.subject), {})
        said = [(w.value, w.attribute) for w in description.words]

        def fits(name: str) -> bool:
            return name not in THE and all(value in d.find_fitting_values(family, name) for value, family in said)

        absent = replace(description, name=d.draw_false_word("object", d.view.names, options, fits))
    if d.view.find_matches(absent):
        raise NothingToDraw
    return description if holds else absent


def draw_conjunction(d: GqaSampler) -> tuple[str, tuple[bool, bool]]:
    """And, or; and which of two then hold, so that it is as wanted."""
    if d.draw.integers(2):
        return "and", (True, True) if d.holds else _OTHERWISE[d.draw.integers(3)]
    return "or", (not _OTHERWISE[k := d.draw.integers(3)][0], not _OTHERWISE[k][1]) if d.holds else (False, False)


def finish(program: GqaProgramBuilder, answer: Answer, op: str, *inputs: int, words: tuple[str, ...] = ()) -> GqaDraft:
    program.put(op, *inputs, words=words)
    return program.build(), answer


def ask_of_one(description: ObjectDescription, answer: Answer, op: str, *words: str) -> GqaDraft:
    """The draft that asks this of the one thing described."""
    builder = GqaProgramBuilder()
    return finish(builder, answer, op, builder.add_unique(description), words=words)


QUERYABLE = ("color", "material", "shape", "pattern")  # attributes that are queried, not only verified


def draft_query_attr(d: GqaSampler) -> GqaDraft:
    thing, word, description = draw_attribute(d, lambda word: word.attribute in QUERYABLE)
    shapeless = word.attribute == "shape" and not is_countable(d.view.names[thing])  # water
    if shapeless or d.view.world.objects.value(thing, word.attribute) != word.value:
        raise NothingToDraw
    return ask_of_one(description, word.value, "query", word.attribute)


def draft_verify_attr(d: GqaSampler) -> GqaDraft:
    thing, word, description = draw_attribute(d)
    other = draw_other_value(d, thing, word)
    return ask_of_one(description, d.holds, "verify", word.attribute, word.value if d.holds else other)


def draft_choose_attr(d: GqaSampler) -> GqaDraft:
    thing, word, description = draw_attribute(d)
    options = d.find_fitting_values(word.attribute, d.view.names[thing])
    other = d.draw_rival_word("attribute", word.value, list_own_values(d, thing, word), options, is_predicative)
    return ask_of_one(description, word.value, "choose", word.attribute, *d.shuffle_pair(word.value, other))


def draft_query_rel(d: GqaSampler) -> GqaDraft:
    """What, or who, stands in a relation to a thing."""
    kinds = {"person": is_person, "animal": is_animal}
    thing, description, _ = draw_related(d, lambda name: next((kind for kind, fits in kinds.items() if fits(name)), ""))
    return ask_of_one(description, d.view.names[thing], "query", "name")


def draft_choose_name(d: GqaSampler) -> GqaDraft:
    thing, description, tie = draw_related(d, lambda name: "person" if is_person(name) else "")
    name = d.view.names[thing]
    options = d.find_fitting_names(tie.relation, tie.subject, d.view.names[tie.other])
    other = d.draw_rival_word("object", name, d.view.names, options, lambda n: is_person(n) == is_person(name))
    return ask_of_one(description, name, "choose", "name", *d.shuffle_pair(name, other))


def draft_verify_rel(d: GqaSampler) -> GqaDraft:
    """Whether a thing stands in a relation to such another."""
    thing, tie = draw_subject(d)
    description = d.view.describe(d.draw, thing, away=frozenset({tie.other}))
    options = d.find_fitting_names(tie.relation, False, d.view.names[thing])
    other = d.draw_false_word("object", d.view.names, options)
    if description is None:
        raise NothingToDraw
    name = d.view.names[tie.other] if d.holds else other
    builder = GqaProgramBuilder()
    at = builder.add_set(ObjectDescription(name, link=DescriptionLink(tie.relation, description, subject=False)))
    builder.put("exist", at, notes=(("said", VERIFY_REL),))
    return builder.build(), d.holds


def draft_choose_rel(d: GqaSampler) -> GqaDraft:
    """In which of two relations a thing stands to another, "on or under"."""
    thing, tie = draw_subject(d)
    name = d.view.names[tie.other]
    held = [t.relation for t in d.view.ties[thing] if t.subject and t.other == tie.other]

    def fits(relation: str) -> bool:
        return is_spatial_relation(relation) and name in d.words.names.get((relation, False), {})

    other = attempt(lambda: d.draw_rival_word("relation", tie.relation, held, d.words.relations, fits))
    description = d.view.describe(d.draw, thing, away=frozenset({tie.other}))
    if description is None or other is None or not is_spatial_relation(tie.relation) or d.view.names.count(name) != 1:
        raise NothingToDraw
    builder = GqaProgramBuilder()
    one = builder.add_unique(description)
    words = (*d.shuffle_pair(tie.relation, other), "object")
    return finish(builder, tie.relation, "choose_relation", one, builder.add_set(ObjectDescription(name)), words=words)


def draft_exist(d: GqaSampler) -> GqaDraft:
    builder = GqaProgramBuilder()
    return finish(builder, d.holds, "exist", builder.add_set(draw_existing(d, d.holds)))


def draft_logic_exist(d: GqaSampler) -> GqaDraft:
    """Two that may be there, joined by and, or."""
    op, hold = draw_conjunction(d)
    first, second = (attempt(partial(draw_existing, d, h)) for h in hold)
    if first is None or second is None or not first.names().isdisjoint(second.names()):
        raise NothingToDraw
    builder = GqaProgramBuilder()
    tested = [builder.put("exist", builder.add_set(description)) for description in (first, second)]
    return finish(builder, d.holds, op, *tested)


def draft_logic_attr(d: GqaSampler) -> GqaDraft:
    """What two things may be, joined by and, or."""
    op, hold = draw_conjunction(d)
    first = draw_attribute(d)
    second = draw_attribute(d, away=frozenset({first[0]}))
    if not first[2].names().isdisjoint(second[2].names()):
        raise NothingToDraw
    builder = GqaProgramBuilder()
    tested = []
    for (thing, word, description), holds in zip((first, second), hold, strict=True):
        other = draw_other_value(d, thing, word)
        value = word.value if holds else other
        tested.append(builder.put("verify", builder.add_unique(description), words=(word.attribute, value)))
    return finish(builder, d.holds, op, *tested)


def draft_compare(d: GqaSampler) -> GqaDraft:
    """Whether two things have the same value of an attribute."""
    thing, word, description = draw_attribute(d, lambda word: word.attribute in QUERYABLE)
    value_of = d.view.world.objects.value
    other = d.draw_one([i for i in d.view.things if i != thing and value_of(i, word.attribute)])
    if value_of(thing, word.attribute) is None:
        raise NothingToDraw
    beside = d.view.describe(d.draw, other, silent=frozenset({word.attribute}), away=frozenset({thing}))
    value = value_of(other, word.attribute)
    names = d.view.names[thing], d.view.names[other]
    if beside is None or value is None or are_part_and_whole(*names):
        raise NothingToDraw
    if not description.names().isdisjoint(beside.names()):
        raise NothingToDraw
    same = value == word.value
    if not same and d.overlap.get_exclusivity("attribute", word.value, value) <= THRESHOLD:
        raise NothingToDraw
    builder = GqaProgramBuilder()
    things = builder.add_set(description), builder.add_set(beside)
    return finish(builder, same, "alike", *things, words=(word.attribute,))


TEMPLATES: dict[str, tuple[str, Callable[[GqaSampler], GqaDraft]]] = {  # by name: GQA's structural type, its draft
    "query_attr": ("query", draft_query_attr),
    "verify_attr": ("verify", draft_verify_attr),
    "choose_attr": ("choose", draft_choose_attr),
    "query_rel": ("query", draft_query_rel),
    "choose_name": ("choose", draft_choose_name),
    "verify_rel": ("verify", draft_verify_rel),
    "choose_rel": ("choose", draft_choose_rel),
    "exist": ("verify", draft_exist),
    "logic_exist": ("logical", draft_logic_exist),
    "logic_attr": ("logical", draft_logic_attr),
    "compare": ("compare", draft_compare),
}
TRIES = 4  # draws of a template before it is given up


class GqaQuestioner:
    """Asks of one graph after another; what it asks is a function of the seed, the words and the graph."""

    def __init__(self, words: GqaVocabulary, overlap: MutualExclusivity, seed: int = 0) -> None:
        self.words, self.overlap, self.seed = words, overlap, seed

    def generate_questions(self, scene: Scene, most: int, split: str = "") -> list[Question]:
        """At most so many questions, of different templates as far as may be; no two in the same words."""
        draw = rng.derive("gqa", self.seed, scene.id)
        drawing = GqaSampler(SceneView(scene), self.words, self.overlap, draw)
        names = list(TEMPLATES)
        found: dict[str, Question] = {}
        while names and len(found) < most:
            for name in [names[k] for k in draw.permutation(len(names))]:
                question = self._draft_question(drawing, name, len(found), split)
                if question is None or question.text in found:
                    names.remove(name)
                elif len(found) < most:
                    found[question.text] = question
        return list(found.values())

    def _draft_question(self, drawing: GqaSampler, name: str, number: int, split: str) -> Question | None:
        kind, draft = TEMPLATES[name]
        scene = drawing.view.scene
        draw = drawing.draw
        drawing = drawing._replace(holds=bool(draw.integers(2)), luck=draw.random())
        for _ in range(TRIES):
            try:
                program, wanted = draft(drawing)
                answer = execute(program, drawing.view.world).answer
                if type(answer) is type(wanted) and answer == wanted:
                    text, where = question_text(program), Provenance("gqa", split, name)
                    return Question(
                        f"{scene.id}_{number}", text, (scene.id,), program, answer, kind=kind, provenance=where
                    )
            except (NothingToDraw, Unsayable):
                continue
        return None
