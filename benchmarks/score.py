"""Speed of scoring: a million predictions read from a run's folder and scored with intervals."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from shiftscope import rng
from shiftscope.result import Prediction, QuestionRecord
from shiftscope.run.score import score_run
from shiftscope.store.run_log import RunWriter, read_run

ROWS = 1_000_000
PER_SCENE = 10
KINDS = ("count", "exist", "query_color", "query_size", "query_shape", "equal_color", "less_than")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start = time.perf_counter()
        write_run(folder)
        print(f"write {ROWS:,} predictions in parts, compact: {time.perf_counter() - start:.1f} s")
        start = time.perf_counter()
        log = read_run(folder)
        print(f"read them as columns: {time.perf_counter() - start:.1f} s ({len(log.records):,} rows)")
        for metric, by in (
            ("accuracy", ()),
            ("accuracy", ("kind", "family", "length", "objects")),
            ("vqa_accuracy", ("kind",)),
            ("calibration", ()),
            ("head_tail", ()),
        ):
            start = time.perf_counter()
            scores = score_run(folder, [metric], by)
            spent = time.perf_counter() - start
            print(f"score {metric} by {', '.join(by) or 'nothing'}: {spent:.1f} s ({len(scores)} figures)")


def write_run(folder: Path) -> None:
    random = rng.derive("benchmark", "score")
    answers = ("yes", "no", "red", "blue", "2", "3", "cube")
    with RunWriter(folder, {"model": "benchmark"}) as run:
        for first in range(0, ROWS, 50_000):
            some = min(50_000, ROWS - first)
            drawn = random.integers(0, len(answers), (some, 12)).tolist()
            confidence = random.random(some).tolist()
            rows = []
            for k, said in enumerate(drawn, first):
                truth = answers[said[0]]
                facts = (("kind", KINDS[k % 7]), ("family", k % 90), ("length", said[1] + 8), ("objects", 3 + k % 8))
                asked = QuestionRecord(
                    str(k), (f"scene_{k // PER_SCENE:06d}",), truth, tuple(answers[s] for s in said[2:]), facts
                )
                answer = truth if confidence[k - first] > 0.4 else answers[said[1]]
                rows.append((asked, Prediction(str(k), answer, f"Answer: {answer}", confidence=confidence[k - first])))
            run.add(rows)
        run.finish([str(k) for k in range(ROWS)])


if __name__ == "__main__":
    main()
