"""What is no ordinary file or folder: refused in one sentence by every verb, and read where it can be."""

import json
import os
import shutil
import socket
import subprocess
from pathlib import Path
from pipes import Pipe

import pytest

import audit_toys
from asked import dataset
from command import ROOT, command, here, refused
from shiftscope.store.run_log import read_run

EXAMPLES = ROOT / "examples" / "data"
SCENES, QUESTIONS = EXAMPLES / "clevr_scenes.json", EXAMPLES / "clevr_questions.json"
GRAPHS = EXAMPLES / "gqa_graphs.json"
NOT_UTF8 = os.fsdecode(b"n\xff")


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    folder = tmp_path_factory.mktemp("given")
    data = dataset(folder / "data").folder
    for seed, name in enumerate(("run", "other")):
        words = ("--data", data, "--seed", seed, "--out", folder / name)
        assert here("run", "--model", "random", *words).returncode == 0
    made = audit_toys.dataset(200)
    (folder / "q.json").write_text(json.dumps(made["questions"]))
    (folder / "a.json").write_text(json.dumps(made["annotations"]))
    later = json.loads(QUESTIONS.read_text())
    for question in later["questions"]:
        question["question_index"] += 1000
    (folder / "later.json").write_text(json.dumps(later))
    ids = [str(q) for q in read_run(folder / "run").records.question.to_list()]
    (folder / "p.json").write_text(json.dumps(dict.fromkeys(ids, "yes")))
    return folder


