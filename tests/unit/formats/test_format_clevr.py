"""CLEVR, Super-CLEVR and CLEVR_HYP files in and out."""

import gzip
import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shiftscope import formats as _any
from shiftscope.formats import clevr
from shiftscope.geometry.shapes.superclevr import body
from shiftscope.lang.text import format_program
from shiftscope.scene import Object, Scene
from shiftscope.schemas import superclevr
from shiftscope.schemas.clevr import SCHEMA as clevr_schema

DATA = Path(__file__).parents[3] / "examples" / "data"


def load(name):
    return json.loads((DATA / name).read_text())


@pytest.mark.parametrize("name", ["clevr_scenes.json", "superclevr_scenes.json"])
def test_scenes_come_back_as_they_were(name):
    assert [clevr.format_scene(s) for s in clevr.read_scenes(DATA / name)] == load(name)["scenes"]


@pytest.mark.parametrize("name", ["clevr_questions.json", "superclevr_questions.json", "clevr_hyp_questions.json"])
def test_questions_come_back_as_they_were(name):
    assert [clevr.format_question(q) for q in clevr.read_questions(DATA / name)] == load(name)["questions"]


def test_textures_and_boxes_are_kept_where_there_are_any(tmp_path):
    scene = clevr.read_scenes(DATA / "superclevr_scenes.json")[0]
    car, bus, bike = scene.objects
    roof, wheel = car.parts
    roof = replace(roof, texture="checkered", box=(12.0, 40.0, 31.0, 8.0))
    car = replace(car, parts=(roof, wheel), texture="striped", box=(10.0, 38.0, 60.0, 22.5))
    painted = replace(scene, objects=(car, bus, bike))
    clevr.write_scenes(tmp_path / "scenes.json", [painted])
    assert clevr.read_scenes(tmp_path / "scenes.json") == [painted]
    (found,) = json.loads((tmp_path / "scenes.json").read_text())["scenes"]
    assert found["objects"][0]["texture"] == "stripped"
    painted_roof = {"texture": "checkered", "box": [12.0, 40.0, 31.0, 8.0]}
    assert found["objects"][0]["parts"]["roof"] == dict(roof.attributes) | painted_roof
    assert not {"texture", "box"} & found["objects"][1].keys()


def test_official_textures_come_back_and_can_be_drawn():
    raw = load("superclevr_scenes.json")["scenes"][0]
    for thing, texture in zip(raw["objects"], ("stripped", "vstripped", "None"), strict=True):
        thing["texture"] = texture
    raw["objects"][0]["parts"]["roof"]["texture"] = "checkered"
    scene = clevr.parse_scene(raw, superclevr.SCHEMA)
    assert [o.texture for o in scene.objects] == ["striped", "upright stripes", "none"]
    assert [body(o).looks[0].texture for o in scene.objects] == ["striped", "upright stripes", "none"]
    assert clevr.format_scene(scene) == raw


def test_boxes_come_from_the_masks_of_released_scenes(refuses):
    raw = load("superclevr_scenes.json")["scenes"][0]
    masks = {"info": "sedan_0", "obj": [[10, 38, 60, 22], "5,3,2"], "roof": [[12, 40, 31, 8], "9,1"]}
    raw["obj_mask_box"] = {"0": masks | {"front_left_wheel": [[0, 0, 0, 0], "10"]}}
    car, bus, _ = clevr.parse_scene(raw, superclevr.SCHEMA).objects
    assert (car.box, bus.box) == ((10.0, 38.0, 60.0, 22.0), None)
    assert [part.box for part in car.parts] == [(12.0, 40.0, 31.0, 8.0), None]
    raw["obj_mask_box"]["0"]["roof"] = [[12, 40], "9,1"]
    with refuses("obj_mask_box 0, roof: expected a box of four numbers, got [12, 40]"):
        clevr.parse_scene(raw, superclevr.SCHEMA)


CUBE = {"shape": "cube", "size": "large", "color": "red", "material": "rubber"}


def turned(*rotations, **more):
    return {"image_index": 0, "objects": [CUBE | {"rotation": r} for r in rotations]} | more


@given(st.lists(st.floats(0, 360), min_size=1, max_size=5))
def test_a_released_scenes_rotation_is_in_radians_and_is_written_as_it_was(rotations):
    raw = turned(*rotations)
    scene = clevr.parse_scene(raw, clevr_schema)
    for thing, number in zip(scene.objects, rotations, strict=True):
        assert 0 <= thing.rotation <= 360
        assert math.isclose(math.cos(math.radians(thing.rotation)), math.cos(number), abs_tol=1e-9)
        assert math.isclose(math.sin(math.radians(thing.rotation)), math.sin(number), abs_tol=1e-9)
    stored = Scene.from_json(json.loads(json.dumps(scene.to_json())))
    for one in (scene, stored):
        assert [o["rotation"] for o in clevr.format_scene(one)["objects"]] == rotations
        assert clevr.format_scene(one).keys() == {"image_index", "directions", "objects", "relationships"}


def test_what_is_left_of_a_released_scene_keeps_its_rotations_and_what_is_added_is_written_in_radians():
    scene = clevr.parse_scene(turned(178.92387258999463, 243.405459279722), clevr_schema)
    second = replace(scene, objects=(scene.objects[1], replace(scene.objects[0], rotation=90.0)))
    kept, added = clevr.format_scene(second)["objects"]
    assert kept["rotation"] == 243.405459279722
    assert added["rotation"] == math.pi / 2


