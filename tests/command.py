"""The command line as a user meets it: a real process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def command(*words):
    return [sys.executable, "-m", "shiftscope", *map(str, words)]


def shiftscope(*words, cwd=None):
    """Run it and wait; wide enough that nothing wraps."""
    return subprocess.run(
        command(*words),
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "200"},
        check=False,
    )


def refused(result):
    """The one sentence of a refusal."""
    assert result.returncode == 2, (result.stdout, result.stderr)
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    assert len(lines[0]) < 700
    return lines[0]
