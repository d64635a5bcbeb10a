"""Programs as sequences of tokens, for parsers that write them one after the other.

The rows are those of COVR's files, in the original or the compositional logical form (Zhu et al., 2022, appendix
A): an operation, its arguments, each one token, and `#k` for the row that it reads. A quantifier's sub-program
stands in brackets.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ...errors import unknown
from ...lang.notations import covr, covr_compositional
from ...lang.program import Program, ProgramError
from ...schema import Schema

FORMS: dict[str, Any] = {"original": covr, "compositional": covr_compositional}
END, OPEN, CLOSE, NOTHING = ";", "[", "]", "null"


def check_form(form: str) -> str:
    if form not in FORMS:
        raise unknown("logical form", form, FORMS)
    return form


def write_tokens(program: Program, form: str, schema: Schema | None) -> tuple[str, ...]:
    """The program's rows as tokens."""
    return tuple(_write_rows(FORMS[form].write(program, schema)))


def _write_rows(rows: Sequence[dict[str, Any]]) -> list[str]:
    tokens: list[str] = []
    for row in rows:
        tokens.append(row["operation"])
        for word in row.get("arguments", ()):
            if isinstance(word, list) and word and isinstance(word[0], dict):
                tokens += [OPEN, *_write_rows(word), CLOSE]
            elif isinstance(word, list):
                tokens += [OPEN, *(f"={one}" for one in word), CLOSE]
            else:
                tokens.append(NOTHING if word is None else f"={word}")
        tokens += [f"#{number}" for number in row.get("dependencies", ())]
        tokens.append(END)
    return tokens


def read_tokens(tokens: Sequence[str], form: str, schema: Schema | None) -> Program:
    """The program that tokens say; a ProgramError where they say none."""
    rows, at = _read_rows(tokens, 0)
    if at < len(tokens):
        raise ProgramError(f"token {at} ({tokens[at]}) belongs to no row")
    program: Program = FORMS[form].read(rows, schema)
    return program


@lru_cache(maxsize=20_000)  # a test split, for parsers that come one after the other
def express_program(program: Program, form: str, schema: Schema | None) -> Program:
    """The program, written and read back: of the same meaning, but not always the same.

    The compositional form has no `unique`, and neither form an intersection with everything.
    """
    return read_tokens(write_tokens(program, form, schema), form, schema).canonicalize()


def _read_rows(tokens: Sequence[str], at: int) -> tuple[list[dict[str, Any]], int]:
    rows: list[dict[str, Any]] = []
    while at < len(tokens) and tokens[at] != CLOSE:
        row: dict[str, Any] = {"operation": tokens[at], "arguments": [], "dependencies": []}
        at += 1
        while at < len(tokens) and tokens[at] != END:
            token = tokens[at]
            at += 1
            if token == OPEN:
                value: Any
                if at < len(tokens) and tokens[at].startswith("="):
                    start = at
                    while at < len(tokens) and tokens[at].startswith("="):
                        at += 1
                    value = [one[1:] for one in tokens[start:at]]
                else:
                    value, at = _read_rows(tokens, at)
                if at >= len(tokens) or tokens[at] != CLOSE:
                    raise ProgramError("a bracket is not closed")
                at += 1
                row["arguments"].append(value)
            elif token.startswith("#") and token[1:].isdigit():
                row["dependencies"].append(int(token[1:]))
            elif token == NOTHING or token.startswith("="):
                row["arguments"].append(None if token == NOTHING else token[1:])
            else:
                raise ProgramError(f"token {token!r} is neither an argument nor a row")
        at += 1
        rows.append({key: value for key, value in row.items() if value})
    if not rows:
        raise ProgramError("there are no rows")
    return rows, at
