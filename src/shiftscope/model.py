"""Model: the protocol, the records it takes and returns, and the one string that names a model.

A Prompt is what a model gets, a Response what it returns. `build_model` reads a name such as `oracle`,
`nsvqa:FOLDER`, `hf:ORG/MODEL` or `package.module:Class`. What stands behind a plus wraps a model: `updn+lmh:FOLDER`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from .answer import Answer, read_answer
from .deprecated import accept_old_field
from .errors import UserError, unknown
from .picture import Picture
from .question import Question
from .registry import MODELS, WRAPPERS
from .result import AS_IS, MISSING, STATUSES
from .scene import Scene
from .schema import OPEN, Schema
from .token_usage import CallUsage

if TYPE_CHECKING:
    from .trainable import Trainable

ServerIdentity = dict[str, dict[str, Any]]  # by the model's id, what the server says of it
LONGEST_SHOWN = 60  # characters of a value that an error quotes
TEXT, IMAGES, SCENES, PROGRAMS = "text", "images", "scenes", "programs"
PLUS = "+"  # between a model and what wraps it
EVERYTHING = frozenset((TEXT, IMAGES, SCENES, PROGRAMS))


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question as put to a model, under one condition. It never carries the answer.

    A model that does not say it `reads` scenes or programs gets them only under a condition that puts them in words.
    """

    question: Question  # without its answer
    text: str = ""  # the whole prompt, for a model that reads language
    pictures: tuple[Picture, ...] = ()  # bytes are taken as PNG
    scenes: tuple[Scene, ...] = ()  # what the images or the scene text show; for models that read scenes
    scene_text: str = ""  # where the condition gives the scene in words; part of `text`
    program_text: str = ""  # where the condition gives the program; part of `text`
    condition: str = AS_IS
    system: str = ""  # the system prompt, where the run has one
    phrasing: int = 0  # which of the run's instructions it ends with
    sample: int | None = None  # which of several responses to the same prompt this one is for

    def __post_init__(self) -> None:
        if any(isinstance(p, bytes) for p in self.pictures):
            names = (*self.question.scenes, *(f"of question {self.question.id}" for _ in self.pictures))
            named = zip(self.pictures, names, strict=False)
            pictures = tuple(Picture(p, name=name) if isinstance(p, bytes) else p for p, name in named)
            object.__setattr__(self, "pictures", pictures)

    @property
    def images(self) -> tuple[bytes, ...]:
        """The pictures as PNG bytes."""
        return tuple(picture.png() for picture in self.pictures)

    def restrict(self, reads: frozenset[str]) -> Prompt:
        """The prompt with only what a model reads, or what the condition puts in words for it."""
        hidden: dict[str, Any] = {}
        if self.pictures and IMAGES not in reads:
            hidden["pictures"] = ()
        if self.scenes and SCENES not in reads and not self.scene_text:
            hidden["scenes"] = ()
        if self.question.program is not None and PROGRAMS not in reads and not self.program_text:
            hidden["question"] = replace(self.question, program=None)
        return replace(self, **hidden) if hidden else self


@accept_old_field("belief", "confidence")
@dataclass(frozen=True, slots=True)
class Response:
    """What a model returns: an answer, or raw text that is still to be parsed, or why there is neither."""

    raw: str = ""
    answer: Answer | None = None
    status: str = ""  # undefined, failed or missing; empty where there is an answer or text to parse
    reason: str = ""
    seconds: float | None = None  # the model's own time, where the model knows it better than its caller
    cost: float | None = None
    tokens: int | None = None  # read and written, together
    usage: tuple[CallUsage, ...] = ()  # the call behind it, with the tokens that the server counts
    confidence: float | None = None  # the model's probability for its answer
    trace: str = ""
    program: str = ""
    stored: float | None = None  # seconds since 1970 when it was cached; None where it is new
    fingerprint: str = ""  # what a server calls the system that responded


