"""Old Python names that documentation or users' model classes named, kept for one version with a warning."""

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


def forward_names(old: str, moved: Mapping[str, str]) -> Callable[[str], Any]:
    """A `__getattr__` for the module `old`: each name as `module:name` of today."""

    def get(name: str) -> Any:
        if name not in moved:
            raise AttributeError(f"module {old!r} has no attribute {name!r}")
        module, _, new = moved[name].partition(":")
        warnings.warn(f"{old}.{name} is now {module}.{new}; the old name goes in the next version", FutureWarning, 2)
        return getattr(import_module(module), new)

    return get


def accept_old_field(old: str, new: str) -> Callable[[type[T]], type[T]]:
    """A decorator of a dataclass whose field `old` is now `new`: the old keyword and attribute still work."""

    def decorate(kind: type[T]) -> type[T]:
        init: Any = kind.__init__
        text = f"{kind.__name__}.{old} is now {kind.__name__}.{new}; the old name goes in the next version"

        @wraps(init)
        def accept(self: T, *values: Any, **named: Any) -> None:
            if old in named:
                warnings.warn(text, DeprecationWarning, 2)
                named[new] = named.pop(old)
            init(self, *values, **named)

        def get(self: T) -> Any:
            warnings.warn(text, DeprecationWarning, 2)
            return getattr(self, new)

        setattr(kind, "__init__", accept)  # noqa: B010
        setattr(kind, old, property(get))
        return kind

    return decorate
