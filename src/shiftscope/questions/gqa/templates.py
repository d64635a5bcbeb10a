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

A question with the answer yes is asked only where one like it with the answer no could be, and the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np

from ... import rng
from ...answer import Answer
from ...english.adjectives import is_predicative
from ...english.nouns import THE, is_animal, is_person
from ...english.relations import RelationPredicate, parse_relation
from ...lang.exec.exact import execute
from ...lang.notations.gqa.steps import VERIFY_REL
from ...lang.program import Program
from ...question import Provenance, Question
from ...scene import Scene
from ...scene_graph.exclusivity import THRESHOLD, MutualExclusivity
from ...scene_graph.subgraph import NodeKind
from .scene_view import DEEPEST, GqaVocabulary, ObjectRelation, SceneView, WordCounts
from .wording import DescriptionLink, DescriptionWord, GqaProgramBuilder, ObjectDescription, Unsayable, question_text

_T = TypeVar("_T")


class GqaDraft(NamedTuple):
    """A question's program, and the answer that it was made to have."""

    program: Program
    answer: Answer


def finish(program: GqaProgramBuilder, answer: Answer, op: str, *inputs: int, words: tuple[str, ...] = ()) -> GqaDraft:
    """The draft whose program ends in this op."""
    program.put(op, *inputs, words=words)
    return GqaDraft(program.build(), answer)


class GqaSampler(NamedTuple):
    """What forms draw from."""

    view: SceneView
    words: GqaVocabulary
    overlap: MutualExclusivity
    draw: np.random.Generator
    holds: bool = True  # the answer wanted of a form that asks for yes or no
    luck: float = 1.0  # from 0 to 1, of a form that asks which; see `rival`

    def draw_thing(self) -> int | None:
        return self.draw_one(self.view.things)

    def draw_one(self, options: Sequence[_T]) -> _T | None:
        return options[int(self.draw.integers(len(options)))] if options else None

    def shuffle_pair(self, one: str, other: str) -> tuple[str, str]:
        return (one, other) if self.draw.integers(2) else (other, one)

    def draw_false_word(
        self, kind: NodeKind, truths: Iterable[str], options: WordCounts, fits: Callable[[str], bool] = bool
    ) -> str | None:
        """A word that surely does not hold where the true ones do.

        Common ones are drawn more often, as they are also true more often: to be rare tells nothing.
        """
        left = [word for word in options if fits(word)]
        for truth in truths:
            judged = self.overlap.score_exclusivity(kind, truth, left)
            left = [word for word, m in zip(left, judged, strict=True) if m > THRESHOLD]
        if not left:
            return None
        ends = np.cumsum([options[word] for word in left])
        return left[int(np.searchsorted(ends, self.draw.integers(ends[-1]), side="right"))]

    def draw_rival_word(
        self, kind: NodeKind, truth: str, truths: Iterable[str], options: WordCounts, fits: Callable[[str], bool] = bool
    ) -> str | None:
        """Such a word to choose from beside the true one.

        A true word is passed over the more often the commoner it is; else, of "on or under", it would be on.
        """
        fitting = sum(n for word, n in options.items() if fits(word))
        if not fitting or self.luck < options.get(truth, 0) / fitting:
            return None
        return self.draw_false_word(kind, truths, options, fits)


# Draws that several forms make: a thing with a word of it, one with a relation, something that is there.

_OTHERWISE = ((False, False), (True, False), (False, True))  # how two do not both hold


def draw_attribute(
    d: GqaSampler, fits: Callable[[DescriptionWord], bool] = lambda word: True, away: frozenset[int] = frozenset()
) -> tuple[int, DescriptionWord, ObjectDescription] | None:
    """A thing, a word of it that can be asked about, and a description that does not tell."""
    thing = d.draw_one([i for i in d.view.things if i not in away])
    if thing is None:
        return None
    word = d.draw_one([w for w in d.view.words[thing] if fits(w) and is_predicative(w.value)])
    if word is None:
        return None
    description = d.view.describe(d.draw, thing, silent=frozenset({word.attribute}), away=away)
    return None if description is None else (thing, word, description)


