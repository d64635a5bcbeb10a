"""How large a drop `shiftscope compare --fail-below` flags at which budget, and how often it flags what is not there.

    python -m benchmarks.compare_power [--replicates 700]       prints the page docs/results/budgets.md
    python -m benchmarks.compare_power --measure A B [A B …]    how far two real models part, by folders of runs
    python -m benchmarks.compare_power --resample A B [A B …]   what is flagged where their scenes are drawn again

A simulated comparison has the structure of Super-CLEVR's test split: 20 questions per image, of 15 types. The first
model is right on 80%. The second loses some of its right answers and gains as many of its wrong ones (*churn*); a
planted drop adds to what is lost. Right answers, losses and gains differ from scene to scene by beta distributions,
so that two questions of a scene go together as in real runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from shiftscope.metrics.intervals import FEW_SCENES, SceneClusters
from shiftscope.rng import derive
from shiftscope.run.compare import FEWEST, POWER_FACTOR, SURE, find_detectable_drop, measure_change, settle_changes
from shiftscope.run.paired_runs import find_runs, pair_sides, read_side

from .table import table

ACCURACY = 0.8
CORRELATION = 0.04  # of two questions of a scene: in being right, in being lost, in being gained
PER_SCENE = 20
CHURN = 0.10  # share of questions that only one of two equally good models is right on
CHURNS = (0.05, 0.10, 0.20)
BUDGETS = (1_000, 2_000, 3_000, 5_000, 10_000, 20_000)  # questions
RECOMMENDED = 5_000
FACTORS = 5
CHUNK = 1_000_000  # simulated questions at a time
CLEAR = 0.1  # of the significance level: a p-value below that by the normal distribution is below it by any
KEY = 10  # times as many comparisons where the recommendation rests on them
CHECKED = 10  # comparisons of each scenario that go through the command's functions as a whole
# Questions of each type among 800 of the test split (make superclevr --images 240): count, exist, query_color, …
TYPES = (168, 97, 61, 59, 58, 57, 53, 52, 36, 35, 32, 31, 30, 16, 15)
ANSWERS = (0, 1, 2, 2, 2, 2, 1, 1, 2, 2, 1, 1, 1, 1, 1)  # of each type: number, yes or no, word
HEAD = """\
<!-- made by `python -m benchmarks.compare_power`; edit the source, not this page -->
# Budgets

How many questions `shiftscope compare A B --fail-below T` needs to flag a drop. **Recommended: 5,000 questions**, 20
per image: under the assumptions below, a drop of 2 points is then flagged with `--fail-below 0` in at least 90% of
comparisons, and without a drop nothing is flagged in at least 95%. With `--fail-below -2` the drop must be a little
over 2 points larger, since what is flagged is a drop that surely exceeds the threshold.

Simulated comparisons have the structure of Super-CLEVR's test split: 20 questions per image, of 15 types, which the
command also looks at one by one. Model A is right on 80% of the questions. On 10% only one of A and B is right, as
often the one as the other (*churn*); a planted drop of d points makes B wrong on a further d% of all questions, on
which A is right, spread over all types. Two questions about one image go together with a correlation of 0.04, in being
right, in being lost and in being gained.
"""
BUDGETS_NOTE = """
## Budgets against detectable drops

With `--fail-below 0`; with a threshold, add its size and a little more, since larger drops vary more. *False alarms*:
flagged without a drop. The *detectable drop*, in points, is flagged in 9 of 10 comparisons, by formula; in brackets,
how often it was in {replicates:,} simulated comparisons. The further columns change one thing: the churn, the number of
questions per image, or the drop is in one of five factors only, which has a fifth of the questions and images of its
own (simulated for 5,000 and 10,000 questions: flagged in 91% and 93% of 600 comparisons).
"""
REAL_HEADS = ("A", "B", "variant", "questions", "A %", "B %", "lost %", "gained %", "correlation: right", "change")
REAL_NOTE = """
Where these assumptions come from: shipped models on variants of Super-CLEVR, about 40 images each
(`python -m benchmarks.compare_power --measure A B`, measured on 2026-11-17). Lost: only A is right; gained: only B. The
correlation is that of two questions about one image, in A being right and in the change; its mean over the pairs is
{mean}, and {simulated} in the simulation.

