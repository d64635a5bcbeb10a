"""A lexicon learned from pairs: which phrases say a leaf of a meaning, found by how often they occur together.

Words of the program itself are tried first, since graphs of any words are asked about in these. What is left is said by
the phrase that tells best which leaf of its kind is there. A phrase is lengthened by words beside it that nearly always
stand there ("to the left of"), or that stand there much more often than beside others of its kind ("fighter planes").
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from .meaning import ATTR, NUMBER, RELATION, Tree, list_leaves

Words = tuple[str, ...]
Symbol = tuple[str, str]  # kind and word of a leaf

NOUN, VALUE = "noun", "value"
LONGEST = 5  # words of a phrase that is found by counting
MOST = 400  # examples of one leaf that are counted
SURE = 0.95  # share of the occurrences beside which a word stands that is made part of the phrase
LIFT = 2.5  # how much more often than beside others of the kind
ENOUGH = 12  # occurrences, to lengthen a phrase
COVERED = 0.02  # share of a leaf's examples that may stay without a phrase
ALIKE = 2.0  # how like the program's own word a phrase is that is met once
BOUND = 0.9  # share of a word's occurrences that follow a phrase of the kind, for it to be a part of phrases
MOST_LEAVES = 0.5  # share of a kind's leaves that such a word may stand beside; "and" follows any noun
MOSTLY = 0.5  # least share of a phrase's occurrences that such words follow: "airliner" is mostly said without "and"
PRECISE = 0.1  # least share of a phrase's examples that have the leaf
_TOKEN = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*|[.?!:;,]")


def split_words(text: str) -> Words:
    """Lower-case words and marks."""
    return tuple(_TOKEN.findall(text.lower()))


class TextMeaning(NamedTuple):
    """A question's words and its meaning."""

    words: Words
    tree: Tree


def find_noun_kinds(trees: Iterable[Tree]) -> frozenset[str]:
    """The attributes whose values name things: those that a `find` has."""
    found: set[str] = set()

    def look(tree: Tree) -> None:
        if tree[0] == "find":
            found.update(leaf[1] for leaf in list_leaves(tree))
        elif tree[0] != "leaf":
            for child in tree[1:]:
                look(child)

    for tree in trees:
        look(tree)
    return frozenset(found)


def categorize_kind(kind: str, nouns: frozenset[str]) -> str:
    if kind in (RELATION, NUMBER, ATTR):
        return kind
    return NOUN if kind in nouns else VALUE


def list_phrases(words: Words, longest: int = LONGEST) -> Iterator[Words]:
    for i in range(len(words)):
        for j in range(i + 1, min(i + longest, len(words)) + 1):
            yield words[i:j]


class PhraseIndex:
    """Which examples have a phrase: few have its rarest word, and only these are looked through."""

    def __init__(self, examples: Sequence[TextMeaning]) -> None:
        self.lines = [_write_line(words) for words, _ in examples]
        self.having: dict[str, set[int]] = defaultdict(set)
        for k, (words, _) in enumerate(examples):
            for word in set(words):
                self.having[word].add(k)

    def find(self, phrase: Words) -> set[int]:
        some = set.intersection(*(self.having.get(word, set()) for word in phrase))
        line = _write_line(phrase)
        return some if len(phrase) == 1 else {k for k in some if line in self.lines[k]}


def _write_line(words: Words) -> str:
    return f" {' '.join(words)} "


class LearnedLexicon(NamedTuple):
    """Phrases and the leaves that each may say, with the number of examples."""

    entries: Mapping[Words, Mapping[Symbol, int]]
    nouns: frozenset[str]

    def match(self, words: Words, symbols: frozenset[Symbol] | None = None) -> list[tuple[int, int, Symbol]]:
        """Where phrases stand that may say one of these leaves, or any."""
        longest = max(map(len, self.entries), default=0)
        found = []
        for i in range(len(words)):
            for j in range(i + 1, min(i + longest, len(words)) + 1):
                said = self.entries.get(words[i:j], ())
                found += [(i, j, symbol) for symbol in said if symbols is None or symbol in symbols]
        return found


def learn_lexicon(examples: Sequence[TextMeaning]) -> LearnedLexicon:
    """The lexicon of all leaves of these examples."""
    nouns = find_noun_kinds(tree for _, tree in examples)
    where: dict[Symbol, list[int]] = defaultdict(list)
    for k, (_, tree) in enumerate(examples):
        for symbol in sorted({leaf[1:] for leaf in list_leaves(tree)}):
            where[symbol].append(k)
    of_kind: dict[str, set[int]] = defaultdict(set)  # kind → examples that have such a leaf
    for (kind, _), some in where.items():
        of_kind[kind].update(some)
    index = PhraseIndex(examples)
    cores: dict[Symbol, Counter[Words]] = {}
    for symbol in sorted(where):
        cores[symbol] = _find_cores(symbol, where[symbol], of_kind[symbol[0]], examples, index)
    return LearnedLexicon(_lengthen_phrases(cores, where, examples, index, nouns), nouns)


