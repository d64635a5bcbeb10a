"""Executor: results in order, and a process that is left as it was found."""

import gc
import os
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import closing
from pathlib import Path

import pytest

from shiftscope.errors import UserError
from shiftscope.executor import GC_THRESHOLD, LocalExecutor, call_in_parent


@pytest.fixture
def usual_collection():
    """As Python starts; a command that ran in this process may have changed it."""
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_results_come_in_order_and_cycles_are_looked_for_less_meanwhile(usual_collection):
    before = gc.get_threshold()
    with closing(LocalExecutor(2).map(abs, [-3, -1, -2], ahead=2)) as found:
        assert next(found) == 3
        assert gc.get_threshold() == (GC_THRESHOLD, *before[1:])
        with closing(LocalExecutor(2).map(abs, [-5, -4], ahead=2)) as others:
            assert next(others) == 5
        assert gc.get_threshold()[0] == GC_THRESHOLD  # someone is still reading
        assert list(found) == [1, 2]
    assert gc.get_threshold() == before


def test_left_in_the_middle_or_by_an_error_it_is_as_before():
    before = gc.get_threshold()
    with closing(LocalExecutor(2).map(abs, [-3, -1, -2], ahead=2)) as found:
        next(found)
    assert gc.get_threshold() == before
    with pytest.raises(TypeError):
        list(LocalExecutor(2).map(abs, ["word", -1], ahead=2))
    assert gc.get_threshold() == before
    with pytest.raises(UserError, match="0 workers, 1 jobs ahead"):
        next(LocalExecutor(0).map(abs, [1], ahead=1))


@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_urgent_goes_first(workers):
    urgent, done, jobs = deque(), [], range(-300, 0)  # many: on a busy machine one worker may do some before another
    for job, found in LocalExecutor(workers).map_growing(abs, iter(jobs), urgent):
        done.append(job)
        assert found == abs(job)
        if job == jobs[0]:
            urgent.append(-1000)
    assert sorted(done) == [-1000, *jobs]
    assert done.index(-1000) < done.index(jobs[-1])


def name_process(word):
    return word, os.getpid(), call_in_parent(os.getpid)


def fail_in_parent(_):
    call_in_parent(refuse_all, "no GPU here")


def refuse_all(why):
    raise UserError(why)


@pytest.mark.parametrize("workers", [1, 3])
def test_workers_have_things_done_by_their_parent(workers):
    before = set(threading.enumerate())
    with closing(LocalExecutor(workers).map(name_process, "abcdef", ahead=6)) as found:
        rows = list(found)
    assert [word for word, *_ in rows] == list("abcdef")
    assert {parent for *_, parent in rows} == {os.getpid()}
    assert (os.getpid() in {own for _, own, _ in rows}) == (workers == 1)
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive()


@pytest.mark.parametrize("workers", [1, 2])
def test_what_fails_there_fails_in_the_worker(workers, refuses):
    with refuses("no GPU here"), closing(LocalExecutor(workers).map(fail_in_parent, range(2), ahead=2)) as found:
        list(found)


SCRIPT = """
import os, sys, threading, time
from shiftscope.executor import LocalExecutor

seen = ["before"]

def look(seconds):
    time.sleep(seconds)
    return os.getpid(), seen

if __name__ == "__main__":
    seen.append("by the parent")
    if "thread" in sys.argv:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    for pid, found in LocalExecutor(2).map(look, [0.2, 0.2, 600, 600], ahead=4):
        print(pid, len(found), flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes elsewhere are always spawned")
@pytest.mark.parametrize(("word", "seen"), [("alone", 2), ("thread", 1)])
def test_workers_are_copies_where_no_thread_forbids_it_and_end_with_a_killed_parent(tmp_path, word, seen):
    script = tmp_path / "parent.py"
    script.write_text(SCRIPT)
    command = [sys.executable, script, word]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as parent:
        assert parent.stdout is not None
        rows = [parent.stdout.readline().split() for _ in range(2)]
        parent.kill()
    assert [int(found) for _, found in rows] == [seen, seen]
    end = time.monotonic() + 60
    while workers := [pid for pid, _ in rows if is_running(pid)]:
        assert time.monotonic() < end, workers
        time.sleep(0.05)


def is_running(pid):
    """A process that nobody has asked about since it ended is still listed."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
