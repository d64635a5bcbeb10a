"""The network: an encoder of the question, a decoder of program tokens, and the grammar that constrains it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from ....lang.op import BOOL, INT, VALUE, Type, fits
from .tokens import AGAIN, OUTCOME
from .vocabulary import LONGEST_TEXT, PAD, SPECIAL_TOKENS, UNKNOWN, ParserVocabulary, QuestionParserConfig


@contextmanager
def small_products() -> Iterator[None]:
    """Within, small matrix products are made by torch itself, at full precision."""
    backend: Any = torch.backends.mkldnn
    before = backend.enabled
    backend.enabled = False
    try:
        with torch.autocast("cuda", enabled=False):
            yield
    finally:
        backend.enabled = before


@contextmanager
def use_one_thread(device: torch.device) -> Iterator[None]:
    """Within, a processor works with one thread; a GPU goes on as it does."""
    before = torch.get_num_threads()
    if device.type == "cpu":
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if device.type == "cpu":
            torch.set_num_threads(before)


class TableModule(nn.Module):
    """Tables over a vocabulary, as buffers: not learned, not saved."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Tensor: ...

    def register_tables(self, **tables: Tensor) -> None:
        for name, table in tables.items():
            self.register_buffer(name, table, persistent=False)


def _run_ways(gru: nn.GRU, layer: int, given: tuple[Tensor, ...], start: Tensor) -> tuple[Tensor, ...]:
    """A layer's states [question, step, width] for tables given, forth and, where there are two, back; start is
    [way, question, width]."""
    if given[0].is_cuda and torch.is_grad_enabled():
        from .gru_scan import scan_layer

        return tuple(scan_layer(gru, layer, given, start))
    kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    weights = [[getattr(gru, f"{kind}_l{layer}{way}") for kind in kinds] for way in ("", "_reverse")[: len(given)]]
    with warnings.catch_warnings():  # one way's weights do not lie together: a GPU copies them, and says so
        warnings.filterwarnings("ignore", "RNN module weights")
        return tuple(
            torch._VF.gru(table, start[k, None], weights[k], True, 1, 0.0, gru.training, False, True)[0]
            for k, table in enumerate(given)
        )


ANSWER = Type("Answer")  # what a whole program gives
DONE = Type("")  # the floor of the stack
ENDLESS = 10_000  # what a type costs that no program of these tokens gives


@dataclass(frozen=True, slots=True, eq=False)
class GrammarStack:
    """How far each of many programs is."""

    wanted: Tensor  # [program, place] types, the next one at `depth`; what stands above means nothing
    depth: Tensor  # [program]; 0 when it has ended
    top: Tensor  # [program] the type at `depth`
    need: Tensor  # [program] the fewest tokens that end it
    below: Tensor  # [program] the same for what is wanted after the next type
    written: Tensor  # [program, again] how many nodes of the op have been written
    base: Tensor  # [program, again] the depth at which the node to read again is complete
    ready: Tensor  # [program, again] whether it is complete

    def take(self, rows: Tensor) -> GrammarStack:
        return GrammarStack(*(getattr(self, name)[rows] for name in self.__slots__))


