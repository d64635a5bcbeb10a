"""Findings: what Super-CLEVR's paper says of CLEVR and Super-CLEVR side by side (section 5.1, Figure 3)."""

from collections.abc import Iterator, Mapping, Sequence

from ...metrics.transfer_matrix import TransferMatrix
from ..study import FAILS, NOT_MEASURED, Finding
from ..verdicts import UNKNOWN, Ends, format_points, join_names, judge_gaps, measure_gap

SIMPLE = ("lstm", "cnn_lstm")  # of the paper's simple baselines, those that are trained
BETTER = ("film", "mdetr", "nscl", "nsvqa", "p_nsvqa")
HARDER = "For all models, accuracy is lower on Super-CLEVR than on CLEVR."
SMALLER = "The gap between the two is smaller for simple baselines than for the better models."


def check_paper_findings(matrix: TransferMatrix) -> Iterator[Finding]:
    gaps = {model: measure_gap(matrix, model) for model in (*SIMPLE, *BETTER)}
    known = {model: gap or UNKNOWN for model, gap in gaps.items()}
    yield _judge(
        HARDER,
        f"accuracy on CLEVR above that on Super-CLEVR: each of {join_names(tuple(gaps))}",
        gaps,
        [*known.values()],
    )
    yield _judge(
        SMALLER,
        f"accuracy on CLEVR less that on Super-CLEVR: each of {join_names(BETTER)} above each of {join_names(SIMPLE)}; "
        "the paper's Random and Majority, which nothing trains, are left out",
        gaps,
        [known[better] - known[simple] for better in BETTER for simple in SIMPLE],
    )


def _judge(says: str, rule: str, gaps: Mapping[str, Ends | None], differences: Sequence[Ends]) -> Finding:
    """What is not measured may be anything: one difference that is surely not so settles it before the rest is."""
    told = [f"{model} {format_points(gap.value, gap.low, gap.high)}" for model, gap in gaps.items() if gap]
    lacking = [model for model, gap in gaps.items() if gap is None]
    figures = ", ".join(told) + (f"; not measured: {', '.join(lacking)}" if told and lacking else "")
    verdict = judge_gaps(differences)
    return Finding(says, rule, NOT_MEASURED if lacking and verdict != FAILS else verdict, figures)
