"""Neuro-symbolic models: a scene parser sees, a question parser reads, and an executor of programs answers.

Under a condition that shows the scene in words its parser is spared: the scene is taken as it is. Under one
that gives the program, the question is not read. What is left is the model's own.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from ...errors import UserError, unknown
from ...lang.exec.packed import PackedAnswers, Programs
from ...lang.exec.soft import SoftAnswers
from ...lang.program import Program, ProgramError
from ...lang.scene_posterior import ScenePosterior, build_certain_posterior, concatenate_posteriors
from ...lang.text import format_program
from ...model import AnswerColumns, ModelOptions, ModelSetting, ModelTraits, Prompt, Response
from ...picture import Picture, stack
from ...scene import Scene
from ...scene_table import SceneTable, pack_scenes
from ...schema import Schema
from ...trainable import load_stage
from ...trained_folder import MODEL_FILE
from .trained_model import PARSERS, POSITIONS, TrainedModel, find_trained_model
from .training import NeuroSymbolicTraining

if TYPE_CHECKING:
    from .scene_parser.decode import Figures

CACHED_IMAGES = 512  # whose scene posteriors are cached: questions about one come one after the other
CACHED_QUESTIONS = 250_000  # whose programs are cached
LARGEST_BATCH = 1 << 20  # prompts, where their pictures are in memory
CPU_IMAGES = 32  # images looked at together on a processor
GPU_IMAGES = 256
ADAPTATIONS = {"norm": ("norm",), "prior": ("prior",), "both": ("norm", "prior")}
ADAPTATION_VERSION = 3  # another number whenever adaptation changes, so that figures never mix two of them

Answers = SoftAnswers | PackedAnswers
SceneRow = tuple[ScenePosterior | SceneTable, int]  # what holds a scene, and its row there


def respond_surely(found: SoftAnswers) -> list[Response]:
    """Each answer with its confidence, if that is a number."""
    pairs = ((found[i], float(found.confidence[i])) for i in range(len(found)))
    return [Response(answer=a, confidence=None if math.isnan(p) else min(1.0, max(0.0, p))) for a, p in pairs]


@dataclass(frozen=True, slots=True)
class ProgramExecutor:
    """How a model executes programs about scenes, the scene of each given by its row."""

    answer: Callable[[Programs, ScenePosterior, Sequence[int]], Answers]
    answer_known: Callable[[Programs, SceneTable, Sequence[int]], Answers] | None = None  # None: a certain posterior
    respond: Callable[[Any], list[Response]] = respond_surely
    trace: Callable[[Sequence[Program], ScenePosterior, Sequence[int]], list[str]] | None = None  # for a person

    def execute(self, programs: Sequence[Program], scenes: ScenePosterior | SceneTable, rows: Any) -> list[Response]:
        if not isinstance(scenes, ScenePosterior):
            assert self.answer_known is not None
            return self.respond(self.answer_known(programs, scenes, rows))
        responses = self.respond(self.answer(programs, scenes, rows))
        if self.trace is None:
            return responses
        traces = self.trace(programs, scenes, rows)
        return [replace(response, trace=text) for response, text in zip(responses, traces, strict=True)]


class ParserCache(OrderedDict[str, Any]):
    """What a parser made of pictures (by id) or texts; models of the same weights share it while one is in use."""

    def __init__(self) -> None:
        super().__init__()
        # A scene parser's: adapted to the images that were last adapted to, by kind.
        self.adapted: dict[tuple[str, tuple[str, ...]], tuple[Any, tuple[str, ...], ParserCache]] = {}

    def trim(self, most: int) -> None:
        while len(self) > most:
            self.popitem(last=False)


_CACHES: WeakValueDictionary[tuple[str, ...], ParserCache] = WeakValueDictionary()


@dataclass(frozen=True, slots=True, eq=False)
class NsvqaParsers:
    """The two parsers of a trained model, on a device."""

    trained: TrainedModel
    device: str
    scene: Any  # the scene parser's module
    questions: Any
    adapted: tuple[str, ...] | None = None  # what was adapted to unlabelled images, and kept; None: not tried
    seen: ParserCache = field(default_factory=ParserCache)  # by the picture's id: posterior, row, seconds of parsing
    read: ParserCache = field(default_factory=ParserCache)  # by a question's text: program, its spelling, seconds

    def apply(self, function: Callable[[Any, Any], Any], batch: Any) -> Any:
        """A function of the scene parser's module and a batch, at the precision it was trained with."""
        with self._autocast():
            return function(self.scene, batch)

    def parse_images(self, images: Any) -> ScenePosterior:
        """The scene posterior of images, a tensor [image, height, width, 3] of uint8 on any device."""
        from .scene_parser.decode import parse

        found: ScenePosterior = self.apply(parse, images.to(self.device))
        return found.map_arrays(lambda array: array.float() if array.is_floating_point() else array)

    def adapt(self, pictures: Sequence[Picture], kind: str) -> NsvqaParsers:
        """The same, with a scene parser that is adapted to these images; itself where that changes nothing."""
        from .scene_parser.adapt import adapt_parser

        ids, held = tuple(picture.id for picture in pictures), self.seen.adapted
        if (kind, ids) not in held:
            for key in [key for key in held if key[1] != ids]:
                del held[key]
            images = stack(pictures, self.device, self.trained.size).to(self.device)
            with self._autocast():
                scene, kept = adapt_parser(self.scene, images, self.trained.calibration, ADAPTATIONS[kind])
            held[kind, ids] = scene, kept, ParserCache() if kept else self.seen
        scene, kept, seen = held[kind, ids]
        return replace(self, scene=scene, adapted=kept, seen=seen)

    def synchronize(self) -> None:
        """Wait for the GPU, so that seconds are those of the stage that took them."""
        if self.device.startswith("cuda"):
            import torch

            torch.cuda.current_stream().synchronize()  # not the device, which may be rendering the next images

    def _autocast(self) -> Any:
        import torch

        return torch.autocast("cuda", torch.bfloat16, enabled=self.device.startswith("cuda"))

    def parse_questions(self, texts: Sequence[str]) -> list[Program]:
        """The program of each question."""
        from .question_parser.decode import parse

        return list(parse(self.questions, texts)) if texts else []


