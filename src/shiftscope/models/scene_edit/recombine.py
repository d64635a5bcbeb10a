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
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

from ...lang.op import get_op
from ...lang.program import Node, Program, node

Words = tuple[str, ...]
Step = tuple[str, tuple[int, ...], tuple[str, ...]]  # an op, the steps it reads, its words
Steps = tuple[Step, ...]
Pair = tuple[str, Program]
Some = TypeVar("Some")

HOLE: Step = ("", (), ())  # where a filler was
WORD = re.compile(r"\w+|[^\w\s]")
SETS = ("Objects", "Object")  # types of what a phrase may say
COMPARED = 40_000  # pairs that places are found from
LEAST = 5  # phrases that make a place
ALIKE = 0.5  # share of a place's phrases that may begin, or end, with one word: else that word is part of the place
SHARED = 0.9  # share of them that may have a word, or a step with words, in common: else the place says part of them
CHANGES = 3  # at most, to one question
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
    context: Steps
    phrase: SetPhrase


def recombine(pairs: Sequence[Pair], count: int, seed: int = 0) -> list[Pair]:
    """So many new pairs, of programs whose structure no old one has; fewer if the old ones have little in common."""
    drawn = random.Random(seed)
    known = [(tuple(WORD.findall(text)), program.canonicalize()) for text, program in pairs]
    places = find_places(drawn.sample(known, min(COMPARED, len(known))))
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
    """The sets of objects in a program, whole: not those that a filter narrows, nor what is read elsewhere too."""
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
        if [nodes[j].op for j in readers[i]] == ["filter"]:
            continue
        inside = under[i]
        if any(k not in inside for j in inside if j != i for k in readers[j]):
            continue
        rest = [j for j in range(len(nodes)) if j not in inside or j == i]
        yield Cut(_renumber(nodes, rest, hole=i), _renumber(nodes, sorted(inside)))


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
    begins, ends = Counter[Words](), Counter[Words]()
    for words, _ in members:
        begins.update(words[:k] for k in range(len(words)))
        ends.update(words[k:] for k in range(1, len(words) + 1))
    found: dict[Place, dict[SetPhrase, None]] = defaultdict(dict)
    for words, filler in members:
        stops = [k for k in range(1, len(words) + 1) if ends[words[k:]] >= LEAST]
        for start in range(len(words)):
            if begins[words[:start]] < LEAST:
                break
            for stop in stops:
                if stop > start:
                    found[Place(context, words[:start], words[stop:])][SetPhrase(words[start:stop], filler)] = None
    return {place: tuple(phrases) for place, phrases in found.items() if _vary_freely(list(phrases))}


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
        self.met: dict[SetPhrase, list[Place]] = defaultdict(list)
        for place, phrases in places.items():
            for phrase in phrases:
                self.said[phrase.filler][phrase.words] = None
                self.met[phrase].append(place)
        # Drawn by structure first, so that rare ones are as likely as common ones.
        self.places = {
            place: _group(phrases, lambda p: outline(fill((HOLE,), p.filler))) for place, phrases in places.items()
        }
        self.questions = _group(pairs, lambda pair: outline(pair[1]))
        self.known = {outline(program) for _, program in pairs}
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
        """A question after some changes; None if it is no new structure, or words meet that never did."""
        words, program = self.drawn.choice(self.drawn.choice(self.questions))
        for _ in range(self.drawn.randint(1, CHANGES)):
            spots = self._find_spots(words, program)
            if not spots:
                break
            spot = self.drawn.choice(spots)
            place = self.drawn.choice(self.met[spot.phrase])
            other = self.drawn.choice(self.drawn.choice(self.places[place]))
            words = words[: spot.start] + other.words + words[spot.end :]
            program = fill(spot.context, other.filler)
            if len(words) > LONGEST_TEXT or len(program.nodes) > LONGEST_PROGRAM:
                return None
        if outline(program) in self.known or any(two not in self.neighbours for two in pairwise(words)):
            return None
        return join_words(words), program

    def _find_spots(self, words: Words, program: Program) -> list[Spot]:
        """The sets of objects that are said once, by a phrase that is met once."""
        cuts = list(list_cuts(program))
        times = Counter(cut.filler for cut in cuts)
        found = []
        for cut in cuts:
            if times[cut.filler] > 1:
                continue
            for said in self.said.get(cut.filler, ()):
                starts = [k for k in _find_word(words, said[0]) if words[k : k + len(said)] == said]
                if len(starts) == 1:
                    found.append(Spot(starts[0], starts[0] + len(said), cut.context, SetPhrase(said, cut.filler)))
        return found


def _find_word(words: Words, word: str) -> list[int]:
    return [k for k, one in enumerate(words) if one == word]


def outline(program: Program) -> Hashable:
    """Its structure: ops and what they read, but for filters, of which one more or less makes no other question."""
    made: list[tuple[str, tuple[int, ...]]] = []
    at: list[int] = []
    for n in program.nodes:
        if n.op != "filter":
            made.append((n.op, tuple(at[i] for i in n.inputs)))
        at.append(len(made) - 1 if n.op != "filter" else at[n.inputs[0]])
    return tuple(made)


def _outline_filler(phrase: SetPhrase) -> Hashable:
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
