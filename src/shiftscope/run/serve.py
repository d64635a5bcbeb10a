"""Serve: any model behind an OpenAI-compatible endpoint, for other harnesses and for our own tests.

Built-in models know the questions of one dataset; QuestionMatcher finds which one is asked. Tokens are counted
as words. What a client may send is bounded, and one that hangs up is ignored.
"""

import asyncio
import errno
import json
import socket
import threading
import time
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from ..answer import spell
from ..errors import UserError
from ..model import EVERYTHING, Model, ModelError, get_reads, load_kind, parse_model_name, predict_checked
from ..records import content_id
from .evaluate import RunSpec
from .question_matcher import QuestionMatcher
from .question_source import QuestionSource

LARGEST_REQUEST = 64 << 20  # bytes
LARGEST_TOGETHER = 256 << 20  # bytes of all requests that are held at once
SLOWEST_REQUEST = 60.0  # seconds from its head to its last byte
MOST_IMAGES = 32  # of a request
MOST_CONNECTIONS = 256
GONE = 499  # as others call a client that hung up
DRAINED_SECONDS = 5.0  # so long a client that sends too much is listened to, or it would miss the refusal


class RequestRejected(Exception):
    """A request that is not taken: the HTTP status and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class RequestBodies:
    """Takes bodies in, and knows how much it holds."""

    def __init__(self) -> None:
        self._held = 0  # bytes

    @asynccontextmanager
    async def read_body(self, request: Any) -> AsyncIterator[bytes]:
        """A request's body while it is worked on; RequestRejected where it is too large, too slow or one too many.

        A client that hangs up is starlette's ClientDisconnect.
        """
        pieces: list[bytes] = []
        try:
            try:
                async with asyncio.timeout(SLOWEST_REQUEST):
                    await self._take(request, pieces)
            except TimeoutError:
                raise RequestRejected(408, f"the request took more than {SLOWEST_REQUEST:g} s to arrive") from None
            yield b"".join(pieces)
        finally:
            self._release(pieces)

    async def _take(self, request: Any, pieces: list[bytes]) -> None:
        length = request.headers.get("content-length", "")
        if length.isascii() and length.isdecimal() and len(length) < 19 and int(length) > LARGEST_REQUEST:
            await self._refuse_large(request)
        taken = 0
        async for piece in request.stream():
            taken += len(piece)
            self._held += len(piece)
            pieces.append(piece)
            if taken > LARGEST_REQUEST:
                self._release(pieces)
                await self._refuse_large(request)
            if self._held > LARGEST_TOGETHER:
                raise RequestRejected(503, "too many large requests at once; try again later")

    def _release(self, pieces: list[bytes]) -> None:
        self._held -= sum(map(len, pieces))
        pieces.clear()

    async def _refuse_large(self, request: Any) -> None:
        """Let the client finish sending, for a while: most look at the response only then."""
        if "expect" not in request.headers:
            with suppress(TimeoutError):
                async with asyncio.timeout(DRAINED_SECONDS):
                    async for _ in request.stream():
                        pass
        raise RequestRejected(413, f"a request may have {LARGEST_REQUEST >> 20} MB; this one is larger")


class ModelService:
    """The endpoint's two answers, apart from HTTP."""

    def __init__(self, name: str, model: Model, matcher: QuestionMatcher, root: str = "") -> None:
        """`root` names everything that responses depend on, so that clients can tell this model from another."""
        self.name, self.root = name, root
        self._model, self._matcher = model, matcher
        self._reads = get_reads(name, model) or EVERYTHING
        self._one_at_a_time = threading.Lock()
        self._served = 0

    def models(self) -> dict[str, Any]:
        model = {"id": self.name, "object": "model", "owned_by": "shiftscope"}
        return {"object": "list", "data": [model | ({"root": self.root} if self.root else {})]}

    def complete(self, body: Any) -> dict[str, Any]:
        """A chat completion; a request that cannot be understood is a UserError."""
        text, pictures = read_messages(body)
        with self._one_at_a_time:
            prompt = self._matcher.match(text, pictures).restrict(self._reads)
            response = predict_checked(self._model, [prompt], self.name)[0]
            self._served += 1
            number = self._served
        content = response.raw or (  # the raw text, else the answer, else why there is none
            spell(response.answer) if response.answer is not None else f"undefined ({response.reason})"
        )
        read, wrote = len(text.split()), len(content.split())
        return {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self.name,
            "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote},
        }


