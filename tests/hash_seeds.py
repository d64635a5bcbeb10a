"""The same whatever the hash seed: scripts here and in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO


def run_script(script: str, hash_seed: str) -> str:
    """What a script prints where hashes are seeded so."""
    seeded = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.run([sys.executable, "-c", script], env=seeded, capture_output=True, text=True, check=True).stdout


def run_under_two_hash_seeds(script: str) -> tuple[str, str]:
    """What a script prints here, where the seed is another at each start, and in a process with a given one."""
    printed, path = StringIO(), sys.path[:]
    try:
        with redirect_stdout(printed):
            exec(compile(script, "script", "exec"), {"__name__": "script"})
    finally:
        sys.path[:] = path
    return printed.getvalue(), run_script(script, "1" if os.environ.get("PYTHONHASHSEED") == "4242" else "4242")
