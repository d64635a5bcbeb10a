"""Audit a dataset: find its shortcuts, write its OOD sets, and say how far a blind model gets.

The folder it makes (`shortcuts/audit_folder.py`) has VQA-VS's files, `marks.parquet` (every sample's concepts
and parts, by which runs are scored), `audit.json` (all figures), and what the caller adds, such as a report.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from ..errors import UserError, unknown
from ..files import encode_utf8, write_whole
from ..folder import lock_folder
from ..formats import read_question_table
from ..metrics.head_tail import PART, measure
from ..question_table import QuestionTable, SampleSet
from ..result import Score
from ..shift import RECIPES, RecipeSets, vqa_vs
from ..shortcuts.audit import PROPORTIONS, AuditSettings, ShortcutAudit, audit_shortcuts, build_proportion_sets
from ..shortcuts.audit_folder import AUDIT_FILE, SET_FOLDERS, refuse_folder, stage_audit, write_marks, write_sets
from ..shortcuts.audit_statistics import compute_audit_statistics, jaccard_overlap, ood_overlap
from ..store.audit_samples import read_stored_questions
from ..store.dataset import Dataset
from .blind_baselines import BlindBaselines

RecipeOptions = Mapping[str, Any]  # settings by name; others keep their defaults


def check_recipes(recipes: Mapping[str, RecipeOptions]) -> None:
    """Refuse unknown recipes and settings."""
    for recipe, options in recipes.items():
        names = [f.name for f in fields(RECIPES.load(recipe).SETTINGS)]
        for name in options:
            if name not in names:
                raise unknown(f"setting of {recipe}", name, names)


# The proportion study: what a model learns from training sets with more and more shortcut samples (VQA-VS, §5.3
# and Figure 7), with the question-only model in place of theirs by default.

MODEL = "question_only"
TellProportion = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class BlendScore:
    """Accuracy on the head and on the tail (OOD) of a shortcut, after training on one blend."""

    shortcut: str
    share: int  # per cent of the training set that are shortcut samples
    n_train: int
    head: Score
    tail: Score


def run_proportion_study(
    blind: BlindBaselines,
    shortcuts: Sequence[str],
    shares: Sequence[int] = PROPORTIONS,
    model: str = MODEL,
    tell: TellProportion = lambda done, total: None,
) -> tuple[BlendScore, ...]:
    """A score for every shortcut and share; shortcuts without a head or a tail to blend are left out."""
    listed = [b for name in shortcuts for b in build_proportion_sets(blind.audit, name, shares, blind.seed)]
    made = []
    for done, blend in enumerate(listed):
        tell(done, len(listed))
        records = blind.answer_test(model, train=blend.rows)
        part = dict(records.facts)[blend.shortcut]
        head, tail, *_ = measure(replace(records, facts=(*records.facts, (PART, part))))
        made.append(BlendScore(blend.shortcut, blend.share, len(blend.rows), head, tail))
    tell(len(listed), len(listed))
    return tuple(made)


Tell = Callable[[str, int, int], None]  # what is under way, done, of how many


@dataclass(frozen=True, slots=True)
class AuditFiles:
    """What is audited: question files with their annotations, or a dataset's folder."""

    questions: tuple[Path, ...] = ()
    annotations: tuple[Path, ...] = ()
    objects: tuple[Path, ...] = ()
    splits: tuple[str, ...] = ()  # of each questions file, where they are given apart
    dataset: Path | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        own = (self.dataset,) if self.dataset else ()
        return (*own, *self.questions, *self.annotations, *self.objects)


@dataclass(frozen=True, slots=True, eq=False)
class AuditResult:
    """All that was found and measured."""

    found: ShortcutAudit
    blind: Mapping[str, tuple[Score, ...]]
    blends: tuple[BlendScore, ...]
    recipes: Mapping[str, RecipeSets] = field(default_factory=dict)
    skipped: tuple[tuple[str, str], ...] = ()  # blind models that could not be run, and why


Also = Callable[[Path, AuditResult], None]  # writes something into the audit's folder


def read_audit_samples(files: AuditFiles) -> QuestionTable:
    """The samples of the files, or of a dataset of ours with the objects of its scenes."""
    if files.dataset is None:
        return read_question_table(files.questions, files.annotations, files.objects, files.splits)
    if files.questions:
        raise UserError("give a dataset's folder or --questions, not both")
    dataset = Dataset.open(files.dataset)
    dataset.verify()
    return read_stored_questions(dataset)


