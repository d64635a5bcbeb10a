"""Again: the command that makes a dataset once more, from the spec in its manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any


@dataclass(frozen=True, slots=True)
class Again:
    """Options of `shiftscope make SUITE`, and what a user must have to give them."""

    options: Mapping[str, Any]  # by their names on the command line; None and False are left out
    needs: tuple[str, ...] = ()  # files of the user's own, in words
    why_not: str = ""  # where the command would make something else


def size_option(size: Sequence[int] | None) -> str:
    """As `--size` takes it."""
    return "x".join(map(str, size)) if size else ""


def command_line(verb: str, options: Mapping[str, Any], needs: Sequence[str] = ()) -> str:
    """`shiftscope make clevr --images 4 …`, ready for a shell; what it needs follows as a comment."""
    words = [verb]
    for name, value in options.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            if one is True:
                words.append(f"--{name}")
            elif one not in (None, "") and one is not False:
                words += [f"--{name}", quote(str(one))]
    return " ".join(words) + (f"  # {', '.join(needs)}" if needs else "")
