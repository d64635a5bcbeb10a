"""What `chart_kernel.py` reads by: patterns, words, categories, labels and trees as numbers."""

import math
from collections.abc import Callable, Iterable, Sequence
from threading import Lock

import numpy as np

from ...kernels import Doubles, Ints, Longs
from .chart_kernel import BEST, WIDTH, ChartArrays, NumberedRows, PatternArrays, fill_slots, find_slot
from .grammar import GrammarRule
from .lexicon import NOUN, VALUE
from .meaning import ATTR, LEAF, NUMBER, RELATION, Tree, has_program
from .patterns import EditCosts, PatternNode, PatternStarts, Start

LOOKED_AT = 3  # generations of trees by which `has_program` and `score_links` judge the node that they are children of
LEAF_LABEL = -1  # of the rows of leaves, whose one child is the number of a symbol
LEAF_KIND = 0
ROOM = 4096  # rows, ways and readings at first; a power of two

_learning = Lock()  # of kinds: the threads that read questions share a parser's


class RuleNumbers:
    """The words, categories and labels of rules by number."""

    def __init__(self, rules: Iterable[GrammarRule]) -> None:
        kinds = dict.fromkeys((NOUN, VALUE, RELATION, NUMBER, ATTR))
        kept = list(rules)
        items = dict.fromkeys(item for rule in kept for item in rule.pattern if isinstance(item, str))
        self.words = {word: k for k, word in enumerate(items)}
        named = kinds | dict.fromkeys(name for rule in kept for name in (rule.category, *rule.holes))
        self.categories = {name: k for k, name in enumerate(named)}
        self.label_names = list(dict.fromkeys(rule.label for rule in kept))
        self.labels = {label: k for k, label in enumerate(self.label_names)}
        self.width = max((len(rule.holes) for rule in kept), default=1)


def pack_rows(groups: Iterable[Sequence[Sequence[float]]], width: int) -> tuple[Longs, Longs, Doubles]:
    """Where the rows of each group begin and end, the whole numbers of each row, and what follows these, its cost."""
    kept = list(groups)
    ends = np.cumsum([0, *map(len, kept)])
    rows = np.array([row for group in kept for row in group], float).reshape(-1, width + 1)
    return ends, rows[:, :width].astype(np.int64), rows[:, width].copy()


class NumberedPatterns:
    """The patterns of rules, and where they begin, as arrays."""

    def __init__(self, root: PatternNode, edits: int, numbers: RuleNumbers, costs: EditCosts) -> None:
        read = {root: 0}
        for node in (nodes := [root]):
            for following in node.words.values():
                read[following] = read[node]
                nodes.append(following)
            for following in node.holes.values():
                read[following] = read[node] + 1
                nodes.append(following)
        self.places = {node: k for k, node in enumerate(nodes)}
        self.numbers, self.costs = numbers, costs
        self.starts = starts = PatternStarts(root, costs, edits)
        self.begun: dict[str, list[tuple[int, int, float]]] = {}
        words, holes, places = numbers.words, numbers.categories, self.places
        words_from, word_rows, _ = pack_rows(
            [[(words[word], places[to], 0) for word, to in node.words.items()] for node in nodes], 2
        )
        holes_from, hole_rows, _ = pack_rows(
            [[(holes[name], places[to], 0) for name, to in node.holes.items()] for node in nodes], 2
        )
        width = 2 + numbers.width
        ends_from, ends, scores = pack_rows(
            [[(*self._number_rule(rule), score) for rule, score in node.ends] for node in nodes], width
        )
        starts_from, start_rows, start_costs = pack_rows(
            [self.number_starts(starts.holes.get(name, ())) for name in holes], 2
        )
        self.arrays = PatternArrays(
            *(words_from, word_rows, holes_from, hole_rows, ends_from, ends, scores),
            np.array([read[node] for node in nodes]),
            *(starts_from, start_rows, start_costs),
            np.array([costs.drop(word) for word in words], float),
            np.array([holes.get(word[1:-1], -1) if word[0] == "<" else -1 for word in words], np.int64),
        )
        self.most = tuple(int(np.diff(ends).max()) for ends in (words_from, holes_from, ends_from))

    def _number_rule(self, rule: GrammarRule) -> list[int]:
        said = [item for item in rule.pattern if isinstance(item, int)]
        order = [said.index(k) for k in range(len(said))]
        free = [-1] * (self.numbers.width - len(said))
        return [self.numbers.labels[rule.label], self.numbers.categories[rule.category], *order, *free]

    def number_starts(self, starts: Iterable[Start]) -> list[tuple[int, int, float]]:
        return [(self.places[node], many, cost) for node, cost, many in starts]

    def list_starts(self, word: str) -> list[tuple[int, int, float]]:
        """The places after a word of a question: as it is, or taken for another."""
        if word not in self.begun:
            found = list(self.starts.words.get(word, ()))
            for other, places in self.starts.words.items():
                cost = self.costs.exchange(word, other)
                if cost is not None:
                    found += [(node, lacking + cost, many + 1) for node, lacking, many in places]
            self.begun[word] = self.number_starts(found)
        return self.begun[word]


