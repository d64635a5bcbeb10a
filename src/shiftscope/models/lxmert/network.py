"""LXMERT's encoders over words and regions, and a head over answers on its pooled state.

The layers are transformers'. An object's region, and a part's where the schema has parts, is brought to the width of
visual features by a linear map of its own.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..end_to_end.network import AnswerBatch, AnswerStates, pick_rows
from ..end_to_end.questions import END, PAD, AnswererConfig
from ..nsvqa.scene_parser.config import SceneParserConfig
from ..nsvqa.scene_parser.network import SceneParser
from ..nsvqa.scene_parser.regions import count_numbers, find_regions
from ..region_vqa.network import ALIGNED, AlignedLinear, PickedRegions, RegionTable, align_rows, group_regions

LONGEST = 128  # tokens of an action and a question that are read, the first one included
CORNERS = 4  # numbers that say where a region lies


def align_regions(seen: Tensor) -> Tensor:
    """On a GPU, with so many regions that are not there behind them that attention has aligned rows."""
    return F.pad(seen, (0, 0, 0, -seen.shape[1] % ALIGNED)) if seen.is_cuda else seen


class Lxmert(nn.Module):
    """`forward(batch)` is [question, answer]; random weights until it is trained or loaded."""

    def __init__(self, config: AnswererConfig) -> None:
        from transformers import LxmertConfig, LxmertModel

        super().__init__()
        self.config = config
        parser = SceneParserConfig.from_json(config.features["scene_parser"]) if config.features else None
        self.features = SceneParser(parser).requires_grad_(False) if parser else None
        sizes = {name: int(value) for name, value in config.sizes.items() if name != "dropout"}
        dropout, self.seen = float(config.sizes["dropout"]), sizes["visual"]
        body: Any = LxmertConfig(
            vocab_size=config.tokens,
            hidden_size=sizes["width"],
            num_attention_heads=sizes["heads"],
            intermediate_size=sizes["inside"],
            l_layers=sizes["text_layers"],
            r_layers=sizes["image_layers"],
            x_layers=sizes["layers"],
            visual_feat_dim=self.seen,
            visual_pos_dim=CORNERS,
            hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
            max_position_embeddings=LONGEST,
            pad_token_id=PAD,
        )
        kind: Any = LxmertModel
        self.body = kind(body)
        self.object: nn.Module | None = None
        self.part: nn.Module | None = None
        numbers, part_numbers = count_numbers(parser) if parser else (0, 0)
        if parser:
            self.object = nn.Sequential(AlignedLinear(numbers, self.seen), nn.LayerNorm(self.seen))
        if parser and parser.schema.part_attributes:
            self.part = nn.Sequential(AlignedLinear(part_numbers, self.seen), nn.LayerNorm(self.seen))
        width = sizes["width"]
        self.joint_size, self.question_size = width, width
        self.answer = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.LayerNorm(2 * width), nn.Linear(2 * width, len(config.answers))
        )

    def train(self, mode: bool = True) -> "Lxmert":
        """The scene parser keeps its statistics."""
        super().train(mode)
        if self.features is not None:
            self.features.eval()
        return self

    def encode_images(self, images: Tensor) -> Tensor:
        """[image, region, visual + 5] of pixels; what is computed once per image."""
        assert self.features is not None
        return self.encode_regions(group_regions(find_regions(self.features, images), self.part is not None))

    def encode_regions(self, table: RegionTable) -> Tensor:
        """[image, region, visual + 5] what stands for each region, its corners from 0 to 1, and whether it is there."""
        looks = [look for look in (self.object, self.part) if look is not None]
        rows = []
        for look, group in zip(looks, table.groups, strict=True):
            features = group.features if group.features.is_cuda else group.features.float()
            there = group.exists.float()[..., None]
            rows.append(torch.cat([look(features).float(), group.corners.float(), there], -1))
        return torch.cat(rows, 1)

    def forward(self, batch: AnswerBatch) -> Tensor:
        return self.read_states(batch).scores

    def read_states(self, batch: AnswerBatch) -> AnswerStates:
        """The question alone is what the layers before the first crossing make of its first token."""
        given: Any = batch.images
        if given is None:
            given = torch.zeros(len(batch), 1, self.seen + CORNERS + 1, device=batch.words.device)
        elif isinstance(given, RegionTable | PickedRegions):
            given = self.encode_regions(given.read() if isinstance(given, PickedRegions) else given)
        elif given.dtype == torch.uint8:
            given = self.encode_images(given)
        seen = pick_rows(given, batch.rows)
        first = torch.full_like(batch.words[:, :1], END)
        words = align_rows(torch.cat([first, batch.words], 1)[:, :LONGEST])  # with PAD, which is 0
        seen = align_regions(seen)
        there = seen[..., -1] > 0
        there = there | ~there.any(1, keepdim=True)  # attention needs something to attend to
        pooled, question = self.cross(words, seen, there)
        return AnswerStates(self.answer(pooled), pooled, question)

    def cross(self, words: Tensor, seen: Tensor, there: Tensor) -> tuple[Tensor, Tensor]:
        """The text's pooled state, and what its first token is before the first crossing.

        As transformers' model goes through its layers, but the last one: what that would make of regions, and of all
        words but the first, is read by nobody.
        """
        body: Any = self.body
        encoder = body.encoder
        read, looked = _mask_out(words == PAD), _mask_out(~there)
        text = body.embeddings(words, torch.zeros_like(words))
        regions = self.look(seen, looked)
        for layer in encoder.layer:
            (text,) = layer(text, read)
        question = text[:, 0]
        *crossings, last = encoder.x_layers
        for layer in crossings:
            text, regions = layer(text, read, regions, looked)
        (text,) = last.visual_attention(text, regions, looked)
        (text,) = last.lang_self_att(text, read)
        first = text[:, :1]
        return body.pooler(last.lang_output(last.lang_inter(first), first)), question

    def look(self, seen: Tensor, absent: Tensor) -> Tensor:
        """[text, region, width] what is known of each region before the first crossing."""
        encoder: Any = self.body.encoder
        regions: Tensor = encoder.visn_fc(seen[..., : self.seen], seen[..., self.seen : -1])
        for layer in encoder.r_layers:
            (regions,) = layer(regions, absent)
        return regions


def _mask_out(absent: Tensor) -> Tensor:
    """[text, 1, 1, token] what is added to attention's scores."""
    return absent[:, None, None].float() * torch.finfo(torch.float32).min
