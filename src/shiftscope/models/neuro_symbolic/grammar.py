"""A grammar induced from pairs of text and meaning: rules that say how a node's words stand around its children's.

A rule is a node's label, a pattern of words and holes, and the categories of the holes: `with` is said `[0] that is
[1]`. Each node of a meaning is one rule, and a meaning's rules say its whole text. Which words belong to which node
is not given: at first every way is counted that a pair allows, then the likeliest way of each pair alone, given the
counts of all (hard EM), until the rules stay the same. Words that many questions share thus come to belong to the
node that they share, which is what makes rules compose.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...lang.op import BOOL, get_op
from .lexicon import LearnedLexicon, TextMeaning, categorize_kind
from .meaning import ALT, QUANTIFIERS, TESTS, WHAT, Tree, is_leaf, list_leaves

ROOT = "root"
SENTENCE, OBJECTS, ONE, PREDICATE, IMAGES, COUNT, TRUTH, ANSWER = (
    *("sentence", "objects", "object", "predicate", "images", "count", "truth", "answer"),
)
_CATEGORIES = {
    **dict.fromkeys(("find", "filter", "with", "both", "related_object", "union", "intersect"), OBJECTS),
    **dict.fromkeys(("pred", "pred_alt", "be", "also"), PREDICATE),
    **dict.fromkeys(("is", "same", *QUANTIFIERS, *TESTS), TRUTH),
    ROOT: SENTENCE,
    "unique": ONE,
    "images": IMAGES,
    "count": COUNT,
}
LEFT, RIGHT = 5, 2  # words before and after the mentioned parts of a node that may belong to it
MOST_WAYS = 20_000  # ways of one pair; with more it teaches nothing
SOFT, HARD = 6, 4  # iterations of either kind
SMOOTHING = 0.01
OWN_WORDS = 0.5  # how much it counts that a word goes with a label
REPEATED = 25  # kinds of questions that show the same thing; more of them teach nothing new

Floats = npt.NDArray[np.float64]
Token = str | tuple[str, str, str]  # a word, or a leaf: category, kind, word
Item = str | int  # of a pattern: a word, or the number of a child


class GrammarRule(NamedTuple):
    """How a node is said."""

    label: str
    category: str  # of the node
    pattern: tuple[Item, ...]
    holes: tuple[str, ...]  # categories of the children

    def __str__(self) -> str:
        said = " ".join(item if isinstance(item, str) else f"[{self.holes[item]}{item}]" for item in self.pattern)
        return f"{self.category} → {said}: {self.label}"


@cache
def categorize_label(label: str) -> str:
    if label in _CATEGORIES or label.startswith(WHAT):
        return _CATEGORIES.get(label, ANSWER)
    output = get_op(label).signatures[0].output
    return TRUTH if output == BOOL else ANSWER if output.name == "Value" else output.name.lower()


def categorize(tree: Tree, nouns: frozenset[str]) -> str:
    """What stands where this tree may stand."""
    if is_leaf(tree):
        return categorize_kind(tree[1], nouns)
    return categorize(tree[1], nouns) if tree[0] == ALT else categorize_label(tree[0])


def replace_leaves(example: TextMeaning, lexicon: LearnedLexicon) -> tuple[Token, ...]:
    """The words, with a token in place of each phrase that says a leaf of the meaning; the longest phrases first."""
    words, tree = example
    symbols = frozenset(leaf[1:] for leaf in list_leaves(tree))
    taken: dict[int, tuple[int, Token]] = {}
    used: set[int] = set()
    for i, j, symbol in sorted(lexicon.match(words, symbols), key=lambda m: (m[0] - m[1], m[0], m[2])):
        if used.isdisjoint(range(i, j)):
            taken[i] = j, (categorize_kind(symbol[0], lexicon.nouns), *symbol)
            used.update(range(i, j))
    tokens: list[Token] = []
    at = 0
    while at < len(words):
        end, token = taken.get(at, (at + 1, words[at]))
        tokens.append(token)
        at = end
    return tuple(tokens)


def _anonymize(tokens: tuple[Token, ...], tree: Tree) -> tuple[Any, ...]:
    """The same for pairs that differ in their leaves alone."""
    numbers: dict[tuple[str, ...], int] = {}
    said = tuple(t if isinstance(t, str) else (t[0], numbers.setdefault(t[1:], len(numbers))) for t in tokens)

    def rename(one: Tree) -> Any:
        return numbers.get(one[1:], one[1:]) if is_leaf(one) else (one[0], *map(rename, one[1:]))

    return said, rename(tree)


Span = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class ForestNode:
    """The ways in which a node may be said, each a rule, a span, and a span of every child."""

    children: tuple[int, ...]  # numbers of nodes
    spans: int  # how many it has; a leaf's are where it is said
    rules: npt.NDArray[np.int64]  # [way]
    span: npt.NDArray[np.int64]  # [way] of the node's spans
    links: npt.NDArray[np.int64]  # [way, child] of the child's spans


class Forest(NamedTuple):
    """Every way in which a pair's words may belong to its nodes; children stand before parents; the root has one."""

    nodes: tuple[ForestNode, ...]
    weight: float


