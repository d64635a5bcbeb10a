"""Endpoint: one POST to a chat-completions URL, with retries, waits and bounds on what a server may send.

What is sent: prompt.py has the words, `models/openai/__init__.py` the request.
"""

import asyncio
import json
import math
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from io import BytesIO
from typing import Any, TypeVar

from ...errors import UserError
from ...model import ModelOptions, ServerIdentity, replace_surrogates
from ...rng import derive
from ...server_identity import LONGEST_FIELD, format_identity, identities_differ, intersect_identities, read_listing

# Body: what an HTTP reply carries, bounded on the wire and unpacked: no server can fill the memory.

GZIP, ZLIB, DEFLATE = 31, 15, -15  # how zlib names them
PACKINGS = {"gzip": GZIP, "x-gzip": GZIP, "deflate": ZLIB}
CHUNK = 1 << 16  # bytes


class BodyTooLarge(Exception):
    """More bytes than the caller takes; `start` is what came before."""

    def __init__(self, start: bytes) -> None:
        super().__init__()
        self.start = start


async def read_body(response: Any, most: int) -> bytes:
    """The whole body, unpacked; BodyTooLarge where it is more than `most` bytes, packed or not.

    For a session with `auto_decompress=False`: unpacking is bounded here. A packing that is not known, or is
    broken off, is a ValueError. The response is closed unless its body was read to the end.
    """
    packing = response.headers.get("Content-Encoding", "identity").strip().lower()
    if packing not in ("", "identity", *PACKINGS):
        response.close()
        raise ValueError(f"packed as {packing[:40]!r}")
    unpack = BodyDecoder(PACKINGS[packing], most) if packing in PACKINGS else None
    body, wire = BytesIO(), 0
    async for chunk in response.content.iter_chunked(CHUNK):
        wire += len(chunk)
        try:
            body.write(unpack.decode(chunk) if unpack else chunk)
        except zlib.error as error:
            response.close()
            raise ValueError(f"broken {packing} ({error})") from None
        if max(wire, body.tell()) > most:
            response.close()
            raise BodyTooLarge(body.getvalue()[:most])
    if unpack and unpack.stream is not None and not unpack.stream.eof:
        raise ValueError(f"broken {packing} (it ends too early)")
    return body.getvalue()


class BodyDecoder:
    """Unpacks piece by piece, and gives one byte above `most` at the most."""

    def __init__(self, packing: int, most: int) -> None:
        self.packing, self.left = packing, most + 1
        self.stream: Any = None

    def decode(self, data: bytes) -> bytes:
        unpacked = []
        while data and self.left > 0:
            if self.stream is None or self.stream.eof:
                raw = self.packing == ZLIB and data[0] & 0x0F != 8  # deflate is sent with and without a header
                self.stream = zlib.decompressobj(DEFLATE if raw else self.packing)
            piece = self.stream.decompress(data, self.left)
            self.left -= len(piece)
            unpacked.append(piece)
            data = self.stream.unused_data
        return b"".join(unpacked)


T = TypeVar("T")

FIRST_WAIT = 0.5  # seconds before the second attempt; doubles from one to the next
LONGEST_WAIT = 60.0
LONGEST_RETRY_AFTER = 600.0  # a server's own wish is granted up to here
WARN_WAIT = 10.0  # the user is warned of a longer wish
LARGEST_REPLY = 16 << 20  # bytes
LARGEST_ERROR = 1 << 16  # bytes that are read of an error
LARGEST_LISTING = 4 << 20  # bytes
LISTING_SECONDS = 5.0  # to wait for what a server says of itself
MOST_LISTINGS = 4  # at what a server says of itself, before an error is silence
CLOCK_SECONDS = 1.1  # between two looks at `created`: the current time has changed by then
RETRYABLE_STATUSES = frozenset({408, 409, 425, 429})  # and all from 500 up
GATEWAY_STATUSES = frozenset({502, 503, 504})  # what stands behind it may come back as another
MOST_TOKENS = 1 << 40  # a count above is none
MOST_FIRST_ATTEMPTS = 3  # attempts at a server that never answered


@dataclass(frozen=True, slots=True)
class Completion:
    """A completion: its text, why it ended, the tokens read and written where the server counts them."""

    text: str
    ended: str = ""
    read: int | None = None
    wrote: int | None = None
    fingerprint: str = ""  # `system_fingerprint`: what the server calls the system that responded
    seconds: float = 0.0  # that the call took
    stored: float | None = None  # seconds since 1970 when it was cached; None where it is new
    spent: tuple[int, int] = (0, 0)  # tokens read and written by attempts of this call that came to nothing
    reasoning: str = ""  # what a reasoning model thought first, where the server tells


class CallRefused(Exception):
    """This call failed for good; others may not. `spent`: tokens read and written in vain, by which `call`."""

    spent = (0, 0)
    call = ""


