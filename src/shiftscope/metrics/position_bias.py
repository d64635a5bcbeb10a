"""Position bias of a multiple choice: whether a model picks options by where they stand.

The order of each question's options was drawn at random, so a model that goes by what they say picks every position
as often as chance puts its choice there. The test draws that chance again: the position of each pick uniformly among
its question's options, and asks how often the picks are then as uneven as they were (chi-squared statistic).
"""

from dataclasses import dataclass

import numpy as np

from ..prompt import LETTERS
from ..result import CORRECT_OPTION, OPTIONS, RunRecords
from ..rng import derive
from .slices import select_base_rows

DRAWS = 4999


@dataclass(frozen=True, slots=True)
class PositionBias:
    """Of each position, how many picks and how many true answers there are; and the chance of so uneven picks."""

    picked: tuple[int, ...]
    correct: tuple[int, ...]
    p: float
    unpicked: int  # replies that name no option

    def __str__(self) -> str:
        chosen, true = (np.array(counts) / max(1, sum(counts)) for counts in (self.picked, self.correct))
        shares = ", ".join(
            f"{LETTERS[k]} {100 * chosen[k]:.1f}% (correct {100 * true[k]:.1f}%)" for k in range(len(chosen))
        )
        none = f"; {self.unpicked:,} replies pick none" if self.unpicked else ""
        return f"picks by position: {shares}; p = {self.p:.4f} for a choice that ignores positions{none}"


def find_position_bias(every: RunRecords) -> PositionBias | None:
    """None of a run that is no multiple choice."""
    records = select_base_rows(every)
    facts = dict(records.facts)
    if OPTIONS not in facts or CORRECT_OPTION not in facts:
        return None
    lists = [str(value).split(" | ") for value in facts[OPTIONS].values]
    most = max(map(len, lists), default=0)
    picked, correct, sizes = [], np.zeros(most, np.int64), []
    unpicked = 0
    answers = records.answer.to_list()
    for at, truth, answer in zip(facts[OPTIONS].codes, facts[CORRECT_OPTION].to_list(), answers, strict=True):
        if at < 0:
            continue
        options = lists[at]
        correct[LETTERS.index(str(truth))] += 1
        if answer in options:
            picked.append(options.index(answer))
            sizes.append(len(options))
        else:
            unpicked += 1
    counts = np.bincount(np.array(picked, np.int64), minlength=most)
    p = _test_evenness(counts, np.array(sizes, np.int64))
    return PositionBias(tuple(counts.tolist()), tuple(correct.tolist()), p, unpicked)


def _test_evenness(counts: np.ndarray, sizes: np.ndarray) -> float:
    """The chance of picks at least as uneven, if each falls on any of its question's options alike."""
    most = len(counts)
    number = np.bincount(sizes, minlength=most + 1)  # of picks among so many options
    expected = np.array([sum(number[n] / n for n in range(k + 1, most + 1)) for k in range(most)])
    if not len(sizes) or not (expected > 0).any():
        return 1.0
    random, drawn = derive("position bias", len(sizes)), np.zeros((DRAWS, most))
    for n in range(1, most + 1):
        if number[n]:
            drawn[:, :n] += random.multinomial(int(number[n]), np.full(n, 1 / n), DRAWS)
    with np.errstate(invalid="ignore", divide="ignore"):
        uneven, seen = (np.nansum((c - expected) ** 2 / expected, axis=-1) for c in (drawn, counts))
    return float((1 + (uneven >= seen - 1e-9).sum()) / (1 + DRAWS))
