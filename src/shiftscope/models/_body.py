"""Body: what an HTTP reply carries, bounded on the wire and unpacked: no server can fill the memory."""

from __future__ import annotations

import zlib
from io import BytesIO
from typing import Any

GZIP, ZLIB, DEFLATE = 31, 15, -15  # how zlib names them
PACKINGS = {"gzip": GZIP, "x-gzip": GZIP, "deflate": ZLIB}
CHUNK = 1 << 16  # bytes


class TooLarge(Exception):
    """More bytes than the caller takes; `start` is what came before."""

    def __init__(self, start: bytes) -> None:
        super().__init__()
        self.start = start


async def read_body(response: Any, most: int) -> bytes:
    """The whole body, unpacked; TooLarge where it is more than `most` bytes, packed or not.

    For a session with `auto_decompress=False`: unpacking is bounded here. A packing that is not known, or is
    broken off, is a ValueError. The response is closed unless its body was read to the end.
    """
    packing = response.headers.get("Content-Encoding", "identity").strip().lower()
    if packing not in ("", "identity", *PACKINGS):
        response.close()
        raise ValueError(f"packed as {packing[:40]!r}")
    unpack = Unpacking(PACKINGS[packing], most) if packing in PACKINGS else None
    body, wire = BytesIO(), 0
    async for chunk in response.content.iter_chunked(CHUNK):
        wire += len(chunk)
        try:
            body.write(unpack.more(chunk) if unpack else chunk)
        except zlib.error as error:
            response.close()
            raise ValueError(f"broken {packing} ({error})") from None
        if max(wire, body.tell()) > most:
            response.close()
            raise TooLarge(body.getvalue()[:most])
    if unpack and not unpack.whole:
        raise ValueError(f"broken {packing} (it ends too early)")
    return body.getvalue()


class Unpacking:
    """Unpacks piece by piece, and gives one byte above `most` at the most."""

    def __init__(self, packing: int, most: int) -> None:
        self._packing, self._left = packing, most + 1
        self._stream: Any = None

    @property
    def whole(self) -> bool:
        return self._stream is None or bool(self._stream.eof)

    def more(self, data: bytes) -> bytes:
        unpacked = []
        while data and self._left > 0:
            if self._stream is None or self._stream.eof:
                raw = (
                    self._packing == ZLIB and data[0] & 0x0F != 8
                )  # deflate is sent with and without a header
                self._stream = zlib.decompressobj(DEFLATE if raw else self._packing)
            piece = self._stream.decompress(data, self._left)
            self._left -= len(piece)
            unpacked.append(piece)
            data = self._stream.unused_data
        return b"".join(unpacked)
