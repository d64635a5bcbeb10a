"""Answers: one spelling for bool, int and str, so that files that write them differently compare equal."""

from typing import Any

from .errors import UserError

Answer = bool | int | str

_TRUTHS = {True: "yes", False: "no"}
_SPELLINGS = {"true": "yes", "false": "no"}


def spell(answer: Answer) -> str:
    """As the released files write it: yes, no, 3, red; lower case, single spaces."""
    if isinstance(answer, bool):
        return _TRUTHS[answer]
    text = " ".join(str(answer).lower().split())
    return _SPELLINGS.get(text, text)


def is_same_answer(left: Answer, right: Answer) -> bool:
    """Whether two answers say the same, however they are typed: True and "yes", 3 and "3"."""
    return spell(left) == spell(right)


def read_answer(value: Any) -> Answer | None:
    """An answer as a file stores it; null is no answer, anything but bool, int and str an error."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise UserError(f"an answer must be true or false, a whole number or text, not {value!r}")
