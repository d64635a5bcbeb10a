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
    compare      Are the cat and the mat the same color?

A question with the answer yes is generated only where a similar one with the answer no exists, and vice versa.
"""

from collections.abc import Callable, Iterable
from functools import partial

from ... import rng
from ...answer import Answer
from ...english.adjectives import is_predicative
from ...english.inflection import plural
from ...english.nouns import (
    are_part_and_whole,
    grammatical_number,
    is_alive,
    is_animal,
    is_countable,
    is_kind,
    is_person,
    is_plural_noun,
    is_worn,
    takes_same_article,
)
from ...english.word_lists import word_set, word_table
from ...lang.exec.exact import execute
from ...lang.notations.gqa.steps import VERIFY_REL
from ...lang.program import Program
from ...question import Provenance, Question
from ...scene import Scene
from ...scene_graph.exclusivity import THRESHOLD, MutualExclusivity
from .commonplace import can_be, is_fixed
from .plausibility import NOT_EXCLUSIVE, is_spatial_relation, is_state
from .sampler import (
    GqaSampler,
    NothingToDraw,
    attempt,
    draw_attribute,
    draw_conjunction,
    draw_existing,
    draw_other_value,
    draw_related,
    draw_subject,
    list_own_values,
)
from .scene_view import GqaVocabulary, ObjectRelation, SceneView
from .soundness import OF_SOMETHING, is_sound
from .wording import DescriptionLink, GqaProgramBuilder, ObjectDescription, Unsayable, question_text

OPPOSITES = tuple(map(frozenset, word_table("gqa", "opposites").values()))  # relations of which only one can hold
BACKDROP = word_set("gqa", "backdrop")
AMBIGUOUS = word_set("gqa", "ambiguous")  # an animal, or a thing on a desk
GqaDraft = tuple[Program, Answer]  # a question's program, and the answer that it was made to have


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
    name = d.view.names[thing]
    shapeless = word.attribute == "shape" and not is_countable(name)  # water
    if word.attribute == "material" and is_alive(name):  # a statue, called a man
        raise NothingToDraw
    plain = word.attribute == "pattern" and not (is_worn(name) or is_kind(name, "textile"))
    if shapeless or plain or d.view.world.objects.value(thing, word.attribute) != word.value:
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

    def find_asked_kind(name: str) -> str:
        if is_animal(name) and name not in AMBIGUOUS:
            return "animals" if is_plural_noun(name) else "animal"
        return "person" if is_person(name) else ""

    thing, description, _ = draw_related(d, find_asked_kind)
    return ask_of_one(description, d.view.names[thing], "query", "name")


def draft_choose_name(d: GqaSampler) -> GqaDraft:
    thing, description, tie = draw_related(d, lambda name: "person" if is_person(name) else "")
    if is_state(tie.relation):
        raise NothingToDraw
    name = d.view.names[thing]
    options = d.find_rival_names(tie, thing)

    def fits(other: str) -> bool:
        ends = (other, d.view.names[tie.other]) if tie.subject else (d.view.names[tie.other], other)
        same = is_person(other) == is_person(name) and takes_same_article(other, name)
        return same and can_be(ends[0], tie.relation, ends[1])

    other = d.draw_rival_word("object", name, d.view.names, options, fits)
    return ask_of_one(description, name, "choose", "name", *d.shuffle_pair(name, other))


def draft_verify_rel(d: GqaSampler) -> GqaDraft:
    """Whether a thing stands in a relation to such another."""
    thing, tie = draw_subject(d)
    description = d.view.describe(d.draw, thing, away=frozenset({tie.other}))
    options = d.find_rival_names(ObjectRelation(tie.relation, thing, False), tie.other)
    other = d.draw_false_word("object", d.view.names, options, partial(can_be, d.view.names[thing], tie.relation))
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
    subject, name = d.view.names[thing], d.view.names[tie.other]
    held = [t.relation for t in d.view.ties[thing] if t.subject and t.other == tie.other]

    def fits(relation: str) -> bool:
        if not any({relation, tie.relation} <= some for some in OPPOSITES):
            return False
        subjects, targets = (d.words.names.get((relation, end), {}) for end in (True, False))
        known = subject in subjects and name in targets and not is_fixed(subject) and not is_person(name)
        return can_be(subject, relation, name) and (known or relation in NOT_EXCLUSIVE - {"under", "next to"})

    other = attempt(lambda: d.draw_rival_word("relation", tie.relation, held, d.words.relations, fits))
    description = d.view.describe(d.draw, thing, away=frozenset({tie.other}))
    if description is None or other is None or not is_spatial_relation(tie.relation) or d.view.names.count(name) != 1:
        raise NothingToDraw
    if any(is_kind(one, "place") or one in BACKDROP for one in (subject, name)):
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
    if second.name not in d.words.together.get((first.name,), {}):
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
    others = [i for i in d.view.things if i != thing and d.view.names[i] not in OF_SOMETHING]
    other = d.draw_one([i for i in others if value_of(i, word.attribute)])
    if value_of(thing, word.attribute) is None:
        raise NothingToDraw
    beside = d.view.describe(d.draw, other, silent=frozenset({word.attribute}), away=frozenset({thing}))
    value = value_of(other, word.attribute)
    names = d.view.names[thing], d.view.names[other]
    mass = any(grammatical_number(name) == "mass" for name in names)  # no "are the smoke and the train"
    alike = plural(names[0]) == plural(names[1])
    if beside is None or value is None or mass or alike or are_part_and_whole(*names):
        raise NothingToDraw
    if not description.names().isdisjoint(beside.names()):
        raise NothingToDraw
    same = value == word.value
    if not same and d.overlap.get_exclusivity("attribute", word.value, value) <= THRESHOLD:
        raise NothingToDraw
    if description.link:  # comes last: not "the plate that has the food and the fork"
        description, beside = beside, description
    if description.link:
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

    def generate_questions(
        self, scene: Scene, most: int, split: str = "", elsewhere: Iterable[str] = ()
    ) -> list[Question]:
        """At most so many questions, of different templates as far as may be; no two in the same words.

        What other graphs of the same picture name is not said to be absent.
        """
        draw = rng.derive("gqa", self.seed, scene.id)
        drawing = GqaSampler(SceneView(scene, elsewhere, self.words), self.words, self.overlap, draw)
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
                    if not is_sound(program, text, answer):
                        continue
                    return Question(
                        f"{scene.id}_{number}", text, (scene.id,), program, answer, kind=kind, provenance=where
                    )
            except (NothingToDraw, Unsayable):
                continue
        return None
