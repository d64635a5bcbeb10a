"""Datasets shaped like real ones: frequent and rare words, repeated and foreign ones, odd rows and images."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from shiftscope.rng import derive

STARTS = (
    *("what color is the", "is the", "how many", "what", "is there a", "what is the", "are the"),
    *("do you", "in which", "which", "what's the", "why"),
)
WORDS = (
    *(
        "dog",
        "banana",
        "sky",
        "man's",
        "dog’s",
        "dog's",
        "t-shirt",
        "café",
        "the",
        "a",
        "on",
        "table",
        "女性",
        "naïve",
        "3",
        "Straße",
    ),
    *(f"word{k}" for k in range(150)),
)
ANSWERS = ("yes", "no", "white", "2", "1", "red", "café", "blue", "left", *(f"answer {k}" for k in range(60)))
KINDS = ("person", "dog", "car", "chair", "cup", "banana", "tie", "bus", "cat", "kite", "sink", "bed")
IMAGES = 400


def dataset(count: int, seed: int = 0, typed: float = 0.9) -> dict[str, Any]:
    """Questions, annotations and instances of VQA and COCO files; `typed` of the annotations say a type."""
    draw = derive("tests", "audit", seed)

    def zipf(values: tuple[str, ...]) -> str:
        return values[min(int(draw.pareto(0.7)), len(values) - 1)]

    questions: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for k in range(count):
        start = zipf(STARTS)
        said = [zipf(WORDS) for _ in range(draw.integers(0, 8))]
        text = "" if draw.random() < 0.01 else f"{start.capitalize()} {' '.join(said)}?"
        number, image = 7 * k + 3, int(draw.integers(1, IMAGES))
        questions.append({"image_id": image, "question": text, "question_id": number})
        row: dict[str, Any] = {"question_id": number, "image_id": image, "answers": []}
        if draw.random() < typed:
            row["question_type"] = "a type of its own" if draw.random() < 0.02 else start
        # Half of the answers follow from a word, so that groups are uneven in different ways.
        row["multiple_choice_answer"] = (
            ANSWERS[WORDS.index(said[0]) % 7] if said and draw.random() < 0.5 else zipf(ANSWERS)
        )
        annotations.append(row)
    order = draw.permutation(count)
    boxes = [
        {"id": k, "image_id": image, "category_id": int(draw.integers(1, len(KINDS) + 1)), "bbox": [0, 0, 1, 1]}
        for k, image in enumerate(int(draw.integers(1, IMAGES - 50)) for _ in range(3 * IMAGES))
    ]
    return {
        "questions": questions,
        "annotations": [annotations[k] for k in order],
        "instances": {
            "images": [{"id": k} for k in range(1, IMAGES - 20)],  # the last have questions but no entry
            "annotations": boxes,
            "categories": [{"id": k, "name": name} for k, name in enumerate(KINDS, 1)],
        },
    }


def write(folder: Path, made: dict[str, Any]) -> tuple[Path, Path, Path]:
    """The three files: wrapped questions, a bare list of annotations, instances."""
    paths = folder / "questions.json", folder / "annotations.json", folder / "instances.json"
    contents = {"questions": made["questions"]}, made["annotations"], made["instances"]
    for path, content in zip(paths, contents, strict=True):
        path.write_text(json.dumps(content, ensure_ascii=False), "utf-8")
    return paths


def plain(made: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[int, list[str]]]:
    """The samples and the objects of the images, joined in the plainest way."""
    told = {row["question_id"]: row for row in made["annotations"]}
    samples = [
        {
            "id": q["question_id"],
            "image": q["image_id"],
            "question": q["question"],
            "answer": told[q["question_id"]]["multiple_choice_answer"],
            "type": told[q["question_id"]].get("question_type"),
        }
        for q in made["questions"]
    ]
    names = {c["id"]: c["name"] for c in made["instances"]["categories"]}
    objects: dict[int, list[str]] = {image["id"]: [] for image in made["instances"]["images"]}
    for box in made["instances"]["annotations"]:
        objects[box["image_id"]].append(names[box["category_id"]])
    return samples, objects
