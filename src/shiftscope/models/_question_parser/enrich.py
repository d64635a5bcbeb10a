"""Enrich: more adjectives and relations in a question and its program alike, so that none is too long.

A word that spells a value, said once, is matched with the one filter for that value. Before both stands what
comes earlier in a description: "the rubber thing" becomes "the small rubber thing", with filters for both.
Where a description ends, a relation to another thing may follow: "the rubber thing left of the red car".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from ...ask.lexicon import SAID
from ...lang.types import OBJECT, OBJECTS, PARTS
from ...rng import derive
from .tokens import AGAIN, FILTER, Token
from .vocabulary import PAD, SPECIAL_TOKENS, UNKNOWN, Vocabulary, padded

ROUNDS = 6  # tries to add an adjective to a question; about half succeed
RELATED = 2  # tries to add a relation
NONE = -1
KINDS = (OBJECTS, PARTS)  # what a filter filters
CLAUSES = 2048  # different relations to add, drawn once
THINGS = ("thing", "things", "object", "objects", "vehicle", "vehicles")  # nouns that no filter is for
LINKS = ("", "that is", "that are")
BOUND = "with"  # what it begins would seem to belong to the thing that is added
LONGEST_NOUN = 3  # words after the first


@dataclass(frozen=True, slots=True)
class Adjective:
    """A word that may be added: the place of its attribute in a description, its filter for each kind."""

    word: int
    rank: int
    tokens: tuple[int, ...]


class Enrich(nn.Module):
    """Tables over a vocabulary; not learned, not saved."""

    term: Tensor  # [word] the value it spells
    rank: Tensor  # [word] the place of that value's attribute in a description
    told: Tensor  # [word, term] whether the word helps to spell it
    plain: Tensor  # [word] whether it is one of THINGS
    bound: Tensor  # [word] whether it is BOUND
    token_term: Tensor  # [token] the value it filters by
    token_rank: Tensor
    token_kind: Tensor
    ends: Tensor  # [token] whether a description ends before it
    fixed: Tensor  # [token] whether it reads a filter again, which a new one would throw out of count
    new_word: Tensor  # [adjective]
    new_rank: Tensor
    new_token: Tensor  # [adjective, kind]
    clause: Tensor  # [clause, word]
    clause_token: Tensor  # [clause, token]

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        v = vocabulary
        order = {name: k for k, name in enumerate(v.adjectives)}
        number = {term: k for k, term in enumerate(v.terms)}
        filters = {
            (t.words, t.output): (k, t) for k, t in enumerate(v.tokens, SPECIAL_TOKENS) if t.op == FILTER
        }
        attribute = {number[t.words[1]]: t.words[0] for _, t in filters.values()}
        wide = len(v.tokens) + SPECIAL_TOKENS
        of_tokens = {name: torch.full((wide,), NONE) for name in ("token_term", "token_rank", "token_kind")}
        for k, token in filters.values():
            of_tokens["token_term"][k] = number[token.words[1]]
            of_tokens["token_rank"][k] = order.get(token.words[0], len(order))
            of_tokens["token_kind"][k] = KINDS.index(token.output)
        term, rank = (torch.full((len(v.words),), NONE) for _ in range(2))
        new: list[Adjective] = []
        nouns: list[Adjective] = []
        for w, word in enumerate(v.words):
            meant = v.spelled(w)
            if meant is None or meant not in attribute:
                continue
            name, value = attribute[meant], v.terms[meant]
            term[w], rank[w] = meant, order.get(name, len(order))
            tokens = tuple(
                filters[(name, value), t][0] if ((name, value), t) in filters else PAD for t in KINDS
            )
            if name in order:
                new.append(Adjective(w, order[name], tokens))
            elif tokens[0] != PAD and word == value:
                nouns.append(Adjective(w, len(order), tokens))
        self.noun = len(order)  # the rank of what is no adjective
        clauses = _clauses(v, new, nouns)
        tables = of_tokens | {
            "term": term,
            "rank": rank,
            "told": torch.from_numpy(v.word_terms()) > 0,
            "plain": torch.tensor([w in THINGS for w in v.words]),
            "bound": torch.tensor([w == BOUND for w in v.words]),
            "ends": _where(v, lambda t: t.op == "scene"),
            "fixed": _where(v, lambda t: t.op == AGAIN and t.words[0] == FILTER),
            "new_word": torch.tensor([a.word for a in new], dtype=torch.long),
            "new_rank": torch.tensor([a.rank for a in new], dtype=torch.long),
            "new_token": torch.tensor([a.tokens for a in new], dtype=torch.long).view(-1, len(KINDS)),
            "clause": torch.from_numpy(padded([words for words, _ in clauses])).long(),
            "clause_token": torch.from_numpy(padded([tokens for _, tokens in clauses])).long(),
        }
        for name, table in tables.items():
            self.register_buffer(name, table, persistent=False)

    def forward(self, words: Tensor, tokens: Tensor, share: float) -> tuple[Tensor, Tensor]:
        """Words and tokens, about so large a share of the questions with more in them."""
        if not share:
            return words, tokens
        chosen = torch.rand(len(words), device=words.device) < share
        chosen &= ~self.fixed[tokens].any(1)
        for _ in range(RELATED if len(self.clause) else 0):
            some = chosen & (torch.rand(len(words), device=words.device) < 0.5)
            words, tokens = self._related(words, tokens, some)
        for _ in range(ROUNDS if len(self.new_word) else 0):
            words, tokens = self._described(words, tokens, chosen)
        return words, tokens

    def _anchors(self, words: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """In each question a place in the text and its match in the program, and whether there is one."""
        meant, filtered = self.term[words], self.token_term[tokens]
        alike = meant[:, :, None] == filtered[:, None]
        once = (meant != NONE) & (alike.sum(2) == 1) & ((meant[:, :, None] == meant[:, None]).sum(2) == 1)
        best, at = torch.rand(words.shape, device=words.device).masked_fill(~once, 0).max(1)
        return at, alike[torch.arange(len(words), device=words.device), at].int().argmax(1), best > 0

    def _described(self, words: Tensor, tokens: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
        at, to, good = self._anchors(words, tokens)
        rows = torch.arange(len(words), device=words.device)
        which = torch.randint(len(self.new_word), (len(words),), device=words.device)
        rank = self.new_rank[which]
        anchor = tokens[rows, to]
        token = self.new_token[which, self.token_kind[anchor].clamp(min=0)]
        good = good & chosen & (token != PAD) & (rank < self.token_rank[anchor])
        good &= self.token_rank[tokens[rows, (to - 1).clamp(min=0)]] < rank
        good &= self.rank[words[rows, (at - 1).clamp(min=0)]] < rank
        word = self.new_word[which]
        return _inserted(words, at, word[:, None], good), _inserted(tokens, to, token[:, None], good)

    def _related(self, words: Tensor, tokens: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
        at, to, good = self._anchors(words, tokens)
        rows = torch.arange(len(words), device=words.device)
        words, tokens = (functional.pad(t, (0, LONGEST_NOUN + 2)) for t in (words, tokens))
        meant = self.term[words[rows, at]].clamp(min=0)
        noun = self.token_rank[tokens[rows, to]] == self.noun
        end = at + 1
        for _ in range(LONGEST_NOUN):  # "road bike" ends with its second word
            end = end + (noun & self.told[words[rows, end], meant] & (end < at + 1 + LONGEST_NOUN)).long()
        end = torch.where(noun, end, at + 2)
        good = good & chosen & (noun | self.plain[words[rows, at + 1]]) & self.ends[tokens[rows, to + 1]]
        good &= (self.token_kind[tokens[rows, to]] == 0) & ~self.bound[words[rows, end]]
        which = torch.randint(len(self.clause), (len(words),), device=words.device)
        return (
            _inserted(words, end, self.clause[which], good),
            _inserted(tokens, to + 1, self.clause_token[which], good),
        )


def _clauses(
    vocabulary: Vocabulary, adjectives: Sequence[Adjective], nouns: Sequence[Adjective]
) -> list[tuple[list[int], list[int]]]:
    """Relations to things, such as "left of the red car": their words and their tokens."""
    numbers = {t: k for k, t in enumerate(vocabulary.tokens, SPECIAL_TOKENS)}
    relations = [t for t in vocabulary.tokens if t.op == "relate"]
    unique = numbers.get(Token("unique", (), (OBJECTS,), OBJECT))
    usual = [a for a in adjectives if a.tokens[0] != PAD]
    if unique is None or not relations or not usual or not nouns:
        return []
    random = derive("question parser", "clauses")

    def below(n: int) -> int:
        return int(random.integers(n))

    made: list[tuple[list[int], list[int]]] = []
    for _ in range(CLAUSES):
        relation = relations[below(len(relations))]
        phrases = SAID.get(relation.words[0], relation.words)
        begin = f"{LINKS[below(len(LINKS))]} {phrases[below(len(phrases))]} the"
        drawn = {a.rank: a for a in (usual[below(len(usual))] for _ in range(3))}
        some = [drawn[rank] for rank in sorted(drawn)][: 1 + below(3)]
        noun = nouns[below(len(nouns))] if random.random() < 0.7 else None
        said = _noun(vocabulary, noun) if noun else THINGS[2 * below(3)]
        words = [
            *vocabulary.text_ids(begin)[1:],
            *(a.word for a in some),
            *vocabulary.text_ids(said)[1:],
        ]
        if UNKNOWN not in words:
            filters = [a.tokens[0] for a in (*some, *([noun] if noun else []))]
            made.append((words, [numbers[relation], unique, *filters]))
    return made


def _noun(vocabulary: Vocabulary, noun: Adjective) -> str:
    """How the value is said: a school is a school bus."""
    value = vocabulary.tokens[noun.tokens[0] - SPECIAL_TOKENS].words[1]
    return SAID.get(value, (value,))[0]


def _where(vocabulary: Vocabulary, holds: Callable[[Token], bool]) -> Tensor:
    return torch.tensor([False] * SPECIAL_TOKENS + [holds(t) for t in vocabulary.tokens])


def _inserted(table: Tensor, at: Tensor, pieces: Tensor, rows: Tensor) -> Tensor:
    """The table with a piece before place `at` in some rows; the piece of each row is padded behind."""
    wide = table.shape[1] + pieces.shape[1]
    places = torch.arange(wide, device=table.device).expand(len(table), -1)
    start = torch.where(rows, at, wide)[:, None]
    length = torch.where(rows, (pieces != PAD).sum(1), 0)[:, None]
    padded_table = functional.pad(table, (0, pieces.shape[1]), value=PAD)
    old = padded_table.gather(1, torch.where(places < start, places, places - length).clamp(min=0))
    new = pieces.gather(1, (places - start).clamp(0, pieces.shape[1] - 1))
    return torch.where((places >= start) & (places < start + length), new, old)
