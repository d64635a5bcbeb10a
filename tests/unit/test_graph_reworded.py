"""Scenes under the words of their questions: one name for what reads alike, answers that stand in the text."""

from dataclasses import replace

import pytest

from graphs import graph
from shiftscope.graph.ask._belonging import belong
from shiftscope.graph.ask._relations import predicate
from shiftscope.graph.ask.reworded import attribute_word, name_word, relation_word, reworded
from shiftscope.graph.pack import pack
from shiftscope.scene import FREE
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
    assert relation_word(written) == said
    assert relation_word(said) == said
    assert predicate(said) == predicate(written)


def test_an_attribute_is_called_as_it_is_said():
    assert attribute_word("laying down") == "lying down"
    assert attribute_word("taking photo") == "taking a photo"
    assert attribute_word("white") == "white"
    assert attribute_word("group of") == "group of"


SCENE = graph(
    "a",
    "laying man, hat, dog, camera",
    *("0 wears 1", "0 has on 1", "0 with 2", "0 with 3", "2 in back of 0"),
)


def test_names_that_read_alike_are_one_relation():
    said = reworded(SCENE)
    triples = {(r.name, *pair) for r in said.relations for pair in r.triples()}
    assert triples == {("wearing", 0, 1), ("with", 0, 2), ("have", 0, 3), ("behind", 2, 0)}
    assert said.objects[0].values(FREE) == ("lying",)
    assert reworded(said) == said
    assert (said.id, said.schema, said.size) == (SCENE.id, SCENE.schema, SCENE.size)


def test_a_modified_relation_keeps_its_modifier():
    modifiers = {"lay on with": ["lay on", "with"]}
    scene = graph("a", "man, bed, towel", "0 lay on 1", "0 lay on with 2", modifiers=modifiers)
    said = reworded(replace(scene, notes=(*scene.notes, ("verb", "lay"))))
    assert {r.name for r in said.relations} == {"lying on", "lying on with"}
    assert said.note("modifiers") == {"lying on with": ["lying on", "with"]}
    assert said.note("verb") == "lay"
    assert pack([said]).modifiers == ("with",)


def test_a_closed_schema_has_its_own_words():
    scene = replace(SCENE, schema=superclevr.SCHEMA)
    assert reworded(scene) is scene


@pytest.mark.parametrize(
    ("first", "second"),
    [
        *(("woman", "head"), ("hat", "man"), ("house", "roof"), ("tree branch", "tree"), ("plate", "table")),
        *(("ground", "road"), ("surface", "table"), ("room", "wall"), ("bird", "beak"), ("car", "wheel")),
    ],
)
def test_what_belongs_to_another_is_not_to_choose_from(first, second):
    assert belong(first, second)
    assert belong(second, first)


def test_things_of_their_own_are():
    pairs = (("bottle", "purse"), ("bed", "floor"), ("man", "dog"), ("table", "chair"), ("house", "car"))
    assert not any(belong(*pair) for pair in pairs)


@pytest.mark.parametrize(
    ("written", "said"),
    [("plane", "airplane"), ("tv", "television"), ("planes", "airplanes"), ("sofa", "couch"), ("dog", "dog")],
)
def test_plain_synonyms_are_one_name(written, said):
    assert name_word(written) == said
    (thing,) = reworded(graph("a", written)).objects
    assert thing.values("name") == (said,)


@pytest.mark.parametrize(
    ("written", "said"), [("grey", "gray"), ("dark grey", "dark gray"), ("blonde", "blond"), ("red", "red")]
)
def test_a_color_has_one_spelling(written, said):
    assert attribute_word(written) == said
