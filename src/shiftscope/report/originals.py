"""Originals: runs without the variants that stand beside the questions they were made from.

A generalization test asks both in one run; together they are no measure of the model on the data. Variants
whose originals were asked in another run are a test of their own, and stay.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .number import several
from .study import Run, Study


def originals(study: Study) -> Study:
    """The same runs, each without such variants."""
    return Study(tuple(_without(run) for run in study.runs))


def told(study: Study) -> str:
    """How many variants were left out, as a sentence for a lead; nothing where there are none."""
    most = max((len(run.records) - len(_without(run).records) for run in study.runs), default=0)
    if not most:
        return ""
    return f" The {several(most, 'variant')} of these questions that a test asked besides do not count here."


def _without(run: Run) -> Run:
    questions = run.records.question.listed()
    asked = frozenset(questions)
    pairs = zip(run.records.twin.listed(), questions, strict=True)
    # A twin in a dataset of its own may have the name of its original, which then is not in this run.
    beside = np.array([twin is not None and twin in asked and twin != q for twin, q in pairs], np.bool_)
    if not beside.any():
        return run
    whole = run.log.questions
    log = replace(run.log, questions=None if whole is None else whole - int(beside.sum()))
    seeds = tuple(_without(one) for one in run.seeds)
    return replace(run, log=log, records=run.records.take(~beside), seeds=seeds)
