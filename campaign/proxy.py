"""A proxy that misbehaves as endpoints do, and counts what it delivered whole."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import threading
from collections import Counter
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from typing import Any

import aiohttp
from aiohttp import web

FAULTS = (  # after which another attempt may succeed
    "429", "429 with a wish", "429 with a strange wish", "408", "500", "502", "503", "504", "slow", "trickle",
    "cut off", "half", "empty", "not JSON", "not UTF-8", "nested deeply", "no choices", "an error as success",
    "broken gzip", "unknown packing", "broken chunks", "not HTTP", "redirected to itself", "dropped",
    "dropped after the head",
)  # fmt: skip
REFUSED = ("400", "gzip bomb", "endless")  # that fail a call for good; a run that is resumed asks again
ODD = ("late", "drip", "wrong type", "gzipped", "UTF-16", "byte order mark", "another fingerprint")  # but whole
WISHES = ("-1", "nan", "1e999", "soon", "Wed, 21 Oct 2015 07:28:00 GMT", "0.01, 5", "٣")
PIECE = b" " * (1 << 16)
Choose = Callable[[str, int, int], str]  # of a request: its key, its number, its attempt; "" for no fault


def usual(key: str, number: int, attempt: int) -> str:
    """Every request meets one or two faults, each kind in turn, before it gets through."""
    return FAULTS[(number + 3 * attempt) % len(FAULTS)] if attempt <= number % 2 else ""


def none(key: str, number: int, attempt: int) -> str:
    return ""


logging.getLogger("aiohttp.server").disabled = True  # a client that is killed hangs up, which it would tell


class Proxy:
    """Forwards to `target`, and does to each request what it is told to."""

    def __init__(self, target: str, slow: float) -> None:
        self.target, self.slow = target, slow
        self.choose: Choose = none
        self.hold_after: int | None = None  # deliver so many, then keep the others waiting
        self.listing_faults: list[str] = []  # what the next looks at /v1/models meet
        self.delivered: Counter[str] = Counter()  # whole 200 replies, by what was asked
        self.usage: Counter[str] = Counter()  # the tokens of these, as the server counts them
        self.met: Counter[str] = Counter()  # faults
        self.headers: list[str] = []
        self._attempts: Counter[str] = Counter()
        self._numbers: dict[str, int] = {}  # requests in the order they were first seen
        self._sending = 0
        self._released_with = ""
        self._released = threading.Event()
        self._started = threading.Event()
        self._loop: Any = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), daemon=True)

    def __enter__(self) -> Proxy:
        self._thread.start()
        assert self._started.wait(20)
        return self

    def __exit__(self, *error: object) -> None:
        self._released.set()
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(20)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def reset(self, *, faults: bool | Choose, hold_after: int | None = None) -> None:
        self.choose = faults if callable(faults) else usual if faults else none
        self.hold_after = hold_after
        self.listing_faults = []
        self.delivered.clear()
        self.usage.clear()
        self.met.clear()
        self._attempts.clear()
        self._numbers.clear()
        self._released.clear()

    def release(self, fault: str = "dropped") -> None:
        """Do this to the requests that are kept waiting, and deliver again."""
        self.hold_after = None
        self._released_with = fault
        self._released.set()

    async def _main(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=1 << 26)
        app.router.add_post("/v1/chat/completions", self._handle)
        app.router.add_get("/v1/models", self._models)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = runner.addresses[0][1]
        async with aiohttp.ClientSession() as self._session:
            self._started.set()
            await self._stop.wait()
        await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.headers.append(request.headers.get("Authorization", ""))
        key = blake2b(body, digest_size=8).hexdigest()
        attempt = self._attempts[key]
        self._attempts[key] += 1
        number = self._numbers.setdefault(key, len(self._numbers))
        fault = self.choose(key, number, attempt)
        if fault:
            self.met[fault] += 1
        if fault and fault not in ODD:
            return await self._fault(fault, request, body)
        if self.hold_after is not None:
            if self.delivered.total() + self._sending >= self.hold_after:
                while not self._released.is_set() and not _gone(request):
                    await asyncio.sleep(0.02)
                return await self._fault(self._released_with or "dropped", request, body)
            self._sending += 1
        data = await self._forward(body)
        response = await self._deliver(fault, request, data)
        if self.hold_after is not None:
            self._sending -= 1
        self.delivered[key] += 1
        self.usage.update(json.loads(data)["usage"])
        return response

    async def _models(self, request: web.Request) -> web.StreamResponse:
        fault = self.listing_faults.pop(0) if self.listing_faults else ""
        if fault:
            return await self._fault(fault, request, None)
        return web.json_response(json.loads(await self._forward(None)))

    async def _forward(self, body: bytes | None) -> bytes:
        """What the target says: to a question, or of itself."""
        path = "models" if body is None else "chat/completions"
        method = "GET" if body is None else "POST"
        async with self._session.request(method, f"{self.target}/{path}", data=body) as response:
            assert response.status == 200, await response.text()
            return await response.read()

    async def _deliver(self, fault: str, request: web.Request, data: bytes) -> web.StreamResponse:
        """The whole reply, however it is wrapped."""
        kind, headers = "application/json", {}
        if fault == "late":
            await asyncio.sleep(len(self.delivered) % 7 * 0.04)
        if fault == "wrong type":
            kind = "image/png"
        if fault == "gzipped":
            data, headers = gzip.compress(data, 1), {"Content-Encoding": "gzip"}
        if fault == "UTF-16":
            data = data.decode().encode("utf-16")
        if fault == "byte order mark":
            data = b"\xef\xbb\xbf" + data
        if fault == "another fingerprint":
            data = json.dumps(json.loads(data) | {"system_fingerprint": f"fp_{len(data) % 3}"}).encode()
        if fault == "drip":
            return await _drip(request, data)
        response = web.Response(body=data, content_type=kind, headers=headers)
        await response.prepare(request)
        await response.write_eof()
        return response

    async def _fault(self, fault: str, request: web.Request, body: bytes | None) -> web.StreamResponse:
        if fault.startswith("429"):
            wish = WISHES[self.met.total() % len(WISHES)] if "strange" in fault else "0.2"
            headers = {"Retry-After": wish.encode("utf-8").decode("latin-1")} if "wish" in fault else {}
            return web.json_response({"error": {"message": "slow down"}}, status=429, headers=headers)
        if fault.isdecimal():
            return web.Response(status=int(fault), text="oops")
        if fault in SAID:
            return web.Response(body=SAID[fault], content_type="application/json")
        if fault in PACKED:
            made, packing = PACKED[fault]
            headers = {"Content-Encoding": packing, "Content-Type": "application/json"}
            return web.Response(body=made(), headers=headers)
        if fault in RAW and request.transport:
            request.transport.write(RAW[fault])
            return _drop(request, gently=True)
        if fault == "redirected to itself":
            return web.Response(status=307, headers={"Location": request.path})
        if fault in ("slow", "trickle", "endless"):
            return await self._linger(fault, request)
        if fault == "dropped":
            return _drop(request)
        data = await self._forward(body)
        half = data[: len(data) // 2]
        if fault == "half":
            return web.Response(body=half, content_type="application/json")
        assert fault in ("cut off", "dropped after the head"), fault
        response = web.StreamResponse(headers={"Content-Length": str(len(data))})
        await response.prepare(request)
        await response.write(half if fault == "cut off" else b"")
        return _drop(request)

    async def _linger(self, fault: str, request: web.Request) -> web.StreamResponse:
        """Say nothing, a little, or much, until the client has had enough."""
        end = asyncio.get_running_loop().time() + self.slow
        response = web.StreamResponse()
        if fault != "slow":
            await response.prepare(request)
        try:
            while not _gone(request) and asyncio.get_running_loop().time() < end:
                if fault != "slow":
                    await response.write(PIECE if fault == "endless" else b" ")
                await asyncio.sleep(0.0 if fault == "endless" else 0.05)
        except (ConnectionError, aiohttp.ClientError):
            pass
        return _drop(request)


async def _drip(request: web.Request, data: bytes) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    step = max(1, len(data) // 8)
    for at in range(0, len(data), step):
        await response.write(data[at : at + step])
        await asyncio.sleep(0.02)
    await response.write_eof()
    return response


def _gone(request: web.Request) -> bool:
    return request.transport is None or request.transport.is_closing()


def _drop(request: web.Request, *, gently: bool = False) -> web.Response:
    if request.transport:
        request.transport.close() if gently else request.transport.abort()
    return web.Response()


@cache
def _bomb() -> bytes:
    return gzip.compress(bytes(64 << 20), 9)


@cache
def _cut_gzip() -> bytes:
    return gzip.compress(b'{"choices": [{"message": {"content": "never whole"}}]}')[:-12]


SAID = {
    "empty": b"",
    "not JSON": b"<html>busy</html>",
    "not UTF-8": b'{"choices": [{"message": {"content": "caf\xe9"}}]}',
    "nested deeply": b"[" * 100_000,
    "no choices": b'{"object": "chat.completion", "choices": []}',
    "an error as success": b'{"error": {"message": "the engine is restarting", "code": 503}}',
}
PACKED: dict[str, tuple[Callable[[], bytes], str]] = {
    "gzip bomb": (_bomb, "gzip"),
    "broken gzip": (_cut_gzip, "gzip"),
    "unknown packing": (_cut_gzip, "zstd-of-tomorrow"),
}
RAW = {
    "broken chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nno chunk\r\n",
    "not HTTP": b"\x16\x03\x01 what is this\r\n\r\n",
}
