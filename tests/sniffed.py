"""A file that is only sniffed, made of a JSON value or of bytes."""

import json
from pathlib import Path

from shiftscope.json_files import InputFile


def sniffed(content) -> InputFile:
    file = InputFile(Path("nowhere"))
    file.__dict__["head"] = content if isinstance(content, bytes) else json.dumps(content).encode()
    return file
