"""Making COVR as a user does: killed and gone on with, on any number of workers, run, scored and exported."""

import json
import os
import signal
import subprocess
import time

import pytest

from command import command, here, refused
from graphs import random_graph
from shiftscope.formats.gqa import write_scenes
from store_toys import content

ORDER = ("--questions", "30", "--sources", "26", "--subgraphs", "3", "--overlap", "schema", "--shard", "20")


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    write_scenes(folder / "first.json", [random_graph(6, k) for k in range(150)])
    write_scenes(folder / "more.json", [random_graph(6, k) for k in range(150, 240)])
    return "--graphs", folder / "first.json", "--graphs", folder / "more.json"


@pytest.fixture(scope="module")
def made(graphs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "covr"
    result = here("make", "covr", *graphs, *ORDER, "--out", folder, "--workers", 1, "--json")
    assert not result.returncode, result.stderr
    told = json.loads(result.stdout)
    assert told["yield"]["sources"]["train"] == 26
    assert told["splits"]["train"]["questions"] > 15
    return folder


@pytest.mark.full
def test_a_kill_and_a_rerun_by_two_workers_under_another_hash_seed_end_in_the_same_bytes(graphs, made, tmp_path):
    folder = tmp_path / "again"
    words = command("make", "covr", *graphs, *ORDER, "--out", folder, "--workers", 2)
    seeded = {**os.environ, "PYTHONHASHSEED": "4242"}
    running = subprocess.Popen(words, start_new_session=True, env=seeded)
    deadline = time.monotonic() + 120
    while not list(folder.glob(".work/asked-*/keys/*/*.npy")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert not (folder / "manifest.json").exists()
    assert subprocess.run(words, env=seeded, capture_output=True, check=False).returncode == 0
    assert content(folder) == content(made)


def test_reference_points_run_on_several_images(made, tmp_path):
    right = {}
    for model in ("oracle", "majority", "majority_per_template", "question_only"):
        out = tmp_path / model
        run = here("run", "--data", made, "--model", model, "--split", "test", "--out", out)
        assert not run.returncode, run.stderr
        scored = here("score", out, "--json")
        assert not scored.returncode, scored.stderr
        right[model] = scored.stdout
    oracle = right.pop("oracle")
    assert '"value": 100.0' in oracle
    assert oracle not in right.values()
    shown = here("show", made, "--split", "test", "--index", 0)
    assert not shown.returncode, shown.stderr
    assert "question  " in shown.stdout


def test_the_page_of_questions(made, tmp_path):
    result = here("gallery", "--of", "covr", "--data", made, "--out", tmp_path, "--source", "toys")
    assert not result.returncode, result.stderr
    page = (tmp_path / "covr.md").read_text("utf-8")
    assert "From 240 toys" in page
    assert page.count("| `") >= 50


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "give either --graphs FILE or --world superclevr"),
        (("--world", "superclevr", "--images", "."), "omit --images"),
        (("--world", "superclevr", "--overlap", "wordnet"), "omit --overlap"),
        (("--graphs", "nowhere.json"), "no such file"),
        (("--world", "superclevr", "--questions", "many"), "expected one number, or three"),
        (("--world", "superclevr", "-n", "3"), "too few"),
    ],
)
def test_what_does_not_go_together_is_refused(words, sentence, tmp_path):
    assert sentence in refused(here("make", "covr", *words, "--out", tmp_path / "x"))
    assert not (tmp_path / "x").exists()


def test_options_for_a_world_are_refused_with_graphs(graphs, tmp_path):
    for option in (("-n", 5), ("--size", "10x10")):
        result = here("make", "covr", *graphs, *option, "--out", tmp_path / "x")
        assert "given graphs are as they are" in refused(result)
    result = here("make", "covr", *graphs, "--verify", "a:b", "--out", tmp_path / "x")
    assert "name their folder with --images" in refused(result)
