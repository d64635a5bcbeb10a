"""A chart parser: the likeliest meaning of a question under an induced grammar.

A question is parsed as the rules say, and leniently: words may be skipped, rules may lack a word, and a word may stand
for another, few of them at first, each at a cost: little for words that the grammar itself shows to be optional or
exchangeable (rules that are else alike), more for those that are rare and so tell much. Laws of the language add
rules: whatever kind of leaf *this or that* was learned of, it may be said of others, and *this and that* likewise; and
whether two sets are alike in something may be asked of one, and of two as of one.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...scene import FREE
from .grammar import SENTENCE, GrammarRule, NodeLink, categorize_label
from .lexicon import LearnedLexicon, Symbol, Words, categorize_kind
from .meaning import ALT, LEAF, NUMBER, Tree, has_program
from .patterns import CONJUNCTIONS, EditCosts, PatternNode, PatternStarts, build_patterns, derive_rules

BEST = 3  # readings of the same words as the same category
WIDTH = 4  # partial readings of a rule from and to the same places
EDITS = (2, 5, 10)  # at most in a question; more only where fewer give no program, or all of them are used
UNMET = 0.5  # times that a child below a node is taken to be met, where it was not
ANYWHERE = 0.1  # how probably a child below a node is any of its category, by how often these are met anywhere
UNUSUAL = 6.0  # cost of describing what is described, which a meaning does by one conjunction
NEW_LEAF = 6.0  # cost of a word that no training question has as a leaf of its own


class Reading(NamedTuple):
    """Words from one place to another read as a category."""

    score: float
    edits: int
    tree: Tree


class ChartParser:
    """Reads questions by rules and lexicon."""

    def __init__(
        self,
        rules: Mapping[GrammarRule, float],
        links: Mapping[NodeLink, int],
        lexicon: LearnedLexicon,
        frequencies: Mapping[str, float],
    ) -> None:
        self.lexicon, self.links = lexicon, links
        self.parents: Counter[tuple[str, int]] = Counter()
        below: Counter[str] = Counter()
        of_category: Counter[str] = Counter()
        for (parent, k, child), count in links.items():
            self.parents[parent, k] += count
            below[child] += count
            of_category[_categorize(child)] += count
        # how often each child is met among all of its category
        self.usual = {child: count / of_category[_categorize(child)] for child, count in below.items()}
        totals: dict[str, float] = defaultdict(float)
        for rule, weight in rules.items():
            totals[rule.category] += weight
        scored = {rule: math.log(weight / totals[rule.category]) for rule, weight in rules.items()}
        self.costs = EditCosts(rules, frequencies, lexicon)
        self.strict = PatternStarts(build_patterns(scored), self.costs, 0)
        self.lenient = PatternStarts(build_patterns({**scored, **derive_rules(scored)}), self.costs, EDITS[-1])
        self.endings = _learn_endings(lexicon)
        self.longest = max(map(len, lexicon.entries), default=0)
        self.open = "name" in lexicon.nouns

    def build_charts(self, words: Words) -> list["QuestionChart"]:
        """Charts of one question: as the rules say, then with few edits, then with more."""
        charts = [QuestionChart(self, words, self.strict, 0)]
        return charts + [QuestionChart(self, words, self.lenient, most) for most in EDITS]

    def list_leaves(self, words: Words) -> list[tuple[int, int, Symbol, float]]:
        """Every phrase that may say a leaf, and the logarithm of how probably."""
        found = []
        for i in range(len(words)):
            for j in range(i + 1, min(i + self.longest, len(words)) + 1):
                said = self.lexicon.entries.get(words[i:j])
                if said:
                    total = sum(said.values())
                    found += [(i, j, symbol, math.log(count / total)) for symbol, count in said.items()]
            if words[i].isdecimal() and (words[i],) not in self.lexicon.entries:
                found.append((i, i + 1, (NUMBER, words[i]), -NEW_LEAF))
            if words[i][0].isalpha() and words[i] not in self.costs.frequencies:
                found += [(i, i + 1, symbol, score) for symbol, score in self._guess_leaves(words[i])]
        return found

    def score_links(self, tree: Tree) -> float:
        """The logarithm of how probably a node has such children; what was never met is improbable, not excluded."""
        label = tree[0]
        score = -UNUSUAL if label == "with" == tree[1][0] else 0.0
        for k, child in enumerate(tree[1:]):
            kind = LEAF if child[0] == ALT else child[0]  # an alternative stands where its parts may
            met = self.links.get((label, k, kind), 0)
            if not met and kind in CONJUNCTIONS:  # and so does a conjunction that was never met there
                met = self.links.get((label, k, child[1][0]), 0)
            share = (met + UNMET) / (self.parents[label, k] + 1.0)
            score += math.log(max(share, ANYWHERE * self.usual.get(kind, 0.0)))
        return score

    def _guess_leaves(self, word: str) -> list[tuple[Symbol, float]]:
        """What a word may say that training never showed: what one like it says, or itself in a graph of any words."""
        made: dict[Symbol, float] = {}
        for phrase, symbols in self.lexicon.entries.items():
            if len(phrase) == 1 and self.costs.exchange(word, phrase[0]) is not None:
                made |= dict.fromkeys(symbols, -NEW_LEAF)
        if not self.open:
            return list(made.items())
        made[FREE, word] = -NEW_LEAF
        total = sum(self.endings.values())
        for (ending, instead), count in self.endings.items():
            if word.endswith(ending) and len(word) > len(ending) + 1:
                made["name", word[: len(word) - len(ending)] + instead] = (
                    math.log(count / total) + len(ending) - NEW_LEAF
                )
        return list(made.items())


def _categorize(label: str) -> str:
    """What stands where this node may, leaves of any kind as one."""
    return LEAF if label in (LEAF, ALT) else categorize_label(label)


def _learn_endings(lexicon: LearnedLexicon) -> Counter[tuple[str, str]]:
    """How nouns of questions end, and how they do in programs."""
    counted: Counter[tuple[str, str]] = Counter({("", ""): 1})
    for phrase, symbols in lexicon.entries.items():
        for kind, said in symbols:
            if kind in lexicon.nouns and len(phrase) == 1:
                shared = 0
                while shared < min(len(phrase[0]), len(said)) and phrase[0][shared] == said[shared]:
                    shared += 1
                if shared >= 2:
                    counted[phrase[0][shared:], said[shared:]] += 1
    return counted


Partial = tuple[float, int, tuple[Tree, ...]]  # score, edits, the children read so far


class QuestionChart:
    """One question on the way: from its end to its beginning, all readings that begin at a word."""

    def __init__(self, parser: ChartParser, words: Words, starts: PatternStarts, edits: int) -> None:
        self.words, self.starts, self.edits, self.size = words, starts, edits, len(words)
        self.parser, self.costs, self.nouns = parser, parser.costs, parser.lexicon.nouns
        self.drops = [self.costs.drop(word) for word in words]
        self.found: list[list[dict[str, list[Reading]]]] = [  # [start][end][category]
            [{} for _ in range(self.size + 1)] for _ in range(self.size)
        ]
        self.leaves: dict[int, list[tuple[int, Symbol, float]]] = defaultdict(list)
        for i, j, symbol, score in parser.list_leaves(words):
            self.leaves[i].append((j, symbol, score))
        self.kept: list[dict[tuple[int, bool], list[Partial]]] = []  # [end][place in the patterns], from one word on
        self.queue: list[list[tuple[PatternNode, Partial, bool]]] = []  # [end] what is to be read on from

    def run(self) -> list[Reading]:
        """Readings of the whole question, the best first."""
        for start in range(self.size - 1, -1, -1):
            self.read_from(start)
        found: list[Reading] = []
        for start in range(min(self.edits + 1, self.size)):  # words at either end may be skipped
            for end in range(self.size, max(start, self.size - self.edits + start - 1), -1):
                many = start + self.size - end
                lost = sum(self.drops[:start]) + sum(self.drops[end:])
                found += [
                    Reading(one.score - lost, one.edits + many, one.tree)
                    for one in self.found[start][end].get(SENTENCE, ())
                    if one.edits + many <= self.edits
                ]
        return sorted(found, key=lambda one: (-one.score, repr(one.tree)))

    def read_from(self, start: int) -> None:
        """All readings from this word on; those from later words are there."""
        self.kept = [{} for _ in range(self.size + 1)]
        self.queue = [[] for _ in range(self.size + 1)]
        here = self.found[start]
        for node, cost, many in self.starts.words.get(self.words[start], ()):
            if many <= self.edits:
                self.add(node, start + 1, (-cost, many, ()))
        if self.edits:
            self.exchange_first(start)
        for j, symbol, score in self.leaves[start]:
            leaf = Reading(score, 0, (LEAF, *symbol))
            _keep(here[j].setdefault(categorize_kind(symbol[0], self.nouns), []), leaf)
        for end in range(start + 1, self.size + 1):
            self.complete(start, end)

    def exchange_first(self, start: int) -> None:
        """Begin a rule with another word than its own."""
        for other, places in self.starts.words.items():
            cost = self.costs.exchange(self.words[start], other)
            for node, lacking, many in places if cost is not None else ():
                if many < self.edits:
                    self.add(node, start + 1, (-lacking - (cost or 0.0), many + 1, ()))

    def complete(self, start: int, end: int) -> None:
        """Readings from start to end: of rules that are complete there, and of rules that begin with these."""
        here, queue = self.found[start][end], self.queue[end]
        todo = [(category, one) for category, readings in here.items() for one in readings]
        while todo or queue:
            while queue:
                node, way, skipped = queue.pop()
                for rule, score in () if skipped else node.ends:
                    tree = _build_tree(rule, way[2])
                    if not has_program(tree):
                        continue  # it would take the place of readings that have a program
                    one = Reading(way[0] + score + self.parser.score_links(tree), way[1], tree)
                    if _keep(here.setdefault(rule.category, []), one):
                        todo.append((rule.category, one))
                self.step(node, end, way)
            if todo:
                category, one = todo.pop()
                for node, cost, many in self.starts.holes.get(category, ()):
                    if one.edits + many <= self.edits:
                        self.add(node, end, (one.score - cost, one.edits + many, (one.tree,)))

    def step(self, node: PatternNode, at: int, way: Partial) -> None:
        """Read on from a place in the patterns: by a word, by a reading that begins here, or by an edit."""
        score, edits, children = way
        more = edits < self.edits
        if at < self.size:
            following = node.words.get(self.words[at])
            if following is not None:
                self.add(following, at + 1, way)
            if node.holes:
                self.fill_holes(node, at, way)
            if more:
                self.add(node, at + 1, (score - self.drops[at], edits + 1, children), skipped=True)
        for word, following in node.words.items():
            if word[0] == "<":
                self.repeat_leaf(following, word[1:-1], at, way)
            if more:
                self.add(following, at, (score - self.costs.drop(word), edits + 1, children))
                cost = self.costs.exchange(self.words[at], word) if at < self.size else None
                if cost is not None:
                    self.add(following, at + 1, (score - cost, edits + 1, children))

    def fill_holes(self, node: PatternNode, at: int, way: Partial) -> None:
        score, edits, children = way
        for end in range(at + 1, self.size + 1):
            readings = self.found[at][end]
            if readings:
                for category, following in node.holes.items():
                    for one in readings.get(category, ()):
                        if edits + one.edits <= self.edits:
                            self.add(following, end, (score + one.score, edits + one.edits, (*children, one.tree)))

    def repeat_leaf(self, node: PatternNode, category: str, at: int, way: Partial) -> None:
        """A leaf that is said again."""
        for end, symbol, _ in self.leaves[at]:
            if categorize_kind(symbol[0], self.nouns) == category:
                self.add(node, end, way)

    def add(self, node: PatternNode, at: int, way: Partial, skipped: bool = False) -> None:
        """Keep one of the best ways to a place in the patterns, and read on from there.

        Where a word was skipped last, the rule cannot end: what follows a rule's words is skipped by the one around it.
        """
        ways = self.kept[at].setdefault((id(node), skipped), [])
        if len(ways) >= WIDTH and way[0] <= ways[-1][0]:
            return
        if any(other[2] == way[2] and other[0] >= way[0] for other in ways):
            return
        ways.append(way)
        ways.sort(key=lambda one: -one[0])
        del ways[WIDTH:]
        self.queue[at].append((node, way, skipped))


def _keep(readings: list[Reading], one: Reading) -> bool:
    """Keep one of the best readings; whether it is one."""
    for k, other in enumerate(readings):
        if other.tree == one.tree:
            if other.score >= one.score:
                return False
            readings[k] = one
            return True
    if len(readings) < BEST:
        readings.append(one)
        return True
    worst = min(range(len(readings)), key=lambda k: readings[k].score)
    if readings[worst].score >= one.score:
        return False
    readings[worst] = one
    return True


def _build_tree(rule: GrammarRule, children: tuple[Tree, ...]) -> Tree:
    """The node of a rule; children are in the order of the words."""
    order = [item for item in rule.pattern if isinstance(item, int)]
    placed: list[Any] = [None] * len(children)
    for child, at in zip(children, order, strict=True):
        placed[at] = child
    return (rule.label, *placed)
