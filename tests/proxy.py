"""A proxy that misbehaves as endpoints do, and counts what it delivered whole."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from hashlib import blake2b
from typing import Any

import aiohttp
from aiohttp import web

FAULTS = (
    "429",
    "429 with a wish",
    "500",
    "503",
    "slow",
    "cut off",
    "half",
    "not JSON",
    "no choices",
    "dropped",
)


class Proxy:
    """Forwards to `target`. With faults on, every request meets one or two of them before it gets through."""

    def __init__(self, target: str, slow: float) -> None:
        self.target, self.slow = target, slow
        self.faults = False
        self.hold_after: int | None = None  # deliver so many, then keep the others waiting
        self.delivered: Counter[str] = Counter()  # whole 200 replies, by what was asked
        self.met: Counter[str] = Counter()  # faults
        self.headers: list[str] = []
        self._attempts: Counter[str] = Counter()
        self._numbers: dict[str, int] = {}  # requests in the order they were first seen
        self._sending = 0
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

    def reset(self, *, faults: bool, hold_after: int | None = None) -> None:
        self.faults, self.hold_after = faults, hold_after
        self.delivered.clear()
        self.met.clear()
        self._attempts.clear()
        self._numbers.clear()
        self._released.clear()

    def release(self) -> None:
        """Drop the requests that are kept waiting, and deliver again."""
        self.hold_after = None
        self._released.set()

    async def _main(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=1 << 26)
        app.router.add_post("/v1/chat/completions", self._handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = site._server.sockets[0].getsockname()[1]
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
        if self.faults and attempt <= number % 2:
            fault = FAULTS[(number + 3 * attempt) % len(FAULTS)]
            self.met[fault] += 1
            return await self._fault(fault, request, body)
        if self.hold_after is not None:
            if self.delivered.total() + self._sending >= self.hold_after:
                await asyncio.to_thread(self._released.wait, 60)
                return self._drop(request)
            self._sending += 1
        data = await self._forward(body)
        response = web.Response(body=data, content_type="application/json")
        await response.prepare(request)
        await response.write_eof()
        if self.hold_after is not None:
            self._sending -= 1
        self.delivered[key] += 1
        return response

    async def _forward(self, body: bytes) -> bytes:
        async with self._session.post(f"{self.target}/chat/completions", data=body) as response:
            assert response.status == 200, await response.text()
            return await response.read()

    async def _fault(self, fault: str, request: web.Request, body: bytes) -> web.StreamResponse:
        if fault.startswith("429"):
            headers = {"Retry-After": "0.2"} if "wish" in fault else {}
            return web.json_response({"error": {"message": "slow down"}}, status=429, headers=headers)
        if fault in ("500", "503"):
            return web.Response(status=int(fault), text="oops")
        if fault == "slow":
            await asyncio.sleep(self.slow)
            return self._drop(request)
        if fault == "dropped":
            return self._drop(request)
        if fault == "not JSON":
            return web.Response(text="<html>busy</html>")
        if fault == "no choices":
            return web.json_response({"object": "chat.completion", "choices": []})
        data = await self._forward(body)
        half = data[: len(data) // 2]
        if fault == "half":
            return web.Response(body=half, content_type="application/json")
        response = web.StreamResponse(headers={"Content-Length": str(len(data))})
        await response.prepare(request)
        await response.write(half)
        return self._drop(request)

    @staticmethod
    def _drop(request: web.Request) -> web.Response:
        if request.transport:
            request.transport.abort()
        return web.Response()
