"""The endpoint adapter and servers that are not what they were, or that send without end."""

import contextlib
import gzip
import json
import sqlite3
import time
import tracemalloc
import zlib

import pytest

from endpoints import KEY, completion, model, prompt, serving
from shiftscope.model import ModelSetting
from shiftscope.models.openai import build
from shiftscope.models.openai import endpoint as _endpoint
from shiftscope.store.response_cache import DiskResponseCache


@pytest.fixture
def server(monkeypatch):
    with serving(monkeypatch) as running:
        yield running


def listing(**said):
    return {"object": "list", "data": [{"id": "toy", "object": "model", **said}, {"id": "other", "root": "/x"}]}


def current_time(handler, status):
    return listing(created=handler.server.looks)


def asks_anew(server, memory, before, now):
    """Whether a server that says `now` of itself is asked what one that said `before` has answered."""
    server.listing = before
    model(server, memory).predict([prompt()])
    server.listing, asked = now, len(server.bodies)
    model(server, memory).predict([prompt()])
    return len(server.bodies) > asked


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (listing(root="/a"), listing(root="/b")),
        (listing(owned_by="vllm"), listing(owned_by="sglang")),
        (listing(max_model_len=4096), listing(max_model_len=8192)),
        (listing(parent="base"), listing(parent="other base")),
        (listing(created=1), listing(created=2)),
        (listing(meta={"n_params": 7, "size": 1}), listing(meta={"n_params": 8, "size": 1})),
        (listing(), None),
        (None, listing()),
        (listing(), {"data": [{"id": "other"}]}),
        ({"data": [{"id": "oracle"}]}, {"data": [{"id": "majority"}]}),
    ],
)
def test_another_model_behind_the_same_name_is_asked_anew(server, tmp_path, monkeypatch, before, now):
    monkeypatch.setattr(_endpoint, "CLOCK_SECONDS", 0.01)
    memory = DiskResponseCache(tmp_path)
    assert asks_anew(server, memory, before, now)
    memory.close()


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (listing(root="/a", created=5), listing(root="/a", created=5)),
        (current_time, current_time),
        (listing(permission=[{"id": "p1"}]), listing(permission=[{"id": "p2"}])),
        (listing(), {"data": [{"id": "new"}, {"id": "toy"}]}),  # of the others nothing counts
        ({"data": [{"id": f"m{k}"} for k in range(9)]}, {"data": [{"id": f"n{k}"} for k in range(9)]}),
        (None, b"<html>"),
        (b"[" * 100_000, b'{"data": 5}'),
        (b'{"data": [{"id": ["toy"], "root": NaN}]}', b'{"data": [5]}'),
        (listing(created=10**400), listing(created=True)),
    ],
)
def test_what_a_server_says_of_itself_in_vain(server, tmp_path, monkeypatch, before, now):
    monkeypatch.setattr(_endpoint, "CLOCK_SECONDS", 0.01)
    memory = DiskResponseCache(tmp_path)
    assert not asks_anew(server, memory, before, now)
    memory.close()


def test_a_key_in_a_listing_is_struck_out(server):
    server.listing = listing(root=f"/{KEY}/x")
    assert model(server).identify() == {"toy": {"root": "/[key]/x"}}


def test_a_server_that_is_not_there_has_no_identity():
    assert build("toy@http://127.0.0.1:9/v1", ModelSetting()).identify() is None


def fingerprinted(name, text="red"):
    status, said = completion(text)
    return status, said | {"system_fingerprint": name}


@pytest.mark.parametrize(
    ("now", "calls", "answers"),
    [
        (fingerprinted("fp_a", "blue"), 1, ["blue", "red", "red", "red"]),  # one call shows that it is the same
        (fingerprinted("fp_b", "blue"), 4, ["blue"] * 4),
        (completion("blue"), 4, ["blue"] * 4),
        ((500, "oops"), 4, [""] * 4),  # nothing shows that it is the same
    ],
)
def test_a_reply_with_a_fingerprint_is_used_once_that_is_seen_again(server, tmp_path, now, calls, answers):
    memory = DiskResponseCache(tmp_path)
    prompts = [prompt(str(k)) for k in range(4)]
    server.replies = [fingerprinted("fp_a")]
    model(server, memory).predict(prompts)
    server.replies, server.bodies = [now], []
    made = model(server, memory, retries=0).predict(prompts)
    assert [r.raw for r in made] == answers
    assert len(server.bodies) == calls
    assert [r.stored is not None for r in made] == [a == "red" for a in answers]
    memory.close()


def test_replies_without_a_fingerprint_are_doubted_once_the_server_gives_one(server, tmp_path):
    memory = DiskResponseCache(tmp_path)
    model(server, memory).predict([prompt(str(k)) for k in range(3)])
    server.replies = [fingerprinted("fp_b", "blue")]
    one = model(server, memory, in_flight=1)
    assert [r.raw for r in one.predict([prompt("0"), prompt("new"), prompt("1")])] == ["red", "blue", "blue"]
    assert (one.fingerprints, one.unconfirmed) == ({"fp_b"}, 1)
    memory.close()


def drop(handler, status):
    handler.connection.close()


def hang(handler, status):
    time.sleep(4)


@pytest.mark.parametrize("end", [drop, hang, lambda handler, status: "starting"])
def test_a_server_that_comes_back_as_another_is_not_asked(server, refuses, end):
    """A call breaks off; what is there afterwards says another name."""

    def last(handler, status):
        server.listing = listing(root="/second")
        return end(handler, status)

    server.listing = listing(root="/first")
    server.replies = [completion(), (503, last), completion()]
    one = model(server, in_flight=1, timeout=3)
    with refuses("is another server now: it says it is toy (root /second), and it was toy (root /first)"):
        one.predict([prompt("a"), prompt("b")])
    assert len(server.bodies) == 2


