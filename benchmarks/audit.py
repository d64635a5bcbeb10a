"""Speed of an audit: a dataset of VQA v2's size, from JSON files to written OOD sets, all nine shortcuts.

`python -m benchmarks.audit [QUESTIONS ANNOTATIONS]` resamples a pair of VQA files to 658,111 samples; without
files, questions are made of a Zipfian vocabulary. Two in five questions get another last word, so that about
as many texts are distinct as in VQA v2. The objects are 123,287 images with seven boxes and outlines each.

Measured is what `shiftscope audit --no-blind` does before its report: reading, labelling, the files of all
sets and the marks. The blind models are apart from it: what they cost depends on how they learn, not on the
size of the dataset, of which they take 100,000 samples at most.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.memory import watch_memory
from benchmarks.table import row
from shiftscope import rng
from shiftscope.files import read_bytes
from shiftscope.formats.vqa import question_types
from shiftscope.json_files import iterate_elements
from shiftscope.schemas.coco import NAMES

SAMPLES = 658_111
IMAGES = 123_287
BOXES = 7 * IMAGES
NEW_WORD = 0.4  # share of the questions that get another last word
COLUMNS = ("train groups", "test groups", "imbalanced", "head", "tail (OOD)")

MEASURED = """
import json, resource, sys, time
from pathlib import Path
from shiftscope.executor import LocalExecutor
from shiftscope.formats import read_question_table
from shiftscope.shift.vqa_vs import build_audit_sets
from shiftscope.shortcuts.audit import audit_shortcuts
from shiftscope.shortcuts.audit_folder import write_sets
from shiftscope.shortcuts.audit_folder import write_marks
from shiftscope.shortcuts.audit_statistics import compute_audit_statistics
folder = Path(sys.argv[1])
def now():
    return time.perf_counter(), time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
