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
from typing import NamedTuple

import numpy as np

from ...kernels import Doubles
from ...scene import FREE
from .chart_arrays import (
    NumberedPatterns,
    QuestionTrees,
    RuleNumbers,
    TreeKinds,
    make_chart,
    pack_rows,
    widen_chart,
    widen_rows,
)
from .chart_kernel import BEST, DONE, START, TREES, UNKNOWN, ChartArrays, QuestionArrays, read_question
from .grammar import SENTENCE, GrammarRule, NodeLink, categorize_label
from .lexicon import LearnedLexicon, Symbol, Words, categorize_kind
from .meaning import ALT, LEAF, NUMBER, Tree
from .patterns import CONJUNCTIONS, EditCosts, build_patterns, derive_rules

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
        derived = {**scored, **derive_rules(scored)}
        self.numbers = RuleNumbers(derived)
        self.kinds = TreeKinds(self.numbers, self.score_links)
        self.exchanges: dict[str, Doubles] = {}
        self.strict = NumberedPatterns(build_patterns(scored), 0, self.numbers, self.costs)
        self.lenient = NumberedPatterns(build_patterns(derived), EDITS[-1], self.numbers, self.costs)
        self.endings = _learn_endings(lexicon)
        self.longest = max(map(len, lexicon.entries), default=0)
        self.open = "name" in lexicon.nouns

    def build_charts(self, words: Words) -> list["QuestionChart"]:
        """Charts of one question: as the rules say, then with few edits, then with more."""
        question = QuestionText(self, words)
        charts = [QuestionChart(question, self.strict, 0)]
        return charts + [QuestionChart(question, self.lenient, most) for most in EDITS]

    def list_exchanges(self, word: str) -> Doubles:
        """[word of the rules] what it costs to take a question's word for it; NaN where it cannot stand for that."""
        if word not in self.exchanges:
            costs = [self.costs.exchange(word, other) for other in self.numbers.words]
            self.exchanges[word] = np.array([math.nan if cost is None else cost for cost in costs], float)
        return self.exchanges[word]

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


class QuestionText:
    """One question, as its charts read it."""

    def __init__(self, parser: ChartParser, words: Words) -> None:
        self.parser, self.words = parser, words
        costs, categories = parser.costs, parser.numbers.categories
        self.drops = [costs.drop(word) for word in words]
        symbols: dict[Symbol, int] = {}
        said: list[list[tuple[int, int, int, float]]] = [[] for _ in words]
        for start, end, symbol, score in parser.list_leaves(words):
            category = categories[categorize_kind(symbol[0], parser.lexicon.nouns)]
            said[start].append((end, category, symbols.setdefault(symbol, len(symbols)), score))
        self.leaves = pack_rows(said, 3)
        self.trees = QuestionTrees([(LEAF, *symbol) for symbol in symbols], parser.kinds)
        self.numbers = np.array([parser.numbers.words.get(word, -1) for word in words], np.int64)
        self.exchanges = np.array([parser.list_exchanges(word) for word in words])

    def number(self, patterns: NumberedPatterns) -> QuestionArrays:
        starts = pack_rows([patterns.list_starts(word) for word in self.words], 2)
        return QuestionArrays(self.numbers, np.array(self.drops), self.exchanges, *starts, *self.leaves)


class QuestionChart:
    """One question on the way, with so many edits at most."""

    def __init__(self, question: QuestionText, patterns: NumberedPatterns, edits: int) -> None:
        self.question, self.patterns, self.edits = question, patterns, edits

    def run(self) -> list[Reading]:
        """Readings of the whole question, the best first."""
        size, drops = len(self.question.words), self.question.drops
        if not size:
            return []
        chart, sentence = self.read(), self.patterns.numbers.categories[SENTENCE]
        found: list[Reading] = []
        for start in range(min(self.edits + 1, size)):  # words at either end may be skipped
            for end in range(size, max(start, size - self.edits + start - 1), -1):
                many = start + size - end
                lost = sum(drops[:start]) + sum(drops[end:])
                for k in range(chart.many[start, end, sentence]):
                    edits, tree = chart.readings[start, end, sentence, k].tolist()
                    if edits + many <= self.edits:
                        score = float(chart.scores[start, end, sentence, k])
                        found.append(Reading(score - lost, edits + many, self.question.trees.write(tree)))
        return sorted(found, key=lambda one: (-one.score, repr(one.tree)))

    def read(self) -> ChartArrays:
        """All readings of any of the words."""
        trees, kinds, patterns = self.question.trees, self.question.trees.kinds, self.patterns.arrays
        question, size = self.question.number(self.patterns), len(self.question.words)
        words, holes, ends = self.patterns.most
        room = sum(map(len, (question.starts, question.leaves, patterns.starts)))
        room += words * (2 + len(question.leaves)) + holes * size * BEST + ends + 2
        chart = make_chart(size, len(self.patterns.places), self.patterns.numbers, room)
        wanted = np.empty(1 + self.patterns.numbers.width, np.int32)
        state = np.zeros(6, np.int64)
        state[START], state[TREES] = size - 1, trees.many
        while True:
            given = patterns, question, trees.made, kinds.nodes, chart, state, self.edits, room, wanted
            stopped, trees.many = read_question(*given), int(state[TREES])
            if stopped == DONE:
                return chart
            if stopped == UNKNOWN:
                kinds.learn(wanted)
            elif trees.many + room > len(trees.made.rows):
                trees.made = widen_rows(trees.made, trees.many)
            else:
                chart = widen_chart(chart)
