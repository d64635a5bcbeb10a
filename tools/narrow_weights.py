"""Ship a neuro-symbolic model's parsers narrowed: `python -m tools.narrow_weights PARSERS`, a trained folder.

Large matrices become int8 (`trained_folder.narrow_weights`); what is narrow already stays as it is. The figures and the
calibration in model.json remain those of the training, whose file `narrowed_from` names by its checksum. Refuses more
than 5 MB. scene_edit looks through CLEVR's scene parser: where that has changed, say so to its model.json with
`python -m tools.ship_scene_edit src/shiftscope/models/scene_edit/weights/clevr`. What narrowing costs:
`python -m benchmarks.narrow_weights`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from shiftscope.errors import UserError
from shiftscope.files import digest_of
from shiftscope.models.nsvqa.trained_model import SHIPPED, TrainedModel
from shiftscope.trained_folder import narrow_weights

MOST = 5_000_000  # bytes


def ship(parsers: Path) -> Path:
    trained = TrainedModel.read(parsers)
    target, about = SHIPPED / trained.schema.name, dict(trained.about)
    states = {part: trained.read_bytes(part) for part in trained.parts}
    for part, wide in states.items():
        narrow = narrow_weights(wide)
        if narrow != wide:
            about[part] = about[part] | {"blake2b": digest_of(narrow), "narrowed_from": digest_of(wide)}
            states[part] = narrow
    size = sum(map(len, states.values()))
    if size > MOST:
        raise UserError(f"{parsers}: {size:,} bytes of weights, more than {MOST:,}")
    TrainedModel.write(target, about, states)
    return target


if __name__ == "__main__":
    print(ship(Path(sys.argv[1])))
