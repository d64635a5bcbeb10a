"""Grammar: which tokens may come next, so that whatever is decoded is a well-typed program that ends.

Kept for many programs at once: the types still wanted, as a stack for each; which nodes may be read again;
and how many tokens are left, so that what is begun can be ended.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ...lang.types import BOOL, INT, VALUE, Type, fits
from .tokens import AGAIN
from .vocabulary import PAD, SPECIAL_TOKENS, Vocabulary

ANSWER = Type("Answer")  # what a whole program gives
DONE = Type("")  # the floor of the stack
ENDLESS = 10_000  # what a type costs that no program of these tokens gives


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """How far each of many programs is."""

    wanted: Tensor  # [program, place] types, the next one at `depth`; what stands above means nothing
    depth: Tensor  # [program]; 0 when it has ended
    top: Tensor  # [program] the type at `depth`
    need: Tensor  # [program] the fewest tokens that end it
    below: Tensor  # [program] the same for what is wanted after the next type
    written: Tensor  # [program, again] how many nodes of the op have been written
    base: Tensor  # [program, again] the depth at which the node to read again is complete
    ready: Tensor  # [program, again] whether it is complete

    def take(self, rows: Tensor) -> Stack:
        return Stack(*(getattr(self, name)[rows] for name in self.__slots__))


class Grammar(nn.Module):
    """Tables over a vocabulary's tokens; not learned, not saved."""

    fit: Tensor  # [type, token] whether the token gives the type
    cost: Tensor  # [type] the fewest tokens that give it
    after: Tensor  # [token] the fewest tokens of a program that begins with it
    each: Tensor  # [token, …] how many types it reads, what their programs cost, and they, the last one first
    places: Tensor  # [place] 1, 2, …, as many as a token reads
    again: Tensor  # [again] the tokens that read a node again
    names: Tensor  # [token, again] whether the token may be the node that is read again
    counts: Tensor  # [token, again] whether the token is of the op that is counted
    nth: Tensor  # [again] which of them is meant

    def __init__(self, vocabulary: Vocabulary, longest: int) -> None:
        super().__init__()
        self.longest = longest
        tokens = vocabulary.tokens
        types = [DONE, ANSWER, *dict.fromkeys(t for token in tokens for t in (*token.inputs, token.output))]
        number = {t: k for k, t in enumerate(types)}
        self.answer = number[ANSWER]
        costs = _costs(vocabulary, types)
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
                fit[number[t], k] = gives(token.output, t)
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
        tables = {
            "fit": fit,
            "cost": torch.tensor([costs[t] for t in types]),
            "after": after,
            "each": torch.cat([arity[:, None], (after - 1).clamp(min=0)[:, None], pushed], 1),
            "places": torch.arange(widest) + 1,
            "again": torch.tensor([k for k, _ in again], dtype=torch.long),
            "names": names.T.contiguous(),
            "counts": counts.T.contiguous(),
            "nth": torch.tensor([int(t.words[1]) for _, t in again], dtype=torch.long),
        }
        for name, table in tables.items():
            self.register_buffer(name, table, persistent=False)

    def start(self, programs: int) -> Stack:
        device = self.fit.device
        wide = self.longest + 2 + len(self.places)
        wanted = torch.zeros(programs, wide, dtype=torch.long, device=device)
        wanted[:, 1] = self.answer
        one = torch.ones(programs, dtype=torch.long, device=device)
        none = torch.zeros(programs, len(self.again), dtype=torch.long, device=device)
        need = one * self.cost[self.answer]
        return Stack(wanted, one, one * self.answer, need, one * 0, none, none - 1, none > 0)

    def allowed(self, stack: Stack, left: int) -> Tensor:
        """[program, token] what may come next when so many tokens are left."""
        found = self.fit[stack.top] & (self.after <= (left - stack.below)[:, None])
        if len(self.again):
            found[:, self.again] &= stack.ready
        return found

    def push(self, stack: Stack, token: Tensor) -> Stack:
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
        return Stack(wanted, depth, top, need, need - self.cost[top], written, begun, ready)


def gives(given: Type, wanted: Type) -> bool:
    """Whether a token that gives one type may stand where another is wanted."""
    if wanted == ANSWER:
        return given in (INT, BOOL) or given.name == VALUE.name
    return fits(given, wanted)


def _costs(vocabulary: Vocabulary, types: list[Type]) -> dict[Type, int]:
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
                if gives(token.output, t):
                    found[t] = min(found[t], price)
        if found == costs:
            return costs
        costs = found
