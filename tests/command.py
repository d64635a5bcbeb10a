"""The command line as a user meets it: a real process, or the same without one where many are tried."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

from shiftscope.cli import main
from shiftscope.cli.make import build_callback
from shiftscope.suites import load_suite

ROOT = Path(__file__).parents[1]


def command(*words):
    return [sys.executable, "-m", "shiftscope", *map(str, words)]


def shiftscope(*words, cwd=None):
    """Run it and wait; wide enough that nothing wraps."""
    return subprocess.run(
        command(*words), capture_output=True, text=True, cwd=cwd, env={**os.environ, "COLUMNS": "200"}, check=False
    )


def here(*words, cwd="."):
    """The command line without a process of its own, which would take longer to start than to work."""
    out, complaints, argv = StringIO(), StringIO(), sys.argv
    code = None
    try:
        sys.argv = ["shiftscope", *map(str, words)]
        with chdir(cwd), redirect_stdout(out), redirect_stderr(complaints):
            main()
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = argv
    return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=complaints.getvalue())


def make_here(suite, out, workers=0, repair=False, device="cpu", as_json=False, **given):
    """`shiftscope make SUITE` with these options, and the others at their defaults."""
    made = load_suite(suite)
    options = {name: one.default for name, one in (made.spec.list_options() | made.options).items()}
    build_callback(made)(out=out, workers=workers, repair=repair, device=device, as_json=as_json, **options | given)


def refused(result):
    """The one sentence of a refusal."""
    assert result.returncode == 2, (result.stdout, result.stderr)
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    assert len(lines[0]) < 700
    return lines[0]
