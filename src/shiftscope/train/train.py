"""Train a model on a dataset or a suite, part by part, each chosen and calibrated on validation data.

Which parts a model has, its file in `models/` says (see `trainable.py`). The same call again resumes.
"""

from __future__ import annotations

import json
import math
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import UserError, unknown
from ..executor import collect_rarely
from ..files import digest_of, find_cache_folder
from ..folder import Folder, list_contents, open_folder
from ..model import get_traits, is_kind
from ..records import content_id
from ..registry import MODELS, SCHEMAS
from ..rng import seed_of
from ..store.question_part import QuestionPart
from ..trainable import (
    ACTIONS,
    IMAGES,
    PROGRAMS,
    SCENES,
    ExampleSet,
    ProgressCallback,
    SplitData,
    Trainable,
    TrainRecipe,
    TrainStage,
)
from ..trained_folder import MODEL_FILE, TRAINING_FOLDER, TrainedFolder, pack_weights, round_weights
from ..url_path import refuse_url
from .accelerator import make_accelerator, name_device
from .beside import ProcessBeside
from .checkpoint import SPEC_FILE, claim_spec, find_difference, read_state
from .data import TRAIN, VAL, TrainingData, TrainValData, gather_split, open_training_data, refuse_blind
from .epochs import copy_module, finish_epochs, list_epochs, write_epoch
from .loop import SEEDS, FittedModule, TrainTask, compute_shares, count_validation, fit
from .process_group import ProcessGroup
from .schedule import compute_rise

LOG = "training.jsonl"
ProgressBar = Callable[[str], AbstractContextManager[ProgressCallback]]
# Gets every epoch of the last part that is trained: its number, the module with the weights that a file would hold, and
# its config. The module is the same one each time.
EpochWatch = Callable[[int, Any, Any], None]


def show_no_progress(name: str) -> AbstractContextManager[ProgressCallback]:
    return nullcontext(lambda done, total, words: None)


@dataclass(frozen=True, slots=True)
class TrainSpec:
    """What to train; the lower half changes only where and how fast."""

    model: str
    data: str  # a folder, or SUITE[:VARIANT]
    visual: str = ""
    images: int | None = None  # to train on, else as `open_training_data` says; a suite has a quarter to choose by
    seed: int = 0  # of weights and of the order of examples; a suite's images are those of its own seed 0
    only: str = ""  # the parts that are trained, as their stages call them, between commas; none: all
    other: Path | None = None  # a trained folder, from which the other parts are taken
    epochs: int | None = None
    part: QuestionPart | None = None  # of a dataset's train split: only its questions are learned
    settings: tuple[tuple[str, str], ...] = ()  # of the model: name, value
    device: str = "auto"
    workers: int = 1
    processes: int = 1  # that train together, each its part of every batch: one per GPU
    minutes: float | None = None  # after which it pauses, and the same again resumes
    keep_epochs: bool = False  # keep the last part's weights of every epoch, each as a trained folder under epochs/
    command: str = ""  # as it was typed
    beside: bool = False  # whether parts that see no picture are trained at the same time as the others

    def __post_init__(self) -> None:
        options = [stage.option for stage in self.trainable.stages]
        for one in self.only.split(",") if self.only else ():
            if one not in options:
                raise unknown("part", one, options)
        if self.other and not self.only:
            raise UserError("--from takes parts from a trained folder; say which part is trained with --only")
        if self.epochs is not None and self.epochs < 1:
            raise UserError(f"{self.epochs} epochs train nothing; give at least 1")
        if self.processes < 1:
            raise UserError(f"{self.processes} processes train nothing; give at least 1")
        if self.beside and self.processes > 1:
            raise UserError("--beside trains parts on one device, and --processes shares each among several; omit one")
        if self.minutes is not None and not self.minutes > 0:
            raise UserError(f"{self.minutes:g} minutes are no time to train; give more than 0")

    @property
    def trainable(self) -> Trainable:
        return find_trainable(self.model).configure(dict(self.settings))

    @property
    def stages(self) -> tuple[TrainStage, ...]:
        """Those that are trained, in order."""
        return tuple(stage for stage in self.trainable.stages if not self.only or stage.option in self.only.split(","))

    def recipe(self, stage: TrainStage) -> TrainRecipe:
        return replace(stage.recipe, epochs=self.epochs) if self.epochs else stage.recipe

    def to_json(self, data: TrainingData, other: TrainedFolder | None) -> dict[str, Any]:
        """All that the weights depend on."""
        return {
            "kind": self.trainable.folder.KIND,
            "data": data.to_json(),
            "seed": self.seed,
            "only": self.only or None,
            "from": other.id() if other else None,
            "recipes": {stage.name: self.recipe(stage).to_json() for stage in self.stages},
            "parsers": {stage.name: stage.describe(data.schema) for stage in self.stages},
        }


