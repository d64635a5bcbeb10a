"""Reading `480x320`."""

from __future__ import annotations

import re

from ..errors import UserError


def read_size(text: str) -> tuple[int, int]:
    """Width and height in pixels."""
    from ..geometry.camera import check_size

    match = re.fullmatch(r"(\d{1,5})[x×](\d{1,5})", text)
    if match is None:
        raise UserError(f"{text!r} is not a size; write width and height as in 480x320")
    size = int(match[1]), int(match[2])
    check_size(size)
    return size
