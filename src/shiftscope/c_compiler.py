"""The C compiler of this machine, which torch and Triton need for kernels of their own; many machines have none."""

from __future__ import annotations

import os
import shutil


def find_compiler() -> str | None:
    return next(filter(None, map(shutil.which, (os.environ.get("CC") or "cc", "gcc", "clang"))), None)
