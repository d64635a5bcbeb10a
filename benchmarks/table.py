"""How benchmarks time and print: the best of a few runs, one row a figure."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence


def best(work: Callable[[], object], runs: int = 3) -> float:
    """Seconds of the fastest run; the others had the machine's noise in them."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def row(what: str, measured: str, budget: str) -> None:
    print(f"{what:<58} {measured:>18}   budget {budget}", flush=True)


def table(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table in Markdown."""
    print(f"\n{title}\n\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for cells in rows:
        print(f"| {' | '.join(map(str, cells))} |", flush=True)
