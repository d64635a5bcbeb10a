"""Toy cells for the tests of studies: answers written out, nothing measured."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shiftscope.metrics.calibration import Reliability
from shiftscope.metrics.transfer_matrix import EntryOutcome
from shiftscope.run.study.entries import (
    ORACLES,
    EntryOrigin,
    OracleDiagnosis,
    StudyTestId,
    TrainingRecord,
    TransferEntry,
)
from shiftscope.run.study.entry_store import hash_test_data, hash_train_data
from shiftscope.suites.study import Contender
from shiftscope.suites.superclevr.study import StudyDomain, StudyScale, TrainingSetup, factor_grid

DEFAULT, HOME = TrainingSetup(), StudyDomain()
FAMILY, SYMBOLIC = "neuro_symbolic", ("nsvqa", "p_nsvqa", "p_nsvqa_referent", "p_nsvqa_exact")
TOY = StudyScale("toy", 60, (96, 64), questions=2, part_questions=1, shard=10)  # 10 images are tested


def origin(trained=DEFAULT, weights="w", made="2026-11-15T00:00:00Z", scale=TOY, recipe="r", reader="", **rest):
    # The variants of redundancy have the scene parser of the default; all rows the question parser of a level.
    read = f"{reader}{trained.questions}"
    files = (("scene_parser", f"{weights} of {trained.scenes.label}"), ("question_parser", read))
    data = hash_train_data("superclevr", trained, scale, FAMILY)
    return EntryOrigin("superclevr", FAMILY, scale, trained, files, data, recipe, "cpu", "0", made, **rest)


def asked(tested=HOME, questions="q", scale=TOY, split="test"):
    return StudyTestId(tested, hash_test_data(tested, scale), f"{questions} of {tested.label}", split)


def first(right, of=20):
    """The first so many answers are right."""
    return np.arange(of) < right


def cell(right, trained=DEFAULT, tested=HOME, model="p_nsvqa", questions="q", split="test", under=(), **rest):
    """`right` of 20 object questions, the first ones, or a mask of them; half of 10 part questions.

    `under` are positions and adaptation, where these are not the usual ones.
    """
    hits = first(right) if isinstance(right, int) else np.asarray(right, bool)
    objects = EntryOutcome.from_arrays(hits, np.full(10, 2), confidence=np.where(hits, 0.9, 0.3))
    parts = EntryOutcome.from_arrays(first(5, 10), np.full(10, 1))
    both = (("object", objects), ("part", parts))
    test = asked(tested, questions, split=split)
    return TransferEntry(Contender(model, *under), origin(trained, **rest), test, both, SECONDS)


TOOK = (  # 7 minutes in all
    ("scene, data", 60.0),
    ("scene, scene", 190.0),
    ("scene, all", 260.0),
    ("questions, data", 40.0),
    ("questions, all", 160.0),
)
SECONDS = (("make", 9.0), ("see", 2.0), ("read", 3.0), ("execute", 1.0))
VISUAL = {  # right of 20: Relative Degrade is 0.25 + 0.5, 0 + 0, 0 + 0.5
    ("easy", "easy"): 16, ("easy", "mid"): 12, ("easy", "hard"): 8,
    ("mid", "easy"): 10, ("mid", "mid"): 10, ("mid", "hard"): 10,
    ("hard", "easy"): 10, ("hard", "mid"): 5, ("hard", "hard"): 10,
}  # fmt: skip


def factor(right, model="p_nsvqa", name="visual", visual="mid", **rest):
    """The cells of a factor, from how many are right by (trained on, asked about)."""
    one = factor_grid(name, visual)
    trained, tested = dict(one.trained), dict(one.tested)
    return [cell(n, trained[t], tested[at], model, **rest) for (t, at), n in right.items()]


def training(trained=DEFAULT, took=TOOK, device="cpu", **rest):
    came = replace(origin(trained, **rest), device=device)
    return TrainingRecord(came, took, (("color", 0.99), ("part_name", 0.9)), "shiftscope study …")


def diagnosis(given=ORACLES):
    oracles = tuple((m, "object", one, (15 + k, 20)) for m in SYMBOLIC for k, one in enumerate(given))
    seen = Reliability.from_confidences(np.array([0.95, 0.95, 0.1]), np.array([True, True, False]))
    return OracleDiagnosis(origin(), asked(), oracles, (("color", (90, 100)),), (("color", seen),))


def changed(record, **fields):
    """The record with another origin."""
    return replace(record, origin=replace(record.origin, **fields))
