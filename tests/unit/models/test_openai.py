"""The endpoint adapter against a small server in this process: what is sent, what is refused, what is kept."""

import asyncio
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from endpoints import KEY, PNG, completion, model, prompt, serving
from shiftscope.model import ModelOptions, ModelSetting
from shiftscope.models.openai import build, parse_target
from shiftscope.models.openai import endpoint as _endpoint
from shiftscope.store.response_cache import DiskResponseCache


@pytest.fixture
def server(monkeypatch):
    with serving(monkeypatch) as running:
        yield running


def test_the_request_has_text_pictures_and_parameters(server):
    two = prompt('Say "hi" – ü', (PNG, PNG + b"2"))
    made = model(server, max_tokens=7, parameters={"top_p": 0.5, "temperature": None}).predict([two])
    assert [r.raw for r in made] == ["red"]
    (body,) = server.bodies
    assert {k: v for k, v in body.items() if k != "messages"} == {"model": "toy", "max_tokens": 7, "top_p": 0.5}
    content = body["messages"][0]["content"]
    assert content[2] == {"type": "text", "text": 'Say "hi" – ü'}
    assert [c["type"] for c in content] == ["image_url", "image_url", "text"]
    assert content[0]["image_url"]["url"].startswith("data:image/png;base64,iVBORw0KGgp")


def test_tokens_and_price(server):
    (reply,) = model(server, price=(2.0, 8.0)).predict([prompt()])
    assert (reply.tokens, reply.cost) == (110, (100 * 2 + 10 * 8) / 1e6)
    (reply,) = model(server).predict([prompt()])
    assert reply.cost is None


@pytest.mark.parametrize(
    "trouble",
    [
        (429, {"error": "slow down"}),
        (500, "oops"),
        (503, ""),
        (408, ""),
        (200, '{"choices": [{"mess'),
        (200, "<html>"),
        (200, {"choices": []}),
        (200, {"error": "overloaded"}),
        (200, "[]"),
        completion(5),
        completion(0),
        completion({}),
        completion(["red"]),
        completion([{"type": "text", "text": None}]),
        (200, {"choices": [{"message": {"content": "red"}}], "usage": [1]}),
        (200, {"choices": [{"message": {"content": "", "refusal": 5}}]}),
        (200, "[" * 100_000),
    ],
)
def test_trouble_that_passes_is_tried_again(server, trouble):
    server.replies = [trouble, trouble, completion("blue")]
    (reply,) = model(server).predict([prompt()])
    assert (reply.raw, reply.status, len(server.bodies)) == ("blue", "", 3)


def test_a_server_that_asks_to_wait_is_waited_for(server):
    server.replies = [(429, "", ("Retry-After", "0.3")), completion()]
    one = model(server)
    waited = []
    asyncio_sleep = asyncio.sleep

    async def sleep(seconds):
        waited.append(seconds)
        await asyncio_sleep(min(seconds, 0.3))

    _endpoint.asyncio.sleep, kept = sleep, asyncio_sleep
    try:
        one.predict([prompt()])
    finally:
        _endpoint.asyncio.sleep = kept
    assert sum(waited) >= 0.25  # of 0.3: the clock runs while the wait is prepared


@pytest.mark.parametrize(
    ("wish", "seconds"),
    [("", 0), ("2", 2), ("1.5", 1.5), ("-3", 0), ("soon", 0), ("99999", 99999), ("inf", 0), ("nan", 0)],
)
def test_wishes(wish, seconds):
    assert _endpoint._parse_retry_after(wish) == seconds


def test_a_wish_may_be_a_date():
    assert _endpoint._parse_retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert _endpoint._parse_retry_after("Wed, 21 Oct 2099 07:28:00 GMT") > 600


