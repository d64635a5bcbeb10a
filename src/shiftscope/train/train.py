"""Train a model on a dataset or a suite, part by part, each chosen and calibrated on validation data.

Which parts a model has, its file in `models/` says (see `trainable.py`). The same call again resumes.
"""

from __future__ import annotations

import json
import platform
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..errors import UserError, unknown
from ..files import digest_of, write_whole
from ..folder import list_contents, lock_folder
from ..model import get_traits
from ..records import content_id
from ..registry import MODELS, SCHEMAS
from ..rng import seed_of
from ..store.question_part import QuestionPart
from ..store.response_cache import find_cache_folder
from ..trainable import PROGRAMS, Gather, ProgressCallback, SplitData, Trainable, TrainRecipe, TrainStage
from ..trained_folder import MODEL_FILE, TRAINING_FOLDER, TrainedFolder, pack_weights, round_weights
from .checkpoint import claim_spec, find_difference, read_state
from .data import TRAIN, VAL, DatasetTrainingData, SuiteTrainingData, open_training_data
from .examples import TrainValData, gather_split
from .loop import SEEDS, TrainTask, compute_shares, count_validation, fit

if TYPE_CHECKING:
    import torch

DEVICES = ("auto", "cuda", "cpu")


def make_accelerator(device: str) -> Any:
    """An Accelerator for the device; processes started by `accelerate launch` find each other through it."""
    import torch
    from accelerate import Accelerator, DistributedDataParallelKwargs

    if device not in DEVICES:
        raise unknown("device", device, DEVICES)
    if device == "cuda" and not torch.cuda.is_available():
        raise UserError("torch finds no GPU here; train on the processor with --device cpu")
    cpu = device == "cpu" or not torch.cuda.is_available()
    if not cpu:
        torch.backends.cudnn.benchmark = True
        torch.set_float32_matmul_precision("high")
    whole = DistributedDataParallelKwargs(find_unused_parameters=True)  # images without parts train no part head
    return Accelerator(cpu=cpu, mixed_precision="no" if cpu else "bf16", kwargs_handlers=[whole])


def name_device(device: torch.device) -> str:
    """The machine's own name for it."""
    import torch

    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    return f"cpu ({platform.machine()}, {torch.get_num_threads()} threads)"


LOG = "training.jsonl"
SPEC = "spec.json"

ProgressBar = Callable[[str], AbstractContextManager[ProgressCallback]]


def show_no_progress(name: str) -> AbstractContextManager[ProgressCallback]:
    return nullcontext(lambda done, total, words: None)


@dataclass(frozen=True, slots=True)
class TrainSpec:
    """What to train; the lower half changes only where and how fast."""

    model: str
    data: str  # a folder, or SUITE[:VARIANT]
    visual: str = ""
    images: int = 20_000  # to train on; a suite has a quarter as many to choose by
    seed: int = 0  # of weights and of the order of examples; a suite's images are those of its own seed 0
    only: str = ""  # the one part that is trained, as its stage calls it
    other: Path | None = None  # a trained folder, from which the other parts are taken
    epochs: int | None = None
    part: QuestionPart | None = None  # of a dataset's train split: only its questions are learned
    device: str = "auto"
    workers: int = 1
    command: str = ""  # as it was typed

    def __post_init__(self) -> None:
        options = [stage.option for stage in self.trainable.stages]
        if self.only not in ("", *options):
            raise unknown("part", self.only, options)
        if self.other and not self.only:
            raise UserError("--from takes parts from a trained folder; say which part is trained with --only")
        if self.epochs is not None and self.epochs < 1:
            raise UserError(f"{self.epochs} epochs train nothing; give at least 1")

    @property
    def trainable(self) -> Trainable:
        return find_trainable(self.model)

    @property
    def stages(self) -> tuple[TrainStage, ...]:
        """Those that are trained, in order."""
        return tuple(stage for stage in self.trainable.stages if self.only in ("", stage.option))

    def recipe(self, stage: TrainStage) -> TrainRecipe:
        return replace(stage.recipe, epochs=self.epochs) if self.epochs else stage.recipe

    def spec(self, data: SuiteTrainingData | DatasetTrainingData, other: TrainedFolder | None) -> dict[str, Any]:
        """All that the weights depend on."""
        return {
            "kind": self.trainable.folder.KIND,
            "data": data.spec(),
            "seed": self.seed,
            "only": self.only or None,
            "from": other.id() if other else None,
            "recipes": {stage.name: self.recipe(stage).to_json() for stage in self.stages},
            "parsers": {stage.name: stage.describe(data.schema) for stage in self.stages},
        }