class RetryableError(Exception):
    """An attempt failed in a way that another may not; `wait` is what the server asked for.

    `reached`: whether a server answered; `broken`: whether it may be another one the next time; `spent`: tokens
    read and written in vain, where it says so.
    """

    spent = (0, 0)

    def __init__(self, what: str, wait: float = 0.0, *, reached: bool = True, broken: bool = False) -> None:
        super().__init__(what)
        self.wait, self.reached, self.broken = wait, reached, broken or not reached


class Endpoint:
    """A URL to post JSON to. The key is sent and never shown: what a server says of it is struck out."""

    def __init__(self, base: str, model: str, key: str, options: ModelOptions, warn: Callable[[str], None]) -> None:
        self._base, self._model, self._key, self._options, self._warn = base, model, key, options, warn
        self._url = f"{base}/chat/completions"
        self._session: Any = None
        self._reached = False
        self._not_before = 0.0  # a server that asks one call to wait means all of them
        self._warned_until = 0.0  # the wait that the user knows of
        self._identity: ServerIdentity | None = None
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

    async def identify(self, *, patient: bool = False) -> ServerIdentity | None:
        """What the server says of itself; None where it cannot be reached, which `patient` refuses."""
        attempt = 0
        while self._identity is None:
            attempt += 1
            try:
                first = await self._request_listing()
                if any("created" in entry for entry in first.values()):
                    await asyncio.sleep(CLOCK_SECONDS)  # some servers put the current time there
                self._identity = intersect_identities(first, await self._request_listing()) if first else {}
            except RetryableError as trouble:
                if trouble.reached and attempt >= MOST_LISTINGS:
                    self._identity = {}  # an error is silence
                elif not trouble.reached and not patient:
                    return None
                elif not trouble.reached and attempt >= MOST_FIRST_ATTEMPTS:
                    raise UserError(f"{self._url} cannot be reached ({trouble}); is the server up?") from None
                else:
                    await asyncio.sleep(FIRST_WAIT * 2 ** (attempt - 1))
        return self._identity

    async def _request_listing(self) -> ServerIdentity:
        """One look at what the server says of itself; a RetryableError where another may say more."""
        import aiohttp

        try:
            async with asyncio.timeout(LISTING_SECONDS), self._session.get(f"{self._base}/models") as response:
                if response.status in RETRYABLE_STATUSES or response.status >= 500:
                    raise RetryableError(f"HTTP {response.status}")
                data = await read_body(response, LARGEST_LISTING) if response.status == 200 else b""
        except aiohttp.ClientConnectorError as error:
            raise RetryableError(error.strerror or type(error).__name__, reached=False) from None
        except (TimeoutError, aiohttp.ClientError, ConnectionError) as error:
            raise RetryableError(type(error).__name__) from None
        except (BodyTooLarge, ValueError):
            return {}
        listing = read_listing(self._redact_key(data.decode("utf-8", "replace")).encode(), self._model)
        if response.status == 200 and listing is None:
            raise RetryableError("what is no JSON")  # as a gateway gives whose server is not up yet
        return listing or {}

    async def _confirm_server(self) -> None:
        """After a call that broke off: refuse to go on with another server than the one that began."""
        if not self._broken or not self._identity:
            return
        try:
            now = await self._request_listing()
        except RetryableError:
            return  # the call that follows tells whether there is a server
        if identities_differ(self._identity, now):
            raise UserError(
                f"{self._base} is another server now: it says it is {format_identity(now)}, and it was "
                f"{format_identity(self._identity)}; what was answered before is kept, choose another folder for --out"
            )
        self._broken = not now

    async def post(self, body: bytes, name: str) -> Completion:
        """The completion, with the seconds its last attempt took; `name` spreads the waits of many calls."""
        spent = (0, 0)
        for attempt in range(1, self._options.retries + 2):
            while (left := self._not_before - time.monotonic()) > 0:
                await asyncio.sleep(left)
            await self._confirm_server()
            start = time.perf_counter()
            try:
                completion = await self._attempt_post(body)
                self._reached = True
                return replace(completion, seconds=round(time.perf_counter() - start, 4), spent=spent)
            except CallRefused as refused:
                refused.spent = spent
                raise
            except RetryableError as trouble:
                spent = spent[0] + trouble.spent[0], spent[1] + trouble.spent[1]
                self._broken |= trouble.broken
                if trouble.reached:
                    self._reached = True
                elif not self._reached and attempt >= MOST_FIRST_ATTEMPTS:
                    raise UserError(f"{self._url} cannot be reached ({trouble}); is the server up?") from None
                if attempt > self._options.retries:
                    if not trouble.reached:
                        raise UserError(
                            f"{self._url} is no longer there ({trouble}); run the same command again to go on"
                        ) from None
                    failure = CallRefused(f"{trouble}, {attempt} times")
                    failure.spent = spent
                    raise failure from None
                self._delay_calls(trouble.wait)
                step = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1))
                await asyncio.sleep(step * float(derive("retry", name, attempt).uniform(0.5, 1.0)))
        raise AssertionError("a call ends in the loop")

    def _delay_calls(self, wish: float) -> None:
        """Hold all calls back for as long as the server wishes; the user is warned of a long wait once."""
        if not wish:
            return
        granted, now = min(wish, LONGEST_RETRY_AFTER), time.monotonic()
        self._not_before = max(self._not_before, now + granted)
        if wish > WARN_WAIT and now >= self._warned_until:
            self._warned_until = now + granted
            then = "waiting" if wish <= granted else f"trying again after {granted:g} s, the longest wait"
            self._warn(f"{self._base} asked to wait {wish:,.0f} s; {then}")

    async def _attempt_post(self, body: bytes) -> Completion:
        import aiohttp

        try:
            async with asyncio.timeout(self._options.timeout), self._session.post(self._url, data=body) as response:
                status, wait = response.status, response.headers.get("Retry-After", "")
                data = await self._read_response_body(response)
        except TimeoutError:
            raise RetryableError(f"no reply within {self._options.timeout:g} s", broken=True) from None
        except aiohttp.ClientConnectorError as error:
            raise RetryableError(error.strerror or type(error).__name__, reached=False) from None
        except (aiohttp.ClientError, ConnectionError) as error:
            raise RetryableError(f"the connection broke ({type(error).__name__})", broken=True) from None
        if status in RETRYABLE_STATUSES or status >= 500:
            if b"insufficient_quota" in data:
                raise UserError(f"{self._url}: the account's quota is used up; run the same command again then")
            raise RetryableError(f"HTTP {status}", _parse_retry_after(wait), broken=status in GATEWAY_STATUSES)
        if status in (401, 403):
            hint = f"set the environment variable {self._options.key_env}"
            raise UserError(f"{self._url} refused the key (HTTP {status}); {hint}")
        if status == 404:
            raise UserError(f"{self._url}: HTTP 404, {self._read_error(data)}; check the URL and the model's name")
        if status != 200:
            raise CallRefused(f"HTTP {status}, {self._read_error(data)}")
        reply: Any = None
        try:
            reply = json.loads(data)
            found = read_completion(reply)
        except (ValueError, KeyError, TypeError, IndexError, RecursionError):
            failure = RetryableError("a reply that is not a whole chat completion")
            read, wrote = read_usage(reply)
            failure.spent = read or 0, wrote or 0
            raise failure from None
        texts = ("text", "ended", "fingerprint", "reasoning")
        fields: dict[str, Any] = {n: self._redact_key(getattr(found, n)) for n in texts}
        return replace(found, **fields)

    async def _read_response_body(self, response: Any) -> bytes:
        """A response's body; of an error only the beginning matters."""
        good = response.status == 200
        try:
            return await read_body(response, LARGEST_REPLY if good else LARGEST_ERROR)
        except BodyTooLarge as large:
            if good:
                raise CallRefused(f"a reply of more than {LARGEST_REPLY >> 20} MB") from None
            return large.start
        except ValueError as error:
            if good:
                raise RetryableError(f"a reply that cannot be read: {error}") from None
            return b""

    def _read_error(self, data: bytes) -> str:
        """What the server says is wrong, on one line, without the key."""
        text = data.decode("utf-8", "replace")
        try:
            error = json.loads(text)["error"]
            text = str(error["message"] if isinstance(error, dict) else error)
        except (ValueError, KeyError, TypeError, RecursionError):
            pass
        return " ".join(self._redact_key(replace_surrogates(text)).split())[:200] or "nothing said"

    def _redact_key(self, text: str) -> str:
        return text.replace(self._key, "[key]") if self._key else text


