"""Old Python names that documentation or users' model classes named, kept for one version with a warning."""

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def forward_names(old: str, moved: Mapping[str, str]) -> Callable[[str], Any]:
    """A `__getattr__` for the module `old`: each name as `module:name` of today."""

    def get(name: str) -> Any:
        if name not in moved:
            raise AttributeError(f"module {old!r} has no attribute {name!r}")
        module, _, new = moved[name].partition(":")
        warnings.warn(f"{old}.{name} is now {module}.{new}; the old name goes in the next version", FutureWarning, 2)
        return getattr(import_module(module), new)

    return get
