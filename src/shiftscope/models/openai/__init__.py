"""Any OpenAI-compatible endpoint, `openai:MODEL@URL`: vLLM, llama.cpp, hosted; several images per question.

The words of the prompt are in prompt.py; here they and the images become the JSON of a request.
"""

import asyncio
import json
import os
import re
import time
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Self
from urllib.parse import urlsplit

from ...errors import UserError
from ...model import ModelOptions, ModelSetting, ModelTraits, Prompt, Response, ServerIdentity
from ...records import content_id
from ...result import TRUNCATED
from ...schema import Schema
from ...token_usage import CallUsage
from .endpoint import CallRefused, Completion, Endpoint

TRAITS = ModelTraits(target="openai:MODEL@URL", prompted=True, cached=True)
HOSTED = "https://api.openai.com/v1"
FORM = "openai:MODEL@http://HOST:PORT/v1"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

KEY_VERSION = 2  # the form of the keys; another form never meets a response cached under this one


class OpenAI:
    """Sends one prompt per call (`ask`), many calls at once; a response that is cached is not paid for again.

    A cached response is known by the prompt, the parameters, the URL and what the server there says of itself. One
    that came with a `system_fingerprint` is used only once a new response came with the same.

    Use it as `async with model:`, or call `predict`, which does so itself.
    """

    def __init__(self, model: str, url: str, key: str, setting: ModelSetting) -> None:
        options = setting.options
        self._model, self._url, self._options, self._memory = model, url, options, setting.memory
        self._endpoint = Endpoint(url, model, key, options, setting.warn)
        self._identity: ServerIdentity | None = None
        self._calls: dict[str, asyncio.Task[Completion]] = {}  # under way, by key
        self._own: set[str] = set()  # keys of what this object paid for
        self.in_flight = options.in_flight
        self.paid = 0  # calls made; the others were cached
        self.fingerprints: set[str] = set()  # of the responses it paid for; "" where one came without
        self.unconfirmed = 0  # cached ones without a fingerprint, used before the server was known to give one

    async def __aenter__(self) -> Self:
        await self._endpoint.open()
        try:
            self._identity = await self._endpoint.identify(patient=True)
        except BaseException:
            await self._endpoint.close()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        calls = list(self._calls.values())
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        self._calls.clear()
        await self._endpoint.close()

    def identify(self, *, patient: bool = False) -> ServerIdentity | None:
        """What the server says of itself; None where it cannot be reached, unless `patient`."""

        async def identify() -> ServerIdentity | None:
            await self._endpoint.open()
            try:
                return await self._endpoint.identify(patient=patient)
            finally:
                await self._endpoint.close()

        return asyncio.run(identify())

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        async def ask_all() -> list[Response]:
            gate = asyncio.Semaphore(self.in_flight)

            async def ask_one(prompt: Prompt) -> Response:
                async with gate:
                    return await self.ask(prompt)

            async with self:
                return list(await asyncio.gather(*map(ask_one, batch)))

        return asyncio.run(ask_all())

    async def ask(self, prompt: Prompt) -> Response:
        """The response to one prompt, from the cache where the same server gave it before."""
        key = self._build_key(prompt)
        known = self._read_cache(key)
        while known is not None and known.fingerprint and not self.fingerprints and self._calls:
            # Only a new response says what the server calls itself now: one is under way.
            await asyncio.wait(self._calls.values(), return_when=asyncio.FIRST_COMPLETED)
        if known is not None and known.fingerprint in (self.fingerprints or ("",)):  # as far as known, of this system
            self.unconfirmed += not self.fingerprints
            return self._make_response(known, key)
        task = self._calls.get(key)  # the same prompt may be under way already
        if task is None:
            task = self._calls[key] = asyncio.create_task(self._request_completion(key, prompt))
        try:
            return self._make_response(await task, key)
        except CallRefused as error:
            usage = (CallUsage(error.call, *error.spent),) if any(error.spent) else ()
            return Response(status="failed", reason=str(error), usage=usage)

    def _build_key(self, prompt: Prompt) -> str:
        """Of everything that the response depends on.

        Where chance is part of it, one of several samples is a response of its own, and so is one of another seed:
        questions that are asked in the same words about the same images do not share their samples.
        """
        parameters = self._request_parameters(prompt)
        parts: list[Any] = [self._identity, parameters, prompt.text, [*map(_digest_image, prompt.images)]]
        parts += [["system", prompt.system]] if prompt.system else []
        if parameters.get("temperature", 1) and self._options.seed:
            parts.append(["seed", self._options.seed])
        parts += [["sample", prompt.sample, prompt.question.id]] if prompt.sample is not None else []
        return content_id([KEY_VERSION, self._url, *parts])

    def _read_cache(self, key: str) -> Completion | None:
        cached = self._memory.get(key) if self._memory is not None else None
        if cached is None:
            return None
        try:
            fields = json.loads(cached.value)
            fields["seconds"] = float(fields["seconds"])
            fields["spent"] = tuple(fields.get("spent", (0, 0)))
            completion = Completion(**fields, stored=None if key in self._own else cached.stored)
        except (ValueError, KeyError, TypeError, AttributeError):
            return None  # cached by another version; the server is called again
        if not isinstance(completion.text, str) or not isinstance(completion.fingerprint, str):
            return None
        return completion

    async def _request_completion(self, key: str, prompt: Prompt) -> Completion:
        try:
            completion = await self._endpoint.post(self._build_body(prompt), key)
            self.paid += 1
            self._own.add(key)
            self.fingerprints.add(completion.fingerprint)
            if self._memory is not None:
                fields = {name: value for name, value in asdict(completion).items() if name != "stored"}
                self._memory.put(key, json.dumps(fields, ensure_ascii=False))
            return completion
        except CallRefused as error:
            error.call = f"{key} {time.time_ns()}"  # another than that of a later call for the same
            raise
        finally:
            self._calls.pop(key, None)

    def _request_parameters(self, prompt: Prompt) -> dict[str, Any]:
        """What is sent beside the messages; a seed of the user's own is another for each sample."""
        o = self._options
        all_of_them = {"max_tokens": o.max_tokens, "temperature": o.temperature, **o.parameters}
        if prompt.sample and type(all_of_them.get("seed")) is int:
            all_of_them["seed"] += prompt.sample
        return {"model": self._model} | {k: v for k, v in all_of_them.items() if v is not None}

    def _build_body(self, prompt: Prompt) -> bytes:
        """The request in JSON pieces: to encode a picture's text again would take a millisecond."""
        text = json.dumps({"type": "text", "text": prompt.text}, ensure_ascii=False).encode()
        content = b",".join([*map(_encode_image_part, prompt.images), text])
        rest = json.dumps(self._request_parameters(prompt), ensure_ascii=False).encode()
        system = json.dumps({"role": "system", "content": prompt.system}, ensure_ascii=False).encode() + b","
        messages = (system if prompt.system else b"") + b'{"role":"user","content":[' + content + b"]}"
        return b'{"messages":[' + messages + b"]," + rest[1:]

    def _make_response(self, completion: Completion, key: str) -> Response:
        read, wrote, price = completion.read, completion.wrote, self._options.price
        tokens = cost = None
        if isinstance(read, int) and isinstance(wrote, int):
            tokens = read + wrote
            cost = (read * price[0] + wrote * price[1]) / 1e6 if price is not None else None
        return Response(
            raw=completion.text,
            reason=TRUNCATED if completion.ended == "length" else "",
            seconds=completion.seconds,
            cost=cost,
            tokens=tokens,
            usage=(CallUsage(key, *_add_spent(read, wrote, completion.spent)),),
            trace=completion.reasoning,
            stored=completion.stored,
            fingerprint=completion.fingerprint,
        )