@dataclass(frozen=True, slots=True, eq=False)
class AnswerColumns:
    """The answers to many prompts: which of a few each is, and how surely."""

    answers: tuple[Answer | None, ...]  # None: no answer
    codes: npt.NDArray[np.int64]  # [prompt] which of them
    confidence: npt.NDArray[np.float64]  # [prompt] NaN where there is none


class Model(Protocol):
    """Anything with this method. Where a model has them, these are used too:

    `reads`: what of a prompt it gets, of text, images, scenes and programs; else what its file says.
    `batch`: how many prompts it takes at once; `largest_batch`, where all their pictures are in memory anyway.
    `ready(prompts)`: called before each batch; its time does not count as time spent answering.
    `identity(before)`: fields of a run's spec that say by content what responses depend on besides the model's
    name and options. `before` is the spec of the run that is resumed, if there is one.
    `check_questions(questions, asked, where, warn)`: refuses a split that it cannot be run on.
    `adapt(pictures, kind)`: a model adapted to these unlabelled test images; itself stays as it is.
    `predict_columns(prompts)`: the same as `predict`, as columns, where answers are wanted and nothing else.
    """

    def predict(self, batch: Sequence[Prompt]) -> list[Response]: ...


class Adaptable(Protocol):
    """A model that can use unlabelled test images: a condition of a run, recorded in its spec."""

    adapted: tuple[str, ...] | None  # what was adapted and kept; None: not tried

    def adapt(self, pictures: Sequence[Picture], kind: str) -> Model:
        """A model adapted to these images; itself stays as it is."""


@runtime_checkable
class ServedModel(Protocol):
    """A model behind a server, which may be another one tomorrow."""

    fingerprints: set[str]  # of the responses it paid for; "" where one came without
    unconfirmed: int  # cached responses without a fingerprint, used before the server was known to give one

    def identify(self, *, patient: bool = False) -> ServerIdentity | None: ...


def get_identity(model: Model, before: Mapping[str, Any]) -> dict[str, Any]:
    """What a run's spec says of a model by content; nothing where the name says everything."""
    return dict(model.identity(before)) if hasattr(model, "identity") else {}


class CachedResponse(NamedTuple):
    """What the cache holds under a key, and since when, in seconds since 1970 where that is known."""

    value: str
    stored: float | None


