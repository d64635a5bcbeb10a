"""FiLM (Perez et al., 2018): the question scales and shifts each channel of residual blocks over image features."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Self

from ...errors import UserError
from ..end_to_end.answering import AnswererEntry, TrainedAnswerer
from ..end_to_end.questions import AnswererConfig
from ..end_to_end.training import AnswerStage

DIRECT = "direct"


class FilmStage(AnswerStage):
    """`stride` 2 makes cells of 32 pixels: blocks then look across most of the image, and are four times as fast.

    `direct` 1 gives the question to the head too, beside the pooled cells, as in cnn_lstm; the published one has only
    what the blocks make of it.
    """

    debiasable = True
    mixes_lengths = True  # its blocks have batch norms
    sizes = MappingProxyType(
        {"words": 256, "hidden": 512, "width": 128, "blocks": 4, "stride": 2, "pooled": 512, "answers": 1024}
        | {"dropout": 0.2, "word_dropout": 0.05, DIRECT: 0}
    )

    def configure(self, settings: Mapping[str, str]) -> Self:
        if (given := settings.get(DIRECT, "0")) not in ("0", "1"):
            raise UserError(f"setting {DIRECT} must be 0 or 1, not {given!r}")
        made = super().configure({name: value for name, value in settings.items() if name != DIRECT})
        made.sizes = MappingProxyType({**made.sizes, DIRECT: int(settings.get(DIRECT, self.sizes[DIRECT]))})
        return made

    def identify(self) -> dict[str, Any]:
        """Without `direct` where it is 0, as before there was the setting: what was trained then is still known."""
        told = super().identify()
        return told | {"sizes": {name: size for name, size in told["sizes"].items() if name != DIRECT or size}}

    def build_network(self, config: AnswererConfig) -> Any:
        from .network import FilmAnswerer

        return FilmAnswerer(config)


class TrainedFilm(TrainedAnswerer):
    KIND: ClassVar[str] = "film"


ENTRY = AnswererEntry("film", FilmStage(), TrainedFilm)
TRAITS, describe_run = ENTRY.traits, ENTRY.describe_run
build = ENTRY.build
