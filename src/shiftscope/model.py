"""Model: the protocol, the records it takes and returns, and the one string that names a model.

A Prompt is what a model is given, a Response what it returns. `build_model` reads a name such as `oracle`,
`nsvqa:FOLDER`, `hf:ORG/MODEL` or `package.module:Class`.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from .answer import Answer, read_answer
from .errors import UserError, unknown
from .files import digest_of
from .question import Question
from .registry import MODELS
from .result import AS_IS, MISSING, STATUSES
from .scene import Scene
from .schema import OPEN, Schema

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch

    from .trainable import Trainable

ServerIdentity = dict[str, dict[str, Any]]  # by the model's id, what the server says of it
Pixels: TypeAlias = "npt.NDArray[np.uint8]"  # [height, width, 3]
LONGEST_SHOWN = 60  # characters of a value that an error quotes
THREADS = 4  # that decode images
TEXT, IMAGES, SCENES, PROGRAMS = "text", "images", "scenes", "programs"
EVERYTHING = frozenset((TEXT, IMAGES, SCENES, PROGRAMS))


class Picture:
    """One image as a model gets it: `png()` or `tensor(device)`, each made when it is asked for.

    It is backed by PNG bytes, or by a row of a block of rendered images, which may lie on a GPU. Pictures of
    one `id` are equal; the id of a block's row is given by whoever rendered it, else computed from the pixels.
    """

    __slots__ = ("_id", "_png", "block", "name", "row")

    def __init__(self, png: bytes = b"", *, block: Any = None, row: int = 0, id: str = "", name: str = "") -> None:
        self._png, self._id = png, id
        self.block = block  # a torch tensor or NumPy array [image, height, width, 3] uint8, or None
        self.row = row
        self.name = name  # what errors call it

    @property
    def id(self) -> str:
        if not self._id:
            self._id = digest_of(self._png if self.block is None else self.pixels().tobytes())
        return self._id

    def png(self) -> bytes:
        """The image as PNG bytes; of a block's row they are encoded anew by every call."""
        if self.block is None:
            return self._png
        from PIL import Image

        buffer = io.BytesIO()
        Image.fromarray(self.pixels()).save(buffer, "PNG")
        return buffer.getvalue()

    def pixels(self) -> Pixels:
        """[height, width, 3] uint8; an image that cannot be decoded is refused by its name."""
        import numpy as np

        if self.block is not None:
            row = self.block[self.row]
            return np.asarray(row.cpu() if hasattr(row, "cpu") else row)
        from PIL import Image, UnidentifiedImageError

        broken = (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError)
        try:
            with Image.open(io.BytesIO(self._png)) as opened:
                return np.array(opened.convert("RGB"))
        except broken as error:
            why = " ".join(str(error).split()) or type(error).__name__
            raise UserError(f"image {self.name!r} cannot be read ({why})") from None

    def tensor(self, device: str | torch.device = "cpu") -> torch.Tensor:
        """[height, width, 3] uint8 on that device."""
        import torch

        return torch.as_tensor(self.pixels() if self.block is None else self.block[self.row]).to(device)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Picture) and (self is other or self.id == other.id)

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"Picture({self.name or self.id[:12]!r})"


def stack(
    pictures: Sequence[Picture], device: str | torch.device = "cpu", size: tuple[int, int] | None = None
) -> torch.Tensor:
    """[image, height, width, 3] uint8 on that device, in one copy.

    Of pictures that share a block it is a slice of the block where they follow each other there. With `size`,
    a width and height, every image is fitted to it (`fit_pixels`).
    """
    import numpy as np
    import torch

    if not pictures:
        raise UserError("there are no pictures to stack")
    block = pictures[0].block
    fits = block is not None and (size is None or (block.shape[2], block.shape[1]) == size)
    if fits and all(p.block is block for p in pictures):
        rows = [p.row for p in pictures]
        first = rows[0]
        in_turn = rows == list(range(first, first + len(rows)))
        return torch.as_tensor(block[first : first + len(rows)] if in_turn else block[rows]).to(device)
    with ThreadPoolExecutor(THREADS) as threads:
        read = threads.map(lambda p: p.pixels() if size is None else fit_pixels(p.pixels(), size), pictures)
        return torch.from_numpy(np.stack(list(read))).to(device)


