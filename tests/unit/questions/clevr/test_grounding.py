"""Every phrase of a question refers to what its words and its part of the program say."""

import re
from dataclasses import replace
from functools import cache

import pytest

from shiftscope.english.synonyms import PART, THING, Lexicon
from shiftscope.lang.check import plan_program
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.execution_world import ExecutionWorld
from shiftscope.lang.op import OBJECT, OBJECTS, PARTS
from shiftscope.lang.op import PART as PART_TYPE
from shiftscope.lang.program import Program
from shiftscope.question import GroundedPhrase, Question
from shiftscope.questions.clevr.generator import generate_questions
from shiftscope.questions.clevr.redundancy import LEVELS, generate_levels
from shiftscope.questions.clevr.template_sets import builtin_part_templates, builtin_templates
from shiftscope.world import clevr, superclevr

KINDS = ("clevr", *LEVELS, "parts")
LEADING = {"the", "a", "an", "any", "every", "all", "its", "other", "another", "same", "anything", "else"}
SETS = (OBJECTS, OBJECT, PARTS, PART_TYPE)


@cache
def ask(kind, grounding=True):
    world = clevr if kind == "clevr" else superclevr
    scenes = [world.sample_scene(1, "ground", i) for i in range(30)]
    schema = scenes[0].schema
    if kind in LEVELS:
        asked = generate_levels(scenes, builtin_templates(schema), (kind,), grounding=grounding)[kind]
    else:
        templates = (builtin_part_templates if kind == "parts" else builtin_templates)(schema)
        asked = generate_questions(scenes, templates, grounding=grounding)
    by_id = {scene.id: scene for scene in scenes}
    return [(q, by_id[q.scenes[0]]) for q in asked]


def things_of(phrase, scene):
    """What it refers to, as the sets of the executor count it."""
    if not phrase.parts:
        return sum(1 << i for i in phrase.objects)
    listed = [(i, part.name) for i, o in enumerate(scene.objects) for part in o.parts]
    return sum(1 << listed.index(part) for part in phrase.parts)


@cache
def terms_by_word(schema, part):
    """Every way to say a value, in the singular and the plural, and what it may mean."""
    lexicon, found = Lexicon(schema), {}
    for attribute in schema.part_attributes if part else schema.attributes:
        for value in (*attribute.values, *(kind for kind, _ in attribute.kinds)):
            forms = lexicon.get_forms(value)
            for words in (*forms.one, *forms.several):
                found.setdefault(words.lower(), set()).add((attribute.name, value))
    return found


def says(text, schema, part):
    """What the words of a phrase may say: a set of terms for each word, leading words and plain nouns left out."""
    known, lexicon = terms_by_word(schema, part), Lexicon(schema)
    forms = lexicon.get_forms(PART if part else THING)
    plain = {w.lower() for w in (*forms.one, *forms.several)} | LEADING
    words, found, at = re.sub(r"\b(repainted)\b", "", text.lower()).split(), [], 0
    while at < len(words):
        size = next((n for n in range(4, 0, -1) if " ".join(words[at : at + n]) in known), 0)
        if size:
            found.append(known[" ".join(words[at : at + size])])
        elif words[at] not in plain:
            return None
        at += size or 1
    return found


def executed_sets(question, scene):
    """Of each node that gives things: whether they are parts, the filters just before it, and its set, run by itself."""
    program, world = question.program, ExecutionWorld((scene,))
    for at, kind in enumerate(plan_program(program).types):
        if kind in SETS:
            filters, i = [], at
            while program.nodes[i].op in ("filter", "unique"):
                filters += [program.nodes[i].params] if program.nodes[i].op == "filter" else []
                (i,) = program.nodes[i].inputs
            value = execute(Program(program.nodes[: at + 1]), world).values[at]
            yield kind in (PARTS, PART_TYPE), filters, value


