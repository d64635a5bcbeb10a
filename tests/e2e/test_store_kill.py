"""A build killed for real, at any moment, ends up byte for byte as an undisturbed one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shiftscope.errors import UserError
from shiftscope.store.build_dataset import build_dataset
from store_toys import JOBS, SPEC, content, make

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "data"
    build_dataset(folder, SPEC, JOBS, make)
    return folder


@pytest.fixture
def start(tmp_path):
    """Starts a build in a process group of its own, which hangs at the shards named."""
    started = []

    def start(folder, workers, *hang):
        environment = {"TOYS_HANG": " ".join(hang), "TOYS_RELEASE": str(tmp_path / "release")}
        process = subprocess.Popen(
            [sys.executable, "-m", "store_toys", str(folder), str(workers)],
            env={**os.environ, **environment, "PYTHONPATH": str(TESTS)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def wait_for(happens, *arguments, seconds=30.0):
    end = time.monotonic() + seconds
    while not happens(*arguments):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def has_done(folder, count):
    journal = folder / ".journal.jsonl"
    return journal.exists() and journal.read_bytes().count(b"\n") >= count


def kill(process):
    """Kill the parent alone. Its output ends when the last worker is gone, too."""
    process.kill()
    process.communicate(timeout=30)


@pytest.mark.parametrize(
    "workers, hang, done", [(1, ["train/2"], 2), (2, ["train/0", "train/1"], 0), (2, ["train/3", "test/1"], 6)]
)
def test_killed_then_resumed(undisturbed, tmp_path, start, workers, hang, done):
    folder = tmp_path / "data"
    process = start(folder, workers, *hang)
    wait_for(has_done, folder, done) if done else wait_for((folder / "manifest.json").exists)
    kill(process)
    seen = []
    build_dataset(folder, SPEC, JOBS, make, progress=lambda count, *_: seen.append(count))
    assert seen == list(range(done, 9))
    assert content(folder) == content(undisturbed)


def test_ctrl_c_in_a_terminal(tmp_path, start):
    """A terminal sends the signal to the whole group; only the parent speaks."""
    folder = tmp_path / "data"
    process = start(folder, 2, "train/1", "val/0")
    wait_for(has_done, folder, 3)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=30)[0]
    assert said == (
        f"BuildStopped: stopped; 3 of 8 shards are done and kept in {folder}: run the same command again to resume\n"
    )
    assert not [name for name in content(folder) if name.endswith((".partial", ".lock"))]


def test_a_dead_worker_is_said(undisturbed, tmp_path, start):
    folder = tmp_path / "data"
    process = start(folder, 2, "train/1", "val/0")
    wait_for(has_done, folder, 3)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not children.exists():
        pytest.skip("needs /proc to find the workers")
    os.kill(int(children.read_text().split()[-1]), signal.SIGKILL)
    assert "a worker process died" in process.communicate(timeout=30)[0]
    build_dataset(folder, SPEC, JOBS, make)
    assert content(folder) == content(undisturbed)


def test_two_processes_on_a_folder(undisturbed, tmp_path, start):
    """The second is told so; the first, with workers of its own, gives the bytes of one process."""
    folder = tmp_path / "data"
    process = start(folder, 2, "train/1")
    wait_for(has_done, folder, 1)
    with pytest.raises(UserError, match=f"process {process.pid} is already working on it"):
        build_dataset(folder, SPEC, JOBS, make)
    (tmp_path / "release").touch()
    assert process.communicate(timeout=30)[0] == ""
    assert content(folder) == content(undisturbed)
