"""Evaluation of models on a study's test sets, by the same `predict` as every run; and oracle diagnosis."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np

from ...answer import Answer, spell
from ...errors import UserError
from ...files import read_whole
from ...lang.text import format_program
from ...metrics.calibration import Reliability
from ...metrics.transfer_matrix import EntryOutcome
from ...model import EVERYTHING, NO_ADAPTATION, Adaptable, Model, get_traits, predict_checked
from ...records import canonical_json
from ...result import Prediction, QuestionRecord, RunRecords
from ...store.run_log import RUN_FILE, RunWriter
from ...store.run_table import build_records, build_row_table
from ...suites.study import Contender, Study
from ..evaluate import BATCH, build_prediction
from . import entries
from .entries import EntryOrigin, OracleDiagnosis, RightOf
from .test_sets import StudyQuestions, StudyTestSet

ROWS = 20_000  # written together

Rows = list[tuple[QuestionRecord, Prediction]]


Outcomes = tuple[tuple[str, EntryOutcome], ...]  # by group of questions


@dataclass(frozen=True, slots=True, eq=False)
class EntryRun:
    """A model's run on a test set: outcomes, and its rows by group of questions, image by image, where wanted."""

    testset: StudyTestSet
    model: Model  # as it was run, adapted or not
    outcomes: Outcomes
    seconds: dict[str, float]  # by stage
    rows: dict[str, Rows]

    @property
    def adapted(self) -> tuple[str, ...] | None:
        """What was adapted to unlabelled images, and kept; None: not tried."""
        return getattr(self.model, "adapted", None)

    def build_records(self, group: str) -> RunRecords:
        return build_records(build_row_table(self.rows[group]), self.testset.test.questions)


def adapt_model(model: Model, contender: Contender, testset: StudyTestSet) -> Model:
    """The model as the contender's condition has it."""
    if contender.adapt == NO_ADAPTATION:
        return model
    return cast(Adaptable, model).adapt(testset.unlabelled, contender.adapt)


def evaluate_testset(model: Model, name: str, testset: StudyTestSet, *, keep_rows: bool = True) -> EntryRun:
    """Ask a model everything; without rows by its columns, where it gives them."""
    start = time.perf_counter()
    before = dict(getattr(model, "stage_seconds", {}))
    outcomes: list[tuple[str, EntryOutcome]] = []
    rows: dict[str, Rows] = {}
    for group, questions in testset.groups.items():
        if not keep_rows and hasattr(model, "predict_columns"):
            outcomes.append((group, _score_columns(model, questions)))
            continue
        rows[group] = _ask(model, name, questions)
        outcomes += score_rows({group: rows[group]}, testset)
    took = getattr(model, "stage_seconds", {"answer": time.perf_counter() - start})
    seconds = {stage: value - before.get(stage, 0.0) for stage, value in took.items()}
    return EntryRun(testset, model, tuple(outcomes), seconds, rows if keep_rows else {})


def score_rows(rows: Mapping[str, Rows], testset: StudyTestSet) -> Outcomes:
    """The outcome on each group of questions."""
    tables = {group: build_records(build_row_table(some), testset.test.questions) for group, some in rows.items()}
    return tuple((g, EntryOutcome.from_records(table, testset.groups[g].counts)) for g, table in tables.items())


def _ask(model: Model, name: str, questions: StudyQuestions) -> Rows:
    reads = getattr(model, "reads", None) or get_traits(name).reads or EVERYTHING  # a name without its folder
    size = getattr(model, "largest_batch", getattr(model, "batch", BATCH))
    examples = list(questions.iter_examples())
    rows: Rows = []
    for at in range(0, len(examples), size):
        some, records = examples[at : at + size], questions.records[at : at + size]
        responses = predict_checked(model, [example.prompt.restrict(reads) for example in some], name)
        rows += zip(records, map(build_prediction, some, responses), strict=True)
    return rows


def _score_columns(model: Any, questions: StudyQuestions) -> EntryOutcome:
    """The outcome of all questions of a group, without a record of each."""
    if not len(questions):
        return EntryOutcome.from_arrays(np.zeros(0, np.bool_), questions.counts)
    found = model.predict_columns(questions.prompts)
    said = np.array(["" if answer is None else spell(answer) for answer in found.answers])[found.codes]
    true = np.array([spell(cast(Answer, record.truth)) for record in questions.records])
    answered = np.array([answer is not None for answer in found.answers])[found.codes]
    sure = found.confidence if np.isfinite(found.confidence).any() else None
    return EntryOutcome.from_arrays((said == true) & answered, questions.counts, int((~answered).sum()), sure)


