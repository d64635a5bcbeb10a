"""Wording: the text of a question from one of its template's texts and the words in its slots.

Everything that does not depend on the scene is done once: a text is cut into words and slots, for each choice
of its optional words, with and without "other".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...english.inflection import article, capitalize_first
from ...english.synonyms import PART, THING, Lexicon, WordForms, noun_attribute
from ...rng import seed_of
from .grounding import Phrase, PhraseFinder, PhraseSpan, Reference
from .template import OTHER, RELATION, SLOT, SLOT_TOKEN, TOKEN, Template
from .vocabulary import SlotVocabulary

ANOTHER = "another"
OPTION_BITS = 40  # a question's random bits from here on choose its text and optional words
SEED_BITS = 128
SPARE_BITS = 64 - OPTION_BITS - 8  # of them, left for the optional words
CLOSING = ".,;:?!)…"  # a token that starts so stands right after the last word
OPENING = "\"'(«“‘„"
PHRASE_MARK = "\x02"  # before and after each noun phrase, until all words are joined
CLAUSE_MARK = "\ue000"  # before the number of a clause that a text has room for
IN_BRACKETS = "("  # after it: a clause in brackets

PhraseChoices = tuple[tuple[str, ...], int]  # phrases, shift


class WordingSlot(NamedTuple):
    """A slot in a text. `ways[code]` says its term; the last entry is for an empty slot."""

    slot: int
    ways: tuple[PhraseChoices, ...]
    several: bool = False
    ending: str = ""


class ClosingMark(NamedTuple):
    text: str  # what stands right after the last word: a comma, a question mark


class OpeningMark(NamedTuple):
    text: str  # what stands right before the next word: a bracket, a quotation mark


class ArticleToken(NamedTuple):
    """a or an, by the word that follows."""


class Clause(NamedTuple):
    """Words that a text takes in, with marks around each phrase, and the object that each phrase refers to."""

    words: str
    things: tuple[int, ...]


class ClauseToken(NamedTuple):
    number: int  # of the clause that stands here
    in_brackets: bool


WordingToken = str | WordingSlot | ClosingMark | OpeningMark | ArticleToken | ClauseToken


FlatText = tuple[tuple[WordingToken, ...], tuple["Reference | ClauseToken", ...]]  # and what its phrases refer to


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """A text cut into tokens; `options` are the spans that may be left out."""

    tokens: tuple[WordingToken, ...]
    marked: tuple[WordingToken, ...]  # the same, with a mark after each noun that ends a phrase
    options: tuple[tuple[int, int], ...]
    has_other: bool
    phrases: list[Phrase]


class QuestionWording:
    def __init__(self, template: Template, vocabulary: SlotVocabulary, lexicon: Lexicon) -> None:
        self.template, self.vocabulary, self.lexicon = template, vocabulary, lexicon
        self.on_parts = find_part_slots(template)
        self._phrases = PhraseFinder(template, lexicon)
        self._cuts: dict[int, TokenizedText] = {}  # by text, each cut when first needed
        self.rivals = _find_rival_slots(template)
        for slot in dict.fromkeys(name for text in template.texts for name in SLOT.findall(text)):
            self._list_ways(template.find_slot(slot))  # a lexicon counts its words: in this order, come what may
        self._flat: dict[tuple[int, int, bool, bool], FlatText] = {}

    def __call__(
        self, values: list[int], dice: int, other: bool | None = None, clauses: Mapping[int, Clause] | None = None
    ) -> str:
        """The question; `dice` are 64 random bits that choose text, synonyms and optional words.

        `other`: whether the thing that others are like is one of them; by default the words must tell.
        `clauses` are what stands at the marks for clauses, by number.
        """
        tokens, _ = self._choose_tokens(values, dice, other, False)
        text = _join_words(tokens, values, dice, clauses)
        return capitalize_first(text.replace(PHRASE_MARK, "") if clauses else text)

    def word_phrases(
        self, values: list[int], dice: int, other: bool | None = None, clauses: Mapping[int, Clause] | None = None
    ) -> tuple[str, list[PhraseSpan]]:
        """The question, and where its noun phrases stand in it."""
        tokens, referents = self._choose_tokens(values, dice, other, True)
        if clauses is not None:
            referents = tuple(_insert_things(referents, clauses))
        pieces = _join_words(tokens, values, dice, clauses).split(PHRASE_MARK)  # every second one is a phrase
        spans: list[PhraseSpan] = []
        end, rest = 0, iter(pieces)
        for before, phrase, referent in zip(rest, rest, referents, strict=False):
            assert not isinstance(referent, ClauseToken)
            start = end + len(before)
            end = start + len(phrase)
            spans.append((start + 1 if phrase[0] == " " else start, end, referent))
        return capitalize_first("".join(pieces)), spans

    def _choose_tokens(self, values: list[int], dice: int, other: bool | None, marked: bool) -> FlatText:
        which = (dice >> OPTION_BITS) % len(self.template.texts)
        cut = self._cuts.get(which)
        if cut is None:
            cut = self._cuts[which] = self._tokenize_text(self.template.texts[which])
        kept = _draw_option_bits(dice, len(cut.options))
        if not cut.has_other:
            other = False
        elif other is None:  # odd where the two descriptions cannot fit one thing
            both_fit, other = _list_overlaps(self.vocabulary), True
            for left, right in self.rivals:
                a, b = values[left], values[right]
                other = other and (a < 0 or b < 0 or both_fit[a][b])
        key = (which, kept, other, marked)
        flat = self._flat.get(key)
        if flat is None:
            flat = self._flat[key] = _flatten_tokens(cut, kept, other, marked)
        return flat

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
                tokens.append(ClauseToken(int(raw[1:].rstrip(IN_BRACKETS)), raw.endswith(IN_BRACKETS)))
            else:
                word = "" if raw[0] in CLOSING else raw.rstrip(CLOSING)
                tokens += [word] if word else []
                tokens += [ClosingMark(raw.removeprefix(word))] if word != raw else []
        words = [t.lower() for t in tokens if isinstance(t, str)]
        plain = [t if isinstance(t, str) else t.slot if isinstance(t, WordingSlot) else None for t in tokens]
        phrases = self._phrases.find(plain)
        marked = list(tokens)
        for last in {p.last for p in phrases}:
            token = tokens[last]
            if isinstance(token, WordingSlot) and token.slot in self._phrases.nouns:  # never empty
                marked[last] = self._build_slot(token.slot, token.several, token.ending + PHRASE_MARK)
        has_other = OTHER in words or ANOTHER in words
        return TokenizedText(tuple(tokens), tuple(marked), tuple(options), has_other, phrases)

    def _build_slot(self, slot: int, several: bool, ending: str) -> WordingSlot:
        return WordingSlot(slot, self._list_ways(slot, several, ending), several, ending)

    def _list_ways(self, slot: int, several: bool = False, ending: str = "") -> tuple[PhraseChoices, ...]:
        attribute = self.template.params[slot].attribute
        schema, on_parts = self.vocabulary.schema, slot in self.on_parts
        blank: PhraseChoices = ((), 0)
        if attribute == noun_attribute(schema.part_attributes if on_parts else schema.attributes):
            blank = _list_phrases(self.lexicon.get_forms(PART if on_parts else THING), several, ending)
        names = schema.relations if attribute == RELATION else self.vocabulary.names
        return (*_list_all_phrases(names, self.lexicon, several, ending), blank, blank)


@lru_cache(maxsize=16)
def _list_overlaps(vocabulary: SlotVocabulary) -> list[list[bool]]:
    """[term][term] whether one thing can fit both."""
    covers = vocabulary.covers.astype(np.int64)
    found: list[list[bool]] = (covers @ covers.T > 0).tolist()
    return found


@lru_cache(maxsize=256)
def _list_all_phrases(
    names: tuple[str, ...], lexicon: Lexicon, several: bool, ending: str
) -> tuple[PhraseChoices, ...]:
    return tuple(_list_phrases(lexicon.get_forms(n), several, ending) for n in names)


def _list_phrases(said: WordForms, several: bool, ending: str) -> PhraseChoices:
    ways = said.several if several else said.one
    return (tuple(w + ending for w in ways) if ending else ways, said.shift)


def _join_words(
    tokens: tuple[WordingToken, ...], values: list[int], dice: int, clauses: Mapping[int, Clause] | None
) -> str:
    words: list[str] = []
    articles: list[int] = []
    head = ""
    for token in tokens:
        if type(token) is WordingSlot:  # most are
            slot, by_code, _, _ = token
            ways, shift = by_code[values[slot]]
            if ways:
                said = ways[(dice >> shift & 255) % len(ways)] if len(ways) > 1 else ways[0]
                words.append(head + said)
                head = ""
        elif type(token) is str:
            words.append(head + token)
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
            clause = (clauses or {})[token.number].words
            words.append(f"({clause})" if token.in_brackets else clause)
        else:
            articles.append(len(words))
            words.append(head + "a")
            head = ""
    for at in articles:
        if words[at][-1] == "a" and at + 1 < len(words):
            words[at] = words[at][:-1] + article(words[at + 1].strip(OPENING + PHRASE_MARK))
    return " ".join(words) + head


def _draw_option_bits(dice: int, options: int) -> int:
    """A random bit for each of a text's optional words."""
    bits, size = dice >> (64 - SPARE_BITS), SPARE_BITS
    while size < options:
        bits |= seed_of("optional words", dice, size) << size
        size += SEED_BITS
    return bits & ((1 << options) - 1)


