"""ViT with a language decoder: image patches and words meet in a small transformer that is trained from nothing."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from ...trainable import Losses, TrainRecipe
from ..end_to_end.answering import AnswererEntry, TrainedAnswerer
from ..end_to_end.questions import AnswererConfig
from ..end_to_end.training import NOTHING, AnswerStage


class VitLmStage(AnswerStage):
    """Besides the answer it learns to continue the question, word by word, from the image; `language` weighs that."""

    backbone = NOTHING
    captured = False
    recipe = TrainRecipe(epochs=60, batch=1024, lr=6e-4, weight_decay=0.05, warmup=0.05, clip=1.0, patience=3)
    sizes: Mapping[str, float] = MappingProxyType(
        {"patch": 16, "width": 256, "heads": 4, "layers": 6, "read_layers": 6, "language": 0.2, "dropout": 0.1}
    )

    def build_network(self, config: AnswererConfig) -> Any:
        from .network import VitLmAnswerer

        return VitLmAnswerer(config)

    def loss(self, module: Any, batch: Any) -> tuple[Any, Losses]:
        from .network import compute_loss

        return compute_loss(module, batch)


class TrainedVitLm(TrainedAnswerer):
    KIND: ClassVar[str] = "vit_lm"


ENTRY = AnswererEntry("vit_lm", VitLmStage(), TrainedVitLm)
TRAITS, describe_run = ENTRY.traits, ENTRY.describe_run
build = ENTRY.build