class ProgramGrammar(TableModule):
    """Which tokens may come next, so that whatever is decoded is a well-typed program that ends."""

    def __init__(self, vocabulary: ParserVocabulary, longest: int) -> None:
        super().__init__()
        self.longest = longest
        tokens = vocabulary.tokens
        types = [DONE, ANSWER, *dict.fromkeys(t for token in tokens for t in (*token.inputs, token.output))]
        number = {t: k for k, t in enumerate(types)}
        self.answer = number[ANSWER]
        costs = _compute_costs(vocabulary, types)
        wide = len(tokens) + SPECIAL_TOKENS
        widest = max(len(t.inputs) for t in tokens)
        fit = torch.zeros(len(types), wide, dtype=torch.bool)
        fit[0, PAD] = True
        after = torch.full((wide,), ENDLESS)
        after[PAD] = 0
        pushed = torch.zeros(wide, widest, dtype=torch.long)
        arity = torch.zeros(wide, dtype=torch.long)
        for k, token in enumerate(tokens, SPECIAL_TOKENS):
            for t in types[1:]:
                fit[number[t], k] = fits_type(token.output, t)
            after[k] = min(ENDLESS, 1 + sum(costs[t] for t in token.inputs))
            arity[k] = len(token.inputs)
            for place, t in enumerate(reversed(token.inputs)):
                pushed[k, place] = number[t]
        again = [(k, t) for k, t in enumerate(tokens, SPECIAL_TOKENS) if t.op == AGAIN]
        names = torch.zeros(len(again), wide, dtype=torch.bool)
        counts = torch.zeros(len(again), wide, dtype=torch.bool)
        for r, (_, reads) in enumerate(again):
            for k, token in enumerate(tokens, SPECIAL_TOKENS):
                counts[r, k] = token.op == reads.words[0]
                names[r, k] = counts[r, k] and token.output == reads.output
        self.register_tables(
            fit=fit,  # [type, token] whether the token gives the type
            cost=torch.tensor([costs[t] for t in types]),  # [type] the fewest tokens that give it
            after=after,  # [token] the fewest tokens of a program that begins with it
            # [token, …] how many types it reads, what their programs cost, and they, the last one first
            each=torch.cat([arity[:, None], (after - 1).clamp(min=0)[:, None], pushed], 1),
            places=torch.arange(widest) + 1,  # [place] 1, 2, …, as many as a token reads
            again=torch.tensor([k for k, _ in again], dtype=torch.long),  # [again] the tokens that read a node again
            names=names.T.contiguous(),  # [token, again] whether the token may be the node that is read again
            counts=counts.T.contiguous(),  # [token, again] whether the token is of the op that is counted
            nth=torch.tensor([int(t.words[1]) for _, t in again], dtype=torch.long),  # [again] which of them is meant
        )

    def start(self, programs: int) -> GrammarStack:
        device = self.fit.device
        wide = self.longest + 2 + len(self.places)
        wanted = torch.zeros(programs, wide, dtype=torch.long, device=device)
        wanted[:, 1] = self.answer
        one = torch.ones(programs, dtype=torch.long, device=device)
        none = torch.zeros(programs, len(self.again), dtype=torch.long, device=device)
        need = one * self.cost[self.answer]
        return GrammarStack(wanted, one, one * self.answer, need, one * 0, none, none - 1, none > 0)

    def mask_allowed(self, stack: GrammarStack, left: int) -> Tensor:
        """[program, token] what may come next when so many tokens are left."""
        found = self.fit[stack.top] & (self.after <= (left - stack.below)[:, None])
        if len(self.again):
            found[:, self.again] &= stack.ready
        return found

    def push(self, stack: GrammarStack, token: Tensor) -> GrammarStack:
        """How far the programs are after one more token each (PAD for those that have ended)."""
        base = (stack.depth - 1).clamp(min=0)
        each = self.each[token]
        wanted = stack.wanted.scatter(1, base[:, None] + self.places, each[:, 2:])
        depth = base + each[:, 0]
        top = wanted.gather(1, depth[:, None]).squeeze(1)
        need = stack.below + each[:, 1]
        here = self.names[token] & (stack.written == self.nth)
        begun = torch.where(here, base[:, None], stack.base)
        ready = stack.ready | (depth[:, None] <= begun)
        written = stack.written + self.counts[token]
        return GrammarStack(wanted, depth, top, need, need - self.cost[top], written, begun, ready)


def fits_type(given: Type, wanted: Type) -> bool:
    """Whether a token that gives one type may stand where another is wanted."""
    if wanted == ANSWER:
        return given in (INT, BOOL, OUTCOME) or given.name == VALUE.name
    return fits(given, wanted)


