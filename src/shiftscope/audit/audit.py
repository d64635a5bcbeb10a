"""Audit: a dataset's split, the concepts of its nine shortcuts, and their groups, heads and tails.

VQA-VS (Si et al., 2022), §3. For example::

    samples = read_vqa([Path("questions.json")], [Path("annotations.json")])
    found = audit(samples)
    found.test["QT"].tail       # places of the samples of the QT OOD test set
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import unknown
from .concepts import label
from .groups import IMBALANCED, RARE, Groups, build
from .information import Ranked
from .labels import Labels
from .samples import Samples
from .split import NAMES, SHARES, TRAIN, Split, drawn, given, outside, usual

STATISTICS = ("all", "train")
SPLITS = ("drawn", "given", "auto")


@dataclass(frozen=True, slots=True)
class Settings:
    """What an audit depends on besides the samples."""

    imbalanced: float = IMBALANCED  # normalised entropy below which a group is imbalanced
    rare: float = RARE  # times the mean count below which an answer is rare
    statistics: str = "all"  # the counts f and K of eq. 6 are over all samples, or over the train split
    types: str = "auto"  # given, prefixes (the 65 of VQA), learned; auto: the first that the data allow
    split: str = "drawn"  # at random, or given by the files; auto: as `split.usual` has it
    seed: int = 0
    shares: tuple[float, float] = SHARES


@dataclass(frozen=True, slots=True)
class Unseen:
    """With statistics of the train split: what the other samples have that train never showed."""

    pairs: int  # distinct (word or object, answer) pairs
    samples: int  # samples with at least one of them
    blind: int  # samples for which no word or object was ever seen with the answer


@dataclass(frozen=True, slots=True, eq=False)
class Audit:
    """All that was found. The mappings are by shortcut, in the order of Table 1, without the missing ones."""

    samples: Samples
    settings: Settings
    split: Split
    types: str  # how the question types came about: given, prefixes or learned
    labels: Mapping[str, Labels]
    train: Mapping[str, Groups]
    val: Mapping[str, Groups]  # its tails are the OOD val sets
    test: Mapping[str, Groups]  # its tails are the OOD test sets, its heads the head splits
    missing: tuple[tuple[str, str], ...] = ()  # shortcuts that could not be labelled, and why
    unseen: Mapping[str, Unseen] = field(default_factory=dict)  # of "words" and of "objects"


def audit(samples: Samples, settings: Settings | None = None, split: Split | None = None) -> Audit:
    """Split (or take the split), label, group, and part the samples into heads and tails.

    Heads and tails of train, val and test are each by the counts of their own samples.
    """
    chosen = settings or Settings()
    if chosen.statistics not in STATISTICS:
        raise unknown("statistics", chosen.statistics, STATISTICS)
    if chosen.split not in SPLITS:
        raise unknown("split", chosen.split, SPLITS)
    if chosen.split == "auto":
        chosen = replace(chosen, split=usual(samples))
    if split is None:
        split = given(samples) if chosen.split == "given" else drawn(samples, chosen.seed, chosen.shares)
    samples = replace(samples, remarks=(*samples.remarks, *outside(samples, split)))
    counted = None if (split.codes >= 0).all() else split.codes >= 0
    if chosen.statistics == TRAIN:
        counted = np.zeros(len(samples), bool)
        counted[split.rows(TRAIN)] = True
    concepts = label(samples, chosen.types, counted)
    train, val, test = (
        {
            shortcut: build(labels, samples.answers.codes, split.rows(part), chosen.imbalanced, chosen.rare)
            for shortcut, labels in concepts.labels.items()
        }
        for part in NAMES
    )
    found = {"words": concepts.words} | ({"objects": concepts.objects} if concepts.objects else {})
    unseen = {name: _unseen(one) for name, one in found.items()} if chosen.statistics == TRAIN else {}
    return Audit(
        samples, chosen, split, concepts.types, concepts.labels, train, val, test, concepts.missing, unseen
    )


def _unseen(one: Ranked) -> Unseen:
    return Unseen(one.unseen_pairs, one.unseen_samples, one.blind)
