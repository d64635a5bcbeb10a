"""Method: how the figures of an audit come about, in short, and where the definitions are from."""

from __future__ import annotations

from collections.abc import Iterator

from ...metrics._resample import REPLICATES
from ..markup import tag
from ..number import percent
from ..section import Section
from .evidence import Evidence


def section(shown: Evidence) -> Section | None:
    notes = [(tag("dt", name), tag("dd", said)) for name, said in _notes(shown)]
    return Section("How it was made", tag("dl", notes, class_="method"))


def _notes(shown: Evidence) -> Iterator[tuple[str, str]]:
    settings = shown.audit.settings
    if shown.audit.split.made:
        train, val = settings.shares
        yield (
            "Split",
            f"All samples are merged and drawn anew: {percent(train, 0)}% train, {percent(val, 0)}% val, the "
            f"rest IID test (seed {settings.seed}). An image may have questions in several parts.",
        )
    else:
        yield "Split", "Train, val and test are those of the files."
    yield (
        "Concepts",
        "QT is the question’s type. KW is the word of the question, outside the type, that shares most "
        "information with the sample’s answer (eq. 6): the one with the largest f(w, a) / f(w), counting a "
        "repeated word once. KWP are the first two. KO and KOP are the same over the kinds of objects in the "
        "image. The others are put together of these. Where nothing is left, the concept is none. Note that "
        "the answer is used to find the concept.",
    )
    yield (
        "Imbalanced",
        "The entropy of a group’s answers (eq. 7) over the logarithm of how many answers it has; below "
        f"{settings.imbalanced:g} the group is imbalanced. A group with one answer never is.",
    )
    yield (
        "Head and tail",
        f"In an imbalanced group an answer is rare if it has fewer than {settings.rare:g} times the mean "
        "number of samples of its answers. Rare answers are the tail, the others the head; train, val and "
        "test each by their own counts. The OOD test set is the union of the test’s tails.",
    )
    yield (
        "Evenness E",
        "The mean normalised entropy of the train groups, each weighed by its samples (eq. 8). Shortcuts are "
        "ranked by it: the lower, the stronger.",
    )
    yield (
        "Guess",
        "For every concept its commonest answer in train; for a concept that train lacks, train’s commonest. "
        "Right means equal to the one answer of the sample. The blind model prior makes the same guess for "
        "QT; its accuracy is higher where several annotators are asked.",
    )
    yield (
        "Strongest groups",
        "Imbalanced train groups by samples × (1 − normalised entropy).",
    )
    if shown.blind:
        yield (
            "Blind models",
            "Accuracy as the files allow: an answer that one, two, three of several annotators gave counts a "
            "third, two thirds, whole; with one answer only, equality.",
        )
    yield (
        "Intervals",
        f"95%, from {REPLICATES:,} draws of whole images with replacement: questions about one image rise "
        "and fall together. The training itself is not repeated, so that its chance is not in them.",
    )
    yield (
        "Where it is from",
        "Definitions: Si et al., Language Prior Is Not the Only Shortcut: A Benchmark for Shortcut Learning "
        "in VQA, Findings of EMNLP 2022 (VQA-VS); heads and tails after Kervadec et al., Roses Are Red, "
        "Violets Are Blue… But Should VQA Expect Them To?, CVPR 2021 (GQA-OOD). Equation, table and "
        "figure numbers are those of VQA-VS.",
    )
