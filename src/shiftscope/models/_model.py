"""Model: what is asked, what comes back, and the one method between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from ..answer import Answer, read_answer
from ..errors import UserError, unknown
from ..question import Question
from ..result import AS_IS, MISSING, STATUSES
from ..scene import Scene
from ..schema import OPEN, Schema

SHOWN = 60  # characters of a value that a complaint quotes


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question as a model is asked it, under one condition."""

    question: Question  # without its answer
    text: str = ""  # the whole prompt, for a model that reads language
    images: tuple[bytes, ...] = ()  # PNG
    scenes: tuple[Scene, ...] = ()  # what the images or the scene text show; for models that see perfectly
    scene_text: str = ""  # where the condition gives the scene in words; part of `text`
    program_text: str = ""  # where the condition gives the program; part of `text`
    condition: str = AS_IS


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model gave: an answer, or raw text that is still to be read, or why there is neither."""

    raw: str = ""
    answer: Answer | None = None
    status: str = ""  # undefined, failed or missing; empty where there is an answer or text to read
    reason: str = ""
    seconds: float | None = None  # the model's own time, where the model knows it better than its caller
    cost: float | None = None
    tokens: int | None = None  # read and written, together
    belief: float | None = None
    trace: str = ""
    program: str = ""
    stored: float | None = None  # seconds since 1970 when the cache kept it; None where it was just given
    fingerprint: str = ""  # what a server calls the system that replied


class Model(Protocol):
    """Anything with this method; `batch`, where a model has it, is how many prompts it likes at once.

    `ready(prompts)`, where it has that, is called before each batch, and its time is not that of replies.
    `identity(before)`, where it has that, gives fields of a run's spec: by content, what its replies depend
    on besides its name and options. `before` is the spec of the run that is resumed, if one is.
    """

    def predict(self, batch: Sequence[Prompt]) -> list[Reply]: ...


def identity_of(model: Model, before: Mapping[str, Any]) -> dict[str, Any]:
    """What a run's spec says of a model by content; nothing of one whose name says all."""
    return dict(model.identity(before)) if hasattr(model, "identity") else {}


class Kept(NamedTuple):
    """What a memory holds under a key, and since when, in seconds since 1970 where that is known."""

    value: str
    stored: float | None


class Memory(Protocol):
    """Where replies that cost something are kept, by content."""

    def get(self, key: str) -> Kept | None: ...

    def put(self, key: str, value: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Options:
    """How models run; a model takes what concerns it. The lower half changes no reply."""

    seed: int = 0
    max_tokens: int = 512  # written by the model
    temperature: float = 0.0
    parameters: Mapping[str, Any] = field(
        default_factory=dict
    )  # sent to an endpoint as they are; null drops one
    dtype: str = "auto"  # float32, bfloat16, float16
    trust_remote_code: bool = False  # run code of a transformers model's own, and unpickle its weights
    batch: int = 8  # prompts at once, for models run here
    device: str = "auto"  # cpu, cuda, cuda:1, mps
    in_flight: int = 16  # calls to an endpoint at once
    timeout: float = 120.0  # seconds a call
    retries: int = 8
    price: tuple[float, float] | None = None  # for a million tokens read, and written
    key_env: str = "OPENAI_API_KEY"  # the environment variable that holds the key


def _nothing() -> Iterable[Question]:
    return ()


def _say_nothing(sentence: str) -> None:
    pass


def _no_images() -> Iterable[tuple[str, bytes]]:
    return ()


def _unseen(question: Question) -> Sequence[Scene]:
    return ()


DEFAULTS = Options()


@dataclass(frozen=True, slots=True)
class Setting:
    """What a model is built from besides its name."""

    train: Callable[[], Iterable[Question]] = _nothing  # questions to learn from, with their answers
    schema: Schema = OPEN  # of the data it learned from, or will be asked about where it learned elsewhere
    options: Options = DEFAULTS
    memory: Memory | None = None
    choosing: Callable[[], Iterable[Question]] = _nothing  # of the IID val split: to choose an epoch by
    scenes: Callable[[Question], Sequence[Scene]] = _unseen  # what the images of these questions show
    shown: Callable[[], Iterable[tuple[str, bytes]]] = _no_images  # what will be asked about: names, PNG
    warn: Callable[[str], None] = _say_nothing  # tells the user a sentence


class Stopped(UserError):
    """A model raised an error of its own; what it replied before is good."""


def replies(model: Model, batch: Sequence[Prompt], name: str = "") -> list[Reply]:
    """The model's replies, checked; a class of one's own may also return plain text."""
    who = f"model {(name or type(model).__name__)!r}"
    made = model.predict(batch)
    if isinstance(made, str | bytes | Mapping) or not isinstance(made, Iterable):
        raise UserError(f"{who} gave {_short(made)} instead of a list of replies")
    made = list(made)
    if len(made) != len(batch):
        raise UserError(f"{who} gave {len(made)} replies to {len(batch)} prompts")
    return [checked(r, f"{who}, question {p.question.id}") for r, p in zip(made, batch, strict=True)]


def checked(reply: Any, where: str) -> Reply:
    """A reply whose fields are what they should be; a UserError says which is not."""
    if isinstance(reply, str):
        return Reply(raw=whole_text(reply))
    if not isinstance(reply, Reply):
        raise UserError(f"{where}: {_short(reply)} is neither text nor a Reply")
    for field_name in ("raw", "status", "reason", "trace", "program", "fingerprint"):
        if not isinstance(getattr(reply, field_name), str):
            raise UserError(f"{where}: {field_name} must be text, not {_short(getattr(reply, field_name))}")
    if reply.status not in ("", MISSING, *STATUSES):
        raise unknown("status", reply.status, ("undefined", "unreadable", "failed", MISSING), where)
    try:
        answer = read_answer(_plain(reply.answer))
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
    return Reply(
        raw=whole_text(reply.raw),
        answer=whole_text(answer) if isinstance(answer, str) else answer,
        status=""
        if reply.status == "answered"
        else reply.status,  # text without an answer is still to be read
        reason=whole_text(reply.reason),
        seconds=_number(reply.seconds, "seconds", where),
        cost=_number(reply.cost, "cost", where),
        tokens=_count(reply.tokens, where),
        belief=_number(reply.belief, "belief", where, most=1),
        trace=whole_text(reply.trace),
        program=whole_text(reply.program),
        stored=_number(reply.stored, "stored", where),
        fingerprint=whole_text(reply.fingerprint),
    )


def whole_text(text: str) -> str:
    """Without halves of letters (lone surrogates), which no file can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _plain(value: Any) -> Any:
    """A number of numpy or torch as Python's own."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    try:
        return value.item()
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return value


def _number(value: Any, what: str, where: str, most: float = math.inf) -> float | None:
    if value is None:
        return None
    number = _plain(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= most:
        raise UserError(
            f"{where}: {what} must be a number from 0 {'up' if most == math.inf else f'to {most:g}'}, "
            f"not {_short(value)}"
        )
    if number == math.inf:
        raise UserError(f"{where}: {what} must be finite")
    return float(number)


def _count(value: Any, where: str) -> int | None:
    number = _plain(value)
    if number is None or (type(number) is int and 0 <= number < 1 << 62):
        return number
    raise UserError(f"{where}: tokens must be a whole number from 0 up, not {_short(value)}")


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
