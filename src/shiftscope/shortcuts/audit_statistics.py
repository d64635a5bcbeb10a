"""The figures of an audit: Table 1, the matrices of Figure 5, answer distributions of Figures 4, 8, 10."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..question_table import Remark, Rows
from .audit import AuditSettings, ShortcutAudit
from .concepts import UnseenPairs
from .groups import BALANCED, TAIL, AnswerGroups

PART_NAMES = ("", "head", "tail")  # what groups.BALANCED, HEAD and TAIL are called, in their order


@dataclass(frozen=True, slots=True)
class ShortcutStatistics:
    """A shortcut's line in Table 1, with its imbalance (eq. 8) and what one-answer groups hide."""

    shortcut: str
    train_groups: int
    test_groups: int
    imbalanced: int  # groups of the test
    head: int  # samples of the test
    tail: int  # samples of the OOD test set
    val_tail: int  # samples of the OOD val set
    degree: float  # E of eq. 8 over the train split, or the test where there is none: lower is more imbalanced
    single_groups: int  # groups of the test with one answer only
    single_share: float  # share of the test's grouped samples in them
    outside: int  # samples of the test in no group: of unknown objects, or with fewer than two words for KWP


@dataclass(frozen=True, slots=True, eq=False)
class ShortcutMatrix:
    """A value for every two shortcuts: `values[i, j]` is of (names[i], names[j])."""

    names: tuple[str, ...]
    values: npt.NDArray[np.float64]  # [shortcut, shortcut]


@dataclass(frozen=True, slots=True)
class StrongGroup:
    """A group in which one answer is a good guess."""

    concept: int
    name: str  # "what color + banana"
    size: int
    classes: int  # distinct answers
    entropy: float  # normalised
    answer: str  # the most frequent one
    share: float  # of the group's samples that have it
    tail: int  # samples with a rare answer


@dataclass(frozen=True, slots=True, eq=False)
class AnswerDistribution:
    """The answers of one group in every set, in one order: by train count, then test count, then name."""

    shortcut: str
    name: str
    answers: tuple[str, ...]
    train: npt.NDArray[np.int64]  # [answer] counts
    val: npt.NDArray[np.int64]
    test: npt.NDArray[np.int64]
    ood: npt.NDArray[np.int64]  # counts in the OOD test set
    parts: tuple[str, ...]  # [answer] "head", "tail", or "" where the test's group is balanced or lacks it


@dataclass(frozen=True, slots=True, eq=False)
class AuditFigures:
    """All figures of an audit, however it was made."""

    source: str
    samples: int
    images: int
    answers: int
    split: Mapping[str, int]  # samples of train, val and test
    drawn: bool  # the split was
    types: str
    settings: AuditSettings
    remarks: tuple[Remark, ...]
    missing: tuple[tuple[str, str], ...]
    unseen: Mapping[str, UnseenPairs]
    ties: Mapping[str, int]
    shortcuts: tuple[ShortcutStatistics, ...]
    jaccard: ShortcutMatrix
    coincidence: ShortcutMatrix


def summarize_audit(audit: ShortcutAudit) -> AuditFigures:
    samples = audit.samples
    sizes = len(samples), len(samples.images.values), len(samples.answers.values)
    return AuditFigures(
        samples.source, *sizes, audit.split.counts(), audit.split.made, audit.types, audit.settings, samples.remarks,
        audit.missing, audit.unseen, audit.ties, compute_audit_statistics(audit), jaccard_overlap(audit),
        ood_overlap(audit),
    )  # fmt: skip


def compute_audit_statistics(audit: ShortcutAudit) -> tuple[ShortcutStatistics, ...]:
    """Table 1, one line a shortcut."""
    found = []
    for shortcut in audit.labels:
        train, val, test = audit.train[shortcut], audit.val[shortcut], audit.test[shortcut]
        alone = test.classes == 1
        line = ShortcutStatistics(
            shortcut=shortcut,
            train_groups=int((train.size > 0).sum()),
            test_groups=int((test.size > 0).sum()),
            imbalanced=int(test.imbalanced.sum()),
            head=len(test.head),
            tail=len(test.tail),
            val_tail=len(val.tail),
            degree=(train if len(train.rows) else test).imbalance_degree(),
            single_groups=int(alone.sum()),
            single_share=float(test.size[alone].sum() / max(1, test.sample_count)),
            outside=len(test.rows) - test.sample_count,
        )
        found.append(line)
    return tuple(found)


