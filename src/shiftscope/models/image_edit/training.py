"""How image_edit learns to draw: pictures before and after actions, both rendered from scenes.

`--set answerer=FOLDER` names the lxmert, trained on questions about CLEVR's pictures, that then looks at the drawn one;
its weights become part of the editor's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ...errors import unknown
from ...lang.exec.exact import Undefined, execute
from ...lang.program import split_action
from ...question import Question
from ...scene import Scene
from ...schema import Schema
from ...shortcuts.tokens import tokenize_texts
from ...trainable import (
    ACTIONS,
    IMAGES,
    PROGRAMS,
    Counts,
    Losses,
    Rows,
    SplitData,
    Trainable,
    TrainRecipe,
    TrainStage,
    shuffle_batches,
)
from ...trained_folder import TrainedFolder
from ..end_to_end.questions import AnswererConfig
from ..end_to_end.training import ANSWERER
from ..lxmert.training import TrainedLxmert
from .config import EditorConfig

if TYPE_CHECKING:
    import torch
    from torch import nn

EDITOR, ANSWERER_SETTING = "editor", "answerer"
SIZES = MappingProxyType({"width": 128, "text": 256, "layers": 6, "heads": 4})
CHANGED = 0.05  # a pixel that differs by more than this share of full brightness has changed
WEIGHT = 10.0  # of the pixels that change, beside those that stay
CLOSE = 0.1  # a drawn pixel within this of the true one is right


@dataclass(frozen=True, slots=True, eq=False)
class EditedScenes:
    """Action texts, the image each is about, and the scene after it; then pictures of these."""

    texts: tuple[str, ...]
    images: tuple[int, ...]
    after: tuple[Scene, ...]
    image_count: int
    drawn: Any = None  # [text, height, width, 3] uint8, once they are rendered

    def __len__(self) -> int:
        return len(self.texts)


class EditorStage(TrainStage):
    """From a picture and an action to the picture after it."""

    name = EDITOR
    supervision = frozenset((IMAGES, PROGRAMS, ACTIONS))
    check = 1000
    learns_vocabulary = True
    compiled = ("draw",)
    recipe = TrainRecipe(epochs=20, batch=64, lr=5e-4, weight_decay=0.01, warmup=0.05, ema=0.998, clip=1.0)
    start: TrainedLxmert | None = None

    def describe(self, schema: Schema) -> dict[str, Any]:
        known = None if self.start is None else self.start.about[ANSWERER]["blake2b"]
        loss = {"weight": WEIGHT, "changed": CHANGED}
        return {"checked": self.check, "sizes": dict(SIZES), "loss": loss, "answerer": known}

    def collect(self, scenes: Sequence[Scene], questions: Sequence[Question]) -> EditedScenes:
        place = {scene.id: k for k, scene in enumerate(scenes)}
        told = {(q.scenes[0], q.action): q.program for q in questions if q.action and q.program is not None}
        texts, images, after = [], [], []
        for (name, text), program in told.items():
            action = split_action(program)[0]
            run = execute(action, scenes[place[name]]) if action is not None else None
            if run is not None and not isinstance(run.answer, Undefined):
                texts.append(text)
                images.append(place[name])
                after.append(run.worlds[-1].scenes[0])
        return EditedScenes(tuple(texts), tuple(images), tuple(after), len(scenes))

    def join(self, pieces: Sequence[EditedScenes]) -> EditedScenes:
        past = np.cumsum([0, *(piece.image_count for piece in pieces)]).tolist()
        return EditedScenes(
            tuple(text for piece in pieces for text in piece.texts),
            tuple(k + start for piece, start in zip(pieces, past[:-1], strict=True) for k in piece.images),
            tuple(scene for piece in pieces for scene in piece.after),
            past[-1],
        )

    def fit_vocabulary(self, schema: Schema, train: SplitData | None) -> EditorConfig:
        assert train is not None
        words = list(tokenize_texts(train.supervision[self.name].texts).vocabulary)
        plain = AnswererConfig(tuple(sorted(set(words))), (), (0, 0), {}, {})
        answerer = None if self.start is None else AnswererConfig.from_json(self.start.config(ANSWERER))
        return EditorConfig(plain, dict(SIZES), answerer)

    def read_config(self, data: Mapping[str, Any]) -> EditorConfig:
        return EditorConfig.from_json(data)

    def build(self, config: EditorConfig, parts: Mapping[str, nn.Module]) -> nn.Module:
        from .network import ImageEditor

        return ImageEditor(config)

    def load_pretrained(self, module: Any, config: EditorConfig) -> None:
        if self.start is not None:
            tensors = {name: t.float() for name, t in self.start.read_tensors(ANSWERER).items()}
            module.answerer.load_state_dict(tensors)

    def encode(self, data: SplitData, parts: Mapping[str, nn.Module], device: str) -> SplitData:
        """The pictures after the actions are rendered once."""
        held: EditedScenes = data.supervision[self.name]
        assert data.pixels is not None
        height, width = data.pixels.shape[1:3]
        drawn = draw_scenes(held.after, (int(width), int(height)), device, data.pixels.device)
        return replace(data, supervision={**data.supervision, self.name: replace(held, drawn=drawn)})

    def make_examples(self, data: SplitData, config: EditorConfig, device: str) -> EditExamples:
        return EditExamples(data, data.supervision[self.name], config, device)

    def loss(self, module: Any, batch: Any) -> tuple[torch.Tensor, Losses]:
        """The absolute difference, in which pixels that change count more."""
        found = module(batch.before, batch.words, batch.lengths)
        true, changed = batch.find_changes()
        error = (found.float() - true).abs().mean(1)
        weight = 1 + (WEIGHT - 1) * changed
        return (error * weight).sum() / weight.sum(), {"changed": (error * changed).sum() / changed.sum().clamp(min=1)}

    def measure(self, module: Any, batch: Any) -> Counts:
        """Of the pixels that change, and of those that stay, how many are drawn right."""
        found = module(batch.before, batch.words, batch.lengths)
        true, changed = batch.find_changes()
        right = ((found.float() - true).abs().amax(1) < CLOSE).float()
        stays = 1 - changed
        return {"changed": ((right * changed).sum(), changed.sum()), "kept": ((right * stays).sum(), stays.sum())}

    def choose_by(self, shares: Mapping[str, float]) -> float:
        return (shares.get("changed", 0.0) + shares.get("kept", 0.0)) / 2


def draw_scenes(scenes: Sequence[Scene], size: tuple[int, int], device: str, where: Any) -> torch.Tensor:
    """[scene, height, width, 3] uint8."""
    import torch

    from ...render import open_renderer

    renderer = open_renderer(device)
    drawn = torch.empty((len(scenes), size[1], size[0], 3), dtype=torch.uint8, device=where)
    for start in range(0, len(scenes), renderer.batch):
        some = scenes[start : start + renderer.batch]
        images = renderer.render_packs([renderer.pack(some, size)], size)
        assert images.rgb is not None
        drawn[start : start + len(some)] = images.rgb.to(where)
    return drawn


@dataclass(frozen=True, slots=True, eq=False)
class EditBatch:
    """Pictures before and after, [image, height, width, 3] uint8, and the actions in words; all on the device."""

    before: torch.Tensor
    after: torch.Tensor
    words: torch.Tensor
    lengths: torch.Tensor

    def __len__(self) -> int:
        return len(self.words)

    def find_changes(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The pictures after, [image, 3, height, width] from 0 to 1; [image, height, width] 1 where they changed."""
        before, after = (t.permute(0, 3, 1, 2).float() / 255 for t in (self.before, self.after))
        return after, ((after - before).abs().amax(1) > CHANGED).float()


