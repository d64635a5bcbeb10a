"""Properties that are drawn from the data: a fifth of its programs, or of the pairs of names it speaks of.

COVR, section 4. *program_split_N*: programs without their words; a fifth of them is held out.
*lexical_split_N*: pairs of names (of objects, attributes, relations) of one program; a fifth of them is held
out of those that can be tested, so that what is trained on never has both.

What is drawn depends on the questions, the seed and N, not on the order of files or of a hash table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

from ...errors import UserError
from ...rng import derive
from .corpus import Corpus, Pair
from .facts import Facts
from .predicate import Predicate

SHARE = 0.2
DRAWS = (1, 2, 3)
PROGRAM, LEXICAL = "program_split", "lexical_split"

T = TypeVar("T", str, Pair)


@dataclass(frozen=True, slots=True)
class Drawn(Predicate):
    """A draw; what it holds of is known once it is fitted."""

    kind: str
    number: int

    def holds(self, facts: Facts) -> bool:
        raise UserError(f"{self} is drawn from a dataset; it says nothing of a question alone")

    def fitted(self, corpus: Corpus, seed: int) -> Predicate:
        if self.kind == PROGRAM:
            return OfPrograms(str(self), self._draw(corpus.programs, seed))
        return OfPairs(str(self), self._draw(corpus.pairs, seed))

    def _draw(self, options: Sequence[T], seed: int) -> frozenset[T]:
        """A fifth of the options, at least one of them."""
        order = derive("held_out", self.kind, seed, self.number).permutation(len(options))
        return frozenset(options[k] for k in order[: max(1, round(SHARE * len(options)))].tolist())

    def __str__(self) -> str:
        return f"{self.kind}_{self.number}"


@dataclass(frozen=True, slots=True)
class OfPrograms(Predicate):
    """The program is one of those drawn."""

    name: str
    programs: frozenset[str]

    def holds(self, facts: Facts) -> bool:
        return facts.anonymous in self.programs

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class OfPairs(Predicate):
    """The program has both names of a pair drawn."""

    name: str
    pairs: frozenset[Pair]

    def holds(self, facts: Facts) -> bool:
        return any(pair in self.pairs for pair in combinations(sorted(facts.names), 2))

    def __str__(self) -> str:
        return self.name