class NeuroSymbolicModel:
    """Sees, reads and executes, in batches."""

    def __init__(self, parsers: NsvqaParsers, executor: ProgramExecutor) -> None:
        gpu = parsers.device.startswith("cuda")
        self.parsers, self.executor = parsers, executor
        self.batch = 4096 if gpu else 256  # prompts at once
        self.largest_batch = LARGEST_BATCH
        self.stage_seconds = {"see": 0.0, "read": 0.0, "execute": 0.0}  # what caches held counts in full
        self._together = GPU_IMAGES if gpu else CPU_IMAGES
        self._seen, self._read = parsers.seen, parsers.read
        self._counted: set[str] = set()  # pictures whose seconds are in `stage_seconds`

    @property
    def adapted(self) -> tuple[str, ...] | None:
        """What was adapted to unlabelled images, and kept; None: not tried."""
        return self.parsers.adapted

    def identity(self, before: Mapping[str, Any]) -> dict[str, Any]:
        return {"model_id": {MODEL_FILE: self.parsers.trained.content()}}

    def adapt(self, pictures: Sequence[Picture], kind: str) -> NeuroSymbolicModel:
        """With a scene parser adapted to unlabelled images; `kind` is one of `ADAPTATIONS`."""
        if kind not in ADAPTATIONS:
            raise unknown("adaptation", kind, ADAPTATIONS)
        if not pictures:
            return self
        start = time.perf_counter()
        try:
            made = NeuroSymbolicModel(self.parsers.adapt(pictures, kind), self.executor)
        except UserError as error:
            raise UserError(f"{error}; it is one of the images that the model is adapted to") from None
        made.stage_seconds["see"] += time.perf_counter() - start
        return made

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        unsupported = {k: why for k, prompt in enumerate(batch) if (why := _explain_unsupported(prompt))}
        responses = {k: Response(status="undefined", reason=why) for k, why in unsupported.items()}
        rest = [k for k in range(len(batch)) if k not in unsupported]
        programs = dict(zip(rest, self._find_programs([batch[k] for k in rest]), strict=True))
        places = dict(zip(rest, self._locate_scenes([batch[k] for k in rest]), strict=True))
        groups: dict[int, list[int]] = {}
        for k in rest:
            groups.setdefault(id(places[k][0]), []).append(k)
        start = time.perf_counter()
        for group in groups.values():
            scenes, rows = places[group[0]][0], [places[k][1] for k in group]
            found = self._execute_group([programs[k][0] for k in group], scenes, rows)
            responses |= {k: replace(one, program=programs[k][1]) for k, one in zip(group, found, strict=True)}
        self.stage_seconds["execute"] += time.perf_counter() - start
        return [responses[k] for k in range(len(batch))]

    def predict_columns(self, batch: Sequence[Prompt]) -> AnswerColumns:
        """The answers that `predict` gives, many at a time and nothing besides."""
        if any(prompt.scene_text or _explain_unsupported(prompt) for prompt in batch):
            raise ValueError("columns are of questions about one image each, and nothing told")
        programs = [program for program, _ in self._find_programs(batch)]
        places = self._locate_scenes(batch)
        groups: dict[int, list[int]] = {}
        for k, (held, _) in enumerate(places):
            groups.setdefault(id(held), []).append(k)
        numbers: dict[Any, int] = {None: 0}
        codes, confidence = np.zeros(len(batch), np.int64), np.full(len(batch), np.nan)
        start = time.perf_counter()
        for group in groups.values():
            rows = np.array([places[k][1] for k in group], np.int64)
            found = self.executor.answer([programs[k] for k in group], places[group[0]][0], rows)  # type: ignore[arg-type]
            codes[group] = _number_answers(found, numbers)
            if isinstance(found, SoftAnswers):
                confidence[group] = found.confidence.clip(0.0, 1.0)
        self.stage_seconds["execute"] += time.perf_counter() - start
        return AnswerColumns(tuple(key and key[1] for key in numbers), codes, confidence)

    def predict_from_objects(self, batch: Sequence[Prompt]) -> list[Response]:
        """With the true objects in place of parsed ones: relations are still found by the model's own rule."""
        scenes = list({id(p.scenes[0]): p.scenes[0] for p in batch}.values())
        row_of = {id(scene): row for row, scene in enumerate(scenes)}
        certain = build_certain_posterior(pack_scenes(scenes))
        programs = [program for program, _ in self._find_programs(batch)]
        return self._execute_group(programs, certain, [row_of[id(p.scenes[0])] for p in batch])

    def measure_parts(self, pictures: Sequence[Picture], scenes: Sequence[Scene]) -> Figures:
        """How good the scene parser is on images that show these scenes."""
        from .scene_parser.decode import measure_scene_parser

        return measure_scene_parser(self.parsers, pictures, scenes, self._together)

    def _find_programs(self, prompts: Sequence[Prompt]) -> list[tuple[Program, str]]:
        """The program of each prompt and its spelling; equal texts are parsed once."""
        given = [p.question.program if p.program_text else None for p in prompts]
        texts = [p.question.text for p in prompts]
        unread = list(dict.fromkeys(t for t, program in zip(texts, given, strict=True) if program is None))
        new = [text for text in unread if text not in self._read]
        start = time.perf_counter()
        programs = self.parsers.parse_questions(new)
        each = (time.perf_counter() - start) / max(1, len(new))
        self._read |= {t: (p, format_program(p), each) for t, p in zip(new, programs, strict=True)}
        self.stage_seconds["read"] += sum(self._read[text][2] for text in unread)
        found = [
            self._read[text][:2] if program is None else (program, format_program(program))
            for text, program in zip(texts, given, strict=True)
        ]
        self._read.trim(CACHED_QUESTIONS)
        return found

    def _locate_scenes(self, prompts: Sequence[Prompt]) -> list[SceneRow]:
        shown = {p.pictures[0].id: p.pictures[0] for p in prompts if not p.scene_text}
        if new := [picture for name, picture in shown.items() if name not in self._seen]:
            start = time.perf_counter()
            blocks = [new[k : k + self._together] for k in range(0, len(new), self._together)]
            parsed = [self.parsers.parse_images(self._stack_pictures(some)) for some in blocks]
            posterior = concatenate_posteriors(parsed) if len(parsed) > 1 else parsed[0]
            self.parsers.synchronize()
            each = (time.perf_counter() - start) / len(new)
            self._seen |= {picture.id: (posterior, row, each) for row, picture in enumerate(new)}
        self.stage_seconds["see"] += sum(self._seen[name][2] for name in shown if name not in self._counted)
        self._counted |= shown.keys()
        scenes = list({id(p.scenes[0]): p.scenes[0] for p in prompts if p.scene_text}.values())
        row_of = {id(scene): row for row, scene in enumerate(scenes)}
        known: Any = pack_scenes(scenes) if scenes else None
        if scenes and self.executor.answer_known is None:
            known = build_certain_posterior(known)
        found: list[SceneRow] = [
            (known, row_of[id(p.scenes[0])]) if p.scene_text else self._seen[p.pictures[0].id][:2] for p in prompts
        ]
        for name in shown:
            self._seen.move_to_end(name)
        self._seen.trim(max(CACHED_IMAGES, len(shown)))
        return found

    def _stack_pictures(self, pictures: Sequence[Picture]) -> Any:
        return stack(pictures, self.parsers.device, self.parsers.trained.size)

    def _execute_group(
        self, programs: Sequence[Program], scenes: ScenePosterior | SceneTable, rows: Sequence[int]
    ) -> list[Response]:
        """Together; where one of the programs is not covered, each by itself."""
        try:
            return self.executor.execute(programs, scenes, rows)
        except ProgramError as error:
            if len(programs) == 1:
                return [Response(status="undefined", reason=str(error))]
        pairs = zip(programs, rows, strict=True)
        return [self._execute_group([program], scenes, [row])[0] for program, row in pairs]


