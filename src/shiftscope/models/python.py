"""A class of your own, `package.module:Class`: anything with predict(batch) → replies or texts.

A run depends on the class's source and on that of every module loaded with it from the same folder or the
working directory. Of what the class reads by itself, such as weights, nothing is known unless it has a
`version`: plain data, for example a digest of the file. With `looks = False` it needs no pictures.
"""

from __future__ import annotations

import inspect
import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from traceback import extract_tb
from typing import Any

from ..canonical import canonical_json
from ..errors import UserError, did_you_mean
from ..whole import digest_of, known_digest
from ._model import Prompt, Reply, Setting, Stopped

SOURCES = "sources"  # of a run's spec: module → digest of its file
LOOKS = None  # at pictures or not: the class says
DIGITS = 32  # of a digest
INSTALLED = ("site-packages", "dist-packages")  # folders of what is no source of the user's own


class Own:
    """An instance of the class; what it raises stops the run with one sentence."""

    def __init__(self, name: str, made: Any) -> None:
        self._name, self._made = name, made
        self.looks = bool(getattr(made, "looks", True))
        if hasattr(made, "batch"):
            self.batch = made.batch

    def identity(self, before: Mapping[str, Any]) -> dict[str, Any]:
        """The sources that are loaded by now, and those that were when the run began."""
        module = self._name.partition(":")[0]
        found: dict[str, Any] = {SOURCES: _sources(module, type(self._made), before.get(SOURCES) or {})}
        version = getattr(self._made, "version", None)
        return found | ({"model_id": {"version": self._plain(version)}} if version is not None else {})

    def _plain(self, version: Any) -> Any:
        try:
            canonical_json(version)
        except (TypeError, ValueError, RecursionError):
            raise UserError(
                f"model {self._name!r}: its version must be plain data such as a text or number, "
                f"not {type(version).__name__}"
            ) from None
        return version

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


def _sources(name: str, kind: type, known: Mapping[str, str]) -> dict[str, str]:
    """Modules of the user's own, each with the digest of its file; empty where a known one has none any more.

    A module of a package that is installed counts with the others of that package.
    """
    tops = {module.partition(".")[0] for module in (name, kind.__module__)}
    roots = {folder for top in tops if (folder := _folder(top)) is not None and not _installed(folder)}
    roots.add(Path.cwd())
    found: dict[str, str] = {}
    for module, loaded in sorted(sys.modules.items()):
        file = getattr(loaded, "__file__", None)
        own = module.partition(".")[0] in tops
        if not isinstance(file, str) or not (own or _ours(module, Path(file), roots)):
            continue
        with suppress(OSError):  # a module that was loaded from no file, or is gone since
            found[module] = known_digest(Path(file))[:DIGITS]
    if not found:  # a class that was typed into a notebook
        try:
            found[name] = digest_of(inspect.getsource(kind).encode())[:DIGITS]
        except (OSError, TypeError):
            return {}
    return found | {module: _now(module) for module in known if module not in found}


def _folder(top: str) -> Path | None:
    """Where a module at the top, or a package, is imported from."""
    module = sys.modules.get(top)
    file, inside = getattr(module, "__file__", None), list(getattr(module, "__path__", ()))
    place = inside[0] if inside else file
    return Path(place).resolve().parent if isinstance(place, str) else None


def _ours(module: str, file: Path, roots: set[Path]) -> bool:
    """Whether a module is source of the user's own; a script that runs us is none of the model's."""
    if module in ("__main__", "__mp_main__") or _installed(file):
        return False
    path = file.resolve()
    return any(path.is_relative_to(root) for root in roots) and not _installed(path)


def _installed(path: Path) -> bool:
    """Whether it is Python's own, of a library, or ours: a change there is another version, not an edit."""
    return any(part in INSTALLED for part in path.parts) or any(path.is_relative_to(p) for p in _fixed())


@cache
def _fixed() -> tuple[Path, ...]:
    """The folders of Python's own library, and ours."""
    library = [Path(sysconfig.get_path(kind)) for kind in ("stdlib", "platstdlib")]
    return tuple(dict.fromkeys(f for p in (Path(__file__).parents[1], *library) for f in (p, p.resolve())))


def _now(module: str) -> str:
    """The digest of a module that is not loaded yet."""
    try:
        spec = find_spec(module)
        return known_digest(Path(spec.origin))[:DIGITS] if spec is not None and spec.origin else ""
    except Exception:  # whatever the package that it is in raises
        return ""


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