def _compute_costs(vocabulary: ParserVocabulary, types: list[Type]) -> dict[Type, int]:
    """The fewest tokens that give each type; a node that is read again counts for nothing here."""
    costs = dict.fromkeys(types, ENDLESS)
    costs[DONE] = 0
    while True:
        found = dict(costs)
        for token in vocabulary.tokens:
            if token.op == AGAIN:
                continue
            price = min(ENDLESS, 1 + sum(costs[t] for t in token.inputs))
            for t in types[1:]:
                if fits_type(token.output, t):
                    found[t] = min(found[t], price)
        if found == costs:
            return costs
        costs = found


# The network: reads a question both ways, then writes its program token by token, looking back at the words.
#
# A word is known by its own vector and by those of the schema terms that it helps to spell; a token by those
# of its op, its types and its terms. So a value that no training question has can still be read and written.

State = tuple[Tensor, ...]  # each [question, …]


class QuestionEncoding(NamedTuple):
    """A question as read."""

    keys: Tensor  # [question, head, word, width of a head]
    values: Tensor
    seen: Tensor  # [question, 1, 1, word] where there are words

    def take(self, rows: Tensor) -> QuestionEncoding:
        return QuestionEncoding(self.keys[rows], self.values[rows], self.seen[rows])


class EmbeddingTables(TableModule):
    """The vectors of words and of tokens."""

    def __init__(self, config: QuestionParserConfig) -> None:
        super().__init__()
        v, width = config.vocabulary, config.width
        kinds = {k: i for i, k in enumerate(dict.fromkeys((t.op, t.inputs, t.output.name) for t in v.tokens))}
        kind = [kinds[t.op, t.inputs, t.output.name] + SPECIAL_TOKENS for t in v.tokens]
        self.register_tables(
            word_terms=torch.from_numpy(v.word_terms()),
            token_terms=torch.from_numpy(v.token_terms()),
            token_ops=torch.tensor([*range(SPECIAL_TOKENS), *kind]),
        )
        # A word that training never shows has the vector of its terms, without noise of its own.
        bare = self.word_terms.sum(1, keepdim=True) == 0
        bare[[PAD, UNKNOWN]] = False
        self.words = nn.Parameter(torch.randn(len(v.words), width) * width**-0.5 * bare)
        self.terms = nn.Parameter(torch.randn(len(v.terms), width) * width**-0.5)
        self.ops = nn.Parameter(torch.randn(len(kinds) + SPECIAL_TOKENS, width) * width**-0.5)
        self.forget = config.forget

    def embed_words(self) -> Tensor:
        """[word, width]; in training some words are known by their terms alone, others in each batch."""
        own: Tensor = self.words
        if self.training and self.forget:
            spells = self.word_terms.sum(1, keepdim=True) > 0
            kept = torch.rand(len(own), 1, device=own.device) >= self.forget
            own = own * (kept | ~spells)
        return own + self.word_terms @ self.terms

    def embed_tokens(self) -> Tensor:
        """[token, width]"""
        return self.ops[self.token_ops] + self.token_terms @ self.terms


