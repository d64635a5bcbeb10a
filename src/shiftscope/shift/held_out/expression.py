"""Expressions over properties: `has_quant_all & ~(has_num_3 | ans_3)`; ~ before & before |.

Names may be spelled as in the paper: HAS-QUANT-ALL, RM/V/C; and ∪ and ∩ for | and &.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ...errors import UserError, did_you_mean
from .drawn import DRAWS, LEXICAL, PROGRAM, Drawn
from .facts import snake
from .predicate import Has, Predicate
from .properties import FAMILIES

SIGNS = {"∪": "|", "∩": "&"}
DRAWN = {f"{kind}_{n}": Drawn(kind, n) for kind in (PROGRAM, LEXICAL) for n in DRAWS}
DEEPEST = 100  # brackets and ~ within each other


class Token(NamedTuple):
    text: str
    at: int  # the first character is 1


def parse(text: str) -> Predicate:
    """The predicate that an expression says; an error tells the place."""
    return _Reader(text).whole()


def prop(name: str) -> Predicate:
    """The property of that name."""
    word = snake(name)
    if word in DRAWN:
        return DRAWN[word]
    found = _of_a_family(word)
    if found is None:
        raise UserError(f"no property {name!r}{did_you_mean(word, listed())}{SEE}")
    return found


SEE = " (shiftscope split --list)"


def listed() -> list[str]:
    """The names of all properties; X stands for any word."""
    return [*(name for one in FAMILIES.values() for name in one.names), *DRAWN]


def _of_a_family(word: str) -> Predicate | None:
    for one in sorted(FAMILIES.values(), key=lambda one: -len(one.name)):
        if word == one.name:
            return Has(one.name) if one.alone else None
        if one.known is None and word.startswith(f"{one.name}_"):
            instance = word.removeprefix(f"{one.name}_")
            return None if one.name == "has_num" and not instance.isdecimal() else Has(one.name, instance)
        for instance in one.known or ():
            if word == one.named(instance):
                return Has(one.name, instance)
    return None


class _Reader:
    """A descent through the expression."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = [
            Token(SIGNS.get(m[0], m[0]), m.start() + 1) for m in re.finditer(r"[|&~()∪∩]|[^\s|&~()∪∩]+", text)
        ]
        self.at = 0
        self.depth = 0

    def whole(self) -> Predicate:
        if not self.tokens:
            raise UserError(
                "the expression is empty; write properties joined by | & ~, as in 'has_quant & has_num'"
            )
        found = self.either()
        if self.next() is not None:
            raise self.broken("'&', '|' or the end")
        return found

    def either(self) -> Predicate:
        found = self.both()
        while self.take("|"):
            found = found | self.both()
        return found

    def both(self) -> Predicate:
        found = self.one()
        while self.take("&"):
            found = found & self.one()
        return found

    def one(self) -> Predicate:
        self.depth += 1
        if self.depth > DEEPEST:
            raise UserError(f"the expression nests more than {DEEPEST} brackets and '~'")
        try:
            if self.take("~"):
                return ~self.one()
            if self.take("("):
                found = self.either()
                if not self.take(")"):
                    raise self.broken("')'")
                return found
            return self.named()
        finally:
            self.depth -= 1

    def named(self) -> Predicate:
        token = self.next()
        if token is None or token.text in "|&~()":
            raise self.broken("a property, '~' or '('")
        self.at += 1
        try:
            return prop(token.text)
        except UserError as error:
            where = f" at character {token.at} of {self.text!r}" if len(self.tokens) > 1 else ""
            raise UserError(f"{str(error).removesuffix(SEE)}{where}{SEE}") from None

    def next(self) -> Token | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self, sign: str) -> bool:
        token = self.next()
        if token is None or token.text != sign:
            return False
        self.at += 1
        return True

    def broken(self, expected: str) -> UserError:
        token = self.next()
        came = f"{token.text!r} at character {token.at}" if token else "its end"
        return UserError(f"the expression {self.text!r} breaks: expected {expected}, came {came}")
