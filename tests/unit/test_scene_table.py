import pytest

from shiftscope.edit import MoveObject
from shiftscope.scene import Object, Scene
from shiftscope.scene_table import pack_scenes
from shiftscope.schemas import clevr, superclevr
from toy import THREE_AND_ONE, TRAFFIC, scene, thing
from worlds import random_scene


@pytest.mark.parametrize("schema", [clevr.SCHEMA, superclevr.SCHEMA], ids=lambda s: s.name)
def test_what_goes_in_comes_out(schema):
    scenes = [random_scene(schema, k) for k in range(100)]
    again = list(pack_scenes(scenes))
    assert again == scenes
    assert [s.notes for s in again] == [s.notes for s in scenes]


def test_stored_relations_come_back_stored():
    stacked = MoveObject(0, "on", 1).apply(THREE_AND_ONE)
    assert pack_scenes([THREE_AND_ONE, stacked])[1].relations == stacked.relations


def test_filtering_is_a_mask_a_term_and_a_kind_the_union_of_its_values():
    table = pack_scenes([TRAFFIC])
    assert int(table.masks[0, table.terms.code["color", "red"]]) == 0b101
    assert int(table.masks[0, table.terms.code["shape", "bus"]]) == 0b010
    assert int(table.part_masks[0, table.part_terms.code["name", "wheel"]]) == 0b010


def test_relations_are_rows_of_objects():
    table = pack_scenes([THREE_AND_ONE])
    assert [int(row) for row in table.rows[:, table.relations.index("left")]] == [0, 0b1, 0b1011, 0b11]


def test_64_objects_fit_and_65_do_not(refuses):
    full = scene(*(thing("small red rubber cube", float(x)) for x in range(64)))
    table = pack_scenes([full])
    assert table[0] == full
    assert int(table.rows[0, table.relations.index("right")]) == (1 << 64) - 2
    with refuses("more than 64 objects or parts"):
        pack_scenes([scene(*full.objects, thing("small red rubber cube"))])


def test_what_does_not_pack_is_named(refuses):
    with refuses("there are no scenes to pack"):
        pack_scenes([])
    with refuses("only closed ones pack"):
        pack_scenes([Scene((Object((("name", "cat"),)),), id="7")])
    with refuses("pack them apart"):
        pack_scenes([THREE_AND_ONE, TRAFFIC])
    with refuses("color 'mauve' does not pack"):
        pack_scenes([scene(thing("small mauve rubber cube"))])
