"""Card: the README of a dataset, which also tells `datasets.load_dataset(folder)` how to open it.

It shows how questions, answers and scenes are distributed, and what guessing blindly would score.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from ..files import encode_utf8, write_whole
from .audit_samples import format_shortcut_section
from .dataset import CardSection, Dataset
from .manifest import DEFAULT_INFO, OTHER_LICENSE, DatasetInfo
from .shard import ShardFile, open_parquet, read_columns
from .tables import (
    EVERY_PART_COLUMNS,
    GROUNDING_COLUMNS,
    IMAGE_COLUMNS,
    PART_COLUMNS,
    QUESTION_COLUMNS,
    Columns,
    build_card_feature,
)

BAR_HEIGHT = 20  # pixels a bar takes
LABEL_WIDTH = 150  # room for labels
CHART_WIDTH = 560
MAX_BARS = 24  # bars in a chart

_CHART_STYLE = "text{font:12px sans-serif;fill:#555}.t{font-weight:bold}rect{fill:#4878a8}"


def draw_histogram(title: str, counts: Sequence[tuple[str, int]]) -> str:
    """A horizontal bar for each count, with its share; what does not fit is mentioned in the title."""
    shown = counts[:MAX_BARS]
    total = sum(n for _, n in counts) or 1
    longest = max((n for _, n in shown), default=1) or 1
    cut = f" ({MAX_BARS} commonest of {len(counts)})" if len(counts) > MAX_BARS else ""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{CHART_WIDTH}" height="{BAR_HEIGHT * (len(shown) + 2)}">',
        f"<style>{_CHART_STYLE}</style>",
        f'<text class="t" x="8" y="{BAR_HEIGHT - 4}">{escape(title + cut)}</text>',
    ]
    for k, (label, n) in enumerate(shown):
        y = BAR_HEIGHT * (k + 1) + 6
        length = round((CHART_WIDTH - LABEL_WIDTH - 60) * n / longest, 1)
        text = label if len(label) <= 20 else f"{label[:19]}…"
        lines += [
            f'<text x="{LABEL_WIDTH - 8}" y="{y + 12}" text-anchor="end">{escape(text)}</text>',
            f'<rect x="{LABEL_WIDTH}" y="{y}" width="{length}" height="{BAR_HEIGHT - 5}"/>',
            f'<text x="{LABEL_WIDTH + length + 6}" y="{y + 12}">{100 * n / total:.1f}%</text>',
        ]
    return "\n".join([*lines, "</svg>", ""])


NO_TYPE = "(none)"


class SplitCounts(NamedTuple):
    """Counts of one split, or of several added up."""

    answers: Counter[tuple[str, str]]  # question type, answer
    words: Counter[int]  # in a question
    objects: Counter[int]  # in a scene

    def count_types(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for (kind, _), n in self.answers.items():
            found[kind] += n
        return found

    def count_answers(self, kind: str | None = None) -> Counter[str]:
        """How often each answer is right, to questions of one type or to all."""
        found: Counter[str] = Counter()
        for (k, answer), n in self.answers.items():
            if kind in (None, k):
                found[answer] += n
        return found


class BlindScore(NamedTuple):
    """How well blind guessing does on questions of one type, learned on another split."""

    kind: str
    n: int
    majority: int  # right with the commonest answer of all
    prior: int  # right with the commonest answer to this type


def count_split(dataset: Dataset, split: str) -> SplitCounts:
    """Count a split; questions without an answer are left out of the answers."""
    found = SplitCounts(Counter(), Counter(), Counter())
    for shard in dataset.shards(split):
        if shard.questions:
            names = ["question_type", "answer", "question"]
            table = read_columns(dataset.folder / shard.questions.path, names)
            kinds, answers, texts = (table.column(n).to_pylist() for n in names)
            found.words.update([len(text.split()) for text in texts])
            for (kind, answer), n in Counter(zip(kinds, answers, strict=True)).items():
                if answer is not None:
                    found.answers[kind or NO_TYPE, answer] += n
        if shard.images:
            table = read_columns(dataset.folder / shard.images.path, ["num_objects"])
            found.objects.update(table["num_objects"].to_pylist())
    return found


def score_blind(learned: SplitCounts, measured: SplitCounts) -> tuple[BlindScore, ...]:
    """Blind scores per question type, commonest first; a type never learned takes the majority answer."""

    def find_commonest(counts: Counter[str]) -> str:
        return rank_counts(counts)[0][0] if counts else ""

    overall = find_commonest(learned.count_answers())
    found = []
    for kind, n in rank_counts(measured.count_types()):
        right = measured.count_answers(kind)
        guess = find_commonest(learned.count_answers(kind)) or overall
        found.append(BlindScore(kind, n, right[overall], right[guess]))
    return tuple(found)


def rank_counts(counts: Counter[str]) -> list[tuple[str, int]]:
    """Commonest first; equal counts in alphabetical order, so that the order is always the same."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