The churn of 10% is an assumption: these models differ in accuracy, and disagree on 8 to 19% of the questions; twice the
share lost, which is what would remain were they equally good, is 3 to 7%. Twins of several factors share their images,
which counts for less than as many images of their own. For your runs, the last line that `compare` prints tells
the drop that would be sure."""
REAL = """\
nsvqa p_nsvqa default 800 74.9 85.5 1.4 12.0 0.032 0.007
nsvqa p_nsvqa easy 400 91.8 96.5 1.5 6.2 0.186 0.113
nsvqa p_nsvqa hard 800 63.0 78.9 1.5 17.4 0.043 -0.014
nsvqa p_nsvqa rd+ 800 72.6 83.5 2.8 13.6 0.066 0.030
nsvqa p_nsvqa rd- 800 74.6 85.5 1.5 12.4 0.034 0.016
nsvqa p_nsvqa slt 800 77.1 84.5 2.2 9.6 0.007 0.012
nsvqa p_nsvqa tail 800 73.4 82.4 3.4 12.4 0.004 -0.006
nsvqa p_nsvqa co-1 800 73.6 84.5 2.0 12.9 0.022 0.021
p_nsvqa p_nsvqa_exact default 800 85.5 89.6 2.9 7.0 0.020 0.001
p_nsvqa p_nsvqa_exact hard 800 78.9 87.0 3.1 11.2 0.030 0.033
"""
RESAMPLED_HEADS = ("A", "B", "variant", "exchanged by", "disagree %", "false alarms %", "2 points flagged %")
RESAMPLED_NOTE = """
## Real answers drawn again

The same without a model of the answers: 250 images of a real pair are drawn with replacement, the two models'
answers are exchanged at random, image by image or question by question, so that both are equally good, and 2% of all
questions that B has right are made wrong (`--resample A B`, 700 comparisons each, on 2026-11-17). To exchange whole
images of models that are far apart makes the questions of an image go together more than in two versions of one model:
those rows are pessimistic, and show that 5,000 questions are too few where images differ so much.
"""
RESAMPLED = """\
p_nsvqa p_nsvqa_exact default image 9.9 4.1 97.9
p_nsvqa p_nsvqa_exact default question 9.9 2.9 99.4
p_nsvqa p_nsvqa_exact hard image 14.4 3.6 66.6
p_nsvqa p_nsvqa_exact hard question 14.4 4.4 94.4
nsvqa p_nsvqa default image 13.4 3.7 77.3
nsvqa p_nsvqa default question 13.4 4.6 97.4
"""

Bools = npt.NDArray[np.bool_]
Array = npt.NDArray[np.float32]


class Scenario(NamedTuple):
    """What is planted, and what is asked of it."""

    budget: int = RECOMMENDED
    drop: float = 0.0  # share of all questions; of those of one factor where `factor`
    threshold: float = 0.0
    churn: float = CHURN
    per_scene: int = PER_SCENE
    factor: bool = False  # five factors with images of their own, and the drop in one of them

    @property
    def scenes(self) -> int:
        return self.budget // self.per_scene


class Outcome(NamedTuple):
    """How often a scenario is flagged; and how often the command's own functions said the same, where asked."""

    flagged: float
    agreed: int
    checked: int


def draw_changes(scenario: Scenario, replicates: int, seed: int) -> tuple[Bools, npt.NDArray[np.int8]]:
    """Whether A is right, and the change to B (−1 lost, 1 gained): [comparison, scene, question]."""
    draw = derive("compare_power", *map(str, scenario), seed)
    size = (replicates, scenario.scenes, 1)
    whole = (replicates, scenario.scenes, scenario.per_scene)

    def draw_rates(mean: npt.NDArray[np.float64] | float) -> Array:
        weight = 1 / CORRELATION - 1
        return draw.beta(np.asarray(mean) * weight, (1 - np.asarray(mean)) * weight, size).astype(np.float32)

    drop = np.full((1, scenario.scenes, 1), scenario.drop)
    if scenario.factor:
        drop[:, np.arange(scenario.scenes) % FACTORS > 0] = 0.0
    right = draw.random(whole, np.float32) < draw_rates(ACCURACY)
    lost = draw_rates((scenario.churn / 2 + drop) / ACCURACY)
    gained = draw_rates(scenario.churn / 2 / (1 - ACCURACY))
    turned = draw.random(whole, np.float32) < np.where(right, lost, gained)
    return right, np.where(turned, np.where(right, -1, 1), 0).astype(np.int8)