def draw_other_value(d: GqaSampler, thing: int, word: DescriptionWord) -> str | None:
    """A value that the thing surely does not have, of the same attribute."""
    options = d.words.values.get(word.attribute, {})
    return d.draw_false_word("attribute", list_own_values(d, thing, word), options, is_predicative)


def list_own_values(d: GqaSampler, thing: int, word: DescriptionWord) -> list[str]:
    """All values that the thing has of the word's attribute."""
    return [w.value for w in d.view.words[thing] if w.attribute == word.attribute]


def draw_related(d: GqaSampler, kind: Callable[[str], str]) -> tuple[int, ObjectDescription, ObjectRelation] | None:
    """A thing that is the only one, of a kind, that stands in some relation to another."""
    thing = d.draw_thing()
    tie = d.draw_one(d.view.ties[thing]) if thing is not None else None
    if thing is None or tie is None:
        return None
    depth = DEEPEST if tie.subject else 1  # a preposition follows: not "what is the cat on the mat by the bed on?"
    other = d.view.describe(d.draw, tie.other, away=frozenset({thing}), depth=depth)
    if other is None:
        return None
    description = ObjectDescription(kind(d.view.names[thing]), link=DescriptionLink(tie.relation, other, tie.subject))
    return (thing, description, tie) if d.view.find_matches(description) == 1 << thing else None


def get_kind(name: str) -> str:
    return "person" if is_person(name) else "animal" if is_animal(name) else ""


def draw_existing(d: GqaSampler, holds: bool) -> ObjectDescription | None:
    """A description of something that is there; or of what is not, by another word or another name.

    There is one only where there is the other, so that neither answer is likelier for some things.
    """
    thing = d.draw_one([i for i in d.view.things if d.view.names[i] not in THE])
    description = d.view.describe(d.draw, thing, alone=False) if thing is not None else None
    if thing is None or description is None:
        return None
    by_word = bool(d.draw.integers(2)) and bool(description.words)
    made = None
    if by_word and (value := draw_other_value(d, thing, description.words[0])) is not None:
        made = replace(description, words=(DescriptionWord(description.words[0].attribute, value),))
    elif not by_word:
        tie = description.link or d.draw_one(d.view.ties[thing])
        options = d.words.names.get((tie.relation, tie.subject), {}) if tie else {}
        name = d.draw_false_word("object", d.view.names, options, lambda n: n not in THE)
        made = None if name is None else replace(description, name=name)
    if made is None or d.view.find_matches(made):
        return None
    return description if holds else made


def draw_conjunction(d: GqaSampler) -> tuple[str, tuple[bool, bool]]:
    """And, or; and which of two then hold, so that it is as wanted."""
    if d.draw.integers(2):
        return "and", (True, True) if d.holds else _OTHERWISE[d.draw.integers(3)]
    return "or", (not _OTHERWISE[k := d.draw.integers(3)][0], not _OTHERWISE[k][1]) if d.holds else (False, False)


def is_spatial_relation(relation: str) -> bool:
    """Whether it is said after "is" as it stands, so that it can be the answer: on, next to."""
    return parse_relation(relation) == RelationPredicate("", relation) and not relation.endswith("ing")


# Templates.

QUERYABLE = ("color", "material", "shape", "pattern")  # attributes that are asked for, not only tested

GqaTemplate = Callable[[GqaSampler], GqaDraft | None]


def draft_query_attr(d: GqaSampler) -> GqaDraft | None:
    found = draw_attribute(d, lambda word: word.attribute in QUERYABLE)
    if found is None:
        return None
    thing, word, description = found
    if d.view.world.objects.value(thing, word.attribute) != word.value:
        return None
    builder = GqaProgramBuilder()
    return finish(builder, word.value, "query", builder.add_unique(description), words=(word.attribute,))


