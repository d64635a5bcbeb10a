"""Endpoint: one POST that ends in a whole reply or in a refusal, whatever happens in between."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from ..errors import UserError
from ..rng import derive
from ._model import Options, whole_text

T = TypeVar("T")

FIRST_WAIT = 0.5  # seconds before the second attempt; doubles from one to the next
LONGEST_WAIT = 60.0
LONGEST_ASKED = 600.0  # a server's own wish is granted up to here
AGAIN = frozenset({408, 409, 425, 429})  # and all from 500 up
MOST_TOKENS = 1 << 40  # a count above is none
UNKNOWN_SERVER = 3  # attempts at a server that never answered


@dataclass(frozen=True, slots=True)
class Said:
    """A completion: its text, why it ended, the tokens read and written where the server counts them."""

    text: str
    ended: str = ""
    read: int | None = None
    wrote: int | None = None


class Refused(Exception):
    """This call failed for good; others may not."""


class Trouble(Exception):
    """An attempt failed in a way that another may not; `wait` is what the server asked for."""

    def __init__(self, what: str, wait: float = 0.0, *, reached: bool = True) -> None:
        super().__init__(what)
        self.wait, self.reached = wait, reached


class Endpoint:
    """A URL to post JSON to. The key is sent and never shown: what a server says of it is struck out."""

    def __init__(self, url: str, key: str, options: Options) -> None:
        self._url, self._key, self._options = url, key, options
        self._session: Any = None
        self._reached = False
        self._not_before = 0.0  # a server that asks one call to wait means all of them

    async def open(self) -> None:
        try:
            import aiohttp
        except ImportError:
            raise UserError("endpoints need aiohttp: pip install 'shiftscope[api]'") from None
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        self._session = aiohttp.ClientSession(
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=self._options.timeout),
            connector=aiohttp.TCPConnector(limit=self._options.in_flight),
        )

    async def close(self) -> None:
        await self._session.close()

    async def post(self, body: bytes, name: str) -> tuple[Said, float]:
        """The reply and the seconds its last attempt took; `name` spreads the waits of many calls."""
        for attempt in range(1, self._options.retries + 2):
            await self._wait_until_allowed()
            start = time.perf_counter()
            try:
                said = await self._attempt(body)
                self._reached = True
                return said, time.perf_counter() - start
            except Trouble as trouble:
                if trouble.reached:
                    self._reached = True
                elif not self._reached and attempt >= UNKNOWN_SERVER:
                    raise UserError(
                        f"{self._url} can not be reached ({trouble}); is the server up?"
                    ) from None
                if attempt > self._options.retries:
                    if not trouble.reached:
                        raise UserError(
                            f"{self._url} is no longer there ({trouble}); run the same command again to go on"
                        ) from None
                    raise Refused(f"{trouble}, {attempt} times") from None
                if trouble.wait:
                    self._not_before = max(self._not_before, time.monotonic() + trouble.wait)
                step = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1))
                await asyncio.sleep(step * float(derive("retry", name, attempt).uniform(0.5, 1.0)))
        raise AssertionError("a call ends in the loop")

    async def _wait_until_allowed(self) -> None:
        while (left := self._not_before - time.monotonic()) > 0:
            await asyncio.sleep(left)

    async def _attempt(self, body: bytes) -> Said:
        import aiohttp

        try:
            async with self._session.post(self._url, data=body) as response:
                data = await response.read()
                status, wait = response.status, response.headers.get("Retry-After", "")
        except TimeoutError:
            raise Trouble(f"no reply within {self._options.timeout:g} s") from None
        except aiohttp.ClientConnectorError as error:
            raise Trouble(error.strerror or type(error).__name__, reached=False) from None
        except (aiohttp.ClientError, ConnectionError) as error:
            raise Trouble(f"the connection broke ({type(error).__name__})") from None
        if status in AGAIN or status >= 500:
            if b"insufficient_quota" in data:
                raise UserError(
                    f"{self._url}: the account's quota is used up; run the same command again then"
                )
            raise Trouble(f"HTTP {status}", _seconds(wait))
        if status in (401, 403):
            hint = f"set the environment variable {self._options.key_env}"
            raise UserError(f"{self._url} refused the key (HTTP {status}); {hint}")
        if status == 404:
            raise UserError(
                f"{self._url}: HTTP 404, {self._complaint(data)}; check the URL and the model's name"
            )
        if status != 200:
            raise Refused(f"HTTP {status}, {self._complaint(data)}")
        try:
            said = read_completion(json.loads(data))
        except (ValueError, KeyError, TypeError, IndexError, RecursionError):
            raise Trouble("a reply that is not a whole chat completion") from None
        return replace(said, text=self._struck_out(said.text), ended=self._struck_out(said.ended))

    def _complaint(self, data: bytes) -> str:
        """What the server says is wrong, on one line, without the key."""
        text = data.decode("utf-8", "replace")
        try:
            error = json.loads(text)["error"]
            text = str(error["message"] if isinstance(error, dict) else error)
        except (ValueError, KeyError, TypeError, RecursionError):
            pass
        return " ".join(self._struck_out(whole_text(text)).split())[:200] or "nothing said"

    def _struck_out(self, text: str) -> str:
        return text.replace(self._key, "[key]") if self._key else text


def read_completion(said: Any) -> Said:
    """What is worth keeping of a completion; one of another form is a TypeError, KeyError or IndexError."""
    choice = said["choices"][0]
    message = _typed(choice["message"], dict)
    content = message.get("content")
    if isinstance(content, list):  # some servers answer in parts
        parts = [_typed(part, dict) for part in content]
        content = "".join(_typed(part["text"], str) for part in parts if "text" in part)
    text = _typed("" if content is None else content, str) or _typed(message.get("refusal") or "", str)
    usage = said.get("usage")
    usage = _typed({} if usage is None else usage, dict)
    ended = choice.get("finish_reason")
    return Said(
        whole_text(text),
        whole_text(ended) if isinstance(ended, str) else "",
        _tokens(usage.get("prompt_tokens")),
        _tokens(usage.get("completion_tokens")),
    )


def _typed(value: Any, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise TypeError
    return value


def _tokens(count: Any) -> int | None:
    return count if type(count) is int and 0 <= count <= MOST_TOKENS else None


def _seconds(wish: str) -> float:
    """`Retry-After`, as seconds or as a date; nothing where it can not be read."""
    if not wish:
        return 0.0
    try:
        seconds = float(wish)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(wish).timestamp() - time.time()
        except (ValueError, OverflowError):
            return 0.0
    return min(max(0.0, seconds), LONGEST_ASKED)
