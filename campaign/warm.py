"""Warm: importing this does what the stories do once, so that processes forked afterwards have it all loaded.

Only what starts no threads that a fork would lose: torch is imported, and computes nothing here.
"""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

import torch  # noqa: F401

import shiftscope.train.train  # noqa: F401
from shiftscope.cli import main

from .given import commands, lay_out


def warm() -> None:
    argv = sys.argv
    with tempfile.TemporaryDirectory() as name, Path(os.devnull).open("w") as nowhere:
        folder = Path(name)
        lay_out(folder)
        for words in commands(folder):
            sys.argv = ["shiftscope", *words]
            with redirect_stdout(nowhere), redirect_stderr(nowhere), suppress(SystemExit):
                main()
    sys.argv = argv


if os.environ.get("CAMPAIGN_WARM"):  # set by who starts the process that others are forked from
    warm()
