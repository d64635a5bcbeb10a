"""A chart parser: the likeliest meaning of a question under an induced grammar.

A question is parsed as the rules say, and leniently: words may be skipped, rules may lack a word, and a word may stand
for another, few of them at first, each at a cost: little for words that the grammar itself shows to be optional or
exchangeable (rules that are else alike), more for those that are rare and so tell much. Laws of the language add
rules: whatever kind of leaf *this or that* was learned of, it may be said of others, and *this and that* likewise; and
whether two sets are alike in something may be asked of one, and of two as of one.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ...scene import FREE
from .grammar import SENTENCE, GrammarRule, NodeLink, categorize_label
from .lexicon import LearnedLexicon, Symbol, Words, categorize_kind
from .meaning import ALT, LEAF, NUMBER, Tree, has_program
from .patterns import CONJUNCTIONS, EditCosts, PatternNode, PatternStarts, Start, build_patterns, derive_rules

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
        question = QuestionWords(self, words)
        charts = [QuestionChart(question, self.strict, 0)]
        return charts + [QuestionChart(question, self.lenient, most) for most in EDITS]

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


class QuestionWords:
    """One question, and what its charts share: the leaves that its phrases may say, and the trees made of them.

    Each tree is made once, so that equal ones are the same object.
    """

    def __init__(self, parser: ChartParser, words: Words) -> None:
        self.parser, self.words = parser, words
        self.drops = [parser.costs.drop(word) for word in words]
        self.leaves: list[list[tuple[int, str, Reading]]] = [[] for _ in range(len(words) + 1)]  # end, category
        made: dict[Symbol, Tree] = {}
        for i, j, symbol, score in parser.list_leaves(words):
            leaf = Reading(score, 0, made.setdefault(symbol, (LEAF, *symbol)))
            self.leaves[i].append((j, categorize_kind(symbol[0], parser.lexicon.nouns), leaf))
        self.nodes: dict[tuple[Any, ...], tuple[Tree, float] | None] = {}

    def build_node(self, label: str, children: tuple[Tree, ...]) -> tuple[Tree, float] | None:
        """A tree, and how probable its links are; None where no program has such a node."""
        key = (label, *map(id, children))
        if key not in self.nodes:
            tree = (label, *children)
            self.nodes[key] = (tree, self.parser.score_links(tree)) if has_program(tree) else None
        return self.nodes[key]


Way = tuple[float, int, tuple[Tree, ...]]  # score, edits, the children read so far
Move = tuple["Place", float, int, Tree | None]  # where to, at which cost, with how many edits, and the child read


class Place:
    """A place in the patterns and in the question: the ways that lead there from one word, and on from there.

    Where a word was skipped last, the rule cannot end: what follows a rule's words is skipped by the one around it.
    """

    __slots__ = ("at", "ends", "moves", "node", "ways")

    def __init__(self, node: PatternNode, at: int, skipped: bool) -> None:
        self.node, self.at, self.ends = node, at, () if skipped else node.ends
        self.ways: list[Way] = []  # the best first
        self.moves: list[Move] | None = None  # until they are asked for


class QuestionChart:
    """One question on the way: from its end to its beginning, all readings that begin at a word."""

    def __init__(self, question: QuestionWords, starts: PatternStarts, edits: int) -> None:
        self.question, self.starts, self.edits = question, starts, edits
        self.words, self.size = question.words, len(question.words)
        self.found: list[list[dict[str, list[Reading]]]] = [  # [start][end][category]
            [{} for _ in range(self.size + 1)] for _ in range(self.size)
        ]
        self.categories: list[frozenset[str]] = [frozenset()] * (self.size + 1)  # [at] of readings from there on
        self.places: dict[tuple[PatternNode, int, bool], Place] = {}
        self.begun: dict[tuple[str, int], list[Move]] = {}  # by a reading of a category that ends there
        self.kept: list[list[Place]] = [[] for _ in range(self.size + 1)]  # [end] the places that have ways
        self.queue: list[list[tuple[Place, Way]]] = [[] for _ in range(self.size + 1)]  # [end] what to read on from

    def run(self) -> list[Reading]:
        """Readings of the whole question, the best first."""
        for start in range(self.size - 1, -1, -1):
            self.read_from(start)
        drops = self.question.drops
        found: list[Reading] = []
        for start in range(min(self.edits + 1, self.size)):  # words at either end may be skipped
            for end in range(self.size, max(start, self.size - self.edits + start - 1), -1):
                many = start + self.size - end
                lost = sum(drops[:start]) + sum(drops[end:])
                found += [
                    Reading(one.score - lost, one.edits + many, one.tree)
                    for one in self.found[start][end].get(SENTENCE, ())
                    if one.edits + many <= self.edits
                ]
        return sorted(found, key=lambda one: (-one.score, repr(one.tree)))

    def read_from(self, start: int) -> None:
        """All readings from this word on; those from later words are there."""
        here = self.found[start]
        self.follow(self.begin(self.starts.list_starts(self.words[start]), start + 1), (0.0, 0, ()))
        for end, category, leaf in self.question.leaves[start]:
            _keep(here[end].setdefault(category, []), leaf)
        for end in range(start + 1, self.size + 1):
            self.complete(start, end)
        self.categories[start] = self.categories[start + 1].union(*here)

    def complete(self, start: int, end: int) -> None:
        """Readings from start to end: of rules that are complete there, and of rules that begin with these."""
        here, queue = self.found[start][end], self.queue[end]
        todo = [(category, one) for category, readings in here.items() for one in readings]
        while todo or queue:
            while queue:
                place, way = queue.pop()
                for rule, order, score in place.ends:
                    node = self.question.build_node(rule.label, tuple([way[2][k] for k in order]))
                    if node is None:
                        continue  # it would take the place of readings that have a program
                    one = Reading(way[0] + score + node[1], way[1], node[0])
                    if _keep(here.setdefault(rule.category, []), one):
                        todo.append((rule.category, one))
                if place.moves is None:
                    place.moves = self.list_moves(place.node, end)
                self.follow(place.moves, way)
            if todo:
                category, one = todo.pop()
                if (category, end) not in self.begun:
                    self.begun[category, end] = self.begin(self.starts.holes.get(category, ()), end)
                self.follow(self.begun[category, end], (one.score, one.edits, (one.tree,)))
        for place in self.kept[end]:
            place.ways.clear()
        self.kept[end].clear()

    def begin(self, starts: Iterable[Start], at: int) -> list[Move]:
        """The first moves of rules, after which they are read on from there."""
        return [
            (place, cost, many, None)
            for node, cost, many in starts
            if many <= self.edits and (place := self.find_place(node, at))
        ]

    def find_place(self, node: PatternNode, at: int, skipped: bool = False) -> Place | None:
        """None where nothing is read that the rest of each rule needs: no way from there completes any."""
        if not node.needs <= self.categories[at]:
            return None
        key = node, at, skipped
        found = self.places.get(key)
        if found is None:
            found = self.places[key] = Place(node, at, skipped)
        return found

    def list_moves(self, node: PatternNode, at: int) -> list[Move]:
        """How to read on: by a word, by a reading that begins here, or by an edit."""
        moves: list[Move] = []

        def move(
            following: PatternNode,
            to: int,
            cost: float = 0.0,
            many: int = 0,
            child: Tree | None = None,
            skipped: bool = False,
        ) -> None:
            if many <= self.edits and (place := self.find_place(following, to, skipped)):
                moves.append((place, cost, many, child))

        costs, last = self.question.parser.costs, at == self.size
        word = "" if last else self.words[at]
        if word in node.words:
            move(node.words[word], at + 1)
        if node.holes and not last:
            for end, readings in enumerate(self.found[at]):
                for category, following in node.holes.items() if readings else ():
                    for one in readings.get(category, ()):
                        move(following, end, -one.score, one.edits, one.tree)
        if not last:
            move(node, at + 1, self.question.drops[at], 1, skipped=True)
        for other, following in node.words.items():
            if other[0] == "<":  # a leaf that is said again
                for end, category, _ in self.question.leaves[at]:
                    if category == other[1:-1]:
                        move(following, end)
            if self.edits:
                move(following, at, costs.drop(other), 1)
                cost = None if last else costs.exchange(word, other)
                if cost is not None:
                    move(following, at + 1, cost, 1)
        return moves

    def follow(self, moves: Iterable[Move], way: Way) -> None:
        """Make these moves, each if it is one of the best ways to its place, and read on from there."""
        score, edits, children = way
        most = self.edits - edits
        for place, cost, many, child in moves:
            if many > most:
                continue
            total, ways = score - cost, place.ways
            if len(ways) == WIDTH and total <= ways[-1][0]:
                continue
            read = children if child is None else (*children, child)
            at = 0
            for other in ways:
                if other[0] < total:
                    break
                if other[2] == read:
                    at = -1
                    break
                at += 1
            if at < 0:
                continue
            if not ways:
                self.kept[place.at].append(place)
            new = total, edits + many, read
            ways.insert(at, new)
            del ways[WIDTH:]
            self.queue[place.at].append((place, new))


def _keep(readings: list[Reading], one: Reading) -> bool:
    """Keep one of the best readings; whether it is one."""
    for k, other in enumerate(readings):
        if other.tree is one.tree:
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
