"""Train a model on a dataset or a suite's world: two parsers, chosen and calibrated on validation data.

The same call again goes on where it stopped. One folder serves nsvqa, p_nsvqa and p_nsvqa_exact.
"""

from __future__ import annotations

import json
import platform
import shutil
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ... import __version__
from ...canonical import content_id
from ...catalog import SCHEMAS
from ...errors import UserError, unknown
from ...models._name import TRAINED
from ...models._weights import (
    KIND,
    NAME,
    PARSERS,
    QUESTIONS,
    SCENE,
    UNDER_WAY,
    VERSION,
    Trained,
    packed,
    read_trained,
    round_off,
    write_trained,
)
from ...store.lock import contents, locked
from ...whole import digest_of, write_whole
from ..memory import default_folder
from ..part import Part
from .checkpoint import hold_to, read_state, unlike
from .data import TRAIN, VAL, Folder, World, open_data
from .device import accelerator_for, device_name
from .examples import Gathered, Lessons, gather
from .fitted import calibrated
from .loop import Tell, fit, summed
from .parsers import (
    Plan,
    parser_spec,
    question_config,
    question_task,
    recipe_of,
    scene_config,
    scene_task,
)
from .task import shares

LOG = "training.jsonl"
SPEC = "spec.json"
NEEDED = ("torch", "transformers", "accelerate", "safetensors", "scipy")

Bar = Callable[[str], AbstractContextManager[Tell]]


def no_bar(name: str) -> AbstractContextManager[Tell]:
    return nullcontext(lambda done, total, words: None)


@dataclass(frozen=True, slots=True)
class Order:
    """What to train; the lower half changes only where and how fast."""

    model: str
    data: str  # a folder, or SUITE[:VARIANT]
    visual: str = ""
    images: int = 20_000  # to train on; a suite has a quarter as many to choose by
    seed: int = 0  # of weights and of the order of examples; a suite's images are those of its own seed 0
    only: str = ""  # scene or questions: the one parser that is trained
    other: Path | None = None  # a trained folder, from which the other parser is taken
    epochs: int | None = None
    part: Part | None = None  # of a dataset's train split: only its questions are learned
    device: str = "auto"
    workers: int = 1
    command: str = ""  # as it was typed

    def __post_init__(self) -> None:
        if self.model not in TRAINED:
            raise unknown("trainable model", self.model, TRAINED)
        if self.only not in ("", *PARSERS.values()):
            raise unknown("parser", self.only, PARSERS.values())
        if self.other and not self.only:
            raise UserError("--from takes one parser from a trained folder; say which is trained with --only")
        if self.epochs is not None and self.epochs < 1:
            raise UserError(f"{self.epochs} epochs train nothing; give at least 1")

    @property
    def parts(self) -> tuple[str, ...]:
        """The parsers that are trained, in order."""
        return tuple(part for part, word in PARSERS.items() if self.only in ("", word))

    def spec(self, data: World | Folder, other: Trained | None) -> dict[str, Any]:
        """All that the weights depend on."""
        return {
            "kind": KIND,
            "data": data.spec(),
            "seed": self.seed,
            "only": self.only or None,
            "from": other.id() if other else None,
            "recipes": {part: recipe_of(part, self.epochs).to_json() for part in self.parts},
            "parsers": {part: parser_spec(part, data.schema) for part in self.parts},
        }


def train(order: Order, out: Path | None = None, *, bar: Bar = no_bar) -> Trained:
    """The trained model; a training that was finished in that folder before is not done again."""
    need_torch(order.model)
    data = open_data(order.data, visual=order.visual, images=order.images, part=order.part)
    return train_on(data, order, out, bar=bar)


def train_on(
    data: World | Folder,
    order: Order,
    out: Path | None = None,
    *,
    lessons: Lessons | None = None,
    bar: Bar = no_bar,
) -> Trained:
    """The same on data that are open already, and on lessons where these were gathered before."""
    other = read_trained(order.other) if order.other else None
    if other is not None and other.schema != data.schema:
        raise UserError(
            f"{order.other} was trained on {other.schema.name}, and {order.data} is {data.schema.name}"
        )
    spec = order.spec(data, other)
    name = data.name.replace(":", "-")
    out = out or default_folder() / "models" / f"{name}-{content_id(spec)[:12]}"
    if (out / NAME).exists():
        return _finished(out, spec)
    _refuse_foreign(out)
    with _Training(order, data, other, out, spec, bar, lessons) as training:
        return _finished(out, spec) if training.is_finished else replace(training.run(), new=True)


