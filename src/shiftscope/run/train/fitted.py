"""What is fitted once a scene parser is trained: its calibration, and the likelihood of relations."""

from __future__ import annotations

from typing import Any

from ...lang.beliefs import Beliefs, joined
from ...lang.calibration import Calibration
from ...lang.matching import match
from ...lang.spatial import fit
from ...scenetable import pack
from .examples import Gathered
from .loop import Tell

SEEN, SEEN_GPU = 64, 256  # images looked at together, on a processor and on a GPU


def calibrated(module: Any, val: Gathered, device: str, tell: Tell) -> dict[str, Any]:
    """`calibration` and `spatial` as model.json keeps them; null where the validation split teaches nothing.

    Of several processes each does this on its own share of the split; the first one's is kept.
    """
    beliefs = believed(module, val, device, tell)
    truth = pack(val.scenes)
    found = match(beliefs, truth)
    calibration = Calibration.fit(beliefs, truth, found)
    pairs = bool(((found.objects >= 0).sum(1) > 1).any())
    spatial = fit(beliefs, truth, found.objects).to_json() if pairs else None
    return {"calibration": calibration.to_json(), "spatial": spatial}


def believed(module: Any, val: Gathered, device: str, tell: Tell) -> Beliefs:
    """What the parser believes of all images, as NumPy arrays."""
    import torch

    from ...models._scene_parser import parse

    assert val.pixels is not None
    pieces: list[Beliefs] = []
    gpu = device.startswith("cuda")
    together = SEEN_GPU if gpu else SEEN
    for start in range(0, len(val.pixels), together):
        some = val.pixels[start : start + together].to(device)
        with torch.autocast("cuda", torch.bfloat16, enabled=gpu):
            pieces.append(parse(module, some))
        tell(min(start + together, len(val.pixels)), len(val.pixels), "images")
    return joined(pieces).numpy()
