"""Compiled kernels: exact, where a scene or an answer is decided, and fast, where it is only painted.

All release the GIL, use one thread and are cached on disk (`kernel_cache.py`); scenes run side by side, never pixels.
The cache notices changes of a kernel's own file, of this one, of the files of kernels that it imports, and of the
constants that it or these take from any file.
"""

from collections.abc import Callable
from functools import update_wrapper
from math import sqrt
from threading import Lock
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

F = TypeVar("F", bound=Callable[..., Any])
Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Real = Any  # a number inside a kernel: float32 when compiled, whatever NumPy returns to the type checker

_making = Lock()


class Kernel:
    """A compiled function. Numba takes longer to import than most commands run, so the first call imports it."""

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        update_wrapper(self, function)
        self.function, self.options = function, options
        self.call: Callable[..., Any] = self._call_first
        self.inner: Any = None

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self.call(*given, **named)

    def _call_first(self, *given: Any, **named: Any) -> Any:
        with _making:
            if not hasattr(self.call, "py_func"):
                self.call = self._make(inner=False)
        return self.call(*given, **named)

    @property
    def _numba_type_(self) -> Any:
        """What Numba asks of a value that a kernel names: there is a version for kernels to call.

        What unpacks arguments from Python takes a fifth of the time to compile, and most kernels are called by
        kernels only.
        """
        with _making:
            self.inner = self.inner or self._make(inner=True)
        return self.inner._numba_type_

    def _make(self, inner: bool) -> Any:
        import numba

        from .kernel_cache import keep_kernel

        jit: Any = numba.njit
        options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "no_cpython_wrapper": inner}
        made = jit(**options, **self.options)(self.function)
        keep_kernel(made, inner)
        return made


def exact(function: F) -> F:
    """Compiled with every float operation as written, so that all machines get the same bits."""
    return cast(F, Kernel(function))


def exact_inline(function: F) -> F:
    """As `exact`, for a kernel that makes no array: put into its callers, with no arrays to pass and count.

    Numba counts who uses an array, an atomic operation for each at each call; small kernels take less time
    than that.
    """
    return cast(F, Kernel(function, forceinline=True, _nrt=False))


def fast(function: F) -> F:
    """Compiled with reordered and fused float operations; the last bits differ between machines."""
    return cast(F, Kernel(function, fastmath=True))


@exact_inline
def mix_bits(z: Any) -> Any:
    """The bits of a word, well stirred (splitmix64)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@exact
def count_bits(mask: Any) -> Any:
    """Bits set; LLVM turns the classic sum into one instruction where there is one."""
    x = mask - ((mask >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@exact
def find_lowest_bit(mask: Any) -> Any:
    """Number of the lowest bit set; 64 for none."""
    return count_bits((mask & (~mask + np.uint64(1))) - np.uint64(1))


@exact
def find_free_place(
    offsets: Doubles,  # [place, xy], from the base, in the order they are tried
    base: Doubles,  # x, y
    along: Doubles,  # x, y of a unit vector; both 0 for any direction
    solids: Doubles,  # [solid, x y radius]
    radius: float,  # of what is to be placed
    area: float,  # places lie within ± this
    margin: float,  # least offset from the base along the direction
    clearance: float,  # least distance between two surfaces
) -> int:
    """The first of the places that is in the area, along the direction and clear of the solids; −1 for none."""
    directed = along[0] != 0.0 or along[1] != 0.0
    for k in range(len(offsets)):
        dx, dy = offsets[k, 0], offsets[k, 1]
        x, y = base[0] + dx, base[1] + dy
        if abs(x) > area or abs(y) > area:
            continue
        if directed and dx * along[0] + dy * along[1] <= margin:
            continue
        clear = True
        for j in range(len(solids)):
            ox, oy = x - solids[j, 0], y - solids[j, 1]
            if sqrt(ox * ox + oy * oy) - radius - solids[j, 2] < clearance:
                clear = False
                break
        if clear:
            return k
    return -1
