"""Findings: which targets a study reaches and which of the paper's findings hold, each with its rule."""

import re

from ...metrics.transfer_matrix import TransferMatrix
from ...suites.study import FAILS
from ..number_format import MINUS
from ..page import Section
from ..study_page import describe_scale
from ..table import Table

PLACES = {"study": 10}
MINUS_SIGN = re.compile(r"(?<!\w)-(?=\d)")  # a minus before a figure, but for that of an exponent


def section(matrix: TransferMatrix) -> Section | None:
    tables = []
    verdict = "verdict (trial, no evidence)" if (trial := describe_scale(matrix)) else "verdict"
    for title, findings in matrix.study.check_findings(matrix):
        rows = [(f.says, f.rule, f.verdict, MINUS_SIGN.sub(MINUS, f.figures)) for f in findings]
        note = matrix.study.notes.get(title, "")
        tables.append(Table(title, ("", "rule", verdict, "measured"), rows, note, loud="" if trial else FAILS))
    return Section("Targets and findings", tables, "Each line states the rule it is decided by.") if tables else None
