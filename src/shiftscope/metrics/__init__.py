"""Metrics, one file each: pure functions of the columns of a run, found by the names of their files.

A metric's file defines `measure(records, …) -> tuple[Score, …]`, whose further parameters are options: `by` (slices),
`form`, …. A metric that compares several runs has `measure_runs(*records) -> Score` instead, and `RUNS`: what each of
them is, and the condition it needs. It may also say

    DEFAULT_FOR        what it is measured for where the user names no metric: "answers", "annotators", "audit"
    LOWER_IS_BETTER    True for errors

Files that define neither function are no metrics, and not listed, but what metrics and reports are made of: `slices`
and `intervals` (shares with their intervals), `bootstrap`, `significance` (tests between runs), `transfer_matrix`.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..errors import UserError
from ..registry import METRICS
from ..result import Score


@dataclass(frozen=True, slots=True)
class Metric:
    """What `score`, `select` and reports need to know of a metric, read off its file."""

    name: str
    measure: Callable[..., tuple[Score, ...]] | None
    measure_runs: Callable[..., Score] | None
    runs: Mapping[str, str]  # what the runs are that it compares, and the condition that each needs, if any
    options: frozenset[str]
    lower_is_better: bool

    def require_measure(self) -> Callable[..., tuple[Score, ...]]:
        """The function of one run; a UserError where the metric compares several."""
        if self.measure is None:
            raise UserError(f"{self.name} compares several runs; see it with: shiftscope report RUN RUN … --out FILE")
        return self.measure


def load_metric(name: str) -> Metric:
    module = METRICS.load(name)
    measure = getattr(module, "measure", None)
    return Metric(
        name,
        measure,
        getattr(module, "measure_runs", None),
        getattr(module, "RUNS", {}),
        frozenset(inspect.signature(measure).parameters if measure else ()),
        getattr(module, "LOWER_IS_BETTER", False),
    )


def list_defaults(purpose: str) -> list[str]:
    """The metrics that are measured for this purpose where the user names none; imports nothing."""
    return METRICS.find_names(rf'^DEFAULT_FOR = "{purpose}"')
