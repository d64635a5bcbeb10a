"""Speed of running a model: what an example costs beyond the model's own time, here and at an endpoint."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.store import _image, _picture, _question
from benchmarks.table import row
from shiftscope.expected_answer import NUMBER, TRUTH, expect_value
from shiftscope.model import Prompt, Response
from shiftscope.response import parse_response
from shiftscope.result import CONDITIONS
from shiftscope.run.evaluate import RunSpec, evaluate
from shiftscope.schemas.clevr import SCHEMA
from shiftscope.store.build_dataset import build_dataset

IMAGES = 150
QUESTIONS = 10  # an image
REPLY = "The thing left of the large red cube is a small metal ball. So the answer is **3**."


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build_dataset(folder / "data", {"suite": "benchmark"}, {"test": 1}, _make)
        for condition in CONDITIONS:
            seconds = _run(folder, "benchmarks.evaluate:Instant", condition)
            _tell(f"run, {condition}: overhead per example", seconds)
        with _server() as url:
            start = time.process_time()
            _run(folder, f"openai:m@{url}", "as_is")
            seconds = time.process_time() - start
            again = _run(folder, f"openai:m@{url}", "as_is", "again")
        _tell("run, endpoint: CPU time, including the call", seconds, "-")
        _tell("run, endpoint: all responses cached", again)
    kinds = (NUMBER, TRUTH, expect_value(SCHEMA, "color"))
    start = time.perf_counter()
    for k in range(3000):
        parse_response(REPLY, kinds[k % 3])
    row("parse a response of two sentences", f"{1e6 * (time.perf_counter() - start) / 3000:.0f} µs", "-")


def _tell(what: str, seconds: float, budget: str = "≤ 1 ms") -> None:
    row(what, f"{1e3 * seconds / (IMAGES * QUESTIONS):.2f} ms/example", budget)


class Instant:
    """A model that takes no time."""

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        return [Response(raw=REPLY)] * len(batch)


def _make(spec: Any, split: str, k: int) -> Any:
    images = [_image(n, *_picture(n)) for n in range(IMAGES)]
    return images, [_question(image, n) for image in images for n in range(QUESTIONS)]


def _run(folder: Path, model: str, condition: str, name: str = "") -> float:
    order = RunSpec(model, folder / "data", conditions=(condition,))
    out = folder / f"{model.split(':')[0]}-{condition}-{name}"
    start = time.perf_counter()
    evaluate(order, out, cache=folder / "cache")
    return time.perf_counter() - start


@contextmanager
def _server() -> Iterator[str]:
    """An endpoint that answers at once, in a process of its own."""
    words = [sys.executable, "-m", "benchmarks.evaluate", "server"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        process.terminate()


def _serve() -> None:
    from aiohttp import web

    async def reply(request: web.Request) -> web.Response:
        await request.read()
        return web.json_response({"choices": [{"message": {"content": REPLY}}]})

    app = web.Application(client_max_size=1 << 26)
    app.router.add_post("/v1/chat/completions", reply)
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    web.run_app(app, sock=listening, print=None, access_log=None)


if __name__ == "__main__":
    _serve() if sys.argv[1:] == ["server"] else main()
