"""Scene graphs pack to arrays of codes, and what can not be packed is said in a sentence."""

import pytest

from graphs import graph
from shiftscope.errors import UserError
from shiftscope.formats.gqa import parse_scene
from shiftscope.scene import Object, Scene
from shiftscope.scene_graph.pack import pack_graphs
from shiftscope.schema import OPEN
from toy import THREE_AND_ONE, TRAFFIC

HOME = graph("home", "black dog, man, large black cat", "1 holding 0", "2 near 1", "1 to the left of 0")
PARK = graph("park", "puppy")


def test_codes_are_places_in_sorted_vocabularies():
    packed = pack_graphs([HOME, PARK])
    assert packed.ids == ("home", "park")
    assert packed.names == tuple(sorted(packed.names))
    assert {"animal", "cat", "dog", "man", "person", "puppy"} < set(packed.names)
    assert [packed.names[code] for code in packed.object_names] == ["dog", "man", "cat", "puppy"]
    assert packed.attributes == ("black", "large")
    assert packed.relations == ("holding", "near")
    assert packed.object_starts.tolist() == [0, 3, 4]
    assert [packed.list_attributes(k) for k in range(4)] == [["black"], [], ["black", "large"], []]
    assert packed.triple_subjects.tolist() == [1, 2]
    assert packed.triple_objects.tolist() == [0, 1]
    assert packed.numbers["park"] == 1


def test_a_puppy_answers_to_dog():
    packed = pack_graphs([HOME, PARK])
    dog, puppy = packed.name_codes["dog"], packed.name_codes["puppy"]
    assert sorted(packed.narrower[dog].tolist()) == [dog, puppy]
    assert packed.narrower[puppy].tolist() == [puppy]
    assert len(packed.narrower[packed.name_codes["animal"]]) == 4  # cat, dog, puppy and the word itself


def test_sides_come_along_when_asked_for():
    assert "to the left of" in pack_graphs([HOME], keep_spatial=True).relations


def test_the_half_of_the_image_a_box_is_in_is_no_attribute():
    thing = {"name": "dog", "x": 0, "y": 0, "w": 5, "h": 5, "attributes": ["wet"], "relations": []}
    scene = parse_scene("a", {"width": 10, "height": 10, "objects": {"1": thing}})
    assert pack_graphs([scene]).attributes == ("wet",)


def test_a_solid_is_called_by_its_shape():
    packed = pack_graphs([THREE_AND_ONE])
    assert packed.names == ("cube", "cylinder", "sphere")
    assert packed.list_attributes(0) == ["red", "rubber", "small"]
    assert packed.relations == ()
    spatial = pack_graphs([THREE_AND_ONE], keep_spatial=True)
    assert spatial.relations == ("behind", "front", "left", "right")
    left = spatial.relation_codes["left"]
    pairs = {
        (int(s), int(o))
        for s, r, o in zip(spatial.triple_subjects, spatial.triple_relations, spatial.triple_objects, strict=True)
        if r == left
    }
    assert pairs == {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (3, 2)}


def test_a_modifier_stands_apart_from_a_relation_of_the_same_words():
    opening = graph(
        "a", "man, bottle, corkscrew", "0 opening 1", "0 opening with 2",
        modifiers={"opening with": ["opening", "with"]},
    )  # fmt: skip
    playing = graph("b", "dog, ball", "0 opening with 1")
    packed = pack_graphs([opening, playing])
    assert packed.modifiers == ("with",)
    assert packed.relations == ("opening", "opening with")
    assert packed.triple_modifiers.tolist() == [-1, 0, -1]


@pytest.mark.parametrize(
    ("scenes", "message"),
    [
        ([], "there are no scene graphs to pack"),
        ([PARK, PARK], "image 'park' has two scene graphs; an image can have only one"),
        ([Scene((Object((("attribute", "red"),)),), schema=OPEN, id="x")], "image 'x': object 0 has no name"),
        ([PARK, TRAFFIC], "image 'traffic' is described in the words of superclevr"),
    ],
)
def test_what_can_not_be_packed_is_said(scenes, message):
    with pytest.raises(UserError, match=message):
        pack_graphs(scenes)
