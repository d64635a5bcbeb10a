"""An endpoint as it is in life: `serve` in one process, `run` in another, and a bad line between them."""

import base64
import io
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import closing, contextmanager
from datetime import datetime
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from PIL import Image

from asked import dataset
from campaign.calls import remembered
from campaign.proxy import FAULTS, Proxy
from command import here, refused
from shiftscope.prompt import describe_scene, format_prompt
from shiftscope.run.serve import _bind
from shiftscope.store.dataset import Dataset
from shiftscope.store.run_log import compute_run_content_id, read_rows, read_run

KEY = "sk-very-secret-0123456789"
TIMEOUT = 1.0
FAST = "import shiftscope.models.openai.endpoint as e; e.FIRST_WAIT = 0.05; from shiftscope.cli import main; main()"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return dataset(tmp_path_factory.mktemp("endpoint") / "data").folder


@contextmanager
def serving(model, data, port=0, cwd=None, complaints=None):
    """The URL of a model, in a process of its own that stops by itself."""
    words = ["serve", "--model", model, "--data", str(data), "--port", str(port), "--idle", "60", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "shiftscope", *words], stdout=subprocess.PIPE, stderr=complaints, text=True, cwd=cwd
    )
    try:
        yield json.loads(process.stdout.readline())["url"]
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


@pytest.fixture(scope="module")
def served(data):
    with serving("oracle", data) as url:
        yield url


@pytest.fixture(scope="module")
def proxy(served):
    with Proxy(served, slow=3 * TIMEOUT) as running:
        yield running


