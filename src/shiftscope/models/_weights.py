"""A trained model as a folder: model.json, which says all about it, and the weights of its two parsers.

Weights are float16, in safetensors. What is shipped lies in `weights/SCHEMA/`, beside this file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..canonical import content_id, read_json
from ..errors import UserError
from ..geometry.camera import check_size
from ..lang.calibration import Calibration
from ..lang.spatial import SpatialLikelihood
from ..scene import schema_named
from ..schema import Schema
from ..whole import digest_of, read_whole, utf8, write_whole

NAME = "model.json"
KIND, VERSION = "neuro_symbolic", 1
SCENE, QUESTIONS = "scene_parser", "question_parser"
PARSERS = {SCENE: "scene", QUESTIONS: "questions"}  # and what `train --only` calls each
UNDER_WAY = "training"  # the folder of a training that is not finished
SAID = 200  # characters of what torch complains of
SHIPPED = Path(__file__).parent / "weights"

NUMBER = (int, float)
ENTRY: dict[str, type | tuple[type, ...]] = {  # what model.json says of each parser
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
class Trained:
    """What model.json says, in the shape it was written; the weights are read when they are asked for."""

    folder: Path
    about: dict[str, Any]
    new: bool = False  # whether the training that gave it did anything

    @property
    def schema(self) -> Schema:
        return _schema(self.about["schema"])

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the images it was trained on."""
        width, height = self.about["size"]
        return width, height

    @property
    def trained_on(self) -> str:
        """The data that its scene parser learned from, as a study calls it."""
        made = self.about.get(SCENE) or self.about.get(QUESTIONS) or {}
        return str(made.get("trained_on", ""))

    @property
    def calibration(self) -> Calibration:
        return Calibration.from_json(self.about["calibration"])

    @property
    def spatial(self) -> SpatialLikelihood | None:
        """Nothing where the validation scenes had no two objects to learn from."""
        kept = self.about.get("spatial")
        return SpatialLikelihood.from_json(kept) if kept else None

    def id(self) -> str:
        """The same for the same weights, calibration and likelihood, wherever the folder stands."""
        kept = [self.about.get(key) for key in ("calibration", "spatial")]
        return content_id([self.about[part]["blake2b"] for part in PARSERS if part in self.about] + kept)

    def content(self) -> str:
        """The same for the same model: also for the same sizes of its parsers and images, and words."""
        kept = {key: self.about.get(key) for key in ("schema", "size", "calibration", "spatial")}
        found = [part for part in PARSERS if part in self.about]
        return content_id(kept | {p: [self.about[p][key] for key in ("blake2b", "config")] for p in found})

    def config(self, part: str) -> dict[str, Any]:
        self._need(part)
        config: dict[str, Any] = self.about[part]["config"]
        return config

    def load(self, part: str, module: Any) -> Any:
        """The module with its weights, in float32, to be used and not trained."""
        held = self.tensors(part)
        wide = {n: t.float() if t.is_floating_point() else t for n, t in held.items()}
        if not all(bool(t.isfinite().all()) for t in wide.values()):
            raise UserError(f"{self.folder / _file(part)} holds weights that are not finite; {self.remedy}")
        try:
            module.load_state_dict(wide)
        except RuntimeError as error:
            said = " ".join(str(error).split())[:SAID]
            raise UserError(f"{self.folder / _file(part)} does not fit its config ({said})") from None
        return module.requires_grad_(False).eval()

    def tensors(self, part: str) -> dict[str, Any]:
        from safetensors.torch import load

        data = self.bytes(part)
        try:
            return dict(load(data))
        except Exception as error:
            raise UserError(
                f"{self.folder / _file(part)} is not a file of weights ({type(error).__name__})"
            ) from None

    def bytes(self, part: str) -> bytes:
        """The file as it was written; anything else is refused."""
        self._need(part)
        path = self.folder / _file(part)
        try:
            data = read_whole(path)
        except OSError as error:
            why = error.strerror or error
            raise UserError(f"{path}: can not be read ({why}); {self.remedy}") from None
        if digest_of(data) != self.about[part]["blake2b"]:
            raise UserError(f"{path} is damaged: it is not what was written there; {self.remedy}")
        return data

    @property
    def remedy(self) -> str:
        """What to do where a file is not as it was written."""
        return _remedy(self.folder)

    def _need(self, part: str) -> None:
        if part not in self.about:
            other = PARSERS[part]
            raise UserError(
                f"{self.folder} has no {part.replace('_', ' ')}; train it with --only {other} "
                f"--from {self.folder}"
            )


def read_trained(folder: Path) -> Trained:
    """The trained model in a folder; a UserError says why there is none."""
    path = folder / NAME
    if not path.is_file():
        if (folder / UNDER_WAY).is_dir():
            raise UserError(
                f"{folder}: the training there is not finished; run the same command again to go on"
            )
        what = "no trained model there (no model.json)" if folder.is_dir() else "no such folder"
        raise UserError(f"{folder}: {what}; make one with shiftscope train --out {folder}")
    try:
        about = read_json(read_whole(path))
        kind, version = about["kind"], about["version"]
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(
            f"{path} is damaged: it does not describe a trained model; {_remedy(folder)}"
        ) from None
    if kind != KIND or version != VERSION:
        raise UserError(f"{path} describes another sort of model ({kind} {version}, not {KIND} {VERSION})")
    wrong = _misshapen(about)
    if wrong:
        raise UserError(f"{path} is damaged: {wrong}; {_remedy(folder)}")
    return Trained(folder, about)


