from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shiftscope.edit import AddObject, ChangeAttributes, ImpossibleEdit, MoveObject, RemoveObjects, SwapObjects
from shiftscope.scene import Object, Relation, Scene
from toy import THREE_AND_ONE, objects, scene, thing


def test_removing_closes_the_gap_and_recomputes_relations():
    after = RemoveObjects((1,)).apply(THREE_AND_ONE)
    assert [o.values("color")[0] for o in after.objects] == ["red", "red", "green"]
    assert after.relation("left") == (0, objects(0, 2), objects(0))


def test_changing_gives_another_value_to_those_chosen():
    after = ChangeAttributes((0, 2), (("color", "cyan"),)).apply(THREE_AND_ONE)
    assert [o.values("color")[0] for o in after.objects] == ["cyan", "blue", "cyan", "green"]


def test_several_attributes_change_at_once():
    after = ChangeAttributes((1,), (("size", "large"), ("color", "cyan"), ("shape", "cube"))).apply(THREE_AND_ONE)
    assert dict(after.objects[1].attributes) == dict(THREE_AND_ONE.objects[1].attributes) | {
        "size": "large",
        "color": "cyan",
        "shape": "cube",
    }
    assert after.objects[1].position[2] == 0.7
    assert after.objects[0] == THREE_AND_ONE.objects[0]


def test_a_thing_that_grows_stays_on_the_ground():
    after = ChangeAttributes((0,), (("size", "large"),)).apply(THREE_AND_ONE)
    assert after.objects[0].position == (-2, 0.0, 0.7)


@pytest.mark.parametrize("relation", ["left", "right", "front", "behind"])
def test_an_added_thing_stands_where_it_was_said_to_and_touches_nothing(relation):
    new = Object((("size", "small"), ("color", "cyan"), ("material", "metal"), ("shape", "cube")))
    after = AddObject(new, relation, 1).apply(THREE_AND_ONE)
    assert after.relation(relation)[1] & objects(4)
    assert apart(after)


def test_moving_makes_the_relation_true():
    after = MoveObject(0, "right", 2).apply(THREE_AND_ONE)
    assert after.relation("right")[2] & objects(0)
    assert apart(after)


def test_onto_puts_it_on_top_and_says_so():
    after = MoveObject(0, "on", 1).apply(THREE_AND_ONE)
    assert after.objects[0].position == (0, 0.0, pytest.approx(0.7 + 0.7 + 0.35))
    assert after.relation("on") == (0, objects(0), 0, 0)


def test_what_carries_another_stays_where_it_is():
    stacked = MoveObject(0, "on", 1).apply(THREE_AND_ONE)
    for edit, why in (
        (MoveObject(1, "left", 2), "carries another cannot be moved"),
        (RemoveObjects((1,)), "carries another cannot be removed"),
        (MoveObject(2, "on", 1), "already rests"),
        (MoveObject(2, "left", 2), "relative to itself"),
    ):
        with pytest.raises(ImpossibleEdit, match=why):
            edit.apply(stacked)
    assert len(RemoveObjects((0, 1)).apply(stacked).objects) == 2


def test_no_room_is_said():
    full = scene(*(thing("large red rubber cube", x, y) for x in range(-3, 4) for y in range(-3, 4)))
    with pytest.raises(ImpossibleEdit, match="no free place"):
        AddObject(thing("large red rubber cube")).apply(full)


def test_without_geometry_the_stated_relation_is_annotated():
    graph = Scene((Object((("name", "cup"),)), Object((("name", "table"),))))
    assert MoveObject(0, "on", 1).apply(graph).relation("on") == (0, objects(0))


def test_annotations_follow_their_objects():
    graph = Scene(
        tuple(Object((("name", n),)) for n in ("cat", "cup", "table")),
        relations=(Relation.of("near", [(0, 1), (1, 2)], 3),),
    )
    assert RemoveObjects((0,)).apply(graph).relation("near") == (0, objects(0))


edits = st.one_of(
    st.builds(RemoveObjects, st.sets(st.integers(0, 3), max_size=2).map(lambda s: tuple(sorted(s)))),
    st.builds(
        ChangeAttributes,
        st.just((1, 2)),
        st.sampled_from(
            [(("color", "red"),), (("color", "gray"), ("shape", "cube")), (("size", "small"), ("color", "red"))]
        ),
    ),
    st.builds(
        MoveObject, st.integers(0, 3), st.sampled_from(["left", "right", "front", "behind", "on"]), st.integers(0, 3)
    ),
    st.builds(
        AddObject, st.just(thing("small gray metal cube")), st.sampled_from(["left", "behind", "on"]), st.integers(0, 3)
    ),
)


@given(edits)
@settings(deadline=None)  # the first search for a place compiles
def test_the_original_is_never_modified_and_equal_edits_give_equal_scenes(edit):
    before = deepcopy(THREE_AND_ONE)
    try:
        once, twice = edit.apply(THREE_AND_ONE), edit.apply(THREE_AND_ONE)
    except ImpossibleEdit:
        return
    finally:
        assert before == THREE_AND_ONE
    assert once == twice
    for name in ("left", "right", "front", "behind"):
        assert once.relation(name) == Scene(once.objects, directions=once.directions).relation(name)


def apart(one: Scene) -> bool:
    radius = {"small": 0.35, "large": 0.7}
    solids = [(o.position, radius[o.values("size")[0]]) for o in one.objects]
    return all(
        (p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 >= (r + s) ** 2
        for i, (p, r) in enumerate(solids)
        for q, s in solids[:i]
    )


def test_two_that_swap_stand_in_each_others_place_at_their_own_height():
    after = SwapObjects(0, 1).apply(THREE_AND_ONE)
    assert [o.position for o in after.objects[:2]] == [(0, 0.0, 0.35), (-2, 0.0, 0.7)]
    assert after.relation("left")[0] == objects(1)


def test_swapping_keeps_what_is_annotated_with_the_place():
    graph = Scene((Object((("name", "cup"),)), Object((("name", "jar"),)), Object((("name", "table"),))),
                  (Relation.of("near", [(0, 2)], 3),))  # fmt: skip
    assert list(SwapObjects(0, 1).apply(graph).relations[0].triples()) == [(1, 2)]


def test_what_carries_or_rests_neither_swaps_nor_grows():
    stacked = MoveObject(0, "on", 1).apply(THREE_AND_ONE)
    for edit, why in (
        (SwapObjects(1, 2), "rests on one cannot change places"),
        (SwapObjects(0, 2), "rests on one cannot change places"),
        (SwapObjects(2, 2), "with itself"),
        (ChangeAttributes((1,), (("size", "small"),)), "carries another cannot change its size"),
        (AddObject(thing("small red rubber cube"), "on", 1), "already rests"),
    ):
        with pytest.raises(ImpossibleEdit, match=why):
            edit.apply(stacked)
    assert ChangeAttributes((0,), (("size", "large"),)).apply(stacked).objects[0].position[2] == pytest.approx(
        1.4 + 0.7
    )


def test_an_occupied_object_is_known_whatever_stands_before_it_in_the_list():
    stacked = MoveObject(3, "on", 2).apply(THREE_AND_ONE)
    with pytest.raises(ImpossibleEdit, match="already rests"):
        MoveObject(0, "on", 2).apply(stacked)
    assert MoveObject(0, "on", 1).apply(stacked).relation("on") == (0, objects(0), objects(3), 0)
