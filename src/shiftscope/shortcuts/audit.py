"""Audit: a dataset's split, the concepts of its nine shortcuts, and their groups, heads and tails.

VQA-VS (Si et al., 2022), §3. For example::

    table = read_question_table([Path("questions.json")], [Path("annotations.json")])
    audit = audit_shortcuts(table)
    audit.test["QT"].tail       # places of the samples of the QT OOD test set

Below: training sets with a chosen share of shortcut samples, all of one size (§5.3, Figure 7). Shortcut
samples are those of a shortcut's head in the train split; the rest of a set is of its tail.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import UserError, unknown
from ..question_table import EXAMPLES, Id, QuestionTable, Remark, Rows, SampleSet
from ..rng import derive
from .concepts import OUT, TWO, ConceptLabels, UnseenPairs, check_readings, label_concepts
from .groups import BALANCED, IMBALANCED, RARE, AnswerGroups, build_groups, find_imbalanced, mark_pairs, measure_pairs
from .sample_keys import hash_ids

TRAIN, VAL, TEST = "train", "val", "test"
SPLIT_NAMES = (TRAIN, VAL, TEST)
AUDIT_SPLIT = "audit_split"  # the fact of a run's row that says which of these it is
OWN_SOURCE = "shiftscope"  # the source of samples from a dataset of ours
SPLIT_SHARES = (0.70, 0.05)  # of the samples: train and val; the rest is the test
_SPLIT_ALIASES = {
    TRAIN: (TRAIN, "train2014", "train2017", "training"),
    VAL: (VAL, "valid", "val2014", "val2017", "dev", "validation"),
    TEST: (TEST, "test2014", "test2015", "testdev", "iid-test"),
}


@dataclass(frozen=True, slots=True, eq=False)
class SampleSplit:
    """Which samples are for training, which for choosing a model, and which are the IID test."""

    codes: npt.NDArray[np.int8]  # [sample] place in NAMES; -1: in none of them
    made: bool  # by us at random, not taken from the files

    def rows(self, name: str) -> Rows:
        return np.flatnonzero(self.codes == SPLIT_NAMES.index(name))

    def counts(self) -> dict[str, int]:
        return {name: int((self.codes == k).sum()) for k, name in enumerate(SPLIT_NAMES)}


def draw_split(samples: QuestionTable, seed: int = 0, shares: tuple[float, float] = SPLIT_SHARES) -> SampleSplit:
    """A random split by samples, as the paper draws it; a function of the seed and of the set of ids.

    The order of the files does not matter: every id has a random key, and those with the least are train.
    """
    first, second = size_split(len(samples), shares)
    keys = hash_ids(samples.ids, *SPLIT_PATH, seed)
    places = np.argsort(keys, kind="stable")
    ordered = keys[places]
    if (ordered[1:] == ordered[:-1]).any():  # a chance of one in a million among six million ids: by their texts
        places = np.array(sorted(range(len(keys)), key=lambda k: (keys[k], str(samples.ids[k]))), np.int64)
    codes = np.full(len(samples), SPLIT_NAMES.index(TEST), np.int8)
    codes[places[:first]], codes[places[first:second]] = 0, 1
    return SampleSplit(codes, made=True)


SPLIT_PATH = ("audit", "split")  # of the keys, with the seed


def size_split(samples: int, shares: tuple[float, float]) -> tuple[int, int]:
    """How many of the samples are in train, and how many in train and val together."""
    train, val = shares
    if not (train > 0 and val >= 0 and train + val < 1):
        raise UserError(f"the shares of train and val must be above 0 and leave some for the test: {shares}")
    first, second = round(samples * train), round(samples * (train + val))
    if not 0 < first <= second < samples:
        raise UserError(
            f"{samples:,} samples are too few to draw a train split and a test from; give both, with --train and --test"
        )
    return first, second


def read_split(samples: QuestionTable) -> SampleSplit:
    """The split that the files name (`split` fields, or which files were given as train, val and test).

    There is a test; train and val may be empty.
    """
    if samples.splits is None:
        raise UserError(NO_SPLIT)
    codes = _split_codes(samples)
    if not (codes == SPLIT_NAMES.index(TEST)).any():
        raise build_no_test_error(samples.splits.values)
    return SampleSplit(codes, made=False)


NO_SPLIT = "the files name no split; leave it out, and 70/5/25 % are drawn"


def build_no_test_error(names: Sequence[Any]) -> UserError:
    return UserError(f"no sample is of the split {TEST!r}; the files name {', '.join(map(str, names)) or 'none'}")


def default_split(samples: QuestionTable) -> str:
    """How to split when nobody says: as given by a dataset of ours that has a train and a test, else drawn.

    Official files are merged and split anew, as VQA-VS does with VQA v2.
    """
    if samples.source != OWN_SOURCE or samples.splits is None:
        return "drawn"
    codes = _split_codes(samples)
    return "given" if (codes == 0).any() and (codes == 2).any() else "drawn"


def remark_unsplit(samples: QuestionTable, split: SampleSplit) -> tuple[Remark, ...]:
    """What to say of samples that are in none of the three parts, with the names of their splits."""
    rows = np.flatnonzero(split.codes < 0)
    if not len(rows) or samples.splits is None:
        return ()
    codes = np.unique(samples.splits.codes[rows]).tolist()
    names = [None if c < 0 else str(samples.splits.values[c]) for c in codes]
    return (build_unsplit_remark(names, len(rows), tuple(samples.ids[k] for k in rows[:EXAMPLES].tolist())),)


def build_unsplit_remark(names: Sequence[str | None], count: int, examples: tuple[Id, ...]) -> Remark:
    """Of so many samples, whose splits have these names; None: none is named."""
    listed = ", ".join("none is named" if name is None else name for name in names)
    what = f"samples of a split other than train, val and test ({listed})"
    return Remark(what, "in no set, and not counted", count, examples)


def _split_codes(samples: QuestionTable) -> npt.NDArray[np.int8]:
    """[sample] the part that its split's name means, -1 for none of them."""
    assert samples.splits is not None
    return read_split_names(samples.splits.values)[samples.splits.codes]


