"""Runs of an endpoint: which server a folder is of, what came from the cache, what is told meanwhile."""

import json
import time

import pytest

from asked import dataset
from endpoints import completion, serving
from shiftscope.model import ModelOptions
from shiftscope.run import concurrent_calls
from shiftscope.run.evaluate import RunSpec, evaluate, shorten
from shiftscope.run.score import score_seeds
from shiftscope.run.test import test as put_through
from shiftscope.store.run_log import read_rows, read_run


@pytest.fixture
def server(monkeypatch):
    with serving(monkeypatch) as running:
        running.listing = listing("/a")
        yield running


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return dataset(tmp_path_factory.mktemp("run_endpoint") / "data").folder


def listing(root):
    return {"data": [{"id": "toy", "root": root}]}


def fingerprinted(name):
    return 200, completion()[1] | {"system_fingerprint": name}


def ask(server, data, out, *, limit=6, told=None, seed=0, **how):
    options = ModelOptions(in_flight=1, retries=0, seed=seed)
    order = RunSpec(f"openai:toy@{server.url}", data, limit=limit, options=options)
    warn = told.append if told is not None else lambda sentence: None
    return evaluate(order, out, cache=out.parent / "cache", warn=warn, **how)


def ask_half(server, data, out):
    """A run that stopped in the midst."""
    good = server.replies[0]
    server.replies = [*[good] * 3, (401, "")]
    with pytest.raises(Exception, match="refused the key"):
        ask(server, data, out)
    server.replies, server.bodies = [good], []
    assert not read_run(out).finished


def test_a_run_says_which_server_it_is_of(server, data, tmp_path):
    log = ask(server, data, tmp_path / "run")
    assert dict(log.spec)["server"] == {"toy": {"root": "/a"}}


@pytest.mark.parametrize("finished", [True, False])
def test_another_server_does_not_go_on_with_a_run(server, data, tmp_path, refuses, finished):
    ask(server, data, tmp_path / "run") if finished else ask_half(server, data, tmp_path / "run")
    server.listing, server.bodies = listing("/b"), []
    with refuses("holds a run of another server: it was toy (root /a), and the one there now says it is toy (root /b)"):
        ask(server, data, tmp_path / "run")
    assert server.bodies == []
    server.listing = listing("/a")
    assert ask(server, data, tmp_path / "run").finished


@pytest.mark.parametrize(("before", "now"), [("/a", None), (None, "/a"), (None, None)])
def test_silence_refuses_nothing(server, data, tmp_path, before, now):
    server.listing = before and listing(before)
    ask_half(server, data, tmp_path / "run")
    server.listing = now and listing(now)
    log = ask(server, data, tmp_path / "run")
    assert len(log.records) == 6
    assert dict(log.spec).get("server") == (None if before is now is None else {"toy": {"root": "/a"}})


def test_what_came_from_the_cache_is_counted_over_sessions(server, data, tmp_path):
    start = time.time()
    ask(server, data, tmp_path / "first", limit=4)
    log = ask(server, data, tmp_path / "second")
    assert log.cache.replies == 4
    assert start <= log.cache.oldest <= time.time()
    assert ask(server, data, tmp_path / "second").cache == log.cache
    assert ask(server, data, tmp_path / "third", use_cache=False).cache.replies == 0


def test_another_fingerprint_in_the_midst_of_a_run_is_told(server, data, tmp_path):
    server.replies, told = [fingerprinted("fp_a")], []
    ask_half(server, data, tmp_path / "run")
    server.replies = [fingerprinted("fp_b")]
    ask(server, data, tmp_path / "run", told=told)
    assert told == [
        "the rows that were there came with system_fingerprint fp_a, those of now with fp_b: the model may have "
        "changed; ask all anew in another --out"
    ]
    assert [p.fingerprint for _, p in read_rows(tmp_path / "run")] == ["fp_a"] * 3 + ["fp_b"] * 3


def test_replies_without_a_fingerprint_before_one_with_are_told(server, data, tmp_path):
    ask(server, data, tmp_path / "first", limit=4)
    server.replies, told = [fingerprinted("fp_b")], []
    ask(server, data, tmp_path / "second", told=told)
    (sentence,) = told
    assert sentence.startswith("4 replies from the cache came without a system_fingerprint, and the server now gives")


def test_a_very_long_reply_is_kept_without_its_middle(server, data, tmp_path):
    said = "no " * 100_000 + "\nAnswer: 2"
    server.replies = [completion(said)]
    ask(server, data, tmp_path / "run", limit=1)
    ((_, kept),) = read_rows(tmp_path / "run")
    assert kept.answer == 2
    assert len(kept.raw) < 40_100
    assert kept.raw.startswith("no no")
    assert kept.raw.endswith("Answer: 2")
    assert f"[… the middle of a response of {len(said):,} characters is left out …]" in kept.raw
    assert shorten("x" * 40_000) == "x" * 40_000


def test_progress_is_told_while_no_reply_comes(server, data, tmp_path, monkeypatch):
    monkeypatch.setattr(concurrent_calls, "QUIET_SECONDS", 0.02)

    def slowly(handler, status):
        time.sleep(0.5)
        return completion()[1]

    server.replies, told = [(200, slowly)], []
    ask(server, data, tmp_path / "run", limit=1, tell=lambda done, total: told.append(done))
    assert told.count(0) > 3
    assert told[-1] == 1


def test_seeds_of_two_servers_are_no_seeds_of_one_model(server, data, tmp_path, refuses):
    for seed, root in enumerate(["/a", "/a", None, "/b"]):
        server.listing = root and listing(root)
        ask(server, data, tmp_path / str(seed), seed=seed)
    assert score_seeds([tmp_path / "0", tmp_path / "1", tmp_path / "2"])
    with refuses("are no two seeds of one run: they differ in server"):
        score_seeds([tmp_path / "0", tmp_path / "3"])


def test_a_test_tells_what_came_from_the_cache(server, data, tmp_path):
    order = RunSpec(f"openai:toy@{server.url}", data, limit=5, options=ModelOptions(in_flight=1))
    for name in ("first", "second"):
        made = put_through("contrast", order, tmp_path / name, cache=tmp_path / "cache")
    told = made.to_json()["cache"]
    assert told["replies"] == made.asked > 0
    assert json.loads((tmp_path / "second" / "result.json").read_bytes())["cache"] == told


def test_what_was_sent_before_a_refusal_is_kept_when_it_comes(server, data, tmp_path):
    """One call ends the run; the others are paid for, and not asked for again."""

    def later(handler, status):
        time.sleep(0.3)
        return completion()[1]

    server.replies = [(200, later), (200, later), (401, ""), completion()]
    order = RunSpec(f"openai:toy@{server.url}", data, limit=3, options=ModelOptions(in_flight=3, retries=0))
    with pytest.raises(Exception, match="refused the key"):
        evaluate(order, tmp_path / "run", cache=tmp_path / "cache")
    assert len(server.bodies) == 3
    log = evaluate(order, tmp_path / "run", cache=tmp_path / "cache")
    assert len(server.bodies) == 4
    assert log.finished and log.cache.replies == 2