def make_rows(many: int, width: int) -> NumberedRows:
    slots = np.full(4 * many, -1, np.int32)
    return NumberedRows(np.empty((many, 1 + width), np.int32), slots, np.empty(many, np.int32), np.empty(many))


def widen_rows(rows: NumberedRows, many: int) -> NumberedRows:
    """Twice the room, with so many rows that are there."""
    wide = make_rows(2 * len(rows.rows), rows.rows.shape[1] - 1)
    wide.rows[:many], wide.kinds[:many], wide.scores[:many] = rows.rows[:many], rows.kinds[:many], rows.scores[:many]
    fill_slots(wide.rows, wide.slots, many)
    return wide


class TreeKinds:
    """What nodes trees make, as far as known; those alike in all that `has_program` looks at are of one kind."""

    def __init__(self, numbers: RuleNumbers, score_links: Callable[[Tree], float]) -> None:
        self.numbers, self.score_links = numbers, score_links
        self.cut: dict[Tree, int] = {(LEAF,): LEAF_KIND}
        self.nodes, self.many = make_rows(ROOM, numbers.width), 0

    def learn(self, row: Ints) -> None:
        """Which kind a label and children of these kinds make."""
        with _learning:
            if self.many == len(self.nodes.rows):
                self.nodes = widen_rows(self.nodes, self.many)
            nodes, at = self.nodes, self.many
            slot = find_slot(nodes.rows, nodes.slots, row)
            if nodes.slots[slot] >= 0:
                return  # another thread has learned it
            label, *children = row.tolist()
            known = list(self.cut)
            tree = (self.numbers.label_names[label], *(known[k] for k in children if k >= 0))
            nodes.scores[at] = self.score_links(tree) if has_program(tree) else math.nan
            nodes.rows[at] = row
            nodes.kinds[at] = self.cut.setdefault(_cut(tree, LOOKED_AT), len(self.cut))
            nodes.slots[slot] = at
            self.many += 1


def _cut(tree: Tree, generations: int) -> Tree:
    deeper = generations > 1 and tree[0] != LEAF
    return (tree[0], *(_cut(child, generations - 1) for child in tree[1:])) if deeper else tree[:1]


class QuestionTrees:
    """The trees that the charts of one question have made, equal ones but once."""

    def __init__(self, leaves: Sequence[Tree], kinds: TreeKinds) -> None:
        self.leaves, self.kinds = leaves, kinds
        self.made, self.many = make_rows(ROOM, kinds.numbers.width), len(leaves)
        while self.many > len(self.made.rows):
            self.made = widen_rows(self.made, 0)
        self.made.rows[: self.many] = -1
        self.made.rows[: self.many, 0] = LEAF_LABEL
        self.made.rows[: self.many, 1] = np.arange(self.many)
        self.made.kinds[: self.many] = LEAF_KIND
        fill_slots(self.made.rows, self.made.slots, self.many)

    def write(self, number: int) -> Tree:
        row: list[int] = self.made.rows[number].tolist()
        label, *children = row
        if label == LEAF_LABEL:
            return self.leaves[children[0]]
        return (self.kinds.numbers.label_names[label], *(self.write(k) for k in children if k >= 0))


def make_chart(size: int, places: int, numbers: RuleNumbers, room: int) -> ChartArrays:
    many, categories = max(ROOM, room), len(numbers.categories)
    return ChartArrays(
        np.zeros((size, size + 1, categories), np.int32),
        np.empty((size, size + 1, categories, BEST)),
        np.empty((size, size + 1, categories, BEST, 2), np.int32),
        np.full((size + 1, places, 2), -1, np.int32),
        np.empty((size + 1, places, 2, WIDTH), np.int32),
        np.full(size + 1, -1, np.int32),
        np.empty(many),
        np.empty((many, 4), np.int32),
        np.empty((many, numbers.width), np.int32),
        np.empty(many),
        np.empty((many, 3), np.int32),
    )


def widen_chart(chart: ChartArrays) -> ChartArrays:
    """Twice the room for ways and readings."""
    names = ("way_scores", "ways", "children", "todo_scores", "todo")
    return chart._replace(**{name: np.concatenate([one := getattr(chart, name), np.empty_like(one)]) for name in names})
