"""How often 95% intervals cover the truth, in simulated runs of few and many scenes.

    python -m benchmarks.coverage [--replicates 500] [--scenes 10 20 50 100 200] [--kind beta copied probit]

A simulated run has scenes whose chance of a right answer differs so that two answers to one scene have the
correlation given. *beta*: the chances are beta distributed; *copied*: some answers of a scene copy one that
they have in common, so that a few scenes go all wrong; *probit*: a normal latent variable. Drops are those of
a second model that gets some right answers wrong and some wrong ones right, scene by scene more or less.
A point that seems to be covered in less than 93% is measured anew in ten times as many runs: of a thousand
points, the lowest of few runs is low by chance.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np
from scipy.optimize import brentq
from scipy.stats import multivariate_normal, norm

from shiftscope.metrics.intervals import FEW_SCENES, SceneClusters
from shiftscope.rng import derive

from .table import table

ACCURACIES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
CORRELATIONS = (0.0, 0.05, 0.1, 0.2, 0.5)
SIZES = ("1", "2", "5", "20", "50", "1-50", "few large")  # questions a scene
SCENES = (2, 3, 5, 8, 10, 20, 50, 100, 200)
WANTED = 0.93
KINDS = ("beta", "copied", "probit")
LOST, GAINED = (0.01, 0.05, 0.2), (0.0, 0.01, 0.05, 0.2)  # shares of answers that a second model changes


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--replicates", type=int, default=500)
    options.add_argument("--scenes", type=int, nargs="+", default=SCENES)
    options.add_argument("--kind", nargs="+", choices=KINDS, default=KINDS)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    print(
        f"accuracies {ACCURACIES}, correlations {CORRELATIONS}, questions per scene {', '.join(SIZES)}; "
        f"{given.replicates:,} runs per point, a fifth of that for drops; "
        "ten times as many where coverage seems below 93%"
    )
    rows = []
    for kind, scenes in product(given.kind, given.scenes):
        found = list(shares(kind, scenes, given.replicates, given.seed))
        rows.append([kind, scenes, *summary(found), "too few scenes" if scenes < FEW_SCENES else ""])
    table("An accuracy", ("kind", "scenes", "mean", "lowest", "at", "width", ""), rows)
    rows = [
        [scenes, *summary(list(drops(scenes, given.replicates, given.seed)))]
        for scenes in given.scenes
        if scenes >= FEW_SCENES
    ]
    table("A paired drop", ("scenes", "mean", "lowest", "at", "width"), rows)


Point = tuple[float, float, str]  # how often it covers, the width, where


def summary(points: list[Point]) -> list[str]:
    covered, _, where = min(points)
    mean, width = (float(np.mean([p[k] for p in points])) for k in (0, 1))
    return [f"{100 * mean:.1f}%", f"{100 * covered:.1f}%", where, f"{100 * width:.1f}"]


def measured(point: Callable[[int, int], Point], runs: int, seed: int) -> Point:
    """A point, in more runs where it seems low."""
    found = point(runs, seed)
    return found if found[0] >= WANTED else point(10 * runs, seed + 1)


def shares(kind: str, scenes: int, replicates: int, seed: int) -> Iterator[Point]:
    """Every point of the grid."""
    for at in product(ACCURACIES, CORRELATIONS, SIZES):
        yield measured(partial(share, kind, scenes, *at), replicates, seed)


def share(kind: str, scenes: int, accuracy: float, correlation: float, size: str, replicates: int, seed: int) -> Point:
    random = derive("coverage", kind, scenes, str(accuracy), str(correlation), size, seed)
    asked = sizes(random, size, (replicates, scenes))
    right = random.binomial(asked, chances(random, kind, accuracy, correlation, asked.shape))
    where = np.repeat(np.arange(replicates), scenes)
    made = SceneClusters(np.tile(np.arange(scenes), replicates)).estimate_shares(
        right.ravel(), asked.ravel(), where, replicates
    )
    good = (made.low <= accuracy + 1e-12) & (made.high >= accuracy - 1e-12)
    name = f"accuracy {accuracy}, correlation {correlation}, {size} questions"
    return float(good.mean()), float((made.high - made.low).mean()), name


def sizes(random: np.random.Generator, size: str, shape: tuple[int, int]) -> np.ndarray:
    if size == "1-50":
        return np.clip(np.exp(random.normal(1.5, 1.2, shape)).astype(int), 1, 50)
    if size == "few large":
        return random.choice((1, 2, 5, 10, 20, 50), shape, p=(0.3, 0.2, 0.2, 0.15, 0.1, 0.05))
    return np.full(shape, int(size))


def chances(
    random: np.random.Generator, kind: str, accuracy: float, correlation: float, shape: tuple[int, int]
) -> np.ndarray:
    """The chance of a right answer in each scene."""
    if correlation == 0:
        return np.full(shape, accuracy)
    if kind == "beta":
        size = 1 / correlation - 1
        return random.beta(accuracy * size, (1 - accuracy) * size, shape)
    if kind == "copied":
        copied = correlation**0.5
        return copied * (random.random(shape) < accuracy) + (1 - copied) * accuracy
    latent = latent_correlation(accuracy, correlation)
    drawn = random.normal(size=shape)
    return norm.cdf((norm.ppf(accuracy) - latent**0.5 * drawn) / (1 - latent) ** 0.5)


def latent_correlation(accuracy: float, correlation: float) -> float:
    """That of the normal variables whose signs are so correlated."""
    at = norm.ppf(accuracy)

    def off(latent: float) -> float:
        both = multivariate_normal.cdf([at, at], cov=[[1, latent], [latent, 1]])
        return float((both - accuracy**2) / (accuracy * (1 - accuracy)) - correlation)

    return float(brentq(off, 0, 0.999))


def drops(scenes: int, replicates: int, seed: int) -> Iterator[Point]:
    """What a second model loses, against the true loss; fewer runs, since each is measured apart."""
    for at in product(LOST, GAINED, (0.0, 0.1, 0.3), (1, 5, 20)):
        yield measured(partial(drop, scenes, *at), max(1, replicates // 5), seed)


def drop(scenes: int, lost: float, gained: float, correlation: float, size: int, runs: int, seed: int) -> Point:
    random = derive("coverage", "drop", scenes, str(lost), str(gained), str(correlation), size, seed)
    covered, width = 0, 0.0
    scene = np.repeat(np.arange(scenes), size)
    for _ in range(runs):
        down, up = (
            chances(random, "beta", one, correlation, (scenes, 1)).repeat(size) if one else np.zeros(len(scene))
            for one in (lost, gained)
        )
        fate = random.random(len(scene))
        change = (fate < down).astype(float) - (fate > 1 - up)
        made = SceneClusters(scene).estimate_difference(np.maximum(change, 0), np.maximum(-change, 0))
        covered += made.low <= lost - gained <= made.high
        width += made.high - made.low
    name = f"lost {lost}, gained {gained}, correlation {correlation}, {size} questions"
    return covered / runs, width / runs, name


if __name__ == "__main__":
    main()
