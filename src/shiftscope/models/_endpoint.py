"""Endpoint: one POST that ends in a whole reply or in a refusal, whatever happens in between.

A call is bounded in every direction: in bytes on the wire, in bytes unpacked, and in seconds from its start
to the last byte of its reply, however fast or slowly these come.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from ..errors import UserError
from ..rng import derive
from ._body import TooLarge, read_body
from ._model import Options, whole_text
from ._server import LONGEST_FIELD, Identity, common, differ, is_json, read_listing, show

T = TypeVar("T")

FIRST_WAIT = 0.5  # seconds before the second attempt; doubles from one to the next
LONGEST_WAIT = 60.0
LONGEST_ASKED = 600.0  # a server's own wish is granted up to here
TOLD_WAIT = 10.0  # a longer wish is told to the user
LARGEST_REPLY = 16 << 20  # bytes
LARGEST_COMPLAINT = 1 << 16  # bytes that are read of a reply that is an error
LARGEST_LISTING = 4 << 20  # bytes
LISTING_SECONDS = 5.0  # to wait for what a server says of itself
LOOKS = 4  # at what a server says of itself, before an error is silence
CLOCK_SECONDS = 1.1  # between two looks at `created`: the current time has changed by then
AGAIN = frozenset({408, 409, 425, 429})  # and all from 500 up
GATEWAY = frozenset({502, 503, 504})  # what stands behind it may come back as another
MOST_TOKENS = 1 << 40  # a count above is none
UNKNOWN_SERVER = 3  # attempts at a server that never answered


@dataclass(frozen=True, slots=True)
class Said:
    """A completion: its text, why it ended, the tokens read and written where the server counts them."""

    text: str
    ended: str = ""
    read: int | None = None
    wrote: int | None = None
    fingerprint: str = ""  # `system_fingerprint`: what the server calls the system that replied


class Refused(Exception):
    """This call failed for good; others may not."""


class Trouble(Exception):
    """An attempt failed in a way that another may not; `wait` is what the server asked for.

    `reached`: whether a server answered; `broken`: whether it may be another one the next time.
    """

    def __init__(self, what: str, wait: float = 0.0, *, reached: bool = True, broken: bool = False) -> None:
        super().__init__(what)
        self.wait, self.reached, self.broken = wait, reached, broken or not reached


class Endpoint:
    """A URL to post JSON to. The key is sent and never shown: what a server says of it is struck out."""

    def __init__(
        self,
        base: str,
        model: str,
        key: str,
        options: Options,
        warn: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self._base, self._model, self._key, self._options, self._warn = base, model, key, options, warn
        self._url = f"{base}/chat/completions"
        self._session: Any = None
        self._reached = False
        self._not_before = 0.0  # a server that asks one call to wait means all of them
        self._told_until = 0.0  # the wait that the user knows of
        self._identity: Identity | None = None
        self._broken = False  # a call broke off: the server may be another one now

    async def open(self) -> None:
        try:
            import aiohttp
        except ImportError:
            raise UserError("endpoints need aiohttp: pip install 'shiftscope[api]'") from None
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        self._session = aiohttp.ClientSession(
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=self._options.timeout),
            connector=aiohttp.TCPConnector(limit=self._options.in_flight),
            auto_decompress=False,
        )

    async def close(self) -> None:
        await self._session.close()

    async def identify(self, *, patient: bool = False) -> Identity | None:
        """What the server says of itself; None where it can not be reached, which `patient` refuses."""
        attempt = 0
        while self._identity is None:
            attempt += 1
            try:
                self._identity = await self._alike()
            except Trouble as trouble:
                if trouble.reached and attempt >= LOOKS:
                    self._identity = {}  # an error is silence
                elif not trouble.reached and not patient:
                    return None
                elif not trouble.reached and attempt >= UNKNOWN_SERVER:
                    raise UserError(
                        f"{self._url} can not be reached ({trouble}); is the server up?"
                    ) from None
                else:
                    await asyncio.sleep(FIRST_WAIT * 2 ** (attempt - 1))
        return self._identity

    async def _alike(self) -> Identity:
        """What two requests say alike: some servers put the current time into `created`."""
        first = await self._listing()
        if any("created" in said for said in first.values()):
            await asyncio.sleep(CLOCK_SECONDS)
        return common(first, await self._listing()) if first else {}

    async def _listing(self) -> Identity:
        """One look at what the server says of itself; Trouble where another may say more."""
        import aiohttp

        try:
            async with (
                asyncio.timeout(LISTING_SECONDS),
                self._session.get(f"{self._base}/models") as response,
            ):
                if response.status in AGAIN or response.status >= 500:
                    raise Trouble(f"HTTP {response.status}")
                data = await read_body(response, LARGEST_LISTING) if response.status == 200 else b""
        except aiohttp.ClientConnectorError as error:
            raise Trouble(error.strerror or type(error).__name__, reached=False) from None
        except (TimeoutError, aiohttp.ClientError, ConnectionError) as error:
            raise Trouble(type(error).__name__) from None
        except (TooLarge, ValueError):
            return {}
        if response.status == 200 and not is_json(data):
            raise Trouble("what is no JSON")  # as a gateway gives whose server is not up yet
        return read_listing(self._struck_out(data.decode("utf-8", "replace")).encode(), self._model)

    async def _confirm(self) -> None:
        """After a call that broke off: refuse to go on with another server than the one that began."""
        if not self._broken or not self._identity:
            return
        try:
            now = await self._listing()
        except Trouble:
            return  # the call that follows tells whether there is a server
        if differ(self._identity, now):
            raise UserError(
                f"{self._base} is another server now: it says it is {show(now)}, and it was "
                f"{show(self._identity)}; what was answered before is kept, choose another folder for --out"
            )
        self._broken = not now

    async def post(self, body: bytes, name: str) -> tuple[Said, float]:
        """The reply and the seconds its last attempt took; `name` spreads the waits of many calls."""
        for attempt in range(1, self._options.retries + 2):
            await self._wait_until_allowed()
            await self._confirm()
            start = time.perf_counter()
            try:
                said = await self._attempt(body)
                self._reached = True
                return said, time.perf_counter() - start
            except Trouble as trouble:
                self._broken |= trouble.broken
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
                self._allow_after(trouble.wait)
                step = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1))
                await asyncio.sleep(step * float(derive("retry", name, attempt).uniform(0.5, 1.0)))
        raise AssertionError("a call ends in the loop")

    def _allow_after(self, wish: float) -> None:
        """Hold all calls back for as long as the server wishes; a long wait is told once."""
        if not wish:
            return
        granted, now = min(wish, LONGEST_ASKED), time.monotonic()
        self._not_before = max(self._not_before, now + granted)
        if wish > TOLD_WAIT and now >= self._told_until:
            self._told_until = now + granted
            then = "waiting" if wish <= granted else f"trying again after {granted:g} s, the longest wait"
            self._warn(f"{self._base} asked to wait {wish:,.0f} s; {then}")

    async def _wait_until_allowed(self) -> None:
        while (left := self._not_before - time.monotonic()) > 0:
            await asyncio.sleep(left)

    async def _attempt(self, body: bytes) -> Said:
        import aiohttp

        try:
            async with (
                asyncio.timeout(self._options.timeout),
                self._session.post(self._url, data=body) as response,
            ):
                status, wait = response.status, response.headers.get("Retry-After", "")
                data = await self._read(response)
        except TimeoutError:
            raise Trouble(f"no reply within {self._options.timeout:g} s", broken=True) from None
        except aiohttp.ClientConnectorError as error:
            raise Trouble(error.strerror or type(error).__name__, reached=False) from None
        except (aiohttp.ClientError, ConnectionError) as error:
            raise Trouble(f"the connection broke ({type(error).__name__})", broken=True) from None
        if status in AGAIN or status >= 500:
            if b"insufficient_quota" in data:
                raise UserError(
                    f"{self._url}: the account's quota is used up; run the same command again then"
                )
            raise Trouble(f"HTTP {status}", _seconds(wait), broken=status in GATEWAY)
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
        return replace(
            said,
            text=self._struck_out(said.text),
            ended=self._struck_out(said.ended),
            fingerprint=self._struck_out(said.fingerprint),
        )

    async def _read(self, response: Any) -> bytes:
        """A reply's body; of an error only the beginning matters."""
        good = response.status == 200
        try:
            return await read_body(response, LARGEST_REPLY if good else LARGEST_COMPLAINT)
        except TooLarge as large:
            if good:
                raise Refused(f"a reply of more than {LARGEST_REPLY >> 20} MB") from None
            return large.start
        except ValueError as error:
            if good:
                raise Trouble(f"a reply that can not be read: {error}") from None
            return b""

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
        _fingerprint(said.get("system_fingerprint")),
    )


def _typed(value: Any, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise TypeError
    return value


def _tokens(count: Any) -> int | None:
    return count if type(count) is int and 0 <= count <= MOST_TOKENS else None


def _fingerprint(said: Any) -> str:
    return whole_text(said[:LONGEST_FIELD]) if isinstance(said, str) else ""


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
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0
