"""Expected answers: what a question admits, and where a text names it.

Words count whole: there is no "no" in "notice", no "ten" in "often", and the "one" on the left is no number.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from .answer import Answer
from .english.inflection import plural, spell_file_name
from .english.word_lists import word_list, word_set
from .schema import Schema


@dataclass(frozen=True, slots=True)
class ExpectedAnswer:
    """The answers a question admits: a truth, a number, one of some words, or (open) any short text."""

    kind: str  # truth, number, word or open
    forms: tuple[tuple[str, str], ...] = ()  # (a way to say it, the answer)


TRUTH = ExpectedAnswer("truth")
NUMBER = ExpectedAnswer("number")
ANYTHING = ExpectedAnswer("open")

# Forms of English that a schema's synonyms need not list.
_ADJECTIVES = {"sphere": ("spherical",), "cube": ("cubic", "cubical"), "cylinder": ("cylindrical",)}


@lru_cache(maxsize=256)
def expect_value(schema: Schema, attribute: str, *, part: bool = False) -> ExpectedAnswer:
    """A value of the attribute, in any of the schema's words for it, singular or plural."""
    if not schema.closed:
        return ANYTHING
    values = schema.attribute(attribute, part=part).terms
    synonyms = dict(schema.synonyms)
    named = [(word, v) for v in values for word in (v, *synonyms.get(v, ()), *_ADJECTIVES.get(v, ()))]
    return expect_words([*named, *((spell_file_name(v.rstrip("*")), v) for v in values)])


def expect_words(words: Iterable[tuple[str, str]]) -> ExpectedAnswer:
    """One of some words: (a way to say it, the answer) each."""
    forms: dict[str, str] = {}
    for word, answer in words:
        for form in (word, plural(word)):
            forms.setdefault(" ".join(split_tokens(form)), answer)
    return ExpectedAnswer("word", tuple(forms.items()))


# a thing by its number (step 2), a number that is part of something else (3D, 2nd, 640x480, 50%), a number, a word
TOKEN = re.compile(
    rf"\b(?:{'|'.join(word_list('replies', 'labels'))}) \d+\b(?!\s+(?!is|are|and|or|has|shows|contains)\w)"
    r"|\d+(?:\.\d+)?(?:x\d+|(?:st|nd|rd|th|d)\b|\s?%)|\d+(?:,\d{3})+(?!\d)|\d+\.\d+|\d+|[^\W\d_]+(?:'[^\W\d_]+)?"
)
YES, NO = word_set("replies", "yes"), word_set("replies", "no")
NEGATIONS = ("not", "isn't", "aren't")
_SMALL = (
    "zero/none/nil one/single two/couple/pair three four five six seven eight nine ten eleven "
    "twelve/dozen thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
)
COUNTS = {word: n for n, words in enumerate(_SMALL.split()) for word in words.split("/")}
_LARGE = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: 10 * n for n, word in enumerate(_LARGE.split(), 2)}
_WEAK = frozenset(("one", "single", "couple", "pair"))  # these count only where there is no other number
STATING, _POINTING = word_set("replies", "stating"), word_set("replies", "pointing")


class AnswerMention(NamedTuple):
    answer: Answer
    at: int  # token
    weak: bool = False
    size: int = 1  # tokens


_SPACES = str.maketrans({"_": " ", "-": " ", "–": " ", "/": " ", "&": " and ", "’": "'"})
_MINUS = re.compile(r"(?<![\w.)\]])[-−–](?=\d)")


def normalize_text(text: str) -> str:
    """Lower case without dashes and slashes; a minus sign becomes a word."""
    return _MINUS.sub("minus ", text.lower()).translate(_SPACES)


@lru_cache(maxsize=64)  # a text is looked at in several ways, one after the other
def split_tokens(text: str) -> list[str]:
    """The numbers and words of a text, in lower case."""
    return TOKEN.findall(normalize_text(text))


def find_mentions(tokens: list[str], expected: ExpectedAnswer) -> Iterator[AnswerMention]:
    """Every place where an admitted answer is named, in order."""
    if expected.kind == "truth":
        for k, token in enumerate(tokens):
            if token in YES or token in NO:
                denied = k > 0 and tokens[k - 1] in NEGATIONS
                yield AnswerMention((token in YES) != denied, k - denied, size=1 + denied)
            elif token == "not" and tokens[k + 1 : k + 3] == ["at", "all"]:
                yield AnswerMention(False, k, size=3)
    elif expected.kind == "number":
        yield from _find_numbers(tokens)
    else:
        yield from _find_values(tokens, expected)


def _find_numbers(tokens: list[str]) -> Iterator[AnswerMention]:
    """Counts; what has a minus sign or a fraction is none, nor is what numbers a thing ("step 2") or points at one."""
    k = 0
    while k < len(tokens):
        token, before = tokens[k], tokens[k - 1] if k else ""
        size = 1
        if before == "minus" and not (k > 1 and tokens[k - 2][0].isdigit()):
            pass  # "-1", but not "5 minus 3"
        elif token[0].isdigit():
            if token[-1].isdigit() and "x" not in token:
                value = float(token.replace(",", ""))
                if value.is_integer():
                    yield AnswerMention(int(value), k)
        elif token in _TENS:
            unit = COUNTS.get(tokens[k + 1], 0) if k + 1 < len(tokens) else 0
            size = 2 if 0 < unit < 10 and tokens[k + 1] not in ("single", "couple", "pair") else 1
            yield AnswerMention(_TENS[token] + (unit if size == 2 else 0), k, size=size)
        elif token in COUNTS:
            if token != "one" or not _is_pronoun(tokens, k):
                yield AnswerMention(0 if _is_none(tokens, k) else COUNTS[token], k, token in _WEAK)
        elif token == "no" and k + 1 < len(tokens) and (k == 0 or before in STATING):
            yield AnswerMention(0, k, True)  # "there are no cubes", but not a plain "no"
        elif token == "any" and any(t == "not" or t.endswith("n't") for t in tokens[max(0, k - 3) : k]):
            yield AnswerMention(0, k, True)
        k += size


def _is_pronoun(tokens: list[str], k: int) -> bool:
    """Whether "one" points at a thing: the one on the left, one by one, one is red and the other blue."""
    if k > 0 and tokens[k - 1] in _POINTING:
        return True
    return tokens[k + 1 : k + 2] in (["by"], ["after"]) or not {"other", "another"}.isdisjoint(tokens[k + 1 : k + 30])


def _is_none(tokens: list[str], k: int) -> bool:
    """Whether a single one is denied: not one, not a single cube."""
    return tokens[k] in ("one", "single") and bool({"not", "isn't"} & set(tokens[max(0, k - 2) : k]))


def _find_values(tokens: list[str], expected: ExpectedAnswer) -> Iterator[AnswerMention]:
    forms, longest, openings = index_forms(expected)
    k = 0
    while k < len(tokens):
        if tokens[k] not in openings:
            k += 1
            continue
        for size in range(min(longest, len(tokens) - k), 0, -1):
            answer = forms.get(" ".join(tokens[k : k + size]))
            if answer is not None:
                yield AnswerMention(answer, k, size=size)
                k += size - 1
                break
        k += 1


@lru_cache(maxsize=256)
def index_forms(expected: ExpectedAnswer) -> tuple[dict[str, str], int, frozenset[str]]:
    """The answer of each form, the words of the longest, and the words that a form begins with."""
    words = [form.split() for form, _ in expected.forms]
    return dict(expected.forms), max(map(len, words), default=0), frozenset(w[0] for w in words if w)