def read_split_names(names: Sequence[Any]) -> npt.NDArray[np.int8]:
    """[name] the part that it means, -1 for none of them; one -1 more at the end."""
    part = {called: k for k, name in enumerate(SPLIT_NAMES) for called in _SPLIT_ALIASES[name]}
    return np.array([part.get(str(v).lower(), -1) for v in names] + [-1], np.int8)


# Raise it when the same samples and settings give other sets. 1 knew `pairs` "any" alone; up to 2, a split was drawn by
# one permutation of all samples, not by a key of each.
AUDIT_VERSION = 3
SET_FACT = "set:"  # begins the fact of a run's row that says that it is in a recipe's set: set:gqa_ood/tail
STATISTICS_SOURCES = ("all", "train")
SPLIT_SOURCES = ("drawn", "given", "auto")


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """What an audit depends on besides the samples."""

    imbalanced: float = IMBALANCED  # normalised entropy below which a group is imbalanced
    rare: float = RARE  # times the mean count below which an answer is rare
    statistics: str = "all"  # the counts f and K of eq. 6 are over all samples, or over the train split
    types: str = "auto"  # given, prefixes (the 65 of VQA), learned; auto: the first that the data allow
    pairs: str = TWO  # a KWP concept takes two keywords; any: a question with one is in a group too, as in version 1
    type_words: str = OUT  # of the candidates for keywords; in: words of the question's type are keywords too
    split: str = "drawn"  # at random, or given by the files; auto: see `default_split`
    seed: int = 0
    shares: tuple[float, float] = SPLIT_SHARES


@dataclass(frozen=True, slots=True)
class SetRule:
    """Which samples are in a set: those of a split, or of these the head or tail of a shortcut."""

    name: str  # "IID-Test", "OOD-Test/QT+KW", …
    split: str
    shortcut: str = ""
    part: int = BALANCED  # HEAD or TAIL


@dataclass(frozen=True, slots=True, eq=False)
class ShortcutAudit:
    """All that was found. The mappings are by shortcut, in the order of Table 1, without the missing ones."""

    samples: QuestionTable
    settings: AuditSettings
    split: SampleSplit
    types: str  # how the question types came about: given, prefixes or learned
    labels: Mapping[str, ConceptLabels]
    train: Mapping[str, AnswerGroups]
    val: Mapping[str, AnswerGroups]  # its tails are the OOD val sets
    test: Mapping[str, AnswerGroups]  # its tails are the OOD test sets, its heads the head splits
    missing: tuple[tuple[str, str], ...] = ()  # shortcuts that could not be labelled, and why
    unseen: Mapping[str, UnseenPairs] = field(default_factory=dict)  # by "words" and "objects"; if train alone counts
    ties: Mapping[str, int] = field(default_factory=dict)  # the same way: samples where the alphabet decides


