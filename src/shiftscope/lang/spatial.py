"""SpatialLikelihood: how surely one object stands right of, or in front of, another, as learned from truth.

Each object gets a standing on two axes, rightwards and frontwards, linear in what is known of it: its place
on the ground, or, where a parser gives none, terms of its box. One object is beyond another when their
standings differ by more than a margin, through a logistic; so of two objects one is beyond, or the other, or
neither, as CLEVR's rule has it (an offset of 0.2 at least). Weights and margin maximise the likelihood of
the true relations of validation scenes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UserError
from ..scene import RELATION_MARGIN
from ..scenetable import SceneTable
from ._optimize import optimize
from .beliefs import Beliefs

AXES = ("right", "front")  # and their opposites
PLACES, BOXES = "places", "boxes"
FEATURES = {PLACES: 2, BOXES: 6}  # numbers that a standing is linear in
SURE = 1e6  # weight at which a difference decides
STEEPEST = 500.0  # per world unit: places truer than half a millimetre a unit are not told apart

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SpatialLikelihood:
    """Learned weights: standing = weights · features, and the margin, on the scale of a logistic."""

    source: str  # "places" or "boxes": what the features are made of
    weights: tuple[tuple[float, ...], ...]  # [axis, feature]
    margins: tuple[float, ...]  # [axis]

    def __post_init__(self) -> None:
        if self.source not in FEATURES:
            raise UserError(f"relations are learned from places or boxes, not from {self.source!r}")
        wide = FEATURES[self.source]
        if len(self.margins) != len(AXES) or [len(w) for w in self.weights] != [wide] * len(AXES):
            raise UserError(
                f"relations by {self.source} have {len(AXES)} margins and {len(AXES)} × {wide} weights"
            )
        if not np.isfinite([*self.margins, *(w for row in self.weights for w in row)]).all():
            raise UserError("the weights and margins of relations are finite numbers")

    def beyond(self, beliefs: Beliefs) -> Reals:
        """[scene, axis, first, second] how surely the second is right of, or in front of, the first."""
        standing = np.einsum("sof,af->sao", features(beliefs, self.source), np.asarray(self.weights))
        ahead = standing[:, :, None, :] - standing[:, :, :, None]
        found: Reals = _logistic(ahead - np.asarray(self.margins)[:, None, None])
        return found * (1 - np.eye(standing.shape[-1]))

    def to_json(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "weights": [list(w) for w in self.weights],
            "margins": list(self.margins),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> SpatialLikelihood:
        weights = tuple(tuple(map(float, w)) for w in data["weights"])
        return cls(str(data["source"]), weights, tuple(map(float, data["margins"])))


BY_PLACES = SpatialLikelihood(PLACES, ((SURE, 0.0), (0.0, SURE)), (SURE * RELATION_MARGIN,) * 2)
BY_CENTRES = SpatialLikelihood(
    BOXES, ((SURE, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0, SURE, 0.0, 0.0, 0.0, 0.0)), (0.0, 0.0)
)


def unlearned(beliefs: Beliefs) -> SpatialLikelihood:
    """Without doubt: CLEVR's rule on places where they are known, else the sides of box centres."""
    return BY_CENTRES if beliefs.places is None else BY_PLACES


def features(beliefs: Beliefs, source: str) -> Reals:
    """[scene, object, feature] what standings are linear in."""
    if source == PLACES:
        if beliefs.places is None:
            raise UserError("relations were learned from places, and these beliefs have none")
        return np.asarray(beliefs.places, np.float64)
    if source != BOXES:
        raise UserError(f"relations are learned from places or boxes, not from {source!r}")
    boxes = np.asarray(beliefs.boxes, np.float64)
    width, height = beliefs.size
    x, y = (boxes[:, :, 0] + boxes[:, :, 2] / 2) / width - 0.5, (boxes[:, :, 1] + boxes[:, :, 3] / 2) / height
    bottom = (boxes[:, :, 1] + boxes[:, :, 3]) / height
    # Rows of the ground draw together towards the horizon, and sideways offsets shrink with them.
    return np.nan_to_num(np.stack([x, y, bottom, bottom * bottom, x * bottom, boxes[:, :, 2] / width], -1))


def fit(beliefs: Beliefs, truth: SceneTable, match: NDArray[np.int64], source: str = "") -> SpatialLikelihood:
    """Maximum likelihood on validation scenes; `match` [scene, object] is the true object of each, or −1."""
    chosen = source or (BOXES if beliefs.places is None else PLACES)
    given = features(beliefs, chosen)
    weights, margins = [], []
    for axis, name in enumerate(AXES):
        offset, side = _pairs(given, truth, match, name)
        if not len(side):
            raise UserError("no two objects were matched with true ones: relations can not be learned")
        found = _ordinal(offset, side, axis if chosen == PLACES else None)
        weights.append(tuple(found[:-1].tolist()))
        margins.append(float(found[-1]))
    return SpatialLikelihood(chosen, tuple(weights), tuple(margins))


def _pairs(
    given: Reals, truth: SceneTable, match: NDArray[np.int64], name: str
) -> tuple[Reals, NDArray[np.int64]]:
    """Of every matched pair: difference of features, and 1 (second beyond first), −1 or 0."""
    scene, first, second = np.nonzero((match[:, :, None] >= 0) & (match[:, None, :] >= 0))
    keep = first < second
    scene, first, second = scene[keep], first[keep], second[keep]
    a, b = match[scene, first], match[scene, second]
    rows = truth.rows[:, truth.relations.index(name)]

    def stands(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
        row = rows[truth.start[scene] + one]
        bit: NDArray[np.int64] = (row >> other.astype(np.uint64) & np.uint64(1)).astype(np.int64)
        return bit

    side: NDArray[np.int64] = stands(a, b) - stands(b, a)
    return given[scene, second] - given[scene, first], side


def _ordinal(offset: Reals, side: NDArray[np.int64], axis: int | None) -> Reals:
    """Weights and margin of the ordered logistic that makes the sides likeliest."""
    minimize = optimize("learning relations").minimize
    scale = offset.std(0) + 1e-9
    scaled = offset / scale

    def loss(theta: Reals) -> tuple[float, Reals]:
        margin = np.logaddexp(0, theta[-1])  # above 0
        z = scaled @ theta[:-1]
        up, down = _logistic(z - margin), _logistic(-z - margin)
        between = np.maximum(1 - up - down, 1e-12)
        p = np.where(side > 0, up, np.where(side < 0, down, between))
        slope = np.where(
            side > 0, 1 - up, np.where(side < 0, down - 1, (down * (1 - down) - up * (1 - up)) / between)
        )
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
    most = [(-STEEPEST * s, STEEPEST * s) for s in scale] if axis is not None else [(-1e4, 1e4)] * len(scale)
    found = minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=[*most, (-20.0, STEEPEST)])
    return np.append(found.x[:-1] / scale, np.logaddexp(0, found.x[-1]))


def _logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-np.clip(x, -700, 700)))
