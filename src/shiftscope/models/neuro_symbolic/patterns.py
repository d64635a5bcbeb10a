"""The patterns of rules as one tree, the rules that laws of the language add, and what edits of a question cost."""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from .grammar import OBJECTS, PREDICATE, TRUTH, GrammarRule, Item
from .lexicon import NOUN, VALUE, LearnedLexicon
from .meaning import ALT, RELATION

CHEAP, DEAR = 1.0, 15.0  # costs of an exchangeable or optional word, and of one that says a leaf
COMMON = 0.3  # share of the questions that have a word which alone says nothing, as the in to the left of
LEAST = 2.0  # cost of any other word, plus the logarithm of how rare it is, plus how much it tells of a label
UNKNOWN_COST = 4.0
DERIVED_COST = 2.0  # of a rule that a law of the language adds
LACKING, MOST_LACKING = 3, 12.0  # words that may lack at the beginning of a rule, and what these may cost
CONJUNCTIONS = {"both": OBJECTS, "also": PREDICATE, "and": TRUTH}  # labels of this and that, and what they join
RARER = 2.5  # how far below the likeliest conjunction's score may be that of one that others are derived from
FRAME = 2  # words before a conjunction's first part that may mark it, as in both this and that
PREFIX = 4  # letters that two forms of a word share


class PatternNode:
    """A place in the patterns of the rules, as a tree of their first items."""

    __slots__ = ("ends", "holes", "words")

    def __init__(self) -> None:
        self.words: dict[str, PatternNode] = {}
        self.holes: dict[str, PatternNode] = {}
        self.ends: list[tuple[GrammarRule, float]] = []


def build_patterns(rules: Mapping[GrammarRule, float]) -> PatternNode:
    """All patterns as one tree; a rule's score is the logarithm of its probability."""
    root = PatternNode()
    for rule, score in rules.items():
        at = root
        for item in rule.pattern:
            if isinstance(item, int):
                at = at.holes.setdefault(rule.holes[item], PatternNode())
            else:
                at = at.words.setdefault(item, PatternNode())
        at.ends.append((rule, score))
    return root


def derive_rules(rules: Mapping[GrammarRule, float]) -> dict[GrammarRule, float]:
    """The rules that laws of the language add, none of them among the given.

    *This and that* of one kind is said of the others, in the more usual ways. An alternative of relations, and a
    comparison of two sets, are derived only where no rule says any: the second then stands after the whole of the
    first ("behind a jet or before"), and a second set may also be joined to the first as by a conjunction.
    """
    found: dict[GrammarRule, float] = {}
    labels = {rule.label for rule in rules}
    alternatives = sorted((r for r in rules if r.label == ALT), key=lambda r: (-rules[r], str(r)))
    conjunctions = {r: rules[r] for r in rules if r.label in CONJUNCTIONS and len(r.holes) == 2}
    pairs = {rule.label for rule in rules if len(rule.holes) == 3}
    joining = {_cut_edges(r.pattern)[1:-1] for r in sorted(conjunctions, key=lambda r: (-rules[r], str(r)))[:1]}
    usual = max(conjunctions.values(), default=0.0)
    between = [_cut_edges(rule.pattern)[1:-1] for rule in alternatives[:1]]
    for rule, score in rules.items():
        made: list[GrammarRule] = []
        if rule.label == ALT:
            made = [GrammarRule(ALT, kind, rule.pattern, (kind, kind)) for kind in (NOUN, VALUE)]
        elif rule.label == "same" and len(rule.holes) == 3:
            made = [
                GrammarRule(rule.label, rule.category, pattern, (rule.holes[0], rule.holes[2]))
                for pattern in _drop_second(rule.pattern)
            ]
        elif rule.label == "same" and "same" not in pairs:
            made = [
                GrammarRule(rule.label, rule.category, pattern, (rule.holes[0], *rule.holes))
                for pattern in _add_second(rule.pattern, joining)
            ]
        elif rule in conjunctions and score > usual - RARER:
            made = [
                GrammarRule(label, kind, pattern, (kind, kind))
                for label, kind in CONJUNCTIONS.items()
                for pattern in _list_frames(rule.pattern)[label in labels :]
            ]
        elif rule.label == "pred" and "pred_alt" not in labels:
            made = [
                GrammarRule("pred_alt", rule.category, (*rule.pattern, *words, 2), (*rule.holes, RELATION))
                for words in between
            ]
        for one in made:
            if one not in rules:
                found[one] = max(found.get(one, -math.inf), score - DERIVED_COST)
    return found


def _cut_edges(pattern: tuple[Item, ...]) -> tuple[Item, ...]:
    """A pattern without the words before its first hole and after its last."""
    holes = [k for k, item in enumerate(pattern) if isinstance(item, int)]
    return pattern[holes[0] : holes[-1] + 1]


def _list_frames(pattern: tuple[Item, ...]) -> list[tuple[Item, ...]]:
    """A pattern from its first hole to its last, with none or some of the words before: "both … and …"."""
    inner = _cut_edges(pattern)
    start = pattern.index(inner[0])
    return [(*pattern[k:start], *inner) for k in range(start, max(-1, start - FRAME - 1), -1)]


