"""Wording: the text of a question from one of its template's texts and the words in its slots.

Everything that does not depend on the scene is done once: a text is cut into words and slots, for each choice
of its optional words, with and without "other".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ..rng import seed_of
from .english import article
from .lexicon import PART, THING, Lexicon, Said, noun_of
from .template import OTHER, RELATION, REPAINTED, SLOT_TOKEN, TOKEN, Template
from .vocabulary import Vocabulary

ANOTHER = "another"
OPTION_BITS = 40  # a question's random bits from here on choose its text and optional words
SEED_BITS = 128
SPARE_BITS = 64 - OPTION_BITS - 8  # of them, left for the optional words
CLOSING = ".,;:?!)…"  # a token that starts so stands right after the last word
OPENING = "\"'(«“‘„"

Ways = tuple[tuple[str, ...], int]  # phrases, shift


class Gap(NamedTuple):
    """A slot in a text. `ways[code]` says its term; the last entry is for an empty slot."""

    slot: int
    ways: tuple[Ways, ...]


class Tail(NamedTuple):
    """What stands right after the last word: a comma, a question mark."""

    text: str


class Head(NamedTuple):
    """What stands right before the next word: a bracket, a quotation mark."""

    text: str


class Article(NamedTuple):
    """a or an, by the word that follows."""


Token = str | Gap | Tail | Head | Article


@dataclass(frozen=True, slots=True)
class Cut:
    """A text cut into tokens; `options` are the spans that may be left out."""

    tokens: tuple[Token, ...]
    options: tuple[tuple[int, int], ...]
    has_other: bool


class Wording:
    """The texts of one template, ready to be filled."""

    def __init__(self, template: Template, vocabulary: Vocabulary, lexicon: Lexicon) -> None:
        self.template, self.vocabulary, self.lexicon = template, vocabulary, lexicon
        self.on_parts = slots_on_parts(template)
        self.of_one = _slots_of_one(template)
        self.part_noun = noun_of(vocabulary.schema.part_attributes)
        self.cuts = tuple(self._cut(text) for text in template.texts)
        self.rivals = _rivals(template) if any(c.has_other for c in self.cuts) else ()
        self._flat: dict[tuple[int, int, bool], tuple[Token, ...]] = {}

    def __call__(self, values: list[int], dice: int, other: bool | None = None) -> str:
        """The question; `dice` are 64 random bits that choose text, synonyms and optional words.

        `other`: whether the thing that others are like is one of them; by default the words must tell.
        """
        which = (dice >> OPTION_BITS) % len(self.cuts)
        cut = self.cuts[which]
        kept = _option_bits(dice, len(cut.options))
        other = cut.has_other and (not self._differ(values) if other is None else other)
        key = (which, kept, other)
        tokens = self._flat.get(key)
        if tokens is None:
            tokens = self._flat[key] = _flatten(cut, kept, other)
        words: list[str] = []
        articles: list[int] = []
        head = ""
        for token in tokens:
            if type(token) is str:
                words.append(head + token)
                head = ""
            elif type(token) is Gap:
                ways, shift = token.ways[values[token.slot]]
                if ways:
                    said = ways[(dice >> shift & 255) % len(ways)] if len(ways) > 1 else ways[0]
                    words.append(head + said)
                    head = ""
            elif type(token) is Tail:
                if words and not head:
                    words[-1] += token.text
                else:
                    words.append(head + token.text)
                    head = ""
            elif type(token) is Head:
                head += token.text
            else:
                articles.append(len(words))
                words.append("a")
        for at in articles:
            if words[at] == "a" and at + 1 < len(words):
                words[at] = article(words[at + 1].lstrip(OPENING))
        text = " ".join(words) + head
        return text[:1].upper() + text[1:]

    def _differ(self, values: list[int]) -> bool:
        """Whether the two descriptions can not fit one thing, so that "other" would be odd."""
        for left, right in self.rivals:
            a, b = values[left], values[right]
            if a >= 0 and b >= 0 and self.vocabulary.apart(a, b):
                return True
        return False

    def _cut(self, text: str) -> Cut:
        tokens: list[Token] = []
        options: list[tuple[int, int]] = []
        opened = 0
        for raw in TOKEN.findall(text):
            if raw == "[":
                opened = len(tokens)
            elif raw == "]":
                options.append((opened, len(tokens)))
            else:
                tokens += self._tokens(raw)
        for i, token in enumerate(tokens):
            if token == REPAINTED:
                tokens[i] = self._repainted(tokens[i + 1 :])
        words = [t.lower() for t in tokens if isinstance(t, str)]
        return Cut(tuple(tokens), tuple(options), OTHER in words or ANOTHER in words)

    def _tokens(self, raw: str) -> list[Token]:
        found = SLOT_TOKEN.fullmatch(raw)
        if not found:
            return [Tail(raw)] if raw[0] in CLOSING else [raw]
        before, name, several, ending, after = found.groups()
        gap = self._gap(self.template.slot(name), bool(several), ending)
        return [*([Head(before)] if before else []), gap, *([Tail(after)] if after else [])]

    def _repainted(self, after: list[Token]) -> Token:
        """The word itself, or where it stands before the one part of an object, a gap for it.

        The roof of the bus is one part, painted as it is; the wheels of the bus are several.
        """
        for token in after:
            if not isinstance(token, Gap) or token.slot not in self.on_parts:
                break
            if self.template.params[token.slot].attribute == self.part_noun and token.slot in self.of_one:
                return Gap(token.slot, _unless_outright(self.vocabulary, self.lexicon))
        return REPAINTED

    def _gap(self, slot: int, several: bool, ending: str) -> Gap:
        attribute = self.template.params[slot].attribute
        schema, on_parts = self.vocabulary.schema, slot in self.on_parts
        blank: Ways = ((), 0)
        if attribute == noun_of(schema.part_attributes if on_parts else schema.attributes):
            blank = _ways(self.lexicon.said(PART if on_parts else THING), several, ending)
        names = schema.relations if attribute == RELATION else self.vocabulary.names
        return Gap(slot, (*_all_ways(names, self.lexicon, several, ending), blank, blank))


@lru_cache(maxsize=256)
def _all_ways(names: tuple[str, ...], lexicon: Lexicon, several: bool, ending: str) -> tuple[Ways, ...]:
    return tuple(_ways(lexicon.said(n), several, ending) for n in names)


@lru_cache(maxsize=16)
def _unless_outright(vocabulary: Vocabulary, lexicon: Lexicon) -> tuple[Ways, ...]:
    """`repainted` for the terms that may be several parts of an object, and for none.

    All that the front left wheel takes in goes by its words alone, whereas a front wheel may be the left one.
    """
    names = vocabulary.names
    said: list[Ways] = []
    for code, inside in enumerate(vocabulary.covers):
        ways = lexicon.ways(names[code])
        outright = all(lexicon.ways(names[c]) == ways for c in inside.nonzero()[0].tolist())
        said.append(((), 0) if outright else ((REPAINTED,), 0))
    return (*said, ((REPAINTED,), 0), ((REPAINTED,), 0))


def _ways(said: Said, several: bool, ending: str) -> Ways:
    ways = said.several if several else said.one
    return (tuple(w + ending for w in ways) if ending else ways, said.shift)


def _option_bits(dice: int, options: int) -> int:
    """A random bit for each of a text's optional words."""
    bits, size = dice >> (64 - SPARE_BITS), SPARE_BITS
    while size < options:
        bits |= seed_of("optional words", dice, size) << size
        size += SEED_BITS
    return bits & ((1 << options) - 1)


