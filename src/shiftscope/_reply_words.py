"""Reply words: the answers a question admits, and the places in a text where one is named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from .answer import Answer
from .schema import Schema


@dataclass(frozen=True, slots=True)
class Expected:
    """The answers a question admits: a truth, a number, one of some words, or (open) any short text."""

    kind: str  # truth, number, word or open
    forms: tuple[tuple[str, str], ...] = ()  # (a way to say it, the answer)


TRUTH = Expected("truth")
NUMBER = Expected("number")
ANYTHING = Expected("open")

# Forms of English that a schema's synonyms need not list.
_ADJECTIVES = {"sphere": ("spherical",), "cube": ("cubic", "cubical"), "cylinder": ("cylindrical",)}


@lru_cache(maxsize=256)
def expected_value(schema: Schema, attribute: str, *, part: bool = False) -> Expected:
    """A value of the attribute, in any of the schema's words for it, singular or plural."""
    if not schema.closed:
        return ANYTHING
    values = schema.attribute(attribute, part=part).terms
    synonyms = dict(schema.synonyms)
    said = [(word, v) for v in values for word in (v, *synonyms.get(v, ()), *_ADJECTIVES.get(v, ()))]
    return expected_words(said)


def expected_words(said: Iterable[tuple[str, str]]) -> Expected:
    """One of some words: (a way to say it, the answer) each."""
    forms: dict[str, str] = {}
    for word, answer in said:
        for form in (word, *_plurals(word)):
            forms.setdefault(" ".join(TOKEN.findall(flat(form))), answer)
    return Expected("word", tuple(forms.items()))


TOKEN = re.compile(r"\d+(?:,\d{3})+(?!\d)|\d+\.\d+|\d+|[a-z]+(?:'[a-z]+)?")
YES = frozenset({"yes", "yeah", "yep", "yup", "true", "correct", "affirmative", "indeed"})
_NOT = ("not", "isn't")
NO = frozenset({"no", "nope", "nah", "false", "incorrect", "negative"})


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SMALL = (
    "zero/none/nil one/single two/couple/pair three four five six seven eight nine ten eleven "
    "twelve/dozen thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
)
COUNTS = {word: n for n, words in enumerate(_SMALL.split()) for word in words.split("/")}
_LARGE = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: 10 * n for n, word in enumerate(_LARGE.split(), 2)}
_WEAK = word_set("one single couple pair")  # these count only for want of a number
BEFORE = word_set(
    "is are was were be been equals equal has have total count contains contain it's there's see counted "
    "color colour material size shape"
)
STOP = word_set("a an the of it its it's is are there in color colour material size shape answer")


class Found(NamedTuple):
    answer: Answer
    at: int  # token
    weak: bool = False
    size: int = 1  # tokens


_MINUS = re.compile(r"(?<![\w.)\]])[-−–](?=\d)")


def flat(text: str) -> str:
    """Lower case without dashes and slashes; a minus sign becomes a word."""
    return re.sub(r"[_\-–/]", " ", _MINUS.sub("minus ", text.lower().replace("’", "'")))


def candidates(tokens: list[str], expected: Expected) -> Iterator[Found]:
    """Every place where an admitted answer is named, in order."""
    if expected.kind == "truth":
        yield from _truths(tokens)
    elif expected.kind == "number":
        yield from _numbers(tokens)
    else:
        yield from _named(tokens, expected)


def _truths(tokens: list[str]) -> Iterator[Found]:
    for k, token in enumerate(tokens):
        if token in YES or token in NO:
            denied = k > 0 and tokens[k - 1] in _NOT
            yield Found((token in YES) != denied, k - denied, size=1 + denied)
        elif token == "not" and tokens[k + 1 : k + 3] == ["at", "all"]:
            yield Found(False, k, size=3)


def _numbers(tokens: list[str]) -> Iterator[Found]:
    """Counts; what has a minus sign or a fraction is none."""
    k = 0
    while k < len(tokens):
        token, before = tokens[k], tokens[k - 1] if k else ""
        size = 1
        if before == "minus" and not (k > 1 and tokens[k - 2][0].isdigit()):
            pass  # "-1", but not "5 minus 3"
        elif token[0].isdigit():
            value = float(token.replace(",", ""))
            if value.is_integer():
                yield Found(int(value), k)
        elif token in _TENS:
            unit = COUNTS.get(tokens[k + 1], 0) if k + 1 < len(tokens) else 0
            size = 2 if 0 < unit < 10 and tokens[k + 1] not in ("single", "couple", "pair") else 1
            yield Found(_TENS[token] + (unit if size == 2 else 0), k, size=size)
        elif token in COUNTS:
            yield Found(COUNTS[token], k, token in _WEAK)
        elif token == "no" and k + 1 < len(tokens) and (k == 0 or before in BEFORE):
            yield Found(0, k, True)  # "there are no cubes", but not a plain "no"
        elif token == "any" and any(t == "not" or t.endswith("n't") for t in tokens[max(0, k - 3) : k]):
            yield Found(0, k, True)
        k += size


def _named(tokens: list[str], expected: Expected) -> Iterator[Found]:
    forms, longest = lookup(expected)
    openings = _openings(expected)
    k = 0
    while k < len(tokens):
        if tokens[k] not in openings:
            k += 1
            continue
        for size in range(min(longest, len(tokens) - k), 0, -1):
            answer = forms.get(" ".join(tokens[k : k + size]))
            if answer is not None:
                yield Found(answer, k, size=size)
                k += size - 1
                break
        k += 1


@lru_cache(maxsize=256)
def _openings(expected: Expected) -> frozenset[str]:
    """The words that a form begins with."""
    return frozenset(form.split()[0] for form, _ in expected.forms if form)


@lru_cache(maxsize=256)
def lookup(expected: Expected) -> tuple[dict[str, str], int]:
    forms = dict(expected.forms)
    return forms, max((len(f.split()) for f in forms), default=0)


def _plurals(word: str) -> tuple[str, ...]:
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return (f"{word[:-1]}ies",)
    return (f"{word}es",) if word.endswith(("s", "x", "ch", "sh")) else (f"{word}s",)
