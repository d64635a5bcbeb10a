"""A diagnosis beside the entries of a study."""

import pytest

from report_toys import asked, log, study
from shiftscope.report.verdict import find_verdict
from shiftscope.run.study.entry_store import build_transfer_matrix
from shiftscope.suites.superclevr.study import StudyDomain
from study_toys import TOY, cell
from tools.check_diagnosis import lies_within, measure_study_drop


def run(variant, right):
    """Of four questions per scene one is about parts; right about so many in ten."""
    rows = []
    for k in range(160):
        about = "parts" if k % 4 == 0 else "objects"
        q = asked(f"{k}{variant}", "yes", f"s{k // 4}", str(k) if variant else "", about=about)
        rows.append((q, "yes" if k % 10 < right else "no"))
    name = variant or "default"
    return log(rows, model="p_nsvqa", variant=name, data_id=name, lineage=(name, "default"))


def test_the_study_drop_is_over_objects_and_parts_as_the_diagnosis_asks_of_them():
    report = study(run("", 9), run("hard", 7))
    (one,) = find_verdict(report, "p_nsvqa").factors
    matrix = build_transfer_matrix([cell(18), cell(12, tested=StudyDomain("hard", "hard"))], TOY)
    drop = measure_study_drop(matrix, "p_nsvqa", report, one)
    assert drop == pytest.approx(0.75 * 6 / 20)  # as many parts are right in both
    assert lies_within(drop, one) and not lies_within(0.9, one)
    assert measure_study_drop(matrix, "nsvqa", report, one) is None
    assert measure_study_drop(build_transfer_matrix([cell(18)], TOY), "p_nsvqa", report, one) is None
