"""Making, rendering, asking and exporting as a user does: real processes, real files."""

import hashlib
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from command import ROOT, command, here, refused, shiftscope
from shiftscope.answer import is_same_answer
from shiftscope.lang.exec.exact import execute
from shiftscope.store.dataset import Dataset
from shiftscope.store.image import decode_mask

DATA = ROOT / "examples" / "data"
ORDER = ("--images", "20", "--shard", "5", "--questions", "4", "--size", "240x160")


def pixels(path):
    with Image.open(path) as image:
        return np.asarray(image)


def fingerprint(folder):
    """Every file of a folder, hidden ones too, with a hash of its bytes."""
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "clevr"
    result = shiftscope("make", "clevr", *ORDER, "--out", folder, "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["splits"] == {
        "train": {"images": 14, "questions": 56},
        "val": {"images": 3, "questions": 12},
        "test": {"images": 3, "questions": 12},
    }
    return folder


def test_every_stored_answer_is_what_its_program_gives(made):
    dataset = Dataset.open(made)
    for example in dataset.examples():
        scenes = [image.scene for image in example.images]
        assert is_same_answer(execute(example.question.program, scenes).answer, example.question.answer)
        assert example.question.text.endswith(("?", "."))


def test_masks_boxes_and_pictures_belong_together(made):
    for image in Dataset.open(made).images():
        mask = decode_mask(image.mask)
        assert mask.shape == (160, 240)
        for i, (left, top, width, height) in enumerate(image.boxes):
            ys, xs = np.nonzero(mask == i + 1)
            assert (xs.min(), ys.min(), xs.max() + 1, ys.max() + 1) == (left, top, left + width, top + height)
            assert len(xs) == image.visible[i] >= 200 / 4  # a quarter of the area of 480×320


