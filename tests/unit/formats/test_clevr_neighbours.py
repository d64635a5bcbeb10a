"""Files beside CLEVR's own: NS-VQA's parsed scenes, Too-CLEVR's rows about several images, CLEVR-Math's ops."""

import json
from pathlib import Path

import pytest

from shiftscope.formats import clevr, read_questions, read_scenes
from shiftscope.geometry.camera import BASE_POSITION, camera_of
from shiftscope.lang.exec.exact import execute
from shiftscope.lang.text import format_program

DATA = Path(__file__).parents[3] / "examples" / "data"
SCENE = json.loads((DATA / "clevr_scenes.json").read_text())["scenes"][0]
RELATIONS = ("left", "right", "front", "behind")


def write(folder, **content):
    path = folder / "file.json"
    path.write_text(json.dumps(content))
    return path


def parse(scene):
    """The scene as NS-VQA's parser would give it back: attributes, and a position in the camera's frame."""
    right, front = (scene["directions"][name] for name in ("right", "front"))

    def project(o):
        along = [sum(a * b for a, b in zip(o["3d_coords"], axis, strict=True)) for axis in (right, front)]
        return {k: o[k] for k in ("shape", "size", "material", "color")} | {"position": [*along, o["3d_coords"][2]]}

    return {k: scene[k] for k in ("image_index", "image_filename")} | {
        "objects": [project(o) for o in scene["objects"]]
    }


def test_a_parsed_scene_has_the_relations_of_the_scene_it_was_parsed_from(tmp_path):
    raw = parse(SCENE)
    (found,) = read_scenes(write(tmp_path, info="clevr derendered scene", scenes=[raw]))
    (whole,) = read_scenes(write(tmp_path, scenes=[SCENE]))
    assert [found.relation(r) for r in RELATIONS] == [whole.relation(r) for r in RELATIONS]
    assert clevr.format_scene(found) == raw


def test_of_two_objects_one_is_further_left_by_however_little(tmp_path):
    raw = parse(SCENE) | {"objects": parse(SCENE)["objects"][:2]}
    raw["objects"][0]["position"], raw["objects"][1]["position"] = [0.0, 1.0, 0.7], [0.001, 1.0, 0.7]
    (scene,) = read_scenes(write(tmp_path, scenes=[raw]))
    assert scene.relation("left") == (0b00, 0b01)
    assert scene.relation("right") == (0b10, 0b00)
    assert scene.relation("front") == (0, 0)


def test_relations_that_a_parsed_scene_stores_are_kept(tmp_path):
    raw = parse(SCENE) | {"objects": parse(SCENE)["objects"][:2], "relationships": {"left": [[1], [0]]}}
    (scene,) = read_scenes(write(tmp_path, scenes=[raw]))
    assert scene.relation("left") == (0b10, 0b01)
    assert clevr.format_scene(scene) == raw


def test_a_parsed_scene_is_seen_by_a_camera_in_front_of_it(tmp_path):
    (scene,) = read_scenes(write(tmp_path, scenes=[parse(SCENE)]))
    camera = camera_of(scene)
    told, seen = dict(scene.directions), dict(camera.directions())
    assert all(told[r] == pytest.approx(seen[r]) for r in RELATIONS)
    assert camera.position[2] == BASE_POSITION[2]


def spoil(**changes):
    raw = parse(SCENE)
    raw["objects"][1] = {k: v for k, v in (raw["objects"][1] | changes).items() if v != "gone"}
    return raw


@pytest.mark.parametrize(
    ("scenes", "why"),
    [
        ([spoil(position="gone")], "scene 0: some of its objects have a position, others do not"),
        ([spoil(position=None)], "scene 0: some of its objects have a position, others do not"),
        ([spoil(position=[1, 2])], "scene 0: expected three numbers, got [1, 2]"),
        ([spoil(position=[1, 2, "x"])], "scene 0: expected a finite number, got 'x'"),
        ([spoil(shape="gone")], "scene 0: object 1 has no shape"),
        ([parse(SCENE) | {"objects": [3]}], "scene 0: expected an object with a list of objects, got"),
        ([{"image_index": 0, "views": {"left": SCENE}}], "its first scene has no list of objects, only image_index, views (each view of a scene must be a scene of its own)"),
        ([[SCENE, SCENE]], "its first scene has no fields (each view of a scene must be a scene of its own)"),
    ],
)  # fmt: skip
def test_what_a_scene_lacks_is_said(scenes, why, tmp_path, refuses):
    path = write(tmp_path, scenes=scenes)
    with refuses(why):
        read_scenes(path)


