"""Audit a dataset: find its shortcuts, write its OOD sets, and say how far a model gets that sees one modality.

The folder it makes (`shortcuts/audit_folder.py`) has VQA-VS's files, `marks.parquet` (every sample's concepts
and parts, by which runs are scored), `audit.json` (all figures), and what the caller adds, such as a report.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from ..columns import Column
from ..errors import UserError, unknown
from ..executor import ONE_PROCESS, Executor
from ..files import encode_utf8
from ..folder import lock_folder, open_folder
from ..formats import read_question_table
from ..formats.sample_rows import expand_paths
from ..formats.vqa import read_annotator_answers
from ..metrics import head_tail, shortcut_gap
from ..model import ModelOptions, ModelSetting, Prompt, build_model, predict_checked
from ..question import Question
from ..question_table import Rows, SampleSet
from ..registry import RECIPES
from ..result import Prediction, QuestionRecord, RunRecords, Score, records_of
from ..scene import Object, Scene
from ..shift import RecipeSets, vqa_vs
from ..shortcuts.audit import (
    AUDIT_VERSION,
    TEST,
    TRAIN,
    VAL,
    AuditSettings,
    ShortcutAudit,
    audit_shortcuts,
    build_proportion_sets,
)
from ..shortcuts.audit_folder import (
    AUDIT_FILE,
    SET_FOLDERS,
    digest_files,
    refuse_folder,
    stage_audit,
    write_marks,
    write_sets,
)
from ..shortcuts.audit_statistics import PART_NAMES, AuditFigures, ShortcutMatrix, summarize_audit
from ..shortcuts.concepts import KO, QT
from ..shortcuts.tied_answers import FoundTie, find_audit_ties
from ..store.audit_samples import read_stored_questions
from ..store.dataset import Dataset, data_id
from .scene_source import describe_licenses

RecipeOptions = Mapping[str, Any]  # settings by name; others keep their defaults
Tell = Callable[[str, int, int], None]  # what is under way, done, of how many
BLIND_MODELS = ("majority", "prior", "question_only", "object_only")
REGISTRY_NAMES = {"prior": "majority_per_template"}
BATCH = 1024


class BlindBaselines:
    """The samples of an audit, ready to be answered by models that see one modality at most.

    *majority* knows the answers' frequencies, *prior* also the type of the question, *question_only* its words,
    *object_only* the kinds of objects in the image. All learn from the train split; those that learn in epochs
    keep the one that does best on the IID val split, never an OOD one.
    """

    def __init__(self, audit: ShortcutAudit, seed: int = 0) -> None:
        self.audit, self.seed = audit, seed

    @property
    def models(self) -> tuple[str, ...]:
        """Those that can be asked: without object annotations there is no object_only."""
        return tuple(m for m in BLIND_MODELS if m != "object_only" or KO in self.audit.labels)

    def answer_test(self, model: str, train: Rows | None = None, val: Rows | None = None) -> RunRecords:
        """Every question of the IID test answered; learned from these rows, else from the train split."""
        split = self.audit.split
        learn = split.rows(TRAIN) if train is None else train
        choose = split.rows(VAL) if val is None else val
        setting = ModelSetting(
            train=lambda: self._iter_questions(learn),
            choosing=lambda: self._iter_questions(choose),
            scenes=self._find_scenes,
            options=ModelOptions(seed=self.seed),
        )
        built = build_model(REGISTRY_NAMES.get(model, model), setting)
        rows: list[tuple[QuestionRecord, Prediction | None]] = []
        for start in range(0, len(self._examples), BATCH):
            examples = self._examples[start : start + BATCH]
            prompts = [Prompt(question, scenes=tuple(self._find_scenes(question))) for _, question in examples]
            responses = predict_checked(built, prompts, model)
            for (record, _), response in zip(examples, responses, strict=True):
                rows.append((record, Prediction(record.question, response.answer, confidence=response.confidence)))
        records = records_of(rows)
        nowhere = Column((), np.full(len(records), -1, np.int32))  # of a shortcut whose groups are all balanced
        parts = {name: dict(records.facts).get(name, nowhere) for name in self.audit.labels}
        return replace(records, facts=tuple(parts.items()))

    def score(self, model: str) -> tuple[Score, ...]:
        return shortcut_gap.measure(self.answer_test(model))

    def _iter_questions(self, rows: Rows) -> Iterator[Question]:
        samples, types = self.audit.samples, self.audit.labels[QT]
        for k in rows.tolist():
            image = samples.images[k]
            yield Question(
                id=str(samples.ids[k]),
                text=samples.texts[k],
                scenes=() if image is None else (str(image),),
                answer=samples.answers[k],
                kind=types.name(int(types.codes[k])),
            )

    @cached_property
    def _examples(self) -> list[tuple[QuestionRecord, Question]]:
        """The questions of the IID test, with their annotators and their parts."""
        audit, rows = self.audit, self.audit.split.rows(TEST)
        answers = read_annotator_answers(audit.samples, rows)
        parts = {name: groups.part for name, groups in audit.test.items()}
        examples = []
        for at, question in enumerate(self._iter_questions(rows)):
            facts = tuple((name, PART_NAMES[part[at]]) for name, part in parts.items() if part[at])
            record = QuestionRecord(question.id, question.scenes, question.answer, answers[at], facts)
            examples.append((record, question))
        return examples

    def _find_scenes(self, question: Question) -> Sequence[Scene]:
        return [self._object_scenes[name] for name in question.scenes if name in self._object_scenes]

    @cached_property
    def _object_scenes(self) -> dict[str, Scene]:
        """What is known of each image: one object of each kind."""
        samples, objects = self.audit.samples, self.audit.samples.objects
        if objects is None:
            return {}
        scenes = {}
        for k, image in enumerate(samples.images.values):
            codes = objects.codes[objects.at[k] : objects.at[k + 1]].tolist()
            scenes[str(image)] = Scene(tuple(Object((("name", objects.kinds[code]),)) for code in codes))
        return scenes


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
    shares: Sequence[int],
    model: str = "question_only",
    tell: Tell = lambda what, done, total: None,
) -> tuple[BlendScore, ...]:
    """What a model learns from training sets with more and more shortcut samples (VQA-VS, §5.3 and Figure 7).

    A score for every shortcut and share; shortcuts without a head or a tail to blend are left out. By default the
    question-only model stands in place of theirs.
    """
    blends = [b for name in shortcuts for b in build_proportion_sets(blind.audit, name, shares, blind.seed)]
    scores = []
    for done, blend in enumerate(blends):
        tell("blending", done, len(blends))
        records = blind.answer_test(model, train=blend.rows)
        part = dict(records.facts)[blend.shortcut]
        head, tail, *_ = head_tail.measure(replace(records, facts=(*records.facts, (head_tail.PART, part))))
        scores.append(BlendScore(blend.shortcut, blend.share, len(blend.rows), head, tail))
    tell("blending", len(blends), len(blends))
    return tuple(scores)


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


def expand_files(files: AuditFiles) -> AuditFiles:
    """The files with every folder and pattern of --questions spelled out."""
    found = expand_paths(files.questions)
    splits = tuple(files.splits[place] for place, _ in found) if files.splits else ()
    return replace(files, questions=tuple(path for _, path in found), splits=splits)


@dataclass(frozen=True, slots=True, eq=False)
class AuditResult:
    """All that was found and measured."""

    found: ShortcutAudit
    blind: Mapping[str, tuple[Score, ...]]
    blends: tuple[BlendScore, ...]
    recipes: Mapping[str, RecipeSets] = field(default_factory=dict)
    skipped: tuple[tuple[str, str], ...] = ()  # blind models that could not be run, and why
    tied: tuple[FoundTie, ...] | None = None  # of a dataset with an OOD test


@dataclass(frozen=True, slots=True, eq=False)
class AuditSummary:
    """What an audit says: its figures, recipes and scores, and what was left out."""

    figures: AuditFigures
    recipes: Mapping[str, RecipeSets]
    blind: Mapping[str, tuple[Score, ...]] = field(default_factory=dict)
    blends: tuple[BlendScore, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    tied: tuple[FoundTie, ...] | None = None


def summarize_result(made: AuditResult) -> AuditSummary:
    return AuditSummary(summarize_audit(made.found), made.recipes, made.blind, made.blends, made.skipped, made.tied)


Also = Callable[[Path, AuditResult], None]  # writes something into the audit's folder


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
    executor: Executor = ONE_PROCESS,
) -> AuditResult:
    """Read, label, measure and write; an earlier audit in the folder is replaced at the end, all at once.

    `recipes` names shifts that part the samples in further ways, with their settings. With several workers, large
    files of objects are read by them.
    """
    files = expand_files(files)
    folders = (*SET_FOLDERS, *(RECIPES.load(name).FOLDER for name in RECIPES.names()))
    refuse_folder(out, files.paths, folders)
    with lock_folder(out):
        refuse_folder(out, files.paths, folders)
        check_recipes(recipes or {})
        tell("reading", 0, 0)
        if files.dataset is None:
            paths = files.questions, files.annotations, files.objects
            samples = read_question_table(*paths, files.splits, executor)
        elif files.questions:
            raise UserError("give a dataset's folder or --questions, not both")
        else:
            dataset = Dataset.open(files.dataset)
            dataset.verify()
            samples = read_stored_questions(dataset)
        tell("labelling", 0, 0)
        found = audit_shortcuts(samples, settings)
        parted = {name: RECIPES.load(name).build_recipe(found, options) for name, options in (recipes or {}).items()}
        sets = list(vqa_vs.build_audit_sets(found))
        for name, recipe in parted.items():
            sets += [SampleSet(f"{RECIPES.load(name).FOLDER}/{s.name}", s.rows) for s in recipe.sets]
        for name in found.labels if proportions else ():
            sets += build_proportion_sets(found, name, proportions, found.settings.seed)
        with stage_audit(out, folders) as folder:
            marks = partial(write_marks, found, folder, {name: recipe.sets for name, recipe in parted.items()})
            write_sets(samples, sets, folder, lambda done, total: tell("writing", done, total), meanwhile=marks)
            tell("looking for tied answers", 0, 0)
            tied = find_audit_ties(found)
            made = replace(_measure_blind(found, parted, blind, proportions, tell), tied=tied)
            also(folder, made)
            given = [*filter(None, [files.dataset]), *files.questions, *files.objects]
            write_figures(folder, summarize_result(made), given, _describe_source(files))
        return made


def check_recipes(recipes: Mapping[str, RecipeOptions]) -> None:
    """Refuse settings that a recipe does not have."""
    for recipe, options in recipes.items():
        names = [f.name for f in fields(RECIPES.load(recipe).SETTINGS)]
        for name in options:
            if name not in names:
                raise unknown(f"setting of {recipe}", name, names)


def _describe_source(files: AuditFiles) -> dict[str, Any]:
    """Where the pictures of a dataset are found again, by whoever opens the audit."""
    if files.dataset is None:
        return {}
    return {"dataset": {"folder": str(files.dataset.resolve()), "data_id": data_id(Dataset.open(files.dataset))}}


def _measure_blind(
    found: ShortcutAudit, parted: Mapping[str, RecipeSets], blind: bool, proportions: Sequence[int], tell: Tell
) -> AuditResult:
    """The scores of blind models; one that has nothing to learn from is skipped."""
    scores: dict[str, tuple[Score, ...]] = {}
    skipped: list[tuple[str, str]] = []
    baselines = BlindBaselines(found, found.settings.seed)
    if (blind or proportions) and not len(found.split.rows(TRAIN)):
        blind, proportions = False, ()
        skipped.append(("blind models", "there is no train split to learn from"))
    for done, model in enumerate(baselines.models if blind else ()):
        tell(f"asking {model}", done, len(baselines.models))
        try:
            scores[model] = baselines.score(model)
        except UserError as error:
            skipped.append((model, str(error)))
    blends: tuple[BlendScore, ...] = ()
    if proportions:
        try:
            blends = run_proportion_study(baselines, tuple(found.labels), proportions, tell=tell)
        except UserError as error:
            skipped.append(("the proportion study", str(error)))
    return AuditResult(found, scores, blends, parted, tuple(skipped))


def collect_figures(made: AuditSummary) -> dict[str, Any]:
    """All figures as plain data."""
    found = made.figures
    return {
        "source": found.source,
        "samples": found.samples,
        "images": found.images,
        "answers": found.answers,
        "split": dict(found.split) | {"drawn": found.drawn},
        "types": found.types,
        "settings": asdict(found.settings),
        "remarks": [asdict(r) for r in found.remarks],
        "missing": dict(found.missing),
        "unseen": {name: asdict(one) for name, one in found.unseen.items()},
        "ties": dict(found.ties),
        "shortcuts": [asdict(line) for line in found.shortcuts],
        "jaccard": _matrix_to_json(found.jaccard),
        "coincidence": _matrix_to_json(found.coincidence),
        **({} if made.tied is None else {"tied_answers": [one.to_json() for one in made.tied]}),
        "recipes": {name: {"settings": one.settings, "counts": one.counts} for name, one in made.recipes.items()},
        "blind": {model: [_score_to_json(s) for s in scores] for model, scores in made.blind.items()},
        "blind_skipped": dict(made.skipped),
        "proportions": [
            {"shortcut": b.shortcut, "share": b.share, "n_train": b.n_train}
            | {"head": _score_to_json(b.head), "tail": _score_to_json(b.tail)}
            for b in made.blends
        ],
    }


def write_figures(
    folder: Path, made: AuditSummary, sources: Sequence[Path], about: Mapping[str, Any] = MappingProxyType({})
) -> None:
    """`audit.json`: the figures, what else is known, and the digests of the files that an audit is scored by."""
    told = {"version": AUDIT_VERSION, "digests": digest_files(folder)}
    told |= collect_figures(made) | describe_licenses(sources) | dict(about)
    text = json.dumps(told, ensure_ascii=False, allow_nan=False, indent=1)
    open_folder(folder).write_whole(AUDIT_FILE, encode_utf8(text))


def _matrix_to_json(matrix: ShortcutMatrix) -> dict[str, Any]:
    return {"names": list(matrix.names), "values": matrix.values.tolist()}


def _score_to_json(score: Score) -> dict[str, Any]:
    named = {"metric": score.metric} | ({"slice": dict(score.slice)} if score.slice else {})
    return named | {"value": score.value, "low": score.low, "high": score.high, "n": score.n}
