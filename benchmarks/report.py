"""Speed and size of the report: a made-up study of 12 variants and 5 models, 10,000 questions a run."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.store import _image, _picture
from shiftscope import rng
from shiftscope.columns import Column
from shiftscope.lang.text import parse_program
from shiftscope.question import Provenance, Question
from shiftscope.report.run_page import build_report
from shiftscope.report.runs import ReportRuns, arrange_runs
from shiftscope.result import RunLog, RunRecords, build_question_record, records_of
from shiftscope.store.build_dataset import build_dataset
from shiftscope.store.dataset import Dataset
from shiftscope.store.image import StoredImage

MODELS = (("FiLM", 0.53), ("mDETR", 0.82), ("NSCL", 0.89), ("NSVQA", 0.93), ("P-NSVQA", 0.96))
VARIANTS = ("mid", "easy", "hard", "rd-", "rd+", "slt", "long", "head", "tail", "oppo", "co-1", "co-2")
IMAGES = 200
QUESTIONS = 50  # an image
KINDS = ("count", "exist", "query_color", "query_shape", "equal_color", "greater_than")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        dataset = build_dataset(Path(name) / "data", {"suite": "benchmark"}, {"test": 1}, make_shard)
        study = build_study(dataset)
        start = time.perf_counter()
        last, made = start, []
        for key, section in build_report(study).build_sections():
            made.append((key, section))
            print(f"  {key}: {time.perf_counter() - last:.2f} s, {len(section.body) / 1e6:.2f} MB")
            last = time.perf_counter()
        size = len(build_report(study).render(made).encode())
        seconds = time.perf_counter() - start
    rows = sum(len(run.records) for run in study.runs)
    print(f"report of {len(study.runs)} runs, {rows:,} answers: {seconds:.1f} s, {size / 1e6:.2f} MB")


def make_shard(spec: Mapping[str, Any], split: str, k: int) -> tuple[list[StoredImage], list[Question]]:
    images = [_image(i, *_picture(i)) for i in range(IMAGES)]
    return images, [_question(image, n) for image in images for n in range(QUESTIONS)]


def _question(image: StoredImage, n: int) -> Question:
    random = rng.derive("benchmark", "report", image.id, n)
    kind = KINDS[int(random.integers(len(KINDS)))]
    words = " ".join(["small"] * int(random.integers(1, 20)))
    return Question(
        f"{image.id}-{n}",
        f"How many {words} cubes are there?",
        (image.id,),
        parse_program("count(filter(filter(scene(), shape=cube), size=small))"),
        ("yes", "no", "red", "blue", "cube", "1", "2", "3")[int(random.integers(8))],
        kind=kind,
        provenance=Provenance("benchmark", split="test", template=f"template_{n % 9}"),
    )


def build_study(dataset: Dataset) -> ReportRuns:
    scenes = {image.id: image.scene for image in dataset.images()}
    asked = [build_question_record(q, [scenes[q.scenes[0]]]) for q in dataset.questions()]
    base = records_of((a, None) for a in asked)
    logs = []
    for model, accuracy in MODELS:
        for k, variant in enumerate(VARIANTS):
            spec = {"model": model, "data": str(dataset.folder), "split": "test", "variant": variant}
            records = _answered(base, variant, accuracy - 0.02 * k, model)
            logs.append((RunLog(tuple(spec.items()), records, len(base)), None))
    return arrange_runs(logs)


def _answered(base: RunRecords, variant: str, accuracy: float, model: str) -> RunRecords:
    """Right as often as asked for; every variant but the first is a twin of the first."""
    random = rng.derive("benchmark", "report", model, variant)
    n = len(base)
    right = random.random(n) < accuracy
    wrong = random.integers(0, len(base.truth.values), n).astype(np.int32)
    codes = np.where(right, base.truth.codes, wrong).astype(np.int32)
    answer = Column(base.truth.values, codes)
    status = Column(("answered",), np.zeros(n, np.int32))
    first = variant == VARIANTS[0]
    twin = base.twin if first else Column(base.question.values, base.question.codes)
    return replace(base, answer=answer, literal=answer, status=status, twin=twin, confidence=random.random(n))


if __name__ == "__main__":
    main()