Pattern = tuple[Item, ...]
RuleHead = tuple[str, str, tuple[str, ...]]  # label, category, and the holes' categories


class RuleTable:
    """Rules by number; those of one head are looked up by their pattern alone."""

    def __init__(self) -> None:
        self.rules: list[GrammarRule] = []
        self.numbers: dict[RuleHead, dict[Pattern, int]] = {}

    def number(self, head: RuleHead, pattern: Pattern) -> int:
        known = self.numbers.setdefault(head, {})
        found = known.get(pattern)
        if found is None:
            found = known[pattern] = len(self.rules)
            self.rules.append(GrammarRule(*head[:2], pattern, head[2]))
        return found


class _NoForest(Exception):
    """A pair that teaches nothing."""


class _ForestBuilder:
    """The ways of one pair."""

    def __init__(self, tokens: tuple[Token, ...], nouns: frozenset[str], table: RuleTable) -> None:
        self.tokens, self.nouns, self.table = tokens, nouns, table
        self.said = tuple(map(_spell, tokens))
        free, places = [isinstance(token, str) for token in tokens], range(len(tokens) + 1)
        self.before = [[(i, self.said[i:at]) for i in _extend(free, at, -1, LEFT)] for at in places]
        self.after = [[(j, self.said[at:j]) for j in _extend(free, at, 1, RIGHT)] for at in places]
        self.nodes: list[ForestNode] = []
        self.spans: list[list[Span]] = []
        self.ways = 0

    def place(self, tree: Tree) -> int:
        """The number of the tree's node, after those of its children."""
        if is_leaf(tree):
            where = [(i, i + 1) for i, t in enumerate(self.tokens) if not isinstance(t, str) and t[1:] == tree[1:]]
            none = np.zeros(0, np.int64)
            return self.put(ForestNode((), len(where), none, none, none.reshape(0, 0)), where)
        if len(tree) == 1:
            raise _NoForest  # nothing tells where it is said
        children = tuple(self.place(child) for child in tree[1:])
        head = tree[0], categorize(tree, self.nouns), tuple(categorize(child, self.nouns) for child in tree[1:])
        numbers: dict[Span, int] = {}
        ways: list[tuple[int, int]] = []
        links: list[tuple[int, ...]] = []
        for chosen in product(*(range(len(self.spans[child])) for child in children)):
            spans = [self.spans[child][k] for child, k in zip(children, chosen, strict=True)]
            for span, pattern in self.list_patterns(spans, tree[0] == ROOT):
                ways.append((self.table.number(head, pattern), numbers.setdefault(span, len(numbers))))
                links.append(chosen)
            if self.ways + len(ways) > MOST_WAYS:
                raise _NoForest
        self.ways += len(ways)
        pairs = np.array(ways, np.int64).reshape(-1, 2).T.copy()
        table = np.array(links, np.int64).reshape(-1, len(children))
        return self.put(ForestNode(children, len(numbers), pairs[0], pairs[1], table), list(numbers))

    def put(self, node: ForestNode, spans: list[Span]) -> int:
        self.nodes.append(node)
        self.spans.append(spans)
        return len(self.nodes) - 1

    def list_patterns(self, spans: Sequence[Span], root: bool) -> Iterator[tuple[Span, Pattern]]:
        """The spans that a node may have around its children's, and what stands there; none where these overlap."""
        order = sorted(range(len(spans)), key=spans.__getitem__)
        if any(spans[a][1] > spans[b][0] for a, b in pairwise(order)):
            return
        first = at = spans[order[0]][0]
        inner: Pattern = ()
        for k in order:
            inner = (*inner, *self.said[at : spans[k][0]], k)
            at = spans[k][1]
        size = len(self.said)
        after = [(size, self.said[at:])] if root else self.after[at]
        for i, left in [(0, self.said[:first])] if root else self.before[first]:
            start: Pattern = left + inner
            for j, right in after:
                yield (i, j), start + right