class EditExamples:
    def __init__(self, data: SplitData, held: EditedScenes, config: EditorConfig, device: str) -> None:
        import torch

        words, lengths = config.words.encode_words(tokenize_texts(held.texts))
        self.words, self.lengths = torch.from_numpy(words).to(device), torch.from_numpy(lengths)
        self.before, self.after, self.device = data.pixels, held.drawn, device
        self.images = torch.tensor(held.images)

    def __len__(self) -> int:
        return len(self.images)

    def epoch(self, batch: int, random: np.random.Generator) -> list[Rows]:
        return shuffle_batches(len(self), batch, random)

    def batch(self, rows: torch.Tensor) -> EditBatch:
        assert self.before is not None
        where = self.before.device
        before, after = self.before[self.images[rows].to(where)], self.after[rows.to(where)]
        longest = int(self.lengths[rows].max())
        return EditBatch(
            before.to(self.device, non_blocking=True),
            after.to(self.device, non_blocking=True),
            self.words[rows.to(self.device, non_blocking=True), :longest].long(),
            self.lengths[rows].to(self.device, non_blocking=True),
        )


@dataclass(frozen=True, slots=True, eq=False)
class TrainedEditor(TrainedFolder):
    KIND: ClassVar[str] = "image_edit"
    PARTS: ClassVar[Mapping[str, str]] = {EDITOR: EDITOR}


class EditorTraining(Trainable):
    stages: tuple[TrainStage, ...] = (EditorStage(),)
    folder = TrainedEditor
    requires = ("torch", "transformers", "accelerate", "safetensors")

    def configure(self, settings: Mapping[str, str]) -> Self:
        """`answerer=FOLDER` is the lxmert that looks at what is drawn."""
        if not settings:
            return self
        wrong = next((name for name in settings if name != ANSWERER_SETTING), None)
        if wrong is not None:
            raise unknown("setting", wrong, (ANSWERER_SETTING,))
        stage, made = EditorStage(), type(self)()
        stage.start = TrainedLxmert.read(Path(settings[ANSWERER_SETTING]))
        made.stages = (stage,)
        return made
