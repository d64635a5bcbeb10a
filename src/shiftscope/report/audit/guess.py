"""Guess: how far the concept alone goes, by giving the commonest answer that train has for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...audit.audit import Audit
from ...audit.groups import TAIL, Groups
from ...metrics._interval import Scenes
from ...metrics._shares import known
from ...result import Score

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Guess:
    """The share of right guesses; an answer is right if it is the sample's one answer."""

    iid: Score
    ood: Score  # on the shortcut's OOD test set


def guesses(audit: Audit) -> Mapping[str, Guess]:
    """A guess a shortcut, for the samples that have a concept. Intervals take those of an image together."""
    answers = audit.samples.answers.codes
    tests = list(audit.test.items())
    if not tests or not len(tests[0][1].rows):
        return {}
    rows = tests[0][1].rows
    codes = np.array([groups.labels.codes[rows] for _, groups in tests])  # [shortcut, row]
    hits = [commonest(audit.train[name], answers)[codes[k]] for k, (name, _) in enumerate(tests)]
    right = np.array([h == answers[rows] for h in hits])
    tail = np.array([groups.part == TAIL for _, groups in tests])
    # One table of (shortcut, set) × row, so that all are measured at once.
    among = np.concatenate([codes >= 0, tail]).ravel()
    at = np.repeat(np.arange(2 * len(tests)), len(rows))
    scenes = Scenes(np.tile(_clusters(audit)[rows], 2 * len(tests)))
    made = scenes.shares(np.concatenate([right, right]).ravel(), among, at, 2 * len(tests))

    def score(metric: str, place: int) -> Score:
        n = int(among[place * len(rows) : (place + 1) * len(rows)].sum())
        value, low, high = (known(column[place]) for column in made[:3])
        return Score(metric, value, n, low, high, scenes=int(made.scenes[place]))

    return {
        name: Guess(score("guess_iid", k), score("guess_ood", len(tests) + k))
        for k, (name, _) in enumerate(tests)
    }


def commonest(train: Groups, answers: npt.NDArray[np.int32]) -> Codes:
    """[concept] the answer most frequent in the group, of equals the first; without a group, overall."""
    said, concept = answers[train.rows].astype(np.int64), train.labels.codes[train.rows].astype(np.int64)
    width = int(answers.max(initial=0)) + 1
    overall = int(np.bincount(said, minlength=1).argmax())
    pairs, counts = np.unique((concept * width + said)[concept >= 0], return_counts=True)
    order = np.lexsort((pairs, -counts))
    group, first = np.unique(pairs[order] // width, return_index=True)
    found = np.full(len(train.labels), overall, np.int64)
    found[group] = pairs[order][first] % width
    return found


def _clusters(audit: Audit) -> Codes:
    """The image of every sample; one without an image stands for itself."""
    images = audit.samples.images
    alone = len(images.values) + np.arange(len(audit.samples))
    return np.where(images.codes < 0, alone, images.codes).astype(np.int64)
