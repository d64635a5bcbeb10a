"""The network: reads a question both ways, then writes its program token by token, looking back at the words.

A word is known by its own vector and by those of the schema terms that it helps to spell; a token by those of
its op, its types and its terms. So a value that was never asked for can still be read and written.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from .config import Config
from .grammar import Grammar
from .packing import Packing
from .products import small_products
from .vocabulary import PAD, SPECIAL_TOKENS, UNKNOWN

State = tuple[Tensor, ...]  # each [question, …]


class Memory(NamedTuple):
    """A question as read."""

    keys: Tensor  # [question, head, word, width of a head]
    values: Tensor
    seen: Tensor  # [question, 1, 1, word] where there are words

    def take(self, rows: Tensor) -> Memory:
        return Memory(self.keys[rows], self.values[rows], self.seen[rows])


class Tables(nn.Module):
    """The vectors of words and of tokens."""

    word_terms: Tensor
    token_terms: Tensor
    token_ops: Tensor

    def __init__(self, config: Config) -> None:
        super().__init__()
        v, width = config.vocabulary, config.width
        kinds = {k: i for i, k in enumerate(dict.fromkeys((t.op, t.inputs, t.output.name) for t in v.tokens))}
        kind = [kinds[t.op, t.inputs, t.output.name] + SPECIAL_TOKENS for t in v.tokens]
        self.register_buffer("word_terms", torch.from_numpy(v.word_terms()), persistent=False)
        self.register_buffer("token_terms", torch.from_numpy(v.token_terms()), persistent=False)
        self.register_buffer("token_ops", torch.tensor([*range(SPECIAL_TOKENS), *kind]), persistent=False)
        # A word that training never shows keeps what its terms tell of it, without noise of its own.
        untold = torch.from_numpy(v.word_terms()).sum(1, keepdim=True) == 0
        untold[[PAD, UNKNOWN]] = False
        self.words = nn.Parameter(torch.randn(len(v.words), width) * width**-0.5 * untold)
        self.terms = nn.Parameter(torch.randn(len(v.terms), width) * width**-0.5)
        self.ops = nn.Parameter(torch.randn(len(kinds) + SPECIAL_TOKENS, width) * width**-0.5)
        self.forget = config.forget

    def of_words(self) -> Tensor:
        """[word, width]; in training some words are known by their terms alone, others in each batch."""
        own: Tensor = self.words
        if self.training and self.forget:
            told = self.word_terms.sum(1, keepdim=True) > 0
            kept = torch.rand(len(own), 1, device=own.device) >= self.forget
            own = own * (kept | ~told)
        return own + self.word_terms @ self.terms

    def of_tokens(self) -> Tensor:
        """[token, width]"""
        return self.ops[self.token_ops] + self.token_terms @ self.terms


class Look(nn.Module):
    """What a state finds among the words."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.ask = nn.Linear(width, width)
        self.told = nn.Linear(width, width)

    def forward(self, states: Tensor, memory: Memory) -> Tensor:
        many, length, width = states.shape
        asked = self.ask(states).view(many, length, self.heads, -1).transpose(1, 2)
        found = functional.scaled_dot_product_attention(asked, memory.keys, memory.values, memory.seen)
        told: Tensor = self.told(found.transpose(1, 2).reshape(many, length, width))
        return told


class QuestionParser(nn.Module):
    """Scores of the next token, for each token of each program."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        width = config.width
        self.scale = width**0.5  # a vector in a table has length 1 or so, one that is read entries of 1 or so
        self.tables = Tables(config)
        self.grammar = Grammar(config.vocabulary, config.longest_program)
        both = {"bidirectional": True, "batch_first": True, "dropout": config.dropout}
        self.reader = nn.GRU(width, width // 2, num_layers=2, **both)
        self.keys = nn.Linear(width, 2 * width)
        self.first = nn.GRU(width, width, batch_first=True)
        self.look = Look(width, config.heads)
        self.second = nn.GRU(2 * width, width, batch_first=True)
        self.look_again = Look(width, config.heads)
        self.say = nn.Sequential(nn.Linear(2 * width, width), nn.GELU(), nn.Linear(width, width))
        self.bias = nn.Parameter(torch.zeros(len(config.vocabulary.tokens) + SPECIAL_TOKENS))
        self.drop = nn.Dropout(config.dropout)

    @small_products()
    def read(self, words: Tensor, lengths: Tensor | None = None) -> Memory:
        """Words are [question, word]; padding stands behind them. Lengths lie on the host, where known."""
        many, length = words.shape
        vectors = self.drop(functional.embedding(words, self.tables.of_words()) * self.scale)
        seen = words != PAD
        packing = Packing.of(seen, lengths)
        read = packing.unpack(self.reader(packing.pack(vectors))[0])
        # The word itself stays in sight: its terms are those of the token that it calls for.
        parts = self.keys(self.drop(read + vectors)).view(many, length, 2, self.config.heads, -1)
        keys, values = parts.permute(2, 0, 3, 1, 4)
        return Memory(keys, values, seen[:, None, None])

    def start(self, memory: Memory) -> State:
        """Before the first token."""
        zero = self.bias.new_zeros(len(memory.keys), self.config.width)
        return zero, zero

    @small_products()
    def write(
        self, tokens: Tensor, memory: Memory, state: State, table: Tensor | None = None
    ) -> tuple[Tensor, State]:
        """Scores [question, token, next token] after each of some tokens, and the state after the last.

        Who writes token by token gives the tokens' vectors, which stay the same.
        """
        table = self.tables.of_tokens() if table is None else table
        vectors = self.drop(functional.embedding(tokens, table) * self.scale)
        one, other = (part[None].to(vectors.dtype).contiguous() for part in state)
        first, a = self.first(vectors, one)
        found = self.look(first, memory)
        second, b = self.second(self.drop(torch.cat([first, found], -1)), other)
        found = self.look_again(second, memory)
        said = self.say(self.drop(torch.cat([second, found], -1)))
        return (said + found) @ table.T + self.bias, (a[0], b[0])

    def forward(self, words: Tensor, tokens: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Scores of what follows each token, [question, token, next token]."""
        memory = self.read(words, lengths)
        return self.write(tokens, memory, self.start(memory))[0]


def build(config: Config) -> QuestionParser:
    return QuestionParser(config)