@pytest.mark.parametrize(
    ("wish", "told", "waited"),
    [
        ("9", [], 9),
        ("300", ["asked to wait 300 s; waiting"], 300),
        ("7200", ["asked to wait 7,200 s; trying again after 600 s, the longest wait"], 600),
    ],
)
def test_a_long_wait_is_told_once_and_never_shortened_in_silence(server, monkeypatch, wish, told, waited):
    """Five calls are asked to wait at once; the user reads one sentence."""
    server.replies = [*[(429, "", ("Retry-After", wish))] * 5, completion()]
    said, clock, asyncio_sleep = [], [1000.0], asyncio.sleep

    async def sleep(seconds):
        await asyncio_sleep(0.3)  # until all five have their reply
        clock[0] += seconds

    monkeypatch.setattr(_endpoint.asyncio, "sleep", sleep)
    ours = SimpleNamespace(monotonic=lambda: clock[0], perf_counter=time.perf_counter, time=time.time)
    monkeypatch.setattr(_endpoint, "time", ours)
    one = build(f"toy@{server.url}", ModelSetting(options=ModelOptions(in_flight=5), warn=said.append))
    made = one.predict([prompt(str(k)) for k in range(5)])
    assert [r.raw for r in made] == ["red"] * 5
    assert [sentence.removeprefix(f"{server.url} ") for sentence in said] == told
    assert clock[0] - 1000 >= waited


def test_trouble_that_stays_fails_this_question_alone(server):
    server.replies = [(500, "oops")]
    (reply,) = model(server).predict([prompt()])
    assert (reply.status, reply.reason, len(server.bodies)) == ("failed", "HTTP 500, 4 times", 4)


def test_a_bad_request_is_not_repeated_and_says_why(server):
    server.replies = [(400, {"error": {"message": f"image too large for {KEY}"}})]
    (reply,) = model(server).predict([prompt()])
    assert (reply.status, reply.reason) == ("failed", "HTTP 400, image too large for [key]")
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        ((401, {"error": {"message": f"bad key {KEY}"}}), "refused the key (HTTP 401); set the environment variable"),
        ((403, "no"), "refused the key (HTTP 403)"),
        ((404, {"error": {"message": "no model toy"}}), "HTTP 404, no model toy; check the URL and the model's name"),
        ((429, {"error": {"code": "insufficient_quota"}}), "the account's quota is used up"),
    ],
)
def test_what_would_fail_every_time_stops_the_run(server, reply, sentence, refuses):
    server.replies = [reply]
    with refuses(sentence) as caught:
        model(server).predict([prompt()])
    assert KEY not in str(caught.value)
    assert len(server.bodies) == 1


def test_a_server_that_is_not_there(refuses, monkeypatch):
    monkeypatch.setattr(_endpoint, "FIRST_WAIT", 0.001)
    with refuses("cannot be reached"):
        build("toy@http://127.0.0.1:9/v1", ModelSetting()).predict([prompt()])


def test_a_key_in_a_reply_is_struck_out(server):
    server.replies = [completion(f"my key is {KEY}")]
    assert model(server).predict([prompt()])[0].raw == "my key is [key]"


def test_what_is_known_is_not_asked_again(server, tmp_path):
    memory, before = DiskResponseCache(tmp_path), time.time()
    first = model(server, memory).predict([prompt(), prompt("Other?")])
    assert len(server.bodies) == 2
    again = model(server, memory).predict([prompt(), prompt("Other?")])
    assert [replace(r, stored=None) for r in again] == first
    assert len(server.bodies) == 2
    assert all(r.stored is None for r in first)
    assert all(before <= r.stored <= time.time() for r in again)
    memory.close()


def test_equal_prompts_of_one_run_share_a_reply_that_did_not_come_from_the_cache(server, tmp_path):
    memory = DiskResponseCache(tmp_path)
    one = model(server, memory, in_flight=1)
    assert [r.stored for r in one.predict([prompt(), prompt()])] == [None, None]
    assert len(server.bodies) == 1
    memory.close()


def test_equal_prompts_at_once_are_asked_once(server, tmp_path):
    memory = DiskResponseCache(tmp_path)
    made = model(server, memory).predict([prompt()] * 5)
    assert [r.raw for r in made] == ["red"] * 5
    assert len(server.bodies) == 1
    memory.close()


@pytest.mark.parametrize(
    "change",
    [
        {"text": "What colour?"},
        {"images": (PNG + b"!",)},
        {"images": ()},
        {"options": {"max_tokens": 9}},
        {"options": {"parameters": {"top_p": 1}}},
    ],
)
def test_another_prompt_or_parameter_is_another_call(server, tmp_path, change):
    memory = DiskResponseCache(tmp_path)
    model(server, memory).predict([prompt()])
    options = change.pop("options", {})
    model(server, memory, **options).predict([prompt(**change)])
    assert len(server.bodies) == 2
    memory.close()


