"""Arrow arrays from values and back. `pa.array`, `pa.scalar` and `to_numpy` do it too, but import pandas to do so."""

from array import array
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

TYPE_CODES = {"int32": "i", "int64": "q", "double": "d"}  # of Python's own arrays, which refuse what does not fit
MOST_BYTES = 2**31 - 1  # that the texts of one array may have together; `pa.array` returns several then


def build_array(values: Sequence[Any], kind: Any) -> Any:
    """The values as an array of text, bytes, truth values or numbers, or lists of those; None is missing."""
    import pyarrow as pa

    if pa.types.is_list(kind):
        rows = [() if value is None else value for value in values]
        inner = build_array([*chain.from_iterable(rows)], kind.value_type)
        return nest_array(inner, [*map(len, rows)], [value is None for value in values])
    if kind in (pa.string(), pa.large_string(), pa.binary()):
        data, sizes = _join(values, b"" if kind == pa.binary() else "")
        if len(data) > MOST_BYTES and kind != pa.large_string():
            return pa.array(values, kind)
        buffers = [_find_offsets(sizes, np.int64 if kind == pa.large_string() else np.int32), pa.py_buffer(data)]
    elif kind == pa.bool_():
        buffers = [_pack_bits(_fill(values, False))]
    else:
        buffers = [pa.py_buffer(array(TYPE_CODES[str(kind)], _fill(values, 0)))]
    valid, missing = _mark_valid([value is None for value in values] if None in values else [])
    return pa.Array.from_buffers(kind, len(values), [valid, *buffers], missing)


def nest_array(flat: Any, sizes: Sequence[int], missing: Sequence[bool]) -> Any:
    """The array of lists that have so many of the flat values each."""
    import pyarrow as pa

    valid, count = _mark_valid(missing)
    buffers = [valid, _find_offsets(sizes)]
    return pa.Array.from_buffers(pa.list_(flat.type), len(sizes), buffers, count, children=[flat])


def wrap_numbers(numbers: npt.NDArray[Any]) -> Any:
    """The array of a NumPy array's memory."""
    import pyarrow as pa

    buffer = pa.py_buffer(np.ascontiguousarray(numbers))
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), [None, buffer])


def read_numbers(numbers: Any, missing: float = 0) -> npt.NDArray[Any]:
    """The numbers or truth values of an array, with another where one is missing."""
    valid, data = numbers.buffers()
    read = partial(_read_buffer, first=numbers.offset, size=len(numbers))
    found = read(data, np.dtype(numbers.type.to_pandas_dtype()))
    return np.where(read(valid, np.dtype(bool)), found, found.dtype.type(missing)) if numbers.null_count else found


def _read_buffer(buffer: Any, dtype: np.dtype[Any], first: int, size: int) -> npt.NDArray[Any]:
    if dtype.kind != "b":
        return np.frombuffer(buffer or b"", dtype)[first : first + size]
    bits = np.unpackbits(np.frombuffer(buffer or b"", np.uint8), count=first + size, bitorder="little")
    return bits[first:].astype(bool)


def _mark_valid(missing: Sequence[bool]) -> tuple[Any, int]:
    """The buffer that says which are there, None for all (or if nothing is said); and how many are not."""
    return (_pack_bits(np.logical_not(missing)) if any(missing) else None), sum(missing)


def _find_offsets(sizes: Iterable[int], dtype: type[np.integer[Any]] = np.int32) -> Any:
    """Where each of the rows begins, and the last ends, as an Arrow buffer."""
    import pyarrow as pa

    return pa.py_buffer(np.cumsum(np.fromiter(chain((0,), sizes), dtype), dtype=dtype))


def _pack_bits(flags: npt.ArrayLike) -> Any:
    import pyarrow as pa

    return pa.py_buffer(np.packbits(np.asarray(flags, bool), bitorder="little"))


def _fill(values: Sequence[Any], nothing: Any) -> Sequence[Any]:
    return values if None not in values else [nothing if value is None else value for value in values]


def _join(values: Sequence[Any], nothing: Any) -> tuple[bytes, Iterable[int]]:
    """All texts in one, and their lengths in bytes."""
    texts = _fill(values, nothing)
    joined = nothing.join(texts)
    if isinstance(joined, bytes):
        return joined, map(len, texts)
    data = joined.encode()
    return data, map(len, texts) if len(data) == len(joined) else [len(text.encode()) for text in texts]
