"""Calibration: beliefs made to mean what they say, by a few numbers fitted on validation scenes.

A temperature for each attribute of objects and of parts, and Platt scaling (a slope and an offset on the log
odds) of what exists; each minimises the negative log likelihood of the truth. Beside them is kept how often
each value occurred there, for who sees scenes in which that is different.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..scenetable import ABSENT, SceneTable, Terms
from ..schema import Schema
from ._optimize import optimize
from .arrays import Array, namespace
from .beliefs import Beliefs
from .matching import Match

LEAST = 1e-7  # probabilities are kept this far from 0 and 1 before they are logged
COOLEST, WARMEST = 0.05, 20.0  # temperatures looked at
RARE = 0.5  # added to how often each value occurred, so that no share is 0
PAIRS_NEEDED = 10  # fewer things than this teach nothing: the belief stays as it is

Platt = tuple[float, float]  # slope and offset of the log odds
DOING = "calibrating"


@dataclass(frozen=True, slots=True)
class Calibration:
    """What to do to beliefs; made of ones and zeros it does nothing. Shares are not applied, only kept."""

    temperatures: tuple[float, ...]  # for each attribute of the schema
    part_temperatures: tuple[float, ...]
    exists: Platt = (1.0, 0.0)
    part_exists: Platt = (1.0, 0.0)
    shares: tuple[tuple[float, ...], ...] = ()  # for each attribute, of its values; none: not known
    part_shares: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        warm = (*self.temperatures, *self.part_temperatures)
        every = (*warm, *self.exists, *self.part_exists)
        if not all(map(isfinite, every)) or min(warm, default=1.0) <= 0:
            raise UserError("a calibration is made of finite numbers, and its temperatures are above 0")
        for values in (*self.shares, *self.part_shares):
            if not (all(0 < share <= 1 for share in values) and abs(sum(values) - 1) < 1e-6):
                raise UserError("the shares of a calibration are above 0 and add up to 1")

    @classmethod
    def none(cls, schema: Schema) -> Calibration:
        return cls((1.0,) * len(schema.attributes), (1.0,) * len(schema.part_attributes))

    @classmethod
    def fit(cls, beliefs: Beliefs, truth: SceneTable, match: Match) -> Calibration:
        """The numbers under which the truth of the validation scenes is likeliest."""
        known = beliefs.numpy()
        codes = _true_codes(truth.codes, truth.start, match.objects)
        part_codes = _true_codes(truth.part_codes, truth.part_start, match.parts)
        terms, part_terms = Terms.of(known.schema.attributes), Terms.of(known.schema.part_attributes)
        return cls(
            _temperatures(known.attributes, codes, terms),
            _temperatures(known.part_attributes, part_codes, part_terms),
            _platt(known.exists, match.objects >= 0),
            _platt(known.part_exists, match.parts >= 0),
            _shares(truth.codes, terms),
            _shares(truth.part_codes, part_terms),
        )

    def fits(self, schema: Schema) -> bool:
        """Whether it has a temperature for each attribute, and no more; if shares, one for each value."""
        mine = len(self.temperatures), len(self.part_temperatures)
        both = (self.shares, schema.attributes), (self.part_shares, schema.part_attributes)
        whole = all(not s or [*map(len, s)] == [len(a.values) for a in listed] for s, listed in both)
        return whole and mine == (len(schema.attributes), len(schema.part_attributes))

    def apply(self, beliefs: Beliefs) -> Beliefs:
        """Calibrated beliefs."""
        return replace(
            beliefs,
            exists=_scaled(beliefs.exists, self.exists),
            part_exists=_scaled(beliefs.part_exists, self.part_exists),
            attributes=_tempered(beliefs.attributes, self.temperatures),
            part_attributes=_tempered(beliefs.part_attributes, self.part_temperatures),
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "temperatures": list(self.temperatures),
            "part_temperatures": list(self.part_temperatures),
            "exists": list(self.exists),
            "part_exists": list(self.part_exists),
            "shares": [list(values) for values in self.shares],
            "part_shares": [list(values) for values in self.part_shares],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Calibration:
        slope, offset = map(float, data["exists"])
        part_slope, part_offset = map(float, data["part_exists"])
        return cls(
            tuple(map(float, data["temperatures"])),
            tuple(map(float, data["part_temperatures"])),
            (slope, offset),
            (part_slope, part_offset),
            tuple(tuple(map(float, values)) for values in data.get("shares", ())),
            tuple(tuple(map(float, values)) for values in data.get("part_shares", ())),
        )


def _true_codes(
    codes: NDArray[np.int16], start: NDArray[np.int64], match: NDArray[np.int64]
) -> NDArray[np.int16]:
    """[scene, thing, attribute] the true values of matched things; ABSENT for the others."""
    found = np.full((*match.shape, codes.shape[1]), ABSENT, np.int16)
    scene, thing = np.nonzero(match >= 0)
    found[scene, thing] = codes[start[scene] + match[scene, thing]]
    return found


def _shares(codes: NDArray[np.int16], terms: Terms) -> tuple[tuple[float, ...], ...]:
    """How often each value occurs, from codes [thing, attribute]; not known where few have an attribute."""
    found = []
    for attribute, first, column in zip(terms.attributes, terms.first, codes.T.astype(np.int64), strict=True):
        given = column[column != ABSENT] - first
        if len(given) < PAIRS_NEEDED:
            return ()
        counts = np.bincount(given, minlength=len(attribute.values)) + RARE
        found.append(tuple((counts / counts.sum()).tolist()))
    return tuple(found)


def _temperatures(
    attributes: tuple[NDArray[np.float32], ...], codes: NDArray[np.int16], terms: Terms
) -> tuple[float, ...]:
    minimize_scalar = optimize(DOING).minimize_scalar
    found = []
    for column, (p, first) in enumerate(zip(attributes, terms.first, strict=True)):
        given = codes[:, :, column] != ABSENT
        values = codes[given][:, column].astype(np.int64) - first
        if len(values) < PAIRS_NEEDED:
            found.append(1.0)
            continue
        loss = _loss(np.log(np.clip(p[given].astype(np.float64), LEAST, 1)), values)
        best = minimize_scalar(loss, bounds=(np.log(COOLEST), np.log(WARMEST)), method="bounded")
        found.append(float(np.exp(best.x)) if best.fun < loss(0.0) else 1.0)
    return tuple(found)


def _loss(logs: NDArray[np.float64], values: NDArray[np.int64]) -> Callable[[float], float]:
    """Of the logarithm of a temperature: how unlikely the true values are, from [thing, value] logarithms."""
    most, true = logs.max(1), logs[np.arange(len(values)), values]
    room = np.empty_like(logs)  # arrays of this size, made anew at each look, take longer than what is done

    def loss(log_t: float) -> float:
        temperature = np.exp(log_t)
        top = most / temperature
        np.subtract(np.divide(logs, temperature, out=room), top[:, None], out=room)
        total = np.log(np.exp(room, out=room).sum(1)) + top
        return float((total - true / temperature).mean())

    return loss


def _platt(exists: NDArray[np.float32], true: NDArray[np.bool_]) -> Platt:
    """Slope and offset of the log odds; rows that stand for nothing teach nothing."""
    rows = exists > 0
    label = true[rows].astype(np.float64)
    if len(label) < PAIRS_NEEDED or label.min() == label.max():
        return 1.0, 0.0
    p = np.clip(exists[rows].astype(np.float64), LEAST, 1 - LEAST)
    odds = np.log(p / (1 - p))

    def loss(theta: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        z = np.exp(theta[0]) * odds + theta[1]  # a slope above 0: the order stays
        slip = 1 / (1 + np.exp(-z)) - label
        value = float((np.logaddexp(0, z) - label * z).mean()) + 1e-6 * float(theta @ theta)
        gradient = np.array([(slip * odds).mean() * np.exp(theta[0]), slip.mean()])
        return value, gradient + 2e-6 * theta

    bounds = [(np.log(1 / WARMEST), np.log(WARMEST)), (-20.0, 20.0)]
    best = optimize(DOING).minimize(loss, np.zeros(2), jac=True, method="L-BFGS-B", bounds=bounds)
    return float(np.exp(best.x[0])), float(best.x[1])


def _scaled(exists: Array, platt: Platt) -> Array:
    """What has no chance at all keeps none."""
    slope, offset = platt
    if (slope, offset) == (1.0, 0.0):
        return exists
    xp = namespace(exists)
    p = exists.clip(LEAST, 1 - LEAST)
    odds = slope * xp.log(p / (1 - p)) + offset
    return xp.where(exists > 0, 1 / (1 + xp.exp(-odds)), xp.zeros_like(exists))


def _tempered(attributes: tuple[Array, ...], temperatures: tuple[float, ...]) -> tuple[Array, ...]:
    found = []
    for p, temperature in zip(attributes, temperatures, strict=True):
        xp = namespace(p)
        if temperature == 1.0:
            found.append(p)
            continue
        warm = p ** (1 / temperature)
        total = warm.sum(-1)[..., None]
        found.append(warm / xp.where(total > 0, total, xp.ones_like(total)))
    return tuple(found)
