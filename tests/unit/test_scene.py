import json
import pickle
from dataclasses import FrozenInstanceError, replace

import pytest

from shiftscope.scene import Object, Relation, Scene
from shiftscope.scene_table import pack_scenes
from shiftscope.schema import Attribute, Schema
from toy import THREE_AND_ONE, TRAFFIC, objects, scene, thing


def test_derived_relations_follow_the_margin_of_a_fifth():
    pair = scene(thing("small red rubber cube", 0), thing("small red rubber cube", 0.2, 0.3))
    assert pair.relation("right") == (0, 0)  # 0.2 is not more than 0.2
    assert pair.relation("behind") == (objects(1), 0)


def test_a_relation_names_those_that_stand_in_it_to_each_object():
    assert THREE_AND_ONE.relation("left") == (0, objects(0), objects(0, 1, 3), objects(0, 1))


def test_stored_relations_win_over_derived_ones():
    stored = replace(THREE_AND_ONE, relations=(Relation("left", (objects(3), 0, 0, 0)),))
    assert stored.relation("left") == (objects(3), 0, 0, 0)
    assert stored.relation("right") == THREE_AND_ONE.relation("right")


def test_an_unknown_relation_is_none():
    assert THREE_AND_ONE.relation("on") is None


def test_triples_are_subject_then_object():
    on = Relation.of("on", [(0, 1), (2, 1)], 3)
    assert on.rows == (0, objects(0, 2), 0)
    assert list(on.triples()) == [(0, 1), (2, 1)]


@pytest.mark.parametrize("one", [THREE_AND_ONE, TRAFFIC], ids=lambda s: s.id)
def test_json_both_ways(one):
    again = Scene.from_json(json.loads(json.dumps(one.to_json())))
    assert again == one
    assert again.content_id() == one.content_id()


def test_json_of_an_open_scene_keeps_several_attributes_boxes_and_relations():
    graph = Scene(
        (
            Object((("name", "man"), ("attribute", "tall"), ("attribute", "old")), id="71", box=(1, 2, 3, 4)),
            Object((("name", "hat"),), id="72"),
        ),
        relations=(Relation.of("wearing", [(0, 1)], 2),),
        attributes=(("weather", "sunny"),),
        size=(640, 480),
        id="2354786",
    )
    assert Scene.from_json(json.loads(json.dumps(graph.to_json()))) == graph
    assert graph.objects[0].values("attribute") == ("tall", "old")


def test_a_scene_of_a_users_own_schema_carries_it_in_json():
    own = Schema("own", attributes=(Attribute("shape", ("oak",)),))
    wood = Scene((Object((("shape", "oak"),)),), schema=own)
    assert Scene.from_json(wood.to_json()).schema == own


def test_the_content_id_is_of_the_content_not_of_its_name_or_notes():
    renamed = replace(THREE_AND_ONE, id="other", notes=(("split", "val"),))
    assert renamed.content_id() == THREE_AND_ONE.content_id()
    moved = replace(THREE_AND_ONE, objects=THREE_AND_ONE.objects[1:])
    assert moved.content_id() != THREE_AND_ONE.content_id()


def test_nothing_changes_in_place():
    with pytest.raises(FrozenInstanceError):
        THREE_AND_ONE.id = "x"


def test_equal_scenes_have_one_content_id_however_their_numbers_are_typed_or_travelled():
    whole = replace(THREE_AND_ONE, objects=(replace(THREE_AND_ONE.objects[0], position=(1, 2, 3)),))
    same = replace(THREE_AND_ONE, objects=(replace(THREE_AND_ONE.objects[0], position=(1.0, 2.0, 3.0)),))
    assert whole == same
    assert whole.content_id() == same.content_id() == pack_scenes([whole])[0].content_id()
    opened = Scene((Object((("name", "x"),)),))
    assert pickle.loads(pickle.dumps(opened)).content_id() == opened.content_id()


def test_a_schema_that_only_shares_a_known_name_is_carried_in_full():
    own = Scene((), schema=Schema("clevr", (Attribute("color", ("teal",)),)))
    assert Scene.from_json(own.to_json()) == own
