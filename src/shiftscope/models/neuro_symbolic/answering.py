"""Answers about several images: a question is read once, each image is seen by itself, the program runs on all scenes.

Execution mends references by default values (Zhu et al., 2022, A.2): of several objects the first is taken, and the
reason of a response says what was mended. GTExec is accuracy under the condition scene_text, GenExec accuracy as it
is: with the scenes that the scene parser of nsvqa sees, or with those of a file of predicted graphs.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...errors import UserError
from ...files import digest_of, read_whole
from ...lang.exec.exact import Undefined, execute
from ...lang.exec.possible_worlds import build_most_likely_scenes
from ...lang.execution_world import ExecutionWorld
from ...lang.program import Program, ProgramError
from ...lang.text import format_program
from ...model import ModelSetting, Prompt, Response
from ...picture import Picture, stack
from ...scene import Scene
from ...schema import Schema
from ...trainable import load_stage
from ...trained_folder import MODEL_FILE
from ..nsvqa.neuro_symbolic import CPU_IMAGES, GPU_IMAGES, NsvqaParsers, load_parsers
from ..nsvqa.trained_model import TrainedModel
from .training import PARSER, TrainedQuestionParser, find_stage

CACHED_QUESTIONS = 250_000
CACHED_IMAGES = 20_000  # whose scenes are kept: an image is part of many questions
UNPARSED = "the question could not be parsed"


@dataclass(frozen=True, slots=True)
class ParserTarget:
    """What a model string names: a folder, or the shipped weights; and a file of predicted graphs, or none."""

    folder: str = ""
    graphs: str = ""

    @classmethod
    def parse(cls, target: str) -> ParserTarget:
        folder, _, graphs = target.partition("@")
        return cls(folder, graphs)


@dataclass(slots=True, eq=False)
class ImageSceneReader:
    """Scenes of images, by nsvqa's parser; loaded when the first image is looked at."""

    schema: Schema
    device: str
    parsers: NsvqaParsers | None = None
    seen: OrderedDict[str, Scene] = field(default_factory=OrderedDict)

    def load(self) -> NsvqaParsers:
        if self.parsers is None:
            self.parsers = load_parsers(TrainedModel.find("nsvqa", "", self.schema), self.device)
        return self.parsers

    def look(self, pictures: Sequence[Picture]) -> Mapping[str, Scene]:
        """The scene of each picture, by its id."""
        new = list({p.id: p for p in pictures if p.id not in self.seen}.values())
        wanted = {p.id for p in pictures}
        for name in [name for name in self.seen if name not in wanted][: max(0, len(self.seen) - CACHED_IMAGES)]:
            del self.seen[name]
        parsers = self.load() if new else None
        together = GPU_IMAGES if parsers is not None and parsers.device.startswith("cuda") else CPU_IMAGES
        for start in range(0, len(new), together):
            assert parsers is not None
            some = new[start : start + together]
            posterior = parsers.parse_images(stack(some, parsers.device, parsers.trained.size))
            self.seen |= zip((p.id for p in some), build_most_likely_scenes(posterior), strict=True)
        return self.seen


@lru_cache(maxsize=2)
def open_scene_reader(schema: Schema, device: str) -> ImageSceneReader:
    """One for all models: however they read questions, an image shows them the same scene."""
    return ImageSceneReader(schema, device)


class SeveralImagesModel:
    """Reads, sees and executes."""

    def __init__(
        self, trained: TrainedQuestionParser, parser: Any, scenes: ImageSceneReader, graphs: Mapping[str, Scene]
    ) -> None:
        self.trained, self.parser, self.scenes, self.graphs = trained, parser, scenes, graphs
        self.batch = int(parser.together)
        self._read: OrderedDict[str, Program | None] = OrderedDict()

    def identity(self, before: Mapping[str, Any]) -> dict[str, Any]:
        return {"model_id": {MODEL_FILE: self.trained.content()}}

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        programs = self._find_programs(batch)
        pictures = [p for prompt in batch if not (prompt.scene_text or self.graphs) for p in prompt.pictures]
        seen = self.scenes.look(pictures) if pictures else {}
        return [self._answer(prompt, program, seen) for prompt, program in zip(batch, programs, strict=True)]

    def express(self, program: Program) -> Program:
        """The program as the parser would write it, if it read the question rightly."""
        found: Program = self.parser.express(program)
        return found

    def _find_programs(self, batch: Sequence[Prompt]) -> list[Program | None]:
        texts = [prompt.question.text for prompt in batch if not prompt.program_text]
        new = [text for text in dict.fromkeys(texts) if text not in self._read]
        self._read |= zip(new, self.parser.parse(new) if new else (), strict=True)
        found = [p.question.program if p.program_text else self._read[p.question.text] for p in batch]
        while len(self._read) > CACHED_QUESTIONS:
            self._read.popitem(last=False)
        return found

    def _answer(self, prompt: Prompt, program: Program | None, seen: Mapping[str, Scene]) -> Response:
        if program is None:
            return Response(status="undefined", reason=UNPARSED)
        scenes = self._find_scenes(prompt, seen)
        said = format_program(program)
        if not scenes:
            return Response(status="undefined", reason="no image", program=said)
        try:
            done = execute(program, ExecutionWorld(scenes), references="default")
        except ProgramError as error:
            return Response(status="undefined", reason=str(error), program=said)
        if isinstance(done.answer, Undefined):
            reason = done.errors[0].reason if done.errors else done.answer.reason
            return Response(status="undefined", reason=reason, program=said)
        if not isinstance(done.answer, bool | int | str):
            return Response(status="undefined", reason="the program gives no answer", program=said)
        return Response(answer=done.answer, reason=done.errors[0].reason if done.errors else "", program=said)

    def _find_scenes(self, prompt: Prompt, seen: Mapping[str, Scene]) -> list[Scene]:
        if prompt.scene_text:
            return list(prompt.scenes)
        if not self.graphs:
            return [seen[picture.id] for picture in prompt.pictures]
        if not prompt.pictures:
            return []
        missing = next((name for name in prompt.question.scenes if name not in self.graphs), None)
        if missing is not None:
            raise UserError(f"the predicted graphs have none of image {missing!r}")
        return [self.graphs[name] for name in prompt.question.scenes]


def digest_graphs(path: str) -> str:
    """A file of predicted graphs by its content."""
    if not Path(path).is_file():
        raise UserError(f"{path}: no such file of predicted graphs; name one as in neuro_symbolic:FOLDER@graphs.json")
    return digest_of(read_whole(Path(path)))


@lru_cache(maxsize=2)
def read_graphs(path: str) -> dict[str, Scene]:
    """Predicted graphs by the image's id, from a file of any format of scenes."""
    from ...formats import read_scenes

    return {scene.id: scene for scene in read_scenes(Path(path))}


def load_model(model: str, target: str, setting: ModelSetting) -> SeveralImagesModel:
    named = ParserTarget.parse(target)
    trained = TrainedQuestionParser.find(model, named.folder, setting.schema)
    device = trained.choose_device(setting.options.device)
    parser = load_stage(trained, find_stage(trained.config(PARSER)), device)
    graphs = read_graphs(named.graphs) if named.graphs else {}
    return SeveralImagesModel(trained, parser, open_scene_reader(setting.schema, device), graphs)
