"""What every test may ask for."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from shiftscope.errors import UserError


@pytest.fixture
def refuses() -> Callable[[str], AbstractContextManager[Any]]:
    """`with refuses("the sentence"):` expects a UserError that contains it."""
    return lambda sentence: pytest.raises(UserError, match=re.escape(sentence))
