"""A tiny transformers model in two processes: the responses of one, each once, whoever is killed meanwhile."""

import multiprocessing
import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from asked import dataset
from command import command, here
from shiftscope.model import ModelOptions
from shiftscope.run.evaluate import RunSpec, evaluate
from shiftscope.run.local_replicas import count_replicas, place_replicas
from shiftscope.store.run_log import read_rows
from tiny_llava import save_tiny_llava

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
ONE = ModelOptions(max_tokens=4, batch=2, device="cpu", temperature=2.0)  # drawn by seeds: else it says one thing only
TWO = replace(ONE, replicas=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("tiny")
    save_tiny_llava(made)
    return made


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return dataset(tmp_path_factory.mktemp("replicas") / "data").folder


@pytest.fixture(scope="module")
def alone(folder, data, tmp_path_factory):
    """What one process says."""
    out = tmp_path_factory.mktemp("one") / "run"
    evaluate(RunSpec(f"hf:{folder}", data, options=ONE), out)
    return list_replies(out)


def list_replies(out):
    return [(p.question, p.raw, p.status, p.tokens, [(u.read, u.wrote) for u in p.usage]) for _, p in read_rows(out)]


@pytest.mark.full
def test_a_replica_that_is_killed_stops_the_run_and_nothing_is_lost_or_doubled(folder, data, alone, tmp_path, refuses):
    run = RunSpec(f"hf:{folder}", data, options=TWO)
    pids = []

    def kill_one(done, total):
        if done and not pids:
            pids.extend(p.pid for p in sorted(multiprocessing.active_children(), key=lambda process: process.name))
            os.kill(pids[1], signal.SIGKILL)

    why = "ended (signal 9), perhaps because memory ran out; the responses so far are kept, run the same command again"
    with refuses(f"replica 1 of model 'hf:{folder}' {why}"):
        evaluate(run, tmp_path / "run", tell=kill_one)
    assert len({raw for _, raw, *_ in alone}) > 5
    assert len(pids) == 2 and not multiprocessing.active_children()
    kept = list_replies(tmp_path / "run")
    assert 0 < len(kept) < len(alone) and set(map(str, kept)) <= set(map(str, alone))
    counts = []
    again = RunSpec(f"hf:{folder}", data, options=ONE)
    evaluate(again, tmp_path / "run", count=lambda new, before: counts.append((new, before)))
    assert counts == [(len(alone) - len(kept), len(kept))]
    assert list_replies(tmp_path / "run") == alone


def test_where_replicas_run(monkeypatch, refuses):
    assert place_replicas("cpu", 2) == [None, None]
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 4)
    assert place_replicas("auto", 2) == ["0", "1"]
    assert place_replicas("cuda", 6) == ["0", "1", "2", "3", "0", "1"]
    assert place_replicas("all", 2) == ["0,1", "2,3"]
    assert place_replicas("all", 3) == ["0", "1", "2,3"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7,5,3,1")
    assert place_replicas("all", 2) == ["7,5", "3,1"]
    with refuses("5 replicas cannot be spread over 4 GPUs"):
        place_replicas("all", 5)
    with refuses("--device cuda:1 names one GPU; with --replicas give auto"):
        place_replicas("cuda:1", 2)


def test_a_launcher_says_how_many(monkeypatch, refuses):
    for name in ("WORLD_SIZE", "LOCAL_WORLD_SIZE", "RANK"):
        monkeypatch.delenv(name, raising=False)
    assert (count_replicas(1), count_replicas(3)) == (1, 3)
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert count_replicas(1) == 2
    monkeypatch.setenv("RANK", "1")
    assert count_replicas(1) is None
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "1")
    with refuses("a run has replicas on one machine"):
        count_replicas(1)


def test_the_others_of_a_launcher_do_nothing(folder, data, tmp_path, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    out = ("--out", tmp_path / "run")
    for words in (("run", "--model", f"hf:{folder}", "--data", data, *out), ("diagnose", f"hf:{folder}", *out)):
        ended = here(*words)
        assert (ended.returncode, ended.stdout) == (0, "")
        assert not (tmp_path / "run").exists()


def test_models_without_replicas(data, tmp_path, refuses):
    with refuses("model 'majority' runs in one process; omit --replicas, which is for hf models"):
        evaluate(RunSpec("majority", data, options=TWO), tmp_path / "run")


@pytest.mark.full
def test_a_model_that_cannot_be_loaded_is_refused_once(data, tmp_path, refuses):
    (tmp_path / "config.json").write_text("{}")
    with refuses(f"model hf:{tmp_path} cannot be loaded"):
        evaluate(RunSpec(f"hf:{tmp_path}", data, options=TWO), tmp_path / "run")
    assert not (tmp_path / "run").exists() and not multiprocessing.active_children()


@pytest.mark.full
def test_two_replicas_say_what_one_says_and_a_killed_parent_takes_them_along(folder, data, alone, tmp_path):
    given = ("--model", f"hf:{folder}", "--data", data, "--max-tokens", 4, "--batch", 2, "--temperature", 2)
    words = command("run", *given, "--device", "cpu", "--replicas", 2, "--out", tmp_path / "run")
    started = subprocess.Popen(words)
    while not (children := list_children(started.pid)):
        time.sleep(0.05)
    time.sleep(2.0)
    children = list_children(started.pid) or children
    started.kill()
    started.wait()
    until = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in children) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(Path(f"/proc/{pid}").exists() for pid in children)
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "tokens written per second" in done.stdout
    assert list_replies(tmp_path / "run") == alone
    assert all(p.seconds > 0 for _, p in read_rows(tmp_path / "run"))


def list_children(pid):
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()] if path.exists() else []
