"""The same whatever the hash seed: scripts in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys


def run_script(script: str, hash_seed: str) -> str:
    """What a script prints where hashes are seeded so."""
    seeded = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.run([sys.executable, "-c", script], env=seeded, capture_output=True, text=True, check=True).stdout
