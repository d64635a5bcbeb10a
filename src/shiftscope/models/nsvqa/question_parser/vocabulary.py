"""The words of questions and the tokens of programs, numbered, which words spell which schema terms; the config."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from ....errors import UserError
from ....lang.op import OBJECT, OBJECTS, PAIR, PART, PARTS, Type, get_op
from ....lang.program import MAX_NODES, Node, Program
from ....schema import Schema
from .tokens import (
    AGAIN,
    CACHED_NODES,
    CACHED_SKELETONS,
    INTERSECT,
    RELATE,
    RELATED,
    ParserToken,
    TokenStep,
    order_tokens,
)

Ids = npt.NDArray[np.int16]

PAD = 0  # in texts and programs: nothing stands here
BEGIN = 1  # before every text and every program
UNKNOWN = 2  # a word that neither a question nor the schema holds
SPECIAL_WORDS = ("", "<text>", "<unknown>")
SPECIAL_TOKENS = 2
LONGEST_TEXT = 400  # words; the rest of a longer text is not read

LIST_WORDS = (*"(,)", "and", "which", "that", "is", "are")  # around and between relations, whatever texts say

_WORDS = re.compile(r"\w+|[^\w\s]")
_params = attrgetter("params")


@dataclass(frozen=True)
class ParserVocabulary:
    """Numbered words, tokens and terms; what training texts and programs hold, and what the schema adds."""

    words: tuple[str, ...]
    tokens: tuple[ParserToken, ...]  # token k has number k + SPECIAL_TOKENS
    terms: tuple[str, ...]
    meanings: tuple[tuple[int, ...], ...]  # of each word, the terms in whose spelling it occurs
    adjectives: tuple[str, ...] = ()  # attributes that stand before the noun, in order
    _word: dict[str, int] = field(init=False, repr=False, compare=False)
    _pieces: _WordIds = field(init=False, repr=False, compare=False)
    _token: dict[ParserToken, int] = field(init=False, repr=False, compare=False)
    _slots: dict[TokenStep, _TokenIds] = field(init=False, repr=False, compare=False)
    _steps: dict[tuple[int, ...], list[tuple[int, _TokenIds]]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_word", {w: k for k, w in enumerate(self.words)})
        object.__setattr__(self, "_pieces", _WordIds(self._word))
        object.__setattr__(self, "_token", {t: k + SPECIAL_TOKENS for k, t in enumerate(self.tokens)})
        object.__setattr__(self, "_slots", {})
        object.__setattr__(self, "_steps", {})

    @classmethod
    def learn(cls, questions: Iterable[tuple[str, Program]], schema: Schema) -> ParserVocabulary:
        """From texts with their programs, whatever their order; the schema adds every value it has."""
        seen: set[str] = set()
        worded: dict[TokenStep, set[tuple[str, ...]]] = {}
        alike: dict[tuple[int, ...], list[Program]] = {}
        for text, program in questions:
            seen.update(text.split())
            alike.setdefault(program.skeleton(), []).append(program)
        for programs in alike.values():
            nodes = [program.nodes for program in programs]
            for at, step in (step.generalize() for step in order_tokens(programs[0])):
                worded.setdefault(step, set()).update(_list_params(nodes, at))
        kinds = {step.make_token(key) for step, keys in worded.items() for key in keys}
        if not kinds:
            raise UserError("a question parser cannot be trained without questions that have programs")
        kinds |= _list_pair_tokens(kinds)
        made = {*kinds, *(new for token in kinds for new in _list_similar_tokens(token, schema))}
        return cls.from_tokens(seen, made, schema)

    @classmethod
    def from_tokens(cls, texts: Iterable[str], made: Iterable[ParserToken], schema: Schema) -> ParserVocabulary:
        """Of these tokens, and of the words of texts or of pieces of them."""
        seen = {word for piece in texts for word in _split_words(piece)}
        tokens = sorted(made, key=lambda t: (t.op, str(t.inputs), str(t.output), t.words))
        terms = sorted({term for t in tokens for term in t.terms})
        spelled = _list_spellings(terms, schema)
        plain = sorted((seen | set(spelled) | set(LIST_WORDS)) - set(SPECIAL_WORDS))
        number = {term: k for k, term in enumerate(terms)}
        meanings = [tuple(sorted(number[t] for t in spelled.get(_to_singular(w, spelled), ()))) for w in plain]
        adjectives = tuple(a.name for a in schema.attributes[:-1])
        return cls((*SPECIAL_WORDS, *plain), tuple(tokens), tuple(terms), ((),) * 3 + tuple(meanings), adjectives)

    def encode_text(self, text: str) -> list[int]:
        """The numbers of a text's words; an unknown plural is read as its singular."""
        return [BEGIN, *chain.from_iterable(map(self._pieces.__getitem__, text.split()))][:LONGEST_TEXT]

    def encode_program(self, program: Program) -> list[int]:
        """The numbers of a program's tokens; a UserError if it needs one that is not among them."""
        nodes = program.nodes
        return [slot[nodes[at].params] for at, slot in self._plan_encoding(program)]

    def _plan_encoding(self, program: Program) -> list[tuple[int, _TokenIds]]:
        skeleton = program.skeleton()
        steps = self._steps.get(skeleton)
        if steps is None:
            alike = [step.generalize() for step in order_tokens(program)]
            steps = [(at, self._slots.setdefault(step, _TokenIds(step, self._token))) for at, step in alike]
            if len(self._steps) < CACHED_SKELETONS and len(program) <= CACHED_NODES:
                self._steps[skeleton] = steps
        return steps

    def encode(self, questions: Sequence[tuple[str, Program]], lenient: bool = False) -> tuple[Ids, Ids]:
        """Texts and their programs as two tables, [question, word] and [question, token], BEGIN first and PAD behind.

        A program that needs a token that is not among these is a UserError; to the lenient it is BEGIN twice,
        which is never written. All programs of one skeleton are encoded token by token: one by one is far slower.
        """
        programs = [program for _, program in questions]
        alike: dict[tuple[int, ...], list[int]] = {}
        for i, program in enumerate(programs):
            alike.setdefault(program.skeleton(), []).append(i)
        plans = [(self._plan_encoding(programs[rows[0]]), rows) for rows in alike.values()]
        table: Ids = np.full((len(programs), 1 + max((len(plan) for plan, _ in plans), default=0)), PAD, np.int16)
        table[:, 0] = BEGIN
        for plan, rows in plans:
            nodes = [programs[i].nodes for i in rows]
            try:
                made = [list(map(slot.__getitem__, _list_params(nodes, at))) for at, slot in plan]
                table[rows, 1 : 1 + len(plan)] = np.array(made, np.int16).T
            except UserError:
                if not lenient:
                    raise
                for i in rows:
                    row = [BEGIN] + [PAD] * (len(plan) - 1)
                    with suppress(UserError):
                        row = self.encode_program(programs[i])
                    table[i, 1 : 1 + len(plan)] = row
        return pad_rows(self.encode_text(text) for text, _ in questions), table

    def word_terms(self) -> npt.NDArray[np.float32]:
        """[word, term] how much of a term a word spells: of many terms less of each."""
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

    def find_spelled_term(self, word: int) -> int | None:
        """The term that a word spells by itself: `bus` the bus, though it occurs in `school bus` as well."""
        meant = {self.terms[k]: k for k in self.meanings[word]}
        return next(iter(meant.values())) if len(meant) == 1 else meant.get(_to_singular(self.words[word], meant))

    def to_json(self) -> dict[str, Any]:
        return {
            "words": list(self.words),
            "tokens": [t.to_json() for t in self.tokens],
            "terms": list(self.terms),
            "meanings": [list(m) for m in self.meanings],
            "adjectives": list(self.adjectives),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ParserVocabulary:
        return cls(
            words=tuple(data["words"]),
            tokens=tuple(map(ParserToken.from_json, data["tokens"])),
            terms=tuple(data["terms"]),
            meanings=tuple(map(tuple, data["meanings"])),
            adjectives=tuple(data["adjectives"]),
        )


@dataclass(frozen=True, slots=True)
class QuestionParserConfig:
    """Everything that `build` needs."""

    vocabulary: ParserVocabulary
    width: int = 192  # of words, tokens and states
    heads: int = 4
    dropout: float = 0.1
    forget: float = 0.1  # share of the words that are known by their schema terms alone, in training
    enriched: float = 0.5  # share of the questions that get more adjectives and relations, in training
    stripped: float = 0.25  # share of the questions that lose some, in training
    listed: float = 0.8  # share of the enriched ones that get lists of relations, as rd+ words them
    positions: bool = True  # whether a word is known by its place in the text as well
    longest_program: int = 340  # tokens; the generated programs stay below 40, with all relations below 300

    def __post_init__(self) -> None:
        if min(self.width, self.heads, self.longest_program) < 1 or self.width % self.heads:
            raise UserError("a question parser has sizes from 1 up, and its heads share the width evenly")
        if 3 * self.longest_program > 2 * MAX_NODES:  # two tokens may be three nodes
            raise UserError(f"a question parser writes at most {2 * MAX_NODES // 3} tokens, not {self.longest_program}")
        if not all(0 <= share <= 1 for share in self._list_shares()):
            raise UserError("dropout, forget, enriched, stripped and listed are shares from 0 to 1")
        if self.enriched + self.stripped > 1:
            raise UserError("a question is enriched or stripped: both shares together are 1 at most")

    def _list_shares(self) -> tuple[float, ...]:
        return self.dropout, self.forget, self.enriched, self.stripped, self.listed

    @classmethod
    def list_default_sizes(cls) -> dict[str, Any]:
        """The default sizes: all but the vocabulary."""
        return {f.name: f.default for f in fields(cls) if f.name != "vocabulary"}

    def to_json(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)} | {"vocabulary": self.vocabulary.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> QuestionParserConfig:
        """From what `to_json` made; a parser from before questions were stripped, or got lists, saw none that was."""
        return cls(
            **{
                "stripped": 0.0,
                "listed": 0.0,
                "positions": False,
                **data,
                "vocabulary": ParserVocabulary.from_json(data["vocabulary"]),
            }
        )


class _WordIds(dict[str, tuple[int, ...]]):
    """The numbers of the words in what stands between two spaces: `truck?` holds two."""

    def __init__(self, numbers: dict[str, int]) -> None:
        self.numbers = numbers

    def __missing__(self, piece: str) -> tuple[int, ...]:
        word = self.numbers
        found = tuple(word[w] if w in word else word.get(_to_singular(w, word), UNKNOWN) for w in _split_words(piece))
        if len(self) < CACHED_SKELETONS:
            self[piece] = found
        return found


class _TokenIds(dict[tuple[str, ...], int]):
    """The numbers of tokens that are alike but for their words, looked up at first use."""

    def __init__(self, step: TokenStep, numbers: dict[ParserToken, int]) -> None:
        self.step, self.numbers = step, numbers

    def __missing__(self, key: tuple[str, ...]) -> int:
        token = self.step.make_token(key)
        if token not in self.numbers:
            terms = ", ".join((token.op, *token.terms))
            raise UserError(f"the question parser has no token for {terms}; train it on such questions")
        self[key] = self.numbers[token]
        return self[key]


def pad_rows(rows: Iterable[Sequence[int]]) -> Ids:
    """Rows of different lengths as one table; none is held, for many lists are slow to look after."""
    flat, each = array("h"), array("q")
    for row in rows:
        flat.extend(row)
        each.append(len(row))
    lengths = np.array(each, np.int64)
    table = np.full((len(lengths), int(lengths.max(initial=1))), PAD, np.int16)
    table[np.arange(table.shape[1]) < lengths[:, None]] = np.array(flat, np.int16)
    return table


def _list_params(programs: Iterable[tuple[Node, ...]], at: int) -> Iterable[tuple[str, ...]]:
    """The words of the node that stands there in each of many programs."""
    return map(_params, map(itemgetter(at), programs))


def _split_words(text: str) -> list[str]:
    return _WORDS.findall(text.lower())


def _to_singular(word: str, known: Iterable[str]) -> str:
    """The known word that this one is the plural of, or the word itself."""
    options = (word, word.removesuffix("s"), word.removesuffix("es"))
    return next((w for w in options if w in known), word)


def _list_spellings(terms: Iterable[str], schema: Schema) -> dict[str, set[str]]:
    """Each word of the schema's language, with the terms that it helps to spell."""
    found: dict[str, set[str]] = {}
    for term in terms:
        for phrase in (term, *(way for value, ways in schema.synonyms if value == term for way in ways)):
            for word in _split_words(phrase.replace("_", " ")):
                found.setdefault(word, set()).add(term)
    return found


def _list_pair_tokens(known: Iterable[ParserToken]) -> set[ParserToken]:
    """Those of two relations to one thing, where there are relations and intersections."""
    if not {RELATE, INTERSECT} <= {t.op for t in known}:
        return set()
    relations = [t for t in known if t.op == RELATE and t.inputs == (OBJECT,)]
    first = {replace(t, inputs=(RELATED,), output=OBJECTS) for t in relations}
    return first | {replace(t, output=RELATED) for t in relations}


def _list_similar_tokens(token: ParserToken, schema: Schema) -> list[ParserToken]:
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
