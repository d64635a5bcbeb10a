"""The one string that names a model: `oracle`, `nsvqa:FOLDER`, `hf:ORG/MODEL`, `package.module:Class`, …."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..catalog import MODELS
from ..errors import UserError, unknown
from ._model import Model, Setting

ADAPTERS = {  # name → what follows the colon
    "openai": "openai:MODEL@URL",
    "hf": "hf:ORG/MODEL or hf:FOLDER",
    "predictions": "predictions:FILE",
}
TRAINED = ("nsvqa", "p_nsvqa", "p_nsvqa_exact")  # alone with the weights that are shipped, or NAME:FOLDER
_CLASS = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class ModelName:
    """A file of the models' folder, and what it is to be built for."""

    kind: str
    target: str = ""


def read_name(text: str) -> ModelName:
    """Which file of the catalogue a model string is for; nothing is imported."""
    kind, colon, target = text.partition(":")
    if kind in ADAPTERS:
        if not target:
            raise UserError(f"model {text!r} lacks what to run; write {ADAPTERS[kind]}")
        return ModelName(kind, target)
    if kind in TRAINED and colon:
        if not target:
            raise UserError(f"model {text!r} lacks the folder of its weights; write {kind} or {kind}:FOLDER")
        return ModelName(kind, target)
    if (Path(text) / "config.json").is_file():
        return ModelName("hf", text)
    if _CLASS.fullmatch(text):
        return ModelName("python", text)
    if colon:
        forms = ", ".join((*ADAPTERS.values(), "nsvqa:FOLDER", "package.module:Class"))
        raise UserError(f"no model {text!r}: {kind!r} is neither an adapter nor a module; write {forms}")
    built_in = [name for name in MODELS.names() if name not in (*ADAPTERS, "python")]
    if text not in built_in:
        raise UserError(f"{unknown('model', text, built_in)} (shiftscope list models)")
    return ModelName(text)


def looks(text: str, model: Model | None = None) -> bool | None:
    """Whether a model looks at pictures; None of a class of one's own, which says so once it is built."""
    sight: bool | None = getattr(MODELS.load(read_name(text).kind), "LOOKS", True)
    return sight if sight is not None or model is None else bool(getattr(model, "looks", True))


def build(text: str, setting: Setting) -> Model:
    """The model a string names, ready to be asked."""
    name = read_name(text)
    model: Model = MODELS.load(name.kind).build(name.target, setting)
    return model