def _explain_unsupported(prompt: Prompt) -> str:
    """Why a prompt cannot be answered; nothing where it can."""
    if prompt.question.action:
        return "an action is told, and this model sees only what is shown"
    if prompt.scene_text:
        if len(prompt.scenes) != 1:
            return f"{len(prompt.scenes)} scenes; this model looks at one"
        return "" if all(o.box for o in prompt.scenes[0].objects) else "the scene has no boxes"
    if len(prompt.pictures) != 1:
        return f"{len(prompt.pictures)} images; this model looks at one" if prompt.pictures else "no image"
    return ""


def _number_answers(found: Answers, numbers: dict[Any, int]) -> list[int]:
    """[program] the number of its answer among those met so far; numbers are by type and answer."""
    undefined = found.reason.astype(np.bool_) if isinstance(found, PackedAnswers) else np.zeros(len(found), np.bool_)
    known: dict[tuple[int, int], int] = {}
    made = []
    for i, key in enumerate(zip(found.value.tolist(), found.kinds.number.tolist(), strict=True)):
        if undefined[i]:
            made.append(0)
            continue
        if key not in known:
            answer = found[i]
            known[key] = numbers.setdefault((type(answer), answer), len(numbers))
        made.append(known[key])
    return made


def make_traits(model: str) -> ModelTraits:
    """What the file of a neuro-symbolic model says of it: alone with the weights that are shipped, or NAME:FOLDER."""
    return ModelTraits(
        target=f"{model} or {model}:FOLDER",
        stored=True,
        answers_blind=False,
        most_images=1,
        takes_actions=False,
        adaptations=tuple(ADAPTATIONS),
        adaptation_version=ADAPTATION_VERSION,
        positions=tuple(POSITIONS),
        trainable=NeuroSymbolicTraining(),
    )


def describe_model(model: str, target: str, options: ModelOptions, schema: Schema) -> dict[str, Any]:
    """What a run's spec says of the weights that a model string names, and of where things stand."""
    trained = find_trained_model(model, target, schema)
    trained.find_relation(options.positions)
    return trained.describe_weights() | {"positions": options.positions}


def load_named_parsers(model: str, target: str, setting: ModelSetting) -> NsvqaParsers:
    """The parsers of the weights that a model string names, on the device of the options or the best."""
    return load_parsers(find_trained_model(model, target, setting.schema), setting.options.device)


def load_parsers(trained: TrainedModel, device: str = "auto") -> NsvqaParsers:
    device = trained.choose_device(device)
    import torch

    modules = [load_stage(trained, stage, device) for stage in NeuroSymbolicTraining.stages]
    scene = modules[0].to(memory_format=torch.channels_last)
    keys = [(part, trained.about[part]["blake2b"], device) for part in PARSERS]
    seen, read = (_CACHES.setdefault(key, ParserCache()) for key in keys)
    return NsvqaParsers(trained, device, scene, modules[1], seen=seen, read=read)