def build_forest(
    tokens: tuple[Token, ...], tree: Tree, nouns: frozenset[str], table: RuleTable, weight: float
) -> Forest | None:
    """The ways of one pair; None where a node's parts do not stand together, or there are too many."""
    builder = _ForestBuilder(tokens, nouns, table)
    try:
        builder.place((ROOT, tree))
    except _NoForest:
        return None
    return Forest(tuple(builder.nodes), weight) if all(node.spans for node in builder.nodes) else None


def _spell(token: Token) -> str:
    """As in a pattern; a leaf that is said again stands for any of its category."""
    return token if isinstance(token, str) else f"<{token[0]}>"


def _extend(free: Sequence[bool], at: int, step: int, most: int) -> list[int]:
    """Where a span may begin or end: over words that are no leaves."""
    found = [at]
    while len(found) <= most:
        look = at - 1 if step < 0 else at
        if not 0 <= look < len(free) or not free[look]:
            break
        at += step
        found.append(at)
    return found


NodeLink = tuple[str, int, str]  # a label, the number of a child, and the child's label


class Grammar(NamedTuple):
    """Rules with how many kinds of questions use each."""

    rules: Mapping[GrammarRule, float]
    links: Mapping[NodeLink, int]
    lexicon: LearnedLexicon
    skipped: int = 0  # kinds of questions whose words could not be divided among their nodes


def learn_grammar(examples: Sequence[TextMeaning], lexicon: LearnedLexicon) -> Grammar:
    """The rules of these pairs. A kind of question, whatever its leaves, counts once, a little more if frequent."""
    kinds: Counter[Any] = Counter()
    shown: dict[Any, tuple[tuple[Token, ...], Tree]] = {}
    for example in examples:
        tokens = replace_leaves(example, lexicon)
        key = _anonymize(tokens, example.tree)
        kinds[key] += 1
        shown.setdefault(key, (tokens, example.tree))
    table = RuleTable()
    kept = _choose_kinds(shown, kinds)
    made = [build_forest(*shown[key], lexicon.nouns, table, 1.0 + math.log(kinds[key])) for key in kept]
    forests = [forest for forest in made if forest is not None]
    own = _score_own_words(table.rules, [shown[key] for key in kept])
    weights = own
    for k in range(SOFT + HARD):
        counts = np.zeros(len(table.rules))
        for forest in forests:
            (_add_expected if k < SOFT else _add_likeliest)(forest, weights, counts)
        weights = _weigh_rules(counts, table.rules, own)
    used = [k for k in np.argsort(-counts, kind="stable").tolist() if counts[k] > 0]
    rules = {table.rules[k]: round(float(counts[k]), 3) for k in used}
    links = Counter(link for key in kept for link in list_links((ROOT, shown[key][1])))
    return Grammar(rules, dict(sorted(links.items())), lexicon, len(made) - len(forests))


def _choose_kinds(shown: Mapping[Any, tuple[tuple[Token, ...], Tree]], kinds: Mapping[Any, int]) -> list[Any]:
    """Kinds of questions, the shortest first, as long as each shows something that few before it do."""
    seen: Counter[Any] = Counter()
    kept = []
    for key in sorted(shown, key=lambda key: (len(shown[key][0]), -kinds[key], repr(key))):
        tokens, tree = shown[key]
        said = [_spell(token) for token in tokens]
        things = {*zip(["", *said], [*said, ""], strict=True), *list_links((ROOT, tree))}
        if any(seen[thing] < REPEATED for thing in things):
            kept.append(key)
            seen.update(things)
    return kept