def _drop_second(pattern: tuple[Item, ...]) -> list[tuple[Item, ...]]:
    """A pattern of two sets and a leaf without the second set, and without some of the words right before it."""
    at = pattern.index(1)
    start = at
    while start > 0 and isinstance(pattern[start - 1], str):
        start -= 1
    renumber = {0: 0, 2: 1}
    rest = pattern[at + 1 :]
    return [
        tuple(renumber[item] if isinstance(item, int) else item for item in (*pattern[:end], *rest))
        for end in range(start, at + 1)
    ]


def _add_second(pattern: tuple[Item, ...], joining: Collection[tuple[Item, ...]]) -> list[tuple[Item, ...]]:
    """A pattern of a set and a leaf with a second set: joined to the first as by a conjunction, or after the whole."""
    wider = tuple(2 if item == 1 else item for item in pattern)
    at = wider.index(0) + 1
    return [(*wider, 1), *((*wider[:at], *words, 1, *wider[at:]) for words in joining)]


def measure_telling(rules: Mapping[GrammarRule, float]) -> dict[str, float]:
    """How much each word of the rules tells of a label: how far the labels it is used with diverge from all."""
    used: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    labels: dict[str, float] = defaultdict(float)
    for rule, weight in rules.items():
        for item in rule.pattern:
            if isinstance(item, str):
                used[item][rule.label] += weight
                labels[rule.label] += weight
    total = sum(labels.values())
    found = {}
    for word, counts in used.items():
        of_word = sum(counts.values())
        found[word] = sum(n / of_word * math.log(n / of_word * total / labels[label]) for label, n in counts.items())
    return found


class EditCosts:
    """What it costs to skip a word, to do without one, or to take one for another."""

    def __init__(
        self, rules: Mapping[GrammarRule, float], frequencies: Mapping[str, float], lexicon: LearnedLexicon
    ) -> None:
        self.telling = measure_telling(rules)
        self.frequencies = frequencies  # word → share of the training questions that have it
        self.said = {w for phrase in lexicon.entries for w in phrase if len(phrase) == 1 or frequencies[w] < COMMON}
        self.open = "name" in lexicon.nouns  # of graphs of any words, a new word is more likely a name than not
        self.optional: set[str] = set()
        self.known: dict[tuple[str, str], float | None] = {}  # what exchanges cost, as far as looked up
        self.alike: dict[str, set[str]] = defaultdict(set)
        groups: dict[Any, list[tuple[Item, ...]]] = defaultdict(list)
        for rule in rules:
            groups[rule.label, rule.category, rule.holes].append(rule.pattern)
        for patterns in groups.values():
            self._compare(patterns)

    def _compare(self, patterns: Sequence[tuple[Item, ...]]) -> None:
        """Learn from rules of the same meaning that differ in one word."""
        masked: dict[Any, set[str]] = defaultdict(set)
        known = set(patterns)
        for pattern in patterns:
            for k, item in enumerate(pattern):
                if isinstance(item, str):
                    masked[pattern[:k], pattern[k + 1 :]].add(item)
                    if (*pattern[:k], *pattern[k + 1 :]) in known:
                        self.optional.add(item)
        for words in masked.values():
            for word in words:
                self.alike[word] |= words - {word}

    def drop(self, word: str) -> float:
        """Of a word of the question that no rule takes, or of a rule's word that the question lacks."""
        if word in self.optional:
            return CHEAP
        if word not in self.frequencies:
            return UNKNOWN_COST + DEAR * (word.isdecimal() or (self.open and word[0].isalpha()))
        cost = LEAST + min(4.0, -math.log(self.frequencies[word])) + self.telling.get(word, 0.0)
        return cost + DEAR if word in self.said else cost

    def exchange(self, word: str, other: str) -> float | None:
        """Of a word in place of a rule's; None where neither is known to stand for the other."""
        key = word, other
        if key not in self.known:
            self.known[key] = self._exchange(word, other)
        return self.known[key]

    def _exchange(self, word: str, other: str) -> float | None:
        if other in self.alike.get(word, ()):
            return CHEAP
        shared = 0
        for a, b in zip(word, other, strict=False):
            if a != b:
                break
            shared += 1
        return 2 * CHEAP if shared >= PREFIX and shared >= 0.6 * max(len(word), len(other)) else None


# A place in the patterns that a rule may be begun at, at a cost, by so many edits.
Start = tuple[PatternNode, float, int]


class PatternStarts:
    """Where rules begin: at their first item, or after words that the question lacks."""

    def __init__(self, patterns: PatternNode, costs: EditCosts, edits: int) -> None:
        self.words: dict[str, list[Start]] = defaultdict(list)
        self.holes: dict[str, list[Start]] = defaultdict(list)
        todo: list[Start] = [(patterns, 0.0, 0)]
        while todo:
            node, cost, many = todo.pop()
            for word, following in node.words.items():
                self.words[word].append((following, cost, many))
                lacking = cost + costs.drop(word)
                if many < min(edits, LACKING) and lacking <= MOST_LACKING:
                    todo.append((following, lacking, many + 1))
            for category, following in node.holes.items():
                self.holes[category].append((following, cost, many))
