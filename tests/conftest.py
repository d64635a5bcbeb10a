"""What every test may ask for."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from shiftscope.errors import UserError


def pytest_configure() -> None:
    """Let Ctrl-C reach tests and what they start, also where the tests run as a background job."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    settings.register_profile("shiftscope", deadline=None)  # a busy machine is no fault
    settings.load_profile("shiftscope")
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # torch: each core has a test process of its own already
    if not Path("/dev/nvidiactl").exists():  # without a GPU, kernels of our own run in Triton's interpreter
        os.environ.setdefault("TRITON_INTERPRET", "1")
    os.environ.pop("COLUMNS", None)  # which xdist sets for its workers; a pipe has no edge


FIRST = ("e2e/test_make.py", "unit/scene_graph", "unit/questions/hypothetical", "unit/lang", "e2e", "unit/formats", "")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with files that compile different kernels, and long ones: then no worker waits for the other at the end."""
    tests = Path(__file__).parent
    names = {item: item.path.relative_to(tests).as_posix() for item in items}
    items.sort(key=lambda item: next(k for k, start in enumerate(FIRST) if names[item].startswith(start)))


def pytest_collection_finish() -> None:
    """Refuse files that call a kernel when imported: each worker would compile it, and both the same at once."""
    if "numba" in sys.modules:
        raise pytest.UsageError("a test file calls a kernel when it is imported; let a fixture do it")
    gc.freeze()  # thousands of tests stay to the end; searching them for garbage at each full collection is in vain


@pytest.fixture
def refuses() -> Callable[[str], AbstractContextManager[Any]]:
    """`with refuses("the sentence"):` expects a UserError that contains it."""
    return lambda sentence: pytest.raises(UserError, match=re.escape(sentence))
