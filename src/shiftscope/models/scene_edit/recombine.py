"""New questions from old ones: a phrase gives way to another that was met in the same place.

What a phrase means is found by comparing (text, program) pairs, and nothing else is known of English: where texts begin
and end alike, and their programs differ in one set of objects alone, what stands between is how that set is said. Two
phrases met in one such place may change places elsewhere, as in Andreas (2020), "Good-enough compositional data
augmentation". So "the cube" in "red or behind the cube" becomes "the cube that is left of the ball", though only
questions without "or" have relations that lead to others.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

from ...lang.op import get_op
from ...lang.program import Node, Program, node

Words = tuple[str, ...]
Step = tuple[str, tuple[int, ...], tuple[str, ...]]  # an op, the steps it reads, its words
Steps = tuple[Step, ...]
Outline = tuple[tuple[str, tuple[int, ...]], ...]
Pair = tuple[str, Program]
Some = TypeVar("Some")

HOLE: Step = ("", (), ())  # where a filler was
WORD = re.compile(r"\w+|[^\w\s]")
SETS = ("Objects", "Object")  # types of what a phrase may say
COMPARED = 400  # pairs of one structure that places are found from
LEAST = 5  # phrases that make a place
ALIKE = 0.5  # share of a place's phrases that may begin, or end, with one word: else that word is part of the place
SHARED = 0.9  # share of them that may have a word, or a step with words, in common: else the place says part of them
COMMON = 3  # phrases that two places have in common if what is met in one may stand in the other
CHANGES = 2  # at most, to one question
LONGEST_TEXT, LONGEST_PROGRAM = 60, 34  # of what is made
TRIES = 40  # for each question that is wanted


class Cut(NamedTuple):
    """A set of objects in a program, and the program around it."""

    context: Steps
    filler: Steps


class Place(NamedTuple):
    """Where a phrase stands: what is around it, in the program and in the text."""

    context: Steps
    before: Words
    after: Words


class SetPhrase(NamedTuple):
    words: Words
    filler: Steps


class Spot(NamedTuple):
    """A known phrase in a question."""

    start: int
    end: int
    node: int  # of the program, for what it says
    inside: Sequence[int]  # that node and all it rests on
    phrase: SetPhrase


def recombine(pairs: Sequence[Pair], count: int, seed: int = 0) -> list[Pair]:
    """So many new pairs, of programs whose structure no old one has; fewer if the old ones have little in common."""
    drawn = random.Random(seed)
    known = [(tuple(WORD.findall(text)), program.canonicalize()) for text, program in pairs]
    compared = [
        pair for pairs in _group(known, _outline_pair) for pair in drawn.sample(pairs, min(COMPARED, len(pairs)))
    ]
    places = find_places(compared)
    return _Recombination(known, places, drawn).make(count) if places else []


# --- places -----------------------------------------------------------------------------------------------------


def find_places(pairs: Sequence[tuple[Words, Program]]) -> dict[Place, tuple[SetPhrase, ...]]:
    """The places that at least `LEAST` phrases were met in, with these."""
    groups: dict[Steps, dict[tuple[Words, Steps], None]] = defaultdict(dict)
    for words, program in pairs:
        for cut in list_cuts(program):
            groups[cut.context][words, cut.filler] = None
    found: dict[Place, tuple[SetPhrase, ...]] = {}
    for context, members in groups.items():
        if len(members) >= LEAST:
            found |= _find_texts_around(context, list(members))
    return found


def list_cuts(program: Program) -> Iterator[Cut]:
    """The sets of objects in a program, each with what is around it."""
    for at, inside in list_sets(program):
        yield Cut(cut_out(program, at, inside), _renumber(program.nodes, inside))


def list_sets(program: Program) -> Iterator[tuple[int, Sequence[int]]]:
    """Where sets of objects end, and all that they rest on: none that a filter narrows, or others read."""
    nodes = program.nodes
    under: list[set[int]] = []  # all that a node rests on, with itself
    readers: list[list[int]] = [[] for _ in nodes]
    for i, n in enumerate(nodes):
        under.append({i}.union(*(under[j] for j in n.inputs)))
        for j in n.inputs:
            readers[j].append(i)
    for i, n in enumerate(nodes[:-1]):
        if not n.inputs or get_op(n.op).signatures[0].output.name not in SETS:
            continue
        if len(readers[i]) == 1 and nodes[readers[i][0]].op == "filter":
            continue
        inside = under[i]
        if not any(k not in inside for j in inside if j != i for k in readers[j]):
            yield i, sorted(inside)


def cut_out(program: Program, at: int, inside: Collection[int]) -> Steps:
    """The program around a set of objects."""
    rest = [j for j in range(len(program.nodes)) if j not in inside or j == at]
    return _renumber(program.nodes, rest, hole=at)


def _renumber(nodes: Sequence[Node], kept: Sequence[int], hole: int | None = None) -> Steps:
    at = {j: k for k, j in enumerate(kept)}
    steps = ((nodes[j].op, tuple(at[i] for i in nodes[j].inputs), nodes[j].params) for j in kept if j != hole)
    made = list(steps)
    if hole is not None:
        made.insert(at[hole], HOLE)
    return tuple(made)


def fill(context: Steps, filler: Steps) -> Program:
    """The program with another set of objects in its hole."""
    made: list[Node] = []
    at: list[int] = []
    for step in context:
        if step == HOLE:
            start = len(made)
            made += [node(op, tuple(start + i for i in inputs), params) for op, inputs, params in filler]
        else:
            op, inputs, params = step
            made.append(node(op, tuple(at[i] for i in inputs), params))
        at.append(len(made) - 1)
    return Program(tuple(made)).canonicalize()


def _find_texts_around(context: Steps, members: Sequence[tuple[Words, Steps]]) -> dict[Place, tuple[SetPhrase, ...]]:
    begins = _number_beginnings(words for words, _ in members)
    ends = _number_beginnings(words[::-1] for words, _ in members)
    around: dict[tuple[int, int], list[tuple[int, int, int]]] = defaultdict(list)  # which text, and its part between
    for at, (before, after) in enumerate(zip(begins, ends, strict=True)):
        length = len(members[at][0])
        for start, left in enumerate(before[:length]):
            for cut, right in enumerate(after[: length - start]):
                around[left, right].append((at, start, length - cut))
    found = {}
    for spans in around.values():
        if len(spans) >= LEAST:
            phrases = dict.fromkeys(SetPhrase(members[at][0][i:j], members[at][1]) for at, i, j in spans)
            if _vary_freely(list(phrases)):
                at, start, stop = spans[0]
                found[Place(context, members[at][0][:start], members[at][0][stop:])] = tuple(phrases)
    return found


def join_places(places: Iterable[Sequence[SetPhrase]]) -> list[tuple[SetPhrase, ...]]:
    """The phrases of places that have at least `COMMON` in common, together; the largest such group last."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    listed = list(places)
    number = {phrase: k for k, phrase in enumerate(dict.fromkeys(p for phrases in listed for p in phrases))}
    columns = [number[p] for phrases in listed for p in phrases]
    rows = [k for k, phrases in enumerate(listed) for _ in phrases]
    met = csr_array(([1] * len(rows), (rows, columns)), shape=(len(listed), len(number)))
    _, groups = connected_components(met @ met.T >= COMMON, directed=False)
    joined: dict[int, dict[SetPhrase, None]] = defaultdict(dict)
    for group, phrases in zip(groups.tolist(), listed, strict=True):
        joined[group].update(dict.fromkeys(phrases))
    return sorted(map(tuple, joined.values()), key=len)


