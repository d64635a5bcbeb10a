"""Plurals and articles."""

import pytest

from shiftscope.english.inflection import article, gerund, is_plural, past_participle, plural, third_person
from shiftscope.english.synonyms import Lexicon
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
        ("policeman", "policemen"),
        ("human", "humans"),
        ("bookshelf", "bookshelves"),
        ("sheep", "sheep"),
        ("tennis court", "tennis courts"),
        ("glass", "glasses"),
        ("palm trees", "palm trees"),
        ("people", "people"),
        ("jeans", "jeans"),
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


def test_what_is_plural_already():
    assert all(map(is_plural, ("people", "trees", "pants", "wine glasses", "skis", "menus", "cattle")))
    assert not any(map(is_plural, ("bus", "grass", "tennis", "cactus", "lens", "gas", "sheep", "dress")))


@pytest.mark.parametrize(
    ("verb", "doing", "done", "does"),
    [
        ("sit", "sitting", "", "sits"),
        ("ride", "riding", "ridden", "rides"),
        ("lie", "lying", "", "lies"),
        ("carry", "carrying", "carried", "carries"),
        ("wrap", "wrapping", "wrapped", "wraps"),
        ("attach", "attaching", "attached", "attaches"),
        ("see", "seeing", "seen", "sees"),
        ("have", "having", "had", "has"),
        ("play", "playing", "played", "plays"),
        ("go", "going", "", "goes"),
        ("eat", "eating", "eaten", "eats"),
    ],
)
def test_verbs(verb, doing, done, does):
    assert gerund(verb) == doing
    assert third_person(verb) == does
    if done:
        assert past_participle(verb) == done


def test_values_are_said_in_english():
    said = Lexicon(superclevr.SCHEMA).get_forms
    assert said("articulated").several == ("articulated buses",)
    assert said("suv").one == ("SUV",)
    assert said("wheel_front_left").one == ("front left wheel",)
    assert said("door_mid_right").one == ("middle right door",)
    assert said("wing_left").one == ("left wing",)
    assert said("gas_tank").one == ("gas tank",)
    assert said("aeroplane").one == ("airplane", "plane")


def test_given_synonyms_come_first():
    said = Lexicon(clevr.SCHEMA, (("sphere", ("orb",)),)).get_forms
    assert said("sphere").one == ("orb",)
    assert said("cube").one == ("cube", "block")
    assert said("left").one == ("to the left of", "left of")