def test_a_server_that_comes_back_as_itself_is_asked_on(server):
    server.listing = listing(root="/first")
    server.replies = [(0, drop), completion()]
    assert model(server).predict([prompt()])[0].raw == "red"


def test_an_old_cache_is_kept_and_its_replies_have_no_age(server, tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / "replies.sqlite")) as old, old:
        old.execute("CREATE TABLE replies (key TEXT PRIMARY KEY, value TEXT)")
        old.execute("INSERT INTO replies VALUES ('k', 'v')")
    for _ in range(2):
        memory = DiskResponseCache(tmp_path)
        assert memory.get("k") == ("v", None)
        memory.put("new", "w")
        assert memory.get("new").stored > 0
        assert len(memory) == 2
        memory.close()


def test_a_cache_that_breaks_is_said_in_one_sentence(tmp_path, refuses):
    memory = DiskResponseCache(tmp_path)
    memory._file.execute("DROP TABLE replies")
    with refuses("replies.sqlite: cannot be used (no such table: replies); choose another folder with --cache"):
        memory.put("k", "v")
    memory.close()


def stream(*headers, piece=b" " * (1 << 16), pieces=1 << 14, pause=0.0):
    """A reply that goes on and on: a gigabyte, unless told otherwise."""

    def send(handler, status):
        handler.send_response(status)
        for name, value in headers:
            handler.send_header(name, value)
        handler.end_headers()
        for _ in range(pieces):
            handler.wfile.write(piece)
            time.sleep(pause)

    return send


def zeros(size, wbits=31):
    """A packed body that unpacks to so many bytes."""
    packing = zlib.compressobj(1, wbits=wbits)
    return b"".join([packing.compress(bytes(1 << 20)) for _ in range(size >> 20)]) + packing.flush()


TOO_LARGE = "a reply of more than 16 MB"


@pytest.mark.parametrize(
    ("status", "said", "reason"),
    [
        (200, stream(), TOO_LARGE),
        (200, stream(("Content-Length", str(1 << 30))), TOO_LARGE),
        (200, stream(("Content-Encoding", "gzip"), piece=zeros(24 << 20), pieces=1), TOO_LARGE),
        (200, stream(("Content-Encoding", "deflate"), piece=zeros(24 << 20, 15), pieces=1), TOO_LARGE),
        (200, stream(("Content-Encoding", "deflate"), piece=zeros(24 << 20, -15), pieces=1), TOO_LARGE),
        (400, stream(piece=b"no "), "HTTP 400, no no no"),
        (400, stream(("Content-Encoding", "gzip"), piece=zeros(24 << 20), pieces=1), "HTTP 400, \0"),
    ],
)
def test_a_body_that_does_not_end_is_not_read_to_its_end_nor_asked_for_again(server, status, said, reason):
    server.replies = [(status, said)]
    tracemalloc.start()
    try:
        (reply,) = model(server, timeout=60).predict([prompt()])
        assert tracemalloc.get_traced_memory()[1] < 80 << 20
    finally:
        tracemalloc.stop()
    assert (reply.status, reply.reason[: len(reason)], len(server.bodies)) == ("failed", reason, 1)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (stream(piece=b" ", pause=0.05), "no reply within 0.5 s, 1 times"),
        (stream(("Content-Encoding", "br")), "a reply that cannot be read: packed as 'br', 1 times"),
        (stream(("Content-Encoding", "gzip"), piece=b"no gzip", pieces=1), "a reply that cannot be read: broken"),
        (
            stream(("Content-Encoding", "gzip"), piece=gzip.compress(b"{}")[:-9], pieces=1),
            "a reply that cannot be read: broken gzip (it ends too early), 1 times",
        ),
    ],
)
def test_a_body_that_drips_or_is_packed_wrongly_is_a_failed_attempt(server, said, reason):
    server.replies = [(200, said)]
    (reply,) = model(server, timeout=0.5, retries=0).predict([prompt()])
    assert (reply.status, reply.reason[: len(reason)]) == ("failed", reason)


@pytest.mark.parametrize("wbits", [31, 15, -15])
def test_a_packed_body_is_unpacked_though_none_was_asked_for(server, wbits):
    data = json.dumps(completion("blue")[1]).encode()
    packing = zlib.compressobj(wbits=wbits)
    body = packing.compress(data) + packing.flush()
    if wbits == 31:
        body = gzip.compress(data[:9]) + gzip.compress(data[9:])  # in two members
    kind = "gzip" if wbits == 31 else "deflate"
    server.replies = [(200, stream(("Content-Encoding", kind), piece=body, pieces=1))]
    assert model(server).predict([prompt()])[0].raw == "blue"


@pytest.mark.parametrize("endless", [stream(), stream(piece=b" ", pause=0.05)])
def test_a_listing_that_does_not_end_is_silence(server, monkeypatch, endless):
    monkeypatch.setattr(_endpoint, "LISTING_SECONDS", 0.3)
    server.listing = endless
    assert model(server).identify() == {}


@pytest.mark.parametrize("trouble", [(503, "starting"), (200, "<html>starting</html>")])
def test_a_server_that_is_not_up_yet_is_looked_at_again(server, trouble):
    """Else what was paid for would not be found once it is."""
    looks = []

    def answer(self, status, said, *headers):
        if said is server.listing and len(looks) < 3:
            looks.append(said)
            return plain(self, *trouble)
        return plain(self, status, said, *headers)

    server.listing = listing(root="/a")
    handler = server.RequestHandlerClass
    plain = handler.answer
    handler.answer = answer
    try:
        assert model(server).identify() == {"toy": {"root": "/a"}}
    finally:
        handler.answer = plain
    assert len(looks) == 3
