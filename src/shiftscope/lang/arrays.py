"""The few things that NumPy and torch spell differently, so that a soft meaning is written once."""

import sys
from typing import Any

import numpy as np

Array = Any  # numpy.ndarray or torch.Tensor


def get_namespace(array: Array) -> Any:
    """The module whose functions take this array; torch is there already if it is a tensor."""
    return np if isinstance(array, np.ndarray) else sys.modules["torch"]


def make_like(array: Array, values: Any) -> Array:
    """The values as an array of the same kind, type and device."""
    if isinstance(array, np.ndarray):
        return np.asarray(values, array.dtype)
    return array.new_tensor(np.asarray(values))


def make_index(array: Array, values: Any) -> Array:
    """Whole numbers as an array of the same kind and device, to index with."""
    found = np.ascontiguousarray(values, np.int64)
    if isinstance(array, np.ndarray):
        return found
    return get_namespace(array).from_numpy(found).to(array.device)


def allocate(array: Array, *shape: int, integer: bool = False) -> Array:
    """Room for that many values of the same kind, type and device."""
    if isinstance(array, np.ndarray):
        return np.empty(shape, np.int64 if integer else array.dtype)
    return array.new_empty(shape, dtype=get_namespace(array).int64 if integer else array.dtype)


def take_along(array: Array, index: Array) -> Array:
    """`array[i, index[i, j]]`."""
    if isinstance(array, np.ndarray):
        return np.take_along_axis(array, index, 1)
    return array.gather(1, index)


def to_integer(truth: Array) -> Array:
    """Truths as whole numbers."""
    return truth.astype(np.int64) if isinstance(truth, np.ndarray) else truth.long()


def to_real(truth: Array, kind: Array) -> Array:
    """Truths or numbers with the type that `kind` has."""
    return truth.astype(kind.dtype) if isinstance(truth, np.ndarray) else truth.to(kind.dtype)


def to_numpy(array: Array) -> Any:
    return array if isinstance(array, np.ndarray) else array.detach().cpu().numpy()
