"""Predicates over questions: properties composed with | & ~, written as expressions, fitted to a dataset.

An expression is `has_quant_all & ~(has_num_3 | ans_3)`; ~ before & before |. Names may be spelled as in the
paper: HAS-QUANT-ALL, RM/V/C; and ∪ and ∩ for | and &.

Some properties are drawn from the data (COVR, section 4). *program_split_N*: programs without their words; a
fifth of them is held out. *lexical_split_N*: pairs of names (of objects, attributes, relations) of one
program; a fifth of them is held out of those that can be tested, so that what is trained on never has both. Where few
names make many long questions, a fifth of the pairs would be in nearly every question: then as many pairs are held
out as take a fifth of the training questions away (the paper's take a sixth).
What is drawn depends on the questions, the seed and N, not on the order of files or of a hash table.
"""

import re
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

from ...errors import UserError, did_you_mean
from ...question import Question
from ...rng import derive
from .facts import ProgramFacts, to_snake_case
from .properties import FAMILIES

MIN_TOGETHER = (15, 6_891)  # so often, of so many questions for development
MIN_APART = (50, 248_100)  # so often, of so many questions for training

NamePair = tuple[str, str]


class QuestionCorpus:
    """All questions of a dataset, read whenever something is drawn; what may be drawn stands in one order."""

    def __init__(self, read: Callable[[], Iterator[tuple[bool, Question]]]) -> None:
        self.read = read  # every question, and whether it is one to train on

    @cached_property
    def programs(self) -> list[str]:
        """The programs without their words."""
        return sorted({ProgramFacts(question).anonymous_program for _, question in self.read()})

    @cached_property
    def pairs(self) -> dict[NamePair, list[int]]:
        """The pairs of names of one program that can be held out and tested, and the training questions with both.

        As in COVR's released code they occur together in the evaluation questions, and each name is learned
        without the other; how often is in proportion: there 15 and 50 times.
        """
        alone: Counter[str] = Counter()
        learned: dict[NamePair, list[int]] = defaultdict(list)
        tested: Counter[NamePair] = Counter()
        sizes = [0, 0]
        for training, question in self.read():
            names = sorted(ProgramFacts(question).names)
            sizes[training] += 1
            if not training:
                tested.update(combinations(names, 2))
                continue
            alone.update(names)
            for pair in combinations(names, 2):
                learned[pair].append(sizes[True])
        limits = zip((MIN_TOGETHER, MIN_APART), sizes, strict=True)
        together, apart = (max(1, round(times * size / of)) for (times, of), size in limits)  # once at least
        often = [pair for pair, times in tested.items() if times >= together]
        found = [pair for pair in often if all(alone[name] - len(learned[pair]) >= apart for name in pair)]
        if not found:
            raise UserError(
                "no pair of names can be held out: none occurs in the evaluation questions while each "
                "name is learned without the other; take more questions"
            )
        return {pair: learned[pair] for pair in sorted(found)}

    @cached_property
    def learned(self) -> int:
        """How many questions there are to train on."""
        return sum(training for training, _ in self.read())


class QuestionPredicate(ABC):
    """True or false of a question."""

    __slots__ = ()
    binds = 3  # how closely it holds together when written: a name most, then what BINDS says

    def __call__(self, question: Question) -> bool:
        return self.holds(ProgramFacts(question))

    @abstractmethod
    def holds(self, facts: ProgramFacts) -> bool:
        """Whether it is true of what is known about a question."""

    def list_properties(self) -> tuple["QuestionPredicate", ...]:
        """The properties it is made of."""
        return (self,)

    def format_name(self) -> str:
        """The expression as a name, its signs spelled: `has_quant_and_not_ans_yes`; brackets are left out."""
        return to_snake_case(str(self))

    def fit(self, corpus: QuestionCorpus, seed: int) -> "QuestionPredicate":
        """The same with what is drawn from the data drawn."""
        return self

    def __or__(self, other: "QuestionPredicate") -> "QuestionPredicate":
        return JoinedPredicate("|", (self, other))

    def __and__(self, other: "QuestionPredicate") -> "QuestionPredicate":
        return JoinedPredicate("&", (self, other))

    def __invert__(self) -> "QuestionPredicate":
        return JoinedPredicate("~", (self,))


