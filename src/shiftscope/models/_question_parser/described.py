"""Described: which words of a text and which tokens of a program say the same of a thing."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from ...lang.types import OBJECTS, PARTS
from .tokens import AGAIN, FILTER, Token
from .vocabulary import PAD, SPECIAL_TOKENS, Vocabulary

NONE = -1
KINDS = (OBJECTS, PARTS)  # what a filter filters
THINGS = ("thing", "things", "object", "objects", "vehicle", "vehicles")  # nouns that no filter is for
LONGEST_NOUN = 3  # words after the first

Random = torch.Generator | None  # None: torch's own


class Described(nn.Module):
    """Tables over a vocabulary; not learned, not saved."""

    term: Tensor  # [word] the value it spells
    rank: Tensor  # [word] the place of that value's attribute in a description
    told: Tensor  # [word, term] whether the word helps to spell it
    plain: Tensor  # [word] whether it is one of THINGS
    token_term: Tensor  # [token] the value it filters by
    token_rank: Tensor
    token_kind: Tensor
    fixed: Tensor  # [token] whether it reads a filter again, and counts how many stand before

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        v = vocabulary
        self.order = {name: k for k, name in enumerate(v.adjectives)}
        self.noun = len(self.order)  # the rank of what is no adjective
        number = {term: k for k, term in enumerate(v.terms)}
        self.filters = {
            (t.words, t.output): k for k, t in enumerate(v.tokens, SPECIAL_TOKENS) if t.op == FILTER
        }
        wide = len(v.tokens) + SPECIAL_TOKENS
        token_term, token_rank, token_kind = (torch.full((wide,), NONE) for _ in range(3))
        for ((name, value), output), k in self.filters.items():
            token_term[k] = number[value]
            token_rank[k] = self.order.get(name, self.noun)
            token_kind[k] = KINDS.index(output)
        self.attribute = {number[value]: name for (name, value), _ in self.filters}
        term, rank = (torch.full((len(v.words),), NONE) for _ in range(2))
        for w in range(len(v.words)):
            meant = v.spelled(w)
            if meant in self.attribute:
                term[w], rank[w] = meant, self.order.get(self.attribute[meant], self.noun)
        self.hold(
            term=term,
            rank=rank,
            told=torch.from_numpy(v.word_terms()) > 0,
            plain=torch.tensor([w in THINGS for w in v.words]),
            token_term=token_term,
            token_rank=token_rank,
            token_kind=token_kind,
            fixed=where(v, lambda t: t.op == AGAIN and t.words[0] == FILTER),
        )

    def hold(self, **tables: Tensor) -> None:
        for name, table in tables.items():
            self.register_buffer(name, table, persistent=False)

    def filters_of(self, name: str, value: str) -> tuple[int, ...]:
        """The tokens that filter by the value, for each kind; PAD where there is none."""
        return tuple(self.filters.get(((name, value), kind), PAD) for kind in KINDS)


def where(vocabulary: Vocabulary, holds: Callable[[Token], bool]) -> Tensor:
    """[token] of which ones it holds."""
    return torch.tensor([False] * SPECIAL_TOKENS + [holds(t) for t in vocabulary.tokens])