def entry(function, inputs=(), values=(), **more):
    return {"type": function, "inputs": list(inputs), "value_inputs": list(values), **more}


COUNT = [entry("scene"), entry("count", [0])]
SEVERAL = {
    "split": "val",
    "question": "How many things are there?",
    "question_index": 4,
    "template_filename": "1_zero_hop.json",
    "template_index": 7,
    "image_filenames": ["CLEVR_val_000093.png", "CLEVR_val_001327.png"],
    "image_indices": [93, 1327],
    "answers": [3, 7],
    "program": [COUNT, COUNT],
}


def test_a_row_about_several_images_is_a_question_about_each(tmp_path):
    first, second = read_questions(write(tmp_path, questions=[SEVERAL]))
    assert (first.id, first.scenes, first.answer) == ("4-0", ("CLEVR_val_000093",), 3)
    assert (second.id, second.scenes, second.answer) == ("4-1", ("CLEVR_val_001327",), 7)
    assert second.provenance.family == 7
    assert format_program(second.program) == "count(scene())"


def test_images_may_have_numbers_alone_and_share_a_program(tmp_path):
    row = {k: v for k, v in SEVERAL.items() if k != "image_filenames"} | {"program": COUNT}
    assert [q.scenes for q in read_questions(write(tmp_path, questions=[row]))] == [("93",), ("1327",)]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (SEVERAL | {"answers": [3]}, "question 4: it is about several images and has 2 of image_index, 2 of image_filename, 1 of answer, 2 of program: expected as many of each"),
        (SEVERAL | {"image_indices": 93}, "question 4: what it has for image_index of each image must be a list, got 93"),
        (SEVERAL | {"answers": [{"objects": []}] * 2}, "question 4: its answers are scenes"),
        ({"question": "How many?", "scene": 3}, "its first question has none of image_index, image_filename, image, image_indices, image_filenames, only question, scene"),
        ({"text": "How many?", "image_index": 3}, "its first question has no question, only text, image_index"),
    ],
)  # fmt: skip
def test_what_a_question_lacks_is_said(row, why, tmp_path, refuses):
    path = write(tmp_path, questions=[row])
    with refuses(why):
        list(read_questions(path))


LEFT_OVER = [
    entry("scene"),
    entry("filter_shape", [0], ["sphere"]),
    entry("count", [0]),
    entry("count", [1]),
    entry("subtraction", [2, 3]),
]
THREE_MORE = [
    entry("scene"),
    entry("filter_shape", [0], ["sphere"]),
    entry("count", [1]),
    entry("choose", [0], _output=3),
    entry("addition", [2, 3]),
]


@pytest.mark.parametrize(
    ("program", "text"),
    [
        (LEFT_OVER, "minus(count(scene()), count(filter(scene(), shape=sphere)))"),
        (THREE_MORE, "plus(count(filter(scene(), shape=sphere)), 3)"),
    ],
)
def test_sums_and_differences_are_read_run_and_written_back(program, text, tmp_path):
    (scene,) = read_scenes(write(tmp_path, scenes=[SCENE]))
    row = {"image_index": 0, "question": "?", "question_index": 0, "program": program, "answer": 0}
    (question,) = read_questions(write(tmp_path, questions=[row]))
    assert format_program(question.program) == text
    spheres = sum(o["shape"] == "sphere" for o in SCENE["objects"])
    expected = len(SCENE["objects"]) - spheres if program is LEFT_OVER else spheres + 3
    assert execute(question.program, scene).answer == expected
    assert clevr.format_question(question)["program"] == program


def test_a_number_drawn_at_random_and_not_kept_is_refused(tmp_path, refuses):
    program = [*THREE_MORE[:3], entry("choose", [0]), THREE_MORE[4]]
    path = write(tmp_path, questions=[{"image_index": 0, "question": "?", "program": program}])
    with refuses("question 0: node 3 (choose) draws a number at random, and the file does not say which"):
        list(read_questions(path))
