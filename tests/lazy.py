"""Modules that are imported when a test first uses them: collection does not wait for torch, scipy and the like."""

import sys
from importlib import import_module


class lazy:
    """`torch = lazy("torch")` in place of `import torch`."""

    __slots__ = ("_name",)  # no __dict__, in which monkeypatch would look for what it has to restore

    def __init__(self, name):
        object.__setattr__(self, "_name", name)

    def __getattr__(self, attribute):
        if attribute.startswith("__") or attribute == "_mock_name":  # as pytest asks whether this is a test
            raise AttributeError(attribute)
        return getattr(sys.modules.get(self._name) or import_module(self._name), attribute)

    def __setattr__(self, attribute, value):
        raise TypeError(f'patch it by name: monkeypatch.setattr("{self._name}.{attribute}", …)')
