"""Spool: what the passes of a streamed audit keep on disk, each file whole or not there.

A file's name says what it depends on, so what a killed audit finished is taken up by the next one, and nothing else is.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...files import read_whole, write_whole

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Spool:
    """Records (plain JSON, with arrays beside it) and single arrays, by name, in a folder that all workers share."""

    folder: Path

    def has(self, name: str) -> bool:
        return (self.folder / f"{name}.npz").is_file()

    def save(self, name: str, record: Any, **arrays: Array) -> None:
        told = np.frombuffer(json.dumps(record).encode(), np.uint8)
        buffer = BytesIO()
        np.savez(buffer, record=told, **arrays)  # type: ignore[arg-type]
        write_whole(self.folder / f"{name}.npz", buffer.getbuffer(), durable=False)

    def load(self, name: str) -> tuple[Any, Any]:
        """The record, and its arrays by name, read when they are asked for."""
        file = np.load(BytesIO(read_whole(self.folder / f"{name}.npz")))
        return json.loads(bytes(file["record"])), file

    def load_record(self, name: str) -> Any:
        with np.load(self.folder / f"{name}.npz") as file:
            return json.loads(bytes(file["record"]))

    def save_array(self, name: str, array: Array) -> None:
        buffer = BytesIO()
        np.save(buffer, array)
        write_whole(self.folder / f"{name}.npy", buffer.getbuffer(), durable=False)

    def map_array(self, name: str) -> Array:
        """An array on disk, of which only what is looked at is read."""
        path = self.folder / f"{name}.npy"
        with path.open("rb") as file:  # an empty array cannot be mapped
            np.lib.format.read_magic(file)
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        if not all(shape):
            return np.zeros(shape, dtype)
        mapped: Array = np.load(path, mmap_mode="r")
        return mapped


def pack_texts(texts: Any) -> tuple[Array, Array]:
    """The bytes and the bounds of an Arrow array of texts (large_string), none of them missing."""
    _, offsets, data = texts.buffers()
    at = np.frombuffer(offsets or bytes(8), np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return np.frombuffer(data or b"", np.uint8)[at[0] : at[-1]], at - at[0]


def unpack_texts(data: Array, at: Array) -> Any:
    import pyarrow as pa

    buffers = [None, pa.py_buffer(np.ascontiguousarray(at)), pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(pa.large_string(), len(at) - 1, buffers)


def locate_texts(texts: Any, among: Any) -> npt.NDArray[np.int32]:
    """The place of each text among others (Arrow arrays), -1 where it is not there."""
    import pyarrow.compute as pc

    from ...arrow_array import read_numbers

    return read_numbers(pc.index_in(texts, value_set=among), -1).astype(np.int32)


def build_texts(texts: Sequence[str]) -> Any:
    import pyarrow as pa

    from ...arrow_array import build_array

    return build_array(texts, pa.large_string())
