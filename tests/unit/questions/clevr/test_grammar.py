"""Thousands of our questions, read for slips of grammar."""

import re

import pytest

from shiftscope.questions.clevr.generator import generate_questions
from shiftscope.questions.clevr.template_sets import builtin_templates
from shiftscope.schemas import clevr, superclevr
from worlds import random_scene


@pytest.fixture(scope="module", params=[clevr.SCHEMA, superclevr.SCHEMA], ids=lambda s: s.name)
def texts(request):
    schema = request.param
    scenes = [random_scene(schema, k) for k in range(250)]
    made = [q for seed in range(2) for q in generate_questions(scenes, builtin_templates(schema), seed=seed)]
    assert len(made) > 4000
    return [q.text for q in made]


@pytest.mark.parametrize(
    "slip",
    [
        r"  |\s$|^\s",  # doubled or loose spaces
        r"[<>\[\]{}_]",  # a slot, an option or a file's name left in
        r"\b[Aa] [aeioAEIO]",  # a object (no adjective of ours begins with a sounded u but 'utility')
        r"\b[Aa]n [^aeioAEIOS]",
        r"\b[Aa] SUV|buss\b|suv\b|\b\w+sss\b|\bthing(s)? s\b",
        r"\b(\w+) \1\b",  # a word twice
        r"\bthe (an?|another|any)\b|\b(an?|another) (the|other)\b|\bother the\b",
        r"\b(?:is|Is) (?:\w+ )*?(?:are|is) there\b",
        r"\b(?:things|objects|cubes|balls|buses) (?:lies|is|matches|shares)\b(?! used)",
        r" [?,.;]|[?,;.][?,;.]",
        r"\bleft (?!of|door|wheel)|\bright (?!of|door|wheel)|\bfront (?!of|left|right)",
    ],
)
def test_no_slip(texts, slip):
    found = [t for t in texts if re.search(slip, t)]
    assert found == []


def test_every_text_is_a_question_that_starts_with_a_capital(texts):
    for text in texts:
        assert text[0].isupper()
        assert text.endswith("?")


def test_wordings_vary(texts):
    assert len({t.split()[0] for t in texts}) >= 10
    assert len(set(texts)) > 0.9 * len(texts)


def test_verbs_agree_with_their_questions(texts):
    for text in texts:
        if text.startswith("How many"):
            assert re.match(r"How many (?:\S+ )*?\S+s (?:\S+ )*?(are|do|does|have)\b", text), text
        if text.startswith("Is any "):
            assert re.match(r"Is any (?:other )?(?:\S+ )*?(?:\S*[^s]|\S*bus) (?:the same|made of) ", text), text


@pytest.mark.parametrize(
    "fault",
    [
        r"\b(?:be|of|have|from)\?",  # a verb or preposition that a long phrase parts from its noun; but "made of?"
        r"\bWith how many|\bOn how many|\bLooking ",
        r"\bmatch(?:es)? |\bshares? |\blies? ",
        r"at the same time|taken together|aeroplane",
        r"\bha(?:s|ve) the same (?:size|material|model)",
        r"\b(?:any things|any objects|any vehicles|a thing|an object|a vehicle) (?:left|right|to|behind|in)\b",
        r"either .*\bones\b|either (?:(?! or ).)*\b(?:small|large|tiny|big) (?:things|objects|vehicles)\b",
        r"either (?:(?! left of| right of| behind| in front of).)* or .*(?:left of|right of|behind|in front of)",
        r"^Is the (?:(?!that )\S+ ){1,4}(?:to the |in )?(?:left|right|behind|front)\b",  # without "that is"
    ],
)
def test_nobody_would_say_that(texts, fault):
    assert [t for t in texts if re.search(fault, t) and not t.lower().endswith("what is it made of?")] == []


def test_sentences_stay_short(texts):
    """Over 35 words one in five hundred: three relations, and every thing described in full."""
    lengths = [len(t.split()) for t in texts]
    assert sum(n > 35 for n in lengths) <= len(lengths) / 500
    assert max(lengths) <= 40
