"""The words of questions and the tokens of programs, numbered, and which words spell which schema terms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import UserError
from ...lang.op import PAIR, get_op
from ...lang.program import Program
from ...lang.types import PART, PARTS, Type
from ...schema import Schema
from .tokens import AGAIN, KEPT, Token, Written, order_of, read

Ids = npt.NDArray[np.int16]

PAD = 0  # in texts and programs: nothing stands here
BEGIN = 1  # before every text and every program
UNKNOWN = 2  # a word that neither a question nor the schema holds
SPECIAL_WORDS = ("", "<text>", "<unknown>")
SPECIAL_TOKENS = 2
LONGEST_TEXT = 200  # words; the rest of a longer text is not read

_WORDS = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Questions as numbers, BEGIN first and PAD behind."""

    words: Ids  # [question, word]
    tokens: Ids  # [question, token]

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True)
class Vocabulary:
    """Numbered words, tokens and terms; what training texts and programs hold, and what the schema adds."""

    words: tuple[str, ...]
    tokens: tuple[Token, ...]  # token k has number k + SPECIAL_TOKENS
    terms: tuple[str, ...]
    meanings: tuple[tuple[int, ...], ...]  # of each word, the terms in whose spelling it occurs
    adjectives: tuple[str, ...] = ()  # attributes said before the noun, in order
    _word: dict[str, int] = field(init=False, repr=False, compare=False)
    _token: dict[Token, int] = field(init=False, repr=False, compare=False)
    _slots: dict[Written, _Slot] = field(init=False, repr=False, compare=False)
    _steps: dict[tuple[int, ...], list[tuple[int, _Slot]]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_word", {w: k for k, w in enumerate(self.words)})
        object.__setattr__(self, "_token", {t: k + SPECIAL_TOKENS for k, t in enumerate(self.tokens)})
        object.__setattr__(self, "_slots", {})
        object.__setattr__(self, "_steps", {})

    @classmethod
    def learn(cls, questions: Iterable[tuple[str, Program]], schema: Schema) -> Vocabulary:
        """From texts with their programs, whatever their order; the schema adds every value it has."""
        seen: set[str] = set()
        worded: dict[Written, set[tuple[str, ...]]] = {}
        plans: dict[tuple[int, ...], list[tuple[int, set[tuple[str, ...]]]]] = {}
        for text, program in questions:
            seen.update(_split(text))
            skeleton = program.skeleton()
            if skeleton not in plans:
                steps = [step.alike() for step in order_of(program)]
                plans[skeleton] = [(at, worded.setdefault(step, set())) for at, step in steps]
            for at, keys in plans[skeleton]:
                keys.add(program.nodes[at].params)
        kinds = {step.worded(key) for step, keys in worded.items() for key in keys}
        if not kinds:
            raise UserError("a question parser can not be trained without questions that have programs")
        made = {*kinds, *(new for token in kinds for new in _like(token, schema))}
        tokens = sorted(made, key=lambda t: (t.op, str(t.inputs), str(t.output), t.words))
        terms = sorted({term for t in tokens for term in t.terms})
        spelled = _spellings(terms, schema)
        plain = sorted((seen | set(spelled)) - set(SPECIAL_WORDS))
        number = {term: k for k, term in enumerate(terms)}
        meanings = [tuple(sorted(number[t] for t in spelled.get(_singular(w, spelled), ()))) for w in plain]
        adjectives = tuple(a.name for a in schema.attributes[:-1])
        return cls(
            (*SPECIAL_WORDS, *plain), tuple(tokens), tuple(terms), ((),) * 3 + tuple(meanings), adjectives
        )

    def text_ids(self, text: str) -> list[int]:
        """The numbers of a text's words; an unknown plural is read as its singular."""
        found = [BEGIN]
        word = self._word
        for w in _split(text)[: LONGEST_TEXT - 1]:
            k = word.get(w)
            found.append(word.get(_singular(w, word), UNKNOWN) if k is None else k)
        return found

    def program_ids(self, program: Program) -> list[int]:
        """The numbers of a program's tokens; a UserError if it needs one that is not among them."""
        skeleton = program.skeleton()
        steps = self._steps.get(skeleton)
        if steps is None:
            steps = self._plan(program)
            if len(self._steps) < KEPT:
                self._steps[skeleton] = steps
        nodes = program.nodes
        return [slot[nodes[at].params] for at, slot in steps]

    def _plan(self, program: Program) -> list[tuple[int, _Slot]]:
        steps = [step.alike() for step in order_of(program)]
        return [(at, self._slots.setdefault(step, _Slot(step, self._token))) for at, step in steps]

    def program(self, ids: Sequence[int]) -> Program:
        """The program that these tokens write."""
        return read([self.tokens[k - SPECIAL_TOKENS] for k in ids])

    def encode(self, questions: Sequence[tuple[str, Program]]) -> Encoded:
        """Texts and their programs as two tables."""
        texts = [self.text_ids(text) for text, _ in questions]
        programs = [[BEGIN, *self.program_ids(program)] for _, program in questions]
        return Encoded(padded(texts), padded(programs))

    def word_terms(self) -> npt.NDArray[np.float32]:
        """[word, term] how much a word tells of a term: of many terms it tells less."""
        table = np.zeros((len(self.words), len(self.terms)), np.float32)
        for k, found in enumerate(self.meanings):
            table[k, list(found)] = 1 / np.sqrt(max(len(found), 1))
        return table

    def token_terms(self) -> npt.NDArray[np.float32]:
        """[token, term] which terms a token is made of."""
        number = {term: k for k, term in enumerate(self.terms)}
        table = np.zeros((len(self.tokens) + SPECIAL_TOKENS, len(self.terms)), np.float32)
        for k, token in enumerate(self.tokens):
            for term in token.terms:
                table[k + SPECIAL_TOKENS, number[term]] = 1
        return table

    def spelled(self, word: int) -> int | None:
        """The term that a word spells by itself: `bus` the bus, though it occurs in `school bus` as well."""
        meant = {self.terms[k]: k for k in self.meanings[word]}
        return (
            next(iter(meant.values())) if len(meant) == 1 else meant.get(_singular(self.words[word], meant))
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "words": list(self.words),
            "tokens": [t.to_json() for t in self.tokens],
            "terms": list(self.terms),
            "meanings": [list(m) for m in self.meanings],
            "adjectives": list(self.adjectives),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Vocabulary:
        return cls(
            words=tuple(data["words"]),
            tokens=tuple(map(Token.from_json, data["tokens"])),
            terms=tuple(data["terms"]),
            meanings=tuple(map(tuple, data["meanings"])),
            adjectives=tuple(data["adjectives"]),
        )


class _Slot(dict[tuple[str, ...], int]):
    """The numbers of tokens that are alike but for their words, found out when first asked for."""

    def __init__(self, step: Written, numbers: dict[Token, int]) -> None:
        self.step, self.numbers = step, numbers

    def __missing__(self, key: tuple[str, ...]) -> int:
        token = self.step.worded(key)
        if token not in self.numbers:
            said = ", ".join((token.op, *token.terms))
            raise UserError(f"the question parser has no token for {said}; train it on such questions")
        self[key] = self.numbers[token]
        return self[key]


def padded(rows: Sequence[Sequence[int]]) -> Ids:
    """Rows of different lengths as one table."""
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    table = np.full((len(rows), int(lengths.max(initial=1))), PAD, np.int16)
    table[np.arange(table.shape[1]) < lengths[:, None]] = np.fromiter(
        (k for row in rows for k in row), np.int16
    )
    return table


def _split(text: str) -> list[str]:
    return _WORDS.findall(text.lower())


def _singular(word: str, known: Iterable[str]) -> str:
    """The known word that this one is the plural of, or the word itself."""
    options = (word, word.removesuffix("s"), word.removesuffix("es"))
    return next((w for w in options if w in known), word)


def _spellings(terms: Iterable[str], schema: Schema) -> dict[str, set[str]]:
    """Each word of the schema's language, with the terms that it helps to spell."""
    synonyms: dict[str, list[str]] = {}
    for value, words in schema.synonyms:
        synonyms.setdefault(value, []).extend(words)
    found: dict[str, set[str]] = {}
    for term in terms:
        for said in (term, *synonyms.get(term, ())):
            for word in _split(said.replace("_", " ")):
                found.setdefault(word, set()).add(term)
    return found


def _like(token: Token, schema: Schema) -> list[Token]:
    """The tokens that differ from this one in words only, for every word that the schema has in its place."""
    params = () if token.op == AGAIN else get_op(token.op).params
    attributes = schema.part_attributes if token.inputs[:1] in ((PART,), (PARTS,)) else schema.attributes
    if params == ("relation",):
        return [replace(token, words=(r,)) for r in schema.relations]
    if params == PAIR:
        return [replace(token, words=(a.name, term)) for a in attributes for term in a.terms]
    if params == ("attribute",):
        given = [Type("Value", a.name) if token.output.of else token.output for a in attributes]
        return [replace(token, words=(a.name,), output=t) for a, t in zip(attributes, given, strict=True)]
    if token.op == "equal" and token.inputs[0].of:
        either = dict.fromkeys(a.name for a in (*schema.attributes, *schema.part_attributes))
        return [replace(token, inputs=(Type("Value", name),) * 2) for name in either]
    return []
