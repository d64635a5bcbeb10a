"""Wording: the text of a question from one of its template's texts and the words in its slots.

Everything that does not depend on the scene is done once: a text is cut into words and slots, for each choice
of its optional words, with and without "other".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ...english.inflection import article, capitalize_first
from ...english.synonyms import PART, THING, Lexicon, WordForms, noun_attribute
from ...rng import seed_of
from .template import OTHER, RELATION, SLOT_TOKEN, TOKEN, Template
from .vocabulary import SlotVocabulary

ANOTHER = "another"
OPTION_BITS = 40  # a question's random bits from here on choose its text and optional words
SEED_BITS = 128
SPARE_BITS = 64 - OPTION_BITS - 8  # of them, left for the optional words
CLOSING = ".,;:?!)…"  # a token that starts so stands right after the last word
OPENING = "\"'(«“‘„"
CLAUSE_MARK = "\ue000"  # before the number of a clause that a text has room for
IN_BRACKETS, WITH_COMMA = "(", ","  # after it: a clause in brackets; one with a comma after it, if there is one in it

PhraseChoices = tuple[tuple[str, ...], int]  # phrases, shift


class WordingSlot(NamedTuple):
    """A slot in a text. `ways[code]` says its term; the last entry is for an empty slot."""

    slot: int
    ways: tuple[PhraseChoices, ...]


class ClosingMark(NamedTuple):
    text: str  # what stands right after the last word: a comma, a question mark


class OpeningMark(NamedTuple):
    text: str  # what stands right before the next word: a bracket, a quotation mark


class ArticleToken(NamedTuple):
    """a or an, by the word that follows."""


class ClauseToken(NamedTuple):
    number: int  # of the clause that stands here
    style: str  # IN_BRACKETS, WITH_COMMA or neither


WordingToken = str | WordingSlot | ClosingMark | OpeningMark | ArticleToken | ClauseToken


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """A text cut into tokens; `options` are the spans that may be left out."""

    tokens: tuple[WordingToken, ...]
    options: tuple[tuple[int, int], ...]
    has_other: bool


class QuestionWording:
    def __init__(self, template: Template, vocabulary: SlotVocabulary, lexicon: Lexicon) -> None:
        self.template, self.vocabulary, self.lexicon = template, vocabulary, lexicon
        self.on_parts = find_part_slots(template)
        self.cuts = tuple(self._tokenize_text(text) for text in template.texts)
        self.rivals = _find_rival_slots(template) if any(c.has_other for c in self.cuts) else ()
        self._flat: dict[tuple[int, int, bool], tuple[WordingToken, ...]] = {}

    def __call__(
        self, values: list[int], dice: int, other: bool | None = None, clauses: Mapping[int, str] | None = None
    ) -> str:
        """The question; `dice` are 64 random bits that choose text, synonyms and optional words.

        `other`: whether the thing that others are like is one of them; by default the words must tell.
        `clauses` are what stands at the marks for clauses, by number.
        """
        which = (dice >> OPTION_BITS) % len(self.cuts)
        cut = self.cuts[which]
        kept = _draw_option_bits(dice, len(cut.options))
        if not cut.has_other:
            other = False
        elif other is None:  # odd where the two descriptions cannot fit one thing
            covers, pairs = self.vocabulary.covers, [(values[left], values[right]) for left, right in self.rivals]
            other = not any(a >= 0 and b >= 0 and not (covers[a] & covers[b]).any() for a, b in pairs)
        key = (which, kept, other)
        tokens = self._flat.get(key)
        if tokens is None:
            tokens = self._flat[key] = _flatten_tokens(cut, kept, other)
        words: list[str] = []
        articles: list[int] = []
        head = ""
        for token in tokens:
            if type(token) is str:
                words.append(head + token)
                head = ""
            elif type(token) is WordingSlot:
                ways, shift = token.ways[values[token.slot]]
                if ways:
                    said = ways[(dice >> shift & 255) % len(ways)] if len(ways) > 1 else ways[0]
                    words.append(head + said)
                    head = ""
            elif type(token) is ClosingMark:
                if words and not head:
                    words[-1] += token.text
                else:
                    words.append(head + token.text)
                    head = ""
            elif type(token) is OpeningMark:
                head += token.text
            elif type(token) is ClauseToken:
                clause = (clauses or {})[token.number]
                words.append(f"({clause})" if token.style == IN_BRACKETS else clause)
                if token.style == WITH_COMMA and WITH_COMMA in clause:
                    words[-1] += WITH_COMMA
            else:
                articles.append(len(words))
                words.append("a")
        for at in articles:
            if words[at] == "a" and at + 1 < len(words):
                words[at] = article(words[at + 1].lstrip(OPENING))
        return capitalize_first(" ".join(words) + head)

    def _tokenize_text(self, text: str) -> TokenizedText:
        tokens: list[WordingToken] = []
        options: list[tuple[int, int]] = []
        opened = 0
        for raw in TOKEN.findall(text):
            if raw == "[":
                opened = len(tokens)
            elif raw == "]":
                options.append((opened, len(tokens)))
            elif found := SLOT_TOKEN.fullmatch(raw):
                before, name, several, ending, after = found.groups()
                tokens += [OpeningMark(before)] if before else []
                tokens.append(self._build_slot(self.template.find_slot(name), bool(several), ending))
                tokens += [ClosingMark(after)] if after else []
            elif raw[0] == CLAUSE_MARK:
                number = raw[1:].rstrip(IN_BRACKETS + WITH_COMMA)
                tokens.append(ClauseToken(int(number), raw[1 + len(number) :]))
            else:
                tokens.append(ClosingMark(raw) if raw[0] in CLOSING else raw)
        words = [t.lower() for t in tokens if isinstance(t, str)]
        return TokenizedText(tuple(tokens), tuple(options), OTHER in words or ANOTHER in words)

    def _build_slot(self, slot: int, several: bool, ending: str) -> WordingSlot:
        attribute = self.template.params[slot].attribute
        schema, on_parts = self.vocabulary.schema, slot in self.on_parts
        blank: PhraseChoices = ((), 0)
        if attribute == noun_attribute(schema.part_attributes if on_parts else schema.attributes):
            blank = _list_phrases(self.lexicon.get_forms(PART if on_parts else THING), several, ending)
        names = schema.relations if attribute == RELATION else self.vocabulary.names
        return WordingSlot(slot, (*_list_all_phrases(names, self.lexicon, several, ending), blank, blank))


@lru_cache(maxsize=256)
def _list_all_phrases(
    names: tuple[str, ...], lexicon: Lexicon, several: bool, ending: str
) -> tuple[PhraseChoices, ...]:
    return tuple(_list_phrases(lexicon.get_forms(n), several, ending) for n in names)


def _list_phrases(said: WordForms, several: bool, ending: str) -> PhraseChoices:
    ways = said.several if several else said.one
    return (tuple(w + ending for w in ways) if ending else ways, said.shift)


def _draw_option_bits(dice: int, options: int) -> int:
    """A random bit for each of a text's optional words."""
    bits, size = dice >> (64 - SPARE_BITS), SPARE_BITS
    while size < options:
        bits |= seed_of("optional words", dice, size) << size
        size += SEED_BITS
    return bits & ((1 << options) - 1)


