"""Wording: what a filled template reads like."""

import re

import pytest

from shiftscope.english.synonyms import Lexicon
from shiftscope.questions.clevr.template import Template, TemplateNode, TemplateSlot
from shiftscope.questions.clevr.vocabulary import SlotVocabulary
from shiftscope.questions.clevr.wording import OPTION_BITS, QuestionWording
from shiftscope.schemas import clevr, superclevr

SLOTS = tuple(
    TemplateSlot(f"<{letter}{n}>", kind)
    for n in ("", "2")
    for letter, kind in (("Z", "Size"), ("C", "Color"), ("M", "Material"), ("S", "Shape"))
)
FIRST, SECOND = tuple(s.name for s in SLOTS[:4]), tuple(s.name for s in SLOTS[4:])
NODES = (
    TemplateNode("scene"),
    TemplateNode("filter_unique", (0,), FIRST),
    TemplateNode("same_color", (1,)),
    TemplateNode("filter_count", (2,), SECOND),
)
KEEP_ALL = ((1 << 8) - 1) << (OPTION_BITS + 8)
SPREAD = 0x9E3779B97F4A7C15  # odd multiples of it are random enough


def say(text, first="", second="", dice=0, schema=clevr.SCHEMA, slots=SLOTS):
    """The text with its slots filled by words such as "red cube"."""
    vocabulary = SlotVocabulary.from_schema(schema)
    template = Template("t", 0, slots, (text,), NODES)
    values = []
    for words in (first, second):
        for attribute in schema.attributes:
            found = [w for w in words.split() if w in attribute.terms]
            values.append(vocabulary.names.index(found[0]) if found else -1)
    return QuestionWording(template, vocabulary, Lexicon(schema))(values, dice)


THE = "the <Z> <C> <M> <S>"


def test_slots_are_filled_and_empty_ones_leave_no_gap():
    assert say(f"What is {THE}?", "small red cube") == "What is the small red cube?"
    assert say(f"What is {THE}?", "red") == "What is the red thing?"
    assert say(f"What is {THE}?") == "What is the thing?"
    assert say("Is it <Z> <C>?", "red") == "Is it red?"
    assert say("Is it <C> <Z>?", "red") == "Is it red?"


def test_plurals():
    assert say("How many <Z> <C> <M> <S>s are there?", "cube") == "How many cubes are there?"
    assert say("Do <Z> <C> <M> <S>s, red or not, count?") == "Do things, red or not, count?"
    assert say("<S>s?", "bus", schema=superclevr.SCHEMA) == "Buses?"
    assert say("<S>s?", "articulated", schema=superclevr.SCHEMA) == "Articulated buses?"
    assert say("<S>s?", "suv", schema=superclevr.SCHEMA) == "SUVs?"


def test_articles_follow_the_next_word():
    text = "There is a <Z> <C> <M> <S>."
    assert say(text, "red cube") == "There is a red cube."
    assert {say(text, dice=d * 0x9E3779B1) for d in range(50)} == {"There is a thing.", "There is an object."}
    assert say(text, "airliner", schema=superclevr.SCHEMA) == "There is an airliner."
    assert say(text, "utility", schema=superclevr.SCHEMA) == "There is a utility bike."
    assert say("A <Z> <C> <M> <S> or a cube?", "suv", schema=superclevr.SCHEMA) == "An SUV or a cube?"


def test_optional_words_come_and_go():
    text = f"{THE} [that is] <C2>?"
    assert say(text, "cube", "red") == "The cube red?"
    assert say(text, "cube", "red", dice=KEEP_ALL) == "The cube that is red?"


def test_one_value_has_one_synonym_within_a_question():
    text = f"{THE} and the <Z2> <C2> <M2> <S2>?"
    said = {say(text, "large metal sphere", "large metal sphere", dice=d * 0x9E3779B1) for d in range(300)}
    assert len(said) == 12  # large, big × metal, metallic, shiny × sphere, ball
    for one in said:
        left, right = one.removesuffix("?").lower().split(" and ")
        assert left == right


def test_other_goes_where_the_descriptions_already_differ():
    text = f"How many other <Z2> <C2> <M2> <S2>s match {THE}?"
    assert say(text, "small cube", "small") == "How many other small things match the small cube?"
    assert say(text, "small cube", "large") == "How many large things match the small cube?"
    assert say(text, "cube") == "How many other things match the cube?"
    kinds = {"schema": superclevr.SCHEMA}
    assert say(text, "sedan", "car", **kinds) == "How many other cars match the sedan?"
    assert say(text, "sedan", "bus", **kinds) == "How many buses match the sedan?"


def test_another_becomes_an_article():
    text = f"Does {THE} match another <Z2> <C2> <M2> <S2>?"
    assert say(text, "cube", "small") == "Does the cube match another small thing?"
    assert say(text, "cube", "sphere") == "Does the cube match a sphere?"
    assert say(text, "sedan", "airliner", schema=superclevr.SCHEMA) == "Does the sedan match an airliner?"


def test_another_becomes_an_article_before_a_plain_word_too():
    text = f"Does {THE} match another object, a <Z2> <C2> <M2> <S2>?"
    assert say(text, "cube", "sphere") == "Does the cube match an object, a sphere?"


def test_an_article_at_the_end_is_left_alone():
    assert say("there is a <Z>") == "There is a"
    assert say("there is a <Z>?") == "There is a?"
    assert say("an <Z> [x]") == "A"
    assert say("an <Z> [x]", dice=KEEP_ALL) == "A x"


def test_marks_stand_where_they_belong():
    assert say("<Z> ? what") == "? what"
    assert say("is it «<C>» or ( <Z> ) ?", "red") == "Is it «red» or ()?"
    assert say("is it «old» or “new” or (so) - yes ?") == "Is it «old» or “new” or (so) - yes?"
    assert say('is it a "<S>", a (<Z> <C>) one?', "suv", schema=superclevr.SCHEMA).startswith('Is it an "SUV", a')


def test_what_is_stuck_to_a_slot_goes_with_its_word():
    assert say("the <C>-colored <S>'s size?", "red cube") == "The red-colored cube's size?"
    assert say("the <C>-colored <S>'s size?", "cube") == "The cube's size?"


@pytest.mark.parametrize("size", [16, 17, 40, 200])
def test_every_optional_word_has_its_chance(size):
    text = "so " + " ".join(f"[w{i}]" for i in range(size))
    said = [set(say(text, dice=i * SPREAD % 2**64).split()) for i in range(1, 60, 2)]
    for i in range(size):
        assert 5 <= sum(f"w{i}" in words for words in said) <= 25


@pytest.mark.parametrize("dice", [0, 1, 2**63, 2**64 - 1, 0x0123456789ABCDEF])
def test_any_bits_give_a_clean_sentence(dice):
    said = say(f"Is [there] a <Z2> <C2> <M2> <S2> [that is] <C>, {THE}?", "red cube", "small", dice)
    assert re.fullmatch(r"Is (there )?a (small|tiny) (thing|object) (that is )?red, the red (cube|block)\?", said)
