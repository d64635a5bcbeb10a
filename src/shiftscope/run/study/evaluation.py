"""Evaluation of models on a study's test sets, by the same `predict` as every run; and oracle diagnosis.

Test sets are the images and questions that `make` would write, in memory and never on disk.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from ...answer import spell
from ...errors import UserError
from ...files import read_whole
from ...lang.program import Program
from ...lang.text import format_program
from ...metrics.calibration import Reliability
from ...metrics.transfer_matrix import EntryOutcome
from ...model import EVERYTHING, Adaptable, Model, Prompt, get_reads, parse_model_name, predict_checked
from ...picture import Picture
from ...question import Question
from ...records import canonical_json
from ...render.gpu.pack import pack_batch
from ...result import Prediction, QuestionRecord, RunRecords, build_question_record
from ...scene import Scene
from ...store.run_log import RUN_FILE, RunWriter
from ...store.run_table import build_records, build_row_table
from ...suites.study import Study, load_study
from ...train.feed import SceneQuestions, SuiteSource, render_source
from ..conditions import EvalExample
from ..evaluate import BATCH, build_prediction
from . import entries
from .entries import EntryOrigin, OracleDiagnosis, RightOf, StudyTestId
from .entry_store import hash_test_data

if TYPE_CHECKING:
    import torch

GPU_BATCH, CPU_BATCH = 250, 16  # images rendered together
MEMORY_SHARE = 0.5  # of the machine's memory, that test sets may take
QUESTION_BYTES, SCENE_BYTES = 2_000, 19_000  # about


class ImageQuestions(NamedTuple):
    """What is kept of an image, as it travels from the process that made it."""

    digest: str  # of its questions
    groups: dict[str, list[tuple[Question, QuestionRecord, Program | None]]]  # questions without answer and program
    scene: Scene | None  # this and the programs where wanted


@dataclass(frozen=True, slots=True, eq=False)
class StudyQuestions:
    """All questions of one group, image by image, as models get them."""

    prompts: tuple[Prompt, ...]
    records: tuple[QuestionRecord, ...]
    counts: npt.NDArray[np.int64]  # [image] how many each has
    programs: tuple[Program, ...] = ()  # the true ones, where wanted

    def __len__(self) -> int:
        return len(self.prompts)

    @property
    def image_rows(self) -> npt.NDArray[np.int64]:
        """[question] its image."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def iter_examples(self) -> Iterator[EvalExample]:
        for prompt in self.prompts:
            yield EvalExample(prompt.question, prompt.scenes, prompt)


@dataclass(frozen=True, slots=True, eq=False)
class StudyTestSet:
    """A test set: pictures in main memory, and the questions about them."""

    test: StudyTestId
    pictures: tuple[Picture, ...]
    scenes: tuple[Scene, ...]  # where wanted
    groups: dict[str, StudyQuestions]
    seconds: float

    def count_bytes(self) -> int:
        """What it takes in memory, about."""
        block = self.pictures[0].block
        questions = sum(map(len, self.groups.values()))
        return int(block.nbytes) + QUESTION_BYTES * questions + SCENE_BYTES * len(self.scenes)


def make_testset(
    study: Study, domain: Any, scale: Any, *, device: str, workers: int = 1, whole: bool = False
) -> StudyTestSet:
    """Make the test split of a domain; `whole` keeps scenes and true programs, for oracles."""
    import torch

    start = time.perf_counter()
    spec = domain.build_spec(scale)
    if workers > 1:
        _warm_up(study.suite, replace(spec, images=12, shard=2))
    source = SuiteSource(study.suite, spec, "test")
    batch = GPU_BATCH if device != "cpu" else CPU_BATCH
    pixels: list[torch.Tensor] = []
    images: list[ImageQuestions] = []
    collect = partial(_collect_questions, study.suite, whole)
    with closing(render_source(source, collect, batch=batch, device=device, workers=workers)) as rendered:
        for drawn, questions in rendered:
            assert drawn.rgb is not None
            pixels.append(drawn.rgb.cpu())
            images += questions
    spec_id = hash_test_data(domain, scale)
    digest = blake2b("".join(image.digest for image in images).encode(), digest_size=16)
    block = torch.cat(pixels)
    pictures = tuple(Picture(block=block, row=k, id=f"{spec_id}/{k}") for k in range(len(block)))
    return StudyTestSet(
        StudyTestId(domain, spec_id, digest.hexdigest()),
        pictures,
        tuple(image.scene for image in images if image.scene),
        {group: _join_questions(images, group, pictures) for group in study.question_groups},
        time.perf_counter() - start,
    )


@lru_cache(maxsize=1)
def _warm_up(suite: str, spec: Any) -> None:
    """Make two images here, so that workers find compiled what each would else compile for itself."""
    for scene, _ in SuiteSource(suite, spec, "test").block(0):
        pack_batch([scene], spec.size)


