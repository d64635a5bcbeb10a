"""The folder of a run: written in parts, resumed, compacted; the same bytes however often it was stopped."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shiftscope.result import CacheUse, Prediction, QuestionRecord, records_of
from shiftscope.store import run_log as runlog
from shiftscope.store.run_log import RunWriter, compute_run_content_id, read_rows, read_run

SPEC = {"model": "oracle", "data": "toy", "prompt": {"version": 1}}
ORDER = ("9", "10", "a", "2")


def rows():
    """Facts of several types, of mixed types, and in some rows only; every status."""
    facts = [
        (("kind", "count"), ("length", 5)),
        (("kind", "exist"), ("mixed", 3)),
        (("mixed", "x"), ("flag", True)),
        (),
    ]
    made = []
    for k, question in enumerate(ORDER):
        asked = QuestionRecord(
            question, (f"s{k}",) if k else (), (2, "red", False, None)[k], ("2", "Two ") if k == 2 else (), facts[k],
            twin="9" if k == 3 else "", program="count(scene())" if k < 2 else "",
        )  # fmt: skip
        for condition in ("as_is", "blind"):
            said = Prediction(question, (2, "Red", False, "x")[k], "raw é", seconds=0.1 * k, cost=0.01, tokens=7,
                              confidence=0.5, condition=condition, trace="t", program="count(scene())")  # fmt: skip
            made.append((asked, said))
    made[3] = (made[3][0], Prediction("10", status="undefined", reason="none found", condition="blind"))
    made[5] = (made[5][0], Prediction("a", status="unreadable", raw="hm", condition="blind"))
    return made


def row(question):
    return QuestionRecord(question, ("s",), 2), Prediction(question, 2)


def written(folder, parts, order=ORDER):
    for part in parts:
        with RunWriter(folder, SPEC, 4) as run:
            run.add(part)
    with RunWriter(folder, SPEC, 4) as run:
        return run.finish(order)


def contents(folder):
    return {p.name: p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def columns(records):
    names = ("question", "content", "condition", "cluster", "truth", "answer", "literal", "status", "reason", "twin")
    made = {name: getattr(records, name).to_list() for name in names}
    for name in ("answers", "images"):
        lists = getattr(records, name)
        made[name] = [[lists.values[k] for k in lists.codes[a:b]] for a, b in pairwise(lists.at)]
    made |= {name: getattr(records, name).tolist() for name in ("program_right", "seconds", "cost")}
    return made | {name: column.to_list() for name, column in records.facts}


def test_rows_come_back_as_they_were(tmp_path):
    log = written(tmp_path, [rows()])
    assert list(read_rows(tmp_path)) == [(replace(a, facts=tuple(sorted(a.facts))), p) for a, p in rows()]
    assert log.finished
    assert (dict(log.spec), log.questions) == (SPEC, 4)
    assert sorted(contents(tmp_path)) == ["predictions.parquet", "run.json"]


def test_the_columns_are_those_of_the_rows(tmp_path):
    made, expected = columns(written(tmp_path, [rows()]).records), columns(records_of(rows()))
    for name in expected:
        assert str(made[name]) == str(expected[name]), name


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(8)), st.sets(st.integers(1, 7)))
def test_the_bytes_do_not_depend_on_where_the_run_was_stopped(tmp_path_factory, order, cuts):
    whole, broken = tmp_path_factory.mktemp("whole"), tmp_path_factory.mktemp("broken")
    written(whole, [rows()])
    shuffled = [rows()[k] for k in order]
    edges = [0, *sorted(cuts), 8]
    written(broken, [shuffled[a:b] for a, b in pairwise(edges)])
    assert contents(broken) == contents(whole)


ENDPOINT = {**SPEC, "model": "openai:m@http://host/v1"}


def said(question, **how):
    return QuestionRecord(question, ("s",), "yes"), Prediction(question, "yes", **how)


def test_replies_from_the_cache_are_counted_over_all_sessions(tmp_path):
    for session in (
        [said("1", stored=200.0, fingerprint="fp_a"), said("2", fingerprint="fp_a")],
        [said("3", stored=100.0, fingerprint="fp_b")],
        [said("4")],
    ):
        with RunWriter(tmp_path, ENDPOINT) as run:
            run.add(session)
    assert read_run(tmp_path).cache == CacheUse(2, 100.0)
    with RunWriter(tmp_path, ENDPOINT) as run:
        assert run.fingerprints == {"fp_a", "fp_b"}
        assert run.finish().cache == CacheUse(2, 100.0)
    stored = json.loads((tmp_path / "run.json").read_bytes())["cache"]
    assert stored == {"replies": 2, "oldest": "1970-01-01T00:01:40+00:00"}
    assert [p.stored for _, p in read_rows(tmp_path)] == [200.0, None, 100.0, None]


def test_how_a_reply_came_is_no_part_of_what_it_is(tmp_path):
    for name, how in (("fresh", {}), ("kept", {"stored": 5.0, "fingerprint": "fp"})):
        with RunWriter(tmp_path / name, ENDPOINT) as run:
            run.add([said("1", **how)])
            run.finish()
    assert compute_run_content_id(tmp_path / "fresh") == compute_run_content_id(tmp_path / "kept")


def test_only_an_endpoint_has_a_cache(tmp_path):
    assert written(tmp_path, [rows()]).cache is None
    assert "cache" not in json.loads((tmp_path / "run.json").read_bytes())


def test_a_run_of_an_older_version_is_gone_on_with(tmp_path):
    """Its rows do not say how they came."""
    with RunWriter(tmp_path, ENDPOINT) as run:
        run.add([said("1")])
    part = tmp_path / "predictions" / "part-00000.parquet"
    pq.write_table(pq.read_table(part).drop_columns(["stored", "fingerprint"]), part)
    assert read_run(tmp_path).cache is None
    assert [p.fingerprint for _, p in read_rows(tmp_path)] == [""]
    with RunWriter(tmp_path, {**ENDPOINT, "server": {"m": {"root": "/a"}}}) as run:
        run.add([said("2", stored=7.0, fingerprint="fp")])
    assert dict(read_run(tmp_path).spec)["server"] == {"m": {"root": "/a"}}
    with RunWriter(tmp_path, ENDPOINT) as run:
        log = run.finish()
    assert (len(log.records), log.cache) == (2, CacheUse(1, 7.0))
    assert dict(log.spec)["server"] == {"m": {"root": "/a"}}
    assert [p.fingerprint for _, p in read_rows(tmp_path)] == ["", "fp"]


def test_what_a_server_said_of_itself_stays_though_it_falls_silent(tmp_path):
    for server in ({"server": {"m": {"root": "/a"}}}, {}, {"server": {"m": {"root": "/b"}}}):
        with RunWriter(tmp_path, ENDPOINT | server) as run:
            assert run.spec["server"] == {"m": {"root": "/a"}}  # it is for the caller to refuse another
            run.add([said(str(server))])
    with RunWriter(tmp_path, ENDPOINT) as run:
        assert dict(run.finish().spec)["server"] == {"m": {"root": "/a"}}


def test_a_resumed_run_knows_what_is_done(tmp_path):
    with RunWriter(tmp_path, SPEC) as run:
        assert run.done == set()
        run.add(rows()[:3])
    with RunWriter(tmp_path, SPEC) as run:
        assert run.done == {("9", "as_is"), ("9", "blind"), ("10", "as_is")}
        with pytest.raises(ValueError, match="question 10 was already answered under as_is"):
            run.add(rows()[2:4])
    assert not read_run(tmp_path).finished
    assert len(read_run(tmp_path).records) == 3


def test_a_failure_may_be_asked_again(tmp_path):
    asked = QuestionRecord("1", ("s",), "yes")
    failed = Prediction("1", status="failed", reason="time-out")
    with RunWriter(tmp_path, SPEC) as run:
        run.add([(asked, failed)])
        run.finish()
    with RunWriter(tmp_path, SPEC) as run:
        assert (run.done, run.failed) == (set(), {("1", "as_is")})
        run.add([(asked, Prediction("1", "yes"))])
        assert run.failed == set()
        log = run.finish()
    assert log.records.status.to_list() == ["answered"]


def test_finishing_twice_changes_nothing(tmp_path):
    written(tmp_path, [rows()])
    before = contents(tmp_path)
    with RunWriter(tmp_path, SPEC, 4) as run:
        run.finish(ORDER)
    assert contents(tmp_path) == before


def test_without_an_order_questions_go_by_their_ids(tmp_path):
    log = written(tmp_path, [rows()], order=())
    assert log.records.question.to_list()[::2] == ["2", "9", "10", "a"]
    assert log.records.condition.to_list()[:2] == ["as_is", "blind"]


def test_the_content_id_leaves_out_how_long_it_took(tmp_path):
    slow = [(a, replace(p, seconds=9.0)) for a, p in rows()]
    other = [(a, replace(p, raw="other")) for a, p in rows()]
    for name, made in (("quick", rows()), ("slow", slow), ("other", other)):
        written(tmp_path / name, [made])
    assert compute_run_content_id(tmp_path / "slow") == compute_run_content_id(tmp_path / "quick")
    assert compute_run_content_id(tmp_path / "other") != compute_run_content_id(tmp_path / "quick")


def test_another_spec_is_refused(tmp_path, refuses):
    written(tmp_path, [rows()])
    with refuses('holds a run with another spec (model "oracle" there, "random" here); choose another folder'):
        RunWriter(tmp_path, {**SPEC, "model": "random"}).__enter__()
    with RunWriter(tmp_path, SPEC):  # the refusal let go of the lock
        pass


def test_a_folder_is_held_by_one(tmp_path, refuses):
    with RunWriter(tmp_path, SPEC), refuses(f"process {os.getpid()} is already working on it"):
        RunWriter(tmp_path, SPEC).__enter__()


def test_what_is_not_a_run_is_refused(tmp_path, refuses):
    with refuses("not the folder of a run (no run.json in it); make one with shiftscope run"):
        read_run(tmp_path)
    with RunWriter(tmp_path, SPEC) as run, refuses("there are no answers yet"):
        run.finish()
    with refuses("not the folder of a run"):
        read_run(tmp_path)
    (tmp_path / "run.json").write_text("{}")
    with refuses("not a run's description"):
        read_run(tmp_path)


def test_a_folder_of_something_else_is_not_written_to(tmp_path, refuses):
    for name, sentence in (("manifest.json", "holds a dataset"), ("notes.txt", "is not empty and holds no run")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).write_text("{}")
        with refuses(sentence):
            RunWriter(folder, SPEC).__enter__()
        assert sorted(contents(folder)) == [name]
    both = tmp_path / "both"
    written(both, [rows()])
    (both / "manifest.json").write_text("{}")
    with refuses("holds a dataset; choose another folder for --out"):
        RunWriter(both, SPEC).__enter__()


def test_a_run_without_rows_leaves_nothing(tmp_path):
    (tmp_path / "here").mkdir()
    for folder in (tmp_path / "new" / "deeper", tmp_path / "here"):
        with pytest.raises(KeyboardInterrupt), RunWriter(folder, SPEC):
            raise KeyboardInterrupt
    assert [p.name for p in tmp_path.rglob("*")] == ["here"]


def test_where_the_data_stands_is_no_part_of_the_spec(tmp_path, refuses):
    spec = {**SPEC, "data_id": "a"}
    for name in ("one", "two"):
        with RunWriter(tmp_path / name, {**spec, "data": name}) as run:
            run.add(rows())
            run.finish(ORDER)
    assert compute_run_content_id(tmp_path / "one") == compute_run_content_id(tmp_path / "two")
    with RunWriter(tmp_path / "one", {**spec, "data": "/elsewhere"}) as run:
        assert len(run.done) == 8
    with refuses('(data_id "a" there, "b" here)'):
        RunWriter(tmp_path / "one", {**spec, "data_id": "b"}).__enter__()


def test_a_damaged_part_is_named(tmp_path, refuses):
    with RunWriter(tmp_path, SPEC) as run:
        run.add(rows())
    (tmp_path / "predictions" / "part-00000.parquet").write_bytes(b"PAR1")
    with refuses("part-00000.parquet is damaged"):
        read_run(tmp_path)


def test_a_fact_must_be_a_plain_value(tmp_path):
    with RunWriter(tmp_path, SPEC) as run, pytest.raises(ValueError, match=r"fact.x: a fact must be text"):
        run.add([(QuestionRecord("1", facts=(("x", (1, 2)),)), Prediction("1", "y"))])


KILLED = """
import os, signal, sys
from pathlib import Path
from shiftscope import files
from shiftscope.result import Prediction, QuestionRecord
from shiftscope.store import run_log
folder, stop = Path(sys.argv[1]), int(sys.argv[2])
calls = 0
def counted(*words, real=files.write_whole, **options):
    global calls
    calls += 1
    if calls == stop:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*words, **options)
