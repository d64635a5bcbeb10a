"""The verifier of a COVR dataset: a model that looks for what graphs may lack.

Which model it is comes from above, by name; every worker makes it anew.
"""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO
from typing import Protocol

import numpy as np

from ..errors import UserError
from ..graph.ask._nouns import number
from ..graph.ask.say import one
from ..graph.related import Related
from ..graph.subgraph import Subgraph
from ..graph.verify import Folds, Picture, Seer, Verifier
from ..scene import Box
from ._covr_graphs import Graphs
from ._covr_inputs import Inputs, stored

KEPT = 64  # pictures in memory


class Seeing(Protocol):
    """Who looks at pictures."""

    @property
    def asked(self) -> bool:
        """Whether it is asked questions; else it is given phrases."""
        ...

    @property
    def learns(self) -> bool:
        """Whether it is to be taught here, with `fit`."""
        ...

    def make(self) -> Seer:
        """It, or an untaught one of its kind."""
        ...


def phrase(subgraph: Subgraph) -> str:
    """`a black dog`, `a man that is holding a ball`."""
    return one(subgraph, "a")


def question(subgraph: Subgraph) -> str:
    """`Is there a black dog?`."""
    be = "Are" if number(subgraph.name) == "several" else "Is"
    return f"{be} there {phrase(subgraph)}?"


class Pictures:
    """The pictures and boxes of a split's graphs, by image."""

    def __init__(self, inputs: Inputs, graphs: Graphs) -> None:
        self._inputs, self._graphs = inputs, graphs
        self.picture, self.boxes = lru_cache(KEPT)(self._picture), lru_cache(KEPT)(self._boxes)

    def _picture(self, image: str) -> Picture:
        from PIL import Image

        k = self._graphs.numbers[image]
        file = self._inputs.files[self._graphs.sources[k]]
        found = stored(self._graphs.scene(k), file, self._inputs.images)
        if not found.png:
            raise UserError(f"--verify looks at pictures, and image {image} has none: see --images")
        with Image.open(BytesIO(found.png)) as opened:
            return np.asarray(opened.convert("RGB"))

    def _boxes(self, image: str) -> list[Box | None]:
        return [o.box for o in self._graphs.scene(self._graphs.numbers[image]).objects]


def verifier_of(
    inputs: Inputs, related: Related, graphs: Graphs, seer: Seer | Folds, *, asked: bool
) -> Verifier:
    """The verifier of a split."""
    shown = Pictures(inputs, graphs)
    return Verifier(related, seer, shown.picture, shown.boxes, question if asked else phrase)