def read_completion(data: Any) -> Completion:
    """What is worth keeping of a completion; one of another form is a TypeError, KeyError or IndexError."""
    choice = data["choices"][0]
    message = _require_type(choice["message"], dict)
    content = message.get("content")
    if isinstance(content, list):  # some servers answer in parts
        parts = [_require_type(part, dict) for part in content]
        content = "".join(_require_type(part["text"], str) for part in parts if "text" in part)
    text = _require_type("" if content is None else content, str) or _require_type(message.get("refusal") or "", str)
    _require_type({} if data.get("usage") is None else data["usage"], dict)
    read, wrote = read_usage(data)
    thought = message.get("reasoning_content") or message.get("reasoning")  # vLLM and others; the answer is apart
    ended, fingerprint = (
        replace_surrogates(value) if isinstance(value, str) else ""
        for value in (choice.get("finish_reason"), data.get("system_fingerprint"))
    )
    reasoning = replace_surrogates(thought) if isinstance(thought, str) else ""
    fingerprint = fingerprint[:LONGEST_FIELD]
    return Completion(replace_surrogates(text), ended, read, wrote, fingerprint, reasoning=reasoning)


def read_usage(data: Any) -> tuple[int | None, int | None]:
    """The tokens read and written that a server's reply counts; None where it does not."""
    usage = data.get("usage") if isinstance(data, dict) else None
    usage = usage if isinstance(usage, dict) else {}
    counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
    read, wrote = (n if type(n) is int and 0 <= n <= MOST_TOKENS else None for n in counts)
    return read, wrote


def _require_type(value: Any, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise TypeError
    return value


def _parse_retry_after(wish: str) -> float:
    """`Retry-After`, as seconds or as a date; nothing where it cannot be read."""
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
