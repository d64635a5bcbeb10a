"""A trained model as a folder: model.json, which says all about it, and each part's weights in safetensors.

Weights are float16 as a training leaves them. Large matrices may be int8 instead, with the step of each output row
beside them (`narrow_weights`): what ships for CLEVR is, and reading gives floats either way.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from .errors import UserError
from .files import digest_of, encode_utf8, read_whole
from .folder import open_folder
from .records import content_id, read_json
from .scene import load_schema
from .schema import Schema

MODEL_FILE = "model.json"
TRAINING_FIELD = "training"  # of a run's spec: what `describe_training` says; the weights identify the model
TRAINING_FOLDER = "training"  # inside it: the state of a training that is not finished
NEEDS = "needs torch and transformers: pip install 'shiftscope[models]'"
LONGEST_ERROR = 200  # characters of what torch complains of
NARROW, STEP = ":int8", ":step"  # after a matrix's name: its rows as int8, and what each row is a multiple of
LEAST_NARROWED = 4096  # entries: smaller tensors are few bytes

NUMBER = (int, float)
ENTRY: dict[str, type | tuple[type, ...]] = {  # what model.json says of each part
    "config": dict,
    "blake2b": str,
    "trained_on": str,
    "data": dict,
    "examples": int,
    "seed": int,
    "recipe": dict,
    "epoch": int,
    "val": dict,
    "val_counts": dict,
    "seconds": NUMBER,
}
TOP: dict[str, type | tuple[type, ...]] = {"device": str, "seconds": dict, "versions": dict}
WRONG = (AttributeError, KeyError, TypeError, ValueError, UserError)  # what reading another thing raises


@dataclass(frozen=True, slots=True, eq=False)
class TrainedFolder:
    """What model.json says; weights are read when they are needed. A subclass names the kind of model and its parts."""

    KIND: ClassVar[str]
    TAKES: ClassVar[tuple[str, ...]] = ()  # other kinds, of the same version, whose parts it can use
    VERSION: ClassVar[int] = 1
    PARTS: ClassVar[Mapping[str, str]]  # in order, and what `train --only` calls each
    FIGURES: ClassVar[tuple[str, ...]] = ()  # what is fitted after training, on which answers depend too
    SHIPPED: ClassVar[Path | None] = None  # where weights come with the package, in a folder for each schema

    folder: Path
    about: dict[str, Any]
    new: bool = False  # whether the training that gave it did anything

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The trained model in a folder; a UserError says why there is none."""
        path = folder / MODEL_FILE
        if not path.is_file():
            if (folder / TRAINING_FOLDER).is_dir():
                raise UserError(f"{folder}: the training there is not finished; run the same command again to resume")
            what = "no trained model there (no model.json)" if folder.is_dir() else "no such folder"
            raise UserError(f"{folder}: {what}; make one with shiftscope train --out {folder}")
        found = cls(folder, {})
        try:
            about = read_json(read_whole(path))
            kind, version = about["kind"], about["version"]
        except (OSError, ValueError, KeyError, TypeError):
            raise UserError(f"{path} is damaged: it does not describe a trained model; {found.remedy}") from None
        if kind not in (cls.KIND, *cls.TAKES) or version != cls.VERSION:
            raise UserError(f"{path} describes another sort of model ({kind} {version}, not {cls.KIND} {cls.VERSION})")
        wrong = cls.find_malformed(about)
        if wrong:
            raise UserError(f"{path} is damaged: {wrong}; {found.remedy}")
        return cls(folder, about)

    @classmethod
    def find(cls, model: str, target: str, schema: Schema) -> Self:
        """The weights that a model string names: in the folder, or shipped for the schema of the data."""
        shipped = cls.SHIPPED / schema.name if cls.SHIPPED else None
        if target:
            found = cls.read(Path(target))
        elif shipped and (shipped / MODEL_FILE).is_file():
            found = cls.read(shipped)
        else:
            raise UserError(
                f"model {model!r} ships no weights for {schema.name} data; train some with "
                f"shiftscope train --model {model} --data DATA --out DIR and name them {model}:DIR"
            )
        if found.schema != schema:
            raise UserError(
                f"model {model}:{found.folder} was trained on {found.schema.name}, and the data are "
                f"{schema.name}; train it on such data"
            )
        return found

    @classmethod
    def write(cls, folder: Path, about: Mapping[str, Any], states: Mapping[str, bytes]) -> Self:
        """Write the weights and then model.json, so that a folder that has it is whole."""
        target = open_folder(folder)
        for part, data in states.items():
            target.write_whole(_name_weights_file(part), data)
        text = json.dumps(dict(about), ensure_ascii=False, indent=1, allow_nan=False)
        target.write_whole(MODEL_FILE, encode_utf8(f"{text}\n"))
        return cls.read(folder)

    @classmethod
    def find_malformed(cls, about: Mapping[str, Any]) -> str:
        """The first thing that is not as it should be, in words; nothing where all is well."""
        try:
            read_schema(about.get("schema"))
        except WRONG:
            return "its schema is none"
        parts = [part for part in cls.PARTS if part in about]
        if not parts:
            return f"it describes none of its parts ({', '.join(cls.PARTS)})"
        for part in parts:
            entry = about[part]
            if not isinstance(entry, dict):
                return f"its {part} is not described"
            wrong = [name for name, kind in ENTRY.items() if not isinstance(entry.get(name), kind)]
            if wrong:
                return f"the {wrong[0]} of its {part} is missing or of another kind"
            if not re.fullmatch("[0-9a-f]{64}", entry["blake2b"]):
                return f"the blake2b of its {part} is no checksum"
            shares = entry["val"].items()  # each a number, and known of how many
            counts = [entry["val_counts"].get(name) for name, _ in shares]
            whole = all(isinstance(pair, list) and [type(n) for n in pair] == [int, int] for pair in counts)
            whole = whole and all(isinstance(share, NUMBER) for _, share in shares)
            if not (whole and isinstance(entry["recipe"].get("epochs"), int)):
                return f"the figures of its {part} are not whole"
        wrong = [name for name, kind in TOP.items() if not isinstance(about.get(name), kind)]
        return f"its {wrong[0]} is missing or of another kind" if wrong else cls.find_misfit(about)

    @classmethod
    def find_misfit(cls, about: Mapping[str, Any]) -> str:
        """The same, of what only this kind of model has."""
        return ""

    @property
    def parts(self) -> tuple[str, ...]:
        """Those that it has, in order."""
        return tuple(part for part in self.PARTS if part in self.about)

    @property
    def schema(self) -> Schema:
        return read_schema(self.about["schema"])

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the images it was trained on."""
        width, height = self.about["size"]
        return width, height

    @property
    def trained_on(self) -> str:
        """The data that its first part learned from, as a study calls it."""
        return str(self.about[self.parts[0]].get("trained_on", "")) if self.parts else ""

    def describe_training(self) -> dict[str, Any]:
        """The seed, and an id that trainings share which differ in the seed alone; nothing where parts differ in it."""
        parts = [self.about[part] for part in self.parts]
        if len({part["seed"] for part in parts}) != 1:
            return {}
        # How a part begins, for one, is in none of its sizes, data and recipe.
        planned = self.about.get("spec", {}).get("parsers", {})
        described = [[planned[part]] if part in planned else [] for part in self.parts]
        alike = [[p["config"], p["data"], p["recipe"], *more] for p, more in zip(parts, described, strict=True)]
        return {"seed": parts[0]["seed"], "id": content_id(alike)}

    def describe_weights(self) -> dict[str, Any]:
        """What a run's spec says of the weights."""
        training = self.describe_training()
        known = {"weights": self.id(), "trained_on": self.trained_on}
        return known | ({TRAINING_FIELD: training} if training else {})

    def id(self) -> str:
        """The same for the same weights and fitted figures, wherever the folder stands."""
        kept = [self.about.get(key) for key in self.FIGURES]
        return content_id([self.about[part]["blake2b"] for part in self.parts] + kept)

    def content(self) -> str:
        """The same for the same model: also for the same sizes of its parts and images, and words."""
        kept = {key: self.about.get(key) for key in ("schema", "size", *self.FIGURES)}
        return content_id(kept | {p: [self.about[p][key] for key in ("blake2b", "config")] for p in self.parts})

    def config(self, part: str) -> dict[str, Any]:
        self._require_part(part)
        config: dict[str, Any] = self.about[part]["config"]
        return config

    def choose_device(self, device: str) -> str:
        """The device to run on, for `auto` the best; a UserError where torch is missing, or finds no GPU."""
        try:
            import torch
            import transformers  # noqa: F401
        except ImportError as error:
            raise UserError(f"{self.folder} {NEEDS} ({error})") from None
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        if device.startswith("cuda") and not torch.cuda.is_available():
            raise UserError("torch finds no GPU here; use --device cpu")
        return device

    def load(self, part: str, module: Any) -> Any:
        """The module with its weights, in float32, to be used and not trained."""
        wide = {n: t.float() if t.is_floating_point() else t for n, t in self.read_tensors(part).items()}
        path = self.folder / _name_weights_file(part)
        if not all(bool(t.isfinite().all()) for t in wide.values()):
            raise UserError(f"{path} holds weights that are not finite; {self.remedy}")
        try:
            module.load_state_dict(wide)
        except RuntimeError as error:
            why = " ".join(str(error).split())[:LONGEST_ERROR]
            raise UserError(f"{path} does not fit its config ({why})") from None
        return module.requires_grad_(False).eval()

    def read_tensors(self, part: str) -> dict[str, Any]:
        from safetensors.torch import load

        try:
            return _widen(load(self.read_bytes(part)))
        except UserError:
            raise
        except Exception as error:
            path = self.folder / _name_weights_file(part)
            raise UserError(f"{path} is not a file of weights ({type(error).__name__})") from None

    def read_bytes(self, part: str) -> bytes:
        """The file as it was written; anything else is refused."""
        self._require_part(part)
        path = self.folder / _name_weights_file(part)
        try:
            data = read_whole(path)
        except OSError as error:
            raise UserError(f"{path}: cannot be read ({error.strerror or error}); {self.remedy}") from None
        if digest_of(data) != self.about[part]["blake2b"]:
            raise UserError(f"{path} is damaged: it is not what was written there; {self.remedy}")
        return data

    @property
    def remedy(self) -> str:
        """What to do where a file is not as it was written."""
        if self.folder.parent == self.SHIPPED:
            return "install shiftscope again"
        return f"delete the folder {self.folder} and run again the command that trained it"

    def _require_part(self, part: str) -> None:
        if part not in self.about:
            raise UserError(
                f"{self.folder} has no {part.replace('_', ' ')}; train it with --only {self.PARTS[part]} "
                f"--from {self.folder}"
            )