class ResponseCache(Protocol):
    """Where responses that cost something are kept, by content."""

    def get(self, key: str) -> CachedResponse | None: ...

    def put(self, key: str, value: str) -> None: ...


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How models run; a model uses what concerns it. The lower half changes no response."""

    seed: int = 0
    max_tokens: int = 512  # written by the model
    temperature: float = 0.0
    parameters: Mapping[str, Any] = field(default_factory=dict)  # sent to an endpoint as they are; null drops one
    attention: str = "auto"  # of a transformers model: flash, sdpa, eager
    dtype: str = "auto"  # float32, bfloat16, float16
    trace: bool = True  # say how an answer came about, where a model can
    positions: str = "boxes"  # how a model that executes programs tells where things stand: one of its own ways
    trust_remote_code: bool = False  # run code of a transformers model's own, and unpickle its weights
    batch: int = 8  # prompts at once, for models run here
    device: str = "auto"  # cpu, cuda, cuda:1, mps; all (hf models): spread over all GPUs
    replicas: int = 1  # of a transformers model, each in a process and on GPUs of its own
    in_flight: int = 16  # calls to an endpoint at once
    timeout: float = 120.0  # seconds a call
    retries: int = 8
    price: tuple[float, float] | None = None  # for a million tokens read, and written
    key_env: str = "OPENAI_API_KEY"  # the environment variable that holds the key


DEFAULTS = ModelOptions()


@dataclass(frozen=True, slots=True)
class ModelSetting:
    """What a model is built from besides its name."""

    train: Callable[[], Iterable[Question]] = tuple  # questions to learn from, with their answers
    schema: Schema = OPEN  # of the data it learns from, or is run on where it learned elsewhere
    options: ModelOptions = DEFAULTS
    memory: ResponseCache | None = None
    choosing: Callable[[], Iterable[Question]] = tuple  # of the IID val split: to choose an epoch by
    scenes: Callable[[Question], Sequence[Scene]] = lambda question: ()  # what the images of these questions show
    shown: Callable[[], Iterable[tuple[str, bytes]]] = tuple  # the test images: names, PNG
    warn: Callable[[str], None] = lambda sentence: None  # shows the user a sentence


class ModelError(UserError):
    """A model raised an error of its own; its earlier responses are good."""


def predict_checked(model: Model, batch: Sequence[Prompt], name: str = "") -> list[Response]:
    """The model's responses, checked; a class of one's own may also return plain text."""
    who = f"model {(name or type(model).__name__)!r}"
    responses = model.predict(batch)
    if isinstance(responses, str | bytes | Mapping) or not isinstance(responses, Iterable):
        raise UserError(f"{who} gave {_shorten(responses)} instead of a list of responses")
    responses = list(responses)
    if len(responses) != len(batch):
        raise UserError(f"{who} gave {len(responses)} responses to {len(batch)} prompts")
    return [_check_response(r, f"{who}, question {p.question.id}") for r, p in zip(responses, batch, strict=True)]


def _check_response(response: Any, where: str) -> Response:
    """A response whose fields are what they should be; a UserError says which is not."""
    if isinstance(response, str):
        return Response(raw=replace_surrogates(response))
    if not isinstance(response, Response):
        raise UserError(f"{where}: {_shorten(response)} is neither text nor a Response")
    fields: dict[str, Any] = {name: getattr(response, name) for name in _TEXTS}
    for name, text in fields.items():
        if not isinstance(text, str):
            raise UserError(f"{where}: {name} must be text, not {_shorten(text)}")
        fields[name] = replace_surrogates(text)
    if response.status not in ("", MISSING, *STATUSES):
        raise unknown("status", response.status, ("undefined", "unreadable", "failed", MISSING), where)
    if response.status == "answered":
        fields["status"] = ""  # text without an answer is still to be parsed
    try:
        answer = read_answer(_to_python_number(response.answer))
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
    tokens = _to_python_number(response.tokens)
    if not (tokens is None or (type(tokens) is int and 0 <= tokens < 1 << 62)):
        raise UserError(f"{where}: tokens must be a whole number from 0 up, not {_shorten(response.tokens)}")
    for name, most in _NUMBERS.items():
        if (value := getattr(response, name)) is None:
            continue
        number = _to_python_number(value)
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= most:
            limit = "up" if most == math.inf else f"to {most:g}"
            raise UserError(f"{where}: {name} must be a number from 0 {limit}, not {_shorten(value)}")
        if number == math.inf:
            raise UserError(f"{where}: {name} must be finite")
        fields[name] = float(number)
    fields |= {"answer": replace_surrogates(answer) if isinstance(answer, str) else answer, "tokens": tokens}
    return Response(usage=response.usage, **fields)


_TEXTS = ("raw", "status", "reason", "trace", "program", "fingerprint")
_NUMBERS = {"seconds": math.inf, "cost": math.inf, "confidence": 1.0, "stored": math.inf}  # and the most of each


def replace_surrogates(text: str) -> str:
    """The text without lone surrogates, which no file can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _to_python_number(value: Any) -> Any:
    """A number of NumPy or torch as Python's own."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    try:
        return value.item()
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return value


def _shorten(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


NO_ADAPTATION = "none"
ADAPTATION_IMAGES = 64  # unlabelled images that a model is adapted to


@dataclass(frozen=True, slots=True)
class ModelTraits:
    """What a model's file says of the model before it is built, as `TRAITS`; a file may also leave that out."""

    target: str = ""  # how the model is named where something follows a colon: "openai:MODEL@URL"
    reads: frozenset[str] | None = frozenset((TEXT, IMAGES))  # None: known once it is built
    learns: bool = False  # from the train split, whenever it is built
    prompted: bool = False  # its responses depend on the wording of the prompt, and on how it samples
    cached: bool = False  # its responses cost something, so they are kept on disk
    replicable: bool = False  # whether several processes may each run one: its name and options say all that it needs
    stored: bool = False  # the target is a file or a folder
    answers_blind: bool = True  # whether its answers without images mean anything
    most_images: int | None = None  # that it looks at together; None: any number
    takes_actions: bool = True  # whether it can be told what is done to a scene first
    adaptations: tuple[str, ...] = ()  # kinds of test-time adaptation besides none
    adaptation_version: int = 0  # another number whenever adaptation changes
    positions: tuple[str, ...] = ()  # ways to tell where things stand, the usual one first
    trainable: Trainable | None = None


