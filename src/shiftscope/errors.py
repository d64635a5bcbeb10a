"""UserError: what went wrong, why, and the next command to type."""

import sys
from collections.abc import Iterable
from difflib import get_close_matches

LONGEST_NAME = 80  # a longer word is no typing mistake


class UserError(Exception):
    """A mistake in what the user gave us. The command line prints it as one sentence and exits with 2."""

    exit_code = 2


def warn(sentence: str) -> None:
    """Tell a person something that stops nothing, on the error stream."""
    print(f"shiftscope: {sentence}", file=sys.stderr, flush=True)


def did_you_mean(name: str, options: Iterable[str]) -> str:
    """`; did you mean 'test'?` when an option is close, else nothing."""
    if len(name) > LONGEST_NAME:
        return ""
    near = get_close_matches(name, list(options), n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""


def unknown(noun: str, name: str, options: Iterable[str], where: str = "") -> UserError:
    """The one error for a name that nothing answers to."""
    known = sorted(options)
    hint = did_you_mean(name, known)
    if not hint and 0 < len(known) <= 12:
        hint = f"; known: {', '.join(known)}"
    return UserError(f"no {noun} {name!r}{f' in {where}' if where else ''}{hint}")