def _flatten(cut: Cut, kept: int, other: bool) -> tuple[Token, ...]:
    """The tokens of one variant: options taken or left, "other" in or out, articles found, words joined."""
    left_out = {
        i for n, (first, last) in enumerate(cut.options) if not kept >> n & 1 for i in range(first, last)
    }
    tokens: list[Token] = []
    for i, token in enumerate(cut.tokens):
        if i in left_out:
            continue
        if isinstance(token, str) and cut.has_other and not other:
            if token.lower() == OTHER:
                continue
            if token.lower() == ANOTHER:
                token = Article()
        tokens.append(token)
    for i in range(len(tokens) - 1):
        word = tokens[i]
        if isinstance(word, str) and word.lower() in ("a", "an") and isinstance(tokens[i + 1], Gap | Head):
            tokens[i] = Article()
    joined: list[Token] = []
    for token in tokens:
        last = joined[-1] if joined else None
        if isinstance(token, str) and isinstance(last, str):
            joined[-1] = f"{last} {token}"
        elif isinstance(token, Tail) and isinstance(last, str):
            joined[-1] = last + token.text
        else:
            joined.append(token)
    return tuple(joined)


def slots_on_parts(template: Template) -> frozenset[int]:
    """The slots that describe parts."""
    names = {p.name: i for i, p in enumerate(template.params)}
    return frozenset(names[s] for n in template.nodes if n.meaning.on_parts for s in n.slots)


def _slots_of_one(template: Template) -> frozenset[int]:
    """The slots that describe one part of a single object."""

    def single(at: int) -> bool:
        n = template.nodes[at]
        return n.meaning.kind == "unique" or (n.meaning.op == "owners" and single(n.inputs[0]))

    found: set[int] = set()
    for n in template.nodes:
        before = template.nodes[n.inputs[0]] if n.inputs else n
        one = n.meaning.on_parts and n.meaning.tail == "unique"
        if one and before.meaning.op == "parts" and single(before.inputs[0]):
            found |= {template.slot(s) for s in n.slots}
    return frozenset(found)


def _rivals(template: Template) -> tuple[tuple[int, int], ...]:
    """The pairs of slots, by attribute, of the two object descriptions that "other" tells apart."""
    described = [
        {template.params[template.slot(s)].attribute: template.slot(s) for s in n.slots}
        for n in template.nodes
        if n.meaning.op == "describe" and not n.meaning.on_parts
    ]
    if len(described) != 2:
        return ()
    left, right = described
    return tuple((left[a], right[a]) for a in left if a in right and a != RELATION)
