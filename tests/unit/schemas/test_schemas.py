from shiftscope.schema import Attribute, Schema
from shiftscope.schemas import clevr, superclevr


def test_a_kind_contains_its_values_and_is_a_term_to_filter_by():
    shape = superclevr.SCHEMA.attribute("shape")
    assert shape.kinds_of("sedan") == ("car",)
    assert "car" in shape.terms
    assert "car" not in shape.values


def test_there_are_21_vehicles_in_five_categories():
    assert len(superclevr.SHAPE.values) == 21
    assert [kind for kind, _ in superclevr.CATEGORIES] == ["car", "bus", "motorbike", "aeroplane", "bicycle"]
    assert superclevr.SHAPE.kinds == (*superclevr.CATEGORIES, ("addi", ()))  # officially named, in no scene


def test_a_word_for_a_part_takes_in_every_spelling_of_it():
    kinds = dict(superclevr.PART_KINDS)
    assert kinds["front left wheel"] == ("front_left_wheel", "wheel_front_left")
    assert set(kinds["front left wheel"]) < set(kinds["front wheel"]) < set(kinds["wheel"])
    assert "wheel_front" in kinds["front wheel"]
    assert kinds["left mirror"] == ("left_mirror", "mirror_left")
    assert kinds["any seat"] == ("saddle", "seat")
    assert len(superclevr.PART_NAME.values) == 86


def test_synonyms_are_words_not_meanings():
    assert clevr.SCHEMA.canonical("ball") == "sphere"
    assert "ball" not in clevr.SCHEMA.attribute("shape").terms


def test_the_attribute_of_a_value():
    assert clevr.SCHEMA.attribute_of("metal") == "material"
    assert clevr.SCHEMA.attribute_of("mauve") is None


def test_json_both_ways():
    own = Schema(
        "own",
        attributes=(Attribute("shape", ("oak", "fir"), (("tree", ("oak", "fir")),)),),
        relations=("left",),
        synonyms=(("oak", ("quercus",)),),
    )
    for schema in (own, clevr.SCHEMA, superclevr.SCHEMA):
        assert Schema.from_json(schema.to_json()) == schema


def test_an_unknown_attribute_is_named(refuses):
    with refuses("no attribute 'colour' in schema clevr; did you mean 'color'?"):
        clevr.SCHEMA.attribute("colour")
