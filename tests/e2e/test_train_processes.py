"""`shiftscope train` in two processes, as a user starts it, and as torchrun does; killed, and resumed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from command import command
from shiftscope.run.make import make
from shiftscope.suites.superclevr import suite as superclevr

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    out = tmp_path_factory.mktemp("processes") / "data"
    spec = superclevr.SuperclevrSpec(images=24, size=(128, 96), questions=3, part_questions=1)
    make("superclevr", spec, out, workers=1)
    return out


def list_words(data, out, *more, epochs=2):
    given = ("--model", "cnn_lstm", "--data", data, "--epochs", epochs, "--device", "cpu", "--workers", 1, "--out", out)
    return [str(word) for word in ("train", *given, *more)]


def run(words, **how):
    return subprocess.run(words, capture_output=True, text=True, check=False, **how)


def read_training(out):
    about = json.loads((out / "model.json").read_text())
    rows = [json.loads(line) for line in (out / "training.jsonl").read_text().splitlines()]
    return about, rows


def test_two_processes_train_as_one_does(data, tmp_path):
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "-m", "shiftscope"]
    started = {
        "one": command(*list_words(data, tmp_path / "one")),
        "two": command(*list_words(data, tmp_path / "two", "--processes", 2)),
        "launched": [*launch, *list_words(data, tmp_path / "launched")],
    }
    printed = {name: run(words) for name, words in started.items()}
    # accelerate launch is torchrun on a machine with GPUs; on a CPU it starts several processes only through MPI
    assert {name: ended.returncode for name, ended in printed.items()} == dict.fromkeys(started, 0), printed
    about, rows = read_training(tmp_path / "one")
    assert about["processes"] == 1 and [row["epoch"] for row in rows] == [1, 2]
    for name in ("two", "launched"):
        other, others = read_training(tmp_path / name)
        assert printed[name].stdout.count("next: shiftscope run") == 1
        assert other["processes"] == 2 and other["spec"] == about["spec"]
        assert [row["epoch"] for row in others] == [1, 2]
        assert [row["examples"] for row in others] == [row["examples"] for row in rows]
        assert others[0]["losses"]["loss"] == pytest.approx(rows[0]["losses"]["loss"], rel=0.02)
        totals = [{k: of for k, (_, of) in one["answerer"]["val_counts"].items()} for one in (other, about)]
        assert totals[0] == totals[1]


def test_one_that_is_killed_ends_all_and_another_number_of_processes_resumes(data, tmp_path):
    out = tmp_path / "model"
    started = subprocess.Popen(
        command(*list_words(data, out, "--processes", 2, epochs=3000)), stderr=subprocess.PIPE, text=True
    )
    state = out / "training" / "answerer.safetensors"
    until = time.monotonic() + 400
    while not state.exists() and time.monotonic() < until:
        time.sleep(0.2)
    before = json.loads((out / "training.jsonl").read_text().splitlines()[-1])["epoch"]
    children = Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
    others = [int(pid) for pid in children if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text()]
    os.kill(others[-1], signal.SIGKILL)
    _, said = started.communicate(timeout=200)
    assert started.returncode == 2
    assert "of the training ended (signal 9)" in said.splitlines()[-1]
    assert not any(Path(f"/proc/{pid}").exists() for pid in others)
    ended = run(command(*list_words(data, out, "--minutes", 0.2, epochs=3000)))
    assert ended.returncode == 0 and "paused after 0.2 minutes" in ended.stdout, ended.stderr
    epochs = [json.loads(line)["epoch"] for line in (out / "training.jsonl").read_text().splitlines()]
    assert epochs == list(range(1, len(epochs) + 1)) and len(epochs) >= before - 1
