"""text_reader: a RoBERTa that reads the scene in sentences, the action and the question (baseline 1).

Under the condition scene_text it reads the true scene (an oracle); as it is, the one that its scene parser sees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...errors import UserError
from ...lang.scene_posterior import concatenate_posteriors
from ...model import ModelOptions, ModelSetting, ModelTraits, Prompt, Response
from ...picture import stack
from ...schema import Schema
from ...shortcuts.tokens import tokenize_texts
from ...trained_folder import MODEL_FILE
from ..end_to_end.questions import AnswererConfig, type_answer
from ..nsvqa.trained_model import SCENE_PARSER
from ..scene_edit.parsed_scenes import build_likeliest_scene, take_objects
from .passage import write_passage, write_reading
from .training import READER, TextReaderTraining, TrainedTextReader

TRAITS = ModelTraits(
    target="text_reader:FOLDER", stored=True, answers_blind=False, most_images=1, trainable=TextReaderTraining()
)
CPU_IMAGES, GPU_IMAGES = 32, 256  # images looked at together
CACHED_IMAGES = 4096  # whose passages are kept


class TextReaderModel:
    """Turns images into sentences, and reads."""

    def __init__(self, trained: TrainedTextReader, reader: Any, scene_parser: Any, device: str) -> None:
        gpu = device.startswith("cuda")
        self.trained, self.reader, self.scene_parser, self.device = trained, reader, scene_parser, device
        self.config: AnswererConfig = reader.config
        self.batch, self._together = (1024, GPU_IMAGES) if gpu else (64, CPU_IMAGES)
        self._passages: dict[str, str] = {}  # by the picture's id

    def identity(self, before: Mapping[str, Any]) -> dict[str, Any]:
        return {"model_id": {MODEL_FILE: self.trained.content()}}

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        why = [self._explain_unsupported(prompt) for prompt in batch]
        left = [prompt for prompt, reason in zip(batch, why, strict=True) if not reason]
        answers = iter(self._answer(left) if left else ())
        return [Response(status="undefined", reason=reason) if reason else next(answers) for reason in why]

    def _explain_unsupported(self, prompt: Prompt) -> str:
        shown = prompt.scenes if prompt.scene_text else prompt.pictures
        if len(shown) == 1 or not shown:
            return "" if shown else "no image"
        return f"{len(shown)} images; this model looks at one"

    def _answer(self, prompts: Sequence[Prompt]) -> list[Response]:
        import torch

        from ..end_to_end.network import AnswerBatch

        passages = self._write_passages(prompts)
        texts = [write_reading(text, p.question).text for text, p in zip(passages, prompts, strict=True)]
        words, lengths = (torch.from_numpy(a).to(self.device) for a in self.config.encode_words(tokenize_texts(texts)))
        with torch.inference_mode(), torch.autocast("cuda", torch.bfloat16, enabled=self.device.startswith("cuda")):
            chances, best = self.reader(AnswerBatch(words.long(), lengths)).float().softmax(-1).max(-1)
        answers = [type_answer(self.config.answers[k]) for k in best.tolist()]
        each = zip(answers, chances.tolist(), passages, strict=True)
        return [Response(answer=a, confidence=min(1.0, c), trace=passage) for a, c, passage in each]

    def _write_passages(self, prompts: Sequence[Prompt]) -> list[str]:
        pictures = {p.pictures[0].id: p.pictures[0] for p in prompts if not p.scene_text}
        new = [picture for name, picture in pictures.items() if name not in self._passages]
        if new and self.scene_parser is None:
            raise UserError(
                f"{self.trained.folder} has no scene parser; read true scenes with --condition scene_text, or train "
                "the reader with --only reader --from a folder that has one"
            )
        if len(self._passages) > CACHED_IMAGES:
            self._passages = {name: text for name, text in self._passages.items() if name in pictures}
        for start in range(0, len(new), self._together):
            some = new[start : start + self._together]
            posterior = self._see(some)
            for row, picture in enumerate(some):
                scene = build_likeliest_scene(take_objects(posterior, row), picture.id)
                self._passages[picture.id] = write_passage(scene)
        return [write_passage(p.scenes[0]) if p.scene_text else self._passages[p.pictures[0].id] for p in prompts]

    def _see(self, pictures: Sequence[Any]) -> Any:
        import torch

        from ..nsvqa.scene_parser.decode import parse

        with torch.autocast("cuda", torch.bfloat16, enabled=self.device.startswith("cuda")):
            found = parse(self.scene_parser, stack(pictures, self.device, self.trained.size).to(self.device))
        return concatenate_posteriors([found.map_arrays(lambda a: a.float() if a.is_floating_point() else a)])


def describe_run(target: str, options: ModelOptions, schema: Callable[[], Schema]) -> dict[str, Any]:
    return TrainedTextReader.find("text_reader", target, schema()).describe_weights()


def build(target: str, setting: ModelSetting) -> TextReaderModel:
    import torch

    trained, device = TrainedTextReader.find("text_reader", target, setting.schema), setting.options.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    training, modules = TextReaderTraining(), {}
    for part in trained.parts:
        stage = training.stage(part)
        module = trained.load(part, stage.build(stage.read_config(trained.config(part)), {}))
        modules[part] = module.to(device)
    if READER not in modules:
        raise UserError(f"{trained.folder} has no reader; train it with --only reader --from {trained.folder}")
    return TextReaderModel(trained, modules[READER], modules.get(SCENE_PARSER), device)