def _number_beginnings(texts: Iterable[Words]) -> list[list[int]]:
    """For each text, the numbers of its beginnings, from none of it on, as far as `LEAST` texts share them."""
    numbers: dict[tuple[int, str], int] = {}
    all_of = []
    times = Counter[int]()
    for words in texts:
        at, passed = -1, [-1]
        for word in words:
            at = numbers.setdefault((at, word), len(numbers))
            passed.append(at)
        times.update(passed)
        all_of.append(passed)
    return [[at for at in passed if times[at] >= LEAST] for passed in all_of]


def _vary_freely(phrases: Sequence[SetPhrase]) -> bool:
    """Whether the phrases of a place say all of what differs, and nothing of what does not."""
    texts = {phrase.words for phrase in phrases}
    if len({phrase.filler for phrase in phrases}) < LEAST or len(texts) < LEAST:
        return False
    first, last = (Counter(words[k] for words in texts) for k in (0, -1))
    if max(*first.values(), *last.values()) > ALIKE * len(texts):
        return False
    inside = Counter(word for words in texts for word in set(words))
    said = Counter(step for p in phrases for step in {(op, params) for op, _, params in p.filler if params})
    most = max(said.values(), default=0)
    return max(inside.values()) <= SHARED * len(texts) and most <= SHARED * len(phrases)