def _collect_questions(suite: str, whole: bool, some: SceneQuestions) -> list[ImageQuestions]:
    """What is kept of some images; called by the process that made them."""
    study = load_study(suite)
    images = []
    for scene, questions in some:
        digest = blake2b(digest_size=16)
        image = ImageQuestions("", {group: [] for group in study.question_groups}, scene if whole else None)
        for q in questions:
            assert q.program is not None and q.answer is not None
            group = study.find_group(q)
            record = build_question_record(q, [scene], facts=(("about", group),))
            digest.update(f"{scene.id}\t{q.text}\t{record.program}\t{spell(q.answer)}\n".encode())
            bare = replace(q, answer=None, answers=(), program=None, grounding=())
            image.groups[group].append((bare, record, q.program if whole else None))
        images.append(image._replace(digest=digest.hexdigest()))
    return images


def _join_questions(images: Sequence[ImageQuestions], group: str, pictures: Sequence[Picture]) -> StudyQuestions:
    rows = [(picture, *row) for image, picture in zip(images, pictures, strict=True) for row in image.groups[group]]
    return StudyQuestions(
        tuple(Prompt(question, question.text, (picture,)) for picture, question, _, _ in rows),
        tuple(record for _, _, record, _ in rows),
        np.array([len(image.groups[group]) for image in images], np.int64),
        tuple(program for *_, program in rows if program is not None),
    )


class StudyTestSets:
    """Test sets by domain, made when first needed; the longest unused are dropped when memory is short."""

    def __init__(self, study: Study, scale: Any, *, device: str, workers: int = 1, whole: Collection[Any] = ()) -> None:
        """`whole` are the domains whose scenes and programs are wanted."""
        self.study, self.scale, self.device, self.workers, self.whole = study, scale, device, workers, whole
        self._held: OrderedDict[Any, StudyTestSet] = OrderedDict()
        self._lock = threading.Lock()
        self._room = MEMORY_SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    def get_or_make(self, domain: Any) -> StudyTestSet:
        """One thread makes a test set, others wait for it."""
        with self._lock:
            if domain not in self._held:
                whole = domain in self.whole
                self._held[domain] = make_testset(
                    self.study, domain, self.scale, device=self.device, workers=self.workers, whole=whole
                )
            self._held.move_to_end(domain)
            while len(self._held) > 1 and sum(e.count_bytes() for e in self._held.values()) > self._room:
                self._held.popitem(last=False)
            return self._held[domain]


ROWS = 20_000  # written together

Rows = list[tuple[QuestionRecord, Prediction]]


@dataclass(frozen=True, slots=True, eq=False)
class EntryRun:
    """A model's run on a test set: its rows by group of questions, image by image."""

    testset: StudyTestSet
    model: Model  # as it was run, adapted or not
    rows: dict[str, Rows]
    seconds: dict[str, float]  # by stage
    adapted: bool | None  # whether normalisation statistics were adapted to the images; None: not tried

    def build_records(self, group: str) -> RunRecords:
        return build_records(build_row_table(self.rows[group]), self.testset.test.questions)

    def score(self) -> tuple[tuple[str, EntryOutcome], ...]:
        """The outcome on each group of questions."""
        return tuple(
            (group, EntryOutcome.from_records(self.build_records(group), questions.counts))
            for group, questions in self.testset.groups.items()
        )


def evaluate_testset(model: Model, name: str, testset: StudyTestSet) -> EntryRun:
    """Ask a model everything, after adapting it to the first images where its file says so."""
    start = time.perf_counter()
    before = dict(getattr(model, "stage_seconds", {}))
    adaptation = parse_model_name(name).traits.adaptation
    if adaptation is not None:
        model = cast(Adaptable, model).adapt(testset.pictures[: adaptation.images], adaptation.kind)
        before = {}
    reads = get_reads(name, model) or EVERYTHING
    size = getattr(model, "largest_batch", getattr(model, "batch", BATCH))
    rows: dict[str, Rows] = {group: [] for group in testset.groups}
    for group, questions in testset.groups.items():
        examples = list(questions.iter_examples())
        for at in range(0, len(examples), size):
            some, records = examples[at : at + size], questions.records[at : at + size]
            responses = predict_checked(model, [example.prompt.restrict(reads) for example in some], name)
            rows[group] += zip(records, map(build_prediction, some, responses), strict=True)
    took = getattr(model, "stage_seconds", {"answer": time.perf_counter() - start})
    seconds = {stage: value - before.get(stage, 0.0) for stage, value in took.items()}
    return EntryRun(testset, model, rows, seconds, getattr(model, "adapted", None))


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
            **({"learned": origin.learned} if model in study.adapting_models else {}),
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