def start(url, data, out, cache, *more):
    words = ["run", "--model", f"openai:oracle@{url}", "--data", str(data), "--out", str(out)]
    words += ["--timeout", str(TIMEOUT), "--in-flight", "8", "--price", "1,2", "--cache", str(cache), "--json", *more]
    return subprocess.Popen(
        [sys.executable, "-c", FAST, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENAI_API_KEY": KEY},
    )


def finished(process):
    said, complaint = process.communicate(timeout=60)
    assert process.returncode == 0, complaint
    return json.loads(said.splitlines()[-1])


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def undisturbed(proxy, data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    proxy.reset(faults=False)
    summary = finished(start(proxy.url, data, folder / "run", folder / "cache"))
    assert summary["conditions"][0] | {"cost": None} == {
        "condition": "as_is", "questions": 36, "replies": 36, "answered": 36, "undefined": 0,
        "unreadable": 0, "failed": 0, "missing": 0, "share_answered": 100.0,
        "metric": "accuracy", "accuracy": 100.0, "cost": None,
    }  # fmt: skip
    return folder / "run"


def test_faults_and_a_kill_change_nothing_and_cost_nothing(undisturbed, proxy, data, tmp_path):
    proxy.reset(faults=True, hold_after=15)
    killed = start(proxy.url, data, tmp_path / "run", tmp_path / "cache")
    wait_for(lambda: remembered(tmp_path / "cache") == 15)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate(timeout=20)
    assert killed.returncode == -signal.SIGKILL
    proxy.release()
    summary = finished(start(proxy.url, data, tmp_path / "run", tmp_path / "cache"))
    assert set(proxy.delivered.values()) == {1}
    counted = {name: proxy.usage[name] for name in ("prompt_tokens", "completion_tokens")}
    cost = (counted["prompt_tokens"] + 2 * counted["completion_tokens"]) / 1e6
    assert summary["usage"] == {"calls": 36, **counted, "cost": pytest.approx(cost)}
    assert len(proxy.delivered) == 36
    assert set(proxy.met) == set(FAULTS), "the toy data meets every fault"
    assert compute_run_content_id(tmp_path / "run") == compute_run_content_id(undisturbed)
    assert read_run(tmp_path / "run").finished


def test_a_second_run_is_free_and_says_so(undisturbed, proxy, data, tmp_path):
    proxy.reset(faults=False)
    cache = undisturbed.parent / "cache"
    summary = finished(start(proxy.url, data, tmp_path / "run", cache))
    assert not proxy.delivered
    assert compute_run_content_id(tmp_path / "run") == compute_run_content_id(undisturbed)
    assert summary["cache"]["replies"] == 36
    assert datetime.fromisoformat(summary["cache"]["oldest"]).timestamp() <= time.time()
    assert json.loads((tmp_path / "run" / "run.json").read_bytes())["cache"] == summary["cache"]
    assert json.loads((undisturbed / "run.json").read_bytes())["cache"] == {"replies": 0, "oldest": None}
    assert [p.stored is None for _, p in read_rows(undisturbed)] == [True] * 36


def test_a_run_without_the_cache_reads_none_and_keeps_none(undisturbed, proxy, data, tmp_path, monkeypatch):
    monkeypatch.setenv("SHIFTSCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    words = ["run", "--model", f"openai:oracle@{proxy.url}", "--data", data, "--limit", 6, "--no-cache"]
    for name in ("first", "second"):
        proxy.reset(faults=False)
        made = here(*words, "--out", tmp_path / name)
        assert (made.returncode, proxy.delivered.total()) == (0, 6)
        assert "0 of 6 replies came from the cache\n" in made.stdout
    assert not (tmp_path / "cache").exists()
    both = refused(here(*words, "--out", tmp_path / "third", "--cache", tmp_path / "cache"))
    assert both == "shiftscope: --cache and --no-cache exclude each other; give one of them"


@pytest.mark.full
def test_another_model_at_the_same_place_is_not_given_the_replies_of_the_first(data, tmp_path):
    """What was reported: `majority` behind the URL of the oracle, and asked by its name, was right every time."""
    with serving("oracle", data) as url:
        first = finished(start(url, data, tmp_path / "oracle", tmp_path / "cache", "--limit", "12"))
        again = finished(start(url, data, tmp_path / "again", tmp_path / "cache", "--limit", "12"))
    with serving("majority", data, port=int(url.rpartition(":")[2].partition("/")[0])) as there:
        assert there == url
        other = finished(start(url, data, tmp_path / "majority", tmp_path / "cache", "--limit", "12"))
        resumed = start(url, data, tmp_path / "oracle", tmp_path / "cache", "--limit", "12")
        said, complaint = resumed.communicate(timeout=30)
    right = [summary["conditions"][0]["accuracy"] for summary in (first, again, other)]
    assert right[:2] == [100.0, 100.0]
    assert right[2] < 50
    assert [summary["cache"]["replies"] for summary in (first, again, other)] == [0, 12, 0]
    assert (resumed.returncode, said) == (2, "")
    assert "holds a run of another server: it was oracle (root " in complaint
    assert "and the one there now says it is majority (root " in complaint
    finished(start(url, data, tmp_path / "oracle", tmp_path / "cache", "--limit", "12"))  # nobody is there


def test_clients_that_hang_up_leave_no_trace(data, tmp_path):
    """Before they ask, in the midst of asking, and while the model works; it then answers as before."""
    (tmp_path / "slow_model.py").write_text(SLOW)
    body = json.dumps({"messages": [{"role": "user", "content": "How many cubes are there?"}]}).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
    with (
        (tmp_path / "complaints").open("w") as complaints,
        serving("slow_model:Slow", data, cwd=tmp_path, complaints=complaints) as url,
    ):
        host, port = url.split("/")[2].split(":")
        for sent in (b"", b"POST /v1/ch", head % 999 + b'{"mess', head % len(body) + body):
            for reset in (False, True):
                with socket.create_connection((host, int(port))) as client:
                    client.sendall(sent)
                    time.sleep(0.2)
                    if reset:
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        status, said = post(url, json.loads(body))
        assert (status, said["choices"][0]["message"]["content"]) == (200, "yes")
    assert (tmp_path / "complaints").read_text() == ""


SLOW = """
import time

class Slow:
    def predict(self, batch):
        time.sleep(0.5)
        return ["yes" for _ in batch]
"""


@pytest.mark.parametrize("declared", [True, False])
def test_a_request_that_is_too_large_is_refused(served, declared):
    """Told beforehand, or found out; the client may send all of it before it looks."""
    host, port = served.split("/")[2].split(":")
    pieces = (b" " * (1 << 20) for _ in range(70))
    headers = {"Content-Length": str(70 << 20)} if declared else {"Transfer-Encoding": "chunked"}
    with closing(HTTPConnection(host, int(port), timeout=60)) as client:
        client.request("POST", "/v1/chat/completions", pieces, headers, encode_chunked=not declared)
        response = client.getresponse()
        assert (response.status, json.loads(response.read())["error"]["message"]) == (
            413,
            "a request may have 64 MB; this one is larger",
        )
    assert post(served, {})[0] == 400  # it goes on


def test_cost_tokens_and_latency_are_kept(undisturbed):
    for _, prediction in read_rows(undisturbed):
        assert prediction.seconds > 0
        assert prediction.raw
        read, wrote = prediction.tokens - 1, 1
        assert prediction.cost == pytest.approx((read * 1 + wrote * 2) / 1e6)


def test_the_key_is_sent_and_kept_nowhere(undisturbed, proxy):
    assert set(proxy.headers) == {f"Bearer {KEY}"}
    for path in undisturbed.parent.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()


def post(url, body):
    request = urllib.request.Request(f"{url}/chat/completions", json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def message(text, *pictures, kind="png"):
    shown = [
        {"type": "image_url", "image_url": {"url": f"data:image/{kind};base64,{base64.b64encode(p).decode()}"}}
        for p in pictures
    ]
    return {"model": "oracle", "messages": [{"role": "user", "content": [*shown, {"type": "text", "text": text}]}]}


def test_an_endpoint_like_any_other(served, data):
    with urllib.request.urlopen(f"{served}/models", timeout=10) as response:
        assert json.loads(response.read())["data"][0]["id"] == "oracle"
    example = Dataset.open(data).example(0, "test")
    status, said = post(served, message(f"Look closely. {example.question.text} One word.", example.images[0].png))
    assert status == 200
    assert said["choices"][0]["message"] == {"role": "assistant", "content": "2"}
    assert said["usage"]["completion_tokens"] == 1


def test_a_picture_encoded_anew_is_known_by_its_pixels(served, data):
    example = Dataset.open(data).example(3, "test")
    file = io.BytesIO()
    Image.open(io.BytesIO(example.images[0].png)).save(file, "WEBP", lossless=True, exact=True)
    status, said = post(served, message(example.question.text, file.getvalue(), kind="webp"))
    assert (status, said["choices"][0]["message"]["content"]) == (200, "3")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({}, "the request has no user message"),
        ({"messages": [{"role": "user", "content": "Who won?"}]}, "the text asks no question of the dataset"),
        (message("How many cubes are there?", b"not a picture"), "a picture cannot be decoded"),
        (
            {"messages": [{"role": "user", "content": [{"type": "sound"}, {"text": 1}]}]},
            "neither text nor an image_url",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": 5}}]}]},
            "the url of a picture must be text",
        ),
        (message("The scene holds 99 objects, numbered from 1."), "the scene in words is none of"),
    ],
)
def test_a_request_it_does_not_understand_is_refused(served, body, problem):
    status, said = post(served, body)
    assert status == 400
    assert problem in said["error"]["message"]


def test_a_scene_in_words_is_known(served, data):
    for at, answer in ((0, "2"), (3, "3")):
        example = Dataset.open(data).example(at, "test")
        text = format_prompt(example.question, scene=describe_scene(example.images[0].scene))
        status, said = post(served, message(text))
        assert (status, said["choices"][0]["message"]["content"]) == (200, answer)


@pytest.mark.parametrize("host", ["not.a.host.invalid", "192.0.2.1"])
def test_a_host_that_is_not_here(host, refuses):
    with refuses("is no address of this machine") as caught:
        _bind(host, 0)
    assert "--port" not in str(caught.value)


def test_without_a_picture_the_question_is_asked_blind(served):
    status, said = post(served, {"messages": [{"role": "user", "content": "How many cubes are there?"}]})
    assert (status, said["choices"][0]["message"]["content"]) == (200, "undefined (no scene)")


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (401, "refused the key (HTTP 401); set the environment variable OPENAI_API_KEY"),
        (404, "check the URL and the model's name"),
    ],
)
def test_an_endpoint_that_refuses_is_said_once(status, sentence, data, tmp_path):
    """Many calls are refused at once; the user reads one sentence, without the key that the server echoes."""

    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            said = json.dumps({"error": {"message": f"who is {self.headers['Authorization']}?"}}).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, *words):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/v1"
        said, complaint = start(url, data, tmp_path / "run", tmp_path / "cache").communicate(timeout=30)
        server.shutdown()
        thread.join()
    assert said == ""
    assert len(complaint.splitlines()) == 1, complaint
    assert sentence in complaint
    assert KEY not in complaint
    assert not (tmp_path / "run").exists()


def test_an_interrupted_run_says_how_to_go_on(proxy, data, tmp_path):
    proxy.reset(faults=False, hold_after=10)
    process = start(proxy.url, data, tmp_path / "run", tmp_path / "cache")
    wait_for(lambda: remembered(tmp_path / "cache") == 10)
    process.send_signal(signal.SIGINT)
    said, complaint = process.communicate(timeout=30)
    proxy.release()
    assert (process.returncode, said) == (130, "")
    assert complaint == "shiftscope: stopped; run the same command again to resume\n"
    assert read_run(tmp_path / "run").records.status.equals("answered").sum() == 10
