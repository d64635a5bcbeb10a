"""A dataset of ours as samples for an audit, and what its card says of the shortcuts found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..audit.audit import Settings, audit
from ..audit.objects import kind_of, shown, with_objects
from ..audit.samples import Samples, coded, remarks
from ..audit.split import OURS
from ..audit.tables import strongest, table
from ..errors import UserError
from .dataset import Dataset
from .glance import glance
from .shard import columns_of

LISTED = 5  # strongest groups that a card names
COLUMNS = ["question_id", "image_ids", "question", "answer", "question_type"]


def samples_in(dataset: Dataset) -> Samples:
    """Every answered question with the objects of its (first) image; programs are not read."""
    import pyarrow.compute as pc

    found: dict[str, list[Any]] = {name: [] for name in (*COLUMNS, "split")}
    unanswered: list[str] = []
    for shard in dataset.shards():
        if not shard.questions:
            continue
        rows = columns_of(dataset.folder / shard.questions.path, COLUMNS)
        answered = rows["answer"].is_valid()
        unanswered += rows.filter(pc.invert(answered))["question_id"].to_pylist()
        rows = rows.filter(answered)
        for name in COLUMNS:
            found[name] += rows[name].to_pylist()
        found["split"] += [shard.split] * rows.num_rows
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
    return with_objects(samples, [shown(_images(dataset))])


def _images(dataset: Dataset) -> Iterator[tuple[str, list[str]]]:
    """Each image and the kinds of its objects."""
    for shard in dataset.shards():
        if shard.images:
            for text in columns_of(dataset.folder / shard.images.path, ["scene"])["scene"].to_pylist():
                seen = glance(text)
                yield seen.id, [kind for pairs in seen.objects for kind in kind_of(pairs)]


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
