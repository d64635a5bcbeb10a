"""Augmentation: add lists of relations to a question and its program alike, worded as rd+ words them.

"The red bus" becomes "the red bus (left of and behind the small jet and the sedan, and right of the truck)", or "the
red bus, which is left of …" where the sentence ends. Which things a list names, and how they are related, is drawn by
chance and belongs to no scene.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ....english.synonyms import SYNONYMS
from ....lang.op import OBJECT, OBJECTS
from ....questions.clevr.redundancy.clauses import write_clause
from ....rng import derive
from .add_modifiers import KINDS, Random, insert_pieces, mark_tokens, mark_words
from .drop_modifiers import EDGE, DescriptionMatch, ModifierDropper, take_at
from .network import TableModule
from .tokens import AGAIN, FILTER, INTERSECT, RELATE, RELATED, ParserToken
from .vocabulary import LONGEST_TEXT, PAD, SPECIAL_TOKENS, UNKNOWN, ParserVocabulary, pad_rows

PLACES = 4  # lists in a question
LONGEST = 14  # things in a list
MOST = 36  # things in a question's lists, together
LISTS = 128  # of each length, drawn once
ALL_PLACES = 0.6  # share of the questions that get a list wherever there is room
SAME = 0.3  # share of the questions whose lists are all the same
UNLIKE = 0.5  # by which share a list may be shorter than the longest of its question
PAIRS = 4  # times as often as one relation, two lead to a thing
SILENT = 0.1  # share of the adjectives that the things in a list go without
STYLES = ("( {} )", ", which is {}", "that is {}", "that are {}")
BRACKETS, WHICH, IS, ARE = range(len(STYLES))
BRACKETED = 0.25  # share of the questions that have brackets even where the last list ends the sentence
PAIRED = (("left", "right"), ("behind", "front"))  # a thing stands in one of each at most

T = TypeVar("T")


class RelationList(NamedTuple):
    text: str
    items: tuple[tuple[int, ...], ...]  # the tokens of each thing and its relations, up to its scene


class ListAdder(TableModule):
    """Adds lists of relations where a description of objects ends."""

    def __init__(self, vocabulary: ParserVocabulary, matcher: ModifierDropper) -> None:
        super().__init__()
        v, self.matcher = vocabulary, matcher
        numbers = {t: k for k, t in enumerate(v.tokens, SPECIAL_TOKENS)}
        scene = next((k for t, k in numbers.items() if t.op == "scene"), PAD)
        cross = numbers.get(ParserToken(INTERSECT, (), (OBJECTS, OBJECTS), OBJECTS), PAD)
        self.lists = _make_lists(v) if scene != PAD and cross != PAD else []
        texts = [v.encode_text(style.format(one.text))[1:] for one in self.lists for style in STYLES]
        inside = [[k for item in one.items for k in (cross, *item, scene)] for one in self.lists]
        # Of all things no more is intersected than the list, whose last relation is read in place of the scene.
        alone = [[*row[: -len(one.items[-1]) - 2], *one.items[-1]] for row, one in zip(inside, self.lists, strict=True)]
        self.register_tables(
            texts=_stack_rows(texts, len(STYLES)),
            # [list, whether all things, token]
            added=_stack_rows([row for both in zip(inside, alone, strict=True) for row in both], 2),
            counts=mark_tokens(v, lambda t: t.op == "count"),
            stops=mark_words(v, *".?!"),
            scene=mark_tokens(v, lambda t: t.op == "scene"),
            single=mark_tokens(v, lambda t: t.op == "unique"),
            goes_on=mark_tokens(v, lambda t: t.op in (RELATE, INTERSECT, "same") and t.output == OBJECTS),
            # Parts have no such lists, and a node that is read again would be counted otherwise.
            fixed=mark_tokens(v, lambda t: t.op == AGAIN or not {t.output, *t.inputs}.isdisjoint(KINDS[1:])),
            bound=mark_words(v, "with"),
        )

    def forward(self, words: Tensor, tokens: Tensor, chosen: Tensor, random: Random = None) -> tuple[Tensor, Tensor]:
        """Words and tokens, with lists in those questions that are chosen and have room for one."""
        if not self.lists:
            return words, tokens
        words, tokens = (functional.pad(t, (0, EDGE), value=PAD) for t in (words, tokens))
        many, device = len(words), words.device

        def draw(*wide: int) -> Tensor:
            return torch.rand(many, *wide, device=device, generator=random)

        found = self.matcher.find_descriptions(words, tokens)
        after = take_at(tokens, found.match + found.noun.long() + 1)
        good = found.good & (self.matcher.token_kind[take_at(tokens, found.match)] == 0)
        good &= (self.scene[after] | self.goes_on[after]) & ~take_at(self.bound[words], found.end + 1)
        good &= (chosen & ~self.fixed[tokens].any(1))[:, None]
        drawn, at = (draw(words.shape[1]) * good).topk(min(PLACES, words.shape[1]), 1)
        used = (drawn > 0) & ((draw(1) < ALL_PLACES) | (draw(drawn.shape[1]) < 0.5))
        longest = (MOST // used.sum(1, keepdim=True).clamp(min=1)).clamp(max=LONGEST)
        most = draw(1) * longest  # in a list of this question
        which = ((1 - UNLIKE * draw(drawn.shape[1])) * most).long() * LISTS + (draw(drawn.shape[1]) * LISTS).long()
        which = torch.where(draw(1) < SAME, which[:, :1], which)
        to = take_at(found.match + found.noun.long(), at) + 1
        alone = self.scene[take_at(tokens, to)]  # nothing else tells of the set
        style, end = self._choose_places(words, tokens, found, at, alone & (draw(1) >= BRACKETED))
        texts, added = self.texts[which, style], self.added[which, alone.long()]
        length = (texts != PAD).sum(2) * used
        used &= (words != PAD).sum(1, keepdim=True) + length.cumsum(1) <= LONGEST_TEXT
        for k in range(drawn.shape[1]):
            words, end = _insert_list(words, end, k, texts[:, k], used[:, k])
            tokens, to = _insert_list(tokens, to, k, added[:, k], used[:, k])
        return words, tokens

    def _choose_places(
        self, words: Tensor, tokens: Tensor, found: DescriptionMatch, at: Tensor, ends: Tensor
    ) -> tuple[Tensor, Tensor]:
        """[question, place] how each list is worded and before which word it stands; brackets unless it may end."""
        first, end = take_at(found.tokens.first, take_at(found.match, at)), take_at(found.end, at) + 1
        reader = take_at(tokens, first - 1)
        several = self.matcher.several[take_at(words, end - 1)]
        counted = ends & several & self.counts[reader] & (first == 2)  # how many buses are there that are …?
        end = end.where(~counted, (words != PAD).sum(1, keepdim=True) - 1)
        style = torch.where(self.single[reader], WHICH, torch.where(several, ARE, IS))
        return style.where(ends & self.stops[take_at(words, end)], BRACKETS), end


def _insert_list(table: Tensor, places: Tensor, k: int, pieces: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """The table with a piece at the k-th place of some rows, and where the places are then."""
    here = places[:, k : k + 1]
    longer = ((pieces != PAD).sum(1) * rows)[:, None]
    return insert_pieces(table, here[:, 0], pieces, rows), places + longer * (places > here)


def _stack_rows(rows: Sequence[Sequence[int]], each: int) -> Tensor:
    """[list, one of so many, place]"""
    table = torch.from_numpy(pad_rows(rows)).long()
    return table.view(len(rows) // each, each, table.shape[1])


def _make_lists(vocabulary: ParserVocabulary) -> list[RelationList]:
    """So many of each length, from one thing up."""
    numbers = {t: k for k, t in enumerate(vocabulary.tokens, SPECIAL_TOKENS)}
    unique = numbers.get(ParserToken("unique", (), (OBJECTS,), OBJECT), PAD)
    worded = {t.words[0]: min(SYNONYMS.get(t.words[0], t.words), key=len) for t in numbers if t.op == RELATE}
    relations = {r for r, said in worded.items() if UNKNOWN not in vocabulary.encode_text(said)}
    options = [[None, *(r for r in pair if r in relations)] for pair in PAIRED]
    held = [tuple(r for r in pair if r) for pair in ((a, b) for a in options[0] for b in options[1])]
    held = [pair for pair in held if pair for _ in range(PAIRS if len(pair) > 1 else 1)]
    spelled: dict[int | None, list[str]] = {}
    for w, word in enumerate(vocabulary.words):
        spelled.setdefault(vocabulary.find_spelled_term(w), []).append(word)
    values: dict[str, list[tuple[str, int]]] = {}
    for token, k in numbers.items():
        if token.op == FILTER and token.output == OBJECTS:
            name, value = token.words
            ways: Sequence[str] = SYNONYMS.get(value, (value,))
            if name in vocabulary.adjectives:
                ways = spelled.get(vocabulary.terms.index(value), ())
            said = [way for way in ways if UNKNOWN not in vocabulary.encode_text(way)]
            values.setdefault(name, []).extend((way, k) for way in said)
    nouns = [name for name in values if name not in vocabulary.adjectives]
    if unique == PAD or not held or len(nouns) != 1:
        return []
    relate: dict[tuple[str, ...], tuple[int, ...]] = {}
    for some in held:
        types = ((RELATED, OBJECTS), (OBJECT, RELATED)) if len(some) > 1 else ((OBJECT, OBJECTS),)
        made = [ParserToken(RELATE, (r,), (t,), out) for r, (t, out) in zip(some, types, strict=True)]
        relate[some] = tuple(numbers[t] for t in made)
    random = derive("question parser", "lists")
    names = [name for name in vocabulary.adjectives if name in values]

    def describe() -> tuple[str, tuple[int, ...]]:
        kept = [name for name in names if random.random() >= SILENT]
        some = [_draw_one(values[name], random) for name in (*kept, nouns[0])]
        return " ".join(("the", *(way for way, _ in some))), (unique, *(k for _, k in some))

    found: list[RelationList] = []
    for length in range(1, LONGEST + 1):
        for _ in range(LISTS):
            kinds = [_draw_one(held, random) for _ in range(1 + int(random.integers(4)))]  # few, as in a scene
            distinct = {ids: said for said, ids in (describe() for _ in range(length))}  # rarely fewer
            things = [(said, ids) for ids, said in distinct.items()]
            pairs = sorted(_draw_one(kinds, random) for _ in things)
            flat = [(r, i) for i, pair in enumerate(pairs) for r in pair]
            pieces = write_clause(flat, {i: text for i, (text, _) in enumerate(things)}, worded)
            items = tuple((*relate[pair], *ids) for pair, (_, ids) in zip(pairs, things, strict=True))
            found.append(RelationList("".join(p.words for p in pieces), items))
    return found


def _draw_one(options: Sequence[T], random: np.random.Generator) -> T:
    return options[int(random.integers(len(options)))]
