"""Predicate: what a question is or is not; predicates compose with | & ~, and are written as they compose."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from ...question import Question
from .corpus import Corpus
from .facts import Facts, snake
from .properties import FAMILIES


class Predicate(ABC):
    """True or false of a question."""

    __slots__ = ()
    binds = 3  # how closely it holds together when written: | 0, & 1, ~ 2, a name 3

    def __call__(self, question: Question) -> bool:
        return self.holds(Facts(question))

    @abstractmethod
    def holds(self, facts: Facts) -> bool:
        """Whether it is true of what is known about a question."""

    def leaves(self) -> tuple[Predicate, ...]:
        """The properties it is made of."""
        return (self,)

    def in_words(self) -> str:
        """The expression as a name, its signs spelled: `has_quant_and_not_ans_yes`; brackets are left out."""
        return snake(str(self))

    def fitted(self, corpus: Corpus, seed: int) -> Predicate:
        """The same with what is drawn from the data drawn."""
        return self

    def __or__(self, other: Predicate) -> Predicate:
        return Either(self, other)

    def __and__(self, other: Predicate) -> Predicate:
        return Both(self, other)

    def __invert__(self) -> Predicate:
        return Not(self)


@dataclass(frozen=True, slots=True)
class Has(Predicate):
    """A property of a family; without an instance, any of the family's."""

    family: str
    instance: str = ""

    def holds(self, facts: Facts) -> bool:
        found = facts.instances(self.family, FAMILIES[self.family].find)
        return self.instance in found if self.instance else bool(found)

    def __str__(self) -> str:
        return FAMILIES[self.family].named(self.instance)


@dataclass(frozen=True, slots=True)
class Both(Predicate):
    """Both hold."""

    left: Predicate
    right: Predicate
    binds = 1

    def holds(self, facts: Facts) -> bool:
        return self.left.holds(facts) and self.right.holds(facts)

    def leaves(self) -> tuple[Predicate, ...]:
        return self.left.leaves() + self.right.leaves()

    def fitted(self, corpus: Corpus, seed: int) -> Predicate:
        return Both(self.left.fitted(corpus, seed), self.right.fitted(corpus, seed))

    def in_words(self) -> str:
        return f"{self.left.in_words()}_and_{self.right.in_words()}"

    def __str__(self) -> str:
        return f"{_within(self.left, 1)} & {_within(self.right, 2)}"


@dataclass(frozen=True, slots=True)
class Either(Predicate):
    """At least one holds."""

    left: Predicate
    right: Predicate
    binds = 0

    def holds(self, facts: Facts) -> bool:
        return self.left.holds(facts) or self.right.holds(facts)

    def leaves(self) -> tuple[Predicate, ...]:
        return self.left.leaves() + self.right.leaves()

    def fitted(self, corpus: Corpus, seed: int) -> Predicate:
        return Either(self.left.fitted(corpus, seed), self.right.fitted(corpus, seed))

    def in_words(self) -> str:
        return f"{self.left.in_words()}_or_{self.right.in_words()}"

    def __str__(self) -> str:
        return f"{_within(self.left, 0)} | {_within(self.right, 1)}"


@dataclass(frozen=True, slots=True)
class Not(Predicate):
    """It does not hold."""

    inner: Predicate
    binds = 2

    def holds(self, facts: Facts) -> bool:
        return not self.inner.holds(facts)

    def leaves(self) -> tuple[Predicate, ...]:
        return self.inner.leaves()

    def fitted(self, corpus: Corpus, seed: int) -> Predicate:
        return Not(self.inner.fitted(corpus, seed))

    def in_words(self) -> str:
        return f"not_{self.inner.in_words()}"

    def __str__(self) -> str:
        return f"~{_within(self.inner, 2)}"


def _within(inner: Predicate, binds: int) -> str:
    return str(inner) if inner.binds >= binds else f"({inner})"
