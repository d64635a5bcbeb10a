"""Which of a sample's words (or objects) says most about its answer: the order of equation 6.

MI(w, a) = log f(w, a) / (f(w) f(a) / K), where f counts samples. Within a sample a is fixed, so f(a), K and
the logarithm do not change the order: f(w, a) / f(w) does, compared here in whole numbers. Ties go to the
larger f(w, a), then alphabetically. What a sample has is its bag: only samples whose bag holds w count for
f(w), so a word that stands in a question's type alone, which is outside its bag, does not (see concepts.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..compiled import exact
from .keys import distinct, numbered

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Bags:
    """Sets of words or objects, one a sample: bag b holds `codes[at[b] : at[b + 1]]`, ascending."""

    codes: Codes
    at: Ints  # [bag + 1]
    of: Ints  # [sample] its bag, or -1 for an empty one


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """The two members of each sample's bag that say most about its answer, -1 where there are fewer."""

    first: Codes  # [sample]
    second: Codes
    unseen_pairs: int  # distinct (member, answer) that samples have and the counted ones never
    unseen_samples: int  # samples with such a pair
    blind: int  # samples with only such pairs


def bags_of(bag: Ints, member: Ints, bags: int, of: Ints) -> Bags:
    """Bags from (bag, member) pairs in any order, repetitions counted once."""
    width = int(member.max(initial=0)) + 1
    key = distinct(bag * width + member)
    at = np.searchsorted(key // width, np.arange(bags + 1)).astype(np.int64)
    return Bags((key % width).astype(np.int32), at, of)


def ranked(bags: Bags, answers: Codes, counted: npt.NDArray[np.bool_] | None = None) -> Ranked:
    """The best two of each sample; f counts all samples, or those marked in `counted`."""
    sample, member = _spread(bags)
    width = int(answers.max(initial=0)) + 1
    pairs, pair, together = numbered(member.astype(np.int64) * width + answers[sample])
    weight = None if counted is None else counted[sample]
    kinds = int(member.max(initial=-1)) + 1
    if weight is not None:
        together = _count(pair, weight, len(pairs))
    alone = _count(member, weight, kinds)
    first, second = _best(sample, member, together[pair], alone[member], len(answers))
    never = together == 0
    seen = np.bincount(sample, weights=~never[pair], minlength=len(answers))
    total = np.bincount(sample, minlength=len(answers))
    return Ranked(
        first,
        second,
        unseen_pairs=int(never.sum()),
        unseen_samples=int((seen < total).sum()),
        blind=int(((seen == 0) & (total > 0)).sum()),
    )


def _count(codes: npt.NDArray[np.integer], weight: npt.NDArray[np.bool_] | None, size: int) -> Ints:
    chosen = codes if weight is None else codes[weight]
    return np.bincount(chosen, minlength=size).astype(np.int64)


def _spread(bags: Bags) -> tuple[Ints, Codes]:
    """(sample, member) of every member of every sample's bag, by sample and then by member."""
    inside = np.flatnonzero(bags.of >= 0)
    mine = bags.of[inside]
    length = bags.at[mine + 1] - bags.at[mine]
    sample = np.repeat(inside, length)
    step = np.arange(len(sample)) - np.repeat(np.cumsum(length) - length, length)
    return sample, bags.codes[np.repeat(bags.at[mine], length) + step]


@exact
def _best(sample: Ints, member: Codes, together: Ints, alone: Ints, samples: int) -> tuple[Codes, Codes]:
    """The best two of each sample. Members come in alphabetical order, so on a full tie the earlier stays.

    Products are of two counts of samples: below 2^62 for two thousand million samples.
    """
    first = np.full(samples, -1, np.int32)
    second = np.full(samples, -1, np.int32)
    top = np.zeros(samples, np.int64)  # places of the best two among the pairs
    next_ = np.zeros(samples, np.int64)
    for k in range(len(sample)):
        s = sample[k]
        if first[s] < 0 or _more(together[k], alone[k], together[top[s]], alone[top[s]]):
            second[s], next_[s] = first[s], top[s]
            first[s], top[s] = member[k], k
        elif second[s] < 0 or _more(together[k], alone[k], together[next_[s]], alone[next_[s]]):
            second[s], next_[s] = member[k], k
    return first, second


@exact
def _more(both: int, one: int, other_both: int, other_one: int) -> bool:
    """Whether both/one is larger, or equal and `both` is larger; never seen (0/0) is like never together."""
    left = both * max(other_one, 1)
    right = other_both * max(one, 1)
    return left > right or (left == right and both > other_both)
