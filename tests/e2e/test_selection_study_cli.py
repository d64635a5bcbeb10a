"""`shiftscope study vqa_vs` on a world made before: how its records are labelled, and what it refuses."""

import json

import pytest

from command import here, make_here, refused


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world") / "world"
    ties = {"shortcut": "question_type=exist>yes:0.7"}
    make_here("superclevr", folder, images=24, size="168x112", questions=6, part_questions=0, **ties)
    return folder


def study(*words):
    return here("study", "vqa_vs", *words)


def label_world(out, *words):
    """Minutes that are over at once leave the record of the world, and train nothing."""
    told = study("--out", out, "--minutes", "1e-6", "--device", "cpu", *words)
    assert told.returncode == 0, told.stderr
    (path,) = (out / "cells").iterdir()
    return json.loads(path.read_text())["scale"], path.name


@pytest.mark.parametrize("words", [(), ("--scale", "small"), ("--images", "24")])
def test_records_are_labelled_by_the_world_that_is_given(words, world, tmp_path):
    label, name = label_world(tmp_path, "--data", world, *words)
    assert label == "small-24" and name.startswith("small-24-world-")


def test_a_scale_that_is_not_the_worlds_is_refused(world, tmp_path):
    given = ("--out", tmp_path, "--device", "cpu", "--minutes", "1e-6", "--data", world)
    assert (
        "world has 24 images of 168x112, and scale small-30 has 30 images of 168x112; omit --scale and --images"
    ) in refused(study(*given, "--images", "30"))
    assert "scale paper-24 has 24 images of 480x320; omit" in refused(study(*given, "--scale", "paper"))
    assert not (tmp_path / "cells").exists()


def test_a_world_that_is_no_world_of_the_study_is_refused(world, tmp_path):
    about = json.loads((world / "manifest.json").read_text())
    for spec, words in (
        ({"size": [320, 240]}, "pictures of 320x240 are of no scale of vqa_vs: small 168x112, paper 480x320"),
        ({"suite": "clevr"}, "is a dataset of clevr; study vqa_vs wants a world of superclevr"),
    ):
        folder = tmp_path / f"changed-{'-'.join(spec)}"
        folder.mkdir()
        for path in world.iterdir():
            (folder / path.name).symlink_to(path)
        (folder / "manifest.json").unlink()
        (folder / "manifest.json").write_text(json.dumps(about | {"spec": about["spec"] | spec}))
        assert words in refused(study("--out", tmp_path / "out", "--minutes", "1e-6", "--data", folder))


def test_methods_and_seeds_that_do_not_exist_are_refused(tmp_path):
    def refuse(*words):
        return refused(study("--out", tmp_path, *words))

    assert "no method 'nope' in vqa_vs; known: s_mrl, s_mrl+rubi, updn, updn softmax, " in refuse("--methods", "nope")
    variants = "did you mean 'updn+lpf gamma=1' or 'updn+lpf gamma=5'?"
    assert variants in refuse("--methods", "updn+lpf")
    assert "did you mean 'updn+lmh'?" in refuse("--methods", "updn+lhm")
    audit = ("--audit", tmp_path / "audit")
    assert "did you mean 'updn+language+lpf gamma=1' or" in refuse(*audit, "--methods", "updn+language+lpf")
    assert "known: updn+language, updn+language softmax, " in refuse(*audit, "--methods", "ban")
    assert "--seeds takes whole numbers from 0 on, not -1" in refuse(*audit, "--seeds", "-1")
    assert "--seeds takes whole numbers from 0 on, not -3" in refuse(*audit, "--seeds", "0,-3")
    assert list(tmp_path.iterdir()) == []
