"""Image features: what a scene parser's backbone, or one of transformers, sees at every cell of an image.

A backbone that is trained already stays as it is, so its features are computed once per image and kept for all
questions about it. One that starts from nothing is trained with the rest of the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ...errors import UserError
from ...schema import Schema
from ...trained_folder import LONGEST_ERROR, MODEL_FILE
from ..nsvqa.scene_parser.config import SceneParserConfig
from ..nsvqa.scene_parser.network import FeaturePyramid, SceneParser, normalise_pixels
from ..nsvqa.trained_model import SCENE_PARSER, TrainedModel, find_trained_model
from ..nsvqa.trained_model import SHIPPED as WEIGHTS

STRIDE = 16  # pixels a side that a cell of a scene parser's features covers
ALIGNED = 16  # channels are a multiple of it, which a GPU likes
NSVQA = "nsvqa"
SHIPPED, SCRATCH, HUB = "shipped", "scratch", "hf:"  # backbones, besides the folder of a trained scene parser
MEAN, SPREAD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of the images that backbones of the hub learned from
TOGETHER = 128  # images seen at once
FREE = 0.6  # share of the free memory that features may take


class SceneParserFeatures(FeaturePyramid):
    """The scene parser's maps at strides 4, 8 and 16 and the colours, all brought to stride 16.

    The attribute heads of a scene parser look at the same maps and colours.
    """

    def __init__(self, config: SceneParserConfig) -> None:
        super().__init__(config)
        self.channels = _align(5 * config.coarse + 2 * config.fine + 12)

    def forward(self, images: Tensor) -> Tensor:
        """[image, y, x, channel] of images [image, height, width, 3] of uint8."""
        pixels, _ = normalise_pixels(images)
        p2, p3, p4 = self.extract_pyramid(pixels)
        maps = [p4, F.pixel_unshuffle(p3, 2), F.avg_pool2d(p2, 4), F.max_pool2d(p2, 4)]
        maps.append(F.pixel_unshuffle(F.avg_pool2d(pixels, 8), 2).to(p4.dtype))
        found = torch.cat(maps, 1).permute(0, 2, 3, 1)
        return F.pad(found, (0, self.channels - found.shape[-1]))


class HubFeatures(nn.Module):
    """The map at stride 16 of a backbone of transformers; of one that is not a pyramid of four stages, the last map."""

    def __init__(self, backbone: Any) -> None:
        super().__init__()
        self.backbone = backbone
        self.channels = int(backbone.channels[-1])

    def forward(self, images: Tensor) -> Tensor:
        """[image, y, x, channel] of images [image, height, width, 3] of uint8."""
        mean, spread = (torch.tensor(known, device=images.device) for known in (MEAN, SPREAD))
        pixels = (images.float() / 255 - mean) / spread
        found: Tensor = self.backbone(pixels.permute(0, 3, 1, 2)).feature_maps[-1]
        return found.permute(0, 2, 3, 1)


def describe_features(backbone: str, schema: Schema) -> dict[str, Any]:
    """What `build_features` builds: the architecture in full, its origin by content, and whether it is trained too."""
    if backbone == SCRATCH:
        return {"scene_parser": SceneParserConfig(schema).to_json(), "trained": True}
    if backbone.startswith(HUB):
        config = _load_hub_backbone(backbone).config.to_dict()
        return {"transformers": {k: v for k, v in config.items() if v is not None}, "from": backbone, "trained": False}
    found = find_scene_parser(backbone, schema)
    config = found.config(SCENE_PARSER)
    return {"scene_parser": config, "from": found.about[SCENE_PARSER]["blake2b"], "trained": False}


def build_features(about: Mapping[str, Any]) -> SceneParserFeatures | HubFeatures:
    """With random weights."""
    if "scene_parser" in about:
        return SceneParserFeatures(SceneParserConfig.from_json(about["scene_parser"]))
    from transformers import AutoBackbone, AutoConfig

    config = dict(about["transformers"])
    backbone: Any = AutoBackbone
    return HubFeatures(backbone.from_config(AutoConfig.for_model(config.pop("model_type"), **config)))


def load_features(about: Mapping[str, Any], backbone: str) -> nn.Module:
    """With the weights of the backbone that was described, to be used and not trained."""
    if backbone.startswith(HUB):
        return HubFeatures(_load_hub_backbone(backbone)).requires_grad_(False).eval()
    schema = SceneParserConfig.from_json(about["scene_parser"]).schema
    tensors, features = find_scene_parser(backbone, schema).read_tensors(SCENE_PARSER), build_features(about)
    features.load_state_dict({name: tensors[name].float() for name in features.state_dict()})
    return features.requires_grad_(False).eval()


def compute_features(features: nn.Module, pixels: Tensor, device: str) -> Tensor:
    """[image, y, x, channel] in half of float32's bits, on the device if they fit there, else in memory."""
    gpu = device != "cpu"
    features = features.to(device).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    dtype = torch.bfloat16 if gpu else torch.float16
    whole: Tensor | None = None
    with torch.no_grad(), torch.autocast("cuda", torch.bfloat16, enabled=gpu):
        for start in range(0, len(pixels), TOGETHER):
            found = features(pixels[start : start + TOGETHER].to(device)).to(dtype)
            if whole is None:
                shape = (len(pixels), *found.shape[1:])
                bits = len(pixels) * found[0].numel() * found.element_size()
                fits = gpu and bits < FREE * torch.cuda.mem_get_info(device)[0]
                whole = torch.empty(shape, dtype=dtype, device=device if fits else "cpu")
            whole[start : start + TOGETHER] = found.to(whole.device)
    assert whole is not None, "there are no images"
    return whole


def find_scene_parser(backbone: str, schema: Schema) -> TrainedModel:
    if backbone == SHIPPED and not (WEIGHTS / schema.name / MODEL_FILE).is_file():
        raise UserError(
            f"no scene parser ships for {schema.name} data, whose features this model would see; train one with "
            f"shiftscope train --model {NSVQA} --only scene and add --set backbone=DIR, or --set backbone={SCRATCH}"
        )
    return find_trained_model(NSVQA, "" if backbone == SHIPPED else backbone, schema)


def refuse_backbone_without_regions(model: str, backbone: str) -> None:
    if backbone == SCRATCH or backbone.startswith(HUB):
        raise UserError(
            f"{model} looks at a detector's regions; name a trained scene parser's folder, not {backbone!r}"
        )


def load_scene_parser(about: Mapping[str, Any], backbone: str) -> SceneParser:
    """The whole scene parser that was described, heads and all, with its weights."""
    config = SceneParserConfig.from_json(about["scene_parser"])
    loaded: SceneParser = find_scene_parser(backbone, config.schema).load(SCENE_PARSER, SceneParser(config))
    return loaded


def _load_hub_backbone(name: str) -> Any:
    from transformers import AutoBackbone, AutoConfig

    model = name.removeprefix(HUB)
    loader: Any = AutoBackbone
    try:
        config = AutoConfig.from_pretrained(model)
        stages = config.stage_names
        config.out_features = [stages[3] if len(stages) == 5 else stages[-1]]
        return type(loader.from_config(config)).from_pretrained(model, config=config)  # a folder will do as well
    except Exception as error:  # whatever transformers says of a name, a network or a kind of model
        why = f"{type(error).__name__}: {' '.join(str(error).split())[:LONGEST_ERROR]}"
        raise UserError(f"backbone {name!r} cannot be loaded ({why})") from None


def _align(channels: int) -> int:
    return -(-channels // ALIGNED) * ALIGNED
