"""How often a 95% interval over scenes and few seeds misses: `python -m benchmarks.few_seeds`.

Figures are normal, seeds have variance 1, scenes the variance of a row. "joined" is Welch and Satterthwaite's interval,
"widest" that of `metrics.intervals.widen_side`, never shorter than that of the seeds alone.
"""

import numpy as np
from scipy import stats

from shiftscope.metrics.intervals import widen_side

TURNS, SCENES = 200_000, 400.0
CHECKED = 200  # intervals by `widen_side` itself, which takes one at a time


def main() -> None:
    random = np.random.default_rng(0)
    print("seeds  scenes  comparisons   joined   widest   nominal")
    for seeds in (2, 3, 4):
        for scenes in (0.01, 0.05, 0.1, 0.3, 1.0, 3.0):
            for comparisons in (1, 9):
                joined, widest = _count_misses(random, seeds, scenes, comparisons)
                nominal = 0.05 / comparisons
                print(f"{seeds:5d}  {scenes:6.2f}  {comparisons:11d}   {joined:.4f}   {widest:.4f}   {nominal:.4f}")


def _count_misses(random: np.random.Generator, seeds: int, scenes: float, comparisons: int) -> tuple[float, float]:
    values = random.normal(size=(TURNS, seeds))
    own, other = values.var(1, ddof=1) / seeds, scenes / seeds  # variances of the mean
    off = np.abs(values.mean(1) + random.normal(size=TURNS) * other**0.5)
    both = own + other
    tail = 1 - 0.025 / comparisons
    joined = stats.t.ppf(tail, both**2 / (own**2 / (seeds - 1) + other**2 / SCENES)) * both**0.5
    alone = stats.t.ppf(tail, seeds - 1) * own**0.5
    widest = np.maximum(np.maximum(joined, alone), stats.t.ppf(tail, SCENES) * other**0.5)
    side = 1.959964 * other**0.5
    ours = [widen_side(side, [(float(v), seeds - 1.0)], SCENES, comparisons) for v in own[:CHECKED]]
    assert np.allclose(ours, widest[:CHECKED], rtol=1e-4)
    return float(np.mean(off > joined)), float(np.mean(off > widest))


if __name__ == "__main__":
    main()