def _flatten_tokens(cut: TokenizedText, kept: int, other: bool, marked: bool) -> FlatText:
    """The tokens of one variant: options taken or left, "other" in or out, articles found, words joined.

    Phrases may be marked; with the tokens then comes what each refers to.
    """
    left_out = {i for n, (first, last) in enumerate(cut.options) if not kept >> n & 1 for i in range(first, last)}
    phrases = [p for p in cut.phrases if marked and not left_out.issuperset(range(p.first, p.last + 1))]
    firsts, lasts = {p.first: p.referent for p in phrases}, {p.last for p in phrases}
    tokens: list[WordingToken] = []
    references: list[Reference | ClauseToken] = []
    for i, token in enumerate(cut.marked if marked else cut.tokens):
        if i in firsts:
            tokens.append(OpeningMark(PHRASE_MARK))
            references.append(firsts[i])
        said = i not in left_out
        if isinstance(token, str) and cut.has_other and not other:
            said &= token.lower() != OTHER
            token = ArticleToken() if token.lower() == ANOTHER else token
        if said:
            tokens.append(token)
            references += [token] if isinstance(token, ClauseToken) else []
        if i in lasts and not (isinstance(token, WordingSlot) and token.ending.endswith(PHRASE_MARK)):
            tokens.append(ClosingMark(PHRASE_MARK))
    for i in range(len(tokens) - 1):
        word = tokens[i]
        before_slot = isinstance(tokens[i + 1], WordingSlot | OpeningMark)
        if before_slot and isinstance(word, str) and word.lower() in ("a", "an"):
            tokens[i] = ArticleToken()
    joined: list[WordingToken] = []
    for i, token in enumerate(tokens):
        last = joined[-1] if joined else None
        if token == OpeningMark(PHRASE_MARK) and isinstance(last, str) and isinstance(tokens[i + 1], WordingSlot):
            token = ClosingMark(PHRASE_MARK)  # one word less to join
        if isinstance(token, str) and isinstance(last, OpeningMark):
            token = last.text + token
            joined.pop()
            last = joined[-1] if joined else None
        if isinstance(token, str) and isinstance(last, str):
            joined[-1] = f"{last} {token}"
        elif isinstance(token, ClosingMark) and isinstance(last, str):
            joined[-1] = last + token.text
        elif isinstance(token, ClosingMark) and isinstance(last, ClosingMark):
            joined[-1] = ClosingMark(last.text + token.text)
        else:
            joined.append(token)
    return tuple(joined), tuple(references)


def _insert_things(references: Sequence[Reference | ClauseToken], clauses: Mapping[int, Clause]) -> Iterator[Reference]:
    """What all phrases refer to, those of the clauses among them."""
    for reference in references:
        if isinstance(reference, ClauseToken):
            yield from clauses[reference.number].things
        else:
            yield reference


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
