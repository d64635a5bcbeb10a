"""A small endpoint in this process that answers as it is told, and prompts to ask it."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from shiftscope.model import ModelOptions, ModelSetting, Prompt
from shiftscope.models.openai import build
from shiftscope.models.openai import endpoint as _endpoint
from shiftscope.question import Question

KEY = "sk-abcdef0123456789"
PNG = b"\x89PNG\r\n\x1a\nnot looked at"


def completion(text="red", **more):
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return 200, {"choices": [{"message": {"content": text}, "finish_reason": "stop"} | more], "usage": usage}


class Handler(BaseHTTPRequestHandler):
    """What is told may also be a function of this and the status; unless it gives what to say, it sends it."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.looks += 1
        told = self.server.listing
        self.answer(200 if told is not None else 404, told)

    def do_POST(self):
        server = self.server
        server.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.answer(*(server.replies.pop(0) if len(server.replies) > 1 else server.replies[0]))

    def answer(self, status, said, *headers):
        if callable(said):
            made = None
            with contextlib.suppress(ConnectionError):
                made = said(self, status)
            if made is None:
                self.close_connection = True
                return
            said = made
        data = (
            said if isinstance(said, bytes) else said.encode() if isinstance(said, str) else json.dumps(said).encode()
        )
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *words):
        pass


class QuietServer(ThreadingHTTPServer):
    """Says nothing of clients that hang up: it shares its stderr with what is tested."""

    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextlib.contextmanager
def serving(monkeypatch):
    """Answers with what `replies` says in turn, the last one for ever; keeps what it was asked.

    `listing` is what GET /v1/models gives, None for a 404; `looks` is how often it was asked for.
    """
    monkeypatch.setattr(_endpoint, "FIRST_WAIT", 0.001)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with QuietServer(("127.0.0.1", 0), Handler) as server:
        server.bodies, server.replies = [], [completion()]
        server.listing, server.looks = None, 0
        server.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def prompt(text="What color?", images=(PNG,)):
    return Prompt(Question("q", text, ("s",)), text, images)


def model(server, memory=None, **options):
    return build(f"toy@{server.url}", ModelSetting(options=ModelOptions(**{"retries": 3, **options}), memory=memory))