def _find_cores(
    symbol: Symbol, where: Sequence[int], of_kind: set[int], examples: Sequence[TextMeaning], index: PhraseIndex
) -> Counter[Words]:
    """Phrases that say a leaf, with how many examples each adds.

    A phrase has to tell which of its kind a leaf is, and less surely that it is there: "of the images" may go with
    most numbers, and "one" with other things than numbers ("not one of"), but "one" tells which number it is.
    """
    found: Counter[Words] = Counter()
    left = set(where)
    own = split_words(symbol[1].replace("_", " "))
    if own:
        said = left & index.find(own)
        if len(said) > 0.1 * len(left):
            found[own] = len(said)
            left -= said
    everywhere = set(where)
    while len(left) > COVERED * len(where):
        counted: Counter[Words] = Counter()
        for k in sorted(left)[:MOST]:
            counted.update(list(dict.fromkeys(list_phrases(examples[k].words))))
        looked_at = min(len(left), MOST)
        best: Words | None = None
        best_key: tuple[float, int, Words] = (0.0, 0, ())
        for phrase, count in counted.most_common(60):
            held = index.find(phrase)
            precision = len(held & everywhere) / len(held)
            if precision < PRECISE:
                continue
            if count < min(2, looked_at) and _resemble(phrase, own) < ALIKE:
                continue
            recall = count / looked_at
            score = math.sqrt(precision) * _tell_leaf(held, everywhere, of_kind) * recall * _resemble(phrase, own)
            key = (round(score, 6), -len(phrase), phrase)
            if best is None or key > best_key:
                best, best_key = phrase, key
        if best is None:
            break
        said = left & index.find(best)
        found[best] += len(said)
        left -= said
    return found


def _tell_leaf(held: set[int], having: set[int], of_kind: set[int]) -> float:
    """How surely a phrase tells this leaf from others of its kind, were all of them equally frequent."""
    share = len(held & having) / len(having)
    others = of_kind - having
    return share / (share + len(held & others) / max(1, len(others)))


def _resemble(phrase: Words, own: Words) -> float:
    """Above 1 for a phrase that begins as the program's own word does."""
    one, other = "".join(phrase), "".join(own)
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    return 1.0 + 3.0 * shared / max(len(one), len(other), 1)


def _lengthen_phrases(
    cores: Mapping[Symbol, Counter[Words]],
    where: Mapping[Symbol, Sequence[int]],
    examples: Sequence[TextMeaning],
    index: PhraseIndex,
    nouns: frozenset[str],
) -> dict[Words, dict[Symbol, int]]:
    """Each phrase with the words beside it that belong to it."""
    found = {(symbol, phrase): count for symbol, phrases in cores.items() for phrase, count in phrases.items()}
    said = {word for phrases in cores.values() for phrase in phrases for word in phrase if len(phrase) == 1}
    occurrences = Counter(word for words, _ in examples for word in words)
    free = occurrences.copy()  # outside phrases of several words
    for phrase in {phrase for _, phrase in found if len(phrase) > 1}:
        texts = [examples[k].words for k in index.find(phrase)]
        times = sum(words[k : k + len(phrase)] == phrase for words in texts for k in range(len(words)))
        free.subtract(dict.fromkeys(phrase, times))
    said |= {word for word, times in occurrences.items() if free[word] <= (1 - BOUND) * times}
    for side in (1, -1, 1, -1):
        beside: dict[tuple[Symbol, Words], Counter[str]] = {}
        usual: dict[str, Counter[str]] = defaultdict(Counter)
        met: dict[str, set[tuple[str, Symbol]]] = defaultdict(set)  # the leaves that a word stands beside
        leaves = Counter(categorize_kind(kind, nouns) for kind, _ in {symbol for symbol, _ in found})
        for symbol, phrase in found:
            counted: Counter[str] = Counter()
            having = index.find(phrase)
            for k in where[symbol]:
                if k not in having:
                    continue
                words = examples[k].words
                for at in range(len(words) - len(phrase) + 1):
                    if words[at] == phrase[0] and words[at : at + len(phrase)] == phrase:
                        next_to = at + len(phrase) if side > 0 else at - 1
                        counted[words[next_to] if 0 <= next_to < len(words) else ""] += 1
            beside[symbol, phrase] = counted
            category = categorize_kind(symbol[0], nouns)
            usual[category].update(counted)
            met[category].update((word, symbol) for word in counted)
        spread = {category: Counter(word for word, _ in pairs) for category, pairs in met.items()}
        longer: dict[tuple[Symbol, Words], int] = {}
        for (symbol, phrase), count in found.items():
            category = categorize_kind(symbol[0], nouns)
            counted, background = beside[symbol, phrase], usual[category]
            total, of_all = sum(counted.values()), sum(background.values())
            sure: dict[str, int] = {}
            bound: dict[str, int] = {}
            for word, times in counted.items():
                if not word or not word[0].isalnum() or word in said or len(phrase) > LONGEST:
                    continue
                share, usually = times / total, background[word] / of_all
                if share >= SURE and usually < 0.9 * share and total >= ENOUGH:
                    sure[word] = times
                    continue
                follows = side > 0 and times > 2 and background[word] >= BOUND * free[word]
                if follows and share >= LIFT * usually and spread[category][word] <= MOST_LEAVES * leaves[category]:
                    bound[word] = times
            if sum(bound.values()) < MOSTLY * total:
                bound = {}
            joined = sure | bound
            for word, times in joined.items():
                new = (*phrase, word) if side > 0 else (word, *phrase)
                longer[symbol, new] = longer.get((symbol, new), 0) + max(1, round(count * times / total))
            taken = sum(joined.values())
            if total == 0 or taken < SURE * total:
                longer[symbol, phrase] = longer.get((symbol, phrase), 0) + max(
                    1, round(count * (1 - taken / max(1, total)))
                )
        found = longer
    entries: dict[Words, dict[Symbol, int]] = {}
    for (symbol, phrase), count in sorted(found.items()):
        entries.setdefault(phrase, {})[symbol] = count
    for symbol, phrases in sorted(cores.items()):  # a form never met may have another ending
        for phrase in phrases:
            entries.setdefault(phrase, {}).setdefault(symbol, 1)
    return entries