class WordAttention(nn.Module):
    """What a state finds among the words."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.ask = nn.Linear(width, width)
        self.told = nn.Linear(width, width)

    def forward(self, states: Tensor, memory: QuestionEncoding) -> Tensor:
        many, length, width = states.shape
        queries = self.ask(states).view(many, length, self.heads, -1).transpose(1, 2)
        found = functional.scaled_dot_product_attention(queries, memory.keys, memory.values, memory.seen)
        output: Tensor = self.told(found.transpose(1, 2).reshape(many, length, width))
        return output


def _tell_places(length: int, width: int) -> Tensor:
    """[place, width] waves of many lengths: without them lists that are repeated would look the same."""
    rates = 10_000.0 ** (-torch.arange(0, width, 2) / width)
    angles = torch.arange(length)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], 1)[:, :width]


class QuestionParser(nn.Module):
    """Scores of the next token, for each token of each program."""

    def __init__(self, config: QuestionParserConfig) -> None:
        super().__init__()
        self.config = config
        width = config.width
        self.scale = width**0.5  # a vector in a table has length 1 or so, one that is read entries of 1 or so
        self.tables = EmbeddingTables(config)
        self.grammar = ProgramGrammar(config.vocabulary, config.longest_program)
        both = {"bidirectional": True, "batch_first": True, "dropout": config.dropout}
        self.places = TableModule()
        self.places.register_tables(at=_tell_places(LONGEST_TEXT, width))
        self.reader = nn.GRU(width, width // 2, num_layers=2, **both)
        self.keys = nn.Linear(width, 2 * width)
        self.first = nn.GRU(width, width, batch_first=True)
        self.look = WordAttention(width, config.heads)
        self.second = nn.GRU(2 * width, width, batch_first=True)
        self.look_again = WordAttention(width, config.heads)
        self.say = nn.Sequential(nn.Linear(2 * width, width), nn.GELU(), nn.Linear(width, width))
        self.bias = nn.Parameter(torch.zeros(len(config.vocabulary.tokens) + SPECIAL_TOKENS))
        self.drop = nn.Dropout(config.dropout)

    @small_products()
    def encode_words(self, words: Tensor) -> QuestionEncoding:
        """Words are [question, word]; padding stands behind them."""
        many, length = words.shape
        vectors = self.drop(functional.embedding(words, self.tables.embed_words()) * self.scale)
        seen = words != PAD
        # The word itself stays in sight: its terms are those of the token that it calls for.
        read = self._read_both_ways(vectors, seen) + vectors
        if self.config.positions:
            read = read + self.places.at[:length]
        parts = self.keys(self.drop(read)).view(many, length, 2, self.config.heads, -1)
        keys, values = parts.permute(2, 0, 3, 1, 4)
        return QuestionEncoding(keys, values, seen[:, None, None])

    def _read_both_ways(self, read: Tensor, seen: Tensor) -> Tensor:
        """What the reader's two layers make of [question, word, width]; 0 where there are no words.

        The way back begins at a question's last word. Packed sequences do the same, but what is launched then depends
        on every length; here it depends on the table's shape alone.
        """
        places = torch.arange(seen.shape[1], device=seen.device)
        turned = torch.where(seen, seen.sum(1, keepdim=True) - 1 - places, places)[..., None]
        start = read.new_zeros(2, len(read), self.reader.hidden_size)
        for layer in range(self.reader.num_layers):
            if layer:
                read = functional.dropout(read, self.reader.dropout, self.training)
            both = (read, read.gather(1, turned.expand_as(read)))
            forth, back = _run_ways(self.reader, layer, both, start)
            read = torch.cat([forth, back.gather(1, turned.expand_as(back))], -1)
        return read * seen[..., None]

    def start_state(self, memory: QuestionEncoding) -> State:
        """Before the first token."""
        zero = self.bias.new_zeros(len(memory.keys), self.config.width)
        return zero, zero

    @small_products()
    def score_tokens(
        self, tokens: Tensor, memory: QuestionEncoding, state: State, table: Tensor | None = None
    ) -> tuple[Tensor, State]:
        """Scores [question, token, next token] after each of some tokens, and the state after the last.

        Who writes token by token gives the tokens' vectors, which stay the same.
        """
        table = self.tables.embed_tokens() if table is None else table
        vectors = self.drop(functional.embedding(tokens, table) * self.scale)
        one, other = (part[None].to(vectors.dtype).contiguous() for part in state)
        (first,) = _run_ways(self.first, 0, (vectors,), one)
        found = self.look(first, memory)
        (second,) = _run_ways(self.second, 0, (self.drop(torch.cat([first, found], -1)),), other)
        found = self.look_again(second, memory)
        output = self.say(self.drop(torch.cat([second, found], -1)))
        return (output + found) @ table.T + self.bias, (first[:, -1], second[:, -1])

    def forward(self, words: Tensor, tokens: Tensor) -> Tensor:
        """Scores of what follows each token, [question, token, next token]."""
        memory = self.encode_words(words)
        return self.score_tokens(tokens, memory, self.start_state(memory))[0]