def is_kind(kind: str) -> bool:
    """Whether the registry has the model; `updn+lmh` is a model and what wraps it, which must be known."""
    base, *wrappers = kind.split(PLUS)
    if base not in MODELS.names():
        return False
    for name in wrappers:
        if name not in WRAPPERS.names():
            raise unknown("method", name, WRAPPERS.names(), kind)
    return True


def load_kind(kind: str) -> Any:
    """What the file of a model defines, as `models/__init__.py` lists it; wrapped by what stands behind each plus."""
    inner, plus, name = kind.rpartition(PLUS)
    return _wrap_kind(inner, name) if plus else MODELS.load(kind)


@cache
def _wrap_kind(inner: str, name: str) -> Any:
    return WRAPPERS.load(name).WRAPPER.wrap(load_kind(inner), inner, name)


def get_traits(kind: str) -> ModelTraits:
    """What the file of that name in the registry says of its model."""
    traits: ModelTraits = getattr(load_kind(kind), "TRAITS", DEFAULT_TRAITS)
    return traits


DEFAULT_TRAITS = ModelTraits()


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model of the registry, and what it is to be built for."""

    kind: str
    target: str = ""

    @property
    def traits(self) -> ModelTraits:
        return get_traits(self.kind)


def parse_model_name(text: str) -> ModelName:
    """Which model of the registry a string names.

    One whose file has a function `claims(text)` also takes strings that begin with no model's name.
    """
    kind, colon, target = text.partition(":")
    if is_kind(kind):
        form = get_traits(kind).target
        if not colon and (not form or kind in form.split(" or ")):
            return ModelName(kind)
        # the strings of a class of the user's own do not begin with the model's name
        if form.startswith((f"{kind}:", f"{kind} or ")):
            if target:
                return ModelName(kind, target)
            made = f", as `shiftscope train --model {kind}` makes one" if form == f"{kind}:FOLDER" else ""
            raise UserError(f"model {text!r} lacks what to run; write {form}{made}")
    for name in MODELS.find_names(r"^def claims\("):
        if MODELS.load(name).claims(text):
            return ModelName(name, text)
    forms = {name: getattr(module, "TRAITS", DEFAULT_TRAITS).target for name, module in MODELS.load_all()}
    if colon:
        listed = ", ".join(form for form in forms.values() if form)
        raise UserError(f"no model {text!r}: {kind!r} is neither a model nor a module; write {listed}")
    alone = [name for name, form in forms.items() if not form or name in form.split(" or ")]
    raise UserError(f"{unknown('model', text, alone)} (shiftscope list models)")


def get_reads(text: str, model: Model | None = None) -> frozenset[str] | None:
    """What a model reads; None where it is known only once it is built."""
    own: frozenset[str] | None = getattr(model, "reads", None)
    return own if own is not None else parse_model_name(text).traits.reads


def build_model(text: str, setting: ModelSetting) -> Model:
    """The model a string names, ready to predict."""
    name = parse_model_name(text)
    model: Model = load_kind(name.kind).build(name.target, setting)
    return model