def find_trainable(model: str) -> Trainable:
    """How a model of the registry is trained; a UserError names those that can be."""
    found = get_traits(model).trainable if is_kind(model) else None
    if found is None:
        known = [name for name, m in MODELS.load_all() if getattr(m, "TRAITS", None) and m.TRAITS.trainable]
        raise unknown("trainable model", model, known)
    return found


def require_torch(model: str) -> None:
    missing = [name for name in find_trainable(model).requires if find_spec(name) is None]
    if missing:
        raise UserError(
            f"training {model} needs {' and '.join(missing)}, not installed here: pip install 'shiftscope[models]'"
        )


def train(spec: TrainSpec, out: Path | None = None, *, bar: ProgressBar = show_no_progress) -> TrainedFolder:
    """The trained model; a training that was finished in that folder before is not done again."""
    require_torch(spec.model)
    if spec.processes > 1:
        return _train_in_processes(spec, out, bar)
    data = open_training_data(spec.data, visual=spec.visual, images=spec.images, part=spec.part)
    return train_on(data, spec, out, bar=bar)


def _train_in_processes(spec: TrainSpec, out: Path | None, bar: ProgressBar) -> TrainedFolder:
    """The same in processes of their own, the first of which shows progress; this one waits for them."""
    from .launch import call_in_processes, refuse_nested

    refuse_nested(spec.processes)
    each = replace(spec, processes=1, workers=max(1, spec.workers // spec.processes))
    new, folder = call_in_processes(_train_and_name, (each, out, bar), spec.processes)
    return replace(spec.trainable.folder.read(folder), new=new)


def _train_and_name(spec: TrainSpec, out: Path | None, bar: ProgressBar) -> tuple[bool, Path]:
    trained = train(spec, out, bar=bar)
    return trained.new, trained.folder


def train_on(
    data: TrainingData,
    spec: TrainSpec,
    out: Path | None = None,
    *,
    splits: TrainValData | None = None,
    bar: ProgressBar = show_no_progress,
    watch: EpochWatch | None = None,
) -> TrainedFolder:
    """The same on data that are open already, and on splits where these were gathered before."""
    refuse_url(out, "a training")
    refuse_blind(data, spec.stages)
    other = spec.trainable.folder.read(spec.other) if spec.other else None
    if other is not None and other.schema != data.schema:
        raise UserError(f"{spec.other} was trained on {other.schema.name}, and {spec.data} is {data.schema.name}")
    recorded = json.loads(json.dumps(spec.to_json(data, other)))
    name = f"{data.name.replace(':', '-')}-{content_id(recorded)[:12]}"
    folder = open_folder(out or find_cache_folder() / "models" / name)
    if (folder.path / MODEL_FILE).exists():
        return _read_finished(spec, folder.path, recorded)
    _refuse_foreign(folder.path)
    deadline = time.monotonic() + 60 * spec.minutes if spec.minutes else math.inf
    accelerator = make_accelerator(spec.device)
    with _hold_folder(folder, recorded, accelerator):
        if (folder.path / MODEL_FILE).exists():
            return _read_finished(spec, folder.path, recorded)
        bar = bar if accelerator.is_main_process else show_no_progress
        training = _Training(spec, data, other, folder, recorded, accelerator, bar, splits, deadline, watch)
        return replace(training.run(), new=True)


def read_log(folder: Path, part: str) -> list[dict[str, Any]]:
    """The epochs of a part of what was trained there."""
    rows = [json.loads(line) for line in (folder / LOG).read_text().splitlines()]
    return [row for row in rows if row["part"] == part]


@contextmanager
def _hold_folder(folder: Folder, recorded: dict[str, Any], accelerator: Any) -> Iterator[None]:
    """Hold the folder in the main process and keep to this training; leave nothing behind if none began."""
    main = accelerator.is_main_process
    with folder.lock() if main else nullcontext():
        if main:  # another process may have begun or finished a training since the folder was free
            _refuse_foreign(folder.path)
            if not (folder.path / MODEL_FILE).exists():
                claim_spec(open_folder(folder.path / TRAINING_FOLDER), recorded)
        accelerator.wait_for_everyone()
        try:
            yield
        except UserError:
            if main and folder.list(TRAINING_FOLDER) == [SPEC_FILE]:
                _remove_checkpoints(folder)
            raise
        finally:
            accelerator.free_memory()


def _remove_checkpoints(folder: Folder) -> None:
    for name in folder.list(TRAINING_FOLDER):
        folder.remove(f"{TRAINING_FOLDER}/{name}")
    folder.remove(TRAINING_FOLDER)


@dataclass(slots=True, eq=False)
class _Training:
    """One training in its folder."""

    spec: TrainSpec
    data: TrainingData
    other: TrainedFolder | None
    folder: Folder
    recorded: dict[str, Any]
    accelerator: Any
    bar: ProgressBar
    splits: TrainValData | None
    deadline: float
    watch: EpochWatch | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    modules: dict[str, Any] = field(default_factory=dict)  # the parts trained by now
    log_rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    is_beside: bool = False  # whether another process, which writes the log, has started this one for a single part

    @property
    def device(self) -> str:
        device = self.accelerator.device
        return "cpu" if device.type == "cpu" else str(device)

    @property
    def checkpoints(self) -> Folder:
        return open_folder(self.folder.path / TRAINING_FOLDER)

    def run(self) -> TrainedFolder:
        import torch

        start = time.monotonic()
        stages, trained = self.spec.stages, self.spec.trainable.folder
        states = [read_state(self.checkpoints, stage.name) for stage in stages]
        earlier = sum(state.seconds for state in states if state is not None)
        left = [stage for stage, state in zip(stages, states, strict=True) if state is None or not state.done]
        train = self._gather_split(TRAIN, left) if left else None
        val = self._gather_split(VAL, stages)
        schema, size = self.data.schema, (self.data if self.other is None else self.other).size
        about: dict[str, Any] = {
            "kind": trained.KIND,
            "version": trained.VERSION,
            "schema": schema.name if schema.name in SCHEMAS.names() else schema.to_json(),
            "size": list(size if val.pixels is None else val.pixels.shape[2:0:-1]),
        }
        files: dict[str, bytes] = {}
        with self._start_beside(left, train, val) as beside:
            for stage in stages:
                if stage.name in beside:
                    with self.bar(f"training the {_name_part(stage)}, beside") as tell:
                        beside[stage.name].wait(tell)
                todo = stage in left and not (stage.name in beside and self._is_done(stage))
                about[stage.name], files[stage.name] = self._train_stage(stage, train if todo else None, val)
                if stage.figures:
                    began = time.monotonic()
                    if self.accelerator.is_main_process:  # which alone writes model.json
                        with self.bar("calibrating") as tell:
                            about |= stage.finish(self.modules[stage.name], val, self.device, tell)
                    self.seconds["calibration"] = time.monotonic() - began
        if self.other is not None:
            done = {stage.name for stage in stages}  # by name: a trainable with settings makes its stages anew
            for stage in self.spec.trainable.stages:
                if stage.name not in done:
                    files[stage.name] = self.other.read_bytes(stage.name)
                    about |= {key: self.other.about.get(key) for key in (stage.name, *stage.figures)}
        made = self.splits.seconds if self.splits else 0.0
        self.seconds["all"] = made + earlier + time.monotonic() - start  # what ran side by side before counts in full
        about |= {
            "command": self.spec.command,
            "device": name_device(self.accelerator.device),
            "processes": self.accelerator.num_processes,
            "seconds": {name: round(value, 2) for name, value in self.seconds.items()},
            "versions": {
                "shiftscope": __version__,
                "python": platform.python_version(),
                "torch": str(torch.__version__),
                "transformers": version("transformers"),
            },
            "spec": self.recorded,
        }
        self.accelerator.wait_for_everyone()
        if self.accelerator.is_main_process:
            if self.spec.keep_epochs:
                finish_epochs(trained, self.folder.path, about, files, self.log_rows[stages[-1].name])
            trained.write(self.folder.path, about, files)
            _remove_checkpoints(self.folder)
        self.accelerator.wait_for_everyone()
        return trained.read(self.folder.path)

    def _is_done(self, stage: TrainStage) -> bool:
        state = read_state(self.checkpoints, stage.name)
        return state is not None and state.done

    @contextmanager
    def _start_beside(
        self, left: Sequence[TrainStage], train: SplitData | None, val: SplitData
    ) -> Iterator[dict[str, ProcessBeside]]:
        """Processes that fit the parts which see no picture and need no other part, all but one part at most."""
        begun: dict[str, ProcessBeside] = {}
        if self.spec.beside and self.accelerator.num_processes == 1 and train is not None:
            chosen = [s for s in left if IMAGES not in s.supervision and not s.needs and not self._is_watched(s)]
            chosen = chosen[1:] if len(chosen) == len(left) else chosen
            for stage in chosen:
                mine, theirs = (_take_part(split, stage) for split in (train, val))
                here = self.spec, self.data, self.folder.path, self.recorded
                job = PartBeside(*here, stage.name, TrainValData(mine, theirs, 0.0), self.deadline)
                begun[stage.name] = ProcessBeside(fit_part, job)
        try:
            yield begun
        finally:
            for process in begun.values():
                process.stop()

    def _gather_split(self, split: str, stages: Sequence[TrainStage]) -> SplitData:
        if self.splits is not None:
            self.seconds["data"] = self.splits.seconds
            return self.splits.train if split == TRAIN else self.splits.val
        began = time.monotonic()
        group = ProcessGroup(self.accelerator.process_index, self.accelerator.num_processes, self.device)
        with self.bar(f"{split} data") as tell:
            found = gather_split(
                self.data, split, stages, device=self.device, workers=self.spec.workers, group=group, tell=tell
            )
        for stage in stages:
            if not len(found.supervision[stage.name]):
                if stage.lacks:
                    raise UserError(f"{self.spec.data} has in {split} no {stage.lacks}")
                what = "programs" if PROGRAMS in stage.supervision else "answers"
                what = f"actions and {what}" if ACTIONS in stage.supervision else what
                others = [one.option for one in stages if len(found.supervision[one.name])]
                hint = f"; use --only {others[0]}" if others else ""
                raise UserError(f"{self.spec.data} has no questions with {what} in {split}{hint}")
        self.seconds["data"] = self.seconds.get("data", 0.0) + time.monotonic() - began
        return found

    def _train_stage(self, stage: TrainStage, train: SplitData | None, val: SplitData) -> tuple[dict[str, Any], bytes]:
        """What model.json says of a part, and its file."""
        with self.bar(f"training the {_name_part(stage)}") as tell:
            config, task, fitted = self.fit_stage(stage, train, val, tell)
        round_weights(fitted.module)
        began = time.monotonic()
        counts = count_validation(task, fitted.module, self.accelerator)
        self.seconds[stage.option] = fitted.seconds + time.monotonic() - began
        self.modules[stage.name] = fitted.module
        file = pack_weights(fitted.module)
        entry = {
            "config": config.to_json(),
            "blake2b": digest_of(file),
            "trained_on": self.data.variant,
            "data": self.data.to_json(),
            "examples": fitted.rows[-1]["examples"],
            "seed": self.spec.seed,
            "recipe": task.recipe.to_json(),
            "epoch": fitted.epoch,
            "rise": round(compute_rise([row["figure"] for row in fitted.rows]), 6),
            "val": {name: round(value, 6) for name, value in compute_shares(counts).items()},
            "val_counts": {name: [int(right), int(of)] for name, (right, of) in counts.items()},
            "seconds": round(self.seconds[stage.option], 2),
            "command": self.spec.command,
        }
        return entry, file

    def fit_stage(
        self, stage: TrainStage, train: SplitData | None, val: SplitData, tell: ProgressCallback
    ) -> tuple[Any, TrainTask, FittedModule]:
        """The config of a part, what its training is, and what came of it; without train data, as it was left."""
        import torch

        with collect_rarely():  # many questions become tables here
            config, recipe = self._make_config(stage, train), self.spec.recipe(stage)
            torch.manual_seed(seed_of(stage.name, self.spec.seed, "weights") % SEEDS)
            parts = {name: self._find_part(name) for name in stage.needs}
            module = stage.build(config, parts)
            if train is not None:
                stage.load_pretrained(module, config)
            examples = self._make_examples(stage, train, config, parts) if train else None
            val_examples = self._make_examples(stage, val, config, parts)
        task = TrainTask(
            stage.name,
            module,
            stage.loss,
            stage.measure,
            stage.choose_by,
            examples,
            val_examples,
            recipe,
            stage.check,
            stage.batch_to_measure(self.device),
            stage.captured,
            stage.compiled,
        )

        def write_log(rows: list[dict[str, Any]]) -> None:
            """The whole log anew, so that no epoch stands there twice."""
            self.log_rows[stage.name] = rows
            lines = [f"{json.dumps(row, ensure_ascii=False)}\n" for some in self.log_rows.values() for row in some]
            if self.accelerator.is_main_process and not self.is_beside:
                self.folder.write_whole(LOG, "".join(lines).encode(), durable=False)

        fitted = fit(
            task,
            self.accelerator,
            seed=self.spec.seed,
            checkpoints=self.checkpoints,
            deadline=self.deadline,
            tell=tell,
            log=write_log,
            keep=self._keep_epochs(stage, config),
        )
        return config, task, fitted

    def _is_watched(self, stage: TrainStage) -> bool:
        """Whether every epoch's weights are kept or watched: those of the last part that is trained may be."""
        return stage.name == self.spec.stages[-1].name and bool(self.spec.keep_epochs or self.watch)

    def _keep_epochs(self, stage: TrainStage, config: Any) -> Callable[[int, Any], None] | None:
        """What is done with every epoch's weights."""
        if not self._is_watched(stage):
            return None
        rounded: list[Any] = []

        def keep(epoch: int, module: Any) -> None:
            if self.spec.keep_epochs:
                write_epoch(self.folder.path, stage.name, epoch, module)
            if self.watch is not None:
                if not rounded:
                    rounded.append(copy_module(module))
                rounded[0].load_state_dict(module.state_dict())
                round_weights(rounded[0])
                self.watch(epoch, rounded[0], config)

        return keep

    def _make_examples(self, stage: TrainStage, data: SplitData, config: Any, parts: Mapping[str, Any]) -> ExampleSet:
        return stage.make_examples(stage.encode(data, parts, self.device), config, self.device)

    def _make_config(self, stage: TrainStage, train: SplitData | None) -> Any:
        """The part's config; a vocabulary is learned from the training data and then kept."""
        if not stage.learns_vocabulary:
            return stage.fit_vocabulary(self.data.schema, train)
        name = f"{stage.name}.json"
        if train is None:
            return stage.read_config(json.loads(self.checkpoints.read(name)))
        config = stage.fit_vocabulary(self.data.schema, train)
        if self.accelerator.is_main_process:
            self.checkpoints.write_whole(name, json.dumps(config.to_json(), ensure_ascii=False).encode())
        return config

    def _find_part(self, name: str) -> Any:
        """A part that another needs: trained just now, or taken from the other folder."""
        if name not in self.modules:
            if self.other is None:
                raise UserError(
                    f"{self.spec.only} is trained on top of the {name}; name a folder that has it with --from"
                )
            stage = self.spec.trainable.stage(name)
            config, parts = stage.read_config(self.other.config(name)), {n: self._find_part(n) for n in stage.needs}
            self.modules[name] = self.other.load(name, stage.build(config, parts)).to(self.device)
        return self.modules[name]


@dataclass(frozen=True, slots=True, eq=False)
class PartBeside:
    """A part that is fitted in a process of its own, as it is sent there."""

    spec: TrainSpec
    data: TrainingData
    folder: Path
    recorded: dict[str, Any]
    stage: str
    splits: TrainValData
    deadline: float  # as time.monotonic counts, which is one clock for all processes


def fit_part(job: PartBeside, tell: ProgressCallback) -> None:
    """Leave the part's finished checkpoint in the folder, which the process that started this one holds."""
    training = _Training(
        *(job.spec, job.data, None, open_folder(job.folder), job.recorded, make_accelerator(job.spec.device)),
        *(show_no_progress, job.splits, job.deadline),
        is_beside=True,
    )
    training.fit_stage(job.spec.trainable.stage(job.stage), job.splits.train, job.splits.val, tell)


def _take_part(split: SplitData, stage: TrainStage) -> SplitData:
    """What of a split a stage that sees no picture learns from."""
    return SplitData(
        None, split.scenes if SCENES in stage.supervision else (), {stage.name: split.supervision[stage.name]}
    )


def _name_part(stage: TrainStage) -> str:
    return stage.name.replace("_", " ")


def _read_finished(spec: TrainSpec, out: Path, recorded: dict[str, Any]) -> TrainedFolder:
    """What was trained there before, if it is the same and its weights are as they were written."""
    found = spec.trainable.folder.read(out)
    before = found.about.get("spec")
    if not isinstance(before, dict):
        raise UserError(f"{out} holds a model that no training made; name another folder with --out")
    other = find_difference(before, recorded)
    if other:
        raise UserError(f"{out} holds another trained model: {other}; name another folder with --out")
    for part in found.parts:
        found.read_bytes(part)
    if spec.keep_epochs and not list_epochs(out):
        raise UserError(f"{out} was trained already, and its epochs were not kept; name another folder with --out")
    return found


def _refuse_foreign(out: Path) -> None:
    """Nothing is written into a folder of something else."""
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; name a folder with --out")
    ours = (out / TRAINING_FOLDER).is_dir() or (out / MODEL_FILE).exists()
    if out.is_dir() and list_contents(out) and not ours:
        raise UserError(f"{out} is not empty and holds no training; name another folder with --out")
