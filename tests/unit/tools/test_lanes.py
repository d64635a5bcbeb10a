"""Studies side by side: lanes share data, go on after a failure, and begin nothing when the time is over."""

import time

from benchmarks.lanes import LanesPlan, LanesRun

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


def test_no_command_begins_when_the_time_is_over(tmp_path):
    assert run(tmp_path, 0.1) == 0
    assert not (tmp_path / "results" / "good.log").read_text()
