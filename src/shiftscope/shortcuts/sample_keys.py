"""Sample keys: 64 bits for every id, by which a split is drawn and repeated ids are found, one shard at a time.

A key is SipHash-2-4 (Aumasson and Bernstein, 2012) of the id as text, under 128 bits that are a function of a random
path: evenly spread, another for every seed, and the same wherever the sample stands.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrow_array import build_array, wrap_numbers
from ..kernels import Bytes, Longs, exact, exact_inline
from ..rng import seed_of

SampleKeys = npt.NDArray[np.uint64]


def hash_ids(ids: Iterable[Any], *path: str | int) -> SampleKeys:
    """The key of each id; a number's is that of its digits."""
    import pyarrow as pa

    listed = list(ids)
    if set(map(type, listed)) == {int} and -(2**63) <= min(listed) <= max(listed) < 2**63:
        return hash_texts(wrap_numbers(np.array(listed, np.int64)).cast(pa.large_string()), *path)
    texts = list(map(str, listed))
    try:
        array = build_array(texts, pa.large_string())
    except UnicodeEncodeError:  # half of a surrogate pair
        array = pa.array([text.encode(errors="surrogatepass") for text in texts], pa.large_binary())
    return hash_texts(array, *path)


def hash_texts(texts: Any, *path: str | int) -> SampleKeys:
    """The key of each text of an Arrow array (large_string or large_binary), none of them missing."""
    _, offsets, data = texts.buffers()
    at = np.frombuffer(offsets or bytes(8), np.int64)[texts.offset : texts.offset + len(texts) + 1]
    seed = seed_of(*path)
    halves = np.uint64(seed & (2**64 - 1)), np.uint64(seed >> 64)
    return _hash_slices(np.frombuffer(data or b"", np.uint8), at, *halves)


@exact_inline
def _rotate(x: Any, bits: Any) -> Any:
    return (x << np.uint64(bits)) | (x >> np.uint64(64 - bits))


@exact_inline
def _round(a: Any, b: Any, c: Any, d: Any) -> Any:
    a += b
    b = _rotate(b, 13) ^ a
    a = _rotate(a, 32)
    c += d
    d = _rotate(d, 16) ^ c
    a += d
    d = _rotate(d, 21) ^ a
    c += b
    b = _rotate(b, 17) ^ c
    c = _rotate(c, 32)
    return a, b, c, d


@exact
def _hash_slices(data: Bytes, at: Longs, low: Any, high: Any) -> SampleKeys:
    """SipHash-2-4 of data[at[k] : at[k + 1]], for every k."""
    keys = np.empty(len(at) - 1, np.uint64)
    for k in range(len(keys)):
        a = low ^ np.uint64(0x736F6D6570736575)
        b = high ^ np.uint64(0x646F72616E646F6D)
        c = low ^ np.uint64(0x6C7967656E657261)
        d = high ^ np.uint64(0x7465646279746573)
        start, end = at[k], at[k + 1]
        whole = start + (end - start) // 8 * 8
        for place in range(start, whole + 1, 8):  # the last word holds what is left, and the length
            word = np.uint64(0)
            for byte in range(min(8, end - place)):
                word |= np.uint64(data[place + byte]) << np.uint64(8 * byte)
            if place == whole:
                word |= np.uint64(end - start) << np.uint64(56)
            d ^= word
            a, b, c, d = _round(a, b, c, d)
            a, b, c, d = _round(a, b, c, d)
            a ^= word
        c ^= np.uint64(0xFF)
        for _ in range(4):
            a, b, c, d = _round(a, b, c, d)
        keys[k] = a ^ b ^ c ^ d
    return keys
