"""How well a scene parser stands other images: `python -m benchmarks.sturdiness [DIR …] [--variants …]`.

True programs; object questions and attributes of objects, or with --parts of parts. Each variant is seen as
the parser was trained; with the averages of the variant's first images; and attuned, as p_nsvqa_exact sees
it. DIR is a trained scene parser, else the shipped one. For choices that must not be made on the test images
of a study: shown are validation images, or, of variants that are for testing alone, images of another seed.
The other two models are shown for comparison: by themselves they see as the parser was trained.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from shiftscope.answer import spell
from shiftscope.lang.program import Program
from shiftscope.lang.scene_posterior import build_certain_posterior, concatenate_posteriors, match_to_truth
from shiftscope.model import ADAPTATION_IMAGES
from shiftscope.models import nsvqa, p_nsvqa, p_nsvqa_exact
from shiftscope.models.nsvqa.neuro_symbolic import NsvqaParsers, load_parsers
from shiftscope.models.nsvqa.scene_parser.adapt import adapt_normalisation, adapt_parser, measure_uncertainty, parse_all
from shiftscope.models.nsvqa.trained_model import SHIPPED, read_trained_model
from shiftscope.scene import Scene
from shiftscope.scene_table import pack_scenes
from shiftscope.suites.superclevr.suite import SHARE, SuperclevrSpec
from shiftscope.train.feed import Feed, SuiteSource

MODELS = {"nsvqa": nsvqa, "p_nsvqa": p_nsvqa, "p_nsvqa_exact": p_nsvqa_exact}
TOGETHER = 64  # images parsed at once
SEED = 7  # of images of variants that are for testing alone; a study's have 0


class Shown(NamedTuple):
    """Images of a variant, and what is asked about them."""

    scenes: list[Scene]
    pixels: torch.Tensor
    programs: list[Program]
    truths: list[str]
    rows: np.ndarray


def main(argv: Sequence[str] | None = None) -> None:
    """Print for each variant what each model and each attribute gets right, each way, and the doubt."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, default=[SHIPPED / "superclevr"])
    parser.add_argument("--variants", default="default,easy,hard,head,tail,oppo")
    parser.add_argument("--images", type=int, default=60)
    parser.add_argument("--parts", action="store_true")
    parser.add_argument("--device", default="cuda:0" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--workers", type=int, default=1)
    args = parser.parse_args(argv)
    variants = args.variants.split(",")
    shown = {v: _shown(v, args.images, args.parts, args.device, args.workers) for v in variants}
    if nothing := [variant for variant, one in shown.items() if not one.programs]:
        parser.error(f"nothing is asked of that sort about {', '.join(nothing)}")
    for folder in args.folders:
        as_trained = load_parsers(read_trained_model(folder), args.device)
        schema, sort = as_trained.trained.schema, "part" if args.parts else "object"
        names = (*MODELS, *(a.name for a in (schema.part_attributes if args.parts else schema.attributes)))
        print(f"{folder}, {args.images} images a variant, {sort} questions: right, %")
        print(f"{'':<26}{''.join(f'{n:>14}' for n in names)}{'doubt':>10}")
        for variant, one in shown.items():
            first = one.pixels[:ADAPTATION_IMAGES].to(args.device)
            for told, parsers in _ways(variant, as_trained, first):
                right = _right(parsers, one, args.parts)
                unsure, _ = measure_uncertainty(parsers.apply(parse_all, first))
                figures = "".join(f"{100 * share:>14.2f}" for share in right)
                print(f"{told:<26}{figures}{unsure:>10.4f}", flush=True)


def _ways(variant: str, as_trained: NsvqaParsers, first: torch.Tensor) -> Iterator[tuple[str, NsvqaParsers]]:
    """What each way of seeing is called, and the parsers that see so; adapted last."""
    calibration = as_trained.trained.calibration
    adapted, kept = as_trained.apply(partial(adapt_parser, calibration=calibration), first)
    made = {
        variant: as_trained.scene,
        "  with its averages": as_trained.apply(adapt_normalisation, first),
        f"  adapted: {', '.join(kept) or 'nothing kept'}": adapted,
    }
    for told, scene in made.items():
        yield told, replace(as_trained, scene=scene)


def _shown(variant: str, images: int, parts: bool, device: str, workers: int) -> Shown:
    asked = {"questions": 0} if parts else {"part_questions": 0}
    order = replace(SuperclevrSpec.from_variant(variant), images=SHARE * images, **asked)
    split = "val" if "val" in order.splits() else "test"
    source = SuiteSource("superclevr", order if split == "val" else replace(order, seed=SEED), split)
    batches = list(Feed(source, min(images, 250), device, workers=workers))
    each = [questions for batch in batches for questions in batch.questions]
    whole = [q for questions in each for q in questions]
    return Shown(
        [scene for batch in batches for scene in batch.scenes],
        torch.cat([batch.images.rgb.cpu() for batch in batches if batch.images.rgb is not None]),
        [q.program for q in whole if q.program is not None],
        [spell(q.answer) for q in whole if q.answer is not None],
        np.repeat(np.arange(len(each)), [len(questions) for questions in each]),
    )


def _right(parsers: NsvqaParsers, shown: Shown, parts: bool) -> list[float]:
    """The share of questions that each model gets right, then of things whose attribute is read right."""
    blocks = range(0, len(shown.pixels), TOGETHER)
    beliefs = concatenate_posteriors([parsers.parse_images(shown.pixels[k : k + TOGETHER]) for k in blocks])
    right = []
    for model in MODELS.values():
        responses = model.make_executor(parsers.trained).execute(shown.programs, beliefs, shown.rows)
        said = [None if r.answer is None else spell(r.answer) for r in responses]
        right.append(float(np.mean([s == t for s, t in zip(said, shown.truths, strict=True)])))
    held, truth = beliefs.to_numpy(), pack_scenes(shown.scenes)
    found, sure = match_to_truth(held, truth), build_certain_posterior(truth)
    pairs = found.parts if parts else found.objects  # [image, believed thing] the true one
    image, seat = np.nonzero(pairs >= 0)
    both = ((one.part_attributes if parts else one.attributes) for one in (held, sure))
    for read, true in zip(*both, strict=True):
        right.append(float((read[image, seat].argmax(-1) == true[image, pairs[image, seat]].argmax(-1)).mean()))
    return right


if __name__ == "__main__":
    main()
