"""Method: how the numbers on the page come about."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...metrics._interval import FEW_SCENES
from ...metrics._resample import REPLICATES
from ...metrics.calibration import BINS
from ...run.checked import told_of
from ..library import has_data
from ..markup import tag
from ..measure import metric_name, tests_available
from ..section import Section
from ..study import Study
from ..worst import FEWEST, SCENES

PLACE = 85


def section(study: Study) -> Section | None:
    notes = [(tag("dt", name), tag("dd", said)) for name, said in _notes(study)]
    return Section("How the numbers come about", tag("dl", notes, class_="method"))


def _notes(study: Study) -> Iterator[tuple[str, str]]:
    yield (
        metric_name(study),
        "Over all questions that were to be asked and whose answer is known. Where ten people answered, it "
        "is VQA accuracy, agreement with them; else the share of answers that are the true one, however "
        "spelled: yes and true, 3 and the number 3 are the same. A reply that is missing, failed, unreadable "
        "or undefined is not right, and is also counted apart. A run with missing or failed replies is not "
        "ranked.",
    )
    yield (
        "Intervals",
        "95%, over scenes, because questions about one scene rise and fall together: a beta interval at the "
        "effective number of answers, with room for half a scene that went the other way, so that few "
        f"scenes give a wide interval; below {FEW_SCENES} it says too few scenes. Differences combine such "
        f"intervals. Relative Degrade and calibration errors are resampled, {REPLICATES:,} draws of whole "
        "scenes, and widened by Student's t. A figure is written with ± the longer side, or with both ends "
        "where they differ much.",
    )
    yield from _selection(study)
    if not tests_available():
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
        f"Every slice by one fact or two with at least {FEWEST} questions over {SCENES} scenes, against the "
        "rest, with errors that take scenes together; Holm-corrected over all slices searched. Numbers are "
        "cut into ranges of like size first.",
    )
    seeded = [r for r in study.runs if r.seeds]
    if seeded:
        listed = ", ".join(f"{r.contender} on {r.test} ({len(r.seeds)})" for r in seeded)
        yield (
            "Seeds",
            f"{listed}: the accuracy is the mean over seeds, with Student's interval over them. By kind and "
            "in the curves the rows of all seeds are taken together; twins, conditions, beliefs and single "
            "examples are of the first seed. Seeds are tested neither against each other nor against other "
            "models.",
        )
    yield from _checked(study)
    unseen = dict.fromkeys(r.test for r in study.runs if r.data is None or not has_data(r.data))
    if unseen:
        yield (
            "Pictures left out",
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
    if any(np.isfinite(r.records.belief).any() for r in study.runs):
        yield (
            "Calibration error",
            f"Answers are put into {BINS} bins by the belief the model gave them; the error is the mean "
            "distance between belief and accuracy, weighed by bin. It is never negative, and so overstates "
            "with few answers.",
        )


def _checked(study: Study) -> Iterator[tuple[str, str]]:
    """Whether what scene graphs may lack was looked for, of each dataset made from graphs."""
    told = {r.test: said for r in study.runs if r.data and has_data(r.data) and (said := told_of(r.data))}
    for said in dict.fromkeys(told.values()):
        tests = ", ".join(test for test, same in told.items() if same == said)
        yield "Incomplete scene graphs", f"{tests}: {said}"


def _selection(study: Study) -> Iterator[tuple[str, str]]:
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