files.write_whole = counted
with run_log.RunWriter(folder, {"model": "toy"}) as run:
    for k in range(6):
        if (str(k), "as_is") not in run.done:
            run.add([(QuestionRecord(str(k), ("s",), "yes"), Prediction(str(k), "yes"))])
    run.finish([str(k) for k in range(6)])
"""


def start_run(folder: Path, stop: int) -> int:
    return subprocess.run([sys.executable, "-c", KILLED, folder, str(stop)], check=False).returncode


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    assert start_run(folder, 0) == 0
    return contents(folder)


@pytest.mark.parametrize("stop", [1, 2, 4, 8, 9])
def test_a_killed_run_ends_as_an_undisturbed_one(stop, undisturbed, tmp_path):
    assert start_run(tmp_path / "killed", stop) == -signal.SIGKILL
    assert start_run(tmp_path / "killed", 0) == 0
    assert contents(tmp_path / "killed") == undisturbed
    assert json.loads((tmp_path / "killed" / "run.json").read_text())["rows"] == 6


def test_a_run_that_ends_while_it_is_read_is_read_whole(tmp_path, monkeypatch):
    """Between the look at what parts there are and the reading of them, all of them go."""
    with RunWriter(tmp_path, SPEC, 3) as writer:
        for k in range(3):
            writer.add([row(f"q{k}")])
        found = runlog._list_parts

        def parts(folder):
            monkeypatch.setattr(runlog, "_list_parts", found)
            before = found(folder)
            writer.finish()
            return before

        monkeypatch.setattr(runlog, "_list_parts", parts)
        log = read_run(tmp_path)
    assert log.finished and len(log.records) == 3


def test_a_listing_of_half_the_parts_is_not_taken_for_the_run(tmp_path, monkeypatch):
    """Parts of a run that ends go one by one; who lists them meanwhile sees some."""
    with RunWriter(tmp_path, SPEC, 3) as writer:
        for k in range(3):
            writer.add([row(f"q{k}")])
        found = runlog._list_parts

        def parts(folder):
            monkeypatch.setattr(runlog, "_list_parts", found)
            last = found(folder)[-1]
            kept = last.read_bytes()
            writer.finish()
            last.parent.mkdir()
            last.write_bytes(kept)
            return [last]

        monkeypatch.setattr(runlog, "_list_parts", parts)
        log = read_run(tmp_path)
    assert log.finished and len(log.records) == 3


def test_a_damaged_part_is_told_with_what_to_do(tmp_path, refuses):
    with RunWriter(tmp_path, SPEC) as writer:
        writer.add([row("q")])
    (tmp_path / "predictions" / "part-00000.parquet").write_bytes(b"PAR1")
    with refuses("delete it and run the same shiftscope run again"):
        read_run(tmp_path)
