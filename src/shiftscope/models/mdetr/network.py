"""mDETR's network: regions and words, fused by a transformer that finds the boxes a question speaks of, and answers it.

Object queries begin at the peaks of the backbone's own detector, as in two-stage detection transformers, so that each
has a box to refine and none needs to be sought. An image's regions are encoded once for all questions about it.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from ...answer import spell
from ...schema import Schema
from ..end_to_end.network import AnswerBatch, pick_rows
from ..end_to_end.questions import PAD, UNKNOWN, AnswererConfig
from ..nsvqa.scene_parser.config import SceneParserConfig
from ..nsvqa.scene_parser.network import SceneParser, box_centres, box_far_corners, gather_rows, normalise_points
from ..nsvqa.scene_parser.regions import Regions, count_numbers, find_regions

WAVES = 4  # octaves in which the middle of a box is also given
FRAME = 5 + 4 * WAVES  # numbers that say where a box lies
LONGEST = 256  # words of a question that are read; a few of the most redundant ones have more
ORDER = 0.5  # size of what says where a word stands, beside the word's own: else its order is not seen for long
# Not cuDNN's, which plans anew for every shape: batches differ in their images and in the length of questions.
ATTENTION = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
WARMTH = 0.07  # by which likeness is divided, before it learns
NUMBER, TRUTH, OTHER = "number", "truth", "other"  # kinds of answers, besides the attributes


class FusedQuestions(NamedTuple):
    """What the transformer makes of questions and their images."""

    words: Tensor  # [question, token, width]
    regions: Tensor  # [question, region, width]
    answers: Tensor  # [question, 1 + kind, width] the first says which kind of answer is wanted
    boxes: Tensor  # [question, region, 4] in pixels, where queries begin
    there: Tensor  # [question, region] bool


class TransformerLayer(nn.Module):
    """Attention and a perceptron, each behind a norm."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend, self.gather = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        asked: Any = self.ask(tokens)
        query, key, value = asked.unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4).unbind(0)
        found = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return self.think(tokens, found.transpose(1, 2).flatten(2))

    def ask(self, tokens: Tensor) -> Tensor:
        """[row, token, 3 × width] queries, keys and values. Apart, as is `think`, to be compiled without attention."""
        asked: Tensor = self.attend(self.before(tokens))
        return asked

    def think(self, tokens: Tensor, found: Tensor) -> Tensor:
        """[row, token, width] tokens with what their attention found."""
        tokens = tokens + F.dropout(self.gather(found), self.dropout, self.training)
        found = self.narrow(F.gelu(self.widen(self.between(tokens))))
        return tokens + F.dropout(found, self.dropout, self.training)


