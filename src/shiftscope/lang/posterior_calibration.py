"""What is fitted on validation scenes to correct a scene posterior.

Temperature per attribute and Platt scaling of existence (Calibration); the likelihood of left, right, front
and behind (SpatialLikelihood); label-shift correction of class priors from unlabelled test scenes (Saerens,
Latinne and Decaestecker, 2002).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..records import JsonRecord
from ..scene import RELATION_MARGIN
from ..scene_table import ABSENT, SceneTable, Terms
from ..schema import Schema
from .arrays import Array, get_namespace
from .scene_posterior import SceneMatch, ScenePosterior

# Label-shift correction, by expectation maximisation. The training priors count as some observations too.

PRIOR_STRENGTH = 4.0  # observations per value that the training priors count for
MAX_RATIO = 16.0  # largest change of a prior in either direction: rare values have unreliable posteriors
MAX_ITERATIONS, TOLERANCE = 200, 1e-6  # stops once no prior moves by more than the tolerance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def estimate_label_shift(probabilities: Floats, weights: Floats, learned: Floats) -> Floats:
    """[value] ratio of new to training prior; probabilities are [thing, value], weights [thing]."""
    counted = weights * (probabilities.sum(1) > 0)  # a thing without a value does not count
    before = PRIOR_STRENGTH * len(learned) * learned
    shares, odds = learned, np.ones_like(learned)
    for _ in range(MAX_ITERATIONS):
        new = (counted @ correct_prior(probabilities, odds) + before) / (counted.sum() + before.sum())
        moved = float(np.abs(new - shares).max())
        shares, odds = new, (new / learned).clip(1 / MAX_RATIO, MAX_RATIO)
        if moved < TOLERANCE:
            break
    return odds


def correct_prior(probabilities: Floats, odds: Floats) -> Floats:
    """Probabilities under changed priors; a distribution of zeros stays so."""
    made = probabilities * odds
    total = made.sum(-1, keepdims=True)
    return np.asarray(made / np.where(total > 0, total, 1.0))


def load_scipy_optimize(doing: str) -> Any:
    """scipy.optimize, which is an extra; where it is missing the error says what was being done."""
    try:
        return import_module("scipy.optimize")
    except ImportError as error:
        raise UserError(f"{doing} needs scipy: pip install 'shiftscope[models]'") from error


MIN_PROBABILITY = 1e-7  # probabilities are kept this far from 0 and 1 before they are logged
MIN_TEMPERATURE, MAX_TEMPERATURE = 0.05, 20.0  # temperatures looked at
RARE = 0.5  # added to how often each value occurred, so that no share is 0
PAIRS_NEEDED = 10  # with fewer things than this, confidences stay as they are

Platt = tuple[float, float]  # slope and offset of the log odds
DOING = "calibrating"


@dataclass(frozen=True, slots=True)
class Calibration(JsonRecord):
    """How to recalibrate a posterior; the identity is ones and zeros. Shares are kept here, not applied."""

    temperatures: tuple[float, ...]  # for each attribute of the schema
    part_temperatures: tuple[float, ...]
    exists: Platt
    part_exists: Platt
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
    def identity(cls, schema: Schema) -> "Calibration":
        return cls((1.0,) * len(schema.attributes), (1.0,) * len(schema.part_attributes), (1.0, 0.0), (1.0, 0.0))

    @classmethod
    def fit(cls, posterior: ScenePosterior, truth: SceneTable, match: SceneMatch) -> "Calibration":
        """The numbers under which the truth of the validation scenes is likeliest."""
        known = posterior.to_numpy()
        codes = _gather_true_codes(truth.codes, truth.start, match.objects)
        part_codes = _gather_true_codes(truth.part_codes, truth.part_start, match.parts)
        terms, part_terms = Terms.of(known.schema.attributes), Terms.of(known.schema.part_attributes)
        return cls(
            _fit_temperatures(known.attributes, codes, terms),
            _fit_temperatures(known.part_attributes, part_codes, part_terms),
            _fit_platt(known.exists, match.objects >= 0),
            _fit_platt(known.part_exists, match.parts >= 0),
            _compute_label_frequencies(truth.codes, terms),
            _compute_label_frequencies(truth.part_codes, part_terms),
        )

    def matches_schema(self, schema: Schema) -> bool:
        """Whether it has a temperature for each attribute, and no more; if shares, one for each value."""
        mine = len(self.temperatures), len(self.part_temperatures)
        both = (self.shares, schema.attributes), (self.part_shares, schema.part_attributes)
        whole = all(not s or [*map(len, s)] == [len(a.values) for a in listed] for s, listed in both)
        return whole and mine == (len(schema.attributes), len(schema.part_attributes))

    def apply(self, posterior: ScenePosterior) -> ScenePosterior:
        """The calibrated posterior."""
        return replace(
            posterior,
            exists=_apply_platt(posterior.exists, self.exists),
            part_exists=_apply_platt(posterior.part_exists, self.part_exists),
            attributes=_apply_temperatures(posterior.attributes, self.temperatures),
            part_attributes=_apply_temperatures(posterior.part_attributes, self.part_temperatures),
        )


def _gather_true_codes(codes: NDArray[np.int16], start: Ints, match: Ints) -> NDArray[np.int16]:
    """[scene, thing, attribute] the true values of matched things; ABSENT for the others."""
    found = np.full((*match.shape, codes.shape[1]), ABSENT, np.int16)
    scene, thing = np.nonzero(match >= 0)
    found[scene, thing] = codes[start[scene] + match[scene, thing]]
    return found


def _compute_label_frequencies(codes: NDArray[np.int16], terms: Terms) -> tuple[tuple[float, ...], ...]:
    """How often each value occurs, from codes [thing, attribute]; not known where few have an attribute."""
    found = []
    for attribute, first, column in zip(terms.attributes, terms.first, codes.T.astype(np.int64), strict=True):
        given = column[column != ABSENT] - first
        if len(given) < PAIRS_NEEDED:
            return ()
        counts = np.bincount(given, minlength=len(attribute.values)) + RARE
        found.append(tuple((counts / counts.sum()).tolist()))
    return tuple(found)


def _fit_temperatures(
    attributes: tuple[NDArray[np.float32], ...], codes: NDArray[np.int16], terms: Terms
) -> tuple[float, ...]:
    minimize_scalar = load_scipy_optimize(DOING).minimize_scalar
    found = []
    for column, (p, first) in enumerate(zip(attributes, terms.first, strict=True)):
        given = codes[:, :, column] != ABSENT
        values = codes[given][:, column].astype(np.int64) - first
        if len(values) < PAIRS_NEEDED:
            found.append(1.0)
            continue
        loss = _build_temperature_loss(np.log(np.clip(p[given].astype(np.float64), MIN_PROBABILITY, 1)), values)
        best = minimize_scalar(loss, bounds=(np.log(MIN_TEMPERATURE), np.log(MAX_TEMPERATURE)), method="bounded")
        found.append(float(np.exp(best.x)) if best.fun < loss(0.0) else 1.0)
    return tuple(found)


def _build_temperature_loss(logs: Floats, values: Ints) -> Callable[[float], float]:
    """Of the logarithm of a temperature: how unlikely the true values are, from [thing, value] logarithms."""
    most, true = logs.max(1), logs[np.arange(len(values)), values]
    room = np.empty_like(logs)  # arrays of this size, made anew at each look, take longer than what is done

    def compute_loss(log_t: float) -> float:
        temperature = np.exp(log_t)
        top = most / temperature
        np.subtract(np.divide(logs, temperature, out=room), top[:, None], out=room)
        total = np.log(np.exp(room, out=room).sum(1)) + top
        return float((total - true / temperature).mean())

    return compute_loss


def _fit_platt(exists: NDArray[np.float32], true: NDArray[np.bool_]) -> Platt:
    """Slope and offset of the log odds; rows that stand for nothing teach nothing."""
    rows = exists > 0
    label = true[rows].astype(np.float64)
    if len(label) < PAIRS_NEEDED or label.min() == label.max():
        return 1.0, 0.0
    p = np.clip(exists[rows].astype(np.float64), MIN_PROBABILITY, 1 - MIN_PROBABILITY)
    odds = np.log(p / (1 - p))

    def compute_loss(theta: Floats) -> tuple[float, Floats]:
        z = np.exp(theta[0]) * odds + theta[1]  # a slope above 0: the order stays
        slip = 1 / (1 + np.exp(-z)) - label
        value = float((np.logaddexp(0, z) - label * z).mean()) + 1e-6 * float(theta @ theta)
        gradient = np.array([(slip * odds).mean() * np.exp(theta[0]), slip.mean()])
        return value, gradient + 2e-6 * theta

    bounds = [(np.log(1 / MAX_TEMPERATURE), np.log(MAX_TEMPERATURE)), (-20.0, 20.0)]
    best = load_scipy_optimize(DOING).minimize(compute_loss, np.zeros(2), jac=True, method="L-BFGS-B", bounds=bounds)
    return float(np.exp(best.x[0])), float(best.x[1])


def _apply_platt(exists: Array, platt: Platt) -> Array:
    """What has no chance at all keeps none."""
    if platt == (1.0, 0.0):
        return exists
    slope, offset = platt
    xp = get_namespace(exists)
    p = exists.clip(MIN_PROBABILITY, 1 - MIN_PROBABILITY)
    odds = slope * xp.log(p / (1 - p)) + offset
    return xp.where(exists > 0, 1 / (1 + xp.exp(-odds)), xp.zeros_like(exists))


def _apply_temperatures(attributes: tuple[Array, ...], temperatures: tuple[float, ...]) -> tuple[Array, ...]:
    found = []
    for p, temperature in zip(attributes, temperatures, strict=True):
        xp = get_namespace(p)
        if temperature == 1.0:
            found.append(p)
            continue
        warm = p ** (1 / temperature)
        total = warm.sum(-1)[..., None]
        found.append(warm / xp.where(total > 0, total, xp.ones_like(total)))
    return tuple(found)


# Each object gets a score on two axes (right, front), linear in its place on the ground or in terms of its box. The
# probability that one is beyond another is a logistic of their difference less a margin; both are fitted to the
# true relations of validation scenes.

AXES = ("right", "front")  # and their opposites
PLACES, BOXES, CENTRES = "places", "boxes", "centres"  # the last: boxes, by their centres alone
FEATURES = {PLACES: 2, BOXES: 6}  # numbers that a score is linear in
CERTAIN_WEIGHT = 1e6  # weight at which a difference decides
MAX_WEIGHT = 500.0  # per world unit: finer differences are noise


@dataclass(frozen=True, slots=True)
class SpatialLikelihood(JsonRecord):
    """Learned weights: standing = weights · features, and the margin, on the scale of a logistic."""

    source: str  # "places" or "boxes": what the features are made of
    weights: tuple[tuple[float, ...], ...]  # [axis, feature]
    margins: tuple[float, ...]  # [axis]

    def __post_init__(self) -> None:
        if self.source not in FEATURES:
            raise UserError(f"relations are learned from places or boxes, not from {self.source!r}")
        wide = FEATURES[self.source]
        if len(self.margins) != len(AXES) or [len(w) for w in self.weights] != [wide] * len(AXES):
            raise UserError(f"relations by {self.source} have {len(AXES)} margins and {len(AXES)} × {wide} weights")
        if not np.isfinite([*self.margins, *(w for row in self.weights for w in row)]).all():
            raise UserError("the weights and margins of relations are finite numbers")

    def compute_probabilities(self, posterior: ScenePosterior) -> Floats:
        """[scene, axis, first, second] how surely the second is right of, or in front of, the first."""
        standing = np.einsum("sof,af->sao", compute_spatial_features(posterior, self.source), np.asarray(self.weights))
        ahead = standing[:, :, None, :] - standing[:, :, :, None]
        found: Floats = _logistic(ahead - np.asarray(self.margins)[:, None, None])
        return found * (1 - np.eye(standing.shape[-1]))


BY_PLACES = SpatialLikelihood(
    PLACES, ((CERTAIN_WEIGHT, 0.0), (0.0, CERTAIN_WEIGHT)), (CERTAIN_WEIGHT * RELATION_MARGIN,) * 2
)
BY_CENTRES = SpatialLikelihood(
    BOXES, ((CERTAIN_WEIGHT, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0, CERTAIN_WEIGHT, 0.0, 0.0, 0.0, 0.0)), (0.0, 0.0)
)


def build_centre_likelihood(slopes: tuple[float, float], margins: tuple[float, float]) -> SpatialLikelihood:
    """Of box centres alone: slopes per width and per height of the image."""
    return SpatialLikelihood(BOXES, ((slopes[0], *(0.0,) * 5), (0.0, slopes[1], *(0.0,) * 4)), margins)


def choose_default_likelihood(posterior: ScenePosterior) -> SpatialLikelihood:
    """Without doubt: CLEVR's rule on places where they are known, else the sides of box centres."""
    return BY_CENTRES if posterior.places is None else BY_PLACES


