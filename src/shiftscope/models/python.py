"""A class of your own, `package.module:Class`: anything with predict(batch) → responses or texts.

A run depends on the class's source and on that of every module loaded with it from the same folder or the
working directory. Of what the class reads by itself, such as weights, nothing is known unless it has a
`version`: plain data, for example a digest of the file. `reads` names what of a prompt it is given, of
text, images, scenes and programs; without it, all. One that does not read images needs no pictures.
"""

import inspect
import os
import re
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

from ..errors import UserError, did_you_mean
from ..files import digest_of, file_digest, remember_file_digest
from ..model import EVERYTHING, IMAGES, ModelError, ModelSetting, ModelTraits, Prompt, Response
from ..records import canonical_json

SOURCES = "sources"  # of a run's spec: module → digest of its file
TRAITS = ModelTraits(target="package.module:Class", reads=None, learns=True, prompted=True)
DIGITS = 32  # of a digest
INSTALLED = ("site-packages", "dist-packages")  # folders of what is no source of the user's own


class UserModel:
    """An instance of the class; what it raises stops the run with one sentence."""

    def __init__(self, name: str, model: Any) -> None:
        self._name, self._model = name, model
        images = frozenset() if getattr(model, "looks", True) else {IMAGES}  # the older way to leave them out
        reads = getattr(model, "reads", None)
        self.reads = EVERYTHING - images if reads is None else frozenset(reads)
        if isinstance(reads, str) or not self.reads <= EVERYTHING:
            raise UserError(f"model {name!r}: reads must list some of {', '.join(sorted(EVERYTHING))}, not {reads!r}")
        if hasattr(model, "batch"):
            self.batch = model.batch

    def identity(self, before: Mapping[str, Any]) -> dict[str, Any]:
        """The sources that are loaded by now, and those that were when the run began."""
        module = self._name.partition(":")[0]
        found: dict[str, Any] = {SOURCES: _digest_sources(module, type(self._model), before.get(SOURCES) or {})}
        version = getattr(self._model, "version", None)
        try:
            canonical_json(version)
        except (TypeError, ValueError, RecursionError):
            raise UserError(
                f"model {self._name!r}: its version must be plain data such as a text or number, "
                f"not {type(version).__name__}"
            ) from None
        return found if version is None else found | {"model_id": {"version": version}}

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        try:
            responses: Any = self._model.predict(batch)
            return list(responses) if isinstance(responses, tuple | Iterator) else responses  # checked by the caller
        except UserError:
            raise
        except Exception as error:
            raise ModelError(f"model {self._name!r} stopped with {_describe_error(error)}") from error


def claims(text: str) -> bool:
    return bool(re.fullmatch(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", text))


def digest_target(target: str) -> str:
    """Of the file of the class's module, once it is imported."""
    file = getattr(sys.modules.get(target.partition(":")[0]), "__file__", None)
    return file_digest(Path(file)) if file else ""


def build(target: str, setting: ModelSetting) -> UserModel:
    """An instance of the class, made with the ModelSetting if it takes one; the working directory is searched too."""
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
        raise UserError(f"model {target!r} cannot be imported: {_describe_error(error)}") from error
    if not hasattr(module, class_name):
        hint = did_you_mean(class_name, vars(module))
        raise UserError(f"model {target!r}: {module_name} has no {class_name!r}{hint}")
    kind = getattr(module, class_name)
    if not callable(kind):
        raise UserError(f"model {target!r} is not a class")
    parameters: list[inspect.Parameter] = []
    try:
        with suppress(ValueError):
            parameters = list(inspect.signature(kind).parameters.values())
        takes_setting = any(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
        model = kind(setting) if takes_setting else kind()
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"model {target!r} cannot be made: {_describe_error(error)}") from error
    if not callable(getattr(model, "predict", None)):
        raise UserError(f"model {target!r} has no method predict(batch)")
    return UserModel(target, model)


def _digest_sources(name: str, kind: type, known: Mapping[str, str]) -> dict[str, str]:
    """Modules of the user's own, each with the digest of its file; empty where a known one has none any more.

    A module of a package that is installed counts with the others of that package.
    """
    tops = {module.partition(".")[0] for module in (name, kind.__module__)}
    roots = {folder for top in tops if (folder := _find_folder(top)) is not None and not _is_installed(str(folder))}
    roots.add(Path.cwd())
    found: dict[str, str] = {}
    for module, loaded in sorted(sys.modules.items()):
        file = getattr(loaded, "__file__", None)
        own = module.partition(".")[0] in tops
        if not isinstance(file, str) or not (own or _is_user_source(module, file, roots)):
            continue
        with suppress(OSError):  # a module that was loaded from no file, or is gone since
            found[module] = remember_file_digest(Path(file))[:DIGITS]
    if not found:  # a class that was typed into a notebook
        try:
            found[name] = digest_of(inspect.getsource(kind).encode())[:DIGITS]
        except (OSError, TypeError):
            return {}
    return found | {module: _digest_module(module) for module in known if module not in found}


def _find_folder(top: str) -> Path | None:
    """Where a module at the top, or a package, is imported from."""
    module = sys.modules.get(top)
    file, inside = getattr(module, "__file__", None), list(getattr(module, "__path__", ()))
    place = inside[0] if inside else file
    return Path(place).resolve().parent if isinstance(place, str) else None


def _is_user_source(module: str, file: str, roots: set[Path]) -> bool:
    """Whether a module is source of the user's own; a script that runs us is none of the model's."""
    if module in ("__main__", "__mp_main__") or _is_installed(file):
        return False
    path = Path(file).resolve()
    return any(path.is_relative_to(root) for root in roots) and not _is_installed(str(path))


@cache  # asked of every loaded module, at every run
def _is_installed(file: str) -> bool:
    """Whether it is Python's own, of a library, or ours: a change there is another version, not an edit."""
    path = Path(file)
    return any(part in INSTALLED for part in path.parts) or any(path.is_relative_to(p) for p in _list_library_folders())


@cache
def _list_library_folders() -> tuple[Path, ...]:
    """The folders of Python's own library, and ours."""
    library = [Path(sysconfig.get_path(kind)) for kind in ("stdlib", "platstdlib")]
    return tuple(dict.fromkeys(f for p in (Path(__file__).parents[1], *library) for f in (p, p.resolve())))


def _digest_module(module: str) -> str:
    """The digest of a module that is not loaded yet."""
    try:
        spec = find_spec(module)
        return remember_file_digest(Path(spec.origin))[:DIGITS] if spec is not None and spec.origin else ""
    except Exception:  # whatever the package that it is in raises
        return ""


def _describe_error(error: Exception) -> str:
    """The error and, for it is the user's own code, the file and line it comes from."""
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error}"  # says where by itself
    frames = extract_tb(error.__traceback__)
    here = frames[-1] if frames and frames[-1].filename != __file__ else None
    place = f" ({Path(here.filename).name}, line {here.lineno})" if here else ""
    return f"{type(error).__name__}: {error}{place}" if str(error) else f"{type(error).__name__}{place}"