class TransformerStack(nn.Module):
    """Layers, one after the other."""

    def __init__(self, width: int, heads: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList(TransformerLayer(width, heads, dropout) for _ in range(layers))

    def forward(self, tokens: Tensor, shown: Tensor) -> Tensor:
        """Tokens [row, token, width], of which those shown are attended to, at least one of each row."""
        mask = shown[:, None, None].expand(-1, 1, shown.shape[1], -1)
        with sdpa_kernel(ATTENTION):
            for layer in self.layers:
                tokens = layer(tokens, mask)
        return tokens


class Mdetr(nn.Module):
    """`forward(batch)` is [question, answer]; random weights until it is trained or loaded."""

    def __init__(self, config: AnswererConfig) -> None:
        super().__init__()
        self.config = config
        parser = SceneParserConfig.from_json(config.features["scene_parser"])
        self.features = SceneParser(parser).requires_grad_(False)
        width, region, part_region = int(config.sizes["width"]), *count_numbers(parser)
        self.width = width
        self.embed = nn.Embedding(config.tokens, width, padding_idx=PAD)
        with torch.no_grad():
            self.embed.weight[UNKNOWN].zero_()  # a word that training never showed says nothing
        self.places = nn.Parameter(lay_places(LONGEST, width) * ORDER)
        self.text = self._build_layers("text_layers")
        self.object = nn.Sequential(nn.Linear(region, width), nn.LayerNorm(width))
        self.part = nn.Sequential(nn.Linear(part_region, width), nn.LayerNorm(width))
        self.frame = nn.Linear(FRAME, width)  # apart: a few numbers among thousands would hardly be seen at first
        self.owned = nn.Linear(width, width)
        self.sorts = nn.Parameter(torch.randn(2, width) * 0.02)  # an object, a part
        self.image = self._build_layers("image_layers")
        self.kinds = sort_answers(config.answers, parser.schema)
        self.queries = nn.Parameter(torch.randn(1 + len(self.kinds), width) * 0.02)
        self.joint = self._build_layers("layers")
        self.norm = nn.LayerNorm(width)
        self.box = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 4))
        nn.init.zeros_(self.box[2].weight)  # type: ignore[arg-type]
        nn.init.zeros_(self.box[2].bias)  # type: ignore[arg-type]
        align = int(config.sizes["align"])
        self.align_word, self.align_region = nn.Linear(width, align), nn.Linear(width, align)
        self.no_word, self.no_region = (nn.Parameter(torch.randn(align)) for _ in range(2))
        self.warmth = nn.Parameter(torch.tensor(WARMTH).log())
        self.kind = nn.Linear(width, len(self.kinds))
        self.heads = nn.ModuleList(nn.Linear(width, len(numbers)) for numbers in self.kinds.values())
        self.order: Tensor
        order = torch.tensor([k for numbers in self.kinds.values() for k in numbers])
        self.register_buffer("order", order.argsort(), persistent=False)

    def _build_layers(self, name: str) -> "TransformerStack":
        heads, dropout = int(self.config.sizes["heads"]), float(self.config.sizes["dropout"])
        return TransformerStack(self.width, heads, int(self.config.sizes[name]), dropout)

    def train(self, mode: bool = True) -> "Mdetr":
        """The backbone keeps its statistics."""
        super().train(mode)
        self.features.eval()
        return self

    def encode_images(self, images: Tensor) -> Tensor:
        """[image, region, width + 5] of pixels; what is computed once per image."""
        return self.encode_regions(find_regions(self.features, images))

    def encode_regions(self, regions: Regions) -> Tensor:
        """[image, region, width + 5] what stands for each region, objects first; its box, and whether it is there."""
        frames = [self.frame(_frame_boxes(boxes, regions.size)) for boxes in (regions.boxes, regions.part_boxes)]
        objects = self.object(regions.features.float()) + frames[0]
        parts = self.part(regions.part_features.float()) + frames[1]
        parts = parts + self.owned(gather_rows(objects, regions.owner))
        tokens = torch.cat([objects + self.sorts[0], parts + self.sorts[1]], 1)
        there = torch.cat([regions.exists, regions.part_exists], 1) > 0
        tokens = self.image(tokens, there | ~there.any(1, keepdim=True))  # attention needs something to attend to
        boxes = torch.cat([regions.boxes, regions.part_boxes], 1)
        return torch.cat([tokens.float(), boxes, there[..., None].float()], -1)

    def fuse(self, batch: AnswerBatch) -> FusedQuestions:
        """Words, regions and answer queries attend to each other."""
        given: Any = batch.images
        if isinstance(given, Regions):
            given = self.encode_regions(given)
        elif given.dtype == torch.uint8:
            given = self.encode_images(given)
        seen = pick_rows(given, batch.rows)
        words = batch.words[:, :LONGEST]
        read = words != PAD
        text = self.text(self.embed(words) + self.places[: words.shape[1]], read)
        there = seen[..., -1] > 0
        queries = self.queries.expand(len(words), -1, -1)
        tokens = torch.cat([text, seen[..., : self.width].to(text.dtype), queries.to(text.dtype)], 1)
        shown = torch.cat([read, there, there.new_ones(queries.shape[:2])], 1)
        fused = self.norm(self.joint(tokens, shown))
        word, region, answer = fused.split([words.shape[1], seen.shape[1], queries.shape[1]], 1)
        return FusedQuestions(word, region, answer, seen[..., self.width : -1], there)

    def forward(self, batch: AnswerBatch) -> Tensor:
        return self.answer(self.fuse(batch))

    def answer(self, fused: FusedQuestions) -> Tensor:
        """[question, answer] logarithms: of the kind of answer, and of the answer among its kind."""
        kinds = self.kind(fused.answers[:, 0]).float().log_softmax(-1)
        each = [
            head(fused.answers[:, 1 + k]).float().log_softmax(-1) + kinds[:, k, None]
            for k, head in enumerate(self.heads)
        ]
        return torch.cat(each, 1).index_select(1, self.order)

    def align(self, fused: FusedQuestions) -> Tensor:
        """[question, region + 1, token + 1] likeness; the last row is for words that speak of nothing in the image, the

        last column for regions that no word speaks of.
        """
        with torch.autocast(fused.words.device.type, enabled=False):
            words, regions = self.align_word(fused.words.float()), self.align_region(fused.regions.float())
            words = torch.cat([words, self.no_word.expand(len(words), 1, -1)], 1)
            regions = torch.cat([regions, self.no_region.expand(len(regions), 1, -1)], 1)
            return F.normalize(regions, dim=-1) @ F.normalize(words, dim=-1).transpose(1, 2) / self.warmth.exp()

    def find_boxes(self, fused: FusedQuestions) -> Tensor:
        """[question, region, 4] the boxes that queries began at, refined; in pixels."""
        moved = self.box(fused.regions).float().clamp(-2, 2)
        sides = fused.boxes[..., 2:] * moved[..., 2:].exp()
        middle = box_centres(fused.boxes) + moved[..., :2] * fused.boxes[..., 2:]
        return torch.cat([middle - sides / 2, sides], -1)


def lay_places(count: int, width: int) -> Tensor:
    """[place, width] sines and cosines, as large as words: places near each other are alike, learned or not."""
    slow = count ** -(torch.arange(0, width, 2) / width)  # radians a place, from 1 down
    phases = torch.arange(count)[:, None] * slow
    return 2**0.5 * torch.cat([phases.sin(), phases.cos()], 1)[:, :width]


def sort_answers(answers: tuple[str, ...], schema: Schema) -> dict[str, list[int]]:
    """The numbers of the answers of each kind: truths, numbers, the values of each attribute, and any others."""
    found: dict[str, list[int]] = {}
    attributes = (*schema.attributes, *schema.part_attributes)
    for k, answer in enumerate(answers):
        kind = TRUTH if answer in (spell(True), spell(False)) else NUMBER if answer.isdecimal() else ""
        kind = kind or next((a.name for a in attributes if answer in map(spell, a.values)), OTHER)
        found.setdefault(kind, []).append(k)
    return found


def _frame_boxes(boxes: Tensor, size: tuple[int, int]) -> Tensor:
    """[…, FRAME] the middle, the lower edge and the sides, and waves of the middle, which tell near places apart."""
    middle, low = normalise_points(box_centres(boxes), size), normalise_points(box_far_corners(boxes), size)[..., 1:]
    plain = torch.cat([middle - 0.5, low - 0.5, normalise_points(boxes[..., 2:], size)], -1) * 4
    phases = [middle * (2**k * torch.pi) for k in range(WAVES)]
    return torch.cat([plain, *(wave(phase) for phase in phases for wave in (torch.sin, torch.cos))], -1)
