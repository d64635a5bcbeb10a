"""How good a scene parser is on images whose scenes are known: what it finds, and what its confidence is worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ....lang.scene_posterior import ScenePosterior, concatenate_posteriors
from ....picture import Picture, stack
from ....scene import Scene

if TYPE_CHECKING:
    from ..neuro_symbolic import NsvqaParsers


class ConfidenceRows(NamedTuple):
    """Confidence in something, row by row, and whether it is so."""

    name: str
    confidence: Any  # [row] float
    right: Any  # [row] bool


class PartFigures(NamedTuple):
    """Shares as (right, of how many), by name; and confidences."""

    shares: dict[str, tuple[int, int]]
    confidences: list[ConfidenceRows]


def measure_scene_parser(
    parsers: NsvqaParsers, pictures: Sequence[Picture], scenes: Sequence[Scene], together: int
) -> PartFigures:
    """Figures of the parser as it is; `together` images are parsed at once."""
    from . import SceneParserBatch, label_scenes, measure

    labels = label_scenes(scenes).to_tensors(parsers.device)
    counts: dict[str, tuple[int, int]] = {}
    found = []
    for start in range(0, len(pictures), together):
        rows = slice(start, start + together)
        images = stack(pictures[rows], parsers.device, parsers.trained.size)
        found.append(parsers.parse_images(images))
        for name, (right, of) in parsers.apply(measure, SceneParserBatch(images, labels.take(rows))).items():
            before = counts.get(name, (0, 0))
            counts[name] = before[0] + int(right), before[1] + int(of)
    shares = {name.replace("_", " "): share for name, share in counts.items()}
    return PartFigures(shares, list(_list_confidences(parsers, concatenate_posteriors(found), labels)))


def _list_confidences(parsers: NsvqaParsers, posterior: ScenePosterior, labels: Any) -> Iterator[ConfidenceRows]:
    """That an object is there, and in the likeliest value of each of its attributes."""
    from .decode import MATCH, match_boxes

    there, found = labels.boxes[..., 2] > 0, posterior.exists > 0
    match = match_boxes(posterior.boxes, found, labels.boxes, there, MATCH).cpu().numpy()  # [image, true object]
    image, thing = np.nonzero(match >= 0)
    seat = match[image, thing]
    exists = posterior.exists.float().cpu().numpy()
    real = np.zeros(exists.shape, np.bool_)
    real[image, seat] = True
    rows = exists > 0
    yield ConfidenceRows("object is there", exists[rows], real[rows])
    codes = labels.attributes.cpu().numpy()[image, thing]
    for suffix, held in (("", posterior), (", calibrated", parsers.trained.calibration.apply(posterior))):
        for k, attribute in enumerate(parsers.trained.schema.attributes):
            probabilities = held.attributes[k].float().cpu().numpy()[image, seat]
            known = codes[:, k] >= 0
            right = probabilities.argmax(-1) == codes[:, k]
            yield ConfidenceRows(f"{attribute.name}{suffix}", probabilities.max(-1)[known], right[known])