@pytest.mark.parametrize("kind", KINDS)
def test_phrases_lie_in_the_text_in_order_and_do_not_overlap(kind):
    for q, _ in ask(kind):
        assert q.grounding, q.text
        end = 0
        for phrase in q.grounding:
            assert end <= phrase.start < phrase.end <= len(q.text)
            end = phrase.end
            text = q.text[phrase.start : phrase.end]
            assert text == text.strip(" .,;?!"), q.text
            around = q.text[: phrase.start][-1:] + q.text[phrase.end :][:1]
            assert not any(letter.isalnum() for letter in around), q.text


@pytest.mark.parametrize("kind", KINDS)
def test_a_phrase_refers_to_the_set_that_its_part_of_the_program_gives(kind):
    assert len(ask(kind)) > 250
    for q, scene in ask(kind):
        sets = list(executed_sets(q, scene))
        for phrase in q.grounding:
            text = q.text[phrase.start : phrase.end]
            of_parts = bool(phrase.parts) or (kind == "parts" and says(text, scene.schema, False) is None)
            said = says(text, scene.schema, of_parts)
            assert said is not None, (text, q.text)
            fitting = [
                value
                for parts, filters, value in sets
                if parts == of_parts
                and (not filters or len(filters) == len(said))
                and all(any(tuple(f) in terms for terms in said) for f in filters)
            ]
            found = things_of(phrase, scene)
            if "repainted parts" in text and not said:  # of two vehicles at once
                assert sum(fitting) >= found > 0
            else:
                assert found in fitting, (text, q.text)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_phrase_refers_to_fits_its_words(kind):
    for q, scene in ask(kind):
        world = ExecutionWorld((scene,))
        for phrase in q.grounding:
            text = q.text[phrase.start : phrase.end]
            things = world.parts if phrase.parts else world.objects
            for terms in says(text, scene.schema, bool(phrase.parts)) or ():
                allowed = 0
                for term in terms:
                    allowed |= things.mask(*term)
                assert not things_of(phrase, scene) & ~allowed, (text, q.text)


@pytest.mark.parametrize("kind", KINDS)
def test_the_one_thing_a_phrase_names_is_one_and_counts_are_of_their_phrase(kind):
    for q, _ in ask(kind):
        sizes = [len(phrase.objects) + len(phrase.parts) for phrase in q.grounding]
        for phrase, size in zip(q.grounding, sizes, strict=True):
            text = q.text[phrase.start : phrase.end].lower()
            if re.match(r"the (?!.*s$)", text) and "every" not in text:
                assert size == 1, q.text
        ops = [n.op for n in q.program.nodes]
        if q.kind == "count" and ops[-3:] != ["union", "filter", "count"]:  # no phrase for those of them that are red
            assert q.answer in sizes, q.text
        if q.kind == "exist":
            assert (0 in sizes) == (q.answer is False) or kind == "parts", q.text


@pytest.mark.parametrize("kind", KINDS)
def test_grounding_is_left_out_unless_asked_for_and_changes_nothing_else(kind):
    assert [q for q, _ in ask(kind, False)] == [replace(q, grounding=()) for q, _ in ask(kind)]


def test_a_twin_keeps_the_grounding_of_what_it_keeps():
    plus = {q.note("twin"): q for q, _ in ask("rd+")}
    for q, scene in ask("rd-"):
        other = plus[q.note("twin")]
        if q.provenance.template == other.provenance.template == "single_or.json":  # "them", for one, is no phrase
            continue
        assert {things_of(p, scene) for p in q.grounding} <= {things_of(p, scene) for p in other.grounding}, q.text


def test_grounding_survives_json_and_names_no_other_question():
    q = Question(
        "q",
        "Is the roof of the bus red?",
        ("s",),
        grounding=(GroundedPhrase(3, 11, (), ((4, "roof"),)), GroundedPhrase(15, 22, (4,))),
    )
    assert Question.from_json(q.to_json()) == q
    assert q.to_json()["grounding"] == [
        {"span": [3, 11], "objects": [], "parts": [[4, "roof"]]},
        {"span": [15, 22], "objects": [4]},
    ]
    assert q.content_id() == Question("q", q.text, ("s",)).content_id()
