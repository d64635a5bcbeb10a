"""Plurals and articles."""

import pytest

from shiftscope.ask.english import article, plural
from shiftscope.ask.lexicon import Lexicon
from shiftscope.schemas import clevr, superclevr


@pytest.mark.parametrize(
    ("one", "several"),
    [
        ("thing", "things"),
        ("bus", "buses"),
        ("articulated bus", "articulated buses"),
        ("SUV", "SUVs"),
        ("double-decker bus", "double-decker buses"),
        ("box", "boxes"),
        ("torch", "torches"),
        ("lorry", "lorries"),
        ("toy", "toys"),
        ("person", "people"),
        ("license plate", "license plates"),
    ],
)
def test_plural(one, several):
    assert plural(one) == several


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("object", "an"),
        ("thing", "a"),
        ("orange cube", "an"),
        ("articulated bus", "an"),
        ("airliner", "an"),
        ("SUV", "an"),
        ("utility bike", "a"),
        ("unicorn", "a"),
        ("hour", "an"),
        ("BMX", "a"),
        ("umbrella", "an"),
    ],
)
def test_article(word, expected):
    assert article(word) == expected


def test_values_are_said_in_english():
    said = Lexicon(superclevr.SCHEMA).said
    assert said("articulated").several == ("articulated buses",)
    assert said("suv").one == ("SUV",)
    assert said("wheel_front_left").one == ("front left wheel",)
    assert said("door_mid_right").one == ("middle right door",)
    assert said("wing_left").one == ("left wing",)
    assert said("gas_tank").one == ("gas tank",)
    assert said("aeroplane").one == ("aeroplane", "airplane", "plane")


def test_given_synonyms_come_first():
    said = Lexicon(clevr.SCHEMA, (("sphere", ("orb",)),)).said
    assert said("sphere").one == ("orb",)
    assert said("cube").one == ("cube", "block")
    assert said("left").one == ("to the left of", "left of")