def list_slices(scenario: Scenario) -> list[Bools]:
    """The slices of a run, and its factors where there are several, that are large enough: [scene, question]."""
    shape = (scenario.scenes, scenario.per_scene)
    shares = np.array(TYPES) / sum(TYPES)
    kind = derive("compare_power", "types", scenario.budget).choice(len(TYPES), shape, p=shares)
    part = derive("compare_power", "about", scenario.budget).random(shape) < 0.5
    slices = [kind == k for k in range(len(TYPES))] + [np.array(ANSWERS)[kind] == k for k in range(3)] + [part, ~part]
    if scenario.factor:
        of = np.broadcast_to(np.arange(scenario.scenes)[:, None] % FACTORS, shape)
        slices += [of == k for k in range(FACTORS)]
    return [one for one in slices if one.sum() >= FEWEST and one.any(axis=1).sum() >= FEW_SCENES]


def simulate(scenario: Scenario, replicates: int, check: int = 0) -> Outcome:
    """By the command's rule; the first `check` comparisons go through its own functions as a whole, too."""
    rows = [np.ones((scenario.scenes, scenario.per_scene), bool), *list_slices(scenario)]
    masks = np.stack(rows, axis=2).astype(np.float32)  # [scene, question, row]
    flagged = agreed = checked = 0
    step = max(1, CHUNK // scenario.budget)
    for start in range(0, replicates, step):
        right, change = draw_changes(scenario, min(step, replicates - start), start)
        beyond = change.astype(np.float32) - np.float32(scenario.threshold)
        sums = np.matmul(beyond.transpose(1, 0, 2), masks)  # [scene, comparison, row]
        with np.errstate(invalid="ignore", divide="ignore"):
            p = ndtr(sums.sum(axis=0) / np.sqrt((sums**2).sum(axis=0)))
        for k in range(len(change)):
            fails = judge_comparison(right[k], change[k], rows, p[k], scenario.threshold)
            flagged += fails
            if start == 0 and k < check:
                checked += 1
                agreed += fails == judge_in_full(right[k], change[k], rows, scenario.threshold)
    return Outcome(flagged / replicates, agreed, checked)


def measure_row(right: Bools, change: npt.NDArray[np.int8], row: Bools, group: str, threshold: float) -> object:
    first = right[row].astype(np.float64)
    scenes = np.broadcast_to(np.arange(len(row))[:, None], row.shape)[row]
    return measure_change(group, "", first, first + change[row], SceneClusters(scenes), threshold)


def judge_comparison(
    right: Bools, change: npt.NDArray[np.int8], rows: Sequence[Bools], p: Sequence[float], threshold: float
) -> bool:
    """Whether the exit code is 1; where the normal distribution leaves a doubt, as the command measures it."""
    slices = len(rows) - 1
    if p[0] < CLEAR * SURE or min(p[1:]) * slices < CLEAR * SURE:
        return True
    if p[0] < SURE / CLEAR**0.5:
        one = measure_row(right, change, rows[0], "overall", threshold)
        if one.p_drop < SURE and one.high < threshold:
            return True
    measured = []
    for k in np.flatnonzero(np.asarray(p[1:]) < SURE / CLEAR**0.5 / slices).tolist():
        one = measure_row(right, change, rows[k + 1], "slice", threshold)
        measured.append((one.p_drop, one.high))
    for place, (chance, high) in enumerate(sorted(measured)):
        if chance * (slices - place) >= SURE:
            break
        if high < threshold:
            return True
    return False


def judge_in_full(right: Bools, change: npt.NDArray[np.int8], rows: Sequence[Bools], threshold: float) -> bool:
    groups = ["overall", *["slice"] * (len(rows) - 1)]
    measured = [measure_row(right, change, row, group, threshold) for row, group in zip(rows, groups, strict=True)]
    return any(one.fails for one in settle_changes(measured, threshold))


def estimate_correlation(values: npt.NDArray[np.float64], scene: npt.NDArray[np.int64]) -> float:
    """Of the values of two questions about one scene, from the variance of the scenes' sums."""
    off = values - values.mean()
    sums, sizes = np.bincount(scene, off), np.bincount(scene)
    inside = (off**2).sum() * len(sizes) / max(len(sizes) - 1, 1)
    pairs = (sizes * (sizes - 1.0)).sum()
    return float(((sums**2).sum() * len(sizes) / max(len(sizes) - 1, 1) - inside) / (pairs * off.var()))


def find_detectable(scenario: Scenario, correlation: float, rows: int = 1) -> float:
    """The drop that is sure in 9 of 10 comparisons beyond a threshold of 0, by the normal distribution.

    `rows` are those that Holm corrects for, where it is a factor's.
    """
    questions = scenario.budget / (FACTORS if scenario.factor else 1)
    design = 1 + (scenario.per_scene - 1) * correlation
    errors = POWER_FACTOR if rows == 1 else -float(ndtri(SURE / rows) + ndtri(0.1))
    return find_detectable_drop(scenario.churn, design, questions, errors=errors)


def measure_pairs(places: Sequence[str]) -> Iterator[list[str]]:
    """Each pair of runs: how far the two part, and how far the questions of a scene go together."""
    for first, second in zip(places[::2], places[1::2], strict=True):
        one, two = read_side(find_runs(first)), read_side(find_runs(second))
        pairs = pair_sides(one, two, (first, second)).pairs
        factors = np.array(pairs.list_factors(), object)
        for factor in dict.fromkeys(factors.tolist()):
            kept = pairs.select(factors == factor)
            scene = np.unique(np.concatenate([part.cluster.to_list() for part in kept.parts]), return_inverse=True)[1]
            change = kept.second - kept.first
            shares = (kept.first.mean(), kept.second.mean(), (change < 0).mean(), (change > 0).mean())
            together = (estimate_correlation(kept.first, scene), estimate_correlation(change, scene))
            models = (str(side[0].spec["model"]) for side in (one, two))
            yield [
                *models,
                factor,
                str(len(kept)),
                *(f"{100 * share:.1f}" for share in shares),
                *(f"{c:.3f}" for c in together),
            ]


def resample_pairs(places: Sequence[str], replicates: int) -> Iterator[list[str]]:
    """Scenes of real pairs, drawn again to the recommended budget; the two are made equally good by exchanging them."""
    for first, second in zip(places[::2], places[1::2], strict=True):
        one, two = read_side(find_runs(first)), read_side(find_runs(second))
        pairs = pair_sides(one, two, (first, second)).pairs
        names = np.concatenate([part.cluster.to_list() for part in pairs.parts])
        order = np.argsort(names, kind="stable")
        shape = (len(np.unique(names)), -1)  # scenes have as many questions each
        kinds = np.array(pairs.list_values("kind"))[order].reshape(shape)
        sides = [values[order].reshape(shape) > 0 for values in (pairs.first, pairs.second)]
        for exchanged in ("image", "question"):
            found = [_resample_pair(sides, kinds, exchanged == "image", drop, replicates) for drop in (0.0, 0.02)]
            models = [str(side[0].spec["model"]) for side in (one, two)]
            shares = (float((sides[0] != sides[1]).mean()), *found)
            yield [*models, pairs.factors[0], exchanged, *(f"{100 * share:.1f}" for share in shares)]


def _resample_pair(
    sides: Sequence[Bools], kinds: npt.NDArray[np.str_], by_scene: bool, drop: float, replicates: int
) -> float:
    """How often `--fail-below 0` flags it."""
    draw = derive("compare_power", "resample", int(by_scene), str(drop))
    flagged = 0
    for _ in range(replicates):
        at = draw.integers(0, len(kinds), RECOMMENDED // PER_SCENE)
        one, two, kind = sides[0][at], sides[1][at], kinds[at]
        swap = draw.random((len(at), 1 if by_scene else kind.shape[1])) < 0.5
        one, two = np.where(swap, two, one), np.where(swap, one, two)
        two &= draw.random(two.shape) >= drop / two.mean()
        rows = [np.ones(kind.shape, bool), *(kind == name for name in np.unique(kind))]
        rows = [row for row in rows if row.sum() >= FEWEST and row.any(axis=1).sum() >= FEW_SCENES]
        change = two.astype(np.int8) - one.astype(np.int8)
        sums = np.stack([(change * row).sum(axis=1) for row in rows], axis=1)
        p = ndtr(sums.sum(axis=0) / np.sqrt(np.maximum((sums**2).sum(axis=0), 1e-12)))
        flagged += judge_comparison(one, change, rows, p, 0.0)
    return flagged / replicates


def print_page(replicates: int) -> None:
    print(HEAD)
    _, change = draw_changes(Scenario(budget=20_000), 20, 0)
    scene = np.repeat(np.arange(change[..., 0].size), PER_SCENE)
    correlation = estimate_correlation(change.ravel().astype(np.float64), scene)
    print_budgets(replicates, correlation, print_rule(replicates))
    real = [line.split() for line in REAL.strip().splitlines()]
    mean = np.mean([float(row[-1]) for row in real])
    table(REAL_NOTE.format(mean=f"{mean:.3f}", simulated=f"{correlation:.3f}").strip(), REAL_HEADS, real)
    table(RESAMPLED_NOTE.strip(), RESAMPLED_HEADS, [line.split() for line in RESAMPLED.strip().splitlines()])


def print_rule(replicates: int) -> dict[float, float]:
    """What is flagged at the recommended budget; returned is the share by the drop, where the threshold is 0."""
    rows, agreed, checked, shares = [], 0, 0, {}
    for threshold, drop, wanted in (
        *((t, 0.0, "≤ 5%") for t in (0.0, -0.01, -0.02)),
        *((0.0, drop, wanted) for drop, wanted in ((0.01, ""), (0.02, "≥ 90%"), (0.03, ""))),
        *((-0.01, drop, wanted) for drop, wanted in ((0.01, "≤ 5%"), (0.02, ""), (0.03, ""), (0.035, "≥ 90%"))),
        *((-0.02, drop, wanted) for drop, wanted in ((0.02, "≤ 5%"), (0.03, ""), (0.04, ""), (0.045, "≥ 90%"))),
    ):
        number = replicates * (KEY if threshold == 0 and wanted else 1)
        made = simulate(Scenario(drop=drop, threshold=threshold), number, CHECKED)
        agreed, checked = agreed + made.agreed, checked + made.checked
        shares |= {drop: made.flagged} if threshold == 0 else {}
        error = 100 * (made.flagged * (1 - made.flagged) / number) ** 0.5
        flagged = f"{100 * made.flagged:.1f}% ± {error:.1f}"
        rows.append([f"`{100 * threshold:g}`", f"{100 * drop:g}", f"{number:,}", flagged, wanted])
    title = f"## What is flagged with {RECOMMENDED:,} questions\n\nOf simulated comparisons, ± the standard error."
    table(title, ("--fail-below", "planted drop, points", "comparisons", "flagged", "wanted"), rows)
    print(f"\nThe simulation and the command's own functions agree on {agreed} of {checked} comparisons.")
    return shares


def print_budgets(replicates: int, correlation: float, known: dict[float, float]) -> None:
    """Budgets against what they detect; `known` are the shares that the recommended one flags, by the drop."""
    rows = []
    for budget in BUDGETS:
        none, planted = (
            known[drop] if budget == RECOMMENDED else simulate(Scenario(budget, drop), replicates).flagged
            for drop in (0.0, 0.02)
        )
        whole = Scenario(budget)
        factor = whole._replace(factor=True)
        least = find_detectable(whole, correlation)
        found = simulate(whole._replace(drop=round(least, 4)), replicates).flagged
        slices = len(list_slices(factor))
        other = [whole._replace(churn=c) for c in CHURNS if c != CHURN] + [whole._replace(per_scene=k) for k in (5, 1)]
        cells = [f"{100 * find_detectable(one, correlation):.1f}" for one in other]
        cells.append(f"{100 * find_detectable(factor, correlation, slices):.1f}")
        shares = (f"{100 * share:.1f}%" for share in (none, planted))
        rows.append([f"{budget:,}", *shares, f"{100 * least:.1f} ({100 * found:.0f}%)", *cells])
    heads = (
        "questions",
        "false alarms",
        "2 points flagged",
        "detectable drop",
        *(f"churn {c:.0%}" for c in CHURNS if c != CHURN),
    )
    table(
        BUDGETS_NOTE.format(replicates=replicates).strip(), (*heads, "5 per image", "1 per image", "one factor"), rows
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--replicates", type=int, default=700)
    options.add_argument("--measure", nargs="+", metavar="RUNS")
    options.add_argument("--resample", nargs="+", metavar="RUNS")
    given = options.parse_args()
    if given.measure:
        table("", REAL_HEADS, list(measure_pairs(given.measure)))
    elif given.resample:
        table("", RESAMPLED_HEADS, list(resample_pairs(given.resample, given.replicates)))
    else:
        print_page(given.replicates)


if __name__ == "__main__":
    main()