def draft_verify_attr(d: GqaSampler) -> GqaDraft | None:
    found = draw_attribute(d)
    if found is None:
        return None
    thing, word, description = found
    other = draw_other_value(d, thing, word)
    if other is None:
        return None
    builder = GqaProgramBuilder()
    return finish(
        builder,
        d.holds,
        "verify",
        builder.add_unique(description),
        words=(word.attribute, word.value if d.holds else other),
    )


def draft_choose_attr(d: GqaSampler) -> GqaDraft | None:
    found = draw_attribute(d)
    if found is None:
        return None
    thing, word, description = found
    options = d.words.values.get(word.attribute, {})
    other = d.draw_rival_word("attribute", word.value, list_own_values(d, thing, word), options, is_predicative)
    if other is None:
        return None
    builder = GqaProgramBuilder()
    return finish(
        builder,
        word.value,
        "choose",
        builder.add_unique(description),
        words=(word.attribute, *d.shuffle_pair(word.value, other)),
    )


def draft_query_rel(d: GqaSampler) -> GqaDraft | None:
    """What, or who, stands in a relation to a thing."""
    found = draw_related(d, get_kind)
    if found is None:
        return None
    thing, description, _ = found
    builder = GqaProgramBuilder()
    return finish(builder, d.view.names[thing], "query", builder.add_unique(description), words=("name",))


def draft_choose_name(d: GqaSampler) -> GqaDraft | None:
    found = draw_related(d, lambda name: "person" if is_person(name) else "")
    if found is None:
        return None
    thing, description, tie = found
    name = d.view.names[thing]
    options = d.words.names.get((tie.relation, tie.subject), {})
    other = d.draw_rival_word("object", name, d.view.names, options, lambda n: is_person(n) == is_person(name))
    if other is None:
        return None
    builder = GqaProgramBuilder()
    return finish(
        builder, name, "choose", builder.add_unique(description), words=("name", *d.shuffle_pair(name, other))
    )


def draft_verify_rel(d: GqaSampler) -> GqaDraft | None:
    """Whether a thing stands in a relation to such another."""
    thing = d.draw_thing()
    tie = d.draw_one([t for t in d.view.ties[thing] if t.subject]) if thing is not None else None
    if thing is None or tie is None:
        return None
    description = d.view.describe(d.draw, thing, away=frozenset({tie.other}))
    other = d.draw_false_word("object", d.view.names, d.words.names.get((tie.relation, False), {}))
    if description is None or other is None:
        return None
    name = d.view.names[tie.other] if d.holds else other
    builder = GqaProgramBuilder()
    at = builder.add_set(ObjectDescription(name, link=DescriptionLink(tie.relation, description, subject=False)))
    builder.put("exist", at, notes=(("said", VERIFY_REL),))
    return GqaDraft(builder.build(), d.holds)


def draft_choose_rel(d: GqaSampler) -> GqaDraft | None:
    """In which of two relations a thing stands to another, "on or under"."""
    thing = d.draw_thing()
    tie = d.draw_one([t for t in d.view.ties[thing] if t.subject]) if thing is not None else None
    if thing is None or tie is None:
        return None
    name = d.view.names[tie.other]
    held = [t.relation for t in d.view.ties[thing] if t.subject and t.other == tie.other]
    other = d.draw_rival_word("relation", tie.relation, held, d.words.relations, is_spatial_relation)
    description = d.view.describe(d.draw, thing, away=frozenset({tie.other}))
    if description is None or other is None or not is_spatial_relation(tie.relation) or d.view.names.count(name) != 1:
        return None
    builder = GqaProgramBuilder()
    one = builder.add_unique(description)
    words = (*d.shuffle_pair(tie.relation, other), "object")
    return finish(builder, tie.relation, "choose_relation", one, builder.add_set(ObjectDescription(name)), words=words)


