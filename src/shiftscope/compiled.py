"""Compiled loops: exact, where a scene or an answer is decided, and fast, where it is only painted.

All release the GIL, use one thread and are cached on disk; scenes run side by side, never pixels. Numba's
cache does not notice a changed callee in another file, so kernels that call each other stand in one file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])
Real = Any  # a number inside a kernel: float32 when compiled, whatever NumPy returns to the type checker


def exact(function: F) -> F:
    """Compiled with every float operation as written, so that all machines get the same bits."""
    return cast(F, njit(cache=True, nogil=True, error_model="numpy")(function))


def lean(function: F) -> F:
    """As `exact`, for a kernel that makes no array: put into its callers, with no arrays to pass and count.

    Numba counts who uses an array, an atomic operation for each at each call; small kernels take less time
    than that.
    """
    options: Any = {"error_model": "numpy", "forceinline": True, "_nrt": False}
    return cast(F, njit(cache=True, nogil=True, **options)(function))


def fast(function: F) -> F:
    """Compiled with reordered and fused float operations; the last bits differ between machines."""
    return cast(F, njit(cache=True, nogil=True, error_model="numpy", fastmath=True)(function))
