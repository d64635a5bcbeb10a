"""Serve: any model behind an OpenAI-compatible endpoint, for other harnesses and for our own tests.

Built-in models know questions of one dataset; `recognise.py` finds which one is asked. Tokens are counted as
words.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import threading
import time
from base64 import b64decode
from collections.abc import Callable
from typing import Any

from ..answer import spell
from ..errors import UserError
from ..models._model import Model, Reply, Stopped, replies
from .recognise import Recogniser

LONGEST = 64 << 20  # bytes of a request


class Service:
    """The endpoint's two answers, apart from HTTP."""

    def __init__(self, name: str, model: Model, recogniser: Recogniser) -> None:
        self.name = name
        self._model, self._recogniser = model, recogniser
        self._one_at_a_time = threading.Lock()
        self._served = 0

    def models(self) -> dict[str, Any]:
        return {"object": "list", "data": [{"id": self.name, "object": "model", "owned_by": "shiftscope"}]}

    def complete(self, body: Any) -> dict[str, Any]:
        """A chat completion; a request that can not be understood is a UserError."""
        text, pictures = read_messages(body)
        with self._one_at_a_time:
            reply = replies(self._model, [self._recogniser.prompt(text, pictures)], self.name)[0]
            self._served += 1
            number = self._served
        said = said_by(reply)
        read, wrote = len(text.split()), len(said.split())
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self.name,
            "choices": [
                {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
            ],
            "usage": {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote},
        }


def said_by(reply: Reply) -> str:
    """What the endpoint says: the raw text, else the answer, else why there is none."""
    if reply.raw:
        return reply.raw
    return spell(reply.answer) if reply.answer is not None else f"undefined ({reply.reason})"


def read_messages(body: Any) -> tuple[str, list[bytes]]:
    """The text and the pictures of a request's last user message."""
    try:
        content = next(m["content"] for m in reversed(body["messages"]) if m["role"] == "user")
    except (KeyError, TypeError, StopIteration):
        raise UserError("the request has no user message") from None
    if isinstance(content, str):
        return content, []
    texts, pictures = [], []
    try:
        for part in content:
            if part["type"] == "text":
                texts.append(str(part["text"]))
            elif part["type"] == "image_url":
                pictures.append(_picture(part["image_url"]["url"]))
    except (KeyError, TypeError):
        raise UserError("a part of the message is neither text nor an image_url") from None
    return "\n".join(texts), pictures


def _picture(url: Any) -> bytes:
    if not isinstance(url, str):
        raise UserError("the url of a picture must be text: data:image/png;base64,…")
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:image/") or not head.endswith(";base64"):
        raise UserError("a picture must be given as data:image/png;base64,…")
    try:
        return b64decode(data, validate=True)
    except ValueError:
        raise UserError("a picture is not whole base64") from None


def app_of(service: Service, touched: Callable[[], None] = lambda: None) -> Any:
    """The web application; `touched` is called with every request."""
    try:
        from fastapi import FastAPI, Request
        from fastapi.responses import JSONResponse
    except ImportError:
        raise UserError("serving needs FastAPI and uvicorn: pip install 'shiftscope[serve]'") from None

    app = FastAPI(title="ShiftScope", openapi_url=None)

    async def models() -> Any:
        touched()
        return service.models()

    async def complete(request: Request) -> Any:
        touched()
        try:
            body = await request.json()
        except (ValueError, RecursionError):
            return refusal("the request is not JSON")
        try:
            return await asyncio.to_thread(service.complete, body)
        except Stopped as error:
            return JSONResponse({"error": {"message": str(error), "type": "server_error"}}, 500)
        except UserError as error:
            return refusal(str(error))

    def refusal(problem: str) -> Any:
        return JSONResponse({"error": {"message": problem, "type": "invalid_request_error"}}, 400)

    # FastAPI reads annotations from the module, where Request is not: these two functions take it as it is.
    complete.__annotations__ = {"request": Request}
    app.add_api_route("/v1/models", models, methods=["GET"], response_model=None)
    app.add_api_route("/v1/chat/completions", complete, methods=["POST"], response_model=None)
    return app


def serve(
    service: Service, host: str, port: int, *, idle: float = 0.0, ready: Callable[[str], None] = print
) -> None:
    """Serve until interrupted, or until nobody has asked for `idle` seconds; `ready` is told the URL."""
    last = time.monotonic()

    def touched() -> None:
        nonlocal last
        last = time.monotonic()

    app = app_of(service, touched)
    import uvicorn

    bound = _bind(host, port)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))

    async def watch() -> None:
        while not server.should_exit:
            await asyncio.sleep(0.1)
            if idle and time.monotonic() - last > idle:
                server.should_exit = True

    async def both() -> None:
        await asyncio.gather(server.serve(sockets=[bound]), watch())

    shown = f"[{host}]" if ":" in host else host
    ready(f"http://{shown}:{bound.getsockname()[1]}/v1")
    asyncio.run(both())


def _bind(host: str, port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen(128)
    except OSError as error:
        bound.close()
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            raise UserError(
                f"{host} is no address of this machine ({error.strerror}); "
                "choose another --host, as 127.0.0.1 or 0.0.0.0"
            ) from None
        raise UserError(
            f"{host}:{port} can not be served on ({error.strerror}); choose another --port"
        ) from None
    except UnicodeError:
        bound.close()
        raise UserError(f"{host!r} is no address of this machine; choose another --host") from None
    return bound
