"""A pipe in the place of a file: it is held open until it is written to, and until all of that was read."""

from __future__ import annotations

import fcntl
import os
import struct
import termios
import threading
import time
from pathlib import Path


class Pipe:
    """Who reads it waits until `write`, as for a slow command in <(COMMAND)."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self._end = os.open(path, os.O_RDWR)

    def write(self, data: bytes) -> None:
        """Write in the background, and let go of the pipe once everything was read."""
        threading.Thread(target=self._write, args=(data,), daemon=True).start()

    def _write(self, data: bytes) -> None:
        at = 0
        while at < len(data):
            at += os.write(self._end, data[at:])
        while struct.unpack("i", fcntl.ioctl(self._end, termios.FIONREAD, b"\0" * 4))[0]:
            time.sleep(0.01)
        self.close()

    def close(self) -> None:
        os.close(self._end)
