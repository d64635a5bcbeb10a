"""A folder is a catalogue: a file's name is what it registers, its docstring's first line what it is for.

Names and summaries are read without importing anything, so `shiftscope list` stays fast however heavy
the models are.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from .errors import unknown


@dataclass(frozen=True, slots=True)
class Catalog:
    """The public modules and packages directly inside `package`; a leading underscore hides one."""

    noun: str
    package: str

    def paths(self) -> dict[str, Path]:
        spec = find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            return {}
        found: dict[str, Path] = {}
        for folder in spec.submodule_search_locations:
            for path in Path(folder).iterdir():
                source = path / "__init__.py" if path.is_dir() else path
                name = path.name if path.is_dir() else path.stem
                if source.suffix == ".py" and source.is_file() and not name.startswith("_"):
                    found[name] = source
        return dict(sorted(found.items()))

    def names(self) -> tuple[str, ...]:
        return tuple(self.paths())

    def summary(self, name: str) -> str:
        """The first line of the module's docstring, read without running the module."""
        path = self._path(name)
        lines = (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").splitlines()
        return lines[0] if lines else ""

    def load(self, name: str) -> ModuleType:
        self._path(name)
        return import_module(f"{self.package}.{name}")

    def _path(self, name: str) -> Path:
        paths = self.paths()
        if name not in paths:
            raise unknown(self.noun, name, paths)
        return paths[name]


SUITES = Catalog("suite", "shiftscope.suites")
MODELS = Catalog("model", "shiftscope.models")
METRICS = Catalog("metric", "shiftscope.metrics")
SHIFTS = Catalog("shift", "shiftscope.shift")
SCHEMAS = Catalog("schema", "shiftscope.schemas")
OP_FAMILIES = Catalog("op family", "shiftscope.lang.ops")
DIALECTS = Catalog("dialect", "shiftscope.lang.dialects")
FORMATS = Catalog("format", "shiftscope.formats")
TEMPLATES = Catalog("template", "shiftscope.graph.ask.templates")
TESTS = Catalog("test", "shiftscope.run.generalization")
VERBS = Catalog("verb", "shiftscope.cli")