def build_root_name(run: RunSpec, source: QuestionSource) -> str:
    """A name for everything that the responses of a run's model depend on, as far as files tell."""
    spec = {k: v for k, v in run.spec(source).items() if k != "data"}
    name = parse_model_name(run.model)
    digest_target = getattr(load_kind(name.kind), "digest_target", None)
    spec |= {"file": digest_target(name.target)} if digest_target else {}
    return content_id(spec)


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
                pictures.append(_decode_picture(part["image_url"]["url"]))
    except (KeyError, TypeError):
        raise UserError("a part of the message is neither text nor an image_url") from None
    return "\n".join(texts), pictures


def _decode_picture(url: Any) -> bytes:
    if not isinstance(url, str):
        raise UserError("the url of a picture must be text: data:image/png;base64,…")
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:image/") or not head.endswith(";base64"):
        raise UserError("a picture must be given as data:image/png;base64,…")
    try:
        return b64decode(data, validate=True)
    except ValueError:
        raise UserError("a picture is not whole base64") from None


def build_app(service: ModelService, touched: Callable[[], None] = lambda: None) -> Any:
    """The web application; `touched` is called with every request."""
    try:
        from fastapi import FastAPI, Request
        from fastapi.responses import JSONResponse, Response
        from starlette.requests import ClientDisconnect
    except ImportError:
        raise UserError("serving needs FastAPI and uvicorn: pip install 'shiftscope[serve]'") from None

    app = FastAPI(title="ShiftScope", openapi_url=None)
    bodies, turn = RequestBodies(), asyncio.Lock()

    async def models() -> Any:
        touched()
        return service.models()

    async def complete(request: Request) -> Any:
        touched()
        try:
            async with bodies.read_body(request) as body, turn:
                if await request.is_disconnected():
                    raise ClientDisconnect
                return await asyncio.to_thread(answer, body)
        except ClientDisconnect:
            return Response(status_code=GONE)  # nobody is there to read it
        except RequestRejected as error:
            return build_error(str(error), error.status)
        except ModelError as error:
            return build_error(str(error), 500)
        except UserError as error:
            return build_error(str(error), 400)

    def answer(body: bytes) -> dict[str, Any]:
        try:
            request = json.loads(body)
        except (ValueError, RecursionError):
            raise UserError("the request is not JSON") from None
        return service.complete(request)

    def build_error(problem: str, status: int) -> Any:
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
    service: ModelService, host: str, port: int, *, idle: float = 0.0, ready: Callable[[str], None] = print
) -> None:
    """Serve until interrupted, or until nobody has asked for `idle` seconds; `ready` is told the URL."""
    last = time.monotonic()

    def mark_active() -> None:
        nonlocal last
        last = time.monotonic()

    app = build_app(service, mark_active)
    serve_app(app, host, port, ready=lambda url: ready(f"{url}/v1"), ends=lambda: 0 < idle < time.monotonic() - last)


def serve_app(
    app: Any, host: str, port: int, *, ready: Callable[[str], None], ends: Callable[[], bool] = lambda: False
) -> None:
    """Serve an application until interrupted, or until `ends` says so; `ready` is told where it listens."""
    import uvicorn

    bound = _bind(host, port)
    config = uvicorn.Config(app, log_level="warning", access_log=False, limit_concurrency=MOST_CONNECTIONS, ws="none")
    server = uvicorn.Server(config)

    async def watch() -> None:
        since: dict[Any, float] = {}
        while not server.should_exit:
            await asyncio.sleep(0.1)
            since = close_slow(server.server_state.connections, since, time.monotonic())
            if ends():
                server.should_exit = True

    async def run_both() -> None:
        await asyncio.gather(server.serve(sockets=[bound]), watch())

    address = f"[{host}]" if ":" in host else host
    ready(f"http://{address}:{bound.getsockname()[1]}")
    asyncio.run(run_both())


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
        raise UserError(f"{host}:{port} cannot be served on ({error.strerror}); choose another --port") from None
    except UnicodeError:
        bound.close()
        raise UserError(f"{host!r} is no address of this machine; choose another --host") from None
    return bound
