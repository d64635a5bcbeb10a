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

from ...errors import UserError, unknown
from ...lang.program import Program, ProgramError
from ...lang.scene_posterior import ScenePosterior, build_certain_posterior, concatenate_posteriors
from ...lang.text import format_program
from ...model import Adaptation, ModelSetting, ModelTraits, Prompt, Response
from ...picture import Picture, stack
from ...scene import Scene
from ...scene_table import SceneTable, pack_scenes
from ...schema import Schema
from ...trained_folder import LONGEST_ERROR, MODEL_FILE, TRAINING_FIELD
from .trained_model import PARSERS, TrainedModel, find_trained_model
from .training import NeuroSymbolicTraining

if TYPE_CHECKING:
    from .scene_parser.decode import Figures

CACHED_IMAGES = 512  # whose scene posteriors are cached: questions about one come one after the other
CACHED_QUESTIONS = 250_000  # whose programs are cached
LARGEST_BATCH = 1 << 20  # prompts, where their pictures are in memory
CPU_IMAGES = 32  # images looked at together on a processor
GPU_IMAGES = 256
NORMALISATION, LABEL_SHIFT = "normalisation", "label_shift"
ADAPTATIONS = (f"{NORMALISATION}+{LABEL_SHIFT}", NORMALISATION, LABEL_SHIFT)
NEEDS = "needs torch and transformers: pip install 'shiftscope[models]'"

# Answers to programs about scenes, the scene of each by its row: of a posterior, or known.
Execute = Callable[[Sequence[Program], ScenePosterior, Sequence[int]], list[Response]]
ExecuteKnown = Callable[[Sequence[Program], SceneTable, Sequence[int]], list[Response]]
SceneRow = tuple[ScenePosterior | SceneTable, int]  # what holds a scene, and its row there


class ParserCache(OrderedDict[str, Any]):
    """What a parser made of pictures (by id) or texts; models of the same weights share it while one is in use."""

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
    adapted: bool | None = None  # whether its normalisation statistics are those of test images; None: not tried
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

    def adapt(self, images: Any, kind: str) -> NsvqaParsers:
        """The same, with a scene parser that is adapted to these images."""
        from .scene_parser.adapt import adapt_parser

        with self._autocast():
            scene, norms = adapt_parser(self.scene, images.to(self.device), self.trained.calibration, kind)
        return replace(self, scene=scene, adapted=norms, seen=ParserCache())

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
    """Sees, reads and executes, in batches. Without `execute_known` a known scene is a certain posterior."""

    def __init__(self, parsers: NsvqaParsers, execute: Execute, execute_known: ExecuteKnown | None = None) -> None:
        gpu = parsers.device.startswith("cuda")
        self.parsers, self._execute, self._execute_known = parsers, execute, execute_known
        self.batch = 4096 if gpu else 256  # prompts at once
        self.largest_batch = LARGEST_BATCH
        self.stage_seconds = {"see": 0.0, "read": 0.0, "execute": 0.0}  # what caches held counts in full
        self._together = GPU_IMAGES if gpu else CPU_IMAGES
        self._seen, self._read = parsers.seen, parsers.read
        self._counted: set[str] = set()  # pictures whose seconds are in `stage_seconds`

    @property
    def adapted(self) -> bool | None:
        """Whether normalisation statistics were adapted to test images; None: not tried."""
        return self.parsers.adapted

    def identity(self, before: Mapping[str, Any]) -> dict[str, Any]:
        return {"model_id": {MODEL_FILE: self.parsers.trained.content()}}

    def adapt(self, pictures: Sequence[Picture], kind: str) -> NeuroSymbolicModel:
        """With a scene parser adapted to unlabelled test images; `kind` is one of `ADAPTATIONS`."""
        if kind not in ADAPTATIONS:
            raise unknown("adaptation", kind, ADAPTATIONS)
        if not pictures:
            return self
        start = time.perf_counter()
        try:
            pixels = self._stack_pictures(pictures)
        except UserError as error:
            raise UserError(f"{error}; the model adapts to the first images of the split") from None
        made = NeuroSymbolicModel(self.parsers.adapt(pixels, kind), self._execute, self._execute_known)
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
        if scenes and self._execute_known is None:
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
        execute: Any = self._execute if isinstance(scenes, ScenePosterior) else self._execute_known
        try:
            responses: list[Response] = execute(programs, scenes, rows)
            return responses
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


def make_response(answer: Any, confidence: float) -> Response:
    """A response with its confidence, if that is a number."""
    return Response(answer=answer, confidence=None if math.isnan(confidence) else min(1.0, max(0.0, confidence)))


def make_traits(model: str, adaptation: Adaptation | None = None) -> ModelTraits:
    """What the file of a neuro-symbolic model says of it: alone with the weights that are shipped, or NAME:FOLDER."""
    return ModelTraits(
        target=f"{model} or {model}:FOLDER",
        stored=True,
        answers_blind=False,
        most_images=1,
        takes_actions=False,
        adaptation=adaptation,
        trainable=NeuroSymbolicTraining(),
    )


def describe_weights(model: str, target: str, schema: Schema) -> dict[str, Any]:
    """What a run's spec says of the weights that a model string names."""
    trained = find_trained_model(model, target, schema)
    training = trained.describe_training()
    known = {"weights": trained.id(), "trained_on": trained.trained_on}
    return known | ({TRAINING_FIELD: training} if training else {})


def load_named_parsers(model: str, target: str, setting: ModelSetting) -> NsvqaParsers:
    """The parsers of the weights that a model string names, on the device of the options or the best."""
    return load_parsers(find_trained_model(model, target, setting.schema), setting.options.device)


def load_parsers(trained: TrainedModel, device: str = "auto") -> NsvqaParsers:
    try:
        import torch
        import transformers  # noqa: F401
    except ImportError as error:
        raise UserError(f"{trained.folder} {NEEDS} ({error})") from None
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise UserError("torch finds no GPU here; use --device cpu")
    modules = []
    for stage in NeuroSymbolicTraining.stages:
        config = trained.config(stage.name)
        try:
            built = stage.build(stage.read_config(config), {})
        except Exception as error:  # whatever a network says of sizes that cannot be
            why = f"{type(error).__name__}: {' '.join(str(error).split())[:LONGEST_ERROR]}"
            raise UserError(
                f"{trained.folder}: the config of its {stage.name} is damaged ({why}); {trained.remedy}"
            ) from None
        modules.append(trained.load(stage.name, built).to(device))
    scene = modules[0].to(memory_format=torch.channels_last)
    keys = [(part, trained.about[part]["blake2b"], device) for part in PARSERS]
    seen, read = (_CACHES.setdefault(key, ParserCache()) for key in keys)
    return NsvqaParsers(trained, device, scene, modules[1], seen=seen, read=read)
