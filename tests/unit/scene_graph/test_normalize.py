"""Scenes under the words of their questions: one name for what reads alike, answers that stand in the text."""

from dataclasses import replace

import pytest

from graphs import graph
from shiftscope.english.nouns import are_part_and_whole
from shiftscope.english.relations import parse_relation
from shiftscope.scene import FREE
from shiftscope.scene_graph.extract import normalize_attribute, normalize_name, normalize_relation, normalize_scene
from shiftscope.scene_graph.pack import pack_graphs
from shiftscope.schemas import superclevr


@pytest.mark.parametrize(
    ("written", "said"),
    [
        *((name, "wearing") for name in ("wear", "wears", "wearing", "have on", "has on")),
        *((name, "lying on") for name in ("lay on", "laying on", "lie on", "lies on", "lying on")),
        ("in back of", "behind"),
        ("behind", "behind"),
        ("stand in", "standing in"),
        ("surround", "surrounding"),
        ("has", "have"),
        ("pv:attach to", "attached to"),
        ("trick on", "doing a trick on"),
        ("on side of", "on the side of"),
        ("to the left of", "to the left of"),
        ("left of", "to the left of"),
        ("of", "of"),  # no words for it: as it is
        ("pv:spread on", "pv:spread on"),  # is "spread on", but "spread on" would be spreading
    ],
)
def test_a_relation_is_called_as_it_is_said(written, said):
    assert normalize_relation(written) == said
    assert normalize_relation(said) == said
    assert parse_relation(said) == parse_relation(written)


def test_an_attribute_is_called_as_it_is_said():
    assert normalize_attribute("laying down") == "lying down"
    assert normalize_attribute("taking photo") == "taking a photo"
    assert normalize_attribute("white") == "white"
    assert normalize_attribute("group of") == "group of"


SCENE = graph(
    "a", "laying man, hat, dog, camera", *("0 wears 1", "0 has on 1", "0 with 2", "0 with 3", "2 in back of 0")
)


def test_names_that_read_alike_are_one_relation():
    said = normalize_scene(SCENE)
    triples = {(r.name, *pair) for r in said.relations for pair in r.triples()}
    assert triples == {("wearing", 0, 1), ("with", 0, 2), ("have", 0, 3), ("behind", 2, 0)}
    assert said.objects[0].values(FREE) == ("lying down",)
    assert normalize_scene(said) == said
    assert (said.id, said.schema, said.size) == (SCENE.id, SCENE.schema, SCENE.size)


def test_a_modified_relation_keeps_its_modifier():
    modifiers = {"lay on with": ["lay on", "with"]}
    scene = graph("a", "man, bed, towel", "0 lay on 1", "0 lay on with 2", modifiers=modifiers)
    said = normalize_scene(replace(scene, notes=(*scene.notes, ("verb", "lay"))))
    assert {r.name for r in said.relations} == {"lying on", "lying on with"}
    assert said.note("modifiers") == {"lying on with": ["lying on", "with"]}
    assert said.note("verb") == "lay"
    assert pack_graphs([said]).modifiers == ("with",)


def test_a_closed_schema_has_its_own_words():
    scene = replace(SCENE, schema=superclevr.SCHEMA)
    assert normalize_scene(scene) is scene


@pytest.mark.parametrize(
    ("first", "second"),
    [
        *(("woman", "head"), ("hat", "man"), ("house", "roof"), ("tree branch", "tree"), ("plate", "table")),
        *(("ground", "road"), ("surface", "table"), ("room", "wall"), ("bird", "beak"), ("car", "wheel")),
    ],
)
def test_what_belongs_to_another_is_not_to_choose_from(first, second):
    assert are_part_and_whole(first, second)
    assert are_part_and_whole(second, first)


def test_things_of_their_own_are():
    pairs = (("bottle", "purse"), ("bed", "floor"), ("man", "dog"), ("table", "chair"), ("house", "car"))
    assert not any(are_part_and_whole(*pair) for pair in pairs)


@pytest.mark.parametrize(
    ("written", "said"),
    [("plane", "airplane"), ("tv", "television"), ("planes", "airplanes"), ("sofa", "couch"), ("dog", "dog")],
)
def test_plain_synonyms_are_one_name(written, said):
    assert normalize_name(written) == said
    (thing,) = normalize_scene(graph("a", written)).objects
    assert thing.values("name") == (said,)


@pytest.mark.parametrize(
    ("written", "said"), [("grey", "gray"), ("dark grey", "dark gray"), ("blonde", "blond"), ("red", "red")]
)
def test_a_color_has_one_spelling(written, said):
    assert normalize_attribute(written) == said
