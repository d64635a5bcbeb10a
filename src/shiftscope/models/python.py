"""A class of your own, `package.module:Class`: anything with predict(batch) → replies or texts."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from traceback import extract_tb
from typing import Any

from ..errors import UserError, did_you_mean
from ._model import Prompt, Reply, Setting, Stopped


class Own:
    """An instance of the class; what it raises stops the run with one sentence."""

    def __init__(self, name: str, made: Any) -> None:
        self._name, self._made = name, made
        if hasattr(made, "batch"):
            self.batch = made.batch

    def predict(self, batch: Sequence[Prompt]) -> list[Reply]:
        try:
            said: Any = self._made.predict(batch)
            return list(said) if isinstance(said, tuple | Iterator) else said  # what it gave is checked later
        except UserError:
            raise
        except Exception as error:
            raise Stopped(f"model {self._name!r} stopped with {_told(error)}") from error


def build(target: str, setting: Setting) -> Own:
    """An instance of the class, made with the Setting if it takes an argument; the module may stand here."""
    module_name, _, class_name = target.partition(":")
    if os.getcwd() not in sys.path:  # noqa: PTH109
        sys.path.insert(0, os.getcwd())  # noqa: PTH109
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        raise UserError(
            f"model {target!r}: there is no module {error.name!r}; run where it can be imported from"
        ) from None
    except Exception as error:
        raise UserError(f"model {target!r} can not be imported: {_told(error)}") from error
    if not hasattr(module, class_name):
        hint = did_you_mean(class_name, vars(module))
        raise UserError(f"model {target!r}: {module_name} has no {class_name!r}{hint}")
    kind = getattr(module, class_name)
    if not callable(kind):
        raise UserError(f"model {target!r} is not a class")
    try:
        model = kind(setting) if _takes_one(kind) else kind()
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"model {target!r} can not be made: {_told(error)}") from error
    if not callable(getattr(model, "predict", None)):
        raise UserError(f"model {target!r} has no method predict(batch)")
    return Own(target, model)


def _told(error: Exception) -> str:
    """The error and, for it is the user's own code, the file and line it comes from."""
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error}"  # says where by itself
    frames = extract_tb(error.__traceback__)
    here = frames[-1] if frames and frames[-1].filename != __file__ else None
    place = f" ({Path(here.filename).name}, line {here.lineno})" if here else ""
    return f"{type(error).__name__}: {error}{place}" if str(error) else f"{type(error).__name__}{place}"


def _takes_one(kind: Any) -> bool:
    try:
        parameters = inspect.signature(kind).parameters.values()
    except ValueError:
        return False
    return any(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
