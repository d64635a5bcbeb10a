"""A network over several images: each is encoded together with the question, and a set of such vectors is answered.

As in COVR (Bogin et al., 2021, section 5): the vectors of the images and a learned token go through two transformer
layers, and answers are read from the token. The images of a question are a set: their order does not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ...errors import UserError
from ..end_to_end.initial_weights import SPREAD, draw_weights
from ..end_to_end.questions import END, FIRST_WORD, PAD, AnswererConfig
from ..nsvqa.scene_parser.config import SceneParserConfig
from ..nsvqa.scene_parser.network import SceneParser
from ..nsvqa.scene_parser.regions import describe_objects
from .layers import LayerRunner, mask_absent

LONGEST = 128  # tokens of a question that are read, the first one included
CORNERS = 4  # numbers that say where a region is, from 0 to 1
EXTRA = CORNERS + 1  # numbers behind what stands for a region: its corners, and whether it is there


class EncodedPairs(NamedTuple):
    """What questions and images have become, each image together with its question."""

    whole: Tensor  # [pair, width]
    words: Tensor  # [pair, token, width]; the first alone where others are not asked for
    regions: Tensor | None = None  # [pair, region, width], where they are asked for


@dataclass(frozen=True, slots=True, eq=False)
class ImageSetBatch:
    """Questions, and what there is to see in the images of each; all on the device."""

    words: Tensor  # [question, token] int64, PAD behind
    images: Tensor | None  # [question, place, region, number], or [question, place, height, width, 3] pixels of uint8
    present: Tensor  # [question, place] bool, whether there is an image; one place where no image is seen
    targets: Tensor | None = None  # [question] int64, UNSEEN for an answer outside the vocabulary
    about_parts: Tensor | None = None  # [question] bool

    def __len__(self) -> int:
        return len(self.words)

    @property
    def taught(self) -> Tensor:
        """What is learned: the number of the answer."""
        assert self.targets is not None
        return self.targets


class ImageSetAnswerer(LayerRunner):
    """`forward(batch)` is [question, answer]; a model's own fills in `encode_pairs`, of the layers in its `body`."""

    def __init__(self, config: AnswererConfig) -> None:
        from transformers.models.lxmert.modeling_lxmert import LxmertLayer

        super().__init__()
        self.config = config
        self.features = build_parser(config.features)
        width = self.size("width")
        self.numbers = count_numbers(config)  # that stand for a region, corners included
        self.look = RegionEmbedding(self.numbers, width) if self.numbers else None
        self.first = nn.Parameter(torch.randn(1, 1, width) * SPREAD)
        layer: Any = LxmertLayer
        self.gather = nn.ModuleList(layer(build_layer_config(config)) for _ in range(self.size("set_layers")))
        self.answer = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.LayerNorm(2 * width), nn.Linear(2 * width, len(config.answers))
        )
        for part in (self.gather, self.answer, *((self.look.looks,) if self.look is not None else ())):
            part.apply(draw_weights)

    def size(self, name: str) -> int:
        return int(self.config.sizes[name])

    def train(self, mode: bool = True) -> ImageSetAnswerer:
        """A scene parser is not trained, and keeps its statistics."""
        super().train(mode)
        if self.features is not None:
            self.features.eval()
        return self

    def encode_images(self, images: Tensor) -> Tensor:
        """What is computed once per image: [image, region, number] of pixels; pixels where these are seen anew."""
        return images if self.features is None else describe_objects(self.features, images)

    @property
    def word_table(self) -> nn.Parameter:
        """[token, width] what words begin as."""
        raise NotImplementedError

    def encode_pairs(self, words: Tensor, seen: Tensor, there: Tensor, *, each: bool = False) -> EncodedPairs:
        """Of [question, token] words, [pair, region, width] what is seen of each image, and its mask.

        Asked for `each`, it also tells what words and regions have become.
        """
        raise NotImplementedError

    def forward(self, batch: ImageSetBatch) -> Tensor:
        found = self.encode_pairs(read_words(batch), *self.see_pairs(batch))
        return self.answer_set(found.whole, batch.present)

    def answer_set(self, found: Tensor, present: Tensor) -> Tensor:
        """[question, answer] of the vectors of all images."""
        states = torch.cat([self.first.expand(len(present), -1, -1), found.reshape(*present.shape, -1)], 1)
        here = torch.cat([present.new_ones(len(present), 1), present], 1)
        absent = mask_absent(here)
        *layers, last = self.gather
        for layer in layers:
            states = self.run_layer(layer, states, states, absent)
        scores: Tensor = self.answer(self.run_layer(last, states[:, :1], states, absent)[:, 0])
        return scores

    def see_pairs(self, batch: ImageSetBatch) -> tuple[Tensor, Tensor]:
        """[pair, region, width] what is seen, and the mask of what is not there: one zero where nothing is seen."""
        if batch.images is None or self.look is None:
            zero = self.first.new_zeros(batch.present.numel(), 1, self.size("width"))
            return zero, mask_absent(torch.ones(zero.shape[:2], dtype=torch.bool, device=zero.device))
        given = batch.images.flatten(0, 1)
        if given.dtype == torch.uint8:
            given = cut_patches(given, self.size("patch"))
        there = given[..., -1] > 0
        # Attention needs something to attend to; what is not there is all zeros.
        return self.look(given[..., :-1].float()), mask_absent(there | ~there.any(1, keepdim=True))

    def begin_from(self, other: ImageSetAnswerer) -> None:
        """Begin with the weights of such a network that reads other words and gives other answers."""
        theirs, ours = other.config.sizes, self.config.sizes
        differ = [f"{k} {theirs.get(k)} and {ours[k]}" for k in ours if k != "dropout" and theirs.get(k) != ours[k]]
        if other.config.features != self.config.features:
            differ.append("other backbones")
        if differ:  # else what does not fit would begin from nothing, without a word
            raise UserError(f"what was learned from captions is of another network: {', '.join(differ)}")
        known, mine = other.state_dict(), self.state_dict()
        words = next(name for name, parameter in self.named_parameters() if parameter is self.word_table)
        with torch.no_grad():
            for name, tensor in mine.items():
                if name != words and tensor.shape == known[name].shape and not name.startswith("answer."):
                    tensor.copy_(known[name])
            mine[words][:FIRST_WORD] = known[words][:FIRST_WORD]
            number = {word: k for k, word in enumerate(other.config.words, FIRST_WORD)}
            for k, word in enumerate(self.config.words, FIRST_WORD):
                if word in number:
                    mine[words][k] = known[words][number[word]]