def draft_exist(d: GqaSampler) -> GqaDraft | None:
    description = draw_existing(d, d.holds)
    if description is None:
        return None
    builder = GqaProgramBuilder()
    return finish(builder, d.holds, "exist", builder.add_set(description))


def draft_logic_exist(d: GqaSampler) -> GqaDraft | None:
    """Two that may be there, joined by and, or."""
    op, hold = draw_conjunction(d)
    first, second = (draw_existing(d, h) for h in hold)
    if first is None or second is None or not first.names().isdisjoint(second.names()):
        return None
    builder = GqaProgramBuilder()
    return finish(
        builder, d.holds, op, *[builder.put("exist", builder.add_set(description)) for description in (first, second)]
    )


def draft_logic_attr(d: GqaSampler) -> GqaDraft | None:
    """What two things may be, joined by and, or."""
    op, hold = draw_conjunction(d)
    first = draw_attribute(d)
    second = draw_attribute(d, away=frozenset({first[0]})) if first else None
    if first is None or second is None or not first[2].names().isdisjoint(second[2].names()):
        return None
    builder = GqaProgramBuilder()
    tested = []
    for (thing, word, description), holds in zip((first, second), hold, strict=True):
        other = draw_other_value(d, thing, word)
        if other is None:
            return None
        value = word.value if holds else other
        tested.append(builder.put("verify", builder.add_unique(description), words=(word.attribute, value)))
    return finish(builder, d.holds, op, *tested)


def draft_compare(d: GqaSampler) -> GqaDraft | None:
    """Whether two things have the same value of an attribute."""
    first = draw_attribute(d, lambda word: word.attribute in QUERYABLE)
    if first is None:
        return None
    thing, word, description = first
    value_of = d.view.world.objects.value
    other = d.draw_one([i for i in d.view.things if i != thing and value_of(i, word.attribute)])
    if other is None or value_of(thing, word.attribute) is None:
        return None
    beside = d.view.describe(d.draw, other, silent=frozenset({word.attribute}), away=frozenset({thing}))
    value = value_of(other, word.attribute)
    same = value == word.value
    if beside is None or value is None or not description.names().isdisjoint(beside.names()):
        return None
    if not same and d.overlap.get_exclusivity("attribute", word.value, value) <= THRESHOLD:
        return None
    builder = GqaProgramBuilder()
    return finish(
        builder, same, "alike", builder.add_set(description), builder.add_set(beside), words=(word.attribute,)
    )


TEMPLATES: dict[str, tuple[str, GqaTemplate]] = {  # by name: GQA's structural type, and how it is drawn
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
TRIES = 4  # draws of a form before it is given up


class GqaQuestioner:
    """Asks of one graph after another; what it asks is a function of the seed, the words and the graph."""

    def __init__(self, words: GqaVocabulary, overlap: MutualExclusivity, seed: int = 0) -> None:
        self.words, self.overlap, self.seed = words, overlap, seed

    def generate_questions(self, scene: Scene, most: int, split: str = "") -> list[Question]:
        """At most so many questions, of different forms as far as may be; no two in the same words."""
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
        kind, form = TEMPLATES[name]
        scene = drawing.view.scene
        draw = drawing.draw
        drawing = drawing._replace(holds=bool(draw.integers(2)), luck=draw.random())
        for _ in range(TRIES):
            drafted = form(drawing)
            if drafted is None:
                continue
            answer = execute(drafted.program, drawing.view.world).answer
            if type(answer) is not type(drafted.answer) or answer != drafted.answer:
                continue
            try:
                text = question_text(drafted.program)
            except Unsayable:
                continue
            where = Provenance("gqa", split, name)
            return Question(
                f"{scene.id}_{number}", text, (scene.id,), drafted.program, answer, kind=kind, provenance=where
            )
        return None