def find_trainable(model: str) -> Trainable:
    """How a model of the registry is trained; a UserError names those that can be."""
    found = get_traits(model).trainable if model in MODELS.names() else None
    if found is None:
        raise unknown(
            "trainable model",
            model,
            [name for name, m in MODELS.load_all() if getattr(m, "TRAITS", None) and m.TRAITS.trainable],
        )
    return found


def train(spec: TrainSpec, out: Path | None = None, *, bar: ProgressBar = show_no_progress) -> TrainedFolder:
    """The trained model; a training that was finished in that folder before is not done again."""
    require_torch(spec.model)
    data = open_training_data(spec.data, visual=spec.visual, images=spec.images, part=spec.part)
    return train_on(data, spec, out, bar=bar)


def train_on(
    data: SuiteTrainingData | DatasetTrainingData,
    spec: TrainSpec,
    out: Path | None = None,
    *,
    lessons: TrainValData | None = None,
    bar: ProgressBar = show_no_progress,
) -> TrainedFolder:
    """The same on data that are open already, and on lessons where these were gathered before."""
    other = spec.trainable.folder.read(spec.other) if spec.other else None
    if other is not None and other.schema != data.schema:
        raise UserError(f"{spec.other} was trained on {other.schema.name}, and {spec.data} is {data.schema.name}")
    recorded = spec.spec(data, other)
    name = data.name.replace(":", "-")
    out = out or find_cache_folder() / "models" / f"{name}-{content_id(recorded)[:12]}"
    if (out / MODEL_FILE).exists():
        return _read_finished(spec.trainable, out, recorded)
    _refuse_foreign(out)
    with _FolderTraining(spec, data, other, out, recorded, bar, lessons) as training:
        if training.is_finished:
            return _read_finished(spec.trainable, out, recorded)
        return replace(training.run(), new=True)