def jaccard_overlap(audit: ShortcutAudit) -> ShortcutMatrix:
    """Figure 5a: of two shortcuts' train heads together, the share that is in both; 0 if there are none."""
    inside = _build_membership(audit, [groups.head for groups in audit.train.values()])
    return compare_heads(tuple(audit.labels), inside @ inside.T)


def compare_heads(names: tuple[str, ...], both: npt.NDArray[Any]) -> ShortcutMatrix:
    """Figure 5a, from how many samples are in the heads of each two shortcuts."""
    size = np.diag(both)
    either = size[:, None] + size[None, :] - both
    return ShortcutMatrix(names, both / np.maximum(either, 1))


def ood_overlap(audit: ShortcutAudit) -> ShortcutMatrix:
    """Figure 5b: `values[i, j]` is the share of shortcut j's OOD test set that is also in i's."""
    inside = _build_membership(audit, [groups.tail for groups in audit.test.values()])
    return compare_tails(tuple(audit.labels), inside @ inside.T)


def compare_tails(names: tuple[str, ...], both: npt.NDArray[Any]) -> ShortcutMatrix:
    """Figure 5b, from how many samples are in the OOD test sets of each two shortcuts."""
    return ShortcutMatrix(names, both / np.maximum(np.diag(both)[None, :], 1))


def _build_membership(audit: ShortcutAudit, sets: list[Rows]) -> npt.NDArray[np.float64]:
    """[set, sample] 1 where the sample is in the set; float64 counts exactly and multiplies fast."""
    inside = np.zeros((len(sets), len(audit.samples)))
    for k, rows in enumerate(sets):
        inside[k, rows] = 1
    return inside


def find_strongest_groups(
    audit: ShortcutAudit, shortcut: str, most: int = 20, part: str = "train"
) -> tuple[StrongGroup, ...]:
    """The imbalanced groups that make the shortcut: by size × (1 − ê), then by number."""
    groups: AnswerGroups = {"train": audit.train, "val": audit.val, "test": audit.test}[part][shortcut]
    weight = np.where(groups.imbalanced, groups.size * (1 - groups.entropy), 0)
    order = [int(c) for c in np.argsort(-weight, kind="stable")[:most] if weight[c] > 0]
    answers = audit.samples.answers
    members = groups.labels.codes[groups.rows]
    found = []
    for concept in order:
        mine = members == concept
        counts = np.bincount(answers.codes[groups.rows[mine]], minlength=len(answers.values))
        top = int(counts.argmax())
        found.append(
            StrongGroup(
                concept=concept,
                name=groups.labels.name(concept),
                size=int(groups.size[concept]),
                classes=int(groups.classes[concept]),
                entropy=float(groups.entropy[concept]),
                answer=answers.values[top],
                share=float(counts[top] / groups.size[concept]),
                tail=int((groups.part[mine] == TAIL).sum()),
            )
        )
    return tuple(found)


def compute_distribution(audit: ShortcutAudit, shortcut: str, concept: int) -> AnswerDistribution:
    """How often the group has each answer in train, val, test and OOD test."""
    test = audit.test[shortcut]
    labels, answers = audit.labels[shortcut], audit.samples.answers
    mine = test.labels.codes[test.rows] == concept
    part = np.full(len(answers.values), BALANCED)
    part[answers.codes[test.rows[mine]]] = test.part[mine]

    def count_answers(rows: Rows) -> npt.NDArray[np.int64]:
        chosen = answers.codes[rows[labels.codes[rows] == concept]]
        return np.bincount(chosen, minlength=len(answers.values))

    train, val, tested, ood = (
        count_answers(rows) for rows in (audit.train[shortcut].rows, audit.val[shortcut].rows, test.rows, test.tail)
    )
    order = np.lexsort((np.arange(len(train)), -tested, -train))
    order = order[(train + val + tested)[order] > 0]
    return AnswerDistribution(
        shortcut=shortcut,
        name=labels.name(concept),
        answers=tuple(answers.values[k] for k in order.tolist()),
        train=train[order],
        val=val[order],
        test=tested[order],
        ood=ood[order],
        parts=tuple(PART_NAMES[k] for k in part[order].tolist()),
    )