def audit_files(
    files: AuditFiles,
    out: Path,
    settings: AuditSettings | None = None,
    *,
    blind: bool = True,
    proportions: Sequence[int] = (),
    recipes: Mapping[str, RecipeOptions] | None = None,
    also: Also = lambda folder, made: None,
    tell: Tell = lambda what, done, total: None,
) -> AuditResult:
    """Read, label, measure and write; an earlier audit in the folder is replaced at the end, all at once.

    `recipes` names shifts that part the samples in further ways, with their settings.
    """
    folders = (*SET_FOLDERS, *(RECIPES.load(name).FOLDER for name in RECIPES.names()))
    refuse_folder(out, files.paths, folders)
    with lock_folder(out):
        refuse_folder(out, files.paths, folders)
        check_recipes(recipes or {})
        tell("reading", 0, 0)
        samples = read_audit_samples(files)
        tell("labelling", 0, 0)
        found = audit_shortcuts(samples, settings)
        parted = {name: RECIPES.load(name).build_recipe(found, options) for name, options in (recipes or {}).items()}
        sets = list(vqa_vs.build_audit_sets(found))
        for name, recipe in parted.items():
            sets += [SampleSet(f"{RECIPES.load(name).FOLDER}/{s.name}", s.rows) for s in recipe.sets]
        for name in found.labels if proportions else ():
            sets += build_proportion_sets(found, name, proportions, found.settings.seed)
        with stage_audit(out, folders) as folder:
            write_sets(samples, sets, folder, lambda done, total: tell("writing", done, total))
            write_marks(found, folder)
            made = _measure_blind(found, parted, blind, proportions, tell)
            also(folder, made)
            text = json.dumps(collect_figures(made), ensure_ascii=False, allow_nan=False, indent=1)
            write_whole(folder / AUDIT_FILE, encode_utf8(text))
        return made


def _measure_blind(
    found: ShortcutAudit, parted: Mapping[str, RecipeSets], blind: bool, proportions: Sequence[int], tell: Tell
) -> AuditResult:
    """The scores of blind models; one that has nothing to learn from is skipped."""
    scores: dict[str, tuple[Score, ...]] = {}
    skipped: list[tuple[str, str]] = []
    baselines = BlindBaselines(found, found.settings.seed)
    for done, model in enumerate(baselines.models if blind else ()):
        tell(f"asking {model}", done, len(baselines.models))
        try:
            scores[model] = baselines.score(model)
        except UserError as error:
            skipped.append((model, str(error)))
    studied: tuple[BlendScore, ...] = ()
    if proportions:
        shortcuts = tuple(found.labels)
        try:
            studied = run_proportion_study(baselines, shortcuts, proportions, tell=lambda d, n: tell("blending", d, n))
        except UserError as error:
            skipped.append(("the proportion study", str(error)))
    return AuditResult(found, scores, studied, parted, tuple(skipped))


def collect_figures(made: AuditResult) -> dict[str, Any]:
    """All figures as plain data."""
    found = made.found
    return {
        "source": found.samples.source,
        "samples": len(found.samples),
        "images": len(found.samples.images.values),
        "answers": len(found.samples.answers.values),
        "split": found.split.counts() | {"drawn": found.split.made},
        "types": found.types,
        "settings": asdict(found.settings),
        "remarks": [asdict(r) for r in found.samples.remarks],
        "missing": dict(found.missing),
        "unseen": {name: asdict(one) for name, one in found.unseen.items()},
        "shortcuts": [asdict(line) for line in compute_audit_statistics(found)],
        "jaccard": {"names": list(found.labels), "values": jaccard_overlap(found).values.tolist()},
        "coincidence": {"names": list(found.labels), "values": ood_overlap(found).values.tolist()},
        "recipes": {name: {"settings": one.settings, "counts": one.counts} for name, one in made.recipes.items()},
        "blind": {model: [_score_to_json(s) for s in scores] for model, scores in made.blind.items()},
        "blind_skipped": dict(made.skipped),
        "proportions": [
            {"shortcut": b.shortcut, "share": b.share, "n_train": b.n_train}
            | {"head": _score_to_json(b.head), "tail": _score_to_json(b.tail)}
            for b in made.blends
        ],
    }


def _score_to_json(score: Score) -> dict[str, Any]:
    named = {"metric": score.metric} | ({"slice": dict(score.slice)} if score.slice else {})
    return named | {"value": score.value, "low": score.low, "high": score.high, "n": score.n}
