"""Findings: which targets a study reaches and which of the paper's findings hold, each with its rule."""

from __future__ import annotations

from ...metrics.transfer_matrix import TransferMatrix
from ...suites.superclevr.findings import check_paper_findings, check_targets
from ..page import Section
from ..study_tables import OTHER_SPEEDS, findings_table

PLACES = {"study": 10}


def section(matrix: TransferMatrix) -> Section | None:
    tables = [
        findings_table("Targets", tuple(check_targets(matrix)), OTHER_SPEEDS),
        findings_table("The paper's findings", tuple(check_paper_findings(matrix))),
    ]
    return Section("Targets and findings", tables, "Each line states the rule it is decided by.")
