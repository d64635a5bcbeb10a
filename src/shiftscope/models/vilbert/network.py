"""ViLBERT: a stream of words and one of regions; in a co-attention block each attends to the other, then to itself.

Its layers are those of transformers' LXMERT. LXMERT's own crossing shares one attention between the two
directions; here, as in the paper, each stream has its own, with a feed-forward layer behind it.
"""

from typing import Any

import torch
from torch import Tensor, nn

from ..end_to_end.initial_weights import draw_weights
from ..end_to_end.questions import PAD, AnswererConfig
from ..several_images.layers import mask_absent
from ..several_images.network import EncodedPairs, ImageSetAnswerer, build_layer_config, join_streams, pair_up


class CoAttention(nn.Module):
    """One stream's half of a block: attend to the other stream, feed forward, then a layer of its own."""

    def __init__(self, config: Any) -> None:
        from transformers.models.lxmert import modeling_lxmert as layers

        super().__init__()
        kinds: Any = layers
        self.attend = kinds.LxmertCrossAttentionLayer(config)
        self.intermediate, self.output = kinds.LxmertIntermediate(config), kinds.LxmertOutput(config)
        self.alone = kinds.LxmertLayer(config)


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

    def encode_pairs(self, words: Tensor, seen: Tensor, there: Tensor, *, each: bool = False) -> EncodedPairs:
        """The product of what the first word and the mean region have become, as the paper joins its streams.

        Before the streams meet, words are read once for all images of a question.
        """
        text, read = self.embed(words, torch.zeros_like(words)), mask_absent(words != PAD)
        for layer in self.read:
            text = self.run_layer(layer, text, text, read)
        text, read, sight = pair_up(text, len(seen)), pair_up(read, len(seen)), seen
        *blocks, (last_words, last_regions) = zip(self.words, self.regions, strict=True)
        for of_words, of_regions in blocks:
            text, sight = (
                self.cross(of_words, text, read, sight, there),
                self.cross(of_regions, sight, there, text, read),
            )
        told = self.cross(last_words, text, read, sight, there, first=not each)
        sight = self.cross(last_regions, sight, there, text, read)
        return EncodedPairs(join_streams(told[:, 0], sight, there), told, sight)

    def cross(
        self, half: Any, states: Tensor, mask: Tensor, other: Tensor, other_mask: Tensor, *, first: bool = False
    ) -> Tensor:
        """What one half of a block makes of its stream; of the first place alone, where others are not read."""
        found = self.attend(half.attend.att, half.attend.output, states, other, other_mask)
        found = self.feed(half, found)
        return self.run_layer(half.alone, found[:, :1] if first else found, found, mask)
