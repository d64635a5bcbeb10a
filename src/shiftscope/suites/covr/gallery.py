"""A page of questions over several images, drawn from a COVR dataset, and what its graphs gave."""

from collections.abc import Sequence
from pathlib import Path

from ... import rng
from ...answer import spell
from ...files import write_whole
from ...folder import lock_folder
from ...question import Question
from ...questions.covr.dataset_statistics import list_template_names
from ...scene import Scene
from ...store.dataset import Dataset
from ...store.manifest import format_command
from . import suite as covr
from .make import CovrYield, compute_split_statistics, read_yield

SHOWN = 50
NAME = "covr.md"


def write_page(data: Path, out: Path, seed: int = 0, source: str = "") -> Path:
    """Write `covr.md` with questions drawn from all splits; `source` says what the graphs are."""
    dataset = Dataset.open(data)
    with lock_folder(out):
        write_whole(out / NAME, _format_page(dataset, read_yield(data), seed, source).encode())
    return out / NAME


def _format_page(dataset: Dataset, found: CovrYield, seed: int, source: str) -> str:
    order = rng.derive("gallery", "covr", seed).permutation(len(dataset))[:SHOWN]
    examples = [dataset.example(k) for k in sorted(order.tolist())]
    spec = dataset.manifest.spec
    again = covr.SUITE.make_command(spec)
    shown = {"of": "covr", "data": "data/covr", "source": source, "seed": seed, "out": "docs/gallery"}
    graphs, asked = sum(found.graphs.values()), sum(found.sources.values())
    candidates = sum(n for counts in found.asked.values() for n in counts.values())
    lines = [
        f"# COVR: {len(examples)} questions drawn at random",
        "",
        "<!-- made by `shiftscope gallery --of covr`; edit the source, not this page -->",
        "",
        "```bash",
        format_command("shiftscope make covr", {**again.options, "out": "data/covr"}, again.needs),
        format_command("shiftscope gallery", shown),
        "```",
        "",
        f"From {graphs:,} {source or 'scene graphs'}; which words exclude which was decided by "
        f"{', '.join(spec.get('overlap', ['schema']))}; seed {spec['seed']}. "
        f"Pieces of {asked:,} of them were asked about, which gave {candidates:,} questions with executed "
        f"answers ({candidates / max(asked, 1):.1f} per image asked about); {len(dataset):,} were kept. "
        f"The questions below were drawn from these with seed {seed}, none left out.",
        "",
        *_format_yield(dataset, found),
        "",
        "| question | answer | template | images |",
        "|---|---|---|---|",
    ]
    lines += [_format_row(e.question, [i.scene for i in e.images]) for e in examples]
    return "\n".join(lines) + "\n"


def _format_yield(dataset: Dataset, found: CovrYield) -> list[str]:
    splits = compute_split_statistics(dataset)
    heads = " | ".join(f"{s.split}, of {found.sources[s.split]:,} images" for s in splits)
    lines = [f"| kept of what could be asked | {heads} |", "|---" + "|---:" * len(splits) + "|"]
    for name in list_template_names(splits, found.asked):
        cells = (f"{s.templates[name]:,} of {found.asked[s.split][name]:,}" for s in splits)
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return lines


def _format_row(question: Question, scenes: Sequence[Scene]) -> str:
    answer = "" if question.answer is None else spell(question.answer)
    captions = [str(scene.note("caption") or scene.id) for scene in scenes]
    cells = (question.text, answer, f"`{question.provenance.template}`", " · ".join(captions))
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
