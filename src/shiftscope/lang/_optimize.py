"""scipy.optimize, which is an extra: fetched where something is fitted."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import UserError


def optimize(doing: str) -> Any:
    """The module; what was being done is part of the sentence where it is not installed."""
    try:
        return import_module("scipy.optimize")
    except ImportError as error:
        raise UserError(f"{doing} needs scipy: pip install 'shiftscope[models]'") from error
