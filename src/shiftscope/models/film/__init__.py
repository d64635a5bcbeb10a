"""FiLM (Perez et al., 2018): the question scales and shifts each channel of residual blocks over image features."""

from types import MappingProxyType
from typing import Any, ClassVar

from ..end_to_end.answering import AnswererEntry, TrainedAnswerer
from ..end_to_end.questions import AnswererConfig
from ..end_to_end.training import AnswerStage


class FilmStage(AnswerStage):
    """`stride` 2 makes cells of 32 pixels: blocks then look across most of the image, and are four times as fast.

    `asked` 1 lets the head read the question beside the pooled cells, as that of cnn_lstm does; the published one has
    only what the blocks make of it.
    """

    debiasable = True
    mixes_lengths = True  # its blocks have batch norms
    sizes = MappingProxyType(
        {"words": 256, "hidden": 512, "width": 128, "blocks": 4, "stride": 2, "pooled": 512, "answers": 1024}
        | {"dropout": 0.2, "word_dropout": 0.05, "asked": 0}
    )

    def identify(self) -> dict[str, Any]:
        """Without `asked` where it is 0, as before there was the setting: what was trained then is still known."""
        told = super().identify()
        return told | {"sizes": {name: size for name, size in told["sizes"].items() if name != "asked" or size}}

    def build_network(self, config: AnswererConfig) -> Any:
        from .network import FilmAnswerer

        return FilmAnswerer(config)


class TrainedFilm(TrainedAnswerer):
    KIND: ClassVar[str] = "film"


ENTRY = AnswererEntry("film", FilmStage(), TrainedFilm)
TRAITS, describe_run = ENTRY.traits, ENTRY.describe_run
build = ENTRY.build