def read_schema(data: Any) -> Schema:
    return load_schema(data) if isinstance(data, str) else Schema.from_json(data)


def pack_weights(module: Any) -> bytes:
    """A module's weights as a file: float16, on the CPU."""
    from safetensors.torch import save

    state = module.state_dict()
    narrow = {name: (t.half() if t.is_floating_point() else t).cpu().contiguous() for name, t in state.items()}
    data: bytes = save(narrow)
    return data


def narrow_weights(data: bytes) -> bytes:
    """A file of weights with its large matrices in int8: each entry is off by half a step at most.

    A step is a 127th of the largest entry of its output row.
    """
    from safetensors.torch import load, save

    held: dict[str, Any] = load(data)
    for name in list(held):
        tensor = held[name]
        if tensor.is_floating_point() and tensor.ndim > 1 and tensor.numel() >= LEAST_NARROWED:
            rows = held.pop(name).float()
            step = rows.flatten(1).abs().amax(1) / 127
            step[step == 0] = 1.0
            held[name + NARROW] = (rows / _align(step, rows)).round().char()
            held[name + STEP] = step  # float32, so that rows of tiny entries keep their precision
    made: bytes = save(held)
    return made


def _widen(held: dict[str, Any]) -> dict[str, Any]:
    """The tensors by their own names, as floats where they were narrowed; a matrix without its steps raises."""
    for name in [n.removesuffix(NARROW) for n in held if n.endswith(NARROW)]:
        rows, step = held.pop(name + NARROW), held.pop(name + STEP)
        if step.shape != rows.shape[:1]:
            raise ValueError(f"{name} has {len(rows)} rows and steps of {tuple(step.shape)}")
        held[name] = rows.float() * _align(step, rows)
    return held


def _align(step: Any, rows: Any) -> Any:
    """One number per row, in the shape that multiplies all of the row."""
    return step.reshape(-1, *[1] * (rows.ndim - 1))


def round_weights(module: Any) -> None:
    """Give a module the weights it will have once they are written and read again."""
    import torch

    with torch.no_grad():
        for tensor in module.state_dict().values():
            if tensor.is_floating_point():
                tensor.copy_(tensor.half())


def _name_weights_file(part: str) -> str:
    return f"{part}.safetensors"