def list_links(tree: Tree) -> list[NodeLink]:
    """Each node with each of its children, by their labels."""
    if is_leaf(tree):
        return []
    mine = [(tree[0], k, child[0]) for k, child in enumerate(tree[1:])]
    return mine + [link for child in tree[1:] for link in list_links(child)]


def _score_own_words(rules: Sequence[GrammarRule], shown: Sequence[tuple[tuple[Token, ...], Tree]]) -> Floats:
    """Of each rule, how well its words go with its label: by Dice's coefficient of their numbers over the pairs."""
    words: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    both: Counter[tuple[str, str]] = Counter()
    for tokens, tree in shown:
        said = Counter(_spell(token) for token in tokens)
        meant = _count_labels((ROOT, tree))
        words.update(said)
        labels.update(meant)
        for word, n in said.items():
            for label, m in meant.items():
                both[label, word] += min(n, m)
    weights = np.ones(len(rules))
    for k, rule in enumerate(rules):
        pairs = [(rule.label, item) for item in rule.pattern if isinstance(item, str)]
        dice = (2 * both[pair] / (labels[pair[0]] + words[pair[1]]) for pair in pairs)
        weights[k] = math.prod(max(one, SMOOTHING) for one in dice) ** OWN_WORDS
    return weights


def _count_labels(tree: Tree) -> Counter[str]:
    counted: Counter[str] = Counter()
    if not is_leaf(tree):
        counted[tree[0]] += 1
        for child in tree[1:]:
            counted += _count_labels(child)
    return counted


def _weigh_ways(forest: Forest, weights: Floats, best: bool) -> tuple[list[Floats], list[Floats]]:
    """[span] of each node what its ways weigh together, or the heaviest; and [way] what each weighs."""
    inside: list[Floats] = []
    ways: list[Floats] = []
    for node in forest.nodes:
        weight = weights[node.rules]
        for k, child in enumerate(node.children):
            weight = weight * inside[child][node.links[:, k]]
        total: Floats = np.zeros(node.spans) if node.children else np.ones(node.spans)
        if node.children:
            (np.maximum if best else np.add).at(total, node.span, weight)
        inside.append(total)
        ways.append(weight)
    return inside, ways


def _add_expected(forest: Forest, weights: Floats, counts: Floats) -> None:
    """Add how often each rule is expected to be used, over all ways of the pair by their probability."""
    inside, ways = _weigh_ways(forest, weights, best=False)
    if not inside[-1][0] > 0:
        return
    outside = [np.zeros(node.spans) for node in forest.nodes]
    outside[-1][0] = forest.weight / inside[-1][0]
    for k in range(len(forest.nodes) - 1, -1, -1):
        node = forest.nodes[k]
        share = outside[k][node.span] * ways[k]
        np.add.at(counts, node.rules, share)
        for n, child in enumerate(node.children):
            at = node.links[:, n]
            below = inside[child][at]
            np.add.at(outside[child], at, np.divide(share, below, out=np.zeros_like(share), where=below > 0))


def _add_likeliest(forest: Forest, weights: Floats, counts: Floats) -> None:
    """Add the rules of the likeliest way."""
    _, ways = _weigh_ways(forest, weights, best=True)
    todo = [(len(forest.nodes) - 1, 0)]
    while todo:
        k, span = todo.pop()
        node = forest.nodes[k]
        if node.children:
            mine = np.flatnonzero(node.span == span)
            way = mine[np.argmax(ways[k][mine])]
            counts[node.rules[way]] += forest.weight
            todo.extend(zip(node.children, node.links[way].tolist(), strict=True))


def _weigh_rules(counts: Floats, rules: Sequence[GrammarRule], own: Floats) -> Floats:
    """[rule] its probability among those of its category, times how well its words go with its label."""
    numbers: dict[str, int] = {}
    category = np.array([numbers.setdefault(rule.category, len(numbers)) for rule in rules])
    totals = np.bincount(category, counts)
    weights: Floats = own * (counts + SMOOTHING) / (totals[category] + 1.0)
    return weights
