"""Card: the README of a dataset, which also tells `datasets.load_dataset(folder)` how to open it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..whole import utf8, write_whole
from .about import About
from .columns import IMAGES, PARTS, QUESTIONS, Columns, card_features
from .dataset import Dataset
from .figures import bars
from .shard import ShardFile, reading
from .shortcuts import shortcut_section
from .tally import Tally, blind_audit, ranked, tally, total

SIZES = (
    (10**3, "n<1K"),
    (10**4, "1K<n<10K"),
    (10**5, "10K<n<100K"),
    (10**6, "100K<n<1M"),
    (10**7, "1M<n<10M"),
)
LARGEST = "10M<n<100M"
LEARNED_ON = "train"


Passage = Callable[[Dataset], str]  # Markdown, or nothing


def write_card(dataset: Dataset, passage: Passage | None = None) -> None:
    """Write README.md and the figures it shows; a function of the manifest and the shards."""
    about = dataset.manifest.about
    tallies = {split: tally(dataset, split) for split in dataset.splits}
    charts = dict(_charts(total(tallies.values())))
    for name, svg in charts.items():
        write_whole(dataset.folder / "figures" / name, svg.encode())
    parts = [
        f"---\n{front_matter(about, _configs(dataset), len(dataset) or _image_count(dataset))}---",
        f"# {about.title}",
        about.summary,
        _opening(dataset),
        _counts(dataset),
        passage(dataset) if passage else "",
        _audit(tallies),
        shortcut_section(dataset),
        "\n".join(["## Distributions", "", *(f"![{name}](figures/{name})" for name in charts)]),
        f"## Spec\n\n```json\n{json.dumps(dict(dataset.manifest.spec), indent=1, ensure_ascii=False)}\n```",
        "Made with " + ", ".join(f"{name} {v}" for name, v in dataset.manifest.made_with) + ".",
    ]
    write_whole(dataset.folder / "README.md", utf8("\n\n".join(p for p in parts if p) + "\n"))


Config = tuple[str, Columns, dict[str, tuple[str, list[ShardFile]]]]  # name, columns, split → path, files


def _configs(dataset: Dataset) -> list[Config]:
    """`questions` first, which makes it the default; a config without rows is left out."""
    found: list[Config] = []
    for name, columns in (("questions", QUESTIONS), ("images", IMAGES)):
        splits = {}
        for split in dataset.splits:
            files = [
                f for s in dataset.shards(split) if (f := s.questions if name == "questions" else s.images)
            ]
            if files:
                splits[split] = f"{name}/{split}/*.parquet", files
        if splits:
            _, (first, *_) = next(iter(splits.values()))
            found.append((name, columns + _of_parts(dataset, first), splits))
    return found


def _of_parts(dataset: Dataset, file: ShardFile) -> Columns:
    """The columns of parts that a file has; every file of a config has the same columns."""
    with reading(dataset.folder / file.path) as opened:
        there = set(opened.schema_arrow.names)
    return tuple(column for column in PARTS if column[0] in there)


def front_matter(about: About, configs: Iterable[Config], size: int) -> str:
    """The YAML a card begins with; the first config is the default one."""
    listed = list(configs)
    data = {
        "license": about.license,
        "task_categories": ["visual-question-answering"],
        "language": [about.language],
        "size_categories": [next((name for most, name in SIZES if size < most), LARGEST)],
        "configs": [_config(name, splits, default=k == 0) for k, (name, _, splits) in enumerate(listed)],
        "dataset_info": [_info(*config) for config in listed],
    }
    return "".join(f"{line}\n" for line in _yaml(data))


def _config(name: str, splits: Mapping[str, tuple[str, list[ShardFile]]], *, default: bool) -> dict[str, Any]:
    files = [{"split": split, "path": path} for split, (path, _) in splits.items()]
    return {"config_name": name} | ({"default": True} if default else {}) | {"data_files": files}


def _info(name: str, columns: Columns, splits: Mapping[str, tuple[str, list[ShardFile]]]) -> dict[str, Any]:
    size = sum(f.bytes for _, files in splits.values() for f in files)
    rows = [
        {"name": split, "num_bytes": sum(f.bytes for f in files), "num_examples": sum(f.rows for f in files)}
        for split, (_, files) in splits.items()
    ]
    return {
        "config_name": name,
        "features": card_features(columns),
        "splits": rows,
        "download_size": size,
        "dataset_size": size,
    }


def _yaml(data: Any) -> list[str]:
    """Lines of YAML; a JSON scalar is a YAML scalar."""
    if isinstance(data, dict):
        entries = [(f"{key}:", value) for key, value in data.items()]
    elif isinstance(data, list):
        entries = [("-", value) for value in data]
    else:
        return [json.dumps(data, ensure_ascii=False)]
    lines = []
    for head, value in entries:
        inner = _yaml(value)
        if not isinstance(value, dict | list):
            lines.append(f"{head} {inner[0]}")
        elif head == "-":
            lines += [f"- {inner[0]}", *(f"  {line}" for line in inner[1:])]
        else:
            lines += [head, *(f"  {line}" for line in inner)]
    return lines


def _image_count(dataset: Dataset) -> int:
    return sum(dataset.count(split)[0] for split in dataset.splits)


def _opening(dataset: Dataset) -> str:
    config = "questions" if len(dataset) else "images"
    split = next((s for s in dataset.splits if any(dataset.count(s))), "train")
    return "\n".join(
        [
            "```python",
            "from datasets import load_dataset",
            f'rows = load_dataset("PATH/OF/THIS/FOLDER", "{config}", split="{split}")',
            "```",
        ]
        + (["", "`image_ids` of a question name rows of the config `images`."] if len(dataset) else [])
    )


def _counts(dataset: Dataset) -> str:
    rows = [(split, *dataset.count(split)) for split in dataset.splits]
    lines = [f"| {split} | {images:,} | {questions:,} |" for split, images, questions in rows]
    return "\n".join(["| split | images | questions |", "|---|---:|---:|", *lines])


def _audit(tallies: Mapping[str, Tally]) -> str:
    """How far answering without looking gets: one table for each split that was not learned on."""
    asked = {split: t for split, t in tallies.items() if t.answers}
    if not asked:
        return ""
    learned = LEARNED_ON if LEARNED_ON in asked else next(iter(asked))
    measured = [split for split in asked if split != learned] or [learned]
    lines = [
        "## Blind audit",
        "",
        f"Accuracy without looking at the image, learned on `{learned}`: *majority* always gives the "
        "commonest answer, *prior* the commonest answer to the type of question.",
    ]
    for split in measured:
        rows = blind_audit(asked[learned], asked[split])
        n, majority, prior = (sum(getattr(r, f) for r in rows) for f in ("n", "majority", "prior"))
        same = ", the questions it was learned on" if split == learned else ""
        lines += [
            "",
            f"On `{split}`{same}: majority {majority / n:.1%}, prior {prior / n:.1%} of {n:,} questions.",
            "",
            "| question type | questions | majority | prior |",
            "|---|---:|---:|---:|",
            *(f"| {r.kind} | {r.n:,} | {r.majority / r.n:.1%} | {r.prior / r.n:.1%} |" for r in rows),
        ]
    return "\n".join(lines)


def _charts(counts: Tally) -> Iterable[tuple[str, str]]:
    if counts.answers:
        yield "question_types.svg", bars("Question types", ranked(counts.types()))
        yield "answers.svg", bars("Answers", ranked(counts.answer_counts()))
    if counts.words:
        yield "question_length.svg", bars("Words in a question", _ascending(counts.words))
    if counts.objects:
        yield "objects.svg", bars("Objects in a scene", _ascending(counts.objects))


def _ascending(counts: Counter[int]) -> list[tuple[str, int]]:
    return [(str(value), n) for value, n in sorted(counts.items())]