SIZE_CATEGORIES = (
    *((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K")),
    *((10**6, "100K<n<1M"), (10**7, "1M<n<10M")),
)
LARGEST_SIZE = "10M<n<100M"
PRIOR_SPLIT = "train"


def write_card(dataset: Dataset, section: CardSection | None = None) -> None:
    """Write README.md and the figures it shows; a function of the manifest and the shards."""
    about = dataset.manifest.about
    counts_by_split = {split: count_split(dataset, split) for split in dataset.splits}
    total = SplitCounts(*(sum(each, Counter()) for each in zip(*counts_by_split.values(), strict=True)))
    charts = dict(_draw_charts(total))
    for name, svg in charts.items():
        write_whole(dataset.folder / "figures" / name, svg.encode())
    size = len(dataset) or sum(dataset.count(split)[0] for split in dataset.splits)
    config = "questions" if len(dataset) else "images"
    split = next((s for s in dataset.splits if any(dataset.count(s))), "train")
    load = f'rows = load_dataset("PATH/OF/THIS/FOLDER", "{config}", split="{split}")'
    configs = _list_configs(dataset)
    note = "".join(f"\n\n{words}" for words in _explain_columns(configs))
    rows = ["| {} | {:,} | {:,} |".format(split, *dataset.count(split)) for split in dataset.splits]
    parts = [
        f"---\n{format_front_matter(about, configs, size)}---",
        f"# {about.title}",
        about.summary,
        f"```python\nfrom datasets import load_dataset\n{load}\n```{note}",
        "\n".join(["| split | images | questions |", "|---|---:|---:|", *rows]),
        format_sources(about),
        section(dataset) if section else "",
        _format_blind_audit(counts_by_split),
        format_shortcut_section(dataset),
        "\n".join(["## Distributions", "", *(f"![{name}](figures/{name})" for name in charts)]),
        f"## Spec\n\n```json\n{json.dumps(dict(dataset.manifest.spec), indent=1, ensure_ascii=False)}\n```",
        "Made with " + ", ".join(f"{name} {v}" for name, v in dataset.manifest.made_with) + ".",
    ]
    write_whole(dataset.folder / "README.md", encode_utf8("\n\n".join(p for p in parts if p) + "\n"))


def format_sources(about: DatasetInfo) -> str:
    """Whose files the data were made from, if any; what is generated is ours to license."""
    if not about.sources:
        return ""
    own = f"What was added to these is under {DEFAULT_INFO.license}, as far as theirs allow."
    return f"## Sources and licences\n\nMade from\n{about.sources}\n\n{own}"


CardConfig = tuple[str, Columns, dict[str, tuple[str, list[ShardFile]]]]  # name, columns, split → path, files


def _list_configs(dataset: Dataset) -> list[CardConfig]:
    """`questions` first, which makes it the default; a config without rows is left out."""
    found: list[CardConfig] = []
    for name, columns in (("questions", QUESTION_COLUMNS), ("images", IMAGE_COLUMNS)):
        splits = {}
        for split in dataset.splits:
            files = [f for s in dataset.shards(split) if (f := s.questions if name == "questions" else s.images)]
            if files:
                splits[split] = f"{name}/{split}/*.parquet", files
        if splits:
            _, (first, *_) = next(iter(splits.values()))
            with open_parquet(dataset.folder / first.path) as file:  # every file of a config has the same columns
                there = set(file.schema_arrow.names)
            more = tuple(c for c in (*PART_COLUMNS, *EVERY_PART_COLUMNS, *GROUNDING_COLUMNS) if c[0] in there)
            found.append((name, columns + more, splits))
    return found


def _explain_columns(configs: Iterable[CardConfig]) -> Iterable[str]:
    """A paragraph on what a reader could not tell from the names of columns."""
    there = {column for _, columns, _ in configs for column, _ in columns}
    if "image_ids" in there:
        yield "`image_ids` of a question name rows of the config `images`."
    if "grounding" in there:
        yield (
            "`grounding` lists the noun phrases of a question: `question[start:end]` refers to these `objects` (rows "
            "of `boxes`) and `parts` (of an object, by name; their boxes are in `scene`), or to nothing."
        )
    if "every_part_values" in there:
        yield (
            "`np.repeat(every_part_values, every_part_lengths).reshape(height, width)` is the mask of all parts: the "
            "number of a part, from 1, in the `every_part_names` of the object that the mask of objects shows there. "
            "`part_values` shows only the parts that the scene lists, numbered over the whole scene."
        )


def format_front_matter(about: DatasetInfo, configs: Iterable[CardConfig], size: int) -> str:
    """The YAML a card begins with; the first config is the default one."""
    listed = list(configs)
    data = {
        "license": about.license,
        **({"license_name": "see-sources-below"} if about.license == OTHER_LICENSE else {}),
        "task_categories": ["visual-question-answering"],
        "language": [about.language],
        "size_categories": [next((name for most, name in SIZE_CATEGORIES if size < most), LARGEST_SIZE)],
        "configs": [
            {"config_name": name}
            | ({"default": True} if k == 0 else {})
            | {"data_files": [{"split": split, "path": path} for split, (path, _) in splits.items()]}
            for k, (name, _, splits) in enumerate(listed)
        ],
        "dataset_info": [_format_info(*config) for config in listed],
    }
    return "".join(f"{line}\n" for line in _format_yaml(data))


def _format_info(name: str, columns: Columns, splits: Mapping[str, tuple[str, list[ShardFile]]]) -> dict[str, Any]:
    rows = [
        {"name": split, "num_bytes": sum(f.bytes for f in files), "num_examples": sum(f.rows for f in files)}
        for split, (_, files) in splits.items()
    ]
    features = [{"name": column} | build_card_feature(kind) for column, kind in columns]
    size = sum(f.bytes for _, files in splits.values() for f in files)
    sizes = {"download_size": size, "dataset_size": size}
    return {"config_name": name, "features": features, "splits": rows} | sizes


def _format_yaml(data: Any) -> list[str]:
    """Lines of YAML; a JSON scalar is a YAML scalar."""
    if isinstance(data, dict):
        entries = [(f"{key}:", value) for key, value in data.items()]
    elif isinstance(data, list):
        entries = [("-", value) for value in data]
    else:
        return [json.dumps(data, ensure_ascii=False)]
    lines = []
    for head, value in entries:
        inner = _format_yaml(value)
        if not isinstance(value, dict | list):
            lines.append(f"{head} {inner[0]}")
        elif head == "-":
            lines += [f"- {inner[0]}", *(f"  {line}" for line in inner[1:])]
        else:
            lines += [head, *(f"  {line}" for line in inner)]
    return lines


def _format_blind_audit(counts_by_split: Mapping[str, SplitCounts]) -> str:
    """How far answering without looking gets: one table for each split that was not learned on."""
    answered = {split: counts for split, counts in counts_by_split.items() if counts.answers}
    if not answered:
        return ""
    learned = PRIOR_SPLIT if PRIOR_SPLIT in answered else next(iter(answered))
    measured = [split for split in answered if split != learned] or [learned]
    lines = [
        "## Blind audit",
        "",
        f"Accuracy without looking at the image, learned on `{learned}`: *majority* always gives the "
        "commonest answer, *prior* the commonest answer to the type of question.",
    ]
    for split in measured:
        rows = score_blind(answered[learned], answered[split])
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


def _draw_charts(counts: SplitCounts) -> Iterable[tuple[str, str]]:
    if counts.answers:
        yield "question_types.svg", draw_histogram("Question types", rank_counts(counts.count_types()))
        yield "answers.svg", draw_histogram("Answers", rank_counts(counts.count_answers()))
    for name, title, numbers in (
        ("question_length", "Words per question", counts.words),
        ("objects", "Objects per scene", counts.objects),
    ):
        if numbers:
            yield f"{name}.svg", draw_histogram(title, [(str(value), n) for value, n in sorted(numbers.items())])
