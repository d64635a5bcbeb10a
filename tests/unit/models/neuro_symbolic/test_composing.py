"""A parser learned from pairs reads what no pair shows: a template, a composition, an inflected word."""

import json

import pytest

from shiftscope.errors import UserError
from shiftscope.lang.text import format_program, parse_program
from shiftscope.models.neuro_symbolic.composing import ComposingConfig, ComposingParser, learn_composing
from shiftscope.schemas.superclevr import SCHEMA
from vehicle_pairs import build_pairs, find

HELD_OUT = "Is the {0} that is {1} a {2} {3}?"


@pytest.fixture(scope="module")
def config():
    return learn_composing([(text, parse_program(program).canonicalize()) for text, program in build_pairs()], SCHEMA)


@pytest.fixture(scope="module")
def parser(config):
    return ComposingParser(config)


def read(parser, text):
    found = parser.parse(text)
    return found and format_program(found)


def test_phrases_of_leaves_are_found(config):
    said = config.lexicon.entries
    assert ("relation", "left") in said["left",]
    assert ("shape", "school") in said["school", "bus"]


def test_a_question_like_those_learned_from_is_read(parser):
    program = f"count(intersect({find('jet')}, related(filter({find('wagon')}, color=green), left)))"
    assert read(parser, "How many jets are to the left of a green wagon?") == program


def test_a_template_never_met_is_read(parser):
    program = f"verify(unique(intersect({find('sedan')}, related({find('truck')}, behind))), color=green)"
    assert read(parser, HELD_OUT.format("sedan", "behind", "truck", "green")) == program


def test_a_choice_between_nouns_is_learned_from_one_between_colors(parser):
    program = read(parser, "Is the sedan that is behind a truck to the left of a jet or a wagon?")
    assert program is not None and program.endswith("left, object))), shape, jet, wagon)")


def test_things_of_one_set_are_compared_as_those_of_two_are(parser):
    said = read(parser, "Are all of the jets that are behind a truck the same size?")
    assert said is not None and said.endswith("alike(a, a, size)") and "jet" in said


def test_a_count_is_stated_as_it_is_asked_of_images(parser):
    assert read(parser, "There are exactly 2 red jets.") == f"equal(count(filter({find('jet')}, color=red)), 2)"
    program = f"at_least(count(keep(group({find('jet')}), equal, 2)), 1)"
    assert read(parser, "There is at least 1 image that contains exactly 2 jets.") == program


def test_a_number_never_met_is_a_number(parser):
    assert read(parser, "How many images contain exactly 7 blue jets?") == (
        f"count(keep(group(filter({find('jet')}, color=blue)), equal, 7))"
    )


def test_what_cannot_be_read_has_no_program(parser):
    assert parser.parse("Why?") is None and parser.parse("") is None


def test_a_config_survives_its_json(config, parser):
    again = ComposingParser(ComposingConfig.from_json(json.loads(json.dumps(config.to_json()))))
    text = HELD_OUT.format("jet", "behind", "wagon", "red")
    assert read(again, text) == read(parser, text)


def test_nothing_to_learn_from_is_refused():
    with pytest.raises(UserError, match="without questions"):
        learn_composing([], SCHEMA)