def test_a_kill_and_a_rerun_end_in_the_same_bytes(made, tmp_path):
    folder = tmp_path / "again"
    running = subprocess.Popen(
        command("make", "clevr", *ORDER, "--out", folder, "--workers", 2), start_new_session=True
    )
    deadline = time.monotonic() + 120
    while not list(folder.rglob("*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert "not finished" in refused(here("show", folder))
    assert shiftscope("make", "clevr", *ORDER, "--out", folder, "--workers", 1).returncode == 0
    assert fingerprint(folder) == fingerprint(made)


def test_another_order_in_the_same_folder_is_refused(made):
    before = fingerprint(made)
    sentence = refused(here("make", "clevr", *ORDER, "--seed", 1, "--out", made))
    assert "seed" in sentence
    assert fingerprint(made) == before


def test_a_damaged_shard_is_found_and_remade(made, tmp_path):
    folder = tmp_path / "damaged"
    subprocess.run(["cp", "-r", str(made), str(folder)], check=True)
    shard = next(folder.glob("images/val/*.parquet"))
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 0xFF
    shard.write_bytes(data)
    assert "is not what was written there" in refused(here("show", folder, "--verify"))
    assert "--repair" in refused(here("make", "clevr", *ORDER, "--out", folder))
    assert here("make", "clevr", *ORDER, "--workers", 1, "--out", folder, "--repair").returncode == 0
    assert fingerprint(folder) == fingerprint(made)
    assert "are what was written" in here("show", folder, "--verify").stdout


def test_show_prints_an_example_and_saves_its_picture(made, tmp_path):
    picture = tmp_path / "x.png"
    shown = here("show", made, "--index", 17, "--image", picture)
    assert shown.returncode == 0, shown.stderr
    assert "question  " in shown.stdout
    assert "scene()" in shown.stdout
    assert pixels(picture).shape == (160, 240, 3)
    assert "no question 999" in refused(here("show", made, "--index", 999))
    assert "did you mean 'train'" in refused(here("show", made, "--split", "trian"))


def test_an_export_to_clevr_is_answered_like_any_official_file(made, tmp_path):
    out = tmp_path / "official"
    assert here("export", made, "--to", "clevr", "--out", out).returncode == 0
    questions = next(out.glob("questions/*val*.json"))
    scenes = next(out.glob("scenes/*val*.json"))
    result = here("answer", "--scenes", scenes, "--questions", questions, "--json")
    summary = json.loads(result.stdout.splitlines()[-1])
    assert (summary["questions"], summary["agree"]) == (12, 12)
    assert "already there" in refused(here("export", made, "--to", "clevr", "--out", out))
    assert "did you mean 'webdataset'" in refused(here("export", made, "--to", "webdatset"))


def test_scenes_alone_have_pictures_and_no_questions(tmp_path):
    folder = tmp_path / "scenes"
    words = ("--world", "clevr", "-n", 7, "--seed", 7, "--size", "240x160", "--workers", 1)
    result = here("make", "scenes", *words, "--out", folder)
    assert result.returncode == 0, result.stderr
    dataset = Dataset.open(folder)
    assert len(dataset) == 0
    assert sum(1 for _ in dataset.images()) == 7
    assert "scene clevr_train_000002 (clevr)" in here("show", folder, "--index", 2).stdout


def test_render_draws_any_scene_file_and_goes_on_where_it_stopped(tmp_path):
    out = tmp_path / "images"
    words = (
        "render",
        "--scenes",
        DATA / "clevr_scenes.json",
        "--out",
        out,
        "--size",
        "240x160",
        "--layers",
        "rgb,mask,depth",
    )
    assert json.loads(here(*words, "--json").stdout)["rendered"] == 2
    assert pixels(out / "toy_000000.png").shape == (160, 240, 3)
    assert set(np.unique(pixels(out / "toy_000000_mask.png")).tolist()) == {0, 1, 2, 3, 4}
    assert np.load(out / "toy_000001_depth.npy").shape == (160, 240)
    (out / "toy_000001.png").unlink()
    assert json.loads(here(*words, "--json").stdout)["rendered"] == 1
    assert "other scenes, size or layers" in refused(here(*words[:-4], "--size", "96x64"))


def test_questions_about_a_users_own_scenes(tmp_path):
    out = tmp_path / "q.json"
    result = here("make", "questions", "--scenes", DATA / "clevr_scenes.json", "-n", 5, "--out", out)
    assert result.returncode == 0, result.stderr
    answered = here("answer", "--scenes", DATA / "clevr_scenes.json", "--questions", out, "--json")
    summary = json.loads(answered.stdout.splitlines()[-1])
    assert summary["agree"] == summary["questions"] >= 8


@pytest.mark.full
def test_the_gallery_is_made(tmp_path):
    sheets = shiftscope("gallery", "--of", "clevr", "--out", tmp_path).stdout.split()
    assert [Path(s).name for s in sheets] == ["clevr_solids.png", "clevr_scenes.png"]
    assert all(min(pixels(s).shape[:2]) > 500 for s in sheets)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("make", "clevr", "--size", "big", "--out", "x"), "'big' is not a size"),
        (("render", "--scenes", DATA / "clevr_scenes.json", "--out", "x", "--layers", "rbg"), "no layer 'rbg'; did you mean 'rgb'?"),
        (("render", "--scenes", "nowhere.json", "--out", "x"), "nowhere.json: no such file"),
        (("export", "nowhere", "--to", "hf"), "nowhere: no dataset there"),
        (("make", "questions", "--scenes", DATA / "clevr_scenes.json", "--templates", DATA, "--out", "q.json"), "template"),
        (("make", "questions", "--scenes", DATA / "gqa_graphs.json", "--out", "q.json"), "schema gqa has no closed attributes"),
    ],
)  # fmt: skip
def test_a_wrong_word_gets_one_sentence_and_exit_2(words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert sentence in refused(here(*words))
    assert not list(tmp_path.iterdir())
