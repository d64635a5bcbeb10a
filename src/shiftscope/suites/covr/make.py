"""Make a COVR dataset: read and index graphs, ask all that can be asked, choose, write; resumable in between.

What needs all images is a pass of its own: each stage has a folder named by the hash of what it depends on,
in a hidden folder inside the dataset's that is removed at the end.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ... import rng, suites
from ...answer import spell
from ...errors import UserError
from ...executor import Executor
from ...files import explain_write_errors, read_whole, write_whole
from ...folder import lock_folder
from ...question import Question
from ...questions.covr import dataset_statistics as statistics
from ...records import content_id
from ...scene import Scene
from ...store.build_dataset import WORK_FOLDER, BuildStopped
from ...store.dataset import Dataset
from ...store.manifest import Manifest, format_command, read_manifest, refuse_changed
from .. import ProgressBar
from .. import split_graphs as graph_stage
from ..graph_inputs import GraphInputs, OverlapSources, describe_left_out, identify_file, identify_pictures, read_schema
from ..split_graphs import DONE, SPLITS, SplitGraphs
from . import candidates as candidate_stage
from . import reported as paper
from . import suite as covr
from .candidates import CandidateSpec
from .suite import CovrSpec
from .train_classifier import ClassifierTraining, TrainedClassifiers, read_trained_classifiers, train_classifiers
from .verify import YIELD_FILE, NamedClassifier, describe_verifier, find_classifier

REWORDED = (  # on the card
    "Scenes of an open vocabulary are stored in the words that questions use: what a file calls `wears` or "
    "`has on` is `wearing`. "
)


class CovrYield(NamedTuple):
    """What came of the graphs: how many there were, and how many questions could be asked about them."""

    graphs: dict[str, int]  # split →
    sources: dict[str, int]  # split → how many of them were asked about, the others shown beside them
    left_out: dict[str, int]  # why → how many graphs
    asked: dict[str, dict[str, int]]  # split → template → candidates
    checked: dict[str, int]  # what the verifier judged and dropped, and how; empty without one


def build_covr_spec(
    graphs: Sequence[Path], held_out: Sequence[Path], images: Path | None, overlap: Sequence[str], **rest: Any
) -> tuple[CovrSpec, GraphInputs]:
    inputs = GraphInputs(tuple(graphs), tuple(held_out), images)
    schema = read_schema(graphs[0])
    sources = OverlapSources.from_names(overlap, schema)
    if rest.get("verify"):
        if schema.closed:
            raise UserError(f"{graphs[0]}: {schema.name} scenes are complete; omit --verify")
        find_classifier(rest["verify"], tried=True, trusted=bool(rest.get("trust_remote_code")))
    spec = CovrSpec(
        world="",
        graphs=tuple(map(identify_file, graphs)),
        val=tuple(map(identify_file, held_out)),
        images=identify_pictures(images) if images else "",
        overlap=tuple(sources.to_spec()),
        **rest,
    )
    return spec, GraphInputs(inputs.graphs, inputs.held_out, images, sources)


@contextmanager
def run_stages(
    spec: CovrSpec, out: Path, inputs: GraphInputs, executor: Executor, bar: ProgressBar
) -> Iterator[suites.PreparedInputs]:
    """The stages before the shards, each in a folder named by what it depends on; after these, the yield is kept."""
    work = out / WORK_FOLDER
    with explain_write_errors(out):
        work.mkdir(exist_ok=True)
    executor.require_files([work])  # stages read what those before them wrote
    try:
        classifier = None
        if spec.verify and not spec.world:
            classifier = find_classifier(spec.verify, trusted=spec.trust_remote_code)
            classifier = replace(classifier, cache=inputs.cache, use_cache=inputs.use_cache)
        todo, found = _choose_questions(spec, work, inputs, classifier, executor, bar)
        counts = {split: len(candidate_stage.read_selection(todo[1], split).rows) for split in SPLITS}
        if not any(counts.values()):
            graphs = ", ".join(f"{split} {n:,}" for split, n in found.graphs.items())
            sums = {name: sum(found.asked[split][name] for split in SPLITS) for name in found.asked["train"]}
            candidates = ", ".join(f"{name} {n}" for name, n in sums.items())
            raise UserError(
                f"too few images: the {sum(found.graphs.values()):,} graphs ({graphs}) "
                f"gave no question to keep ({candidates}); related images are needed in each split"
            )
        yield suites.PreparedInputs(spec.spec(), spec.jobs(counts), todo, found)
    except UserError:  # graphs that were read in part are read anew
        for folder in work.glob("graphs-*"):
            if not (folder / DONE).exists():
                shutil.rmtree(folder)
        if work.is_dir() and not any(work.iterdir()):
            work.rmdir()
        raise
    write_whole(out / YIELD_FILE, (json.dumps(found._asdict(), indent=1) + "\n").encode())
    shutil.rmtree(work)


def _choose_questions(
    spec: CovrSpec,
    work: Path,
    inputs: GraphInputs,
    classifier: NamedClassifier | None,
    executor: Executor,
    bar: ProgressBar,
) -> tuple[tuple[CandidateSpec, Path], CovrYield]:
    """Read and index graphs, ask all that can be asked, choose."""
    try:
        graphs = _make_graphs(spec, work, inputs, executor, bar)
        trained, asking = _prepare_candidates(spec, work, graphs, inputs, classifier, executor, bar)
        with bar("asking, 25 images at a time") as progress:
            candidate_stage.make_candidates(asking, executor, progress or suites.ignore_progress, trained)
        picked = work / f"chosen-{_hash(asking.folder.name, spec.questions)}"
        asked = candidate_stage.select_questions(asking, picked, spec.splits())
    except KeyboardInterrupt:
        raise BuildStopped(f"stopped; what is done is kept in {work}: run the same command again to resume") from None
    with graph_stage.open_stage_file(graphs / "about.json") as path:
        left_out = json.loads(path.read_bytes())
    counted = {split: len(SplitGraphs(graphs, split)) for split in SPLITS}
    sources = {split: len(candidate_stage.select_sources(asking, split)) for split in SPLITS}
    checked = candidate_stage.count_checked_images(asking) | ({"lessons": trained.examples} if trained else {})
    return (asking, picked), CovrYield(counted, sources, left_out, asked, checked)


def _make_graphs(spec: CovrSpec, work: Path, inputs: GraphInputs, executor: Executor, bar: ProgressBar) -> Path:
    """The folder of the first stage, made if it is not there."""
    ours, theirs = (("world", "n", "size", "share", "seed"), ("graphs", "val", "images", "share", "keep_spatial"))
    stored = spec.spec()
    folder = work / f"graphs-{_hash({name: stored[name] for name in (ours if spec.world else theirs)})}"
    if (folder / DONE).exists():
        return folder
    about = dict.fromkeys(("repeated", "empty", "without_picture"), 0)
    with bar("making scenes" if spec.world else "reading graphs") as progress:
        tell = progress or suites.ignore_progress
        if spec.world:
            counts = spec.scene_counts()
            lines = graph_stage.sample_world_graphs(partial(covr.sample_world_scene, spec), counts, executor, tell)
        else:
            lines = graph_stage.read_user_graphs(inputs, spec.share, tell, about)
        graph_stage.write_graphs(lines, folder, about)
    with bar("indexing"):
        graph_stage.index_graphs(folder, spec.keep_spatial, executor)
    return folder


def _prepare_candidates(
    spec: CovrSpec,
    work: Path,
    graphs: Path,
    inputs: GraphInputs,
    classifier: NamedClassifier | None,
    executor: Executor,
    bar: ProgressBar,
) -> tuple[TrainedClassifiers | None, CandidateSpec]:
    """The trained models that check graphs, if any, trained unless all candidates are there; and what to ask."""

    def build_candidate_spec(fingerprint: str = "") -> CandidateSpec:
        """What other models checked has another folder."""
        names = ("seed", "easy_distractors", "paraphrased", "overlap", "verify", "subgraphs")
        most = tuple(spec.source_counts().items())
        server = classifier.identify() if classifier else {}
        known: list[Any] = [graphs.name, most, {name: spec.spec().get(name) for name in names}]
        folder = work / f"asked-{_hash(*known, *filter(None, (fingerprint, server)))}"
        rest = spec.easy_distractors, spec.paraphrased, spec.subgraphs, most, classifier
        return CandidateSpec(graphs, folder, inputs, spec.seed, *rest)

    if classifier is None or not classifier.learns:
        return None, build_candidate_spec()
    folder = work / f"verifier-{_hash(graphs.name, spec.seed, spec.overlap, spec.verify)}"
    before = read_trained_classifiers(folder)
    if before is not None and (asking := build_candidate_spec(before.fingerprint)).is_done:
        return before, asking
    training = ClassifierTraining(graphs, folder, inputs, spec.seed)
    with bar("training the verifier") as progress:
        trained = train_classifiers(training, classifier, executor, progress or suites.ignore_progress)
    return trained, build_candidate_spec(trained.fingerprint)


def _hash(*data: Any) -> str:
    return content_id([CovrSpec.version, *data])[:16]


def find_finished(out: Path, spec: Mapping[str, Any]) -> suites.MadeDataset | None:
    """The dataset if it is there and whole; a folder with another one is refused before any work."""
    there = read_manifest(out)
    if there is None:
        return None
    if there.shards or not (out / WORK_FOLDER).is_dir():
        refuse_changed(out, there, Manifest(dict(spec), there.plan, there.made_with))
    if not there.complete or not (out / YIELD_FILE).is_file():
        return None
    dataset = Dataset(out, there, made=0)
    dataset.verify()
    return suites.MadeDataset(dataset, read_yield(out))


def read_yield(out: Path) -> CovrYield:
    try:
        return CovrYield(**json.loads(read_whole(out / YIELD_FILE)))
    except (OSError, ValueError, TypeError) as error:
        raise UserError(f"{out / YIELD_FILE}: cannot be read ({error}); make the dataset again") from None


def compute_split_statistics(dataset: Dataset) -> list[statistics.CovrStatistics]:
    return [statistics.compute_covr_statistics(split, dataset.questions(split)) for split in dataset.splits]


def format_summary(found: CovrYield, dataset: Dataset) -> str:
    """For the card: where the questions come from, and their statistics."""
    spec = dataset.manifest.spec
    counted = [f"{name} {values[0]:,}" for name, values in paper.STATISTICS.items()]
    paraphrased = bool(spec["paraphrased"])
    shares = [(model, paper.find_accuracy(model, "test", paraphrased=paraphrased)) for model in paper.MODELS]
    accuracies = [f"{model} {share:.1%}" for model, share in shares if share is not None]
    reported = (
        f"For the paper's own data, *{paper.SOURCE}*: in train {', '.join(counted)} (Table 3); accuracy on "
        f"test {', '.join(accuracies)} (Table 6)."
    )
    measured = statistics.format_statistics(compute_split_statistics(dataset), found.asked)
    graphs = ", ".join(f"{split} {n:,}" for split, n in found.graphs.items())
    candidates = sum(n for counts in found.asked.values() for n in counts.values())
    lines = [
        f"Made from {sum(found.graphs.values()):,} scene graphs ({graphs}); about pieces of "
        f"{sum(found.sources.values()):,} of them {candidates:,} questions could be asked. "
        "An image is in one split only, and no words of `val` are asked in `test`.",
        f"Which words exclude which is decided by {', '.join(spec.get('overlap', ['schema']))}. "
        + ("Distractors are random images. " if spec["easy_distractors"] else "")
        + ("Questions are paraphrased. " if spec["paraphrased"] else "")
        + (REWORDED if "graphs" in spec else "")
        + describe_verifier(spec, found.checked),
        *list_empty_splits(found, dataset.splits),
        *(f"{line.capitalize()}." for line in describe_left_out(found.left_out)),
    ]
    return "\n".join([*lines, "", measured, "", reported])


def list_empty_splits(found: CovrYield, splits: Sequence[str]) -> list[str]:
    """A sentence for each split that got no question."""
    return [
        f"No question for {split}, which has {found.graphs[split]:,} graph{'s' * (found.graphs[split] != 1)}."
        for split in SPLITS
        if split not in splits
    ]


def describe_made(dataset: Dataset, found: CovrYield) -> suites.MakeReport:
    splits = compute_split_statistics(dataset)
    data = suites.describe_folder(dataset) | {"yield": found._asdict()}
    data["splits"] = {f.split: f.to_json() | {"images": dataset.count(f.split)[0]} for f in splits}
    heads, tables = [f.split for f in splits], [f.table() for f in splits]
    counted = {n: [f"{t[n]:,}" if isinstance(t[n], int) else f"{t[n]:.1f}" for t in tables] for n in tables[0]}
    rows = [(name, *cells) for name, cells in counted.items()]
    names, asked = statistics.list_template_names(splits, found.asked), found.asked
    templates = [(n, *(f"{f.templates[n]:,} of {asked[f.split][n]:,}" for f in splits)) for n in names]
    text: list[str | suites.TextTable] = [
        suites.TextTable(("", *heads), rows, "statistics, as in the paper's Table 3"),
        suites.TextTable(("template", *heads), templates, "kept of what could be asked"),
    ]
    for f in splits:
        text.append(f"{f.split}: top answers {_format_shares(f.top_answers(), f.questions)}")
        text.append(f"{f.split}: images per question {_format_shares(sorted(f.images_each.items()), f.questions)}")
        for name in statistics.OPERATIONS:
            counts = sorted(f.operations.get(name, {}).items())
            text.append(f"{f.split}: {name} per question {_format_shares(counts, f.questions)}")
    text += [*list_empty_splits(found, dataset.splits), *describe_left_out(found.left_out)]
    if found.checked:
        text.append(describe_verifier(dataset.manifest.spec, found.checked))
        if found.checked.get("cached"):
            text.append(f"{found.checked['cached']:,} of the verifier's replies came from the cache")
    return suites.MakeReport(data, [*text, suites.describe_done(dataset)])


def _format_shares(counts: Sequence[tuple[Any, int]], total: int) -> str:
    return ", ".join(f"{name} {n / max(total, 1):.1%}" for name, n in counts)


# A page of questions over several images, drawn from a COVR dataset, and what its graphs gave.

SHOWN = 50
NAME = "covr.md"


def write_page(data: Path, out: Path, seed: int = 0, source: str = "") -> Path:
    """Write `covr.md` with questions drawn from all splits; `source` says what the graphs are."""
    dataset, found = Dataset.open(data), read_yield(data)
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
    with lock_folder(out):
        write_whole(out / NAME, ("\n".join(lines) + "\n").encode())
    return out / NAME


def _format_yield(dataset: Dataset, found: CovrYield) -> list[str]:
    splits = compute_split_statistics(dataset)
    heads = " | ".join(f"{s.split}, of {found.sources[s.split]:,} images" for s in splits)
    lines = [f"| kept of what could be asked | {heads} |", "|---" + "|---:" * len(splits) + "|"]
    for name in statistics.list_template_names(splits, found.asked):
        cells = (f"{s.templates[name]:,} of {found.asked[s.split][name]:,}" for s in splits)
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return lines


def _format_row(question: Question, scenes: Sequence[Scene]) -> str:
    answer = "" if question.answer is None else spell(question.answer)
    captions = [str(scene.note("caption") or scene.id) for scene in scenes]
    cells = (question.text, answer, f"`{question.provenance.template}`", " · ".join(captions))
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