def compute_spatial_features(posterior: ScenePosterior, source: str) -> Floats:
    """[scene, object, feature] what standings are linear in."""
    if source == PLACES:
        if posterior.places is None:
            raise UserError("relations were learned from places, and this posterior has none")
        return np.asarray(posterior.places, np.float64)
    if source != BOXES:
        raise UserError(f"relations are learned from places or boxes, not from {source!r}")
    boxes = np.asarray(posterior.boxes, np.float64)
    width, height = posterior.size
    x, y = (boxes[:, :, 0] + boxes[:, :, 2] / 2) / width - 0.5, (boxes[:, :, 1] + boxes[:, :, 3] / 2) / height
    bottom = (boxes[:, :, 1] + boxes[:, :, 3]) / height
    # Rows of the ground draw together towards the horizon, and sideways offsets shrink with them.
    return np.nan_to_num(np.stack([x, y, bottom, bottom * bottom, x * bottom, boxes[:, :, 2] / width], -1))


def fit_spatial_likelihood(
    posterior: ScenePosterior, truth: SceneTable, match: Ints, source: str = ""
) -> SpatialLikelihood:
    """Maximum likelihood on validation scenes; `match` [scene, object] is the true object of each, or −1."""
    chosen = source or (BOXES if posterior.places is None else PLACES)
    only_centres = chosen == CENTRES
    given = compute_spatial_features(posterior, BOXES if only_centres else chosen)
    weights, margins = [], []
    for axis, name in enumerate(AXES):
        mine = given[:, :, axis : axis + 1] if only_centres else given
        offset, side = _collect_pairs(mine, truth, match, name)
        if not len(side):
            raise UserError("no two objects were matched with true ones: relations cannot be learned")
        found = _fit_ordinal_logistic(offset, side, axis if chosen == PLACES else None)
        weights.append(tuple(found[:-1].tolist()))
        margins.append(float(found[-1]))
    if only_centres:
        return build_centre_likelihood((weights[0][0], weights[1][0]), (margins[0], margins[1]))
    return SpatialLikelihood(chosen, tuple(weights), tuple(margins))