def read_words(batch: ImageSetBatch) -> Tensor:
    """[question, token] the words of each question, behind the token that begins a text."""
    return torch.cat([torch.full_like(batch.words[:, :1], END), batch.words], 1)[:, :LONGEST]


def pair_up(of_questions: Tensor, pairs: int) -> Tensor:
    """[pair, …] what stands for a question, for each of its images."""
    each = pairs // len(of_questions)
    return of_questions[:, None].expand(-1, each, *of_questions.shape[1:]).flatten(0, 1)


def join_streams(told: Tensor, sight: Tensor, there: Tensor) -> Tensor:
    """[pair, width] the product of what a first word and the mean region became; `there` as `mask_absent` has it."""
    shown = (there[:, 0, 0] == 0).float()[..., None]
    return told * ((sight * shown).sum(1) / shown.sum(1).clamp(min=1.0))


class RegionEmbedding(nn.Module):
    """What a region looks like, and where it is, each by a map of its own.

    In one map the four corners, numbers from 0 to 1, would be a thousandth of what differs between regions: most
    questions ask where things are, and that would hardly be seen.
    """

    def __init__(self, numbers: int, width: int) -> None:
        super().__init__()
        self.looks = nn.Sequential(nn.Linear(numbers - CORNERS, width), nn.LayerNorm(width))
        self.place = nn.Linear(CORNERS, width)  # as it begins, about a fifth of what is seen

    def forward(self, regions: Tensor) -> Tensor:
        looks, place = regions[..., :-CORNERS], 4 * regions[..., -CORNERS:] - 2
        found: Tensor = self.looks(looks) + self.place(place)
        return found


def build_layer_config(config: AnswererConfig) -> Any:
    """LXMERT's config, for single layers of it: one of self-attention, one of attention across."""
    from transformers import LxmertConfig

    sizes, dropout = config.sizes, float(config.sizes["dropout"])
    given: dict[str, Any] = {
        "vocab_size": config.tokens,
        "hidden_size": int(sizes["width"]),
        "num_attention_heads": int(sizes["heads"]),
        "intermediate_size": int(sizes["inside"]),
        "hidden_dropout_prob": dropout,
        "attention_probs_dropout_prob": dropout,
        "max_position_embeddings": LONGEST,
        "pad_token_id": PAD,
    }
    return LxmertConfig(**given)


def build_parser(features: Mapping[str, Any]) -> SceneParser | None:
    """The scene parser whose regions are seen, with random weights; None where none is."""
    if "scene_parser" not in features:
        return None
    return SceneParser(SceneParserConfig.from_json(features["scene_parser"])).requires_grad_(False).eval()


def count_numbers(config: AnswererConfig) -> int:
    """How many numbers stand for a region, corners included; 0 where no image is seen."""
    if not config.features:
        return 0
    if "scene_parser" in config.features:
        return SceneParserConfig.from_json(config.features["scene_parser"]).hidden + EXTRA - 1
    return 3 * int(config.sizes["patch"]) ** 2 + EXTRA - 1


def cut_patches(images: Tensor, side: int) -> Tensor:
    """[image, patch, number] of pixels [image, height, width, 3], row by row; corners and presence as of a region.

    What of an image does not fill a patch is left out.
    """
    down, across = images.shape[1] // side, images.shape[2] // side
    cut = images[:, : down * side, : across * side].reshape(len(images), down, side, across, side, 3)
    pixels = cut.transpose(2, 3).reshape(len(images), down * across, -1).float() / 64 - 2
    y, x = torch.meshgrid(
        torch.arange(down, device=images.device), torch.arange(across, device=images.device), indexing="ij"
    )
    corners = torch.stack([x / across, y / down, (x + 1) / across, (y + 1) / down], -1).flatten(0, 1)
    where = torch.cat([corners, torch.ones_like(corners[:, :1])], -1)
    return torch.cat([pixels, where.expand(len(images), -1, -1)], -1)
