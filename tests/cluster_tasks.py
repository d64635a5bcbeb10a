"""Tasks that a test sends to a cluster's workers: they say where they ran, refuse, or die."""

from __future__ import annotations

import os
import time
from pathlib import Path

from shiftscope.errors import UserError


def square(number):
    return number * number


def refuse(number):
    raise UserError(f"there is no {number}")


def fail(number):
    return 1 // (number - number)


def name_process(*_):
    return {"process": str(os.getpid())}


def add(shared, number):
    return shared + number


def die_once(folder, number):
    """The worker that gets this job first dies of it."""
    mark = Path(folder) / str(number)
    if number % 3 == 1 and not mark.exists():
        mark.touch()
        os._exit(1)
    return number


def build_replica(folder):
    with (Path(folder) / "built").open("a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(0.2)  # so that one is not done before the other is there
    return folder