class _FolderTraining:
    """One training in its folder, which its main process holds."""

    def __init__(
        self,
        spec: TrainSpec,
        data: SuiteTrainingData | DatasetTrainingData,
        other: TrainedFolder | None,
        out: Path,
        recorded: dict[str, Any],
        bar: ProgressBar,
        lessons: TrainValData | None,
    ) -> None:
        self.spec, self.data, self.other, self.out, self.recorded = spec, data, other, out, recorded
        self.lessons = lessons
        self.held = out / TRAINING_FOLDER
        self.accelerator = make_accelerator(spec.device)
        cpu = self.accelerator.device.type == "cpu"
        self.device = "cpu" if cpu else str(self.accelerator.device)
        self.bar = bar if self.accelerator.is_main_process else show_no_progress
        self.seconds: dict[str, float] = {}
        self.trained = spec.trainable.folder
        self.modules: dict[str, Any] = {}  # the parts trained by now
        self.logged: dict[str, list[dict[str, Any]]] = {}
        self._lock = ExitStack()

    def __enter__(self) -> _FolderTraining:
        if self.accelerator.is_main_process:
            self._lock.enter_context(lock_folder(self.out))
            try:
                self._claim_folder()
            except BaseException:
                self._lock.close()
                raise
        self.accelerator.wait_for_everyone()
        return self

    def _claim_folder(self) -> None:
        """Keep to this training; another process may have begun or finished one since the folder was free."""
        _refuse_foreign(self.out)
        if not self.is_finished:
            claim_spec(self.held / SPEC, json.loads(json.dumps(self.recorded)))

    @property
    def is_finished(self) -> bool:
        return (self.out / MODEL_FILE).exists()

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        with self._lock:
            self.accelerator.free_memory()
            if kind is not None and issubclass(kind, UserError) and self.accelerator.is_main_process:
                self._clean_up()

    def _clean_up(self) -> None:
        """Leave no folder behind where nothing was trained yet."""
        if self.held.is_dir() and list_contents(self.held) == [SPEC]:
            shutil.rmtree(self.held)

    def run(self) -> TrainedFolder:
        start = time.monotonic()
        stages = self.spec.stages
        left = [stage for stage in stages if not self._is_done(stage)]
        train = self._gather_split(TRAIN, left) if left else None
        val = self._gather_split(VAL, stages)
        about: dict[str, Any] = {
            "kind": self.trained.KIND,
            "version": self.trained.VERSION,
            "schema": _name_schema(self.data.schema),
            "size": self._image_size(val),
        }
        files: dict[str, bytes] = {}
        for stage in stages:
            entry, files[stage.name] = self._train_stage(stage, train if stage in left else None, val)
            about[stage.name] = entry
            if stage.figures:
                began = time.monotonic()
                with self.bar("calibrating") as tell:
                    about |= stage.finish(self.modules[stage.name], val, self.device, tell)
                self.seconds["calibration"] = time.monotonic() - began
        if self.other is not None:
            self._copy_other_parts(about, files)
        ahead = self.lessons.seconds if self.lessons is not None else 0.0
        self.seconds["all"] = ahead + time.monotonic() - start
        about |= {
            "command": self.spec.command,
            "device": name_device(self.accelerator.device),
            "processes": self.accelerator.num_processes,
            "seconds": {name: round(value, 2) for name, value in self.seconds.items()},
            "versions": _list_versions(),
            "spec": self.recorded,
        }
        return self._write_model(about, files)

    def _is_done(self, stage: TrainStage) -> bool:
        state = read_state(self._state_path(stage))
        return state is not None and state.done

    def _state_path(self, stage: TrainStage) -> Path:
        return self.held / f"{stage.name}.safetensors"

    def _gather_split(self, split: str, stages: Sequence[TrainStage]) -> SplitData:
        if self.lessons is not None:
            self.seconds["data"] = self.lessons.seconds
            return self.lessons.train if split == TRAIN else self.lessons.val
        began = time.monotonic()
        with self.bar(f"{split} data") as tell:
            found = gather_split(
                self.data,
                split,
                stages,
                device=self.device,
                workers=self.spec.workers,
                share=(self.accelerator.process_index, self.accelerator.num_processes),
                tell=tell,
            )
        for stage in stages:
            if not len(found.supervision[stage.name]):
                what = "programs" if PROGRAMS in stage.supervision else "answers"
                others = [one.option for one in stages if len(found.supervision[one.name])]
                hint = f"; use --only {others[0]}" if others else ""
                raise UserError(f"{self.spec.data} has no questions with {what} in {split}{hint}")
        self.seconds["data"] = self.seconds.get("data", 0.0) + time.monotonic() - began
        return found

    def _image_size(self, val: SplitData) -> list[int]:
        if val.pixels is not None:
            return [int(val.pixels.shape[2]), int(val.pixels.shape[1])]
        if self.other is not None:
            return list(self.other.size)
        return list(self.data.suite_spec.size) if isinstance(self.data, SuiteTrainingData) else [0, 0]

    def _train_stage(self, stage: TrainStage, train: SplitData | None, val: SplitData) -> tuple[dict[str, Any], bytes]:
        """What model.json says of a part, and its file."""
        import torch

        config, recipe = self._make_config(stage, train), self.spec.recipe(stage)
        torch.manual_seed(seed_of(stage.name, self.spec.seed, "weights") % SEEDS)
        task = TrainTask(
            stage.name,
            stage.build(config, {name: self._find_part(name) for name in stage.needs}),
            stage.loss,
            stage.measure,
            stage.choose_by,
            stage.make_examples(train, config, self.device) if train else _NoExamples(),
            stage.make_examples(val, config, self.device),
            recipe,
            stage.check,
            stage.batch_to_measure(self.device),
        )
        with self.bar(f"training the {stage.name.replace('_', ' ')}") as tell:
            made = fit(
                task,
                self.accelerator,
                seed=self.spec.seed,
                path=self._state_path(stage),
                tell=tell,
                log=lambda rows: self._write_log(stage.name, rows),
            )
        round_weights(made.module)
        began = time.monotonic()
        counts = count_validation(task, made.module, self.accelerator)
        self.seconds[stage.option] = made.seconds + time.monotonic() - began
        self.modules[stage.name] = made.module
        file = pack_weights(made.module)
        entry = {
            "config": config.to_json(),
            "blake2b": digest_of(file),
            "trained_on": self.data.variant,
            "data": self.data.spec(),
            "examples": made.rows[-1]["examples"],
            "seed": self.spec.seed,
            "recipe": recipe.to_json(),
            "epoch": made.epoch,
            "val": {name: round(value, 6) for name, value in compute_shares(counts).items()},
            "val_counts": {name: [int(right), int(of)] for name, (right, of) in counts.items()},
            "seconds": round(self.seconds[stage.option], 2),
            "command": self.spec.command,
        }
        return entry, file

    def _make_config(self, stage: TrainStage, train: SplitData | None) -> Any:
        """The part's config; a vocabulary is learned from the training data and then kept."""
        schema, path = self.data.schema, self.held / f"{stage.name}.json"
        if not stage.learns_vocabulary:
            return stage.fit_vocabulary(schema, train, None)
        if train is None:
            return stage.read_config(json.loads(path.read_text("utf-8")))
        gather: Gather | None = None
        if self.accelerator.num_processes > 1:
            from accelerate.utils import gather_object

            gather = gather_object
        config = stage.fit_vocabulary(schema, train, gather)
        if self.accelerator.is_main_process:
            write_whole(path, json.dumps(config.to_json(), ensure_ascii=False).encode())
        return config

    def _find_part(self, name: str) -> Any:
        """A part that another needs: trained just now, or taken from the other folder."""
        if name not in self.modules:
            if self.other is None:
                raise UserError(
                    f"{self.spec.only} is trained on top of the {name}; name a folder that has it with --from"
                )
            stage = self.spec.trainable.stage(name)
            built = stage.build(
                stage.read_config(self.other.config(name)), {n: self._find_part(n) for n in stage.needs}
            )
            self.modules[name] = self.other.load(name, built).to(self.device)
        return self.modules[name]

    def _write_log(self, part: str, rows: list[dict[str, Any]]) -> None:
        """The whole log anew, so that no epoch stands there twice."""
        if not self.accelerator.is_main_process:
            return
        self.logged[part] = rows
        lines = [json.dumps(row, ensure_ascii=False) for some in self.logged.values() for row in some]
        write_whole(self.out / LOG, "".join(f"{line}\n" for line in lines).encode(), durable=False)

    def _copy_other_parts(self, about: dict[str, Any], files: dict[str, bytes]) -> None:
        """The parts that were not trained, and what belongs to them, from the other folder."""
        assert self.other is not None
        for stage in self.spec.trainable.stages:
            if stage not in self.spec.stages:
                files[stage.name] = self.other.read_bytes(stage.name)
                about[stage.name] = self.other.about[stage.name]
                about |= {key: self.other.about.get(key) for key in stage.figures}

    def _write_model(self, about: dict[str, Any], files: dict[str, bytes]) -> TrainedFolder:
        self.accelerator.wait_for_everyone()
        if self.accelerator.is_main_process:
            self.trained.write(self.out, about, files)
            shutil.rmtree(self.held)
        self.accelerator.wait_for_everyone()
        return self.trained.read(self.out)