def write_run_folders(
    out: Path, study: Study, model: str, origin: EntryOrigin, run: EntryRun, visual: str
) -> list[Path]:
    """A run's folder for each factor that the entry is part of, under the factor's own names for it.

    A run of other weights that is there is of an entry that was made again: it is written again too.
    """
    folders = []
    for factor, row, column in study.list_places(origin.trained, run.testset.test.tested, visual):
        folder = out / factor / f"{model}-{row}-{column}"
        spec = {
            "model": model,
            "suite": study.suite,
            "scale": origin.scale.to_json(),
            "data_id": run.testset.test.questions,
            "split": "test",
            "conditions": ["as_is"],
            "seed": origin.trained.seed,
            "trained_on": row,
            "variant": column,
            "weights": dict(origin.weights),
            **({} if origin.learned is None else {"learned": origin.learned}),
        }
        if not _is_written(folder, spec):
            _write_run(folder, column, spec, [pair for rows in run.rows.values() for pair in rows])
        folders.append(folder)
    return folders


def _is_written(folder: Path, spec: Mapping[str, Any]) -> bool:
    """Whether the folder holds this run, finished; what is left of another one of a study is removed."""
    path = folder / RUN_FILE
    if not path.exists():
        return False
    try:
        stored = json.loads(read_whole(path))
        old, finished = stored["spec"], bool(stored["finished"])
        of_study = {"suite", "weights", "model"} <= set(old)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{path} is damaged ({error}); remove {folder} to have it written again") from None
    if canonical_json(old) == canonical_json(dict(spec)):
        return finished
    if not of_study:
        raise UserError(f"{folder} holds a run that no study wrote; choose another folder for --out")
    shutil.rmtree(folder)
    return False


def _write_run(folder: Path, variant: str, spec: dict[str, Any], rows: Rows) -> None:
    with RunWriter(folder, spec, len(rows)) as writer:
        left = [(record, p) for record, p in rows if (p.question, p.condition) not in writer.done]
        for start in range(0, len(left), ROWS):
            named = []
            for record, prediction in left[start : start + ROWS]:
                facts = (fact for fact in record.facts if fact[0] != "variant")
                named.append((replace(record, facts=(("variant", variant), *facts)), prediction))
            writer.add(named)
        writer.finish([prediction.question for _, prediction in rows])


def diagnose_models(
    runs: Mapping[str, EntryRun], base: Model, testset: StudyTestSet, origin: EntryOrigin
) -> OracleDiagnosis:
    """Where models lose answers, with true scenes and programs in place of parsed ones.

    `runs` are of models, by name, on a test set which holds scenes and programs; `base` is one as trained.
    """
    oracles: list[tuple[str, str, str, RightOf]] = []
    exact: dict[str, RightOf] = {}  # programs parsed as they were meant, by group
    for group, questions in testset.groups.items():
        if not len(questions):
            continue
        for name, run in runs.items():
            records = run.build_records(group)
            exact[group] = int((records.program_right == 1).sum()), len(questions)
            for oracle in entries.ORACLES:
                if oracle == entries.ORACLE_OBJECTS and not hasattr(run.model, "predict_from_objects"):
                    continue
                given = oracle != entries.ORACLE_NEITHER
                right = _ask_oracle(run.model, name, oracle, testset, group) if given else records.right
                oracles.append((name, group, oracle, (int(right.sum()), len(questions))))
    shares = {"program, all of it": (sum(r for r, _ in exact.values()), sum(of for _, of in exact.values()))}
    shares |= {f"program, {group} questions": share for group, share in exact.items()}
    reliability: tuple[tuple[str, Reliability], ...] = ()
    if hasattr(base, "measure_parts"):
        part_shares, confidences = base.measure_parts(testset.pictures, testset.scenes)
        shares |= part_shares
        reliability = tuple((what, Reliability.from_confidences(sure, right)) for what, sure, right in confidences)
    return OracleDiagnosis(origin, testset.test, tuple(oracles), tuple(shares.items()), reliability)


def _ask_oracle(model: Any, name: str, oracle: str, testset: StudyTestSet, group: str) -> Any:
    """[question] which are right, where the model is given the true scene, program, objects, or two of these."""
    questions = testset.groups[group]
    prompts = []
    for prompt, program, image in zip(
        questions.prompts, questions.programs, questions.image_rows.tolist(), strict=True
    ):
        given: dict[str, Any] = {}
        if oracle in (entries.ORACLE_PROGRAM, entries.ORACLE_BOTH):
            given |= {"question": replace(prompt.question, program=program), "program_text": format_program(program)}
        if oracle in (entries.ORACLE_SCENE, entries.ORACLE_BOTH, entries.ORACLE_OBJECTS):
            given |= {"scenes": (testset.scenes[image],), "scene_text": oracle}
        prompts.append(replace(prompt, **given))
    if oracle == entries.ORACLE_OBJECTS:
        responses = model.predict_from_objects(prompts)
    else:
        responses = predict_checked(model, prompts, name)
    examples = list(questions.iter_examples())
    rows = list(zip(questions.records, map(build_prediction, examples, responses), strict=True))
    return build_records(build_row_table(rows)).right