@dataclass(frozen=True, slots=True)
class HasProperty(QuestionPredicate):
    """A property of a family; without an instance, any of the family's."""

    family: str
    instance: str = ""

    def holds(self, facts: ProgramFacts) -> bool:
        found = facts.find_instances(self.family, FAMILIES[self.family].find)
        return self.instance in found if self.instance else bool(found)

    def __str__(self) -> str:
        return FAMILIES[self.family].name_property(self.instance)


BINDS = {"|": 0, "&": 1, "~": 2}


@dataclass(frozen=True, slots=True)
class JoinedPredicate(QuestionPredicate):
    """Both hold (&), at least one does (|), or the only one does not (~)."""

    sign: str
    parts: tuple[QuestionPredicate, ...]

    @property
    def binds(self) -> int:  # type: ignore[override]
        return BINDS[self.sign]

    def holds(self, facts: ProgramFacts) -> bool:
        if self.sign == "&":
            return all(one.holds(facts) for one in self.parts)
        return any(one.holds(facts) for one in self.parts) != (self.sign == "~")

    def list_properties(self) -> tuple[QuestionPredicate, ...]:
        return tuple(found for one in self.parts for found in one.list_properties())

    def fit(self, corpus: QuestionCorpus, seed: int) -> QuestionPredicate:
        return replace(self, parts=tuple(one.fit(corpus, seed) for one in self.parts))

    def format_name(self) -> str:
        names = [one.format_name() for one in self.parts]
        return f"not_{names[0]}" if self.sign == "~" else ("_and_" if self.sign == "&" else "_or_").join(names)

    def __str__(self) -> str:
        if self.sign == "~":
            return f"~{_bracket(self.parts[0], self.binds)}"
        left, right = self.parts
        return f"{_bracket(left, self.binds)} {self.sign} {_bracket(right, self.binds + 1)}"


def _bracket(inner: QuestionPredicate, binds: int) -> str:
    return str(inner) if inner.binds >= binds else f"({inner})"


HELD_OUT_SHARE = 0.2
DRAWS = (1, 2, 3)
PROGRAM_SPLIT, LEXICAL_SPLIT = "program_split", "lexical_split"
# Raised where a changed rule draws otherwise from the same questions.
DRAW_RULES = {PROGRAM_SPLIT: 1, LEXICAL_SPLIT: 2}


@dataclass(frozen=True, slots=True)
class DrawnProperty(QuestionPredicate):
    """A draw; what it holds of is known once it is fitted."""

    kind: str
    number: int

    def holds(self, facts: ProgramFacts) -> bool:
        raise UserError(f"{self} is drawn from a dataset; it says nothing of a question alone")

    def fit(self, corpus: QuestionCorpus, seed: int) -> QuestionPredicate:
        """A fifth of the programs or pairs, at least one of them; fewer pairs where they are in too many questions."""
        options = corpus.programs if self.kind == PROGRAM_SPLIT else list(corpus.pairs)
        order = derive("held_out", self.kind, seed, self.number).permutation(len(options))
        many = max(1, round(HELD_OUT_SHARE * len(options)))
        drawn = [options[k] for k in order[:many].tolist()]
        if self.kind == LEXICAL_SPLIT:
            drawn = drawn[: max(1, self._count_pairs(corpus, drawn))]
        return FittedDraw(self, frozenset(drawn))

    @staticmethod
    def _count_pairs(corpus: QuestionCorpus, drawn: Sequence[Any]) -> int:
        """How many of the first pairs take at most a fifth of the training questions away."""
        gone: set[int] = set()
        for k, pair in enumerate(drawn):
            gone.update(corpus.pairs[pair])
            if len(gone) > HELD_OUT_SHARE * corpus.learned:
                return k
        return len(drawn)

    def __str__(self) -> str:
        return f"{self.kind}_{self.number}"


@dataclass(frozen=True, slots=True)
class FittedDraw(QuestionPredicate):
    """The program is one of those drawn, or has both names of a pair drawn."""

    draw: DrawnProperty
    drawn: frozenset[str | NamePair]

    def holds(self, facts: ProgramFacts) -> bool:
        if self.draw.kind == PROGRAM_SPLIT:
            return facts.anonymous_program in self.drawn
        return any(pair in self.drawn for pair in combinations(sorted(facts.names), 2))

    def __str__(self) -> str:
        return str(self.draw)


