"""Super-CLEVR as a user makes it: a variant, a study with its twins checked, questions about given scenes."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import reference_parts
from command import here, make_here, refused
from shiftscope.answer import spell
from shiftscope.cli.show import show_example
from shiftscope.formats.clevr import write_scenes
from shiftscope.report.drops import find_twin_runs
from shiftscope.report.runs import read_runs
from shiftscope.run.evaluate import RunSpec as RunOrder
from shiftscope.run.evaluate import evaluate
from shiftscope.run.make import make, resolve_data
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.dataset import Dataset
from shiftscope.store.shard import read_images, read_questions
from shiftscope.suites.superclevr.make_variants import check_study, make_study, plan_study, read_study
from shiftscope.suites.superclevr.suite import SuperclevrSpec, VisualLevel
from shiftscope.world.superclevr import SuperClevrRules, sample_scene

SMALL = {"images": 12, "shard": 2, "size": (160, 112), "questions": 3, "part_questions": 3}
WORDS = {"images": 6, "shard": 6, "size": "160x112", "questions": 2, "workers": 1}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    out = tmp_path_factory.mktemp("study")
    return out, list(make_study(SuperclevrSpec(**SMALL), out, workers=1))


def test_a_study_has_every_variant(study):
    out, made = study
    assert {member.name: dataset.count("test") for member, dataset in made} == {
        "easy": (2, 6),
        **dict.fromkeys(("default", "hard", "rd-", "rd+", "slt", "long", "head", "tail"), (2, 12)),
        **dict.fromkeys(("oppo", "co-1", "co-2"), (2, 12)),
    }
    assert [m.base for m in read_study(out)] == [None, *["default"] * 11]


def test_every_twin_differs_in_its_factor_only(study):
    found = {c.variant: c for c in check_study(study[0])}
    assert [c.examples for c in found.values() if c.wrong] == []
    assert (found["easy"].scenes, found["easy"].questions) == (12, 36)
    assert (found["rd+"].scenes, found["rd+"].questions) == (12, 72)
    assert (found["head"].scenes, found["head"].questions) == (2, 0)
    assert found["easy"].vehicles == sum(len(i.scene.objects) for i in study[1][1][1].images())


def test_a_study_goes_on_and_makes_nothing_twice(study):
    out, made = study
    lost = out / "hard" / "images" / "test" / "00000.parquet"
    lost.unlink()
    before = {p: p.stat().st_mtime_ns for p in out.rglob("*.parquet") if "hard" not in p.parts}
    again = list(make_study(SuperclevrSpec(**SMALL), out, workers=1))
    assert [d.manifest.shards for _, d in again] == [d.manifest.shards for _, d in made]
    assert all(p.stat().st_mtime_ns == t for p, t in before.items())
    assert lost.is_file()


def test_the_checker_finds_a_twin_that_is_none(study, tmp_path):
    shutil.copytree(study[0] / "default", tmp_path / "default")
    make("superclevr", SuperclevrSpec.from_variant("easy", seed=1, **SMALL), tmp_path / "easy", workers=1)
    members = [{"variant": "default"}, {"variant": "easy", "base": "default", "factor": "visual"}]
    (tmp_path / "study.json").write_text(json.dumps({"format": 1, "variants": members}))
    (found,) = check_study(tmp_path)
    assert found.wrong > found.scenes
    assert "superclevr_train_000000: directions" in found.examples


def remade(study, tmp_path, name, change):
    """The check of a variant whose shards are changed as they are taken over from the study."""
    shutil.copytree(study[0] / "default", tmp_path / "default")
    old = Dataset.open(study[0] / name)
    shards = {(s.split, s.index): s for s in old.shards()}

    def taken(spec, split, k):
        shard = shards[split, k]
        images = list(read_images(old.folder / shard.images.path))
        return change(images, list(read_questions(old.folder / shard.questions.path)))

    build_dataset(tmp_path / name, old.manifest.spec, dict(old.manifest.plan), taken)
    listed = [m.to_json() for m in read_study(study[0]) if m.name in ("default", name)]
    (tmp_path / "study.json").write_text(json.dumps({"format": 1, "variants": listed}))
    (found,) = check_study(tmp_path)
    return found


def bare(image):
    objects = [
        replace(o, texture="", parts=tuple(replace(p, texture="") for p in o.parts)) for o in image.scene.objects
    ]
    return replace(image, scene=replace(image.scene, objects=tuple(objects)))


def mirrored(image):
    return replace(image, mask=replace(image.mask, values=image.mask.values[::-1]))


def all_moved(image):
    moved = ("moved", list(range(len(image.scene.objects))))
    return replace(image, scene=replace(image.scene, notes=(*image.scene.notes, moved)))


@pytest.mark.parametrize(
    ("name", "change", "example"),
    [
        ("hard", lambda images, asked: ([bare(i) for i in images], asked), "nothing differs in visual"),
        (
            "hard",
            lambda images, asked: ([mirrored(i) for i in images], asked),
            "superclevr_train_000000: stored mask_values",
        ),
        (
            "hard",
            lambda images, asked: ([replace(i, visible=(1,) * len(i.visible)) for i in images], asked),
            "superclevr_train_000000: a vehicle that is hardly seen",
        ),
        (
            "rd+",
            lambda images, asked: ([replace(i, visible=()) for i in images], asked),
            "shard 0 of train: its pictures",
        ),
        ("rd+", lambda images, asked: (images, asked[1:]), "superclevr_train_000000_0: a question is missing"),
        ("long", lambda images, asked: (images, asked[1:]), "superclevr_train_000000: 5 questions, not 6"),
        ("tail", lambda images, asked: ([all_moved(i) for i in images], asked), "vehicles are moved, more than 5%"),
    ],
)
def test_the_checker_finds_what_is_off(study, tmp_path, name, change, example):
    found = remade(study, tmp_path, name, change)
    assert found.wrong
    assert any(example in one for one in found.examples), found.examples


@pytest.mark.parametrize("variant", ["hard", "rd+"])
def test_an_export_runs_in_the_official_engine_with_the_same_answers(study, tmp_path, variant):
    done = here("export", study[0] / variant, "--to", "clevr", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    scenes = json.loads((tmp_path / "out" / "scenes" / "CLEVR_train_scenes.json").read_text())["scenes"]
    asked = json.loads((tmp_path / "out" / "questions" / "CLEVR_train_questions.json").read_text())["questions"]
    by_name = {scene["image_filename"]: scene for scene in scenes}
    assert len(asked) >= 40
    for question in asked:
        found = reference_parts.run(question["program"], by_name[question["image_filename"]])
        assert spell(reference_parts.spell_answer(found)) == question["answer"]
    things = [thing for s in scenes for o in s["objects"] for thing in (o, *o["parts"].values())]
    textures = {thing.get("texture") for thing in things}
    assert textures == ({"None", "dotted", "checkered", "stripped"} if variant == "hard" else {None})


def test_a_study_that_lacks_shards_is_no_crash(study, tmp_path):
    """The base has fewer images than its twin."""
    make("superclevr", SuperclevrSpec(**SMALL | {"images": 6}), tmp_path / "default", workers=1)
    shutil.copytree(study[0] / "hard", tmp_path / "hard")
    listed = [m.to_json() for m in read_study(study[0]) if m.name in ("default", "hard")]
    (tmp_path / "study.json").write_text(json.dumps({"format": 1, "variants": listed}))
    (found,) = check_study(tmp_path)
    assert found.examples[0] == "its splits"
    assert "shard 2 of train has none beside it" in found.examples


def test_a_list_of_variants_that_are_none_is_refused(tmp_path, refuses):
    (tmp_path / "study.json").write_text(json.dumps({"format": 1, "variants": [{"variant": "lonk"}]}))
    with refuses("not a study; make it again with --study"):
        list(check_study(tmp_path))


def test_a_study_is_not_made_among_other_things(tmp_path, refuses):
    (tmp_path / "holiday.jpg").write_bytes(b"")
    with refuses("holds something else than a study (holiday.jpg); choose another folder"):
        list(make_study(SuperclevrSpec(**SMALL), tmp_path))
    with refuses("is a file; choose another folder for the study"):
        list(make_study(SuperclevrSpec(**SMALL), tmp_path / "holiday.jpg"))
    assert [p.name for p in tmp_path.iterdir()] == ["holiday.jpg"]


def test_a_study_is_no_dataset_but_names_those_in_it(study, refuses):
    sentence = f"holds several datasets; name one of them, as in {study[0] / 'co-1'} (there are co-1, co-2,"
    with refuses(sentence):
        resolve_data(str(study[0]))
    assert sentence in refused(here("show", study[0]))


def runs_of(folder, names, out):
    for name in names:
        evaluate(RunOrder("oracle", folder / name), out / name)
    return read_runs([out / name for name in names])


def test_the_report_pairs_twins_with_their_bases_alone(study, tmp_path):
    found = runs_of(study[0], ("default", "long", "co-1", "rd-", "hard", "easy"), tmp_path)
    pairs = [(t.base.test, t.shifted.test, len(t.base_rows)) for t in find_twin_runs(found)]
    assert pairs == [("default", "rd-", 12), ("default", "hard", 12), ("default", "easy", 6)]


def test_twins_of_a_study_at_another_visual_level_pair_with_that_level(tmp_path):
    out = tmp_path / "study"
    small = SuperclevrSpec(images=6, shard=6, size=(160, 112), questions=2, part_questions=1)
    for member, order in plan_study(small, "hard"):
        if member.name in ("default", "hard", "rd-", "slt"):
            make("superclevr", order, out / member.name, workers=1)
    found = runs_of(out, ("default", "hard", "rd-", "slt"), tmp_path)
    pairs = [(t.base.test, t.shifted.test, len(t.base_rows)) for t in find_twin_runs(found)]
    assert pairs == [("default", "hard", 3), ("hard", "rd-", 3)]
    listed = [m.to_json() for m, _ in plan_study(small, "hard") if m.name in ("default", "hard", "rd-", "slt")]
    (out / "study.json").write_text(json.dumps({"format": 1, "variants": listed}))
    assert [(c.variant, c.base, c.examples) for c in check_study(out)] == [
        ("hard", "default", ()),
        ("rd-", "hard", ()),
        ("slt", "hard", ()),
    ]


def test_a_variant_is_made_and_tells_how_often_concepts_occur(tmp_path, capsys):
    make_here("superclevr", out=tmp_path / "tail", variant="tail", as_json=True, **WORDS)
    told = json.loads(capsys.readouterr().out)
    assert told["splits"] == {"test": {"images": 1, "questions": 12}}
    asked = {(c["attribute"], c["value"]): c for c in told["concepts"]}
    assert asked["material", "metal"]["asked"] == asked["material", "metal"]["measured"] == 1.0
    assert asked["shape", "jet"]["measured"] == 0.0
    assert Dataset.open(tmp_path / "tail").manifest.spec["variant"] == "tail"


def test_a_distribution_of_the_users_own(tmp_path, capsys):
    (tmp_path / "mine.csv").write_text("red,0.5\nblue,0.5\n")
    make_here("superclevr", out=tmp_path / "own", distribution=[tmp_path / "mine.csv"], **WORDS)
    assert " color       red           50.0% " in capsys.readouterr().out
    made = Dataset.open(tmp_path / "own")
    assert {v for i in made.images() for o in i.scene.objects for v in o.values("color")} == {"red", "blue"}
    assert {q.note("variant") for q in made.questions()} == {"own"}


def test_questions_alone_about_given_scenes(tmp_path):
    write_scenes(tmp_path / "scenes.json", [sample_scene(0, "test", i) for i in range(4)])
    words = ("--scenes", tmp_path / "scenes.json", "--no-images", "--out", tmp_path / "asked")
    result = here("make", "superclevr", *words, "--workers", "1", "--shard", "2")
    assert result.returncode == 0, result.stderr
    assert "given         4 scenes         80 questions" in result.stdout
    made = Dataset.open(tmp_path / "asked")
    assert {q.scenes[0] for q in made.questions()} == {f"superclevr_test_{i:06d}" for i in range(4)}
    assert all(image.png == b"" for image in made.images())


def test_scenes_without_pictures_can_be_asked_about_and_shown(tmp_path, capsys):
    given = sample_scene(0, "test", 0, SuperClevrRules(size=(160, 112)))
    write_scenes(tmp_path / "scenes.json", [given])
    make_here("superclevr", out=tmp_path / "d", scenes=tmp_path / "scenes.json", no_images=True, questions=2, workers=1)
    log = evaluate(RunOrder("oracle", tmp_path / "d", split="given"), tmp_path / "run")
    assert log.records.right.tolist() == [True] * 12
    show_example(tmp_path / "d", "given", 0, None, False, None)
    assert "scene superclevr_test_000000 (superclevr)" in capsys.readouterr().out


def test_given_scenes_are_rendered_at_their_own_size(tmp_path, capsys):
    """One of them hardly seen, which is told."""
    given = [sample_scene(0, "test", i, SuperClevrRules(size=size)) for i, size in enumerate([(200, 150), (160, 112)])]
    write_scenes(tmp_path / "scenes.json", given)
    words = {"scenes": tmp_path / "scenes.json", "questions": 1, "part_questions": 1, "workers": 1}
    make_here("superclevr", out=tmp_path / "own", as_json=True, **words)
    told = json.loads(capsys.readouterr().out)
    assert [i.size for i in Dataset.open(tmp_path / "own").images()] == [(200, 150), (160, 112)]
    vehicles = sum(len(s.objects) for s in given)
    parts = sum(len(o.parts) for s in given for o in s.objects)
    assert told["below_pixel_limits"] == {"vehicles": 0, "of_vehicles": vehicles, "parts": 0, "of_parts": parts}
    make_here("superclevr", out=tmp_path / "small", size="80x60", **words)
    assert f"Of the {vehicles} vehicles in the given scenes" in capsys.readouterr().out
    for image in Dataset.open(tmp_path / "small").images():
        assert image.size == image.scene.size == (80, 60)
        assert [o.box for o in image.scene.objects] == [tuple(map(float, b)) for b in image.boxes]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"variant": "lonk"}, "no variant 'lonk' in superclevr; did you mean 'long'?"),
        ({"no_images": True}, "--no-images asks about given scenes alone; name them with --scenes"),
        ({"check": True}, "--check compares the twins of a study; add --study"),
        ({"study": True, "variant": "long"}, "omit --variant and --scenes"),
        ({"distribution": [Path("none.csv")]}, "none.csv: no such file"),
        (
            {"scenes": Path("s.json"), "variant": "long"},
            "given scenes cannot be made long; with --scenes a --variant is default, rd- or rd+",
        ),
        ({"scenes": Path("s.json"), "visual": VisualLevel.HARD}, "--visual is for new scenes; omit it"),
        ({"scenes": Path("s.json"), "images": 5}, "--images is for new scenes; omit it"),
        ({"scenes": Path("s.json"), "distribution": [Path("d.csv")]}, "--distribution is for new scenes"),
        ({"scenes": Path("s.json"), "no_images": True, "size": "64x64"}, "--no-images renders nothing"),
        ({"size": "480x32"}, "whole vehicles in a picture of 480×32 pixels"),
        ({"study": True, "distribution": [Path("none.csv")]}, "a study has the distributions of its variants"),
    ],
)
def test_bad_orders_are_one_sentence_and_leave_nothing(tmp_path, refuses, words, sentence):
    with refuses(sentence):
        make_here("superclevr", out=tmp_path / "out", **words)
    assert not (tmp_path / "out").exists()
