"""A dataset of ours as samples for an audit, and what its card says of the shortcuts found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..audit.audit import Settings, audit
from ..audit.objects import objects_of, with_objects
from ..audit.samples import Samples, coded, remarks
from ..audit.split import OURS
from ..audit.tables import strongest, table
from ..errors import UserError
from ..scene import Scene
from .dataset import Dataset
from .shard import groups

LISTED = 5  # strongest groups that a card names
COLUMNS = ["question_id", "image_ids", "question", "answer", "question_type"]


def samples_in(dataset: Dataset) -> Samples:
    """Every answered question with the objects of its (first) image; programs are not read."""
    found: dict[str, list[Any]] = {name: [] for name in (*COLUMNS, "split")}
    unanswered = []
    for shard in dataset.shards():
        path = shard.questions and dataset.folder / shard.questions.path
        for rows in groups(path, COLUMNS) if path else ():
            for row in zip(*(rows.column(name).to_pylist() for name in COLUMNS), strict=True):
                if row[3] is None:
                    unanswered.append(row[0])
                    continue
                for name, value in zip((*COLUMNS, "split"), (*row, shard.split), strict=True):
                    found[name].append(value)
    if not found["answer"]:
        raise UserError(f"{dataset.folder}: there are no questions with an answer in it")
    kinds = [kind or None for kind in found["question_type"]]
    images = found["image_ids"]
    several = [q for q, shown in zip(found["question_id"], images, strict=True) if len(shown) > 1]
    asked = zip(found["question_id"], found["question"], strict=True)
    empty = [q for q, text in asked if not text.strip()]
    samples = Samples(
        source=OURS,
        ids=tuple(found["question_id"]),
        images=coded([shown[0] if shown else None for shown in images]),
        texts=coded(found["question"]),
        answers=coded(found["answer"]),
        types=coded(kinds) if any(kinds) else None,
        splits=coded(found["split"]),
        remarks=remarks(
            (
                ("questions without an answer", "left out", unanswered),
                ("questions about several images", "kept with the objects of the first", several),
                ("empty questions", "kept, without words", empty),
            )
        ),
    )
    return with_objects(samples, [objects_of(_scenes(dataset))])


def _scenes(dataset: Dataset) -> Iterator[Scene]:
    for shard in dataset.shards():
        for rows in groups(dataset.folder / shard.images.path, ["scene"]) if shard.images else ():
            for text in rows["scene"].to_pylist():
                yield Scene.from_json(json.loads(text))


def shortcut_section(dataset: Dataset) -> str:
    """The card's words on shortcuts; empty where no question has an answer, or too few have one to split."""
    try:
        found = audit(samples_in(dataset), Settings(split="auto"))
    except UserError:
        return ""
    lines = [
        "## Shortcuts",
        "",
        "How far one thing about a sample gives its answer away (VQA-VS): its question type (QT), the word "
        "or pair of words that tells most (KW, KWP), the object or pair of objects (KO, KOP), and these "
        "together. A group is all samples with the same such thing; in an imbalanced one (normalised entropy "
        f"below {found.settings.imbalanced:g}) rare answers are out of distribution (OOD). Evenness is the "
        "mean normalised entropy of train, 1 for even answers. Words and objects are chosen knowing the "
        "answer, as the paper does: where every image shows the same few kinds, KO nearly spells it.",
        "",
        "| shortcut | groups | imbalanced | frequent answers | OOD test | evenness |",
        "|---|---:|---:|---:|---:|---:|",
        *(
            f"| {n.shortcut} | {n.test_groups:,} | {n.imbalanced:,} | {n.head:,} | {n.tail:,} "
            f"| {n.degree:.3f} |"
            for n in table(found)
        ),
    ]
    named = [(s, one) for s in found.labels for one in strongest(found, s, most=LISTED)]
    weighed = sorted(named, key=lambda pair: -pair[1].size * (1 - pair[1].entropy))[:LISTED]
    if weighed:
        lines += ["", "The strongest groups of train:", ""]
        lines += [
            f"- {shortcut} *{one.name}*: {one.share:.0%} of {one.size:,} are answered “{one.answer}”"
            for shortcut, one in weighed
        ]
    folder = "shiftscope audit THIS_FOLDER --out DIR"
    return "\n".join([*lines, "", f"`{folder}` writes these sets and a report."])
