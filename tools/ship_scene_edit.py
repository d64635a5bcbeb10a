"""Ship scene_edit's parsers of texts: `python -m tools.ship_scene_edit PARSERS`, a folder of `shiftscope train`.

The scene parser is that of `models/nsvqa/weights/clevr`, which comes with the package already: only the two parsers of
texts are written beside it, with a model.json of all three. Refuses more than 4 MB, and parsers of another schema.
"""

from __future__ import annotations

import sys
from pathlib import Path

from shiftscope.errors import UserError
from shiftscope.models.nsvqa.trained_model import SCENE_PARSER, TrainedModel
from shiftscope.models.nsvqa.trained_model import SHIPPED as SCENE_PARSERS
from shiftscope.models.scene_edit.training import SHIPPED, TrainedSceneEditor

MOST = 4_000_000  # bytes beyond the parsers of CLEVR


def ship(parsers: Path) -> Path:
    texts = TrainedSceneEditor.read(parsers)
    target = SHIPPED / texts.schema.name
    scene = TrainedModel.read(SCENE_PARSERS / texts.schema.name)
    about = {key: value for key, value in texts.about.items() if key not in (SCENE_PARSER, *TrainedModel.FIGURES)}
    about |= {key: scene.about[key] for key in (SCENE_PARSER, "size", *TrainedModel.FIGURES) if key in scene.about}
    states = {part: texts.read_bytes(part) for part in TrainedSceneEditor.PARTS if part != SCENE_PARSER}
    size = sum(map(len, states.values()))
    if size > MOST:
        raise UserError(f"{parsers}: {size:,} bytes of weights, more than {MOST:,}")
    TrainedSceneEditor.write(target, about, states)
    return target


if __name__ == "__main__":
    print(ship(Path(sys.argv[1])))