class _Training:
    """One training in its folder, which its main process holds."""

    def __init__(
        self,
        order: Order,
        data: World | Folder,
        other: Trained | None,
        out: Path,
        spec: dict[str, Any],
        bar: Bar,
        lessons: Lessons | None,
    ) -> None:
        self.order, self.data, self.other, self.out, self.spec = order, data, other, out, spec
        self.lessons = lessons
        self.held = out / UNDER_WAY
        self.accelerator = accelerator_for(order.device)
        cpu = self.accelerator.device.type == "cpu"
        self.device = "cpu" if cpu else str(self.accelerator.device)
        self.bar = bar if self.accelerator.is_main_process else no_bar
        self.seconds: dict[str, float] = {}
        self.logged: dict[str, list[dict[str, Any]]] = {}
        self._lock = ExitStack()

    def __enter__(self) -> _Training:
        if self.accelerator.is_main_process:
            self._lock.enter_context(locked(self.out))
            try:
                self._claim()
            except BaseException:
                self._lock.close()
                raise
        self.accelerator.wait_for_everyone()
        return self

    def _claim(self) -> None:
        """Keep to this training; another process may have begun or finished one since the folder was free."""
        _refuse_foreign(self.out)
        if not self.is_finished:
            hold_to(self.held / SPEC, json.loads(json.dumps(self.spec)))

    @property
    def is_finished(self) -> bool:
        return (self.out / NAME).exists()

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        with self._lock:
            self.accelerator.free_memory()
            if kind is not None and issubclass(kind, UserError) and self.accelerator.is_main_process:
                self._tidy()

    def _tidy(self) -> None:
        """Leave no folder behind where nothing was trained yet."""
        if self.held.is_dir() and contents(self.held) == [SPEC]:
            shutil.rmtree(self.held)

    def run(self) -> Trained:
        start = time.monotonic()
        done = {part: self._is_done(part) for part in self.order.parts}
        left = [part for part in self.order.parts if not done[part]]
        train = self._gather(TRAIN, left) if left else None
        val = self._gather(VAL, list(self.order.parts))
        about: dict[str, Any] = {
            "kind": KIND,
            "version": VERSION,
            "schema": _schema_json(self.data.schema),
            "size": self._size(val),
        }
        files: dict[str, bytes] = {}
        for part in self.order.parts:
            entry, files[part], module = self._trained(part, None if done[part] else train, val)
            about[part] = entry
            if part == SCENE:
                began = time.monotonic()
                with self.bar("calibrating") as tell:
                    about |= calibrated(module, val, self.device, tell)
                self.seconds["calibration"] = time.monotonic() - began
        if self.other is not None:
            self._take_over(about, files)
        ahead = self.lessons.seconds if self.lessons is not None else 0.0
        self.seconds["all"] = ahead + time.monotonic() - start
        about |= {
            "command": self.order.command,
            "device": device_name(self.accelerator.device),
            "processes": self.accelerator.num_processes,
            "seconds": {name: round(value, 2) for name, value in self.seconds.items()},
            "versions": _versions(),
            "spec": self.spec,
        }
        return self._written(about, files)

    def _is_done(self, part: str) -> bool:
        state = read_state(self._state(part))
        return state is not None and state.done

    def _state(self, part: str) -> Path:
        return self.held / f"{part}.safetensors"

    def _gather(self, split: str, parts: list[str]) -> Gathered:
        if self.lessons is not None:
            self.seconds["data"] = self.lessons.seconds
            return self.lessons.train if split == TRAIN else self.lessons.val
        began = time.monotonic()
        with self.bar(f"{split} data") as tell:
            found = gather(
                self.data,
                split,
                pictures=SCENE in parts,
                questions=QUESTIONS in parts,
                device=self.device,
                workers=self.order.workers,
                share=(self.accelerator.process_index, self.accelerator.num_processes),
                tell=tell,
            )
        if QUESTIONS in parts and not found.questions:
            raise UserError(f"{self.order.data} has no questions with programs in {split}; use --only scene")
        self.seconds["data"] = self.seconds.get("data", 0.0) + time.monotonic() - began
        return found

    def _size(self, val: Gathered) -> list[int]:
        if val.pixels is not None:
            return [int(val.pixels.shape[2]), int(val.pixels.shape[1])]
        if self.other is not None:
            return list(self.other.size)
        return list(self.data.order.size) if isinstance(self.data, World) else [0, 0]

    def _trained(self, part: str, train: Gathered | None, val: Gathered) -> tuple[dict[str, Any], bytes, Any]:
        """What model.json says of a parser, its file, and the parser itself."""
        plan = Plan(part, recipe_of(part, self.order.epochs), self.order.seed)
        config = self._config(part, train)
        make = scene_task if part == SCENE else question_task
        task = make(plan, config, train, val, self.device)
        with self.bar(f"training the {part.replace('_', ' ')}") as tell:
            made = fit(
                task,
                self.accelerator,
                seed=self.order.seed,
                path=self._state(part),
                tell=tell,
                log=lambda rows: self._log(part, rows),
            )
        round_off(made.module)
        began = time.monotonic()
        counts = summed(task, made.module, self.accelerator)
        self.seconds[PARSERS[part]] = made.seconds + time.monotonic() - began
        file = packed(made.module)
        entry = {
            "config": config.to_json(),
            "blake2b": digest_of(file),
            "trained_on": self.data.variant,
            "data": self.data.spec(),
            "examples": made.rows[-1]["examples"],
            "seed": self.order.seed,
            "recipe": plan.recipe.to_json(),
            "epoch": made.epoch,
            "val": {name: round(value, 6) for name, value in shares(counts).items()},
            "val_counts": {name: [int(right), int(of)] for name, (right, of) in counts.items()},
            "seconds": round(self.seconds[PARSERS[part]], 2),
            "command": self.order.command,
        }
        return entry, file, made.module

    def _config(self, part: str, train: Gathered | None) -> Any:
        """The parser's config; a vocabulary is learned from the training questions and then kept."""
        if part == SCENE:
            return scene_config(self.data.schema)
        path = self.held / f"{part}.json"
        if train is None:
            from ...models._question_parser import Config

            return Config.from_json(json.loads(path.read_text("utf-8")))
        config = question_config(self.data.schema, train, self.accelerator.num_processes)
        if self.accelerator.is_main_process:
            write_whole(path, json.dumps(config.to_json(), ensure_ascii=False).encode())
        return config

    def _log(self, part: str, rows: list[dict[str, Any]]) -> None:
        """The whole log anew, so that no epoch stands there twice."""
        if not self.accelerator.is_main_process:
            return
        self.logged[part] = rows
        lines = [json.dumps(row, ensure_ascii=False) for some in self.logged.values() for row in some]
        write_whole(self.out / LOG, "".join(f"{line}\n" for line in lines).encode(), durable=False)

    def _take_over(self, about: dict[str, Any], files: dict[str, bytes]) -> None:
        """The parser that was not trained, and what belongs to it, from the other folder."""
        assert self.other is not None
        for part in PARSERS:
            if part not in self.order.parts:
                files[part] = self.other.bytes(part)
                about[part] = self.other.about[part]
                if part == SCENE:
                    about |= {key: self.other.about.get(key) for key in ("calibration", "spatial")}

    def _written(self, about: dict[str, Any], files: dict[str, bytes]) -> Trained:
        self.accelerator.wait_for_everyone()
        if self.accelerator.is_main_process:
            write_trained(self.out, about, files)
            shutil.rmtree(self.held)
        self.accelerator.wait_for_everyone()
        return read_trained(self.out)


