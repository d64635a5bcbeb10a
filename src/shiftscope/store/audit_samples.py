"""A dataset of ours as samples for an audit, and what its card says of the shortcuts found."""

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
    found: dict[str, list[Any]] = {name: [] for name in (*SAMPLE_COLUMNS, "split")}
    unanswered: list[str] = []
    for shard in dataset.shards():
        if shard.questions:
            rows = read_columns(dataset.folder / shard.questions.path, SAMPLE_COLUMNS)
            if rows["answer"].null_count:  # to filter, pyarrow loads all that it can compute
                unanswered += rows.filter(rows["answer"].is_null())["question_id"].to_pylist()
                rows = rows.filter(rows["answer"].is_valid())
            for name, values in rows.to_pydict().items():
                found[name] += values
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
    paths = [dataset.folder / shard.images.path for shard in dataset.shards() if shard.images]
    texts = (text for path in paths for text in read_columns(path, ["scene"])["scene"].to_pylist())
    scenes = map(summarize_scene, texts)
    kinds = ((scene.id, [kind for pairs in scene.objects for kind in object_kind(pairs)]) for scene in scenes)
    return add_objects(samples, [build_image_contents(kinds)])


def format_shortcut_section(dataset: Dataset) -> str:
    """The card's section; empty where no question has an answer, or too few have one to split."""
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
    strongest = sorted(named, key=lambda pair: -pair[1].size * (1 - pair[1].entropy))[:LISTED_GROUPS]
    lines += ["", "The strongest groups of train:", ""] if strongest else []
    lines += [
        f"- {shortcut} *{one.name}*: {one.share:.0%} of {one.size:,} are answered “{one.answer}”"
        for shortcut, one in strongest
    ]
    return "\n".join([*lines, "", "`shiftscope audit THIS_FOLDER --out DIR` writes these sets and a report."])
