"""Intake: the body of a request, bounded in bytes and in seconds, and all bodies together in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

LARGEST_REQUEST = 64 << 20  # bytes
LARGEST_TOGETHER = 256 << 20  # bytes of all requests that are held at once
SLOWEST_REQUEST = 60.0  # seconds from its head to its last byte
DRAINED_SECONDS = 5.0  # so long a client that sends too much is listened to, or it would miss the refusal


class Unfit(Exception):
    """A request that is not taken: the HTTP status and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Intake:
    """Takes bodies in, and knows how much it holds."""

    def __init__(self) -> None:
        self._held = 0  # bytes

    @asynccontextmanager
    async def body(self, request: Any) -> AsyncIterator[bytes]:
        """A request's body while it is worked on; Unfit where it is too large, too slow or one too many.

        A client that hangs up is starlette's ClientDisconnect.
        """
        pieces: list[bytes] = []
        try:
            try:
                async with asyncio.timeout(SLOWEST_REQUEST):
                    await self._take(request, pieces)
            except TimeoutError:
                raise Unfit(408, f"the request took more than {SLOWEST_REQUEST:g} s to arrive") from None
            yield b"".join(pieces)
        finally:
            self._give_back(pieces)

    async def _take(self, request: Any, pieces: list[bytes]) -> None:
        if _declared(request) > LARGEST_REQUEST:
            await self._refuse_large(request)
        taken = 0
        async for piece in request.stream():
            taken += len(piece)
            self._held += len(piece)
            pieces.append(piece)
            if taken > LARGEST_REQUEST:
                self._give_back(pieces)
                await self._refuse_large(request)
            if self._held > LARGEST_TOGETHER:
                raise Unfit(503, "too many large requests at once; try again later")

    def _give_back(self, pieces: list[bytes]) -> None:
        self._held -= sum(map(len, pieces))
        pieces.clear()

    async def _refuse_large(self, request: Any) -> None:
        """Let the client finish sending, for a while: most look at the reply only then."""
        if "expect" not in request.headers:
            with suppress(TimeoutError):
                async with asyncio.timeout(DRAINED_SECONDS):
                    async for _ in request.stream():
                        pass
        raise Unfit(413, f"a request may have {LARGEST_REQUEST >> 20} MB; this one is larger")


def _declared(request: Any) -> int:
    length = request.headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdecimal() and len(length) < 19 else 0
