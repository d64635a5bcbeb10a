"""Balance: choose among far too many questions, as evenly as can be over answers and subgraphs.

Every template gets as many. First come texts with several answers, an example of each answer
together; what is still missing is taken answer by answer, the rarest first, and within an answer by the
structure of the subgraph, the rarest first. Bogin et al., COVR, 2021, appendix C.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import product
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ... import rng
from ...answer import spell
from ...question import Question

Numbers = NDArray[np.int64]
Digests = NDArray[np.uint64]
GENERATED = "generated"  # the note with a question's own words where it is paraphrased
ROW = np.dtype(
    [(name, "<u8") for name in ("template", "text", "answer", "images")]
    + [("structure", "<i4"), ("rephrased", "<u8")]  # rephrased: in other words; of a paraphrase, the original
)
WORDS = ("text", "rephrased")


@dataclass(frozen=True, eq=False)
class CandidateKeys:
    """What balancing needs of each candidate: 44 bytes, so that millions fit. Words are digests."""

    rows: NDArray[np.void]  # [candidate] of ROW

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def from_questions(cls, questions: Iterable[Question]) -> Self:
        rows = [
            (
                word_digest(q.provenance.template),
                word_digest(q.text),
                word_digest("" if q.answer is None else spell(q.answer)),
                word_digest("\n".join(sorted(q.scenes))),
                int(q.note("size", 0)) << 8 | int(q.note("depth", 0)),
                word_digest(q.note("paraphrase") or q.note(GENERATED) or q.text),
            )
            for q in questions
        ]
        return cls(np.array(rows, ROW))

    @classmethod
    def concatenate(cls, several: Sequence[Self]) -> Self:
        return cls(np.concatenate([np.empty(0, ROW), *(keys.rows for keys in several)]))

    def count_template(self, template: str) -> int:
        return int(np.count_nonzero(self.rows["template"] == word_digest(template)))


def word_digest(text: str) -> int:
    """64 bits; among ten million texts two alike are one chance in 300,000."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def separate_texts(first: CandidateKeys, second: CandidateKeys) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which candidates of two sets to keep so that no text is in both, as generated or paraphrased."""
    here, there = np.ones(len(first), bool), np.ones(len(second), bool)
    for one, other in product(WORDS, WORDS):
        mine, theirs = first.rows[here], second.rows[there]
        stays, goes = _deal_shared_texts(mine["template"], mine[one], theirs["template"], theirs[other])
        here[here], there[there] = stays, goes
    return here, there