def fit_pixels(pixels: Pixels, size: tuple[int, int]) -> Pixels:
    """The image at that width and height, whole and undistorted.

    One of another aspect ratio is centred, and its outermost pixels are repeated up to the edge.
    """
    import numpy as np
    from PIL import Image

    height, width = pixels.shape[:2]
    scale = min(size[0] / width, size[1] / height)
    inner = max(1, round(width * scale)), max(1, round(height * scale))
    if inner != (width, height):
        pixels = np.array(Image.fromarray(pixels).resize(inner, Image.Resampling.BILINEAR))
    if inner == size:
        return pixels
    left, top = (size[0] - inner[0]) // 2, (size[1] - inner[1]) // 2
    rest = (top, size[1] - inner[1] - top), (left, size[0] - inner[0] - left), (0, 0)
    return np.pad(pixels, rest, mode="edge")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question as a model is asked it, under one condition. It never carries the answer.

    A model that does not say it `reads` scenes or programs is given them only under a condition that puts them
    in words.
    """

    question: Question  # without its answer
    text: str = ""  # the whole prompt, for a model that reads language
    pictures: tuple[Picture, ...] = ()  # bytes are taken as PNG
    scenes: tuple[Scene, ...] = ()  # what the images or the scene text show; for models that see perfectly
    scene_text: str = ""  # where the condition gives the scene in words; part of `text`
    program_text: str = ""  # where the condition gives the program; part of `text`
    condition: str = AS_IS

    def __post_init__(self) -> None:
        if any(isinstance(p, bytes) for p in self.pictures):
            names = (*self.question.scenes, *(f"of question {self.question.id}" for _ in self.pictures))
            made = tuple(
                Picture(p, name=name) if isinstance(p, bytes) else p
                for p, name in zip(self.pictures, names, strict=False)
            )
            object.__setattr__(self, "pictures", made)

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
    belief: float | None = None
    trace: str = ""
    program: str = ""
    stored: float | None = None  # seconds since 1970 when the cache kept it; None where it was just given
    fingerprint: str = ""  # what a server calls the system that responded


class Model(Protocol):
    """Anything with this method. Where a model has them, these are used too:

    `reads`: what of a prompt it is given, of text, images, scenes and programs; else what its file says.
    `batch`: how many prompts it takes at once; `largest_batch`, where all their pictures are in memory anyway.
    `ready(prompts)`: called before each batch; its time does not count as time spent answering.
    `identity(before)`: fields of a run's spec that say by content what responses depend on besides the model's
    name and options. `before` is the spec of the run that is resumed, if there is one.
    `check_questions(questions, asked, where, warn)`: refuses a split that it cannot be run on.
    """

    def predict(self, batch: Sequence[Prompt]) -> list[Response]: ...


class Adaptable(Protocol):
    """A model that can use unlabelled test images: a condition of a run, recorded in its spec."""

    def adapt(self, pictures: Sequence[Picture], kind: str) -> Model:
        """A model adapted to these images; itself stays as it is."""
        ...


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
    dtype: str = "auto"  # float32, bfloat16, float16
    trace: bool = True  # tell how an answer came about, where a model can
    trust_remote_code: bool = False  # run code of a transformers model's own, and unpickle its weights
    batch: int = 8  # prompts at once, for models run here
    device: str = "auto"  # cpu, cuda, cuda:1, mps
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
    schema: Schema = OPEN  # of the data it learned from, or will be asked about where it learned elsewhere
    options: ModelOptions = DEFAULTS
    memory: ResponseCache | None = None
    choosing: Callable[[], Iterable[Question]] = tuple  # of the IID val split: to choose an epoch by
    scenes: Callable[[Question], Sequence[Scene]] = lambda question: ()  # what the images of these questions show
    shown: Callable[[], Iterable[tuple[str, bytes]]] = tuple  # the test images: names, PNG
    warn: Callable[[str], None] = lambda sentence: None  # shows the user a sentence


class ModelError(UserError):
    """A model raised an error of its own; what it replied before is good."""


def predict_checked(model: Model, batch: Sequence[Prompt], name: str = "") -> list[Response]:
    """The model's responses, checked; a class of one's own may also return plain text."""
    who = f"model {(name or type(model).__name__)!r}"
    made = model.predict(batch)
    if isinstance(made, str | bytes | Mapping) or not isinstance(made, Iterable):
        raise UserError(f"{who} gave {_shorten(made)} instead of a list of responses")
    made = list(made)
    if len(made) != len(batch):
        raise UserError(f"{who} gave {len(made)} responses to {len(batch)} prompts")
    return [check_response(r, f"{who}, question {p.question.id}") for r, p in zip(made, batch, strict=True)]


def check_response(response: Any, where: str) -> Response:
    """A response whose fields are what they should be; a UserError says which is not."""
    if isinstance(response, str):
        return Response(raw=replace_surrogates(response))
    if not isinstance(response, Response):
        raise UserError(f"{where}: {_shorten(response)} is neither text nor a Response")
    for field_name in ("raw", "status", "reason", "trace", "program", "fingerprint"):
        if not isinstance(getattr(response, field_name), str):
            raise UserError(f"{where}: {field_name} must be text, not {_shorten(getattr(response, field_name))}")
    if response.status not in ("", MISSING, *STATUSES):
        raise unknown("status", response.status, ("undefined", "unreadable", "failed", MISSING), where)
    try:
        answer = read_answer(_to_python_number(response.answer))
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
    return Response(
        raw=replace_surrogates(response.raw),
        answer=replace_surrogates(answer) if isinstance(answer, str) else answer,
        status="" if response.status == "answered" else response.status,  # text without an answer is still to be read
        reason=replace_surrogates(response.reason),
        seconds=_check_number(response.seconds, "seconds", where),
        cost=_check_number(response.cost, "cost", where),
        tokens=_check_count(response.tokens, where),
        belief=_check_number(response.belief, "belief", where, most=1),
        trace=replace_surrogates(response.trace),
        program=replace_surrogates(response.program),
        stored=_check_number(response.stored, "stored", where),
        fingerprint=replace_surrogates(response.fingerprint),
    )


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


def _check_number(value: Any, what: str, where: str, most: float = math.inf) -> float | None:
    if value is None:
        return None
    number = _to_python_number(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= most:
        raise UserError(
            f"{where}: {what} must be a number from 0 {'up' if most == math.inf else f'to {most:g}'}, "
            f"not {_shorten(value)}"
        )
    if number == math.inf:
        raise UserError(f"{where}: {what} must be finite")
    return float(number)


def _check_count(value: Any, where: str) -> int | None:
    number = _to_python_number(value)
    if number is None or (type(number) is int and 0 <= number < 1 << 62):
        return number
    raise UserError(f"{where}: tokens must be a whole number from 0 up, not {_shorten(value)}")


def _shorten(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


@dataclass(frozen=True, slots=True)
class Adaptation:
    """What a model does with unlabelled test images before it answers, by default."""

    kind: str
    images: int  # of the split, the first


@dataclass(frozen=True, slots=True)
class ModelTraits:
    """What a model's file says of the model before it is built, as `TRAITS`; a file may also leave that out."""

    target: str = ""  # how the model is named where something follows a colon: "openai:MODEL@URL"
    reads: frozenset[str] | None = frozenset((TEXT, IMAGES))  # None: known once it is built
    learns: bool = False  # from the train split, whenever it is built
    prompted: bool = False  # its responses depend on the wording of the prompt, and on how it samples
    cached: bool = False  # its responses cost something, so they are kept on disk
    stored: bool = False  # the target is a file or a folder
    answers_blind: bool = True  # whether its answers without images mean anything
    adaptation: Adaptation | None = None
    trainable: Trainable | None = None


