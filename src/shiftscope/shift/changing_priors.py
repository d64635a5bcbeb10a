"""Changing priors: train and test share no (question type, answer), so the prior of a type changes.

Agrawal et al., "Don't Just Assume; Look and Answer" (CVPR 2018), who made VQA-CP of VQA this way. Samples of
one type with one answer stay together. Groups go to the test one after the other, in the order in which the
shuffled samples first show them, large ones early; after each, the free group with most of the words and
answers that the test has and train still lacks goes to train. What would make the test larger than its share,
and all that is free in the end, goes to train.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..errors import UserError
from ..kernels import exact
from ..question_table import QuestionTable, Rows, SampleSet, unique_keys
from ..rng import derive
from ..shortcuts.audit import ShortcutAudit
from ..shortcuts.concepts import build_bags, find_question_types, gather_slices
from ..shortcuts.tokens import tokenize_texts
from . import RecipeSets

FOLDER = "Changing-Priors"  # of an audit's folder
TEST_SHARE = 1 / 3  # of the samples, for the test
TRAIN, TEST = 1, 2


@dataclass(frozen=True, slots=True)
class ChangingPriorsSettings:
    """What the split depends on besides the samples."""

    share: float = TEST_SHARE  # at most this much goes to the test
    seed: int = 0
    types: str = "auto"  # how question types are found, as in an audit


SETTINGS = ChangingPriorsSettings
AUDIT_OPTIONS = {  # of `shiftscope audit`: the setting that each gives, its type, its help
    "priors-share": ("share", "float", "at most this share goes to the test (1/3).")
}


@dataclass(frozen=True, slots=True, eq=False)
class PriorSplit:
    """The two parts, and how much of what the test speaks of train has shown."""

    train: Rows
    test: Rows
    groups: int  # of question type and answer
    covered: float  # share of the test's distinct words and answers that train has

    @property
    def sets(self) -> tuple[SampleSet, ...]:
        return SampleSet("Train", self.train), SampleSet("Test", self.test)


def sets(samples: QuestionTable, settings: ChangingPriorsSettings | None = None) -> tuple[SampleSet, ...]:
    """Train and Test."""
    return build_split(samples, settings).sets


def build_recipe(found: ShortcutAudit, options: Mapping[str, Any]) -> RecipeSets:
    """Both parts of all samples of an audit; the seed and the question types are the audit's."""
    usual: dict[str, Any] = {"seed": found.settings.seed, "types": found.settings.types}
    settings = ChangingPriorsSettings(**usual | dict(options))
    split = build_split(found.samples, settings)
    counts = {s.name: len(s) for s in split.sets} | {"groups": split.groups, "covered": split.covered}
    return RecipeSets(asdict(settings), counts, split.sets)


def build_split(samples: QuestionTable, settings: ChangingPriorsSettings | None = None) -> PriorSplit:
    """Both parts; a function of the samples and the settings, whatever the order of the files."""
    chosen = settings or ChangingPriorsSettings()
    if not 0 < chosen.share < 1:
        raise UserError(f"the test's share must be between 0 and 1, not {chosen.share}")
    words = tokenize_texts(samples.texts.values)
    _, types = find_question_types(samples, words, chosen.types)
    answers = samples.answers
    key = (types.codes.astype(np.int64) + 1) * len(answers.values) + answers.codes
    groups, group = np.unique(key, return_inverse=True)
    # The words of each group's questions and its answer, which is numbered after the words.
    every, texts = np.arange(len(groups)), len(samples.texts.values)
    pairs = unique_keys(group * texts + samples.texts.codes)
    which, spoken = gather_slices(words.codes, words.at[pairs % texts], words.at[pairs % texts + 1])
    concepts = [spoken.astype(np.int64), len(words.vocabulary) + groups % len(answers.values)]
    owner = np.concatenate([(pairs // texts)[which], every])
    shown = build_bags(owner, np.concatenate(concepts), len(groups), every)
    owners = np.repeat(np.arange(len(shown.at) - 1), np.diff(shown.at))
    kinds = int(shown.codes.max(initial=-1)) + 1
    holders = build_bags(shown.codes.astype(np.int64), owners, kinds, np.zeros(0, np.int64))
    size = np.bincount(group)
    shuffled = derive("changing_priors", chosen.seed).permutation(np.repeat(np.arange(len(size)), size))
    listed, first = np.unique(shuffled, return_index=True)
    order = listed[np.argsort(first)]  # as shuffled samples first show the groups: the larger, the likelier early
    most = int(chosen.share * len(samples))
    part, lacking = _assign_groups(order, size, most, shown.codes, shown.at, holders.codes, holders.at)
    test = np.flatnonzero(part[group] == TEST)
    if not len(test):
        raise UserError("every group of one question type and answer is larger than the test may be")
    tested = unique_keys(shown.codes[np.repeat(part, np.diff(shown.at)) == TEST])
    return PriorSplit(np.flatnonzero(part[group] == TRAIN), test, len(groups), 1 - float(lacking[tested].mean()))


@exact
def _assign_groups(
    order: Any, size: Any, most: int, shown: Any, shown_at: Any, holders: Any, holders_at: Any
) -> tuple[Any, Any]:
    """[group] TRAIN or TEST, and [concept] whether train never shows it.

    `score` of a group is how many of its concepts are wanted: in the test, not yet in train.
    """
    groups, concepts = len(size), len(holders_at) - 1
    part = np.zeros(groups, np.int8)
    wanted = np.zeros(concepts, np.bool_)
    lacking = np.ones(concepts, np.bool_)
    score = np.zeros(groups, np.int64)
    tested = 0
    for g in order:
        if part[g] != 0 or tested + size[g] > most:
            continue
        part[g] = TEST
        tested += size[g]
        for c in shown[shown_at[g] : shown_at[g + 1]]:
            if lacking[c] and not wanted[c]:
                wanted[c] = True
                for h in holders[holders_at[c] : holders_at[c + 1]]:
                    score[h] += 1
        best = -1
        for h in range(groups):
            if part[h] == 0 and score[h] > 0 and (best < 0 or score[h] > score[best]):
                best = h
        if best >= 0:
            part[best] = TRAIN
            for c in shown[shown_at[best] : shown_at[best + 1]]:
                lacking[c] = False
                if wanted[c]:
                    wanted[c] = False
                    for h in holders[holders_at[c] : holders_at[c + 1]]:
                        score[h] -= 1
    for g in range(groups):
        if part[g] == 0:
            part[g] = TRAIN
            for c in shown[shown_at[g] : shown_at[g + 1]]:
                lacking[c] = False
    return part, lacking