def _deal_shared_texts(
    templates: Digests, texts: Digests, other_templates: Digests, other_texts: Digests
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Deal the texts that two sets share, those of each template in turn, and keep the rest.

    The set with fewer texts of its own gets the first, so that as few templates as can be are lost to either.
    """
    shared, at, _ = np.intersect1d(texts, other_texts, return_indices=True)
    mine, theirs = np.isin(texts, shared), np.isin(other_texts, shared)
    first = np.zeros(len(shared), bool)  # [text] whether it stays in the first set
    for template in np.unique(templates[at]):
        alike = np.flatnonzero(templates[at] == template)  # ascending by digest
        own = len(np.unique(texts[~mine & (templates == template)]))
        others = len(np.unique(other_texts[~theirs & (other_templates == template)]))
        odd = int(shared[alike[0]]) % 2 if own == others else int(own > others)
        first[alike[odd::2]] = True
    return ~np.isin(texts, shared[~first]), ~np.isin(other_texts, shared[first])


def balance_candidates(keys: CandidateKeys, each: int, *path: str | int) -> Numbers:
    """The candidates to keep, ascending: up to so many of each template, drawn by the path."""
    rows = keys.rows  # the first of all candidates that ask the same of the same images
    order = np.lexsort((np.arange(len(rows)), rows["images"], rows["text"]))
    numbers = np.sort(order[_mark_changes(rows[order], "text", "images")])
    templates = keys.rows["template"][numbers]
    chosen = [
        _balance_template(keys, numbers[templates == template], each, rng.derive("balance", *path, int(template)))
        for template in np.unique(templates)
    ]
    return np.sort(np.concatenate([np.empty(0, np.int64), *chosen]))


def find_partners(keys: CandidateKeys, chosen: Numbers) -> Numbers:
    """[chosen] the place among them of one with the same text and another answer; −1 where there is none."""
    found = np.full(len(chosen), -1, np.int64)
    rows = keys.rows[chosen]
    order = np.lexsort((np.arange(len(chosen)), rows["answer"], rows["text"]))
    same_text = np.split(order, np.flatnonzero(_mark_changes(rows[order], "text"))[1:])
    for group in (group for group in same_text if len(group) > 1):
        answers = rows["answer"][group]
        firsts = np.flatnonzero(np.concatenate(([True], answers[1:] != answers[:-1])))
        if len(firsts) > 1:  # the first of the next answer, round and round
            sizes = np.diff(firsts, append=len(group))
            within = np.arange(len(group)) - np.repeat(firsts, sizes)
            after = np.repeat(np.roll(firsts, -1), sizes) + within % np.repeat(np.roll(sizes, -1), sizes)
            found[group] = group[after]
    return found


def _balance_template(keys: CandidateKeys, numbers: Numbers, each: int, draw: np.random.Generator) -> Numbers:
    if len(numbers) <= each:
        return numbers
    numbers = numbers[draw.permutation(len(numbers))]
    rows = keys.rows[numbers]
    bundles, rounds = _build_bundles(rows)
    taken = np.concatenate(bundles)
    if len(taken) > each:
        taken = _choose_bundles(rows, bundles, rounds, each, draw)
    return numbers[_fill_up(rows, taken, each, draw)]


def _build_bundles(rows: NDArray[np.void]) -> tuple[list[Numbers], Numbers]:
    """All bundles (examples of one text with an answer each, two answers at least) as places among the rows.

    Also the round of each: 0 for the first of its text, which has the first example of each answer, and so on.
    """
    size = len(rows)
    order = np.lexsort((np.arange(size), rows["answer"], rows["text"]))
    begins = np.flatnonzero(_mark_changes(rows[order], "text", "answer"))
    nth = np.arange(size) - np.repeat(begins, np.diff(begins, append=size))  # of its text and answer
    again = np.lexsort((nth, rows["text"][order]))
    order, nth = order[again], nth[again]
    text = rows["text"][order]
    new = np.concatenate(([True], (text[1:] != text[:-1]) | (nth[1:] != nth[:-1])))[:size]
    first = np.flatnonzero(new)
    sizes = np.diff(first, append=size)
    several = sizes > 1
    members = order[np.repeat(several, sizes)]
    return np.split(members, np.cumsum(sizes[several])[:-1]), nth[first[several]]


def _choose_bundles(
    rows: NDArray[np.void], bundles: list[Numbers], rounds: Numbers, each: int, draw: np.random.Generator
) -> Numbers:
    """Bundles that fit, those of new texts before more of a text, those of rare answers first."""
    _, answers = np.unique(rows["answer"], return_inverse=True)
    _, structures = np.unique(rows["structure"], return_inverse=True)
    answered, seen = np.zeros(answers.max() + 1), np.zeros(structures.max() + 1)
    taken: list[Numbers] = []
    room = each
    for number in np.unique(rounds):
        shelves: dict[tuple[int, ...], list[int]] = {}
        for bundle in draw.permutation(np.flatnonzero(rounds == number)).tolist():
            members = bundles[bundle]
            shelves.setdefault((int(structures[members[0]]), *answers[members].tolist()), []).append(bundle)
        kinds = list(shelves)
        flat = np.array([a for _, *found in kinds for a in found], np.int64)
        sizes = np.array([len(kind) - 1 for kind in kinds], np.int64)
        cuts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
        shape = np.array([kind[0] for kind in kinds], np.int64)
        left = np.array([len(shelves[kind]) for kind in kinds], np.int64)
        while room > 1:
            open_ = (left > 0) & (sizes <= room)
            if not open_.any():
                break
            mean = np.where(open_, np.add.reduceat(answered[flat], cuts) / sizes, np.inf)
            rare = np.flatnonzero(mean == mean.min())
            pick = int(rare[np.argmin(seen[shape[rare]])])
            members = bundles[shelves[kinds[pick]].pop()]
            left[pick] -= 1
            taken.append(members)
            answered[answers[members]] += 1
            seen[structures[members]] += 1
            room -= len(members)
    return np.concatenate([np.empty(0, np.int64), *taken])


def _fill_up(rows: NDArray[np.void], taken: Numbers, each: int, draw: np.random.Generator) -> Numbers:
    """More are taken one by one: the answer that is rarest so far, then the structure that is."""
    free = np.ones(len(rows), bool)
    free[taken] = False
    _, answers = np.unique(rows["answer"], return_inverse=True)
    _, structures = np.unique(rows["structure"], return_inverse=True)
    used = np.bincount(answers[taken], minlength=int(answers.max()) + 1).tolist()
    seen = np.bincount(structures[taken], minlength=int(structures.max()) + 1).tolist()
    stacks: dict[int, dict[int, list[int]]] = {}
    for k in np.flatnonzero(free).tolist():
        stacks.setdefault(int(answers[k]), {}).setdefault(int(structures[k]), []).append(k)
    waiting = [(used[a], float(draw.random()), a) for a in sorted(stacks)]
    heapq.heapify(waiting)
    chosen = taken.tolist()
    while len(chosen) < each and waiting:
        count, _, answer = heapq.heappop(waiting)
        mine = stacks[answer]
        rarest = min(seen[s] for s in mine)
        among = [s for s in mine if seen[s] == rarest]
        structure = among[int(draw.integers(len(among)))]
        chosen.append(mine[structure].pop())
        seen[structure] += 1
        if not mine[structure]:
            del mine[structure]
        if mine:
            heapq.heappush(waiting, (count + 1, float(draw.random()), answer))
    return np.array(chosen, np.int64)


def _mark_changes(rows: NDArray[np.void], *columns: str) -> NDArray[np.bool_]:
    """[row] whether it differs from the row before in any of these columns."""
    new = np.zeros(len(rows), bool)
    new[:1] = True
    for column in columns:
        new[1:] |= rows[column][1:] != rows[column][:-1]
    return new