times = [now()]
paths = ([folder / f"{n}.json"] for n in ("questions", "annotations", "instances"))
samples = read_question_table(*paths, executor=LocalExecutor(2))
times.append(now())
found = audit_shortcuts(samples)
times.append(now())
write_sets(samples, build_audit_sets(found), folder / "out", meanwhile=lambda: write_marks(found, folder / "out"))
times.append(now())
print(json.dumps({
    "samples": len(samples),
    "texts": len(samples.texts.values),
    "times": times,
    "cpu": now()[1],
    "lines": [
        [one.shortcut, one.train_groups, one.test_groups, one.imbalanced, one.head, one.tail]
        for one in compute_audit_statistics(found)
    ],
}))
"""


def main() -> None:
    given = [Path(name) for name in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        questions, annotations = _resampled(*given) if len(given) == 2 else make_questions()
        write(folder, questions, annotations)
        size = sum(f.stat().st_size for f in folder.glob("*.json")) / 1e6
        print(f"files: {size:,.0f} MB of JSON")
        for line in ("first", "again"):  # the first run also compiles, where nothing is cached yet
            told = _measure(folder)
            for what, (start, busy), (end, then) in zip(
                (
                    f"read {told['samples']:,} samples ({told['texts']:,} texts), {line}",
                    "label, group, part: nine shortcuts",
                    "write all sets in VQA-VS's layout, and the marks of every sample",
                ),
                told["times"],
                told["times"][1:],
                strict=False,
            ):
                row(f"{what} (CPU {then - busy:.1f} s)", f"{end - start:.1f} s", "-")
            row("from JSON to written OOD sets", f"{told['times'][-1][0] - told['times'][0][0]:.1f} s", "18 s")
            row("CPU time of that, imports included", f"{told['cpu']:.1f} s", "-")
            row("peak memory of all processes together", f"{told['peak']:.2f} GB", "2 GB")
        print(f"{'shortcut':<10}" + "".join(f"{name:>14}" for name in COLUMNS))
        for shortcut, *counts in told["lines"]:
            print(f"{shortcut:<10}" + "".join(f"{n:>14,}" for n in counts))


def _measure(folder: Path) -> dict[str, Any]:
    """In a process of its own, so that its peak memory is what an audit needs."""
    command = [sys.executable, "-c", MEASURED, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process, watch_memory(process.pid) as seen:
        output, _ = process.communicate()
    if process.returncode:
        raise SystemExit(process.returncode)
    told: dict[str, Any] = json.loads(output)
    return told | {"peak": max(seen) / 1e9}


Questions = Sequence[tuple[str, list[str], str]]  # type, the words after it, answer
Answers = Sequence[str]  # JSON of the ten answers


def _resampled(questions: Path, annotations: Path) -> tuple[Questions, Answers]:
    answered = {r["question_id"]: r for r in iterate_elements(read_bytes(annotations), "annotations", annotations)}
    asked = iterate_elements(read_bytes(questions), "questions", questions)
    pairs = [(q, answered[q["question_id"]]) for q in asked if q["question_id"] in answered]
    return (
        [(a["question_type"], q["question"].split(), a["multiple_choice_answer"]) for q, a in pairs],
        [json.dumps(a["answers"]) for _, a in pairs],
    )


def make_questions() -> tuple[Questions, Answers]:
    draw = rng.derive("benchmark", "audit", "made")
    words = [f"word{k}" for k in range(20_000)]
    answers = ["yes", "no", *(f"answer{k}" for k in range(20_000))]
    made = [
        (
            question_types()[min(int(draw.pareto(0.6)), len(question_types()) - 1)],
            [words[min(int(draw.pareto(0.35)), len(words) - 1)] for _ in range(draw.integers(1, 7))],
            answers[min(int(draw.pareto(0.5)), len(answers) - 1)],
        )
        for _ in range(60_000)
    ]
    texts = [[*kind.split(), *rest] for kind, rest, _ in made]
    ten = [
        json.dumps([{"answer": a, "answer_confidence": "yes", "answer_id": k} for k in range(1, 11)])
        for _, _, a in made
    ]
    return [(k, t, a) for (k, _, a), t in zip(made, texts, strict=True)], ten


def write(folder: Path, questions: Questions, answers: Answers) -> None:
    """Questions, annotations and instances as the official files are."""
    draw = rng.derive("benchmark", "audit")
    chosen = draw.integers(0, len(questions), SAMPLES).tolist()
    image = np.sort(draw.integers(1, IMAGES + 1, SAMPLES)).tolist()
    changed = (draw.random(SAMPLES) < NEW_WORD).tolist()
    said = [w for _, words, _ in questions for w in words]
    word = draw.integers(0, len(said), SAMPLES).tolist()
    with (
        (folder / "questions.json").open("w", encoding="utf-8") as asked,
        (folder / "annotations.json").open("w", encoding="utf-8") as told,
    ):
        asked.write('{"info": {}, "data_subtype": "train2014", "questions": [')
        told.write('{"info": {}, "data_subtype": "train2014", "annotations": [')
        for k, one in enumerate(chosen):
            kind, words, answer = questions[one]
            text = " ".join([*words[:-1], said[word[k]]] if changed[k] and len(words) > 1 else words)
            ids = f'"image_id": {image[k]}, "question_id": {1000 + k}'
            comma = ", " if k else ""
            asked.write(f'{comma}{{{ids}, "question": {json.dumps(text)}}}')
            told.write(
                f'{comma}{{"question_type": {json.dumps(kind)}, '
                f'"multiple_choice_answer": {json.dumps(answer)}, '
                f'"answers": {answers[one]}, "answer_type": "other", {ids}}}'
            )
        asked.write("]}")
        told.write("]}")
    _instances(folder / "instances.json", draw)


def _instances(path: Path, draw: np.random.Generator) -> None:
    share = 1 / np.arange(2, len(NAMES) + 2)
    kinds = (draw.choice(len(NAMES), BOXES, p=share / share.sum()) + 1).tolist()
    image = draw.integers(1, IMAGES + 1, BOXES).tolist()
    outline = json.dumps([[round(x, 2) for x in accumulate([10.37] * 40)]])
    with path.open("w", encoding="utf-8") as out:
        images = ", ".join(f'{{"id": {k}, "width": 640, "height": 480}}' for k in range(1, IMAGES + 1))
        out.write(f'{{"images": [{images}], "annotations": [')
        for k in range(BOXES):
            out.write(
                f'{", " if k else ""}{{"segmentation": {outline}, "area": 702.1, "iscrowd": 0, '
                f'"image_id": {image[k]}, "bbox": [473.1, 395.9, 38.6, 28.7], '
                f'"category_id": {kinds[k]}, "id": {k + 1}}}'
            )
        named = [{"supercategory": "thing", "id": k, "name": name} for k, name in enumerate(NAMES, 1)]
        out.write(f'], "categories": {json.dumps(named)}}}')


if __name__ == "__main__":
    main()