def _misshapen(about: Mapping[str, Any]) -> str:
    """The first thing that is not what it should be, in words; nothing where all is well."""
    try:
        schema = _schema(about.get("schema"))
    except WRONG:
        return "its schema is none"
    if not _is_size(about.get("size"), SCENE in about):
        return "its size is not the width and height of an image"
    if not any(part in about for part in PARSERS):
        return "it tells of no parser"
    for part in PARSERS:
        if part in about:
            entry = about[part]
            if not isinstance(entry, dict):
                return f"its {part} is not described"
            for name, kind in ENTRY.items():
                if not isinstance(entry.get(name), kind):
                    return f"the {name} of its {part} is missing or of another kind"
            if not re.fullmatch("[0-9a-f]{64}", entry["blake2b"]):
                return f"the blake2b of its {part} is no checksum"
            if not _figures(entry):
                return f"the figures of its {part} are not whole"
    for name, kind in TOP.items():
        if not isinstance(about.get(name), kind):
            return f"its {name} is missing or of another kind"
    return _misfit(about, schema)


def _is_size(size: Any, seen: bool) -> bool:
    """Whether images can be of that size; without a scene parser it may be unknown, 0 by 0."""
    if not (isinstance(size, list) and len(size) == 2 and all(type(side) is int for side in size)):
        return False
    try:
        check_size((size[0], size[1]))
    except UserError:
        return not seen and size == [0, 0]
    return True


def _figures(entry: Mapping[str, Any]) -> bool:
    """Whether each share on validation data is a number, and known of how many."""
    return isinstance(entry["recipe"].get("epochs"), int) and all(
        isinstance(share, NUMBER)
        and isinstance(counts := entry["val_counts"].get(name), list)
        and [type(count) for count in counts] == [int, int]
        for name, share in entry["val"].items()
    )


def _misfit(about: Mapping[str, Any], schema: Schema) -> str:
    """What is wrong with the calibration and the likelihood of relations."""
    try:
        kept, learned = about.get("calibration"), about.get("spatial")
        if kept is None and SCENE in about:
            return "its calibration is missing"
        if kept is not None and not Calibration.from_json(kept).fits(schema):
            return (
                f"its calibration has not one temperature for each attribute of {schema.name}, or not one "
                "share for each value"
            )
        if learned is not None:
            SpatialLikelihood.from_json(learned)
    except UserError as error:
        return str(error)
    except WRONG as error:
        return f"its calibration or spatial likelihood is not whole ({type(error).__name__}: {error})"
    return ""


def _schema(data: Any) -> Schema:
    return schema_named(data) if isinstance(data, str) else Schema.from_json(data)


def _remedy(folder: Path) -> str:
    if folder.parent == SHIPPED:
        return "install shiftscope again"
    return f"delete the folder {folder} and run again the command that trained it"


def trained_named(model: str, target: str, schema: Schema) -> Trained:
    """The weights a model string names: of the folder, or those shipped for the schema of the data."""
    if target:
        found = read_trained(Path(target))
    elif (SHIPPED / schema.name / NAME).is_file():
        found = read_trained(SHIPPED / schema.name)
    else:
        raise UserError(
            f"model {model!r} ships no weights for {schema.name} data; train some with "
            f"shiftscope train --model {model} --data superclevr --out DIR and name them {model}:DIR"
        )
    if found.schema != schema:
        raise UserError(
            f"model {model}:{found.folder} was trained on {found.schema.name}, and the data are "
            f"{schema.name}; train it on such data"
        )
    return found


def write_trained(folder: Path, about: Mapping[str, Any], states: Mapping[str, bytes]) -> Trained:
    """Write the weights and then model.json, so that a folder that has it is whole."""
    for part, data in states.items():
        write_whole(folder / _file(part), data)
    text = json.dumps(dict(about), ensure_ascii=False, indent=1, allow_nan=False)
    write_whole(folder / NAME, utf8(f"{text}\n"))
    return read_trained(folder)


def write_joined(folder: Path, scenes: Trained, questions: Trained) -> Trained:
    """One model of two trainings: the scene parser of the first and the question parser of the second."""
    about = {key: value for key, value in scenes.about.items() if key not in ("seconds", "spec", "command")}
    about[QUESTIONS] = questions.about[QUESTIONS]
    about["seconds"] = {
        PARSERS[SCENE]: scenes.about["seconds"],
        PARSERS[QUESTIONS]: questions.about["seconds"],
    }
    return write_trained(folder, about, {SCENE: scenes.bytes(SCENE), QUESTIONS: questions.bytes(QUESTIONS)})


def packed(module: Any) -> bytes:
    """A module's weights as a file: float16, on the CPU."""
    from safetensors.torch import save

    held = {
        name: (tensor.half() if tensor.is_floating_point() else tensor).cpu().contiguous()
        for name, tensor in module.state_dict().items()
    }
    data: bytes = save(held)
    return data


def round_off(module: Any) -> None:
    """Give a module the weights it will have once they are written and read again."""
    import torch

    with torch.no_grad():
        for tensor in module.state_dict().values():
            if tensor.is_floating_point():
                tensor.copy_(tensor.half())


def _file(part: str) -> str:
    return f"{part}.safetensors"
