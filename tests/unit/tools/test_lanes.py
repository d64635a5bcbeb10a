"""Studies side by side: lanes share data, go on after a failure, and begin nothing when the time is over."""

import os
import signal
import subprocess
import sys
import tarfile
import time

import pytest

from benchmarks.lanes import LanesPlan, LanesRun, gather

PLAN = """
shared = ["timeit -n 1 -r 1 -s pass pass"]
[lanes]
good = ["timeit -n 1 -r 1 pass", "json.tool {out}/data/some.json"]
bad = ["json.tool {out}/nothing.json", "json.tool {out}/data/some.json"]
"""


def run(folder, minutes):
    path = folder / "plan.toml"
    path.write_text(PLAN)
    shared = folder / "out" / "shared" / "data"
    shared.mkdir(parents=True, exist_ok=True)
    (shared / "some.json").write_text('{"answer": 42}')
    return LanesRun(folder / "out", folder / "results", time.monotonic() + 60 * minutes).run(LanesPlan.read(path))


def test_lanes_share_data_and_a_failure_ends_a_command_alone(tmp_path, capsys):
    assert run(tmp_path, 5) == 1
    for lane in ("good", "bad"):
        assert '"answer": 42' in (tmp_path / "results" / f"{lane}.log").read_text()
        assert (tmp_path / "out" / lane / "data" / "some.json").samefile(tmp_path / "out/shared/data/some.json")
    told = capsys.readouterr().out
    assert "bad: ended with 2" in told and "good: ended with 0" in told


def test_lanes_do_not_begin_without_what_they_share_and_a_bad_plan_is_a_failure(tmp_path):
    run_of = LanesRun(tmp_path / "out", tmp_path / "results", time.monotonic() + 300)
    assert run_of.run(LanesPlan(("json.tool {out}/nothing.json",), {"lane": ("timeit pass",)})) == 1
    assert not (tmp_path / "results" / "lane.log").exists()
    with pytest.raises(KeyError):
        run_of.run(LanesPlan((), {"lane": ("timeit {oops}",)}))


def test_lanes_take_from_each_other_what_was_trained_to_its_end(tmp_path):
    for name, finished in (("some-captions", True), ("other-captions", False), ("some-iid", True)):
        folder = tmp_path / "out" / "one" / "models" / name
        folder.mkdir(parents=True)
        (folder / ("model.json" if finished else "weights")).write_text("{}")
    plan = LanesPlan((), {"two": ("json.tool {out}/models/some-captions/model.json",)}, ("models/*-captions",))
    assert LanesRun(tmp_path / "out", tmp_path / "results", time.monotonic() + 300).run(plan) == 0
    assert [one.name for one in (tmp_path / "out" / "two" / "models").iterdir()] == ["some-captions"]


def test_few_files_are_left_of_many(tmp_path):
    results = tmp_path / "results"
    for lane in ("one", "two"):
        model = tmp_path / "out" / lane / "models" / "some"
        for path, text in (
            (results / lane / "covr.jsonl", f"all\n{lane}\ncut sh"),
            (results / f"{lane}.log", "said"),
            (model / "training.jsonl", "{}"),
            (model / "weights", "many"),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    gather(tmp_path / "out", results)
    assert sorted(path.name for path in results.iterdir()) == ["covr.jsonl", "logs-1.tgz"]
    assert (results / "covr.jsonl").read_text() == "all\none\ntwo\n"
    with tarfile.open(results / "logs-1.tgz") as archive:
        logs = [f"{lane}.log" for lane in ("one", "two")]
        assert archive.getnames() == [*logs, *(f"{lane}/models/some/training.jsonl" for lane in ("one", "two"))]
    (results / "two").mkdir()
    (results / "two" / "covr.jsonl").write_text("two\nmore\n")
    gather(tmp_path / "out", results)  # a piece that resumed
    assert sorted(path.name for path in results.iterdir()) == ["covr.jsonl", "logs-1.tgz", "logs-2.tgz"]
    assert (results / "covr.jsonl").read_text() == "all\none\ntwo\nmore\n"


def test_nothing_begins_after_ctrl_c(tmp_path):
    plan, wait = tmp_path / "plan.toml", "timeit -n 1 -r 1 -s 'import time' time.sleep(60)"
    plan.write_text(f'[lanes]\none = ["{wait}", "{wait}"]\ntwo = ["{wait}", "{wait}"]\n')
    command = [sys.executable, "-m", "benchmarks.lanes", plan, "--out", tmp_path / "out", "--results", tmp_path / "r"]
    process = subprocess.Popen([*command, "--minutes", "5"], start_new_session=True, stdout=subprocess.PIPE, text=True)
    told = [process.stdout.readline() for _ in range(2)]
    time.sleep(1.0)  # until both have begun to sleep
    os.killpg(process.pid, signal.SIGINT)
    rest, _ = process.communicate(timeout=20)
    assert process.returncode == 130
    assert sum(line.startswith(("one: timeit", "two: timeit")) for line in (*told, *rest.splitlines())) == 2


def test_no_command_begins_when_the_time_is_over(tmp_path, capsys):
    assert run(tmp_path, 0.1) == 0
    assert "the same command resumes" in capsys.readouterr().out
    assert not (tmp_path / "results" / "good.log").exists()
    assert not (tmp_path / "out" / "good").exists()  # nothing of data that may be half made