def _collect_pairs(given: Floats, truth: SceneTable, match: Ints, name: str) -> tuple[Floats, Ints]:
    """Of every matched pair: difference of features, and 1 (second beyond first), −1 or 0."""
    scene, first, second = np.nonzero((match[:, :, None] >= 0) & (match[:, None, :] >= 0))
    keep = first < second
    scene, first, second = scene[keep], first[keep], second[keep]
    a, b = match[scene, first], match[scene, second]
    rows = truth.rows[:, truth.relations.index(name)]

    def read_relation(one: Ints, other: Ints) -> Ints:
        row = rows[truth.start[scene] + one]
        bit: Ints = (row >> other.astype(np.uint64) & np.uint64(1)).astype(np.int64)
        return bit

    side: Ints = read_relation(a, b) - read_relation(b, a)
    return given[scene, second] - given[scene, first], side


def _fit_ordinal_logistic(offset: Floats, side: Ints, axis: int | None) -> Floats:
    """Weights and margin of the ordered logistic that makes the sides likeliest."""
    minimize = load_scipy_optimize("learning relations").minimize
    scale = offset.std(0) + 1e-9
    scaled = offset / scale

    def compute_loss(theta: Floats) -> tuple[float, Floats]:
        margin = np.logaddexp(0, theta[-1])  # above 0
        z = scaled @ theta[:-1]
        up, down = _logistic(z - margin), _logistic(-z - margin)
        between = np.maximum(1 - up - down, 1e-12)
        p = np.where(side > 0, up, np.where(side < 0, down, between))
        slope = np.where(side > 0, 1 - up, np.where(side < 0, down - 1, (down * (1 - down) - up * (1 - up)) / between))
        by_margin = np.where(
            side > 0, up - 1, np.where(side < 0, down - 1, (up * (1 - up) + down * (1 - down)) / between)
        )
        ridge = 1e-8 * float(theta[:-1] @ theta[:-1])
        value = -float(np.log(np.maximum(p, 1e-300)).mean()) + ridge
        gradient = np.append(
            -(slope[:, None] * scaled).mean(0) + 2e-8 * theta[:-1], -by_margin.mean() * _logistic(theta[-1])
        )
        return value, gradient

    begin = np.zeros(offset.shape[1] + 1)
    if axis is None:
        begin[:-1] = (scaled * side[:, None]).mean(0)
    else:
        begin[axis] = 5.0
    most = [(-MAX_WEIGHT * s, MAX_WEIGHT * s) for s in scale] if axis is not None else [(-1e4, 1e4)] * len(scale)
    found = minimize(compute_loss, begin, jac=True, method="L-BFGS-B", bounds=[*most, (-20.0, MAX_WEIGHT)])
    return np.append(found.x[:-1] / scale, np.logaddexp(0, found.x[-1]))


def _logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-np.clip(x, -700, 700)))