def test_our_own_rotations_are_in_degrees_and_say_so():
    scene = Scene((Object(tuple(CUBE.items()), rotation=120.5),), id="0", schema=clevr_schema)
    written = clevr.format_scene(replace(scene, notes=(("image_index", 0),)))
    assert (written["rotation_unit"], written["objects"][0]["rotation"]) == ("degrees", 120.5)
    assert clevr.parse_scene(written, clevr_schema).objects[0].rotation == 120.5
    assert "rotation_unit" not in clevr.format_scene(replace(scene, objects=()))


@pytest.mark.parametrize("more", [{"camera": [7, -6, 5]}, {"rotation_unit": "degrees"}])
def test_scenes_that_we_wrote_are_read_in_degrees(more):
    assert clevr.parse_scene(turned(300.0, **more), clevr_schema).objects[0].rotation == 300.0


def test_superclevr_rotations_are_in_degrees():
    raw = load("superclevr_scenes.json")["scenes"][0]
    raw["objects"][0]["rotation"] = 139.91034816174138
    assert clevr.parse_scene(raw, superclevr.SCHEMA).objects[0].rotation == 139.91034816174138


def test_what_others_call_texture_or_box_is_left_alone():
    raw = load("superclevr_scenes.json")["scenes"][0]
    plain = clevr.parse_scene(raw, superclevr.SCHEMA)
    raw["objects"][0] |= {"texture": 3, "box": {"x": 1}}
    assert clevr.parse_scene(raw, superclevr.SCHEMA) == plain


def test_a_scene_knows_its_vocabulary_size_parts_and_relations():
    car, bus, bike = clevr.read_scenes(DATA / "superclevr_scenes.json")[0].objects
    assert car.attributes == (("size", "large"), ("color", "red"), ("material", "metal"), ("shape", "sedan"))
    assert [p.name for p in car.parts] == ["roof", "front_left_wheel"]
    assert bus.parts[0].attributes == (("size", "small"), ("color", "blue"), ("material", "metal"))
    assert bike.parts == ()
    scene = clevr.read_scenes(DATA / "superclevr_scenes.json")[0]
    assert (scene.schema.name, scene.size, scene.id) == ("superclevr", (640, 480), "traffic_000000")
    assert scene.relation("left") == (0, 0b101, 0b001)


def test_the_dialect_is_told_by_the_functions():
    sources = {
        name: {q.provenance.source for q in clevr.read_questions(DATA / f"{name}_questions.json")}
        for name in ("clevr", "clevr_hyp")
    }
    assert sources == {"clevr": {"clevr"}, "clevr_hyp": {"clevr_hyp"}}
    parts = [q.provenance.source for q in clevr.read_questions(DATA / "superclevr_questions.json")]
    assert parts == ["superclevr", "superclevr", "clevr"]  # the third uses CLEVR's functions only


def test_a_hypothetical_question_starts_from_the_scene_after_its_action():
    first = next(clevr.read_questions(DATA / "clevr_hyp_questions.json"))
    assert first.action == "Paint every sphere red."
    assert format_program(first.program) == "count(filter(change(filter(scene(), shape=sphere), color=red), color=red))"


def test_a_single_scene_a_bare_list_and_a_folder_of_them_are_read(tmp_path):
    scenes = load("clevr_scenes.json")["scenes"]
    single = tmp_path / "one.json"
    single.write_text(json.dumps(scenes[0]))
    bare = tmp_path / "list.json.gz"
    bare.write_bytes(gzip.compress(json.dumps(scenes[1:]).encode()))
    assert [s.id for s in clevr.read_scenes(single)] == ["toy_000000"]
    assert [s.id for s in clevr.read_scenes(bare)] == ["toy_000001"]
    assert [s.id for s in clevr.read_scenes(tmp_path)] == ["toy_000001", "toy_000000"]


def test_writing_is_reading_again(tmp_path):
    scenes = clevr.read_scenes(DATA / "clevr_scenes.json")
    questions = list(clevr.read_questions(DATA / "clevr_questions.json"))
    clevr.write_scenes(tmp_path / "s.json", scenes)
    clevr.write_questions(tmp_path / "q.json.gz", questions)
    assert clevr.read_scenes(tmp_path / "s.json") == scenes
    assert list(clevr.read_questions(tmp_path / "q.json.gz")) == questions
    assert (tmp_path / "q.json.gz").read_bytes()[:2] == b"\x1f\x8b"


@pytest.mark.parametrize("lead", [b"\xef\xbb\xbf", b" " * 100, b"\n\n"])
def test_blanks_and_a_byte_order_mark_before_the_json_do_not_matter(lead, tmp_path):
    path = tmp_path / "q.json"
    path.write_bytes(lead + (DATA / "clevr_questions.json").read_bytes())
    assert len(list(_any.read_questions(path))) == 8


@pytest.mark.parametrize("name", sorted(p.name for p in DATA.glob("*.json")))
def test_a_node_without_msgspec_reads_the_same(name, monkeypatch):
    read = _any.read_scenes if "scenes" in name or "graphs" in name else _any.read_questions
    fast = list(read(DATA / name))
    monkeypatch.setitem(sys.modules, "msgspec", None)
    assert list(read(DATA / name)) == fast


@pytest.mark.parametrize(
    ("name", "family"),
    [("clevr_scenes.json", "clevr"), ("superclevr_scenes.json", "superclevr"), ("gqa_graphs.json", "gqa")],
)
def test_the_family_of_a_scene_file_is_told_by_its_content(name, family):
    assert _any.read_scenes(DATA / name)[0].schema.name == family