@pytest.fixture
def odd(tmp_path):
    """A folder of things that are neither what a file nor what a folder should be."""
    made = tmp_path / "odd"
    made.mkdir()
    (made / "circle").symlink_to("around")
    (made / "around").symlink_to("circle")
    (made / "dangling").symlink_to("nowhere")
    os.mkfifo(made / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        before = Path.cwd()
        os.chdir(made)  # a socket's path must be short
        listening.bind("socket")
        os.chdir(before)
    (made / "empty").touch()
    (made / "folder").mkdir()
    (made / "nested").mkdir()
    os.mkfifo(made / "nested" / "manifest.json")
    (made / "nested" / "run.json").mkdir()
    return made


ODD = ("circle", "circle/below", "dangling", "pipe", "socket", "empty", "folder", "empty/below", "nested")
ODD += ("long" * 80, "deep/" * 2000, "missing", NOT_UTF8, "/dev/zero", "/dev/null")
READ = {
    "show": ["show", "ODD"],
    "show --scenes": ["show", QUESTIONS, "--scenes", "ODD"],
    "answer --scenes": ["answer", "--scenes", "ODD", "--questions", QUESTIONS],
    "answer --graphs": ["answer", "--graphs", "ODD", "--questions", EXAMPLES / "gqa_questions.json"],
    "answer --questions": ["answer", "--scenes", SCENES, "--questions", "ODD"],
    "answer --templates": ["answer", "--scenes", SCENES, "--questions", QUESTIONS, "--templates", "ODD"],
    "render": ["render", "--scenes", "ODD", "--out", "OUT"],
    "make questions": ["make", "questions", "--scenes", "ODD", "--out", "OUT"],
    "make superclevr": ["make", "superclevr", "--scenes", "ODD", "--workers", 1, "--out", "OUT"],
    "make superclevr --distribution": ["make", "superclevr", "--distribution", "ODD", "--out", "OUT"],
    "make clevr_hyp": ["make", "clevr_hyp", "--scenes", "ODD", "--workers", 1, "--out", "OUT"],
    "make covr": ["make", "covr", "--graphs", "ODD", "--overlap", "schema", "--out", "OUT"],
    "make gqa": ["make", "gqa", "--graphs", "ODD", "--overlap", "schema", "--out", "OUT"],
    "export": ["export", "ODD", "--to", "clevr", "--out", "OUT"],
    "run --data": ["run", "--model", "random", "--data", "ODD", "--out", "OUT"],
    "run --part": ["run", "--model", "random", "--data", "G/data", "--part", "ODD", "--out", "OUT"],
    "run --learn-from": ["run", "--model", "random", "--data", "G/data", "--learn-from", "ODD", "--out", "OUT"],
    "run predictions": ["run", "--model", "predictions:ODD", "--data", "G/data", "--out", "OUT"],
    "run nsvqa": ["run", "--model", "nsvqa:ODD", "--data", "G/data", "--out", "OUT"],
    "score": ["score", "ODD"],
    "score --annotations": ["score", "G/p.json", "--annotations", "ODD"],
    "score --audit": ["score", "G/run", "--audit", "ODD"],
    "compare": ["compare", "ODD", "G/run"],
    "compare after": ["compare", "G/run", "ODD"],
    "select": ["select", "ODD", "G/run", "--on-ood"],
    "split": ["split", "ODD", "--hold-out", "has_count", "--out", "OUT"],
    "split file": ["split", "train=ODD", "--hold-out", "has_count", "--out", "OUT"],
    "report": ["report", "ODD", "--out", "OUT"],
    "report --data": ["report", "G/run", "--data", "ODD", "--out", "OUT"],
    "audit": ["audit", "ODD", "--out", "OUT"],
    "audit --questions": ["audit", "--questions", "ODD", "--annotations", "G/a.json", "--out", "OUT"],
    "audit --annotations": ["audit", "--questions", "G/q.json", "--annotations", "ODD", "--out", "OUT"],
    "audit --objects": ["audit", "--questions", "G/q.json", "--annotations", "G/a.json", "--objects", "ODD", "--out", "OUT"],
    "test": ["test", "contrast", "--model", "oracle", "--data", "ODD", "--out", "OUT"],
    "study --cells": ["study", "superclevr", "--tables", "--cells", "ODD"],
    "study --merge": ["study", "superclevr", "--merge", "ODD", "--cells", "OUT"],
}  # fmt: skip


def words_of(words, given, odd, name, out):
    path = name if name.startswith("/") else str(odd / name)
    return [str(w).replace("G/", f"{given}/").replace("ODD", path).replace("OUT", str(out)) for w in words]


@pytest.mark.parametrize("verb", READ)
def test_what_is_read_is_refused_in_one_sentence(verb, given, odd, tmp_path):
    for name in ODD:
        refused(here(*words_of(READ[verb], given, odd, name, tmp_path / "out")))
        assert not (tmp_path / "out").exists(), name


WRITTEN = {
    "answer": ["answer", "--scenes", SCENES, "--questions", QUESTIONS, "--out", "ODD"],
    "audit": ["audit", "--questions", "G/q.json", "--annotations", "G/a.json", "--out", "ODD"],
    "compare": ["compare", "G/run", "G/other", "--md", "ODD"],
    "export": ["export", "G/data", "--to", "clevr", "--out", "ODD"],
    "make questions": ["make", "questions", "--scenes", SCENES, "-n", 1, "--out", "ODD"],
    "make scenes": ["make", "scenes", "-n", 1, "--size", "32x24", "--workers", 1, "--out", "ODD"],
    "render": ["render", "--scenes", SCENES, "--size", "32x24", "--out", "ODD"],
    "report": ["report", "G/run", "--out", "ODD"],
    "run": ["run", "--model", "random", "--data", "G/data", "--out", "ODD"],
    "split": ["split", "G/data", "--hold-out", "has_count", "--out", "ODD"],
    "test": ["test", "contrast", "--model", "oracle", "--data", "G/data", "--out", "ODD"],
}
UNWRITABLE = ("circle/below", "pipe", "socket", "empty/below", "long" * 80, "deep/" * 2000, "/proc/shiftscope")


@pytest.mark.parametrize("verb", WRITTEN)
def test_what_can_not_be_written_is_told_in_one_sentence(verb, given, odd):
    before = sorted(odd.rglob("*"))
    for name in UNWRITABLE:
        refused(here(*words_of(WRITTEN[verb], given, odd, name, "")))
        assert sorted(odd.rglob("*")) == before, name


@pytest.mark.parametrize("verb", WRITTEN)
def test_a_name_that_is_not_utf8_is_written_to(verb, given, odd):
    done = here(*words_of(WRITTEN[verb], given, odd, NOT_UTF8, ""))
    assert done.returncode == 0, done.stderr
    assert (odd / NOT_UTF8).exists()


def test_data_and_runs_under_names_that_are_not_utf8(given, tmp_path):
    named = tmp_path / NOT_UTF8
    shutil.copytree(given / "data", named / NOT_UTF8)
    for seed in (0, 1):
        words = ("--data", named / NOT_UTF8, "--out", named / f"run{seed}", "--seed", seed)
        assert here("run", "--model", "random", *words).returncode == 0
    assert dict(read_run(named / "run0").spec)["data"] == str(named / NOT_UTF8)
    page = here("report", named / "run0", named / "run1", "--out", named / "page.html")
    assert page.returncode == 0, page.stderr
    assert (named / "page.html").read_text("utf-8").endswith("</html>\n")
    assert here("score", named / "run0").returncode == 0
    chosen = here("select", named / "run0", named / "run1", "--on-ood", "--json")
    assert json.loads(chosen.stdout)["chosen"].encode(errors="surrogateescape").endswith((b"run0", b"run1"))


def through_a_pipe(path, data):
    """A pipe that somebody writes to, as a shell makes one for <(COMMAND)."""
    Pipe(path).write(data)
    return path


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["show", "IN"], SCENES),
        (["answer", "--scenes", "IN", "--questions", QUESTIONS, "--json"], SCENES),
        (["answer", "--scenes", SCENES, "--questions", "IN", "--json"], QUESTIONS),
        (["split", "train=IN", "test=G/later.json", "--hold-out", "has_count", "--out", "OUT", "--json"], QUESTIONS),
        (["run", "--model", "predictions:IN", "--data", "G/data", "--out", "OUT", "--json"], "p.json"),
        (["audit", "--questions", "IN", "--annotations", "G/a.json", "--out", "OUT", "--json"], "q.json"),
        (["render", "--scenes", "IN", "--size", "32x24", "--out", "OUT", "--json"], SCENES),
    ],
    ids=lambda v: " ".join(map(str, v[:2])) if isinstance(v, list) else "",
)
def test_a_pipe_is_read_once_and_as_a_file_would_be(words, name, given, tmp_path):
    file = given / name
    told = []
    for way in ("file", "pipe"):
        path = file if way == "file" else through_a_pipe(tmp_path / "pipe", file.read_bytes())
        out = tmp_path / "out"
        filled = [str(w).replace("IN", str(path)).replace("OUT", str(out)).replace("G/", f"{given}/") for w in words]
        done = here(*filled)
        assert done.returncode == 0, done.stderr
        told.append(done.stdout.replace(str(path), "PATH"))
        shutil.rmtree(out, ignore_errors=True)
    assert told[0] == told[1]


def test_a_pipe_as_a_shell_makes_it():
    text = f"{subprocess.list2cmdline(command('show', '--json'))} <(cat '{SCENES}')"
    shown = subprocess.run(["bash", "-c", text], capture_output=True, text=True, timeout=120, check=False)
    assert shown.returncode == 0 and shown.stdout == here("show", SCENES, "--json").stdout, shown.stderr


def test_a_folder_of_pictures_in_a_circle_of_links_is_walked_once(tmp_path):
    from shiftscope.suites.graph_inputs import _list_pictures

    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1.png").touch()
    for k in range(4):  # 4 links lead back: 4 to the power of 40 ways to go around
        (tmp_path / "a" / f"back{k}").symlink_to(tmp_path)
    assert [p.name for p in _list_pictures(tmp_path)] == ["1.png"]
