"""A folder is a registry: a file's name is what it registers, its docstring's first line what it is for.

Installed packages add to a registry by entry points: one in the group `shiftscope.models` that names a module
does as well as that module in `shiftscope/models/`. Names and summaries are read without importing anything, so
`shiftscope list` stays fast however heavy the models are.
"""

import ast
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from .errors import UserError, unknown, warn


class RegistryEntry(NamedTuple):
    """Where an entry is: a module, the file whose docstring describes it, and the package that adds it."""

    module: str
    source: Path
    plugin: str = ""  # empty for what ships with ShiftScope


@dataclass(frozen=True, slots=True)
class Registry:
    """The public modules and packages directly inside `package`, and what plugins add to them.

    A package's entry is its module named after the noun (`suites/clevr/suite.py`) where there is one, else itself.
    """

    noun: str
    package: str
    defines: tuple[str, ...] = ()  # an entry defines one of these; its neighbours that do not are helpers
    plugins: str = ""  # the group of entry points that add to it

    def entries(self) -> dict[str, RegistryEntry]:
        """What there is by name, in the order of the names."""
        spec = find_spec(self.package)
        found: dict[str, RegistryEntry] = {}
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            found |= _scan_folder(self, folder, Path(folder).stat().st_mtime_ns)
        for name, entry in _find_plugins(self.plugins, tuple(sys.path)) if self.plugins else ():
            if name in found:
                taken = f"by {found[name].plugin}" if found[name].plugin else f"by a built-in {self.noun}"
                _warn_once(f"plugin {entry.plugin}: {self.noun} {name!r} is left out, the name is taken {taken}")
            elif not entry.source.is_file():
                _warn_once(
                    f"plugin {entry.plugin}: {self.noun} {name!r} is left out, there is no module {entry.module}"
                )
            else:
                found[name] = entry
        return dict(sorted(found.items()))

    def names(self) -> tuple[str, ...]:
        return tuple(self.entries())

    def find_names(self, pattern: str) -> list[str]:
        """The entries with a line in their file that matches; imports nothing."""
        found = re.compile(pattern, re.MULTILINE)
        return [name for name, entry in self.entries().items() if found.search(entry.source.read_text("utf-8"))]

    def summary(self, name: str) -> str:
        """The first line of the module's docstring, read without running the module."""
        entry = self._find(name)
        try:
            lines = (ast.get_docstring(ast.parse(entry.source.read_text("utf-8"))) or "").splitlines()
        except (SyntaxError, ValueError) as error:
            _warn_once(f"plugin {entry.plugin}: {self.noun} {name!r} cannot be read ({error})")
            lines = []
        return lines[0] if lines else ""

    def read_constant(self, name: str, constant: str) -> Any:
        """A literal that the module assigns to a name, read without running the module; None where there is none."""
        for node in ast.parse(self._find(name).source.read_text("utf-8")).body:
            if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [constant]:
                return ast.literal_eval(node.value)
        return None

    def load(self, name: str) -> ModuleType:
        """The module of an entry; whatever a plugin raises is one sentence that names it."""
        entry = self._find(name)
        if not entry.plugin:
            return import_module(entry.module)
        failed = f"plugin {entry.plugin}: {self.noun} {name!r} cannot be loaded"
        try:
            module = import_module(entry.module)
        except Exception as error:
            raise UserError(f"{failed} ({type(error).__name__}: {error})") from error
        if self.defines and not any(hasattr(module, one) for one in self.defines):
            raise UserError(f"{failed} ({entry.module} has no {' or '.join(self.defines)})")
        return module

    def load_all(self) -> Iterator[tuple[str, ModuleType]]:
        """Every entry with its module; a plugin that cannot be loaded is named and left out."""
        for name, entry in self.entries().items():
            try:
                module = self.load(name)
            except UserError as error:
                if not entry.plugin:
                    raise
                _warn_once(str(error))
            else:
                yield name, module

    def _find(self, name: str) -> RegistryEntry:
        entries = self.entries()
        if name not in entries:
            raise unknown(self.noun, name, entries)
        return entries[name]