def _add_spent(read: Any, wrote: Any, spent: tuple[int, int]) -> tuple[int | None, int | None]:
    """The tokens of a call with those of its attempts that came to nothing; None where the server counts none."""
    counted = isinstance(read, int) and isinstance(wrote, int)
    return (read + spent[0], wrote + spent[1]) if counted else (None, None)


@lru_cache(maxsize=64)  # questions about one image come one after the other
def _encode_image_part(png: bytes) -> bytes:
    url = b"data:image/png;base64," + b64encode(png)
    return b'{"type":"image_url","image_url":{"url":"' + url + b'"}}'


@lru_cache(maxsize=64)
def _digest_image(png: bytes) -> str:
    return blake2b(png, digest_size=16).hexdigest()


def describe_run(target: str, options: ModelOptions, schema: Callable[[], Schema]) -> dict[str, Any]:
    """What a run's spec says of the model besides its name and prompt."""
    return {"parameters": dict(options.parameters), "price": list(options.price) if options.price else None}


def parse_target(target: str) -> tuple[str, str]:
    """MODEL and URL; a URL that carries a secret is refused, for the run's log would hold it."""
    named = re.fullmatch(r"(.*?)@(\w+://.*)", target)
    model, url = named.groups() if named else (target, os.environ.get("OPENAI_BASE_URL", HOSTED))
    try:
        parts = urlsplit(url)
        carries = parts.username or parts.password or parts.query or parts.fragment
        _ = parts.port
    except ValueError as error:
        if "@" in url.partition("://")[2] or "?" in url or "#" in url:
            raise UserError(f"the URL of the endpoint cannot be read; write {FORM}") from None
        raise UserError(f"{url} is not a URL ({error}); write {FORM}") from None
    if carries:
        raise UserError(
            "the URL of an endpoint must not carry a user, a password or a query, nor a part after #: they "
            "would be kept in the run's log; put the key into the environment variable OPENAI_API_KEY"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname or not model:
        raise UserError(f"model 'openai:{target}' is not of the form {FORM}")
    return model, url.rstrip("/")


def build(target: str, setting: ModelSetting) -> OpenAI:
    """The key comes from the environment and goes nowhere but into the request's header."""
    model, url = parse_target(target)
    options = setting.options
    if not _VARIABLE.fullmatch(options.key_env):
        raise UserError("--key-env takes the name of an environment variable, not the key itself")
    key = os.environ.get(options.key_env, "")
    if not (key.isascii() and key.isprintable()):
        raise UserError(
            f"the key in {options.key_env} has a line break or another character that no key has; set it anew"
        )
    if not key and url == HOSTED:
        raise UserError(f"model 'openai:{model}' needs a key: set the environment variable {options.key_env}")
    return OpenAI(model, url, key, setting)
