"""Matrix: which models a study trains and what it asks them, factor by factor.

A training is a scene parser (of a variant, at a visual level, from a seed) and a question parser (of a level
of redundancy). The default stands for mid, rd, bal and co-0, so that it is trained and tested once for all
factors. The question parser learns from the default's questions at its level; the variants of redundancy
share the default's scene parser.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...errors import UserError, unknown
from ...metrics.relative_degrade import VARIANTS
from ...suites._superclevr_variants import DEFAULT, MID, RD, variant_named
from ...suites.superclevr import Order
from .scale import Scale

EXACT = "p_nsvqa_exact"  # the one that depends on calibration and relations learned, and attunes its parser
MODELS = ("nsvqa", "p_nsvqa", EXACT)
FACTORS = tuple(VARIANTS)
LEVELS = VARIANTS["redundancy"]
VISUAL = (MID, "hard")  # at which the variants of a factor but visual complexity can be seen
TESTS = {**VARIANTS, "distribution": ("bal", "slt", "long", "head", "tail", "oppo")}
SEEDS = (0, 1, 2)  # of the default's training; all else is of the first


@dataclass(frozen=True, slots=True, order=True)
class Domain:
    """Data that is trained on or asked about: a variant, and the visual level it is seen at."""

    variant: str = DEFAULT
    visual: str = MID

    @property
    def label(self) -> str:
        plain = self.visual == MID or self.variant == self.visual or self.variant == "easy"
        return self.variant if plain else f"{self.variant}@{self.visual}"

    def order(self, scale: Scale) -> Order:
        """The data, as `make` would be asked for it."""
        return Order(
            variant=self.variant,
            visual=self.visual,
            images=scale.images,
            size=scale.size,
            questions=scale.questions,
            part_questions=scale.part_questions,
            shard=scale.shard,
        )

    def to_json(self) -> dict[str, Any]:
        return {"variant": self.variant, "visual": self.visual}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Domain:
        return cls.of(data["variant"], data["visual"])

    @classmethod
    def of(cls, name: str, visual: str = MID) -> Domain:
        """A variant as a factor names it: bal at the visual level hard is the variant hard."""
        order = Order.named(name, visual if variant_named(name).factor != "visual" else "")
        return cls(order.variant, order.visual)


@dataclass(frozen=True, slots=True, order=True)
class Trained:
    """What the two parsers of a model learned from."""

    scenes: Domain = Domain()
    questions: str = RD
    seed: int = 0

    @property
    def label(self) -> str:
        level = "" if self.questions == RD else f" {self.questions}"
        return f"{self.scenes.label}{level}{f' seed {self.seed}' if self.seed else ''}"

    def to_json(self) -> dict[str, Any]:
        return {**self.scenes.to_json(), "questions": self.questions, "seed": self.seed}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Trained:
        if data["questions"] not in LEVELS:
            raise unknown("level of redundancy", data["questions"], LEVELS)
        return cls(Domain.from_json(data), data["questions"], int(data["seed"]))

    @classmethod
    def of(cls, name: str, visual: str = MID) -> Trained:
        """A training as a factor names it: rd- is the default's scenes with rd- questions."""
        if name in LEVELS:
            return cls(Domain.of(DEFAULT, visual), name)
        return cls(Domain.of(name, visual))


@dataclass(frozen=True, slots=True)
class Grid:
    """One factor's part of the matrix: trainings are rows, tests columns, each by its name there."""

    factor: str
    visual: str
    trained: tuple[tuple[str, Trained], ...]
    tested: tuple[tuple[str, Domain], ...]

    @property
    def title(self) -> str:
        return self.factor if self.visual == MID else f"{self.factor}, seen {self.visual}"


def grid(factor: str, visual: str = MID) -> Grid:
    """The grid of a factor; visual complexity has one only."""
    if factor not in VARIANTS:
        raise unknown("factor", factor, VARIANTS)
    if visual not in VISUAL:
        raise unknown("visual level of a study", visual, VISUAL)
    if factor == "visual":
        visual = MID
    return Grid(
        factor,
        visual,
        tuple((name, Trained.of(name, visual)) for name in VARIANTS[factor]),
        tuple((name, Domain.of(name, visual)) for name in TESTS[factor]),
    )


def every_grid() -> list[Grid]:
    """Those the results page has: each factor as the default is seen, and the distribution seen hard too."""
    return [*(grid(factor) for factor in FACTORS), grid("distribution", "hard")]


@dataclass(frozen=True, slots=True)
class Row:
    """One training and all that it is asked about."""

    trained: Trained
    tests: tuple[Domain, ...]


def plan(
    factors: Sequence[str] = FACTORS,
    visual: str = MID,
    *,
    seeds: Sequence[int] = (0,),
    only: Collection[str] = (),
) -> list[Row]:
    """The trainings of these factors with their tests, the default first; rows that share scenes together.

    `only` names the trainings wanted, as their factors do; other seeds are of the default, asked in its own
    domain.
    """
    found: dict[Trained, dict[Domain, None]] = {}
    names: dict[str, Trained] = {}
    for factor in factors:
        one = grid(factor, visual)
        for name, trained in one.trained:
            names[name] = trained
            found.setdefault(trained, {}).update((tested, None) for _, tested in one.tested)
    known = {*names, *(t.scenes.variant for t in found)}
    for name in only:
        if name not in known:
            raise unknown("training", name, known, "the factors chosen")
    for seed in seeds:
        if seed < 0:
            raise UserError(f"a seed is 0 or more, not {seed}")
        if seed:
            found.setdefault(Trained(seed=seed), {})[Domain()] = None
    wanted = {names[n] for n in only if n in names}
    wanted |= {t for t in found if t.scenes.variant in only and t.questions == RD}
    rows = [Row(t, tuple(tests)) for t, tests in found.items() if not only or replace(t, seed=0) in wanted]
    return sorted(rows, key=_place)


def _place(row: Row) -> tuple[Any, ...]:
    """The default first, and of each scene parser the usual questions first."""
    trained = row.trained
    return trained.scenes != Domain(), trained.scenes, trained.seed, trained.questions != RD


def scene_parsers(rows: Sequence[Row]) -> Iterator[tuple[Domain, int, list[Row]]]:
    """The rows by the scene parser they share: what it learned from, its seed, and its rows."""
    shared: dict[tuple[Domain, int], list[Row]] = {}
    for row in rows:
        shared.setdefault((row.trained.scenes, row.trained.seed), []).append(row)
    for (scenes, seed), own in shared.items():
        yield scenes, seed, own