@pytest.mark.parametrize(
    ("message", "raw"),
    [
        ({"content": None}, ""),
        ({"content": [{"type": "text", "text": "re"}, {"type": "text", "text": "d"}]}, "red"),
        ({"content": None, "refusal": "I will not"}, "I will not"),
    ],
)
def test_contents_of_other_forms(server, message, raw):
    server.replies = [(200, {"choices": [{"message": message}]})]
    (reply,) = model(server).predict([prompt()])
    assert (reply.raw, reply.tokens) == (raw, None)


def test_a_reply_that_is_none_is_not_remembered(server, tmp_path):
    memory = DiskResponseCache(tmp_path)
    server.replies = [completion(5)]
    (reply,) = model(server, memory).predict([prompt()])
    assert (reply.status, len(memory)) == ("failed", 0)
    assert reply.reason == "a reply that is not a whole chat completion, 4 times"
    server.replies = [completion("red")]
    assert model(server, memory).predict([prompt()])[0].raw == "red"
    memory._file.execute('UPDATE replies SET value = \'{"text": 5, "seconds": 1}\'')
    assert model(server, memory).predict([prompt()])[0].raw == "red"
    memory.close()


def test_half_a_letter_is_replaced(server, tmp_path):
    memory = DiskResponseCache(tmp_path)
    server.replies = [completion("red \ud800")]
    for _ in range(2):
        assert model(server, memory).predict([prompt()])[0].raw == "red ?"
    server.replies = [(400, {"error": {"message": "bad \ud800"}})]
    assert model(server).predict([prompt("Other?")])[0].reason == "HTTP 400, bad ?"
    memory.close()


@pytest.mark.parametrize("count", [True, -1, 1e3, "7", 10**30])
def test_a_count_that_is_none_is_left_out(server, count):
    usage = {"prompt_tokens": count, "completion_tokens": 1}
    server.replies = [(200, {"choices": [{"message": {"content": "red"}}], "usage": usage})]
    assert model(server, price=(1.0, 1.0)).predict([prompt()])[0].tokens is None


def test_a_reply_cut_short_says_so(server):
    server.replies = [completion("I think", finish_reason="length")]
    assert model(server).predict([prompt()])[0].reason == "cut at max_tokens"


@pytest.mark.parametrize(
    ("target", "read"),
    [
        ("m@http://localhost:8000/v1", ("m", "http://localhost:8000/v1")),
        ("org/m@v2@https://host/v1/", ("org/m@v2", "https://host/v1")),
        ("gpt-x", ("gpt-x", "https://api.openai.com/v1")),
    ],
)
def test_targets(target, read, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert parse_target(target) == read


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("m@ftp://host/v1", "is not of the form openai:MODEL@http://HOST:PORT/v1"),
        ("@http://host/v1", "is not of the form"),
        ("m@http://me:pass@host/v1", "must not carry a user, a password or a query"),
        ("m@http://host/v1?api-key=1", "must not carry a user, a password or a query"),
        ("m@http://host/v1#sk-pass@", "nor a part after #"),
        ("m@http://[bad/v1", "http://[bad/v1 is not a URL"),
        ("m@http://me:pass@[bad/v1", "the URL of the endpoint cannot be read; write openai:MODEL@"),
        ("m@http://host:99999/v1", "http://host:99999/v1 is not a URL (Port out of range"),
    ],
)
def test_targets_that_are_refused(target, sentence, refuses):
    with refuses(sentence) as caught:
        parse_target(target)
    assert "pass@" not in str(caught.value)


def test_the_hosted_endpoint_needs_a_key(refuses, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with refuses("needs a key: set the environment variable OPENAI_API_KEY"):
        build("gpt-x", ModelSetting())


@pytest.mark.parametrize("key", ["sk-secret\n", "sk-se\x00cret", "sk-secr\u00e9t"])
def test_a_key_that_can_not_be_sent_is_not_shown(key, refuses, monkeypatch):
    monkeypatch.setattr("os.environ", {"OPENAI_API_KEY": key})
    with refuses("the key in OPENAI_API_KEY has a line break or another character") as caught:
        build("m@http://host/v1", ModelSetting())
    assert "sk-" not in str(caught.value)


@pytest.mark.parametrize("name", ["sk-secret", "", "A B", "A=1"])
def test_a_key_in_place_of_its_variable_is_not_shown(name, refuses):
    with refuses("--key-env takes the name of an environment variable") as caught:
        build("m@http://host/v1", ModelSetting(options=ModelOptions(key_env=name)))
    assert "sk-" not in str(caught.value)