def _finished(out: Path, spec: dict[str, Any]) -> Trained:
    """What was trained there before, if it is the same and its weights are as they were written."""
    found = read_trained(out)
    before = found.about.get("spec")
    if not isinstance(before, dict):
        raise UserError(f"{out} holds a model that no training made; name another folder with --out")
    other = unlike(before, json.loads(json.dumps(spec)))
    if other:
        raise UserError(f"{out} holds another trained model: {other}; name another folder with --out")
    for part in PARSERS:
        if part in found.about:
            found.bytes(part)
    return found


def _refuse_foreign(out: Path) -> None:
    """Nothing is written into a folder of something else."""
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file; name a folder with --out")
    ours = (out / UNDER_WAY).is_dir() or (out / NAME).exists()
    if out.is_dir() and contents(out) and not ours:
        raise UserError(f"{out} is not empty and holds no training; name another folder with --out")


def need_torch(model: str) -> None:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise UserError(
            f"training {model} needs {' and '.join(missing)}, not installed here: "
            "pip install 'shiftscope[models]'"
        )


def _schema_json(schema: Any) -> Any:
    return schema.name if schema.name in SCHEMAS.names() else schema.to_json()


def _versions() -> dict[str, str]:
    import torch
    import transformers

    return {
        "shiftscope": __version__,
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "transformers": transformers.__version__,
    }
