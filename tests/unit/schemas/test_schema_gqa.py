"""GQA's words: which attribute a value belongs to, which kinds a noun."""

import pytest

from shiftscope.schemas.gqa import SCHEMA, plural_name


@pytest.mark.parametrize(
    "noun, kinds",
    [
        ("calf", {"cow", "cows", "animal", "animals", "calves"}),
        ("cows", {"cow", "animal", "animals"}),
        ("cow", {"cows", "animal", "animals"}),
        ("policeman", {"man", "men", "person", "people", "worker", "workers", "he", "policemen"}),
        ("bike", {"bicycle", "bicycles", "vehicle", "vehicles", "bikes"}),
        ("jeans", {"pants", "clothing"}),
        ("zeppelin", set()),
    ],
)
def test_a_noun_belongs_to_its_kinds_in_either_number(noun, kinds):
    assert set(SCHEMA.kinds_of("name", noun)) == kinds


def test_a_glass_is_no_pair_of_glasses():
    assert "glasses" not in SCHEMA.kinds_of("name", "glass")
    assert "glass" not in SCHEMA.kinds_of("name", "glasses")


@pytest.mark.parametrize(
    "value, attribute",
    [("navy blue", "color"), ("orange", "color"), ("wood", "material"), ("cow", "name"), ("odd", None)],
)
def test_a_value_belongs_to_an_attribute(value, attribute):
    assert SCHEMA.attribute_of(value) == attribute


@pytest.mark.parametrize(
    "one, several",
    [
        ("cow", "cows"),
        ("box", "boxes"),
        ("puppy", "puppies"),
        ("fireman", "firemen"),
        ("butter knife", "butter knives"),
        ("sheep", "sheep"),
    ],
)
def test_plurals(one, several):
    assert plural_name(one) == several
