"""Serve: any model behind an OpenAI-compatible endpoint, for other harnesses and for our own tests.

Built-in models know questions of one dataset; `recognise.py` finds which one is asked. Tokens are counted as
words. What a client may send is bounded (`intake.py`), and one that hangs up is simply gone.
"""

from __future__ import annotations

import asyncio
import errno
import json
import socket
import sys
import threading
import time
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from ..answer import spell
from ..canonical import content_id
from ..errors import UserError
from ..models._model import Model, Reply, Stopped, replies
from ..models._name import read_name
from ..whole import file_digest
from .evaluate import Order
from .intake import SLOWEST_REQUEST, Intake, Unfit
from .recognise import Recogniser
from .source import Source

MOST_IMAGES = 32  # of a request
MOST_CONNECTIONS = 256
GONE = 499  # as others call a client that hung up


class Service:
    """The endpoint's two answers, apart from HTTP."""

    def __init__(self, name: str, model: Model, recogniser: Recogniser, root: str = "") -> None:
        """`root` names everything that replies depend on, so that clients tell this model from another."""
        self.name, self.root = name, root
        self._model, self._recogniser = model, recogniser
        self._one_at_a_time = threading.Lock()
        self._served = 0

    def models(self) -> dict[str, Any]:
        model = {"id": self.name, "object": "model", "owned_by": "shiftscope"}
        return {"object": "list", "data": [model | ({"root": self.root} if self.root else {})]}

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


def root_of(order: Order, source: Source) -> str:
    """A name for everything that the replies of an order's model depend on, as far as files tell."""
    spec = {k: v for k, v in order.spec(source).items() if k != "data"}
    name = read_name(order.model)
    if name.kind == "predictions":
        spec["file"] = file_digest(Path(name.target))
    elif name.kind == "python":
        file = getattr(sys.modules.get(name.target.partition(":")[0]), "__file__", None)
        spec["file"] = file_digest(Path(file)) if file else ""
    return content_id(spec)


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
    texts: list[str] = []
    pictures: list[bytes] = []
    try:
        for part in content:
            if part["type"] == "text":
                if not isinstance(part["text"], str):
                    raise TypeError
                texts.append(part["text"])
            elif part["type"] == "image_url":
                if len(pictures) == MOST_IMAGES:
                    raise UserError(f"a request may have {MOST_IMAGES} pictures; this one has more")
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
        from fastapi.responses import JSONResponse, Response
        from starlette.requests import ClientDisconnect
    except ImportError:
        raise UserError("serving needs FastAPI and uvicorn: pip install 'shiftscope[serve]'") from None

    app = FastAPI(title="ShiftScope", openapi_url=None)
    intake, turn = Intake(), asyncio.Lock()

    async def models() -> Any:
        touched()
        return service.models()

    async def complete(request: Request) -> Any:
        touched()
        try:
            async with intake.body(request) as body, turn:
                if await request.is_disconnected():
                    raise ClientDisconnect
                return await asyncio.to_thread(answer, body)
        except ClientDisconnect:
            return Response(status_code=GONE)  # nobody is there to read it
        except Unfit as error:
            return refusal(str(error), error.status)
        except Stopped as error:
            return refusal(str(error), 500)
        except UserError as error:
            return refusal(str(error), 400)

    def answer(body: bytes) -> dict[str, Any]:
        try:
            asked = json.loads(body)
        except (ValueError, RecursionError):
            raise UserError("the request is not JSON") from None
        return service.complete(asked)

    def refusal(problem: str, status: int) -> Any:
        kind = "invalid_request_error" if status < 500 else "server_error"
        headers = {"Connection": "close"} if status in (408, 413) else {}  # the rest of it is not wanted
        headers |= {"Retry-After": "1"} if status == 503 else {}
        return JSONResponse({"error": {"message": problem, "type": kind}}, status, headers)

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
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, limit_concurrency=MOST_CONNECTIONS, ws="none"
    )
    server = uvicorn.Server(config)

    async def watch() -> None:
        since: dict[Any, float] = {}
        while not server.should_exit:
            await asyncio.sleep(0.1)
            since = close_slow(server.server_state.connections, since, time.monotonic())
            if idle and time.monotonic() - last > idle:
                server.should_exit = True

    async def both() -> None:
        await asyncio.gather(server.serve(sockets=[bound]), watch())

    shown = f"[{host}]" if ":" in host else host
    ready(f"http://{shown}:{bound.getsockname()[1]}/v1")
    asyncio.run(both())


def close_slow(connections: Iterable[Any], since: Mapping[Any, float], now: float) -> dict[Any, float]:
    """Close connections that take too long to say what they ask for; those that may, and since when.

    uvicorn itself waits for the head of a request as long as it takes.
    """
    waiting = {}
    for one in connections:
        cycle = getattr(one, "cycle", None)
        if cycle is not None and not cycle.response_complete:
            continue  # it asks, or is answered
        waiting[one] = since.get(one, now)
        if now - waiting[one] > SLOWEST_REQUEST:
            one.transport.close()
    return waiting


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