def get_traits(kind: str) -> ModelTraits:
    """What the file of that name in the registry says of its model."""
    traits: ModelTraits = getattr(MODELS.load(kind), "TRAITS", DEFAULT_TRAITS)
    return traits


DEFAULT_TRAITS = ModelTraits()


# The one string that names a model: `oracle`, `nsvqa:FOLDER`, `hf:ORG/MODEL`, `package.module:Class`, ….


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
    names = MODELS.names()
    if kind in names and (form := get_traits(kind).target) and _is_prefix(kind, form):
        if target or (not colon and kind in form.split(" or ")):
            return ModelName(kind, target)
        raise UserError(f"model {text!r} lacks what to run; write {form}")
    for name in MODELS.find_names(r"^def claims\("):
        if MODELS.load(name).claims(text):
            return ModelName(name, text)
    forms = {name: getattr(module, "TRAITS", DEFAULT_TRAITS).target for name, module in MODELS.load_all()}
    if colon:
        listed = ", ".join(form for form in forms.values() if form)
        raise UserError(f"no model {text!r}: {kind!r} is neither a model nor a module; write {listed}")
    alone = [name for name, form in forms.items() if not form or name in form.split(" or ")]
    if text not in alone:
        raise UserError(f"{unknown('model', text, alone)} (shiftscope list models)")
    return ModelName(text)


def _is_prefix(kind: str, form: str) -> bool:
    """Whether a model's strings begin with its name, which those of a class of the user's own do not."""
    return form.startswith((f"{kind}:", f"{kind} or "))


def get_reads(text: str, model: Model | None = None) -> frozenset[str] | None:
    """What a model reads; None where it is known only once it is built."""
    own: frozenset[str] | None = getattr(model, "reads", None)
    return own if own is not None else parse_model_name(text).traits.reads


def build_model(text: str, setting: ModelSetting) -> Model:
    """The model a string names, ready to predict."""
    name = parse_model_name(text)
    model: Model = MODELS.load(name.kind).build(name.target, setting)
    return model