def check_settings(settings: AuditSettings) -> None:
    """Refuse what no audit can be made with, whatever the samples."""
    if settings.statistics not in STATISTICS_SOURCES:
        raise unknown("statistics", settings.statistics, STATISTICS_SOURCES)
    if settings.split not in SPLIT_SOURCES:
        raise unknown("split", settings.split, SPLIT_SOURCES)
    check_readings(settings.types, settings.pairs, settings.type_words)
    none = measure_pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), 0)
    mark_pairs(none, find_imbalanced(none, settings.imbalanced), settings.rare)


NO_TRAIN = "there is no train split to count words and objects in; omit --statistics train"


def audit_shortcuts(
    samples: QuestionTable, settings: AuditSettings | None = None, split: SampleSplit | None = None
) -> ShortcutAudit:
    """Split (or take the split), label, group, and part the samples into heads and tails.

    Heads and tails of train, val and test are each by the counts of their own samples.
    """
    chosen = settings or AuditSettings()
    check_settings(chosen)
    if chosen.split == "auto":
        chosen = replace(chosen, split=default_split(samples))
    if split is None:
        split = read_split(samples) if chosen.split == "given" else draw_split(samples, chosen.seed, chosen.shares)
    samples = replace(samples, remarks=(*samples.remarks, *remark_unsplit(samples, split)))
    counted = None if (split.codes >= 0).all() else split.codes >= 0
    if chosen.statistics == TRAIN:
        if not len(split.rows(TRAIN)):
            raise UserError(NO_TRAIN)
        counted = np.zeros(len(samples), bool)
        counted[split.rows(TRAIN)] = True
    concepts = label_concepts(samples, chosen.types, counted, chosen.pairs, chosen.type_words)
    train, val, test = (
        {
            shortcut: build_groups(labels, samples.answers.codes, split.rows(part), chosen.imbalanced, chosen.rare)
            for shortcut, labels in concepts.labels.items()
        }
        for part in SPLIT_NAMES
    )
    found = {"words": concepts.words} | ({"objects": concepts.objects} if concepts.objects else {})
    unseen = {name: one.unseen for name, one in found.items()} if chosen.statistics == TRAIN else {}
    ties = {name: one.ties for name, one in found.items()}
    return ShortcutAudit(
        samples, chosen, split, concepts.types, concepts.labels, train, val, test, concepts.missing, unseen, ties
    )


PROPORTIONS = (0, 10, 30, 50, 70, 90, 100)  # per cent


@dataclass(frozen=True, slots=True, eq=False)
class ProportionSet(SampleSet):
    """One training set: so many per cent of it are shortcut samples."""

    shortcut: str
    share: int  # per cent


def build_proportion_sets(
    audit: ShortcutAudit, shortcut: str, shares: Sequence[int] = PROPORTIONS, seed: int = 0
) -> tuple[ProportionSet, ...]:
    """One set per share, of the largest size that all shares allow; none where head or tail is empty.

    A larger share has all the shortcut samples of a smaller one, and a smaller all the tail samples of a
    larger, so that neighbouring sets differ in as few samples as can be.
    """
    for share in shares:
        if not 0 <= share <= 100:
            raise UserError(f"a share of shortcut samples is from 0 to 100 per cent, not {share}")
    groups = audit.train[shortcut]
    path = ("audit", "proportion", seed, shortcut)
    head = derive(*path, "head").permutation(groups.head)
    tail = derive(*path, "tail").permutation(groups.tail)
    size = min(len(head), len(tail))
    if not size:
        return ()
    made = []
    for share in sorted(set(shares)):
        many = size * share // 100
        rows = np.sort(np.concatenate([head[:many], tail[: size - many]]))
        made.append(ProportionSet(f"Proportion/{shortcut}-{share}", rows, shortcut, share))
    return tuple(made)
