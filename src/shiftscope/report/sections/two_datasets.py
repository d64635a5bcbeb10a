"""Two data sets: the same models in domain on the suite's and on another's, as Figure 3 of Super-CLEVR's paper."""

from ...metrics.transfer_matrix import TransferMatrix
from ...suites.study import load_study
from ...suites.verdicts import measure_gap
from ..number_format import DASH, format_points
from ..page import Section
from ..study_page import DIGITS, format_figure
from ..table import Table

PLACES = {"study": 15}


def section(matrix: TransferMatrix) -> Section | None:
    return Section("Two data sets", [compare_datasets(matrix)]) if matrix.study.beside else None


def compare_datasets(matrix: TransferMatrix) -> Table:
    """Model by model, the accuracy on both; where one is not measured there is no difference."""
    study, other = matrix.study, load_study(matrix.study.beside)
    rows = []
    for model in study.planned:
        gap, beside = measure_gap(matrix, model), matrix.beside
        difference = DASH
        if gap:
            ends = (format_points(end, DIGITS) for end in (gap.low, gap.high))
            difference = f"{format_points(gap.value, DIGITS)} ({' to '.join(ends)})"
        scores = matrix.find_in_domain(model), beside.find_in_domain(model) if beside else None
        rows.append((model, *map(format_figure, scores), difference))
    heads = ("model", f"{study.dataset}, measured", f"{other.dataset}, measured", "difference, points")
    title = f"Figure 3, in domain on {study.dataset} and on {other.dataset}, accuracy in %"
    return Table(title, heads, tuple(rows), study.notes.get("beside", ""))