@cache
def _scan_folder(registry: Registry, folder: str, changed: int) -> dict[str, RegistryEntry]:
    """The entries in a folder; `changed` is when a file was last added to it or removed."""
    registers = re.compile(rf"^(?:def |class )?(?:{'|'.join(registry.defines)})\b", re.MULTILINE).search
    found: dict[str, RegistryEntry] = {}
    for path in Path(folder).iterdir():
        name = path.name if path.is_dir() else path.stem
        source = path / "__init__.py" if path.is_dir() else path
        if name.startswith("_") or source.suffix != ".py" or not source.is_file():
            continue
        own = path / f"{registry.noun}.py"
        module = f"{registry.package}.{name}.{registry.noun}" if own.is_file() else f"{registry.package}.{name}"
        if not registry.defines or registers((own if own.is_file() else source).read_text("utf-8")):
            found[name] = RegistryEntry(module, source)
    return found


@cache
def _find_plugins(group: str, path: tuple[str, ...]) -> tuple[tuple[str, RegistryEntry], ...]:
    """The entry points of a group, in the order of their names; `path` is sys.path, on which they depend."""
    points = sorted(_list_entry_points(path).select(group=group), key=lambda p: (p.name, p.value))
    named = {(p.name, p.value): p.dist.name if p.dist else p.module for p in points}
    return tuple((name, RegistryEntry(value, _locate(value), dist)) for (name, value), dist in named.items())


@cache
def _list_entry_points(path: tuple[str, ...]) -> Any:
    """Those of all installed packages, of every group: they are read from as many files as there are packages."""
    from importlib.metadata import entry_points

    return entry_points()


def _locate(module: str) -> Path:
    """The file of a module, found without importing the packages around it; one that is not there if none is."""
    top, *inner = module.split(".")
    with suppress(ImportError, ValueError):
        if spec := find_spec(top):
            if not inner:
                return Path(spec.origin or module)
            for root in spec.submodule_search_locations or ():
                place = Path(root, *inner)
                for source in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
                    if source.is_file():
                        return source
    return Path(module)


@cache
def _warn_once(sentence: str) -> None:
    """Warn once, and not again in each worker process."""
    workers = sys.modules.get("multiprocessing.process")
    if workers is None or workers.parent_process() is None:
        warn(sentence)


SUITES = Registry("suite", "shiftscope.suites", ("SUITE",), "shiftscope.suites")
STUDIES = Registry("study", "shiftscope.suites", ("STUDY",), "shiftscope.studies")
REPORTED = Registry("reported", "shiftscope.suites", ("REPORTED",), "shiftscope.reported")  # figures of papers
WORLDS = Registry("world", "shiftscope.world", ("WORLD",), "shiftscope.worlds")
MODELS = Registry("model", "shiftscope.models", ("build",), "shiftscope.models")
WRAPPERS = Registry("wrapper of models", "shiftscope.models.debiasing", ("WRAPPER",), "shiftscope.debiasing")
METRICS = Registry("metric", "shiftscope.metrics", ("measure", "measure_runs"), "shiftscope.metrics")
SHIFTS = Registry("shift", "shiftscope.shift", plugins="shiftscope.shifts")
RECIPES = Registry("recipe", "shiftscope.shift", ("build_recipe",))  # the shifts that an audit can make
FORMATS = Registry("format", "shiftscope.formats", plugins="shiftscope.formats")
SECTIONS = Registry("report section", "shiftscope.report.sections", plugins="shiftscope.sections")
SCHEMAS = Registry("schema", "shiftscope.schemas", ("SCHEMA",))
OP_FAMILIES = Registry("op family", "shiftscope.lang.ops")
NOTATIONS = Registry("notation", "shiftscope.lang.notations")
COVR_TEMPLATES = Registry("template", "shiftscope.questions.covr.templates")
GENERALIZATION_TESTS = Registry("test", "shiftscope.run.generalization")
VERBS = Registry("verb", "shiftscope.cli")
