"""A dataset of ours as samples for an audit, and what its card says of the shortcuts found."""

from collections.abc import Iterator
from typing import Any

from ..errors import UserError
from ..question_join import build_question_table
from ..question_table import QuestionTable, add_objects, build_image_contents, object_kind
from ..shortcuts.audit import OWN_SOURCE, AuditSettings, audit_shortcuts
from ..shortcuts.audit_statistics import compute_audit_statistics, find_strongest_groups
from .dataset import Dataset
from .shard import read_columns
from .tables import summarize_scene

LISTED_GROUPS = 5  # strongest groups that a card names
SAMPLE_COLUMNS = ["question_id", "image_ids", "question", "answer", "question_type"]


def read_stored_questions(dataset: Dataset) -> QuestionTable:
    """Every answered question with the objects of its (first) image; programs are not read."""
    import pyarrow.compute as pc

    found: dict[str, list[Any]] = {name: [] for name in (*SAMPLE_COLUMNS, "split")}
    unanswered: list[str] = []
    for shard in dataset.shards():
        if not shard.questions:
            continue
        rows = read_columns(dataset.folder / shard.questions.path, SAMPLE_COLUMNS)
        answered = rows["answer"].is_valid()
        unanswered += rows.filter(pc.invert(answered))["question_id"].to_pylist()
        rows = rows.filter(answered)
        for name in SAMPLE_COLUMNS:
            found[name] += rows[name].to_pylist()
        found["split"] += [shard.split] * rows.num_rows
    if not found["answer"]:
        raise UserError(f"{dataset.folder}: there are no questions with an answer in it")
    images = found["image_ids"]
    several = [k for k, shown in enumerate(images) if len(shown) > 1]
    samples = build_question_table(
        OWN_SOURCE,
        found["question_id"],
        [shown[0] if shown else None for shown in images],
        found["question"],
        [("questions without an answer", "left out", unanswered)],
        [("questions about several images", "kept with the objects of the first", several)],
        answers=found["answer"],
        types=[kind or None for kind in found["question_type"]],
        splits=found["split"],
    )
    return add_objects(samples, [build_image_contents(_iterate_image_objects(dataset))])


def _iterate_image_objects(dataset: Dataset) -> Iterator[tuple[str, list[str]]]:
    """Each image and the kinds of its objects."""
    for shard in dataset.shards():
        if shard.images:
            for text in read_columns(dataset.folder / shard.images.path, ["scene"])["scene"].to_pylist():
                seen = summarize_scene(text)
                yield seen.id, [kind for pairs in seen.objects for kind in object_kind(pairs)]


def format_shortcut_section(dataset: Dataset) -> str:
    """The card's words on shortcuts; empty where no question has an answer, or too few have one to split."""
    try:
        found = audit_shortcuts(read_stored_questions(dataset), AuditSettings(split="auto"))
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
            f"| {n.shortcut} | {n.test_groups:,} | {n.imbalanced:,} | {n.head:,} | {n.tail:,} | {n.degree:.3f} |"
            for n in compute_audit_statistics(found)
        ),
    ]
    named = [(s, one) for s in found.labels for one in find_strongest_groups(found, s, most=LISTED_GROUPS)]
    weighed = sorted(named, key=lambda pair: -pair[1].size * (1 - pair[1].entropy))[:LISTED_GROUPS]
    if weighed:
        lines += ["", "The strongest groups of train:", ""]
        lines += [
            f"- {shortcut} *{one.name}*: {one.share:.0%} of {one.size:,} are answered “{one.answer}”"
            for shortcut, one in weighed
        ]
    folder = "shiftscope audit THIS_FOLDER --out DIR"
    return "\n".join([*lines, "", f"`{folder}` writes these sets and a report."])