class _NoExamples:
    """The examples of a training that is done."""

    def __len__(self) -> int:
        return 1

    def epoch(self, batch: int, random: Any) -> list[Any]:
        return []

    def batch(self, rows: Any) -> Any:
        raise AssertionError("a finished training needs no examples")


def _read_finished(trainable: Trainable, out: Path, recorded: dict[str, Any]) -> TrainedFolder:
    """What was trained there before, if it is the same and its weights are as they were written."""
    found = trainable.folder.read(out)
    before = found.about.get("spec")
    if not isinstance(before, dict):
        raise UserError(f"{out} holds a model that no training made; name another folder with --out")
    other = find_difference(before, json.loads(json.dumps(recorded)))
    if other:
        raise UserError(f"{out} holds another trained model: {other}; name another folder with --out")
    for part in found.parts:
        found.read_bytes(part)
    return found


def _refuse_foreign(out: Path) -> None:
    """Nothing is written into a folder of something else."""
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; name a folder with --out")
    ours = (out / TRAINING_FOLDER).is_dir() or (out / MODEL_FILE).exists()
    if out.is_dir() and list_contents(out) and not ours:
        raise UserError(f"{out} is not empty and holds no training; name another folder with --out")


def require_torch(model: str) -> None:
    missing = [name for name in find_trainable(model).requires if find_spec(name) is None]
    if missing:
        raise UserError(
            f"training {model} needs {' and '.join(missing)}, not installed here: pip install 'shiftscope[models]'"
        )


def _name_schema(schema: Any) -> Any:
    return schema.name if schema.name in SCHEMAS.names() else schema.to_json()


def _list_versions() -> dict[str, str]:
    import torch

    return {
        "shiftscope": __version__,
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "transformers": version("transformers"),
    }
