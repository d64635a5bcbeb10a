"""Method: how the numbers on the page come about."""

from collections.abc import Iterator

import numpy as np

from ...metrics.bootstrap import REPLICATES
from ...metrics.calibration import BINS
from ...metrics.intervals import FEW_SCENES
from ...metrics.transfer_matrix import TransferMatrix
from ...suites import describe_verification
from ..audit_page import AuditEvidence
from ..examples import has_dataset
from ..markup import render_terms
from ..measure import describe_metric, has_statistics_extra
from ..number_format import MINUS, format_percent
from ..page import Section
from ..runs import ReportRuns
from ..table import Table
from .findings import MINUS_SIGN
from .worst_slices import FEWEST, FEWEST_SCENES

PLACES = {"report": 85, "audit": 80, "study": 80}


def section(records: ReportRuns | AuditEvidence | TransferMatrix) -> Section | None:
    if isinstance(records, TransferMatrix):
        tables = []
        if differences := records.study.list_differences(records):
            rows = [tuple(MINUS_SIGN.sub(MINUS, cell) for cell in row) for row in differences]
            tables.append(Table("Differences from the paper", ("", "the paper", "here"), rows))
        if records.left_out:
            tables.append(Table("Left out", ("record", "why"), records.left_out))
        return Section("Differences from the paper", tables) if tables else None
    notes = _list_audit_notes(records) if isinstance(records, AuditEvidence) else _list_notes(records)
    return Section("Method", [render_terms(notes)])


def _list_notes(study: ReportRuns) -> Iterator[tuple[str, str]]:
    yield (
        describe_metric(study),
        "Over all questions of the run whose answer is known. Where ten people answered, it is VQA accuracy, "
        "agreement with them; else the share of answers that are the true one, however spelled: yes and true, 3 and "
        "the number 3 are the same. A response that is missing, failed, unparseable or undefined is not right, and is "
        "also counted apart. A run with missing or failed responses is not ranked.",
    )
    yield (
        "Intervals",
        "95%, over scenes, because questions about one scene rise and fall together: a beta interval at the effective "
        "number of answers, with room for half a scene that went the other way, so that few scenes give a wide "
        f"interval; below {FEW_SCENES} it says too few scenes. Differences combine such intervals. Relative Degrade "
        f"and calibration errors are resampled, {REPLICATES:,} draws of whole scenes, and widened by Student's t. A "
        "figure is written with ± the longer side, or with both ends where they differ much.",
    )
    yield from _describe_selection(study)
    if not has_statistics_extra():
        yield (
            "Significance",
            "Not tested: the libraries for it are not installed (pip install 'shiftscope[stats]'), so "
            "that no mark is shown.",
        )
    elif len(study.contenders) > 1 or len(study.tests) > 1:
        yield (
            "Significance",
            "On the same questions, or on twins: how often so large a difference comes about if the two "
            "answers to each scene are exchanged at random (a permutation test by scene, two-sided, mid-p), "
            "corrected by Holm's method over all comparisons of a table.",
        )
        yield (
            "Detectable drop",
            "The smallest true drop that a second test of the same size would find significant four times in "
            "five, given how much the questions of a scene go together.",
        )
    yield (
        "Worst slices",
        f"Every slice by one fact or two with at least {FEWEST} questions over {FEWEST_SCENES} scenes, against the "
        "rest, with errors that take scenes together; Holm-corrected over all slices searched. Numbers are "
        "cut into ranges of like size first.",
    )
    seeded = [r for r in study.runs if r.seeds]
    if seeded:
        listed = ", ".join(f"{r.contender} on {r.test} ({len(r.seeds)})" for r in seeded)
        yield (
            "Seeds",
            f"{listed}: the accuracy is the mean over seeds, with Student's interval over them. By question type and "
            "in the curves the rows of all seeds are taken together; twins, conditions, confidences and single "
            "examples are of the first seed. Seeds are tested neither against each other nor against other models.",
        )
    yield from _describe_graph_checks(study)
    unseen = dict.fromkeys(r.test for r in study.runs if r.data is None or not has_dataset(r.data))
    if unseen:
        yield (
            "Images left out",
            f"{', '.join(unseen)}: the dataset is gone from where the runs found it, or another is there "
            "now; say where it is with --data.",
        )
    unfinished = [r for r in study.each if not r.log.finished]
    if unfinished:
        listed = ", ".join(f"{r.contender} on {r.test}" for r in unfinished)
        yield (
            "Unfinished runs",
            f"{listed}: what is not there yet counts as missing, and so as wrong; it is in no slice.",
        )
    if any(np.isfinite(r.records.confidence).any() for r in study.runs):
        yield (
            "Calibration error",
            f"Answers are put into {BINS} bins by the model's confidence in them; the error is the mean "
            "distance between confidence and accuracy, weighted by bin. It is never negative, and so overstates "
            "with few answers.",
        )


def _describe_graph_checks(study: ReportRuns) -> Iterator[tuple[str, str]]:
    """Whether what scene graphs may lack was looked for, of each dataset made from graphs."""
    found = {
        r.test: text for r in study.runs if r.data and has_dataset(r.data) and (text := describe_verification(r.data))
    }
    for text in dict.fromkeys(found.values()):
        tests = ", ".join(test for test, same in found.items() if same == text)
        yield "Incomplete scene graphs", f"{tests}: {text}"


def _describe_selection(study: ReportRuns) -> Iterator[tuple[str, str]]:
    """Which runs were chosen among several, and whether that was fair to the figures here."""
    for run in study.runs:
        chosen = run.selection
        if chosen.get("on_ood"):
            yield (
                f"{run.contender} was chosen on out-of-distribution data",
                f"It was the best of {len(chosen.get('chosen_from', ()))} on split {chosen.get('split')!r}, "
                "by a flag: its figures on that data are no fair test.",
            )
        elif chosen:
            yield (
                f"{run.contender} was chosen on validation data",
                f"It was the best of {len(chosen.get('chosen_from', ()))} on split {chosen.get('split')!r}.",
            )


def _list_audit_notes(shown: AuditEvidence) -> Iterator[tuple[str, str]]:
    settings = shown.audit.settings
    if shown.audit.split.made:
        train, val = settings.shares
        yield (
            "Split",
            f"All samples are merged and drawn anew: {format_percent(train, 0)}% train, {format_percent(val, 0)}% val, "
            f"the rest IID test (seed {settings.seed}). An image may have questions in several parts.",
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
        "The mean normalised entropy of the train groups, each weighted by its samples (eq. 8). Shortcuts are "
        "ranked by it: the lower, the stronger.",
    )
    yield (
        "Guess",
        "For every concept its commonest answer in train; for a concept that train lacks, train’s commonest. "
        "Right means equal to the one answer of the sample. The blind model prior makes the same guess for "
        "QT; its accuracy is higher where several annotators answered.",
    )
    yield ("Strongest groups", "Imbalanced train groups by samples × (1 − normalised entropy).")
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
        "Definitions: Si et al., Language Prior Is Not the Only Shortcut: A Benchmark for Shortcut Learning in VQA, "
        "Findings of EMNLP 2022 (VQA-VS); heads and tails after Kervadec et al., Roses Are Red, Violets Are Blue… But "
        "Should VQA Expect Them To?, CVPR 2021 (GQA-OOD). Equation, table and figure numbers are those of VQA-VS.",
    )
