"""What exact inference gains by the places that the scene parser tells: `python -m benchmarks.relations`.

Validation images of default, seen with the shipped weights on a processor; true programs. Relations are
learned on the first half, from places and from boxes alone, and object questions of the second half answered.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from shiftscope.answer import spell
from shiftscope.lang.exec.possible_worlds import infer_answers
from shiftscope.lang.exec.soft import SoftAnswers, execute_soft
from shiftscope.lang.posterior_calibration import BOXES, PLACES, fit_spatial_likelihood
from shiftscope.lang.scene_posterior import ScenePosterior, concatenate_posteriors, match_to_truth
from shiftscope.models.nsvqa.neuro_symbolic import load_parsers
from shiftscope.models.nsvqa.trained_model import SHIPPED, read_trained_model
from shiftscope.question import Question
from shiftscope.scene import Scene
from shiftscope.scene_table import pack_scenes
from shiftscope.suites.superclevr.suite import SHARE, SuperclevrSpec
from shiftscope.train.feed import Feed, SuiteSource

BATCH = 16


def main(argv: Sequence[str] | None = None) -> None:
    """Print how much each way to tell relations gets right, and the differences with their standard error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=400)
    parser.add_argument("--variant", default="default", help="what the second half shows")
    args = parser.parse_args(argv)
    half = args.images // 2
    trained = read_trained_model(SHIPPED / "superclevr")
    scenes, _, beliefs = _seen("default", slice(half), args.images)
    shown, questions, other = _seen(args.variant, slice(half, None), args.images)
    table = pack_scenes(scenes)
    pairs = match_to_truth(beliefs, table).objects
    programs = [q.program for some in questions for q in some if q.program]
    truth = [spell(q.answer) for some in questions for q in some if q.answer is not None]
    rows = np.repeat(np.arange(len(shown)), [len(some) for some in questions])
    told = {
        f"p_nsvqa_exact, {source}": infer_answers(
            programs,
            trained.calibration.apply(other),
            rows,
            relation=fit_spatial_likelihood(beliefs, table, pairs, source),
        )
        for source in (PLACES, BOXES)
    }
    told["p_nsvqa"] = execute_soft(programs, other, rows)
    right = {name: _right(found, truth) for name, found in told.items()}
    print(f"{len(truth):,} object questions about {len(shown)} validation images of {args.variant}")
    first = next(iter(right.values()))
    for name, hits in right.items():
        off = hits * 1.0 - first
        spread = np.bincount(rows, off - off.mean(), len(shown))
        error = float(np.sqrt((spread**2).sum())) / len(off)
        print(f"{name:<24}{100 * hits.mean():7.2f} %   {100 * off.mean():+.2f} ± {100 * error:.2f} points")


def _seen(
    variant: str, which: slice, images: int
) -> tuple[Sequence[Scene], list[tuple[Question, ...]], ScenePosterior]:
    """Some validation scenes of a variant, their questions, and what the shipped parser believes of them."""
    order = replace(SuperclevrSpec.from_variant(variant), images=SHARE * images, part_questions=0)
    parsers = load_parsers(read_trained_model(SHIPPED / "superclevr"), "cpu")
    batches = list(Feed(SuiteSource("superclevr", order, "val"), images, "cpu"))
    scenes = [scene for batch in batches for scene in batch.scenes][which]
    questions = [asked for batch in batches for asked in batch.questions][which]
    pixels = torch.cat([batch.images.rgb for batch in batches if batch.images.rgb is not None])[which]
    return (
        scenes,
        questions,
        concatenate_posteriors([parsers.parse_images(some).to_numpy() for some in pixels.split(BATCH)]),
    )


def _right(found: SoftAnswers, truth: Sequence[str]) -> np.ndarray:
    return np.array([spell(found[i]) == text for i, text in enumerate(truth)])


if __name__ == "__main__":
    main()