SIGNS = {"∪": "|", "∩": "&"}
DRAWN_PROPERTIES = {f"{kind}_{n}": DrawnProperty(kind, n) for kind in (PROGRAM_SPLIT, LEXICAL_SPLIT) for n in DRAWS}
MAX_DEPTH = 100  # brackets and ~ within each other


def parse_expression(text: str) -> QuestionPredicate:
    """The predicate that an expression says; an error tells the place."""
    return _ExpressionParser(text).parse_whole()


LIST_HINT = " (shiftscope split --list)"


def get_property(name: str) -> QuestionPredicate:
    """The property of that name."""
    word = to_snake_case(name)
    found = DRAWN_PROPERTIES.get(word) or _find_family_property(word)
    if found is None:
        raise UserError(f"no property {name!r}{did_you_mean(word, list_property_names())}{LIST_HINT}")
    return found


def list_property_names() -> list[str]:
    """The names of all properties; X stands for any word."""
    return [*(name for one in FAMILIES.values() for name in one.names), *DRAWN_PROPERTIES]


def _find_family_property(word: str) -> QuestionPredicate | None:
    for one in sorted(FAMILIES.values(), key=lambda one: -len(one.name)):
        if word == one.name:
            return HasProperty(one.name) if one.alone else None
        if one.known is None and word.startswith(f"{one.name}_"):
            instance = word.removeprefix(f"{one.name}_")
            return None if one.name == "has_num" and not instance.isdecimal() else HasProperty(one.name, instance)
        for instance in one.known or ():
            if word == one.name_property(instance):
                return HasProperty(one.name, instance)
    return None


class _ExpressionParser:
    """A descent through the expression."""

    def __init__(self, text: str) -> None:
        self.text = text
        found = re.finditer(r"[|&~()∪∩]|[^\s|&~()∪∩]+", text)
        self.tokens = [*((SIGNS.get(m[0], m[0]), m.start() + 1) for m in found), ("", 0)]  # the first character is 1
        self.at = 0
        self.depth = 0

    def parse_whole(self) -> QuestionPredicate:
        if len(self.tokens) == 1:
            raise UserError("the expression is empty; write properties joined by | & ~, as in 'has_quant & has_num'")
        found = self.parse_joined("|&")
        if self.tokens[self.at][0]:
            raise self.build_error("'&', '|' or the end")
        return found

    def parse_joined(self, signs: str) -> QuestionPredicate:
        """Terms joined by these signs, of which the first binds least."""
        if not signs:
            return self.parse_term()
        found = self.parse_joined(signs[1:])
        while self.accept(signs[0]):
            found = JoinedPredicate(signs[0], (found, self.parse_joined(signs[1:])))
        return found

    def parse_term(self) -> QuestionPredicate:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UserError(f"the expression nests more than {MAX_DEPTH} brackets and '~'")
        try:
            if self.accept("~"):
                return ~self.parse_term()
            if self.accept("("):
                found = self.parse_joined("|&")
                if not self.accept(")"):
                    raise self.build_error("')'")
                return found
            return self.parse_name()
        finally:
            self.depth -= 1

    def parse_name(self) -> QuestionPredicate:
        text, character = self.tokens[self.at]
        if text in "|&~()":  # or the end
            raise self.build_error("a property, '~' or '('")
        self.at += 1
        try:
            return get_property(text)
        except UserError as error:
            where = f" at character {character} of {self.text!r}" if len(self.tokens) > 2 else ""
            raise UserError(f"{str(error).removesuffix(LIST_HINT)}{where}{LIST_HINT}") from None

    def accept(self, sign: str) -> bool:
        found = self.tokens[self.at][0] == sign
        self.at += found
        return found

    def build_error(self, expected: str) -> UserError:
        text, character = self.tokens[self.at]
        found = f"{text!r} at character {character}" if text else "its end"
        return UserError(f"the expression {self.text!r} breaks: expected {expected}, got {found}")
