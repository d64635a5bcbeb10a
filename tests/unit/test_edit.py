from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shiftscope.edit import Add, Change, Impossible, Move, Remove, Swap, apply
from shiftscope.scene import Object, Relation, Scene
from toy import THREE_AND_ONE, objects, scene, thing


def test_removing_closes_the_gap_and_recomputes_relations():
    after = apply(THREE_AND_ONE, Remove((1,)))
    assert [o.values("color")[0] for o in after.objects] == ["red", "red", "green"]
    assert after.relation("left") == (0, objects(0, 2), objects(0))


def test_changing_gives_another_value_to_those_chosen():
    after = apply(THREE_AND_ONE, Change((0, 2), "color", "cyan"))
    assert [o.values("color")[0] for o in after.objects] == ["cyan", "blue", "cyan", "green"]


def test_a_thing_that_grows_stays_on_the_ground():
    after = apply(THREE_AND_ONE, Change((0,), "size", "large"))
    assert after.objects[0].position == (-2, 0.0, 0.7)


@pytest.mark.parametrize("relation", ["left", "right", "front", "behind"])
def test_an_added_thing_stands_where_it_was_said_to_and_touches_nothing(relation):
    new = Object((("size", "small"), ("color", "cyan"), ("material", "metal"), ("shape", "cube")))
    after = apply(THREE_AND_ONE, Add(new, relation, 1))
    assert after.relation(relation)[1] & objects(4)
    assert apart(after)


def test_moving_makes_the_relation_true():
    after = apply(THREE_AND_ONE, Move(0, "right", 2))
    assert after.relation("right")[2] & objects(0)
    assert apart(after)


def test_onto_puts_it_on_top_and_says_so():
    after = apply(THREE_AND_ONE, Move(0, "on", 1))
    assert after.objects[0].position == (0, 0.0, pytest.approx(0.7 + 0.7 + 0.35))
    assert after.relation("on") == (0, objects(0), 0, 0)


def test_what_carries_another_stays_where_it_is():
    stacked = apply(THREE_AND_ONE, Move(0, "on", 1))
    for edit, why in (
        (Move(1, "left", 2), "carries another can not be moved"),
        (Remove((1,)), "carries another can not be removed"),
        (Move(2, "on", 1), "already rests"),
        (Move(2, "left", 2), "relative to itself"),
    ):
        with pytest.raises(Impossible, match=why):
            apply(stacked, edit)
    assert len(apply(stacked, Remove((0, 1))).objects) == 2


def test_no_room_is_said():
    full = scene(*(thing("large red rubber cube", x, y) for x in range(-3, 4) for y in range(-3, 4)))
    with pytest.raises(Impossible, match="no free place"):
        apply(full, Add(thing("large red rubber cube")))


def test_without_geometry_the_stated_relation_is_annotated():
    graph = Scene((Object((("name", "cup"),)), Object((("name", "table"),))))
    assert apply(graph, Move(0, "on", 1)).relation("on") == (0, objects(0))


def test_annotations_follow_their_objects():
    graph = Scene(
        tuple(Object((("name", n),)) for n in ("cat", "cup", "table")),
        relations=(Relation.of("near", [(0, 1), (1, 2)], 3),),
    )
    assert apply(graph, Remove((0,))).relation("near") == (0, objects(0))


edits = st.one_of(
    st.builds(Remove, st.sets(st.integers(0, 3), max_size=2).map(lambda s: tuple(sorted(s)))),
    st.builds(Change, st.just((1, 2)), st.just("color"), st.sampled_from(["red", "gray"])),
    st.builds(
        Move,
        st.integers(0, 3),
        st.sampled_from(["left", "right", "front", "behind", "on"]),
        st.integers(0, 3),
    ),
    st.builds(
        Add,
        st.just(thing("small gray metal cube")),
        st.sampled_from(["left", "behind", "on"]),
        st.integers(0, 3),
    ),
)


@given(edits)
@settings(deadline=None)  # the first search for a place compiles
def test_the_original_is_never_modified_and_equal_edits_give_equal_scenes(edit):
    before = deepcopy(THREE_AND_ONE)
    try:
        once, twice = apply(THREE_AND_ONE, edit), apply(THREE_AND_ONE, edit)
    except Impossible:
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
    after = apply(THREE_AND_ONE, Swap(0, 1))
    assert [o.position for o in after.objects[:2]] == [(0, 0.0, 0.35), (-2, 0.0, 0.7)]
    assert after.relation("left")[0] == objects(1)


def test_swapping_keeps_what_is_annotated_with_the_place():
    graph = Scene((Object((("name", "cup"),)), Object((("name", "jar"),)), Object((("name", "table"),))),
                  (Relation.of("near", [(0, 2)], 3),))  # fmt: skip
    assert list(apply(graph, Swap(0, 1)).relations[0].triples()) == [(1, 2)]


def test_what_carries_or_rests_neither_swaps_nor_grows():
    stacked = apply(THREE_AND_ONE, Move(0, "on", 1))
    for edit, why in (
        (Swap(1, 2), "rests on one can not change places"),
        (Swap(0, 2), "rests on one can not change places"),
        (Swap(2, 2), "with itself"),
        (Change((1,), "size", "small"), "carries another can not change its size"),
        (Add(thing("small red rubber cube"), "on", 1), "already rests"),
    ):
        with pytest.raises(Impossible, match=why):
            apply(stacked, edit)
    assert apply(stacked, Change((0,), "size", "large")).objects[0].position[2] == pytest.approx(1.4 + 0.7)


def test_an_occupied_object_is_known_whatever_stands_before_it_in_the_list():
    stacked = apply(THREE_AND_ONE, Move(3, "on", 2))
    with pytest.raises(Impossible, match="already rests"):
        apply(stacked, Move(0, "on", 2))
    assert apply(stacked, Move(0, "on", 1)).relation("on") == (0, objects(0), objects(3), 0)
