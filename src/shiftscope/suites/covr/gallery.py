"""A page of questions over several images, drawn from a COVR dataset, and what its graphs gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ... import rng
from ...answer import spell
from ...files import write_whole
from ...folder import lock_folder
from ...question import Question
from ...questions.covr.dataset_statistics import list_template_names
from ...scene import Scene
from ...store.dataset import Dataset, Example
from ...store.manifest import format_command
from . import suite as covr
from .make import CovrYield, compute_split_statistics, read_yield

SHOWN = 50
NAME = "covr.md"


def write_page(data: Path, out: Path, seed: int = 0, source: str = "") -> Path:
    """Write `covr.md` with questions drawn from all splits; `source` says what the graphs are."""
    dataset = Dataset.open(data)
    with lock_folder(out):
        text = format_page(dataset, read_yield(data), sample_examples(dataset, seed), seed, source)
        write_whole(out / NAME, text.encode())
    return out / NAME


def sample_examples(dataset: Dataset, seed: int) -> list[Example]:
    """Questions of all splits, in the order of the dataset."""
    order = rng.derive("gallery", "covr", seed).permutation(len(dataset))[:SHOWN]
    return [dataset.example(k) for k in sorted(order.tolist())]


def format_page(dataset: Dataset, came: CovrYield, examples: Sequence[Example], seed: int, source: str) -> str:
    spec = dataset.manifest.spec
    graphs, asked = sum(came.graphs.values()), sum(came.sources.values())
    origin = f"{graphs:,} {source or 'scene graphs'}"
    sources = ", ".join(spec.get("overlap", ["schema"]))
    candidates = sum(n for counts in came.asked.values() for n in counts.values())
    lines = [
        f"# COVR: {len(examples)} questions drawn at random",
        "",
        "<!-- made by `shiftscope gallery --of covr`; edit the source, not this page -->",
        "",
        "```bash",
        *_list_commands(spec, seed, source),
        "```",
        "",
        f"From {origin}; which words exclude which was decided by {sources}; seed {spec['seed']}. "
        f"Pieces of {asked:,} of them were asked about, which gave {candidates:,} questions with executed "
        f"answers ({candidates / max(asked, 1):.1f} per image asked about); {len(dataset):,} were kept. "
        f"The questions below were drawn from these with seed {seed}, none left out.",
        "",
        *_format_yield(dataset, came),
        "",
        "| question | answer | template | images |",
        "|---|---|---|---|",
    ]
    lines += [_format_row(e.question, [i.scene for i in e.images]) for e in examples]
    return "\n".join(lines) + "\n"


def _list_commands(spec: Mapping[str, Any], seed: int, source: str) -> list[str]:
    """What made the dataset and this page."""
    again = covr.SUITE.make_command(spec)
    shown = {"of": "covr", "data": "data/covr", "source": source, "seed": seed, "out": "docs/gallery"}
    return [
        format_command("shiftscope make covr", {**again.options, "out": "data/covr"}, again.needs),
        format_command("shiftscope gallery", shown),
    ]


def _format_yield(dataset: Dataset, came: CovrYield) -> list[str]:
    found = compute_split_statistics(dataset)
    splits = " | ".join(f"{f.split}, of {came.sources[f.split]:,} images" for f in found)
    lines = [f"| kept of what could be asked | {splits} |", "|---" + "|---:" * len(found) + "|"]
    for name in list_template_names(found, came.asked):
        cells = (f"{f.templates[name]:,} of {came.asked[f.split][name]:,}" for f in found)
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return lines


def _format_row(question: Question, scenes: Sequence[Scene]) -> str:
    answer = "" if question.answer is None else spell(question.answer)
    captions = [str(scene.note("caption") or scene.id) for scene in scenes]
    cells = (question.text, answer, f"`{question.provenance.template}`", " · ".join(captions))
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
