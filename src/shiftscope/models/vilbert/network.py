"""ViLBERT: a stream of words and one of regions; in a co-attention block each attends to the other, then to itself.

Its layers are those of transformers' LXMERT. LXMERT's own crossing shares one attention between the two
directions; here, as in the paper, each stream has its own, with a feed-forward layer behind it.
"""

from typing import Any

import torch
from torch import Tensor, nn

from ..end_to_end.initial_weights import draw_weights
from ..end_to_end.questions import AnswererConfig
from ..several_images.network import EncodedPairs, ImageSetAnswerer, build_layer_config, encode_first


class CoAttention(nn.Module):
    """One stream's half of a block: attend to the other stream, feed forward, then a layer of its own."""

    def __init__(self, config: Any) -> None:
        from transformers.models.lxmert import modeling_lxmert as layers

        super().__init__()
        kinds: Any = layers
        self.attend = kinds.LxmertCrossAttentionLayer(config)
        self.inside, self.outside = kinds.LxmertIntermediate(config), kinds.LxmertOutput(config)
        self.alone = kinds.LxmertLayer(config)

    def forward(self, states: Tensor, mask: Tensor, other: Tensor, other_mask: Tensor) -> Tensor:
        found: Tensor = self.alone(self.look(states, other, other_mask), mask)[0]
        return found

    def encode_first(self, states: Tensor, mask: Tensor, other: Tensor, other_mask: Tensor) -> Tensor:
        """The same of the first place alone."""
        return encode_first(self.alone, self.look(states, other, other_mask), mask)

    def look(self, states: Tensor, other: Tensor, other_mask: Tensor) -> Tensor:
        attended = self.attend(states, other, other_mask)[0]
        found: Tensor = self.outside(self.inside(attended), attended)
        return found


class VilbertAnswerer(ImageSetAnswerer):
    def __init__(self, config: AnswererConfig) -> None:
        from transformers.models.lxmert import modeling_lxmert as layers

        super().__init__(config)
        kinds: Any = layers
        shape, blocks = build_layer_config(config), range(self.size("co_layers"))
        self.embed = kinds.LxmertEmbeddings(shape)
        self.read = nn.ModuleList(kinds.LxmertLayer(shape) for _ in range(self.size("layers")))
        self.words = nn.ModuleList(CoAttention(shape) for _ in blocks)
        self.regions = nn.ModuleList(CoAttention(shape) for _ in blocks)
        for part in (self.embed, self.read, self.words, self.regions):
            part.apply(draw_weights)

    @property
    def word_table(self) -> nn.Parameter:
        table: nn.Parameter = self.embed.word_embeddings.weight
        return table

    def encode_pairs(
        self, words: Tensor, read: Tensor, seen: Tensor, there: Tensor, *, each: bool = False
    ) -> EncodedPairs:
        """The product of what the first word and the mean region have become, as the paper joins its streams."""
        text, sight = self.embed(words, torch.zeros_like(words)), seen
        for layer in self.read:
            text = layer(text, read)[0]
        *blocks, (last_words, last_regions) = zip(self.words, self.regions, strict=True)
        for of_words, of_regions in blocks:
            text, sight = of_words(text, read, sight, there), of_regions(sight, there, text, read)
        finish: Any = last_words if each else last_words.encode_first
        text, sight = finish(text, read, sight, there), last_regions(sight, there, text, read)
        shown = (there[:, 0, 0] == 0).float()[..., None]
        whole = (sight * shown).sum(1) / shown.sum(1).clamp(min=1.0)
        return EncodedPairs(text[:, 0] * whole, text, sight)
