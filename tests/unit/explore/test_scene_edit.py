"""Edits of a scene: what follows from them does, and what cannot be is refused."""

import re

import pytest

from explore_toys import draw
from shiftscope.explore.reference_graph import draw_references, find_references
from shiftscope.explore.scene_edit import apply_edits, explain_undrawable, measure_rest_height
from shiftscope.geometry.shapes.superclevr import load_vehicle
from shiftscope.geometry.visibility import list_parts
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.text import parse_program
from shiftscope.scene import Object, Scene
from toy import THREE_AND_ONE, TRAFFIC

LEFT_OF_BLUE = parse_program("count(related(filter(scene(), color=blue), left))")


def test_an_attribute_a_place_and_an_absence_change_the_answer():
    count = lambda scene: execute(LEFT_OF_BLUE, scene).answer  # noqa: E731
    assert count(THREE_AND_ONE) == 1
    assert count(apply_edits(THREE_AND_ONE, ["2.place=-3,0"])) == 2
    assert count(apply_edits(THREE_AND_ONE, ["2.color=blue"])) == 3  # beside the first, the blue and the green one
    assert count(apply_edits(THREE_AND_ONE, ["0.remove"])) == 0
    assert THREE_AND_ONE.objects[2].position == (2, 0, 0.35)


def test_what_stands_on_the_ground_stays_on_it():
    assert apply_edits(THREE_AND_ONE, ["0.size=large"]).objects[0].position == (-2, 0, pytest.approx(0.7))
    image = draw("superclevr", 0)
    for i, thing in enumerate(image.scene.objects):
        assert measure_rest_height(thing, image.scene.schema) == pytest.approx(thing.position[2])
        changed = apply_edits(image.scene, [f"{i}.shape=double", f"{i}.size=small"]).objects[i]
        assert changed.position[2] == pytest.approx(measure_rest_height(changed, image.scene.schema))
        assert {p.name for p in changed.parts} <= set(list_parts(load_vehicle("double")))
        assert not explain_undrawable(Scene((changed,), schema=image.scene.schema))


def test_a_part_changes_by_its_name():
    edited = apply_edits(TRAFFIC, ["0.roof.color=green"])
    assert dict(edited.objects[0].parts[0].attributes)["color"] == "green"
    assert edited.objects[1].parts == TRAFFIC.objects[1].parts


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        ("color=red", "is no edit"),
        ("9.color=red", "there is no object 9; there are 4"),
        ("0.color=mauve", "no color 'mauve'"),
        ("0.smell=sweet", "no attribute 'smell'"),
        ("0.door.color=red", "no part 'door'"),
        ("0.place=99,0", "at most 8 units"),
        ("0.place=nan,0", "is no place"),
    ],
)
def test_what_cannot_be_is_refused(edit, why, refuses):
    with refuses(why):
        apply_edits(THREE_AND_ONE, [edit])


def test_a_graph_without_places_cannot_be_moved_or_drawn(refuses):
    graph = Scene((Object((("name", "dog"),)),))
    with refuses("does not say where"):
        apply_edits(graph, ["0.place=1,1"])
    assert apply_edits(graph, ["0.name=cat"]).objects[0].values("name") == ("cat",)
    assert explain_undrawable(graph)


def test_a_program_refers_to_things_by_a_graph():
    text = (
        "exist(intersect(filter(filter(scene(), color=red), shape=cube), related(filter(scene(), size=large), left)))"
    )
    (thing,) = find_references(parse_program(text))
    assert thing.label == "red cube"
    assert [(relation, other.label) for relation, other in thing.links] == [("left", "large thing")]
    drawn = draw_references(parse_program(text))
    assert 'aria-label="What the question refers to: red cube left large thing"' in drawn
    assert drawn.count('class="thing"') == 2
    lone = parse_program("all(filter(scene(), color=red), verify(it(), size=large))")
    assert draw_references(lone) is None
    assert re.findall(r'aria-label="([^"]*)"', str(draw_references(lone, alone=True)))[1:] == ["red thing"]