def _flatten_tokens(cut: TokenizedText, kept: int, other: bool) -> tuple[WordingToken, ...]:
    """The tokens of one variant: options taken or left, "other" in or out, articles found, words joined."""
    left_out = {i for n, (first, last) in enumerate(cut.options) if not kept >> n & 1 for i in range(first, last)}
    tokens: list[WordingToken] = []
    for i, token in enumerate(cut.tokens):
        if i in left_out:
            continue
        if isinstance(token, str) and cut.has_other and not other:
            if token.lower() == OTHER:
                continue
            if token.lower() == ANOTHER:
                token = ArticleToken()
        tokens.append(token)
    for i in range(len(tokens) - 1):
        word = tokens[i]
        before_slot = isinstance(tokens[i + 1], WordingSlot | OpeningMark)
        if before_slot and isinstance(word, str) and word.lower() in ("a", "an"):
            tokens[i] = ArticleToken()
    joined: list[WordingToken] = []
    for token in tokens:
        last = joined[-1] if joined else None
        if isinstance(token, str) and isinstance(last, str):
            joined[-1] = f"{last} {token}"
        elif isinstance(token, ClosingMark) and isinstance(last, str):
            joined[-1] = last + token.text
        else:
            joined.append(token)
    return tuple(joined)


def find_part_slots(template: Template) -> frozenset[int]:
    names = {p.name: i for i, p in enumerate(template.params)}
    return frozenset(names[s] for n in template.nodes if n.meaning.on_parts for s in n.slots)


def _find_rival_slots(template: Template) -> tuple[tuple[int, int], ...]:
    """The pairs of slots, by attribute, of the two object descriptions that "other" tells apart.

    These are what `same` reads and what reads it; in a template without it, the only two there are.
    """
    at = {n.meaning.op: i for i, n in enumerate(template.nodes)}.get("same", -1)
    sides = [n for i, n in enumerate(template.nodes) if at < 0 or at in n.inputs or i in template.nodes[at].inputs]
    described = [
        {template.params[template.find_slot(s)].attribute: template.find_slot(s) for s in n.slots}
        for n in sides
        if n.meaning.op == "describe" and not n.meaning.on_parts
    ]
    if len(described) != 2:
        return ()
    left, right = described
    return tuple((left[a], right[a]) for a in left if a in right and a != RELATION)