# --- new questions ----------------------------------------------------------------------------------------------


class _Recombination:
    """What is known of some questions, and what is made of them."""

    def __init__(
        self, pairs: Sequence[tuple[Words, Program]], places: Mapping[Place, Sequence[SetPhrase]], drawn: random.Random
    ) -> None:
        self.drawn = drawn
        self.said: dict[Steps, dict[Words, None]] = defaultdict(dict)
        self.others: dict[SetPhrase, list[list[SetPhrase]]] = {}
        for phrases in join_places(places.values()):
            # Drawn by structure first, so that rare ones are as likely as common ones.
            others = _group(phrases, _outline_filler)
            for phrase in phrases:
                self.said[phrase.filler][phrase.words] = None
                self.others[phrase] = others
        self.questions = _group(pairs, _outline_pair)
        self.known = {outline(program) for _, program in pairs}
        self.deepest = max(measure_depth(one) for one in self.known)
        self.neighbours = {two for words, _ in pairs for two in pairwise(words)}

    def make(self, count: int) -> list[Pair]:
        made: dict[Pair, None] = {}
        for _ in range(TRIES * count):
            if len(made) == count:
                break
            pair = self._change_one()
            if pair is not None:
                made[pair] = None
        return list(made)

    def _change_one(self) -> Pair | None:
        """A question after some changes; None if its structure is old or the deepest, or words meet that never did."""
        words, program = self.drawn.choice(self.drawn.choice(self.questions))
        for _ in range(self.drawn.randint(1, CHANGES)):
            spots = self._find_spots(words, program)
            if not spots:
                break
            spot = self.drawn.choice(spots)
            other = self.drawn.choice(self.drawn.choice(self.others[spot.phrase]))
            words = words[: spot.start] + other.words + words[spot.end :]
            program = fill(cut_out(program, spot.node, spot.inside), other.filler)
            if len(words) > LONGEST_TEXT or len(program.nodes) > LONGEST_PROGRAM:
                return None
        made = outline(program)
        if made in self.known or measure_depth(made) > self.deepest:
            return None
        if any(two not in self.neighbours for two in pairwise(words)):
            return None
        return join_words(words), program

    def _find_spots(self, words: Words, program: Program) -> list[Spot]:
        """The sets of objects that are said once, by a phrase that is met once."""
        sets = [(at, inside, _renumber(program.nodes, inside)) for at, inside in list_sets(program)]
        times = Counter(filler for _, _, filler in sets)
        found = []
        for at, inside, filler in sets:
            if times[filler] > 1:
                continue
            for said in self.said.get(filler, ()):
                starts = [k for k in _find_word(words, said[0]) if words[k : k + len(said)] == said]
                if len(starts) == 1:
                    found.append(Spot(starts[0], starts[0] + len(said), at, inside, SetPhrase(said, filler)))
        return found


def _find_word(words: Words, word: str) -> list[int]:
    return [k for k, one in enumerate(words) if one == word]


def outline(program: Program) -> Outline:
    """Its structure: ops and what they read, but for filters, of which one more or less makes no other question."""
    made: list[tuple[str, tuple[int, ...]]] = []
    at: list[int] = []
    for n in program.nodes:
        if n.op != "filter":
            made.append((n.op, tuple(at[i] for i in n.inputs)))
        at.append(len(made) - 1 if n.op != "filter" else at[n.inputs[0]])
    return tuple(made)


def measure_depth(made: Outline) -> int:
    """Steps on the longest way through it."""
    depth: list[int] = []
    for _, inputs in made:
        depth.append(1 + max((depth[i] for i in inputs), default=0))
    return depth[-1]


def _outline_pair(pair: tuple[Words, Program]) -> Outline:
    return outline(pair[1])


def _outline_filler(phrase: SetPhrase) -> Outline:
    return outline(fill((HOLE,), phrase.filler))


def _group(some: Iterable[Some], key: Callable[[Some], Hashable]) -> list[list[Some]]:
    found: dict[Hashable, list[Some]] = defaultdict(list)
    for one in some:
        found[key(one)].append(one)
    return list(found.values())


def join_words(words: Words) -> str:
    """The words as a sentence: no space before a mark, nor around an apostrophe or hyphen."""
    text = re.sub(r" ([?.,;:!])", r"\1", " ".join(words))
    return re.sub(r" (['’-]) ", r"\1", text)
