"""Any OpenAI-compatible endpoint, `openai:MODEL@URL`: vLLM, llama.cpp, hosted; several images a question."""

from __future__ import annotations

import asyncio
import json
import os
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from hashlib import blake2b
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from ..canonical import content_id
from ..errors import UserError
from ._endpoint import Endpoint, Refused, Said
from ._model import Memory, Options, Prompt, Reply, Setting

HOSTED = "https://api.openai.com/v1"
FORM = "openai:MODEL@http://HOST:PORT/v1"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Paid = tuple[Said, float]  # a completion, and the seconds it took


class OpenAI:
    """Asks one prompt at a time (`ask`), many of them at once; a reply that is known is not paid for again.

    Use it as `async with model:`, or call `predict`, which does so itself.
    """

    def __init__(self, model: str, url: str, key: str, options: Options, memory: Memory | None) -> None:
        self._model, self._url, self._options, self._memory = model, url, options, memory
        self._endpoint = Endpoint(f"{url}/chat/completions", key, options)
        self._asking: dict[str, asyncio.Task[Paid]] = {}
        self.in_flight = options.in_flight
        self.paid = 0  # calls made; the others were known

    async def __aenter__(self) -> OpenAI:
        await self._endpoint.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        calls = list(self._asking.values())
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        self._asking.clear()
        await self._endpoint.close()

    def predict(self, batch: Sequence[Prompt]) -> list[Reply]:
        async def all_of_them() -> list[Reply]:
            gate = asyncio.Semaphore(self.in_flight)

            async def one(prompt: Prompt) -> Reply:
                async with gate:
                    return await self.ask(prompt)

            async with self:
                return list(await asyncio.gather(*map(one, batch)))

        return asyncio.run(all_of_them())

    async def ask(self, prompt: Prompt) -> Reply:
        """The reply to one prompt, from memory where it was given before."""
        key = self._key(prompt)
        known = self._known(key)
        if known is None:
            task = self._asking.get(key)  # the same prompt may be under way already
            if task is None:
                task = self._asking[key] = asyncio.create_task(self._pay(key, prompt))
            try:
                known = await task
            except Refused as error:
                return Reply(status="failed", reason=str(error))
            finally:
                self._asking.pop(key, None)
        return self._reply(*known)

    def _known(self, key: str) -> Paid | None:
        kept = self._memory.get(key) if self._memory is not None else None
        if kept is None:
            return None
        try:
            fields = json.loads(kept)
            seconds = float(fields.pop("seconds"))
            said = Said(**fields)
        except (ValueError, KeyError, TypeError, AttributeError):
            return None  # kept by another version; it is asked anew
        return (said, seconds) if isinstance(said.text, str) else None

    async def _pay(self, key: str, prompt: Prompt) -> Paid:
        said, seconds = await self._endpoint.post(self._body(prompt), key)
        self.paid += 1
        seconds = round(seconds, 4)
        if self._memory is not None:
            self._memory.put(key, json.dumps(asdict(said) | {"seconds": seconds}, ensure_ascii=False))
        return said, seconds

    def _parameters(self) -> dict[str, Any]:
        o = self._options
        all_of_them = {"max_tokens": o.max_tokens, "temperature": o.temperature, **o.parameters}
        return {"model": self._model} | {k: v for k, v in all_of_them.items() if v is not None}

    def _body(self, prompt: Prompt) -> bytes:
        """The request in JSON pieces: to encode a picture's text again would take a millisecond."""
        text = json.dumps({"type": "text", "text": prompt.text}, ensure_ascii=False).encode()
        content = b",".join([*map(_image_part, prompt.images), text])
        rest = json.dumps(self._parameters(), ensure_ascii=False).encode()
        return b'{"messages":[{"role":"user","content":[' + content + b"]}]," + rest[1:]

    def _key(self, prompt: Prompt) -> str:
        """Of everything that the reply depends on."""
        images = [_digest(png) for png in prompt.images]
        return content_id([self._url, self._parameters(), prompt.text, images])

    def _reply(self, said: Said, seconds: float) -> Reply:
        tokens = cost = None
        if isinstance(said.read, int) and isinstance(said.wrote, int):
            tokens = said.read + said.wrote
            if self._options.price is not None:
                cost = (said.read * self._options.price[0] + said.wrote * self._options.price[1]) / 1e6
        cut = "cut at max_tokens" if said.ended == "length" else ""
        return Reply(raw=said.text, reason=cut, seconds=seconds, cost=cost, tokens=tokens)


@lru_cache(maxsize=64)  # questions about one image come one after the other
def _image_part(png: bytes) -> bytes:
    url = b"data:image/png;base64," + b64encode(png)
    return b'{"type":"image_url","image_url":{"url":"' + url + b'"}}'


@lru_cache(maxsize=64)
def _digest(png: bytes) -> str:
    return blake2b(png, digest_size=16).hexdigest()


def read_target(target: str) -> tuple[str, str]:
    """MODEL and URL; a URL that carries a secret is refused, for the run's log would hold it."""
    named = re.fullmatch(r"(.*?)@(\w+://.*)", target)
    model, url = named.groups() if named else (target, os.environ.get("OPENAI_BASE_URL", HOSTED))
    try:
        parts = urlsplit(url)
        carries = parts.username or parts.password or parts.query or parts.fragment
        _ = parts.port
    except ValueError as error:
        if "@" in url.partition("://")[2] or "?" in url or "#" in url:
            raise UserError(f"the URL of the endpoint can not be read; write {FORM}") from None
        raise UserError(f"{url} is not a URL ({error}); write {FORM}") from None
    if carries:
        raise UserError(
            "the URL of an endpoint must not carry a user, a password or a query, nor a part after #: they "
            "would be kept in the run's log; put the key into the environment variable OPENAI_API_KEY"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname or not model:
        raise UserError(f"model 'openai:{target}' is not of the form {FORM}")
    return model, url.rstrip("/")


def build(target: str, setting: Setting) -> OpenAI:
    """The key comes from the environment and goes nowhere but into the request's header."""
    model, url = read_target(target)
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
    return OpenAI(model, url, key, options, setting.memory)
