"""Does a diagnosis agree with a study? `python -m tools.check_diagnosis DIAGNOSIS CELLS [--data-version N]`.

Sets the drops of `shiftscope diagnose MODEL --out DIAGNOSIS` beside those of the study's entries of the same model,
trained on the default, in CELLS (docs/results/cells, or what `shiftscope study superclevr --cells CELLS` wrote). The
study's drop is over objects and parts in the shares that the diagnosis asks about. They agree, and the exit code is 0,
where both put the same factor first and the study's drop of it lies within the diagnosis's interval. A diagnosis
spreads the answers within each type of question, which a study does not: where rare answers are harder, its accuracies
are a little lower.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from shiftscope.errors import UserError
from shiftscope.metrics.transfer_matrix import TransferMatrix
from shiftscope.report.drops import find_shifts
from shiftscope.report.runs import ReportRun, ReportRuns, read_runs
from shiftscope.report.verdict import FactorDrop, find_verdict
from shiftscope.run.paired_runs import find_runs
from shiftscope.run.study.entry_store import EntryStore, build_transfer_matrix, list_scales

ABOUT = {"object": "objects", "part": "parts"}  # a study's groups of questions → the fact of a run's


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("diagnosis")
    parser.add_argument("cells", type=Path)
    parser.add_argument("--data-version", type=int, help="of the study's data, where they are not today's")
    given = parser.parse_args(argv)
    report = read_runs(find_runs(given.diagnosis))
    verdict = find_verdict(report, *report.contenders)
    records = EntryStore(given.cells).read_records()
    scales = list_scales(records)
    if not scales:
        raise UserError(f"{given.cells}: no entries there")
    matrix = build_transfer_matrix(records, scales[0], given.data_version)
    model = str(report.runs[0].spec["model"]).partition(":")[0]
    studied = {f: drop for f in verdict.factors if (drop := measure_study_drop(matrix, model, report, f)) is not None}
    if not studied:
        raise UserError(f"{given.cells}: no entries of {model} trained on default; is --data-version right?")
    row = "{:<28} {:<6} {:>26} {:>7}  {}".format
    print(row(f"{model}, points", "level", "diagnosis", "study", "within the interval"))
    for one, drop in sorted(studied.items(), key=lambda pair: -pair[0].drop):
        ends = "" if one.low is None or one.high is None else f" ({100 * one.low:+.1f} to {100 * one.high:+.1f})"
        inside = "yes" if lies_within(drop, one) else "NO"
        print(row(one.factor, one.to, f"{100 * one.drop:+.1f}{ends}", f"{100 * drop:+.1f}", inside))
    first, theirs = (max(studied, key=key) for key in (lambda one: one.drop, lambda one: studied[one]))
    agree = first.factor == theirs.factor and lies_within(studied[first], first)
    print(f"first: {first.factor} here, {theirs.factor} in the study; {'they agree' if agree else 'they do NOT agree'}")
    return 0 if agree else 1


def measure_study_drop(matrix: TransferMatrix, model: str, report: ReportRuns, one: FactorDrop) -> float | None:
    """What the level costs in the study, over the questions that the diagnosis's drop is over; None without entries."""
    tests = {domain.label: domain for _, domain in matrix.study.pairs}
    trained, _ = matrix.study.default
    shift = next((s for s in find_shifts(report) if (s.base.test, s.to) == (one.base, one.to)), None)
    if shift is None or one.to not in tests:
        return None
    shares = count_groups(shift.shifted if shift.twins else shift.base)
    total = 0.0
    for group, share in shares.items():
        scores = [matrix.find_score(model, trained, tests[name], group) for name in (one.base, one.to)]
        if scores[0] is None or scores[1] is None or scores[0].value is None or scores[1].value is None:
            return None
        total += share * (scores[0].value - scores[1].value)
    return total


def count_groups(run: ReportRun) -> Mapping[str, float]:
    """The share of each group of questions in a run."""
    about = dict(run.records.facts)["about"]
    shares = {group: float(np.mean(about.equals(word))) for group, word in ABOUT.items()}
    return {group: share for group, share in shares.items() if share}


def lies_within(drop: float, one: FactorDrop) -> bool:
    return one.low is not None and one.high is not None and one.low <= drop <= one.high


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UserError as error:
        sys.exit(f"error: {error}")
