"""image_edit: draws the picture after the action, at which an LXMERT looks (CLEVR_HYP's baseline 3).

Sampat et al., 2021, section 4.4, baseline 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...errors import UserError
from ...model import ModelOptions, ModelSetting, ModelTraits, Prompt, Response
from ...picture import stack
from ...schema import Schema
from ...shortcuts.tokens import tokenize_texts
from ...trained_folder import MODEL_FILE
from ..end_to_end.questions import type_answer
from ..scene_edit.outcome import describe_outcome
from ..scene_edit.parsed_scenes import build_likeliest_scene, take_objects
from .training import EDITOR, EditorTraining, TrainedEditor

TRAITS = ModelTraits(
    target="image_edit:FOLDER", stored=True, answers_blind=False, most_images=1, trainable=EditorTraining()
)
CPU_IMAGES, GPU_IMAGES = 8, 64  # pictures drawn together


class ImageEditModel:
    """Draws and looks; the scene that it sees in its own picture is part of each response."""

    def __init__(self, trained: TrainedEditor, module: Any, device: str) -> None:
        gpu = device.startswith("cuda")
        self.trained, self.module, self.device = trained, module, device
        self.batch, self._together = (1024, GPU_IMAGES) if gpu else (64, CPU_IMAGES)

    def identity(self, before: Mapping[str, Any]) -> dict[str, Any]:
        return {"model_id": {MODEL_FILE: self.trained.content()}}

    def predict(self, batch: Sequence[Prompt]) -> list[Response]:
        why = ["" if len(p.pictures) == 1 else f"{len(p.pictures)} images; this model looks at one" for p in batch]
        left = [prompt for prompt, reason in zip(batch, why, strict=True) if not reason]
        answers = iter(self._answer(left) if left else ())
        return [Response(status="undefined", reason=reason) if reason else next(answers) for reason in why]

    def _answer(self, prompts: Sequence[Prompt]) -> list[Response]:
        import torch

        from ..end_to_end.network import AnswerBatch

        pairs = list(dict.fromkeys((p.pictures[0].id, p.question.action) for p in prompts))
        number = {pair: k for k, pair in enumerate(pairs)}
        pictures = {p.pictures[0].id: p.pictures[0] for p in prompts}
        answerer = self.module.answerer
        words, lengths = answerer.config.encode_words(tokenize_texts([p.question.text for p in prompts]))
        rows = [number[p.pictures[0].id, p.question.action] for p in prompts]
        with torch.inference_mode(), torch.autocast("cuda", torch.bfloat16, enabled=self.device.startswith("cuda")):
            drawn = self.draw([pictures[name] for name, _ in pairs], [text for _, text in pairs])
            pieces = torch.split(drawn, self._together)
            regions = torch.cat([answerer.encode_images(some) for some in pieces])
            told = (torch.from_numpy(words).long().to(self.device), torch.from_numpy(lengths).to(self.device))
            found = answerer(AnswerBatch(*told, regions, torch.tensor(rows, device=self.device)))
            chances, best = found.float().softmax(-1).max(-1)
            traces = [trace for some in pieces for trace in self._describe(some)]
        answers = [type_answer(answerer.config.answers[k]) for k in best.tolist()]
        each = zip(answers, chances.tolist(), rows, strict=True)
        return [Response(answer=a, confidence=min(1.0, c), trace=traces[row]) for a, c, row in each]

    def draw(self, pictures: Sequence[Any], actions: Sequence[str]) -> Any:
        """[picture, height, width, 3] uint8, each after its action; as it is where nothing is told."""
        import torch

        from .network import draw_edited

        images = stack(pictures, self.device, self.trained.size).to(self.device)
        words, lengths = self.module.config.words.encode_words(tokenize_texts(actions))
        tokens, long = torch.from_numpy(words).long().to(self.device), torch.from_numpy(lengths).to(self.device)
        made = images.clone()
        told = torch.tensor([k for k, text in enumerate(actions) if text], dtype=torch.long, device=self.device)
        for some in torch.split(told, self._together) if len(told) else ():
            made[some] = draw_edited(self.module, images[some], tokens[some], long[some])
        return made

    def _describe(self, images: Any) -> list[str]:
        from ..nsvqa.scene_parser.decode import parse

        posterior = parse(self.module.answerer.features, images)
        posterior = posterior.map_arrays(lambda a: a.float() if a.is_floating_point() else a)
        scenes = [build_likeliest_scene(take_objects(posterior, row), "") for row in range(len(images))]
        return [describe_outcome(scene) for scene in scenes]


def describe_run(target: str, options: ModelOptions, schema: Callable[[], Schema]) -> dict[str, Any]:
    return TrainedEditor.find("image_edit", target, schema()).describe_weights()


def build(target: str, setting: ModelSetting) -> ImageEditModel:
    import torch

    trained, device = TrainedEditor.find("image_edit", target, setting.schema), setting.options.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    stage = EditorTraining().stage(EDITOR)
    module = trained.load(EDITOR, stage.build(stage.read_config(trained.config(EDITOR)), {})).to(device)
    if module.answerer is None:
        raise UserError(f"{trained.folder} draws but cannot answer; train it with --set answerer=FOLDER of an lxmert")
    return ImageEditModel(trained, module, device)
